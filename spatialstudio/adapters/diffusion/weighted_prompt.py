"""Weights of words, "(cat:1.3)", applied to the text embeddings that a pipeline encodes.

For a token of weight w with embedding e, the denoiser reads

    e' = r + w (e - r)

where r is the embedding of the empty prompt at the same position for encoders that read the prompt
alone (CLIP, T5), the rule of ComfyUI; and for language models, which read it inside a template, the
mean embedding of the prompt's own tokens (ours: an empty prompt shortens the template's text, so
positions do not match). With w = 1 nothing is computed. Pooled embeddings are not weighted.

Compel 2.5 (MIT) computes the same embeddings for w > 1, to the bit for Stable Diffusion and SDXL.
For w < 1 it blends with an encoding that masks the words, which changes every later token; here
only weighted tokens change, so that the maps of other words stay comparable.

Denoisers that normalize the text cancel the length of e' and keep its direction. Where little
effect remains (``Family.weighs_values``), the values of the token are multiplied by w in every
attention layer as well, the re-weighting of Hertz et al. 2022, arXiv:2208.01626.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from inspect import Signature, signature
from typing import Any, TypeAlias

import torch
from torch.nn import functional

from spatialstudio.adapters.diffusion.attention_layers import (
    AttentionLayer,
    TextPlace,
    map_size,
)
from spatialstudio.adapters.diffusion.denoiser_call import DenoiserCall
from spatialstudio.adapters.diffusion.guidable_pipeline import GuidablePipeline
from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.adapters.diffusion.text_streams import PLACEHOLDER, TextStream
from spatialstudio.adapters.diffusion.token_spans import prompt_positions, token_weights
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Prompt, SpanWeight

Embeddings: TypeAlias = torch.Tensor | list[torch.Tensor]
"""(pictures, tokens, channels), or a list of (tokens, channels)."""

ENCODE = "encode_prompt"
PROMPT = "prompt"
OTHER_PROMPTS = ("prompt_2", "prompt_3", "negative_prompt")
SCALED = "do_classifier_free_guidance"
TEXTS = ("encoder_hidden_states", "cap_feats")
"""Arguments of the denoisers for the text embeddings."""


@contextmanager
def weighted_prompt(model: GuidablePipeline, prompt: Prompt) -> Iterator[None]:
    """Apply the weights of a prompt to what the pipeline encodes inside the block.

    Without weights, the pipeline is not touched. Other patches of the denoiser belong inside the
    block, so that this one receives the calls that they make.

    Args:
        model: The pipeline; it encodes ``prompt.text`` first, and the negative prompt in the same
            call or in the next.
        prompt: The prompt of the call.
    """
    if not (prompt.weights or prompt.negative_weights):
        yield
        return
    encoding = _WeightedEncoding(model, prompt)
    with ExitStack() as patches:
        patches.enter_context(patched_attribute(model.pipeline, ENCODE, encoding))
        if model.family.weighs_values:
            patches.enter_context(_WeightedValues(model, encoding).attached())
        yield


@frozen
class _Weighting:
    """Weights of one text: by position, with the positions of all of its words."""

    weights: Mapping[int, float]
    words: Sequence[int]


class _WeightedEncoding:
    """Replaces ``encode_prompt`` of a pipeline for one call of it.

    Attributes:
        weighted: (tokens, channels) of each weighted text, with the weights by position.
    """

    def __init__(self, model: GuidablePipeline, prompt: Prompt) -> None:
        self._has_template = any(each.template != PLACEHOLDER for each in model.streams)
        self._usual: Signature = signature(model.pipeline.encode_prompt)
        self._left = [
            _weighting(model.streams, prompt.text, prompt.weights),
            _weighting(model.streams, prompt.negative, prompt.negative_weights),
        ]
        self.weighted: list[tuple[torch.Tensor, Mapping[int, float]]] = []

    def __call__(self, encode: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Encode, and weigh the embeddings of the prompt and of the negative prompt."""
        encoded = list(encode(*args, **kwargs))
        places = [place for place, part in enumerate(encoded) if _is_alike(part, encoded[0])]
        for place in places:
            weighting = self._left.pop(0) if self._left else None
            if weighting is not None and weighting.weights:
                empty = None if self._has_template else self._empty(encode, args, kwargs)
                encoded[place] = _weigh(encoded[place], weighting, empty)
                self.weighted.append((encoded[place][0], weighting.weights))
        return tuple(encoded)

    def _empty(
        self, encode: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Embeddings:
        """Encode the empty prompt as often as the given one."""
        given = self._usual.bind(*args, **kwargs)
        prompt = given.arguments[PROMPT]
        given.arguments[PROMPT] = "" if isinstance(prompt, str) else [""] * len(prompt)
        for name in OTHER_PROMPTS:
            if given.arguments.get(name) is not None:
                given.arguments[name] = given.arguments[PROMPT]
        if SCALED in given.arguments:
            given.arguments[SCALED] = False
        empty: Embeddings = encode(*given.args, **given.kwargs)[0]
        return empty


class _WeightedValues:
    """Multiplies the values of weighted tokens in the attention layers of a denoiser.

    A row of a call has the weights of the text whose embeddings it was given.
    """

    def __init__(self, model: GuidablePipeline, encoding: _WeightedEncoding) -> None:
        self._model = model
        self._encoding = encoding
        self._call = DenoiserCall(model.family.calls, (), {})
        self._weights: list[Mapping[int, float]] = []

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Patch the denoiser and its layers inside the block."""
        with ExitStack() as patches:
            patches.enter_context(patched_attribute(self._model.denoiser, "forward", self._denoise))
            for layer in self._model.text_layers:
                run = partial(self._run, layer)
                patches.enter_context(patched_attribute(layer.module, "forward", run))
            yield

    def _denoise(self, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Note the weights of each row; a gradient may run layers again after this call."""
        given = signature(forward).bind(*args, **kwargs).arguments
        texts = next(given[name] for name in TEXTS if name in given)
        self._call = DenoiserCall(self._model.family.calls, args, kwargs)
        self._weights = [self._weights_of(text) for text in texts]
        return forward(*args, **kwargs)

    def _weights_of(self, text: torch.Tensor) -> Mapping[int, float]:
        for embeddings, weights in self._encoding.weighted:
            if text.shape == embeddings.shape and torch.equal(text, embeddings.to(text)):
                return weights
        return {}

    def _run(
        self, layer: AttentionLayer, forward: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        attend = partial(self._attend, self._first_position(layer))
        with patched_attribute(functional, "scaled_dot_product_attention", attend):
            return forward(*args, **kwargs)

    def _first_position(self, layer: AttentionLayer) -> int:
        """Return the position of the first token among the keys of a layer."""
        if layer.text is not TextPlace.LAST:
            return 0
        height, width = map_size(*self._call.latent_size, layer.level)
        return -(-height * width // layer.picture_multiple) * layer.picture_multiple

    def _attend(
        self,
        first: int,
        attend: Callable[..., Any],
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        factors = value.new_ones(value.shape[0], 1, value.shape[-2], 1)
        for row, weights in enumerate(self._weights):
            for position, weight in weights.items():
                factors[row, :, first + position] = weight
        return attend(query, key, value * factors, *args, **kwargs)


def _weighting(
    streams: Sequence[TextStream], text: str, weights: Sequence[SpanWeight]
) -> _Weighting:
    placed = token_weights(streams, text, weights) if weights else {}
    changing = {place: weight for place, weight in placed.items() if weight != 1}
    words = prompt_positions(streams, text) if changing else ()
    return _Weighting(weights=changing, words=words)


def _is_alike(part: Any, first: Any) -> bool:
    """Return True for token embeddings, not for masks, pooled embeddings and position ids."""
    if isinstance(first, list):
        return isinstance(part, list) and bool(part)
    is_tensor = isinstance(part, torch.Tensor) and part.is_floating_point()
    return is_tensor and part.ndim == first.ndim and part.shape[-1] == first.shape[-1]


def _weigh(encoded: Embeddings, weighting: _Weighting, empty: Embeddings | None) -> Embeddings:
    if isinstance(encoded, list):
        return [_weigh(each[None], weighting, None)[0] for each in encoded]
    positions = list(weighting.weights)
    scale = torch.tensor(list(weighting.weights.values()), device=encoded.device)[:, None]
    old = encoded[:, positions].float()
    if isinstance(empty, torch.Tensor):
        rest = empty[:, positions].float()
    else:
        rest = encoded[:, list(weighting.words)].float().mean(1, keepdim=True)
    new = encoded.clone()
    new[:, positions] = (rest + scale * (old - rest)).to(encoded.dtype)
    return new
