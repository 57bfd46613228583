"""Trains the generator: a small U-Net with cross-attention, and the text encoder beside it.

Beyond the usual denoising loss, each noun's cross-attention map is pulled onto its object's mask.
It teaches the model to obey the text early, and makes the maps worth looking at.

Sources: v-prediction after Salimans and Ho 2022, arXiv:2202.00512; loss weights after Hang et al.
2023, arXiv:2303.09556 (min-SNR).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from diffusers.models.unets.unet_2d_condition import UNet2DConditionModel
from diffusers.schedulers.scheduling_ddim import DDIMScheduler
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import CLIPTextModel, CLIPTokenizer

from spatialstudio.adapters.stickers.attention_supervision import NounMaps, map_loss
from spatialstudio.adapters.stickers.captions import Caption, write_caption
from spatialstudio.adapters.stickers.checkpoints import load_checkpoint, save_checkpoint
from spatialstudio.adapters.stickers.scene_pool import ScenePool
from spatialstudio.adapters.stickers.shared_work import SharedWork
from spatialstudio.adapters.stickers.text import CAPTION_TOKENS, TEXT_WIDTH, WORD_END
from spatialstudio.adapters.stickers.train_autoencoder import warm_cosine


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratorSettings:
    """How the generator is built and trained.

    Attributes:
        channels: Widths of the two levels, 16x16 and 8x8.
        heads: Attention heads of the two levels.
        scenes: Encoded scenes in the pool.
        steps: Optimizer steps.
        batch: Scenes a step.
        learning_rate: Highest learning rate; it warms up, then falls as a cosine.
        snr_limit: Min-SNR gamma.
        map_weight: Weight of the pull of attention maps onto masks.
        average_decay: Decay of the running average of the weights, which is what is exported.
        workers: Threads that share a batch.
        checkpoint_every: Steps between checkpoints.
        seed: Seed of all randomness.
    """

    channels: tuple[int, int] = (64, 128)
    heads: tuple[int, int] = (4, 4)
    scenes: int = 80_000
    steps: int = 14_000
    batch: int = 24
    learning_rate: float = 1e-3
    snr_limit: float = 5.0
    map_weight: float = 0.02
    average_decay: float = 0.9985
    workers: int = 2
    checkpoint_every: int = 500
    seed: int = 2


def build_denoiser(settings: GeneratorSettings, latent_channels: int) -> UNet2DConditionModel:
    """Make an untrained denoiser for 16x16 latents."""
    denoiser: UNet2DConditionModel = UNet2DConditionModel(
        sample_size=16,
        in_channels=latent_channels,
        out_channels=latent_channels,
        block_out_channels=settings.channels,
        down_block_types=("CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "CrossAttnUpBlock2D"),
        layers_per_block=1,
        attention_head_dim=settings.heads,
        only_cross_attention=(True, False),
        mid_block_only_cross_attention=False,
        cross_attention_dim=TEXT_WIDTH,
        norm_num_groups=16,
    )
    return denoiser


def build_scheduler() -> DDIMScheduler:
    """Make the noise schedule that the model is trained and sampled on."""
    scheduler: DDIMScheduler = DDIMScheduler(
        num_train_timesteps=1000,
        beta_schedule="squaredcos_cap_v2",
        prediction_type="v_prediction",
        clip_sample=False,
        set_alpha_to_one=True,
        timestep_spacing="trailing",
        steps_offset=1,  # unused with trailing steps; the pipeline warns about 0
    )
    return scheduler


class Generator(nn.Module):
    """Denoiser and text encoder, trained as one."""

    def __init__(
        self, denoiser: UNet2DConditionModel, text_encoder: CLIPTextModel, tokenizer: CLIPTokenizer
    ) -> None:
        super().__init__()
        self.denoiser = denoiser
        self.text_encoder = text_encoder
        self.tokenizer = tokenizer
        self._ids = tokenizer.get_vocab()

    def encode(self, captions: Sequence[Caption]) -> Tensor:
        """Encode captions whose words are all known: (batch, tokens, width)."""
        ids = torch.full((len(captions), CAPTION_TOKENS), int(self.tokenizer.pad_token_id))
        for row, caption in enumerate(captions):
            words = [self._ids[word + WORD_END] for word in caption.words]
            sequence = [self.tokenizer.bos_token_id, *words, self.tokenizer.eos_token_id]
            ids[row, : len(sequence)] = torch.tensor(sequence)
        hidden: Tensor = self.text_encoder(ids).last_hidden_state
        return hidden


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """One worker's share of a training step.

    Attributes:
        captions: One a scene.
        latents: (scenes, channels, h, w), clean.
        masks: (scenes, objects, h, w), not negative.
        noise: As the latents.
        timesteps: (scenes,) of the noise schedule.
    """

    captions: tuple[Caption, ...]
    latents: Tensor
    masks: Tensor
    noise: Tensor
    timesteps: Tensor


class GeneratorTraining:
    """One training run: the models, their running average, and where it stands."""

    def __init__(self, generator: Generator, pool: ScenePool, settings: GeneratorSettings) -> None:
        self._generator = generator
        self._pool = pool
        self._settings = settings
        self._weights: list[Tensor] = list(generator.parameters())
        self._average = [weight.detach().clone() for weight in self._weights]
        self._optimizer = torch.optim.AdamW(
            self._weights, lr=settings.learning_rate, weight_decay=1e-2, betas=(0.9, 0.99)
        )
        self._signal = build_scheduler().alphas_cumprod
        self._maps = NounMaps(generator.denoiser)
        self._work = SharedWork(settings.workers)
        self._step = 0

    def run(self, checkpoint: Path, report: Callable[[str], None]) -> None:
        """Train to the end, going on from the checkpoint if there is one."""
        self._restore(checkpoint)
        self._generator.train()
        totals = np.zeros(2)
        while self._step < self._settings.steps:
            totals += self._take_step()
            self._step += 1
            if self._step % 100 == 0:
                denoising, maps = totals / 100
                report(
                    f"generator step {self._step} of {self._settings.steps}: "
                    f"denoising {denoising:.4f}, maps {maps:.3f}"
                )
                totals[:] = 0
            if self._step % self._settings.checkpoint_every == 0:
                self._save(checkpoint)
        self._save(checkpoint)
        load_average(self._generator, checkpoint)

    def _take_step(self) -> tuple[float, ...]:
        settings = self._settings
        rng = np.random.default_rng((settings.seed, self._step))
        for group in self._optimizer.param_groups:
            group["lr"] = settings.learning_rate * warm_cosine(self._step, settings.steps)
        chosen = rng.integers(len(self._pool.scenes), size=settings.batch)
        shares = [
            partial(self._loss, self._draw_batch(part, rng))
            for part in np.array_split(chosen, settings.workers)
        ]
        figures = self._work.set_gradients(self._weights, shares)
        torch.nn.utils.clip_grad_norm_(self._weights, 1.0)
        self._optimizer.step()
        self._update_average()
        return figures

    def _draw_batch(self, chosen: NDArray[np.int64], rng: np.random.Generator) -> Batch:
        latents = torch.from_numpy(self._pool.latents[chosen].astype(np.float32))
        noise = rng.standard_normal(latents.shape, dtype=np.float32)
        return Batch(
            captions=tuple(write_caption(self._pool.scenes[index], rng) for index in chosen),
            latents=latents,
            masks=torch.from_numpy(self._pool.masks[chosen].astype(np.float32)),
            noise=torch.from_numpy(noise),
            timesteps=torch.from_numpy(rng.integers(len(self._signal), size=len(chosen))),
        )

    def _loss(self, batch: Batch) -> tuple[Tensor, tuple[float, float]]:
        signal = self._signal[batch.timesteps].view(-1, 1, 1, 1)
        noisy = signal.sqrt() * batch.latents + (1 - signal).sqrt() * batch.noise
        velocity = signal.sqrt() * batch.noise - (1 - signal).sqrt() * batch.latents
        with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
            context = self._generator.encode(batch.captions)
            predicted = self._generator.denoiser(noisy, batch.timesteps, context).sample.float()
        ratio = signal / (1 - signal)
        weight = ratio.clamp(max=self._settings.snr_limit) / (ratio + 1)
        denoising = (weight * (predicted - velocity).square()).mean()
        maps = map_loss(self._maps.collect(), batch.captions, batch.masks)
        return denoising + self._settings.map_weight * maps, (denoising.item(), maps.item())

    @torch.no_grad()
    def _update_average(self) -> None:
        decay = min(self._settings.average_decay, (1 + self._step) / (10 + self._step))
        torch._foreach_lerp_(self._average, self._weights, 1 - decay)

    def _save(self, checkpoint: Path) -> None:
        save_checkpoint(
            checkpoint,
            {
                "model": self._generator.state_dict(),
                "average": self._average,
                "optimizer": self._optimizer.state_dict(),
                "step": self._step,
            },
        )

    def _restore(self, checkpoint: Path) -> None:
        if (state := load_checkpoint(checkpoint)) is None:
            return
        self._generator.load_state_dict(state["model"])
        self._average = list(state["average"])
        self._optimizer.load_state_dict(state["optimizer"])
        self._step = state["step"]


@torch.no_grad()
def load_average(generator: Generator, checkpoint: Path) -> int:
    """Give the generator the averaged weights of a checkpoint; return the steps trained."""
    state = load_checkpoint(checkpoint)
    if state is None:
        raise FileNotFoundError(checkpoint)
    for weight, average in zip(generator.parameters(), state["average"], strict=True):
        weight.copy_(average)
    generator.eval()
    return int(state["step"])
