"""The input of each family's text encoders and its place in the denoiser's text.

A pipeline may wrap the prompt (chat template, instruction), lower-case it, drop leading tokens, or
concatenate the sequences of several encoders. A ``TextStream`` describes this for one encoder.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import diffusers

from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.frozen import frozen

Tokenizers: TypeAlias = Mapping[str, Any]
"""Maps a pipeline attribute, which is also a folder name, to a fast tokenizer."""

PLACEHOLDER = "\ue000"
"""Placeholder for the prompt in a template; a private-use character that no template contains."""

T5_TOKENS_SD3 = 256
T5_TOKENS_FLUX = 512
T5_TOKENS_PIXART_ALPHA = 120
T5_TOKENS_PIXART_SIGMA = 300
GEMMA_TOKENS_SANA = 300
GEMMA_TOKENS_LUMINA = 256
QWEN_TOKENS = 512
Z_IMAGE_MULTIPLE = 32
QWEN_IMAGE_DROPS = 34
QWEN_IMAGE_TEMPLATE = (
    "<|im_start|>system\nDescribe the image by detailing the color, shape, size, texture, "
    "quantity, text, spatial relationships of the objects and background:<|im_end|>\n"
    f"<|im_start|>user\n{PLACEHOLDER}<|im_end|>\n<|im_start|>assistant\n"
)
LUMINA_PROMPT = (
    "You are an assistant designed to generate superior images with the superior degree of "
    f"image-text alignment based on textual prompts or user prompts. <Prompt Start> {PLACEHOLDER}"
)


@frozen
class TextStream:
    """How one text encoder reads the prompt.

    Attributes:
        encoder_id: Attribute of the pipeline.
        tokenizer: Fast tokenizer of that encoder.
        limit: Token limit, special tokens included.
        template: Encoder input, with ``PLACEHOLDER`` for the prompt.
        is_plain: Whether the prompt is stripped and lower-cased.
        drops: Leading tokens dropped before the encoder's sequence begins.
        first: Position in the denoiser's text where that sequence begins.
        is_filled: Whether the denoiser's text is padded to its limit.
        fills_behind: Whether to pad after the words, overriding the tokenizer's side.
        keeps_layers: Whether the pipeline requests the hidden states of all encoder layers.
        multiple: The denoiser pads the text to a multiple of this many tokens.
        empty: Trailing positions that replace an encoder that is left out.
    """

    encoder_id: str
    tokenizer: Any
    limit: int
    template: str = PLACEHOLDER
    is_plain: bool = False
    drops: int = 0
    first: int = 0
    is_filled: bool = True
    fills_behind: bool = False
    keeps_layers: bool = False
    multiple: int = 1
    empty: int = 0

    def length(self, prompt: str) -> int:
        """Return the token count of a prompt, special and padding tokens included."""
        if self.is_filled:
            return self.limit - self.drops + self.empty
        read = min(len(self.tokenizer(self.text(prompt)).input_ids), self.limit) - self.drops
        return -(-read // self.multiple) * self.multiple

    def text(self, prompt: str) -> str:
        """Return the tokenizer's input."""
        return self.template.replace(
            PLACEHOLDER, prompt.lower().strip() if self.is_plain else prompt
        )

    def place(self, prompt: str, character: int) -> int:
        """Return the offset of a prompt character in the tokenizer's input."""
        before = self.template.index(PLACEHOLDER)
        if not self.is_plain:
            return before + character
        cut = len(prompt) - len(prompt.lstrip())
        return before + max(len(prompt[:character].lower()) - cut, 0)


ListStreams: TypeAlias = Callable[[Tokenizers], tuple[TextStream, ...]]


