"""Supported kinds of diffusion models, as known from their files. Imports no model library."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import PSG
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.samplers import SCALE_OFF
from spatialstudio.science.guidance.methods import guidance_preset

UNET = "unet"
DENOISER_PREFIX = "model.diffusion_model."
"""Prefix of the denoiser's weights in a single file; files of only a denoiser may omit it."""

PLACES = "axes_lens"
"""Configuration key for the number of positions per axis: text, rows and columns."""

DISTILLED_STEPS = 4
"""Published step count of FLUX.1 schnell and FLUX.2 Klein."""


@frozen
class ModelKind:
    """The models of one diffusers pipeline class.

    Attributes:
        denoiser: Folder of the denoiser.
        latent_side: Side of its latents; None if the denoiser's configuration gives it.
        latent_pixels: Pixels per latent, overriding the autoencoder's factor; None to use that.
        steps: Recommended denoising steps.
        guidance_scale: Recommended classifier-free guidance scale; 1 is off.
        strength: Recommended step size of PSG, as in ``guidance_preset``.
        reads_files: Whether the denoiser can be loaded from a single file.
        distilled: A setting and its value that identify distilled models, which draw in few steps
            without classifier-free guidance; None if there is none.
    """

    denoiser: str = "transformer"
    latent_side: int | None = None
    latent_pixels: int | None = None
    steps: int = 50
    guidance_scale: float = 4.0
    strength: float = guidance_preset(PSG, "", Preset.RECOMMENDED).strength
    reads_files: bool = True
    distilled: tuple[str, bool] | None = None

    def described(self, index: Mapping[str, Any], config: Mapping[str, Any]) -> "ModelKind":
        """Return the recommendations for one model of the kind.

        Args:
            index: Content of its ``model_index.json``.
            config: Configuration of its denoiser.
        """
        if self.distilled is None:
            return self
        name, value = self.distilled
        if {**config, **index}.get(name) is not value:
            return self
        return replace(self, steps=DISTILLED_STEPS, guidance_scale=SCALE_OFF)

    def native_latent_side(self, config: Mapping[str, Any]) -> int:
        """Return the side of the training latents, or the maximum number of positions.

        Args:
            config: Configuration of the denoiser.
        """
        side = config["sample_size"] if self.latent_side is None else self.latent_side
        if PLACES not in config:
            return int(side)
        patch = config["all_patch_size"][0] if "all_patch_size" in config else config["patch_size"]
        return int(min(side, config[PLACES][-1] * patch))


def _psg_strength(pipeline_class: str) -> float:
    return guidance_preset(PSG, pipeline_class, Preset.RECOMMENDED).strength


MODEL_KINDS: Mapping[str, ModelKind] = {
    "StableDiffusionPipeline": ModelKind(
        denoiser=UNET,
        guidance_scale=7.5,
    ),
    "StableDiffusionGLIGENPipeline": ModelKind(
        denoiser=UNET,
        guidance_scale=7.5,
        reads_files=False,
    ),
    "StableDiffusionXLPipeline": ModelKind(
        denoiser=UNET,
        guidance_scale=5.0,
        strength=_psg_strength("StableDiffusionXLPipeline"),
    ),
    "PixArtAlphaPipeline": ModelKind(
        steps=20,
        guidance_scale=4.5,
        strength=_psg_strength("PixArtAlphaPipeline"),
        reads_files=False,
    ),
    "PixArtSigmaPipeline": ModelKind(
        steps=20,
        guidance_scale=4.5,
        strength=_psg_strength("PixArtSigmaPipeline"),
        reads_files=False,
    ),
    "StableDiffusion3Pipeline": ModelKind(steps=28, guidance_scale=7.0),
    "FluxPipeline": ModelKind(
        latent_side=128,
        steps=28,
        guidance_scale=3.5,
        distilled=("guidance_embeds", False),
    ),
    "SanaPipeline": ModelKind(steps=20, guidance_scale=4.5),
    "QwenImagePipeline": ModelKind(latent_side=128),
    "ZImagePipeline": ModelKind(latent_side=128, guidance_scale=6.0),
    "Lumina2Pipeline": ModelKind(latent_pixels=8, steps=30),
    "Flux2KleinPipeline": ModelKind(latent_side=128, distilled=("is_distilled", True)),
}
"""By class in ``model_index.json``; scale and steps are the defaults of the pipelines."""

FORMER_NAMES = {"Lumina2Text2ImgPipeline": "Lumina2Pipeline"}
"""Classes that diffusers has renamed."""


def current_name(pipeline_class: str) -> str:
    """Return the current diffusers name of a pipeline class."""
    return FORMER_NAMES.get(pipeline_class, pipeline_class)
