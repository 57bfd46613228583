"""Particles of one pipeline call: which continue, and the resampling of their latents.

A call draws one picture per particle. The first pictures of the call are the particles that are
still denoised; the others copy the first one and take no part in the denoiser's calls, so that
fewer particles cost less.

Where a particle continues twice, a sampler that adds noise separates the copies. Other samplers
leave them equal, so the predicted noise of each further copy is mixed with fresh noise of the same
variance; the predicted clean latents and the noise level stay the same.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.adapters.diffusion.preview import is_edm, is_flow
from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.domain.steering import ParticleStep, RatePicture, Steering, StepReward
from spatialstudio.science.guidance.steering import (
    attention_reward,
    initial_population,
    particle_seeds,
    resampling_steps,
    step_randomness,
)

MOST_POSITIONS = 4096
"""Positions of the latents of all particles in one denoiser call."""

FRESH_SHARE = 0.5
"""Share of the noise's standard deviation that is fresh in a copy."""


class Particles:
    """The particles of one call. Not thread-safe: use on the model's thread.

    Args:
        settings: The steering, with more than one particle.
        seed: Seed of the run.
        scene: Its relations and mentions are rated; muted relations are not.
        rate: Rates predicted clean pictures; None to rate the attention alone.

    Attributes:
        settings: The steering.
        count: Number of particles that are denoised.
        generators: One per particle, for the noise of the pipeline.
        adds_noise: Whether the sampler has drawn noise on the last step.
    """

    def __init__(
        self, settings: Steering, seed: int, scene: SceneGraph, rate: RatePicture | None
    ) -> None:
        self.count = settings.particles
        seeds = particle_seeds(seed, settings.particles)
        self.generators = [torch.Generator("cpu").manual_seed(each) for each in seeds]
        self.adds_noise = False
        self.settings = settings
        self._seed = seed
        self._scene = scene
        self._rate = rate if StepReward.PICTURE in settings.rewards else None
        self._population = initial_population(settings.particles)

    @property
    def pictures(self) -> int:
        """The number of pictures of the call."""
        return len(self.generators)

    @property
    def sources(self) -> list[int]:
        """For each picture of the call, the particle that it is or copies."""
        return [*range(self.count), *[0] * (self.pictures - self.count)]

    def draws_noise(self, step: Callable[[], Any]) -> Any:
        """Return the result of a sampler's step, and note whether it has drawn noise."""
        before = self.generators[0].get_state()
        result = step()
        self.adds_noise = not torch.equal(before, self.generators[0].get_state())
        return result

    def finish_step(
        self,
        step: int,
        total_steps: int,
        snapshots: Sequence[AttentionSnapshot | None],
        picture: Callable[[int], RgbImage],
    ) -> ParticleStep:
        """Rate and weigh the particles if the step is due; choose those that continue.

        Args:
            step: Index, from 0.
            total_steps: Number of denoising steps.
            snapshots: Attention of each particle on this step.
            picture: Returns the predicted clean picture of a particle.
        """
        is_last = step + 1 == total_steps
        if step not in resampling_steps(self.settings, total_steps) and not is_last:
            return ParticleStep(passes=self.count)
        passes = self.count
        rewards = tuple(
            self._reward({} if snapshot is None else snapshot.maps, number, picture)
            for number, snapshot in enumerate(snapshots)
        )
        self._population = self._population.rated(self.settings, rewards, is_last=is_last)
        weights = tuple(self._population.weights.tolist())
        parents: tuple[int, ...] = ()
        if not is_last:
            offset = float(step_randomness(self._seed, step).random())
            parents = self._population.parents(self.settings, offset)
        if parents:
            self._population = self._population.resampled(parents)
            self.count = len(parents)
        return ParticleStep(passes=passes, rewards=rewards, weights=weights, parents=parents)

    def _reward(
        self, maps: Mapping[Any, FloatMap], number: int, picture: Callable[[int], RgbImage]
    ) -> float:
        rewards = []
        if StepReward.ATTENTION in self.settings.rewards or self._rate is None:
            rewards.append(attention_reward(self._scene, maps))
        if self._rate is not None:
            rewards.append(self._rate(picture(number), maps))
        return min(rewards)

    def fresh_noise(self, latents: torch.Tensor, step: int) -> torch.Tensor:
        """Return noise of the shape of latents, the same whenever the run is repeated."""
        seed = int(step_randomness(self._seed, step).integers(2**63))
        generator = torch.Generator("cpu").manual_seed(seed)
        noise = torch.randn(latents.shape, generator=generator)
        return noise.to(latents.device, latents.dtype)


