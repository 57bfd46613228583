"""Writes the trained models as folders that the program loads: float16 safetensors only."""

from pathlib import Path
from typing import Any

from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny
from diffusers.pipelines.stable_diffusion.pipeline_stable_diffusion import (
    StableDiffusionPipeline,
)

from spatialstudio.adapters.stickers.train_generator import Generator, build_scheduler


def build_pipeline(generator: Generator, autoencoder: AutoencoderTiny) -> StableDiffusionPipeline:
    """Put the trained parts together as an ordinary Stable Diffusion pipeline."""
    parts: dict[str, Any] = {
        "vae": autoencoder,
        "text_encoder": generator.text_encoder,
        "tokenizer": generator.tokenizer,
        "unet": generator.denoiser,
        "scheduler": build_scheduler(),
        "safety_checker": None,
        "feature_extractor": None,
    }
    return StableDiffusionPipeline(**parts, requires_safety_checker=False)


def export_pipeline(generator: Generator, autoencoder: AutoencoderTiny, folder: Path) -> None:
    """Write the pipeline folder.

    Args:
        generator: Trained on the autoencoder's latents.
        autoencoder: With its decoder trained.
        folder: Where to write; files of the same names are replaced.
    """
    for part in (generator, autoencoder):
        part.half()
    pipeline = build_pipeline(generator, autoencoder)
    pipeline.save_pretrained(folder, safe_serialization=True)
