"""Vision-language models that answer in words: Qwen2-VL to Qwen3-VL, Idefics3, SmolVLM.

Messages are put into the models' published chat form here, not by the template in the model folder,
which is code from elsewhere; special tokens in questions are taken out, so that a question cannot
end its message. The image processor is the model's own; its placeholders are repeated here, as the
library's combined processors also need packages for videos.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import log
from time import perf_counter
from typing import TYPE_CHECKING, Any

from spatialstudio.adapters.perception.lazy_model import Loaded, ModelInUse
from spatialstudio.adapters.perception.model_catalog import ModelFamily
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import QuestionAnswer
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import ChoiceQuestion, ChoiceReply, Sampling
from spatialstudio.domain.ports import CancelToken, PerceptionCard, PerceptionRole
from spatialstudio.science.questions.choice_message import (
    REPLY_TOKENS,
    YES_NO_INSTRUCTION,
    instruction,
    message,
    reply_lines,
)
from spatialstudio.science.questions.token_chances import letter_chances, yes_no_chances

if TYPE_CHECKING:
    from torch import Tensor

TOP_TOKENS = 20
LARGEST_SEED = 2**63
GRID, ROWS, COLUMNS = "image_grid_thw", "rows", "cols"


@frozen(eq=False)
class ChatForm:
    """The published chat form of a family of models.

    Attributes:
        form: The message, with places for system, picture and text.
        picture: The placeholder of a picture, from the processed picture and the configuration.
        token: The token that stands for a part of a picture.
        end: The token that ends a message.
    """

    form: str
    picture: Callable[[Mapping[str, Any], Any], str]
    token: str
    end: str


def _qwen_picture(seen: Mapping[str, Any], config: Any) -> str:
    merged = int(config.vision_config.spatial_merge_size) ** 2
    tokens = int(seen[GRID][0].prod()) // merged
    return f"<|vision_start|>{QWEN_PART * tokens}<|vision_end|>"


def _idefics_picture(seen: Mapping[str, Any], config: Any) -> str:
    """Return the tiles of a picture, row by row, then the whole picture."""
    vision = config.vision_config
    side = vision.image_size // vision.patch_size
    part = IDEFICS_PART * (side**2 // config.scale_factor**2)
    rows, columns = (int(seen[name][0][0]) for name in (ROWS, COLUMNS))
    tiles = "".join(
        "".join(f"{AROUND}<row_{row}_col_{column}>{part}" for column in range(1, columns + 1))
        + "\n"
        for row in range(1, rows + 1)
    )
    return f"{tiles}{chr(10) if tiles else ''}{AROUND}<global-img>{part}{AROUND}"


QWEN_PART, IDEFICS_PART, AROUND = "<|image_pad|>", "<image>", "<fake_token_around_image>"
QWEN = ChatForm(
    form=(
        "<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{picture}{text}<|im_end|>\n"
        "<|im_start|>assistant\n"
    ),
    picture=_qwen_picture,
    token=QWEN_PART,
    end="<|im_end|>",
)
IDEFICS = ChatForm(
    form=(
        "<|im_start|>System: {system}<end_of_utterance>\nUser:{picture}{text}"
        "<end_of_utterance>\nAssistant:"
    ),
    picture=_idefics_picture,
    token=IDEFICS_PART,
    end="<end_of_utterance>",
)
FORMS: Mapping[str, ChatForm] = {
    "Qwen2VLForConditionalGeneration": QWEN,
    "Qwen2_5_VLForConditionalGeneration": QWEN,
    "Qwen3VLForConditionalGeneration": QWEN,
    "Qwen3VLMoeForConditionalGeneration": QWEN,
    "Idefics3ForConditionalGeneration": IDEFICS,
    "SmolVLMForConditionalGeneration": IDEFICS,
}
"""Chat form by architecture."""


def build(card: PerceptionCard) -> "LocalVisionModel":
    """Create the answerer of a model folder."""
    return LocalVisionModel(card)


class LocalVisionModel:
    """Answers with a model on this machine, loaded on first use.

    Implements ``QuestionAnswerer`` and ``ChoiceAnswerer``.

    Args:
        card: The model.
    """

    def __init__(self, card: PerceptionCard) -> None:
        self.id = card.ref.id
        self._folder = card.folder
        self._form = FORMS[card.architecture]
        self._model = ModelInUse(card, card.architecture, "AutoImageProcessor", dtype="auto")
        self._tokenizer: Any = None

    @property
    def model_key(self) -> str:
        """Id, revision and weights of the model; see ``ChoiceAnswerer``."""
        return self._model.signature("")

    def answer(
        self, image: RgbImage, questions: Sequence[str], token: CancelToken
    ) -> tuple[QuestionAnswer, ...]:
        """Answer yes-no questions by the probabilities of the first token.

        Args:
            image: (H, W, 3) uint8.
            questions: Yes-no questions.
            token: Checked before each question.

        Raises:
            DetectorError: The model is damaged, or fails on this picture.
            Cancelled: The token was cancelled.
        """
        answers = []
        for question in questions:
            token.raise_if_cancelled()
            with self._model.looking() as loaded:
                inputs = self._inputs(loaded, image, YES_NO_INSTRUCTION, question)
                chances = yes_no_chances(self._likeliest(loaded(**inputs).logits[0, -1]))
            note = "" if chances else "The model answers neither yes nor no."
            answers.append(QuestionAnswer(chances=chances, note=note))
        return tuple(answers)

    def choose(
        self,
        image: RgbImage | None,
        questions: Sequence[ChoiceQuestion],
        sampling: Sampling,
        token: CancelToken,
    ) -> ChoiceReply:
        """Answer multiple-choice questions in one message; see ``ChoiceAnswerer``.

        Replies are lines: this machine does not force JSON.

        Raises:
            DetectorError: The model is damaged, or fails on this picture.
            Cancelled: The token was cancelled.
        """
        started, count = perf_counter(), len(questions)
        system = instruction(count, is_blind=image is None)
        token.raise_if_cancelled()
        with self._model.looking() as loaded:
            inputs = self._inputs(loaded, image, system, message(questions))
            shown = inputs["input_ids"].shape[1]
            with _seeded(sampling.seed):
                made = loaded.model.generate(
                    **{name: value.to(loaded.device) for name, value in inputs.items()},
                    generation_config=self._settings(loaded, sampling.temperature, count),
                    stopping_criteria=[_StopIfCancelled(token)],
                )
            text = self._tokenizer.decode(made.sequences[0, shown:], skip_special_tokens=True)
            chances = letter_chances(self._likeliest(made.logits[0][0])) if count == 1 else {}
        return ChoiceReply(
            text=reply_lines(text, count),
            tokens_in=shown,
            tokens_out=made.sequences.shape[1] - shown,
            seconds=perf_counter() - started,
            chances=chances,
        )

    def _settings(self, loaded: Loaded, temperature: float, count: int) -> Any:
        """Return settings of the generation, which replace those in the model folder."""
        from transformers import GenerationConfig

        make: Any = GenerationConfig
        loaded.model.generation_config = make()
        sampled: dict[str, Any] = {}
        if temperature:
            sampled = {"do_sample": True, "temperature": temperature, "top_k": 0, "top_p": 1.0}
        tokens = self._tokenizer
        return make(
            **sampled,
            eos_token_id=[tokens.eos_token_id, tokens.convert_tokens_to_ids(self._form.end)],
            pad_token_id=tokens.pad_token_id,
            max_new_tokens=REPLY_TOKENS * count,
            return_dict_in_generate=True,
            output_logits=count == 1,
        )

    def _inputs(
        self, loaded: Loaded, image: RgbImage | None, system: str, text: str
    ) -> "dict[str, Tensor]":
        import torch

        tokenizer = self._ready_tokenizer()
        seen: dict[str, Any] = {}
        picture = ""
        if image is not None:
            options = {} if self._form is QWEN else {"return_row_col_info": True}
            seen = dict(loaded.processor(images=[image], return_tensors="pt", **options))
            picture = self._form.picture(seen, loaded.model.config)
            seen = {name: seen[name] for name in seen if name not in {ROWS, COLUMNS}}
        words = self._form.form.format(
            system=system, picture=picture, text=self._without_special_tokens(text)
        )
        inputs = dict(tokenizer(words, return_tensors="pt", add_special_tokens=False))
        if GRID in seen:
            part = tokenizer.convert_tokens_to_ids(self._form.token)
            seen["mm_token_type_ids"] = (inputs["input_ids"] == part).to(torch.int32)
        inputs.pop("token_type_ids", None)
        pixels = seen.get("pixel_values")
        if pixels is not None:
            seen["pixel_values"] = pixels.to(loaded.model.dtype)
        return {**inputs, **seen}

    def _ready_tokenizer(self) -> Any:
        if self._tokenizer is None:
            from transformers import AutoTokenizer

            load: Any = AutoTokenizer.from_pretrained
            self._tokenizer = load(self._folder, local_files_only=True, trust_remote_code=False)
        return self._tokenizer

    def _without_special_tokens(self, text: str) -> str:
        """Return a text without the model's special tokens, also such as their removal makes."""
        special = [str(each) for each in self._tokenizer.all_special_tokens]
        special += [QWEN_PART, IDEFICS_PART, AROUND, "<end_of_utterance>", "<|im_end|>"]
        while found := [each for each in special if each.strip() and each in text]:
            for each in found:
                text = text.replace(each, " ")
        return text

    def _likeliest(self, logits: "Tensor") -> Iterator[tuple[str, float]]:
        """Yield the most likely tokens with their natural log-probabilities."""
        best = logits.float().log_softmax(-1).topk(min(TOP_TOKENS, logits.shape[-1]))
        for chance, number in zip(best.values.tolist(), best.indices.tolist(), strict=True):
            yield self._tokenizer.decode([number]), max(chance, log(1e-30))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Seed the random numbers within the block, and restore them after it."""
    import torch

    devices = range(torch.cuda.device_count())
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed % LARGEST_SEED)
        yield


class _StopIfCancelled:
    """Asks after each token whether the work was cancelled."""

    def __init__(self, token: CancelToken) -> None:
        self._token = token

    def __call__(self, input_ids: "Tensor", _scores: object, **_: object) -> "Tensor":
        import torch

        self._token.raise_if_cancelled()
        return torch.zeros(input_ids.shape[0], dtype=torch.bool, device=input_ids.device)


FAMILY = ModelFamily(
    role=PerceptionRole.ANSWERER,
    architectures=tuple(FORMS),
    build=build,
)