class Lineages:
    """The steps of each particle and its ancestors; of a run without particles, its steps.

    Attributes:
        pictures: Number of pictures of the call.
    """

    def __init__(self) -> None:
        self.pictures = 0
        self._paths: list[tuple[StepEvent, ...]] = []
        self._reported: tuple[StepEvent, ...] = ()

    def add(self, events: Sequence[StepEvent]) -> None:
        """Add a step, with one event per particle; the first one is reported."""
        first, *_ = events
        self.pictures = max(self.pictures, len(events))
        self._reported = (*self._reported, first)
        before = self._paths or [()] * len(events)
        paths = [(*path, event) for path, event in zip(before, events, strict=True)]
        parents = first.particles.parents if first.particles is not None else ()
        self._paths = [paths[parent] for parent in parents] if parents else paths

    @property
    def best(self) -> int:
        """The particle with the highest last reward, the first of equals."""
        last = self._paths[0][-1].particles
        rewards = (last.rewards if last is not None else ()) or (0.0,)
        return rewards.index(max(rewards))

    @property
    def events(self) -> tuple[StepEvent, ...]:
        """The steps of the best particle."""
        return self._paths[self.best]

    @property
    def differs(self) -> bool:
        """Whether these are not the steps that have been reported."""
        return any(a is not b for a, b in zip(self.events, self._reported, strict=True))


@contextmanager
def decoded_one_by_one(autoencoder: Any, particles: Particles | None) -> Iterator[None]:
    """Decode only pictures that are no copies, one after the other, to save memory.

    Args:
        autoencoder: The pipeline's autoencoder.
        particles: None to decode as usual.
    """
    if particles is None:
        yield
        return

    def decode(usual: Callable[..., Any], latents: torch.Tensor, *args: Any, **more: Any) -> Any:
        if latents.shape[0] != particles.pictures:
            return usual(latents, *args, **more)
        rows = [latents[number : number + 1] for number in range(particles.count)]
        pictures = torch.cat([usual(row, *args, **more)[0] for row in rows])
        return (pictures[particles.sources],)

    with patched_attribute(autoencoder, "decode", decode):
        yield


def particles_at_once(latent_size: tuple[int, int]) -> int:
    """Return how many particles share a denoiser call, >= 1; it depends on the size alone.

    Pictures of published models are denoised one after the other, so that steering needs no more
    memory than a plain run. Calls for several small pictures are faster.

    Args:
        latent_size: (h, w) of the denoiser's input.
    """
    height, width = latent_size
    return max(1, MOST_POSITIONS // (height * width))


def resample_sampler(scheduler: Any, rows: Sequence[int], shape: torch.Size) -> None:
    """Give the sampler's state of each picture to the picture that continues it.

    Args:
        scheduler: Scheduler during a run; whatever has the shape of the latents is its state.
        rows: For each picture, the picture that it continues.
        shape: Shape of the latents of all pictures.
    """

    def moved(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.shape == shape:
            return value[list(rows)]
        return [moved(each) for each in value] if isinstance(value, list) else value

    for name, value in vars(scheduler).items():
        if isinstance(value, list | torch.Tensor):
            setattr(scheduler, name, moved(value))


def noise_shares(scheduler: Any, call: int, input_scale: float) -> tuple[float, float]:
    """Return the factors of clean latents and noise in the latents before a model call.

    Args:
        scheduler: Scheduler during a run.
        call: Index of the model call, from 0.
        input_scale: Factor from its latents to the denoiser's input; 1 if they are
            variance-preserving.
    """
    if is_flow(scheduler):
        noise = float(scheduler.sigmas[call])
        return 1 - noise, noise
    if is_edm(scheduler) or input_scale < 1:
        return 1.0, float(scheduler.sigmas[call])
    signal = float(scheduler.alphas_cumprod[int(scheduler.timesteps[call])])
    return signal**0.5, (1 - signal) ** 0.5


def with_fresh_noise(
    latents: torch.Tensor,
    clean: torch.Tensor,
    fresh: torch.Tensor,
    shares: tuple[float, float],
) -> torch.Tensor:
    """Mix fresh noise into the noise of latents; its variance stays the same.

    Args:
        latents: Any shape, in the scheduler's units.
        clean: Predicted clean latents.
        fresh: Standard normal noise.
        shares: Factors of clean latents and noise; see ``noise_shares``.
    """
    signal, noise = shares
    own: torch.Tensor = latents - signal * clean
    kept: float = (1 - FRESH_SHARE**2) ** 0.5
    return signal * clean + kept * own + FRESH_SHARE * noise * fresh


def repeated(rows: Sequence[int]) -> list[int]:
    """Return the indices of the entries that have occurred before."""
    return [index for index, row in enumerate(rows) if row in rows[:index]]
