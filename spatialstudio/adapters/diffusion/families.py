"""Table of the differences between families of diffusion models.

Text layout and batch order follow diffusers 0.42. The layers to read are published only for Stable
Diffusion 1.4, SDXL and PixArt (Rezaei et al. 2025, arXiv:2506.23418); the range of blocks read in
the other families is an untested default. Sizes, steps and step sizes are in ``model_kinds.py``,
recommended guidance settings in ``science/guidance/methods/``.
"""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import Enum
from functools import partial
from typing import Any

import torch
from torch import nn

from spatialstudio.adapters.diffusion import text_streams
from spatialstudio.adapters.diffusion.attention_layers import (
    AttentionLayer,
    TextPlace,
    transformer_layers,
    unet_self_layers,
    unet_text_layers,
)
from spatialstudio.adapters.diffusion.denoiser_call import (
    Arguments,
    BatchOrder,
    CallLayout,
)
from spatialstudio.adapters.diffusion.text_streams import ListStreams
from spatialstudio.adapters.models.model_kinds import MODEL_KINDS, ModelKind
from spatialstudio.domain.frozen import frozen


class GuidanceScale(Enum):
    """How a pipeline takes the classifier-free guidance scale; in our requests, 1 is off.

    Attributes:
        COMMON: ``guidance_scale``, off at 1.
        FROM_ZERO: ``guidance_scale``, off at 0.
        EMBEDDED: Embedded as a model input; ``true_cfg_scale`` with a negative prompt.
        TRUE: ``true_cfg_scale``, which requires a negative prompt, possibly empty.
    """

    COMMON = "common"
    FROM_ZERO = "from zero"
    EMBEDDED = "embedded"
    TRUE = "true"


class LatentForm(Enum):
    """Layout in which the pipeline passes latents to its scheduler.

    Attributes:
        PICTURE: (batch, channels, h, w).
        PACKED: (batch, h / 2 * w / 2, channels * 4): patches of 2 x 2 as channels.
        TOKENS: (batch, h * w, channels).
    """

    PICTURE = "picture"
    PACKED = "packed"
    TOKENS = "tokens"


@frozen
class Family:
    """How to run and guide the models of one pipeline class.

    Attributes:
        pipeline_class: diffusers class name, as in ``model_index.json``.
        text_layers: Lists the layers that attend to the text, in execution order.
        self_layers: Lists the self-attention layers that can be recorded, in execution order.
        streams: Lists how the text encoders read a prompt.
        smooths_maps: Whether the loss reads smoothed maps.
        weighs_values: Whether weights of words also act on the values of the attention, because the
            denoiser normalizes the text and cancels most of their effect on embeddings.
        calls: How the pipeline calls the denoiser.
        scale: How the pipeline takes the guidance scale.
        latents: Layout of its latents.
        arguments: Fixed call arguments.
        own_arguments: Further call arguments that depend on the pipeline's components.
        takes_boxes: Whether the pipeline takes phrases and boxes for its grounding layers.
        side_multiple: Picture sides must be multiples of this, besides the autoencoder's factor,
            pixels.
        read_share: Range of a transformer's blocks that are read, as fractions.
        kept_by_block: Values per position and channel that one block saves for the gradient.
        held_by_pass: Peak live values per position and channel in a pass without gradients.
        held_by_decoder: Peak live values per pixel and channel while pictures are decoded.
    """

    pipeline_class: str
    text_layers: Callable[[nn.Module], tuple[AttentionLayer, ...]]
    streams: ListStreams
    self_layers: Callable[[nn.Module], tuple[AttentionLayer, ...]] = lambda _: ()
    smooths_maps: bool = False
    weighs_values: bool = False
    calls: CallLayout = field(default_factory=CallLayout)
    scale: GuidanceScale = GuidanceScale.COMMON
    latents: LatentForm = LatentForm.PICTURE
    arguments: Mapping[str, Any] = field(default_factory=dict)
    own_arguments: Callable[[Any], Mapping[str, Any]] = lambda _: {}
    takes_boxes: bool = False
    side_multiple: int = 1
    read_share: tuple[float, float] = (0.0, 1.0)
    kept_by_block: float = 12.0
    held_by_pass: float = 12.0
    held_by_decoder: float = 6.0

    @property
    def kind(self) -> ModelKind:
        """The model kind as known from its files."""
        return MODEL_KINDS[self.pipeline_class]


def _size_of_position_ids(_: torch.Tensor, given: Arguments) -> tuple[int, int]:
    """Read (h, w) from FLUX position ids, (..., tokens, axes); the second axis counts rows."""
    ids = given["img_ids"]
    return int(ids[..., 1].max()) + 1, int(ids[..., 2].max()) + 1


def _size_of_shapes(_: torch.Tensor, given: Arguments) -> tuple[int, int]:
    """Read (h, w) from Qwen-Image's list of (frames, h, w)."""
    _, height, width = given["img_shapes"][0][0]
    return height, width


def _flux2_arguments(pipeline: Any) -> Mapping[str, Any]:
    """Choose the text encoder layers that FLUX.2 reads; a shallower encoder gets as many.

    They are evenly spaced, like every ninth of the 36 layers in published models.
    """
    encoder = pipeline.text_encoder.config
    count = int(pipeline.transformer.config.joint_attention_dim) // int(encoder.hidden_size)
    usual = inspect.signature(pipeline.__call__).parameters[FLUX2_LAYERS].default
    if count == len(usual) and usual[-1] <= encoder.num_hidden_layers:
        return {}
    shares = (number / (count + 1) for number in range(1, count + 1))
    return {FLUX2_LAYERS: tuple(round(encoder.num_hidden_layers * share) for share in shares)}


