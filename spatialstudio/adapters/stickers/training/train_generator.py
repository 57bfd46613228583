"""Training of the generator: a small U-Net with cross-attention, and its text encoder.

Besides the usual denoising loss, a loss matches each noun's cross-attention map to its object's
mask. It makes the model follow the text early, and its attention maps meaningful.

Sources: v-prediction after Salimans and Ho 2022, arXiv:2202.00512; noise levels are drawn after
Karras et al. 2022, arXiv:2206.00364: mostly those at which the layout is determined.
"""

import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from diffusers.models.attention_processor import Attention
from diffusers.models.unets.unet_2d_condition import UNet2DConditionModel
from diffusers.schedulers.scheduling_ddpm import DDPMScheduler
from numpy.typing import NDArray
from torch import Tensor, nn
from transformers import CLIPTextModel, CLIPTokenizer

from spatialstudio.adapters.stickers.training.captions import Caption, write_caption
from spatialstudio.adapters.stickers.training.scene_pool import ScenePool
from spatialstudio.adapters.stickers.training.text import (
    CAPTION_TOKENS,
    TEXT_WIDTH,
    WORD_END,
)
from spatialstudio.adapters.stickers.training.training_loop import (
    Recipe,
    Report,
    ShareOfLoss,
    TrainingLoop,
)
from spatialstudio.domain.frozen import frozen

FINEST_BLOCKS = ("down_blocks.0.", "up_blocks.1.")  # the 16x16 blocks
SMALLEST_SHARE = 1e-6


class NounMaps:
    """Records the attention weights of all cross-attention layers on the finest level."""

    def __init__(self, denoiser: UNet2DConditionModel) -> None:
        self._kept = ThreadKept()
        for name, module in denoiser.named_modules():
            if isinstance(module, Attention):
                wanted = module.is_cross_attention and name.startswith(FINEST_BLOCKS)
                processor: Any = PlainAttention(self._kept if wanted else None)
                module.set_processor(processor)

    def collect(self) -> Tensor:
        """Return and clear this thread's last forward pass: (layers, batch, positions, tokens)."""
        maps = torch.stack(self._kept.weights)
        self._kept.weights.clear()
        return maps


class ThreadKept(threading.local):
    """Thread-local attention weights."""

    def __init__(self) -> None:
        self.weights: list[Tensor] = []


