"""Latents of a local repair: outside its regions those of an earlier picture, noised.

After each step, the latents outside the regions become the clean latents of the earlier picture
with the first noise of the run at the level of the next step, so that the denoiser continues
inside what it sees around.

Source: Avrahami et al. 2022, arXiv:2206.02779 (blended latent diffusion); replacing the known part
by its noised original: Lugmayr et al. 2022, arXiv:2201.09865, equation 8a. Ours: the noise stays
that of the seed, so that samplers without noise follow one path.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from diffusers.utils.outputs import BaseOutput
from torch.nn import functional

from spatialstudio.adapters.diffusion.latent_codec import as_latents, encode_picture
from spatialstudio.adapters.diffusion.load_pipeline import LoadedPipeline
from spatialstudio.adapters.diffusion.particles import noise_shares
from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.repair import LocalRepair
from spatialstudio.science.refine.repair_mask import composed, redrawn_share

WHITE = 255
LEAST_COVER = 0.5
"""Share of a latent position that lies in a region for the position to be redrawn."""


class MaskedLatents:
    """What a repair keeps of its start. Not thread-safe: use on the model's thread.

    Args:
        clean: (1, ...) clean latents of the start, in the layout of the pipeline.
        inside: Of the shape of ``clean``; 1 at positions that are redrawn, 0 elsewhere.
    """

    def __init__(self, clean: torch.Tensor, inside: torch.Tensor) -> None:
        self._clean = clean
        self._inside = inside

    @contextmanager
    def attached(self, scheduler: Any) -> Iterator[None]:
        """Hold the latents after each step of one pipeline call; attach it after guidance."""
        calls, noise = 0, torch.zeros_like(self._clean)

        def step(
            usual: Callable[..., Any],
            output: Any,
            timestep: Any,
            sample: Any,
            *args: Any,
            **more: Any,
        ) -> Any:
            nonlocal calls, noise
            if calls == 0:
                noise = sample.float() / self._first_deviation(scheduler)
            result = usual(output, timestep, sample, *args, **more)
            calls += 1
            if calls % scheduler.order and calls < len(scheduler.timesteps):
                return result
            latents = self._held(scheduler, calls, noise, result[0])
            if isinstance(result, BaseOutput):
                return type(result)(**{**result, "prev_sample": latents})
            return (latents, *result[1:])

        with patched_attribute(scheduler, "step", step):
            yield

    def _held(
        self, scheduler: Any, call: int, noise: torch.Tensor, latents: torch.Tensor
    ) -> torch.Tensor:
        """Return latents with the start at the noise of the next call outside the regions."""
        clean, inside = (each.to(latents.device) for each in (self._clean, self._inside))
        if call < len(scheduler.timesteps):
            signal, share = noise_shares(scheduler, call, 1 / self._first_deviation(scheduler))
            clean = signal * clean + share * noise
        return torch.where(inside > 0, latents, clean.to(latents.dtype))

    def _first_deviation(self, scheduler: Any) -> float:
        """Return the deviation of the first latents: 1 for variance-preserving samplers."""
        return float(getattr(scheduler, "init_noise_sigma", 1.0))

    def inside(self, gradient: torch.Tensor) -> torch.Tensor:
        """Return 1 at redrawn positions and 0 elsewhere, of the shape of one picture's gradient."""
        return self._inside.to(gradient).reshape(gradient.shape)


def masked_latents(
    loaded: LoadedPipeline, repair: LocalRepair, start: RgbImage, size: tuple[int, int]
) -> MaskedLatents:
    """Encode the start of a repair.

    Args:
        loaded: The pipeline.
        repair: The repair.
        start: (H, W, 3), the picture that is repaired.
        size: (H, W) of the picture that the pipeline draws.

    Raises:
        RequestError: The picture has another size, or a region is smaller than the model's grid.
    """
    if start.shape[:2] != size:
        height, width = start.shape[:2]
        raise RequestError(
            "The repair and its picture differ in size.",
            hint=f"Repair at the picture's size, {width} x {height} pixels.",
        )
    pixels = torch.from_numpy(start.astype("float32")).permute(2, 0, 1)[None] / WHITE * 2 - 1
    picture = encode_picture(loaded.pipeline.vae, pixels.to(loaded.device))
    share = torch.from_numpy(redrawn_share(repair, *size))[None, None] > 0
    height, width = picture.shape[-2:]
    cover = functional.adaptive_avg_pool2d(share.float(), (height, width))
    inside = (cover >= LEAST_COVER).float()
    if not inside.any():
        raise RequestError(
            "The region is smaller than the model's grid.", hint="Choose a larger region."
        )
    form = loaded.family.latents
    return MaskedLatents(
        as_latents(picture, form).cpu(), as_latents(inside.expand_as(picture), form)
    )


def repaired_picture(repair: LocalRepair, start: RgbImage, redrawn: RgbImage) -> RgbImage:
    """Return the picture of a repair: outside the regions exactly its start."""
    height, width = start.shape[:2]
    return composed(start, redrawn, redrawn_share(repair, height, width))