NO_CAPTION_CLEANING = {"clean_caption": False, "use_resolution_binning": False}
MIDDLE_THIRD = (1 / 3, 2 / 3)
FLUX2_LAYERS = "text_encoder_out_layers"

_JOINT = partial(transformer_layers, attention="attn")
_CROSS = partial(transformer_layers, blocks=("transformer_blocks",), attention="attn2")
_SELF = partial(
    transformer_layers, blocks=("transformer_blocks",), attention="attn1", text=TextPlace.NONE
)
_FLUX_LAYERS = partial(
    _JOINT,
    blocks=("transformer_blocks", "single_transformer_blocks"),
    text=TextPlace.FIRST,
    is_packed=True,
)

STABLE_DIFFUSION = Family(
    pipeline_class="StableDiffusionPipeline",
    side_multiple=8,
    text_layers=unet_text_layers,
    self_layers=unet_self_layers,
    streams=text_streams.clip_streams,
    smooths_maps=True,
)
GLIGEN = replace(STABLE_DIFFUSION, pipeline_class="StableDiffusionGLIGENPipeline", takes_boxes=True)
SDXL = Family(
    pipeline_class="StableDiffusionXLPipeline",
    side_multiple=8,
    text_layers=unet_text_layers,
    self_layers=unet_self_layers,
    streams=text_streams.clip_streams,
)
PIXART_ALPHA = Family(
    pipeline_class="PixArtAlphaPipeline",
    side_multiple=8,
    text_layers=_CROSS,
    self_layers=_SELF,
    streams=text_streams.pixart_alpha_streams,
    arguments=NO_CAPTION_CLEANING,
)
PIXART_SIGMA = Family(
    pipeline_class="PixArtSigmaPipeline",
    side_multiple=8,
    text_layers=_CROSS,
    self_layers=_SELF,
    streams=text_streams.pixart_sigma_streams,
    arguments=NO_CAPTION_CLEANING,
)
SD3 = Family(
    pipeline_class="StableDiffusion3Pipeline",
    text_layers=partial(_JOINT, blocks=("transformer_blocks",), text=TextPlace.LAST),
    streams=text_streams.clip_and_t5_streams,
    read_share=MIDDLE_THIRD,
)
FLUX = Family(
    pipeline_class="FluxPipeline",
    text_layers=_FLUX_LAYERS,
    streams=text_streams.flux_streams,
    calls=CallLayout(order=BatchOrder.APART, latent_size=_size_of_position_ids),
    scale=GuidanceScale.EMBEDDED,
    latents=LatentForm.PACKED,
    read_share=(0.0, 1 / 3),
    kept_by_block=14.0,
    held_by_pass=16.0,
)
SANA = Family(
    pipeline_class="SanaPipeline",
    side_multiple=32,
    text_layers=_CROSS,
    streams=text_streams.sana_streams,
    weighs_values=True,
    kept_by_block=24.0,
    held_by_pass=10.0,
    held_by_decoder=4.5,
    arguments=NO_CAPTION_CLEANING,
)
QWEN_IMAGE = Family(
    pipeline_class="QwenImagePipeline",
    text_layers=partial(
        _JOINT, blocks=("transformer_blocks",), text=TextPlace.FIRST, is_packed=True
    ),
    streams=text_streams.qwen_image_streams,
    weighs_values=True,
    calls=CallLayout(order=BatchOrder.APART, latent_size=_size_of_shapes),
    scale=GuidanceScale.TRUE,
    latents=LatentForm.PACKED,
    read_share=MIDDLE_THIRD,
    held_by_pass=16.0,
    held_by_decoder=17.0,
)
Z_IMAGE = Family(
    pipeline_class="ZImagePipeline",
    text_layers=partial(
        _JOINT,
        blocks=("layers",),
        attention="attention",
        text=TextPlace.LAST,
        picture_multiple=text_streams.Z_IMAGE_MULTIPLE,
    ),
    streams=text_streams.z_image_streams,
    calls=CallLayout(order=BatchOrder.PROMPT_FIRST),
    scale=GuidanceScale.FROM_ZERO,
    read_share=MIDDLE_THIRD,
    kept_by_block=17.0,
    held_by_pass=17.0,
)
LUMINA2 = Family(
    pipeline_class="Lumina2Pipeline",
    text_layers=partial(_JOINT, blocks=("layers",), text=TextPlace.FIRST),
    streams=text_streams.lumina_streams,
    calls=CallLayout(order=BatchOrder.APART),
    read_share=MIDDLE_THIRD,
    kept_by_block=17.0,
    held_by_pass=24.0,
)
FLUX2_KLEIN = Family(
    own_arguments=_flux2_arguments,
    pipeline_class="Flux2KleinPipeline",
    text_layers=_FLUX_LAYERS,
    streams=text_streams.flux2_streams,
    calls=CallLayout(order=BatchOrder.APART, latent_size=_size_of_position_ids),
    latents=LatentForm.TOKENS,
    read_share=(0.0, 1 / 3),
    kept_by_block=20.0,
    held_by_pass=24.0,
)

FAMILIES = {
    family.pipeline_class: family
    for family in (
        STABLE_DIFFUSION,
        GLIGEN,
        SDXL,
        PIXART_ALPHA,
        PIXART_SIGMA,
        SD3,
        FLUX,
        SANA,
        QWEN_IMAGE,
        Z_IMAGE,
        LUMINA2,
        FLUX2_KLEIN,
    )
}