def clip_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return the streams of one or two CLIP encoders whose sequences overlap."""
    return tuple(
        TextStream(
            encoder_id=name.replace("tokenizer", "text_encoder"),
            tokenizer=tokenizers[name],
            limit=tokenizers[name].model_max_length,
        )
        for name in ("tokenizer", "tokenizer_2")
        if name in tokenizers
    )


def clip_and_t5_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return two overlapping CLIP streams, then T5 if present, so each word appears twice."""
    clips = {name: own for name, own in tokenizers.items() if name != "tokenizer_3"}
    streams = clip_streams(clips)
    if "tokenizer_3" not in tokenizers:
        return tuple(replace(stream, empty=T5_TOKENS_SD3) for stream in streams)
    t5 = TextStream(
        encoder_id="text_encoder_3",
        tokenizer=tokenizers["tokenizer_3"],
        limit=T5_TOKENS_SD3,
        first=tokenizers["tokenizer"].model_max_length,
    )
    return (*streams, t5)


def flux_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return the T5 stream; of CLIP only one pooled vector is used."""
    return (
        TextStream(
            encoder_id="text_encoder_2",
            tokenizer=tokenizers["tokenizer_2"],
            limit=T5_TOKENS_FLUX,
        ),
    )


def pixart_alpha_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return the T5 stream of PixArt-alpha, which reads a plain prompt."""
    return (_only(tokenizers, T5_TOKENS_PIXART_ALPHA, is_plain=True),)


def pixart_sigma_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return the T5 stream of PixArt-Sigma, which reads a plain prompt."""
    return (_only(tokenizers, T5_TOKENS_PIXART_SIGMA, is_plain=True),)


def sana_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return the Gemma stream after a long instruction, of which only the start token is kept."""
    signature = inspect.signature(diffusers.SanaPipeline.__call__)
    instruction = "\n".join(signature.parameters["complex_human_instruction"].default)
    drops = len(tokenizers["tokenizer"].encode(instruction)) - 2
    return (
        _only(
            tokenizers,
            GEMMA_TOKENS_SANA + drops,
            template=instruction + PLACEHOLDER,
            is_plain=True,
            drops=drops,
            fills_behind=True,
        ),
    )


def lumina_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return the Gemma stream after an instruction that the denoiser also receives."""
    settings = {"template": LUMINA_PROMPT, "is_filled": False, "keeps_layers": True}
    return (_only(tokenizers, GEMMA_TOKENS_LUMINA, **settings),)


def qwen_image_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return the Qwen stream in a template whose beginning is dropped."""
    return (
        _only(
            tokenizers,
            QWEN_TOKENS + QWEN_IMAGE_DROPS,
            template=QWEN_IMAGE_TEMPLATE,
            drops=QWEN_IMAGE_DROPS,
            is_filled=False,
            keeps_layers=True,
        ),
    )


def z_image_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return the Qwen stream in its chat template with thinking; the denoiser pads it slightly."""
    template = _chat_template(tokenizers["tokenizer"], thinks=True)
    settings = {"template": template, "is_filled": False, "keeps_layers": True}
    return (_only(tokenizers, QWEN_TOKENS, multiple=Z_IMAGE_MULTIPLE, **settings),)


def flux2_streams(tokenizers: Tokenizers) -> tuple[TextStream, ...]:
    """Return the Qwen stream in its chat template without thinking."""
    template = _chat_template(tokenizers["tokenizer"], thinks=False)
    return (_only(tokenizers, QWEN_TOKENS, template=template, keeps_layers=True),)


def _only(tokenizers: Tokenizers, limit: int, **settings: Any) -> TextStream:
    tokenizer = tokenizers["tokenizer"]
    return TextStream(encoder_id="text_encoder", tokenizer=tokenizer, limit=limit, **settings)


def _chat_template(tokenizer: Any, *, thinks: bool) -> str:
    messages: Sequence[Mapping[str, str]] = [{"role": "user", "content": PLACEHOLDER}]
    text: str = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True, enable_thinking=thinks
    )
    if PLACEHOLDER not in text:
        raise PromptError(
            "The model's chat template omits the prompt.",
            hint="Install the model again; its tokenizer is damaged.",
        )
    return text
