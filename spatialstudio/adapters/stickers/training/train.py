"""Training of all sticker world models from a seed, stage by stage.

Each stage stores its checkpoint in the work folder, resumes from it, and is skipped once finished.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from diffusers.models.autoencoders.autoencoder_tiny import AutoencoderTiny

from spatialstudio.adapters.models.pipeline_classes import import_pipeline
from spatialstudio.adapters.stickers.depth import StickerDepth
from spatialstudio.adapters.stickers.pixel_net import PixelNet
from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.adapters.stickers.training.scene_pool import fill_pool
from spatialstudio.adapters.stickers.training.scenes import SceneSettings
from spatialstudio.adapters.stickers.training.text import build_text_encoder, build_tokenizer
from spatialstudio.adapters.stickers.training.train_autoencoder import (
    AutoencoderSettings,
    build_autoencoder,
    train_decoder,
)
from spatialstudio.adapters.stickers.training.train_generator import (
    Generator,
    GeneratorSettings,
    build_denoiser,
    build_scheduler,
    train_generator,
)
from spatialstudio.adapters.stickers.training.train_perception import (
    Loss,
    PerceptionSettings,
    build_depth_net,
    build_segmenter,
    depth_loss,
    segmenter_loss,
    train_perception,
)
from spatialstudio.adapters.stickers.training.training_loop import Recipe, Report
from spatialstudio.domain.errors import SettingsError, StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import Surroundings


def build_pipeline(generator: Generator, autoencoder: AutoencoderTiny) -> Any:
    """Assemble the trained parts into a standard Stable Diffusion pipeline."""
    parts: dict[str, Any] = {
        "vae": autoencoder,
        "text_encoder": generator.text_encoder,
        "tokenizer": generator.tokenizer,
        "unet": generator.denoiser,
        "scheduler": build_scheduler(),
        "safety_checker": None,
        "feature_extractor": None,
    }
    return import_pipeline("StableDiffusionPipeline")(**parts, requires_safety_checker=False)


def export_pipeline(generator: Generator, autoencoder: AutoencoderTiny, folder: Path) -> None:
    """Write the pipeline folder.

    Args:
        generator: Trained on the autoencoder's latents.
        autoencoder: With a trained decoder.
        folder: Output folder; files of the same names are replaced.
    """
    for part in (generator, autoencoder):
        part.half()
    pipeline = build_pipeline(generator, autoencoder)
    pipeline.save_pretrained(folder, safe_serialization=True)


PIPELINE_FOLDER = "stickers"


@frozen
class TrainingSettings:
    """The settings of all stages."""

    autoencoder: AutoencoderSettings
    generator: GeneratorSettings
    segmenter: PerceptionSettings
    depth: PerceptionSettings


FULL = TrainingSettings(
    autoencoder=AutoencoderSettings(
        recipe=Recipe(
            steps=7800,
            batch=16,
            learning_rate=1e-3,
            weight_decay=1e-4,
            average_decay=0.998,
            seed=1,
        )
    ),
    generator=GeneratorSettings(
        recipe=Recipe(
            steps=22_600,
            batch=48,
            learning_rate=1.2e-3,
            weight_decay=1e-2,
            orthogonal=True,
            workers=2,
            average_decay=0.998,
            seed=2,
        )
    ),
    segmenter=PerceptionSettings(
        recipe=Recipe(steps=10_300, batch=16, learning_rate=3e-3, average_decay=0.998, seed=3),
        decoded_share=0.3,
    ),
    depth=PerceptionSettings(
        recipe=Recipe(steps=800, batch=16, learning_rate=2e-3, seed=4),
        scenes=SceneSettings(perspective_share=0.5),
    ),
)
"""As many samples in one run as the bundled weights had in several; see their model cards."""

_MEASURED = Recipe(steps=2, batch=2, learning_rate=1e-3, seed=1)

SMOKE = TrainingSettings(
    autoencoder=AutoencoderSettings(recipe=_MEASURED, channels=8, fitted_to=2),
    generator=GeneratorSettings(recipe=_MEASURED, channels=(16, 32), scenes=8),
    segmenter=PerceptionSettings(recipe=_MEASURED, widths=(8, 8, 8, 8)),
    depth=PerceptionSettings(recipe=_MEASURED),
)
"""Runs every stage in seconds; the resulting models are useless."""

PRESETS = {"full": FULL, "smoke": SMOKE}


class StickerTrainer:
    """Trains the models of the sticker world; implements ``Trainer``."""

    id = "stickers"

    def train(self, work_folder: Path, output_folder: Path, preset: str, report: Report) -> None:
        """Train every stage that is not finished in ``work_folder``, then export.

        Args:
            work_folder: Checkpoints, from which training resumes.
            output_folder: Output folder of the model folders.
            preset: "full", or "smoke" for a run of seconds.
            report: Called with one line of progress.

        Raises:
            StoreError: A folder cannot be written.
            SettingsError: The preset is not known.
        """
        if preset not in PRESETS:
            raise SettingsError(
                f'There is no training preset "{preset}".',
                hint=f"Choose one of: {', '.join(PRESETS)}.",
            )
        try:
            StickerTraining(PRESETS[preset], work_folder, report).export(output_folder)
        except OSError as error:
            raise StoreError(
                "The training files cannot be written.",
                hint="Check that both folders are writable and that the disk is not full.",
            ) from error


def build(_surroundings: Surroundings) -> StickerTrainer:
    """Create the trainer."""
    return StickerTrainer()


class StickerTraining:
    """The stages of one training run; each property trains its model on first access."""

    def __init__(self, settings: TrainingSettings, work_folder: Path, report: Report) -> None:
        self._settings = settings
        self._folder = work_folder
        self._report = report

    @cached_property
    def autoencoder(self) -> AutoencoderTiny:
        """The autoencoder with a trained decoder."""
        model = self.untrained_autoencoder()
        settings = self._settings.autoencoder
        train_decoder(model, settings, self._folder / "decoder.pt", self._report)
        return model

    @cached_property
    def generator(self) -> Generator:
        """Denoiser and text encoder."""
        settings = self._settings.generator
        encoder = self.untrained_autoencoder()  # encoding needs no training
        pool = fill_pool(encoder, settings.scenes, settings.recipe.seed, self._folder, self._report)
        torch.manual_seed(settings.recipe.seed)
        generator = self.untrained_generator()
        train_generator(generator, pool, settings, self._folder / "generator.pt", self._report)
        return generator

    @cached_property
    def segmenter(self) -> PixelNet:
        """The segmentation net."""
        settings = self._settings.segmenter
        torch.manual_seed(settings.recipe.seed)
        net = build_segmenter(settings)
        self._train_perception(net, segmenter_loss(settings), settings, "segmenter.pt")
        return net

    @cached_property
    def depth_net(self) -> PixelNet:
        """The depth net."""
        settings = self._settings.depth
        torch.manual_seed(settings.recipe.seed)
        net = build_depth_net(self.segmenter)
        self._train_perception(net, depth_loss, settings, "depth.pt")
        return net

    def untrained_autoencoder(self) -> AutoencoderTiny:
        """Create an autoencoder with a fitted encoder and a randomly initialised decoder."""
        settings = self._settings.autoencoder
        torch.manual_seed(settings.recipe.seed)
        return build_autoencoder(settings)

    def untrained_generator(self) -> Generator:
        """Create a randomly initialised generator."""
        tokenizer = build_tokenizer()
        denoiser = build_denoiser(
            self._settings.generator, self._settings.autoencoder.latent_channels
        )
        return Generator(denoiser, build_text_encoder(tokenizer), tokenizer)

    def export(self, folder: Path) -> None:
        """Train the remaining stages and write the model folders."""
        self.segmenter.save(folder / StickerSegmenter.id)
        self.depth_net.save(folder / StickerDepth.id)
        export_pipeline(self.generator, self.autoencoder, folder / PIPELINE_FOLDER)
        self._report(f"exported to {folder}")

    def _train_perception(
        self, net: PixelNet, loss: Loss, settings: PerceptionSettings, checkpoint: str
    ) -> None:
        file = self._folder / checkpoint
        train_perception(net, loss, self.autoencoder, settings, file, self._report)
