"""Where denoisers attend to the text: which modules, how fine, and where the text stands."""

import math
from collections.abc import Iterator
from enum import Enum

from diffusers.models.attention_processor import Attention
from torch import nn

from spatialstudio.domain.frozen import frozen

MAP_DIVISOR = 4
"""Latent side over the side of the maps that place objects best (PSG, table 12)."""

LEAST_MAP_SIDE = 16


class TextPlace(Enum):
    """Where an attention call holds the text.

    Attributes:
        ALONE: The queries are the picture, the keys are the text: cross-attention.
        FIRST: Joint attention over text, then picture.
        LAST: Joint attention over picture, then text.
    """

    ALONE = "alone"
    FIRST = "first"
    LAST = "last"


@frozen(eq=False, kw_only=False)
class AttentionLayer:
    """One place where a denoiser attends to the text.

    Attributes:
        name: Of the module in the denoiser.
        module: Runs one scaled dot product attention a call.
        level: How often the latents were halved before it.
        text: Where its attention call holds the text.
        picture_multiple: To what multiple the positions of the picture are filled up.
    """

    name: str
    module: nn.Module
    level: int
    text: TextPlace = TextPlace.ALONE
    picture_multiple: int = 1


def guiding_layers(
    layers: tuple[AttentionLayer, ...], native_latent_side: int
) -> tuple[AttentionLayer, ...]:
    """Choose the layers whose maps tell best where things go.

    Args:
        layers: All that attend to the text, in the order in which they run.
        native_latent_side: Of the pictures that the model was trained on.

    Returns:
        Those of one level, the nearest to a fourth of the latents and to 16 x 16.
    """
    wanted_side = max(native_latent_side / MAP_DIVISOR, LEAST_MAP_SIDE)

    def distance(level: int) -> float:
        return abs(math.log2(native_latent_side / wanted_side) - level)

    best = min({layer.level for layer in layers}, key=distance)
    return tuple(layer for layer in layers if layer.level == best)


def decoder_levels(layers: tuple[AttentionLayer, ...]) -> tuple[tuple[AttentionLayer, ...], ...]:
    """Sort the layers of a UNet's decoder by the size of their maps.

    Args:
        layers: All that attend to the text, in the order in which they run.

    Returns:
        One entry a level, coarse to fine; empty where there is no decoder.
    """
    decoder = [layer for layer in layers if layer.name.startswith("up_blocks")]
    levels = sorted({layer.level for layer in decoder}, reverse=True)
    return tuple(tuple(one for one in decoder if one.level == level) for level in levels)


def map_size(latent_height: int, latent_width: int, level: int) -> tuple[int, int]:
    """Return the (h, w) of attention maps; every level halves the latents, rounding up."""
    return -(-latent_height // 2**level), -(-latent_width // 2**level)


def unet_text_layers(unet: nn.Module) -> tuple[AttentionLayer, ...]:
    """List the cross-attention of a ``UNet2DConditionModel``: down, middle, up."""
    down, up = unet.get_submodule("down_blocks"), unet.get_submodule("up_blocks")
    lowest = len(list(down.children())) - 1
    blocks = [(f"down_blocks.{name}", block, int(name)) for name, block in down.named_children()]
    if (middle := getattr(unet, "mid_block", None)) is not None:
        blocks.append(("mid_block", middle, lowest))
    blocks += [
        (f"up_blocks.{name}", block, lowest - int(name)) for name, block in up.named_children()
    ]
    return tuple(layer for block in blocks for layer in _cross_attention(*block))


def transformer_layers(
    transformer: nn.Module,
    blocks: tuple[str, ...],
    attention: str,
    *,
    text: TextPlace = TextPlace.ALONE,
    picture_multiple: int = 1,
    is_packed: bool = False,
) -> tuple[AttentionLayer, ...]:
    """List the attention of a diffusion transformer's blocks, in the order in which they run.

    Args:
        transformer: All of its maps are of one size.
        blocks: Names of the lists of blocks.
        attention: Name of the module within a block.
        text: Where its attention calls hold the text.
        picture_multiple: To what multiple the positions of the picture are filled up.
        is_packed: Whether the latents come in patches already.
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
