"""What differs between families of diffusion models: a table."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from diffusers.models.attention_processor import Attention
from torch import nn

MAP_DIVISOR = 4
"""Latent side over the side of the maps that place objects best (PSG, table 12)."""

LEAST_MAP_SIDE = 16


@dataclass(frozen=True, slots=True, eq=False)
class AttentionLayer:
    """One place where a denoiser attends to the text.

    Attributes:
        name: Of the module in the denoiser.
        module: Runs one scaled dot product attention a call.
        level: How often the latents were halved before it.
    """

    name: str
    module: nn.Module
    level: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """How to guide the models of one pipeline class.

    Attributes:
        pipeline_class: diffusers class name, as in ``model_index.json``.
        denoiser: Attribute of the pipeline.
        text_layers: Lists the layers that attend to the text, in the order in which they run.
        smooths_maps: Whether the loss reads smoothed maps.
    """

    pipeline_class: str
    denoiser: str
    text_layers: Callable[[nn.Module], tuple[AttentionLayer, ...]]
    smooths_maps: bool


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


def _cross_attention(prefix: str, block: nn.Module, level: int) -> Iterator[AttentionLayer]:
    for name, module in block.named_modules():
        if isinstance(module, Attention) and module.is_cross_attention:
            yield AttentionLayer(f"{prefix}.{name}", module, level)


STABLE_DIFFUSION = Family(
    pipeline_class="StableDiffusionPipeline",
    denoiser="unet",
    text_layers=unet_text_layers,
    smooths_maps=True,
)

FAMILIES = {family.pipeline_class: family for family in (STABLE_DIFFUSION,)}