class PlainAttention:
    """Attention by plain matrix products that can record the mean weights over heads.

    On a CPU the backward pass of these small products is several times faster than that of
    ``scaled_dot_product_attention``.
    """

    def __init__(self, kept: ThreadKept | None) -> None:
        self._kept = kept

    def __call__(
        self,
        attn: Attention,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor | None = None,
        **_: object,
    ) -> Tensor:
        """Attend from (batch, positions, width) to (batch, tokens, width), or to itself."""
        batch, positions, _width = hidden_states.shape
        context = hidden_states if encoder_hidden_states is None else encoder_hidden_states
        query, key, value = (
            projected.view(batch, -1, attn.heads, projected.shape[-1] // attn.heads).transpose(1, 2)
            for projected in (attn.to_q(hidden_states), attn.to_k(context), attn.to_v(context))
        )
        weights = (query @ key.transpose(-1, -2) * attn.scale).softmax(-1)
        if self._kept is not None:
            self._kept.weights.append(weights.float().mean(1))
        attended = (weights.to(value.dtype) @ value).transpose(1, 2).reshape(batch, positions, -1)
        result: Tensor = attn.to_out[1](attn.to_out[0](attended))
        return result


def map_loss(maps: Tensor, captions: Sequence[Caption], masks: Tensor) -> Tensor:
    """Compare each noun's map with its object's mask, both as distributions over the picture.

    Args:
        maps: (layers, batch, positions, tokens), not negative.
        captions: One per picture, with the object of each token.
        masks: (batch, objects, h, w), not negative.

    Returns:
        The mean Kullback-Leibler divergence from mask to map.
    """
    owners = torch.zeros(masks.shape[0], masks.shape[1], maps.shape[-1])
    for row, caption in enumerate(captions):
        for position, owner in enumerate(caption.owners):
            if owner is not None:
                owners[row, owner, position + 1] = 1  # after the start token
    target = masks.flatten(2)
    named = (owners.sum(-1) > 0) & (target.sum(-1) > 0)
    target = target / target.sum(-1, keepdim=True).clamp(min=SMALLEST_SHARE)
    noun = torch.einsum("bpt,bot->bop", maps.mean(0), owners)
    noun = noun / noun.sum(-1, keepdim=True).clamp(min=SMALLEST_SHARE)
    divergence: Tensor = torch.special.xlogy(target, target)
    divergence = divergence - target * (noun + SMALLEST_SHARE).log()
    return divergence.sum(-1)[named].sum() / named.sum().clamp(min=1)


@frozen
class GeneratorSettings:
    """Architecture and training settings of the generator.

    Attributes:
        recipe: Training schedule.
        channels: Widths of the two levels, 16x16 and 8x8.
        heads: Attention heads of the two levels.
        scenes: Number of encoded scenes in the pool.
        log_snr: Mean and deviation of the logarithm of the signal-to-noise ratio in training.
        map_weight: Weight of the loss that matches attention maps to masks.
    """

    recipe: Recipe
    channels: tuple[int, int] = (64, 128)
    heads: tuple[int, int] = (4, 4)
    scenes: int = 24_000
    log_snr: tuple[float, float] = (0.5, 2.0)
    map_weight: float = 0.03


def build_denoiser(settings: GeneratorSettings, latent_channels: int) -> UNet2DConditionModel:
    """Create an untrained denoiser for 16x16 latents."""
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


def build_scheduler() -> DDPMScheduler:
    """Return the noise schedule for training and sampling.

    Sampling adds fresh noise at every step, Ho et al. 2020, arXiv:2006.11239: an error of an early
    step, such as one object drawn twice, can still be corrected by a later one.
    """
    scheduler: DDPMScheduler = DDPMScheduler(
        num_train_timesteps=1000,
        beta_schedule="squaredcos_cap_v2",
        prediction_type="v_prediction",
        clip_sample=False,
        timestep_spacing="trailing",
        steps_offset=1,  # unused with trailing steps; the pipeline warns about 0
    )
    return scheduler


class Generator(nn.Module):
    """Denoiser and text encoder, trained jointly."""

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


@frozen(eq=False)
class Batch:
    """One worker's share of a training step.

    Attributes:
        captions: One per scene.
        latents: (scenes, channels, h, w), clean.
        masks: (scenes, objects, h, w), not negative.
        noise: Shape of the latents.
        timesteps: (scenes,) of the noise schedule.
        signal: (scenes, 1, 1, 1) share of the latents' variance that remains.
    """

    captions: tuple[Caption, ...]
    latents: Tensor
    masks: Tensor
    noise: Tensor
    timesteps: Tensor
    signal: Tensor


def train_generator(
    generator: Generator,
    pool: ScenePool,
    settings: GeneratorSettings,
    checkpoint: Path,
    report: Report,
) -> None:
    """Train in place, resuming from the checkpoint if there is one.

    Reports the denoising loss and the divergence of maps from masks.
    """
    noise_levels = NoiseLevels(*settings.log_snr)
    maps = NounMaps(generator.denoiser)

    def draw_shares(rng: np.random.Generator, _progress: float) -> list[ShareOfLoss]:
        chosen = rng.integers(len(pool.scenes), size=settings.recipe.batch)
        return [
            partial(_loss, generator, maps, draw_batch(pool, part, noise_levels, rng), settings)
            for part in np.array_split(chosen, settings.recipe.workers)
        ]

    TrainingLoop(generator, settings.recipe, checkpoint, report).run(draw_shares)


class NoiseLevels:
    """Timesteps of the noise schedule with their probabilities in training.

    Attributes:
        signal: (timesteps,) share of the picture's variance that remains.
        chances: (timesteps,) sums to 1.
    """

    def __init__(self, mean: float, deviation: float) -> None:
        self.signal: Tensor = build_scheduler().alphas_cumprod
        log_snr = torch.logit(self.signal.double(), eps=1e-6).numpy()
        density = np.exp(-(((log_snr - mean) / deviation) ** 2) / 2)
        chances = density * np.abs(np.gradient(log_snr))
        self.chances = chances / chances.sum()

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw random timesteps."""
        return rng.choice(len(self.chances), size=count, p=self.chances)


def draw_batch(
    pool: ScenePool,
    chosen: NDArray[np.int64],
    noise_levels: NoiseLevels,
    rng: np.random.Generator,
) -> Batch:
    """Draw captions, timesteps and noise for scenes of the pool."""
    latents = torch.from_numpy(pool.latents[chosen].astype(np.float32))
    noise = torch.from_numpy(rng.standard_normal(latents.shape, dtype=np.float32))
    timesteps = torch.from_numpy(noise_levels.draw(len(chosen), rng))
    return Batch(
        captions=tuple(write_caption(pool.scenes[index], rng) for index in chosen),
        latents=latents,
        masks=torch.from_numpy(pool.masks[chosen].astype(np.float32)),
        noise=noise,
        timesteps=timesteps,
        signal=noise_levels.signal[timesteps].view(-1, 1, 1, 1),
    )


def _loss(
    generator: Generator, maps: NounMaps, batch: Batch, settings: GeneratorSettings
) -> tuple[Tensor, tuple[float, float]]:
    signal = batch.signal
    noisy = signal.sqrt() * batch.latents + (1 - signal).sqrt() * batch.noise
    velocity = signal.sqrt() * batch.noise - (1 - signal).sqrt() * batch.latents
    with torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=False):
        context = generator.encode(batch.captions)
        predicted = generator.denoiser(noisy, batch.timesteps, context).sample.float()
    denoising = (predicted - velocity).square().mean()
    divergence = map_loss(maps.collect(), batch.captions, batch.masks)
    return denoising + settings.map_weight * divergence, (denoising.item(), divergence.item())
