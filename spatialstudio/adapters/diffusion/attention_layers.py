"""The attention layers of a denoiser, with map level and text position."""

import math
from collections.abc import Iterator
from enum import Enum

from diffusers.models.attention_processor import Attention
from torch import nn

from spatialstudio.domain.frozen import frozen

MAP_DIVISOR = 4
"""Latent side divided by the side of the maps that localise objects best (PSG, table 12)."""

LEAST_MAP_SIDE = 16

SELF_ATTENTION = ".attn1"
"""Module of the self-attention of a ``BasicTransformerBlock``."""


class TextPlace(Enum):
    """Where an attention call holds the text.

    Attributes:
        ALONE: Cross-attention: the queries are the picture, the keys are the text.
        FIRST: Joint attention over text, then picture.
        LAST: Joint attention over picture, then text.
        NONE: Self-attention: queries and keys are the picture.
    """

    ALONE = "alone"
    FIRST = "first"
    LAST = "last"
    NONE = "none"


@frozen(eq=False, kw_only=False)
class AttentionLayer:
    """One attention layer of a denoiser.

    Attributes:
        name: Module name in the denoiser.
        module: Runs one scaled dot-product attention per call.
        level: How often the latents are halved before this layer.
        text: Where the attention call holds the text.
        picture_multiple: Picture positions are padded to a multiple of this.
    """

    name: str
    module: nn.Module
    level: int
    text: TextPlace = TextPlace.ALONE
    picture_multiple: int = 1


def guiding_layers(
    layers: tuple[AttentionLayer, ...], native_latent_side: int
) -> tuple[AttentionLayer, ...]:
    """Choose the layers whose maps localise objects best.

    Args:
        layers: All layers that attend to the text, in execution order.
        native_latent_side: Side of the latents of the training pictures.

    Returns:
        The layers of the one level whose maps are closest to a fourth of the latents and to
        16 x 16.
    """
    wanted_side = max(native_latent_side / MAP_DIVISOR, LEAST_MAP_SIDE)

    def distance(level: int) -> float:
        return abs(math.log2(native_latent_side / wanted_side) - level)

    best = min({layer.level for layer in layers}, key=distance)
    return tuple(layer for layer in layers if layer.level == best)


def decoder_levels(layers: tuple[AttentionLayer, ...]) -> tuple[tuple[AttentionLayer, ...], ...]:
    """Group the layers of a UNet's decoder by map size.

    Args:
        layers: All layers that attend to the text, in execution order.

    Returns:
        One group per level, coarse to fine; empty if there is no decoder.
    """
    decoder = [layer for layer in layers if layer.name.startswith("up_blocks")]
    levels = sorted({layer.level for layer in decoder}, reverse=True)
    return tuple(tuple(one for one in decoder if one.level == level) for level in levels)


def map_size(latent_height: int, latent_width: int, level: int) -> tuple[int, int]:
    """Return the (h, w) of attention maps; each level halves the latents, rounding up."""
    return -(-latent_height // 2**level), -(-latent_width // 2**level)


def unet_text_layers(unet: nn.Module) -> tuple[AttentionLayer, ...]:
    """List the cross-attention layers of a ``UNet2DConditionModel``: down, middle, up."""
    return tuple(layer for block in _unet_blocks(unet) for layer in _cross_attention(*block))


def unet_self_layers(unet: nn.Module) -> tuple[AttentionLayer, ...]:
    """List the self-attention layers of a ``UNet2DConditionModel``: down, middle, up."""
    return tuple(layer for block in _unet_blocks(unet) for layer in _self_attention(*block))


def _unet_blocks(unet: nn.Module) -> list[tuple[str, nn.Module, int]]:
    """Return name, module and level of each block: down, middle, up."""
    down, up = unet.get_submodule("down_blocks"), unet.get_submodule("up_blocks")
    lowest = len(list(down.children())) - 1
    blocks = [(f"down_blocks.{name}", block, int(name)) for name, block in down.named_children()]
    if (middle := getattr(unet, "mid_block", None)) is not None:
        blocks.append(("mid_block", middle, lowest))
    blocks += [
        (f"up_blocks.{name}", block, lowest - int(name)) for name, block in up.named_children()
    ]
    return blocks


def transformer_layers(
    transformer: nn.Module,
    blocks: tuple[str, ...],
    attention: str,
    *,
    text: TextPlace = TextPlace.ALONE,
    picture_multiple: int = 1,
    is_packed: bool = False,
) -> tuple[AttentionLayer, ...]:
    """List the attention layers of a diffusion transformer's blocks, in execution order.

    Args:
        transformer: The denoiser; all of its maps have one size.
        blocks: Names of the block lists.
        attention: Name of the attention module within a block.
        text: Where the attention calls hold the text.
        picture_multiple: Picture positions are padded to a multiple of this.
        is_packed: Whether the latents are already packed into patches.
    """
    level = 0 if is_packed else int(math.log2(_patch_size(transformer)))
    return tuple(
        AttentionLayer(
            name=f"{stack}.{number}.{attention}",
            module=block.get_submodule(attention),
            level=level,
            text=text,
            picture_multiple=picture_multiple,
        )
        for stack in blocks
        for number, block in enumerate(transformer.get_submodule(stack).children())
    )


def _patch_size(transformer: nn.Module) -> int:
    config = dict(transformer.config.items())  # type: ignore[operator, union-attr]
    sizes = config["all_patch_size"] if "all_patch_size" in config else (config["patch_size"],)
    return int(sizes[0])


def _cross_attention(prefix: str, block: nn.Module, level: int) -> Iterator[AttentionLayer]:
    for name, module in block.named_modules():
        if isinstance(module, Attention) and module.is_cross_attention:
            yield AttentionLayer(f"{prefix}.{name}", module, level)


def _self_attention(prefix: str, block: nn.Module, level: int) -> Iterator[AttentionLayer]:
    for name, module in block.named_modules():
        is_first = name.endswith(SELF_ATTENTION) and isinstance(module, Attention)
        if is_first and not module.is_cross_attention:
            yield AttentionLayer(f"{prefix}.{name}", module, level, TextPlace.NONE)
