"""The kinds of models that can be drawn with, as far as files tell. Imports no model library."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import PSG
from spatialstudio.domain.run_settings import Preset
from spatialstudio.domain.samplers import SCALE_OFF
from spatialstudio.science.guidance.presets import guidance_preset

UNET = "unet"
DENOISER_PREFIX = "model.diffusion_model."
"""Of the denoiser's weights in a single file; files of a denoiser alone may lack it."""

PLACES = "axes_lens"
"""What some configurations call how many places they tell apart: of text, rows and columns."""

DISTILLED_STEPS = 4
"""What FLUX.1 schnell and FLUX.2 Klein are published for."""


@frozen
class ModelKind:
    """The models of one diffusers pipeline class.

    Attributes:
        denoiser: Folder of the part that is called once a step.
        latent_side: Side of its latents; None where the denoiser's configuration says it.
        latent_pixels: Pixels a latent where the autoencoder's does not count; None where it does.
        steps: Recommended denoising steps.
        guidance_scale: Recommended classifier-free guidance; 1 is off.
        strength: Recommended step size of PSG, as ``guidance_preset`` has it.
        sign: How the name of a weight begins that only single files of this kind hold,
            ``DENOISER_PREFIX`` left out; empty where none is known.
        reads_files: Whether a single file can give the denoiser.
        distilled: What the files of those say that draw in few steps, without classifier-free
            guidance: a setting and its value; None where nothing tells.
    """

    denoiser: str = "transformer"
    latent_side: int | None = None
    latent_pixels: int | None = None
    steps: int = 50
    guidance_scale: float = 4.0
    strength: float = guidance_preset(PSG, "", Preset.RECOMMENDED).strength
    sign: str = ""
    reads_files: bool = True
    distilled: tuple[str, bool] | None = None

    def described(self, index: Mapping[str, Any], config: Mapping[str, Any]) -> "ModelKind":
        """Return what is recommended for one model of the kind.

        Args:
            index: What its folder says of its parts.
            config: Of its denoiser.
        """
        if self.distilled is None:
            return self
        name, value = self.distilled
        if {**config, **index}.get(name) is not value:
            return self
        return replace(self, steps=DISTILLED_STEPS, guidance_scale=SCALE_OFF)

    def native_latent_side(self, config: Mapping[str, Any]) -> int:
        """Return the side of the latents that a model was trained on, or the most it tells apart.

        Args:
            config: Of its denoiser.
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
        sign="cond_stage_model.",
    ),
    "StableDiffusionXLPipeline": ModelKind(
        denoiser=UNET,
        guidance_scale=5.0,
        strength=_psg_strength("StableDiffusionXLPipeline"),
        sign="conditioner.embedders.1.",
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
    "StableDiffusion3Pipeline": ModelKind(steps=28, guidance_scale=7.0, sign="joint_blocks."),
    "FluxPipeline": ModelKind(
        latent_side=128,
        steps=28,
        guidance_scale=3.5,
        sign="double_blocks.0.img_mod.",
        distilled=("guidance_embeds", False),
    ),
    "SanaPipeline": ModelKind(steps=20, guidance_scale=4.5),
    "QwenImagePipeline": ModelKind(latent_side=128),
    "ZImagePipeline": ModelKind(latent_side=128, guidance_scale=6.0),
    "Lumina2Pipeline": ModelKind(latent_pixels=8, steps=30),
    "Flux2KleinPipeline": ModelKind(latent_side=128, distilled=("is_distilled", True)),
}
"""By the class named in ``model_index.json``; scale and steps are the pipelines' own defaults."""

OTHER_FILES: Mapping[str, re.Pattern[str]] = {
    "a LoRA": re.compile(r".*lora[_.]"),
    "a ControlNet": re.compile(r"control_model\.|controlnet_"),
    "an autoencoder": re.compile(r"(en|de)coder\.conv_in\."),
    "a text encoder": re.compile(r"text_model\.|encoder\.block\.|model\.embed_tokens\."),
    "the refiner of SDXL": re.compile(r"conditioner\.embedders\.0\.model\."),
}
"""Single files that cannot draw by themselves, and how names of their weights begin."""

FORMER_NAMES = {"Lumina2Text2ImgPipeline": "Lumina2Pipeline"}
"""Classes that diffusers has renamed since folders were written."""


def current_name(pipeline_class: str) -> str:
    """Return what diffusers calls a pipeline class today."""
    return FORMER_NAMES.get(pipeline_class, pipeline_class)


def other_content(weights: Iterable[str]) -> str | None:
    """Say what a single file holds that cannot draw by itself; None where nothing tells.

    Args:
        weights: Their names.
    """
    names = tuple(weights)
    found = (content for content, sign in OTHER_FILES.items() if any(map(sign.match, names)))
    return next(found, None)
