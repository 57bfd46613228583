"""Weights of words, "(cat:1.3)", applied to the text embeddings that a pipeline encodes.

For a token of weight w with embedding e, the denoiser reads

    e' = r + w (e - r)

where r is the embedding of the empty prompt at the same position for encoders that read the prompt
alone (CLIP, T5), the rule of ComfyUI; and for language models, which read it inside a template, the
mean embedding of the prompt's own tokens (ours: an empty prompt shortens the template's text, so
positions do not match). With w = 1 nothing is computed. Pooled embeddings are not weighted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from inspect import Signature, signature
from typing import Any, TypeAlias

import torch

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


@contextmanager
def weighted_prompt(model: GuidablePipeline, prompt: Prompt) -> Iterator[None]:
    """Apply the weights of a prompt to what the pipeline encodes inside the block.

    Without weights, the pipeline is not touched.

    Args:
        model: The pipeline; it encodes ``prompt.text`` first, and the negative prompt in the same
            call or in the next.
        prompt: The prompt of the call.
    """
    if not (prompt.weights or prompt.negative_weights):
        yield
        return
    with patched_attribute(model.pipeline, ENCODE, _WeightedEncoding(model, prompt)):
        yield


@frozen
class _Weighting:
    """Weights of one text: by position, with the positions of all of its words."""

    weights: Mapping[int, float]
    words: Sequence[int]


class _WeightedEncoding:
    """Replaces ``encode_prompt`` of a pipeline for one call of it."""

    def __init__(self, model: GuidablePipeline, prompt: Prompt) -> None:
        self._has_template = any(each.template != PLACEHOLDER for each in model.streams)
        self._usual: Signature = signature(model.pipeline.encode_prompt)
        self._left = [
            _weighting(model.streams, prompt.text, prompt.weights),
            _weighting(model.streams, prompt.negative, prompt.negative_weights),
        ]

    def __call__(self, encode: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Encode, and weigh the embeddings of the prompt and of the negative prompt."""
        encoded = list(encode(*args, **kwargs))
        places = [place for place, part in enumerate(encoded) if _is_alike(part, encoded[0])]
        for place in places:
            weighting = self._left.pop(0) if self._left else None
            if weighting is not None and weighting.weights:
                empty = None if self._has_template else self._empty(encode, args, kwargs)
                encoded[place] = _weigh(encoded[place], weighting, empty)
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


def _weighting(
    streams: Sequence[TextStream], text: str, weights: Sequence[SpanWeight]
) -> _Weighting:
    return _Weighting(
        weights=token_weights(streams, text, weights) if weights else {},
        words=prompt_positions(streams, text) if weights else (),
    )


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
