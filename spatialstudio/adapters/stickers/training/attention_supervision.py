"""Loss on a denoiser's cross-attention maps in training, compared with object masks."""

import threading
from collections.abc import Sequence
from typing import Any

import torch
from diffusers.models.attention_processor import Attention
from diffusers.models.unets.unet_2d_condition import UNet2DConditionModel
from torch import Tensor

from spatialstudio.adapters.stickers.training.captions import Caption

FINEST_BLOCKS = ("down_blocks.0.", "up_blocks.1.")  # the 16x16 blocks
SMALLEST_SHARE = 1e-6


class NounMaps:
    """Records the attention weights of all cross-attention layers on the finest level."""

    def __init__(self, denoiser: UNet2DConditionModel) -> None:
        self._kept = ThreadKept()
        for name, module in denoiser.named_modules():
            if isinstance(module, Attention):
                wanted = module.is_cross_attention and name.startswith(FINEST_BLOCKS)
                processor: Any = PlainAttention(self._kept if wanted else None)
                module.set_processor(processor)

    def collect(self) -> Tensor:
        """Return and clear this thread's last forward pass: (layers, batch, positions, tokens)."""
        maps = torch.stack(self._kept.weights)
        self._kept.weights.clear()
        return maps


class ThreadKept(threading.local):
    """Thread-local attention weights."""

    def __init__(self) -> None:
        self.weights: list[Tensor] = []


class PlainAttention:
    """Attention by plain matrix products that can record the mean weights over heads.

    On a CPU the backward pass of these small products is several times faster than that of
    ``scaled_dot_product_attention``.
    """

    def __init__(self, kept: ThreadKept | None) -> None:
        self._kept = kept

    def __call__(
        self,
        attn: Attention,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor | None = None,
        **_: object,
    ) -> Tensor:
        """Attend from (batch, positions, width) to (batch, tokens, width), or to itself."""
        batch, positions, _width = hidden_states.shape
        context = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        query, key, value = (
            projected.view(batch, -1, attn.heads, projected.shape[-1] // attn.heads).transpose(1, 2)
            for projected in (attn.to_q(hidden_states), attn.to_k(context), attn.to_v(context))
        )
        weights = (query @ key.transpose(-1, -2) * attn.scale).softmax(-1)
        if self._kept is not None:
            self._kept.weights.append(weights.float().mean(1))
        attended = (weights.to(value.dtype) @ value).transpose(1, 2).reshape(batch, positions, -1)
        result: Tensor = attn.to_out[1](attn.to_out[0](attended))
        return result


def map_loss(maps: Tensor, captions: Sequence[Caption], masks: Tensor) -> Tensor:
    """Compare each noun's map with its object's mask, both as distributions over the picture.

    Args:
        maps: (layers, batch, positions, tokens), not negative.
        captions: One per picture, with the object of each token.
        masks: (batch, objects, h, w), not negative.

    Returns:
        The mean Kullback-Leibler divergence from mask to map.
    """
    owners = torch.zeros(masks.shape[0], masks.shape[1], maps.shape[-1])
    for row, caption in enumerate(captions):
        for position, owner in enumerate(caption.owners):
            if owner is not None:
                owners[row, owner, position + 1] = 1  # after the start token
    target = masks.flatten(2)
    named = (owners.sum(-1) > 0) & (target.sum(-1) > 0)
    target = target / target.sum(-1, keepdim=True).clamp(min=SMALLEST_SHARE)
    noun = torch.einsum("bpt,bot->bop", maps.mean(0), owners)
    noun = noun / noun.sum(-1, keepdim=True).clamp(min=SMALLEST_SHARE)
    divergence: Tensor = torch.special.xlogy(target, target)
    divergence = divergence - target * (noun + SMALLEST_SHARE).log()
    return divergence.sum(-1)[named].sum() / named.sum().clamp(min=1)
