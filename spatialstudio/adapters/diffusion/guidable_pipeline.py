"""A diffusers pipeline of a known family: the parts that guidance reads."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any

import torch
from torch import nn

from spatialstudio.adapters.diffusion.attention_layers import (
    AttentionLayer,
    decoder_levels,
    guiding_layers,
)
from spatialstudio.adapters.diffusion.families import Family, LatentForm
from spatialstudio.adapters.diffusion.preview import DecodePreview, picture_decoder, preview_decoder
from spatialstudio.adapters.diffusion.text_streams import TextStream
from spatialstudio.adapters.models.model_parts import TOKENIZER
from spatialstudio.domain.errors import RequestError

TRANSFORMER = "transformer"
PACKED_SIDE = 2
DECODER_LEVELS = 2


@dataclass(frozen=True, eq=False)
class GuidablePipeline:
    """A pipeline whose attention can be read.

    Attributes:
        pipeline: The diffusers object.
        family: How this pipeline class differs from others.
        extra_tokens: Offset to the family's token limit of the long text encoder, from the call.
    """

    pipeline: Any
    family: Family
    extra_tokens: int = field(default=0, kw_only=True)

    @property
    def denoiser(self) -> Any:
        """The module that is called once per step."""
        return getattr(self.pipeline, self.family.kind.denoiser)

    @property
    def native_latent_side(self) -> int:
        """Side of the latents of the training pictures."""
        return self.family.kind.native_latent_side(self.denoiser.config)

    @property
    def native_side(self) -> int:
        """Side of the training pictures, pixels."""
        return self.native_latent_side * int(self.pipeline.vae_scale_factor)

    @property
    def side_multiple(self) -> int:
        """Factor that the picture sides must be multiples of, pixels."""
        patch = 1 if self.family.latents is LatentForm.PICTURE else PACKED_SIDE
        if not self.is_unet:
            patch *= 2 ** self.guiding_layers[0].level
        return math.lcm(patch * int(self.pipeline.vae_scale_factor), self.family.side_multiple)

    def latent_size(self, height: int, width: int) -> tuple[int, int]:
        """Return the (h, w) of the denoiser's input latents for a picture size in pixels."""
        patch = 1 if self.family.latents is LatentForm.PICTURE else PACKED_SIDE
        pixels = patch * int(self.pipeline.vae_scale_factor)
        return height // pixels, width // pixels

    @cached_property
    def text_layers(self) -> tuple[AttentionLayer, ...]:
        """All layers that attend to the text, in execution order."""
        return self.family.text_layers(self.denoiser)

    @cached_property
    def self_layers(self) -> tuple[AttentionLayer, ...]:
        """All self-attention layers that can be recorded, in execution order."""
        return self.family.self_layers(self.denoiser)

    @cached_property
    def guiding_layers(self) -> tuple[AttentionLayer, ...]:
        """The layers whose attention is read."""
        layers = self.text_layers
        first, last = (round(share * len(layers)) for share in self.family.read_share)
        chosen = layers[first : max(last, first + 1)]
        return guiding_layers(chosen, self.native_latent_side)

    def layers_to_read(self, *, smaller: bool) -> tuple[AttentionLayer, ...]:
        """Return the layers to read; smaller maps take less memory."""
        usual = self.guiding_layers
        if not smaller:
            return usual
        coarser = [layer for layer in self.text_layers if layer.level > usual[0].level]
        if not coarser:
            return usual[: max(len(usual) // 2, 1)]
        level = min(layer.level for layer in coarser)
        return tuple(layer for layer in coarser if layer.level == level)

    def chosen_layers(self, names: Sequence[str]) -> tuple[AttentionLayer, ...]:
        """Return layers by name, in execution order.

        Raises:
            RequestError: The model has no such layer, or their maps differ in size.
        """
        chosen = tuple(layer for layer in self.text_layers if layer.name in names)
        if missing := set(names) - {layer.name for layer in chosen}:
            raise RequestError(
                f'The model has no attention layer "{min(missing)}".',
                hint=f'Choose layers such as "{self.guiding_layers[0].name}", or none.',
            )
        if len({layer.level for layer in chosen}) > 1:
            raise RequestError(
                "The layers chosen for guidance have maps of different sizes.",
                hint="Choose layers of one resolution.",
            )
        return chosen

    def decoder_to_read(self, *, smaller: bool) -> tuple[tuple[AttentionLayer, ...], ...]:
        """Return the coarse and the finer layers of the decoder; empty if it has no levels."""
        return decoder_levels(self.text_layers)[: 1 if smaller else DECODER_LEVELS]

    @property
    def is_unet(self) -> bool:
        """Whether the denoiser is a UNet; otherwise it is a transformer."""
        return self.family.kind.denoiser != TRANSFORMER

    @property
    def modules(self) -> tuple[torch.nn.Module, ...]:
        """The components that have weights."""
        parts = self.pipeline.components.values()
        return tuple(part for part in parts if isinstance(part, torch.nn.Module))

    @cached_property
    def part_sizes(self) -> tuple[int, ...]:
        """Size of the weights of each component, bytes."""
        return tuple(map(size_of_weights, self.modules))

    @property
    def largest_layer(self) -> int:
        """Size of the largest layer of all components, bytes."""
        layers = (layer for part in self.modules for layer in part.modules())
        return max(size_of_weights(layer, is_deep=False) for layer in layers)

    @cached_property
    def streams(self) -> tuple[TextStream, ...]:
        """How the text encoders read a prompt."""
        parts = self.pipeline.components.items()
        tokenizers = {name: part for name, part in parts if name.startswith(TOKENIZER) and part}
        *others, last = self.family.streams(tokenizers)
        if not last.empty:  # CLIP replaces a long text encoder that is left out
            last = replace(last, limit=last.limit + self.extra_tokens)
        return (*others, last)

    @cached_property
    def decode_preview(self) -> DecodePreview:
        """Decodes clean latents to a small picture."""
        return preview_decoder(self.pipeline.vae)

    @property
    def decode_picture(self) -> DecodePreview:
        """Decodes clean latents to a picture of full size, as perception needs it."""
        return picture_decoder(self.pipeline.vae, self.decode_preview)


def size_of_weights(module: nn.Module, *, is_deep: bool = True) -> int:
    """Return the size of weights and buffers of floating-point numbers, bytes.

    Buffers may be large: the positions of Stable Diffusion 3.5 Medium are 0.45 GB in bfloat16.

    Args:
        module: Its number format may be changed; integers, as position ids, keep theirs.
        is_deep: Include the modules inside it.
    """
    weights = chain(module.parameters(recurse=is_deep), module.buffers(recurse=is_deep))
    return sum(each.nbytes for each in weights if each.is_floating_point())
