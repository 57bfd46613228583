"""Watches and guides an untouched diffusers pipeline while it denoises.

A wrapper around the denoiser's ``forward`` sees every model call. On a guided step it first runs
the conditional half alone, up to the last layer that is read, and takes the gradient of the loss
with respect to the denoiser's input; that input is variance-preserving (VP) for every sampler, so
the step length is too. The input moves, and through the wrapped ``scheduler.step`` the pipeline's
own latents move by the same amount in their own units. Other steps are read in the ordinary pass.

Source of the update: Rezaei et al. 2025, arXiv:2506.23418. Ours: the VP units, the early exit, and
one gradient for the sum of all relations.
"""

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch

from spatialstudio.adapters.backends.attention_reader import AttentionReader, Reading
from spatialstudio.adapters.backends.attention_tap import tapped
from spatialstudio.adapters.backends.denoiser_call import CallLayout, DenoiserCall
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.errors import BackendError
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.relation import RelationId
from spatialstudio.science.guidance_losses import GuidanceLoss
from spatialstudio.science.guidance_schedule import GuidanceSchedule


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Guidance:
    """How the latents are moved.

    Attributes:
        loss: What the update lowers.
        schedule: When it acts and how far.
    """

    loss: GuidanceLoss
    schedule: GuidanceSchedule


@dataclass(slots=True, kw_only=True, eq=False)
class DenoisingStep:
    """One step, filled in while it goes on. Stays on the thread of the model.

    Attributes:
        index: From 0.
        snapshot: Attention before any update; None when nothing was read.
        pos: Relation id to PoS of the snapshot.
        loss: Before the update; None where guidance did not act.
        step_size: Step length applied, VP units; None where guidance did not act.
        has_begun: Whether the denoiser was called; pipelines may call it once more for the
            other half of classifier-free guidance.
        shift: (pictures, ...) taken off the denoiser's input.
        latent_size: (h, w) that the denoiser was given.
        input_scale: From the scheduler's latents to the denoiser's input: 1 for samplers that are
            variance-preserving, 1 / sqrt(sigma^2 + 1) for those like Euler.
    """

    index: int
    snapshot: AttentionSnapshot | None = None
    pos: Mapping[RelationId, float] = field(default_factory=dict)
    loss: float | None = None
    step_size: float | None = None
    has_begun: bool = False
    shift: torch.Tensor | None = None
    latent_size: tuple[int, int] = (0, 0)
    input_scale: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """What the scheduler was given for a step. Stays on the thread of the model.

    Attributes:
        output: (1, c, h, w) of the denoiser, classifier-free guidance applied.
        timestep: Scheduler time.
        latents: (1, c, h, w) that the step starts from, in the scheduler's units.
    """

    output: torch.Tensor
    timestep: torch.Tensor
    latents: torch.Tensor


FinishStep = Callable[[DenoisingStep, Prediction], None]


class GuidanceHook:
    """Reads and guides one run of a pipeline.

    Args:
        reader: None when nothing is to be read.
        guidance: None for none; needs a reader.
        token: Asked before every model call.
        finish_step: Takes each step when it has ended.
    """

    def __init__(
        self,
        reader: AttentionReader | None,
        guidance: Guidance | None,
        token: CancelToken,
        finish_step: FinishStep,
    ) -> None:
        self._reader = reader
        self._guidance = guidance
        self._token = token
        self._finish_step = finish_step
        self._calls = CallLayout()
        self._now = DenoisingStep(index=0)

    @contextmanager
    def attached(
        self, denoiser: torch.nn.Module, scheduler: Any, calls: CallLayout | None = None
    ) -> Iterator[None]:
        """Watch one call of the pipeline that owns these two; afterwards they are as before.

        Args:
            denoiser: Called once or twice a step.
            scheduler: Of the pipeline.
            calls: How the pipeline calls the denoiser; None for both halves in one call.
        """
        self._calls = calls or CallLayout()
        with ExitStack() as wrappers:
            wrappers.enter_context(_wrapped(denoiser, "forward", self._denoise))
            wrappers.enter_context(_wrapped(scheduler, "step", self._step))
            if hasattr(scheduler, "scale_model_input"):
                wrappers.enter_context(_wrapped(scheduler, "scale_model_input", self._scale))
            yield

    def _denoise(self, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        def denoise(wanted: DenoiserCall) -> Any:
            self._token.raise_if_cancelled()
            return wanted.run(forward)

        call = DenoiserCall(self._calls, args, kwargs)
        is_repeated, self._now.has_begun = self._now.has_begun, True
        self._now.latent_size = call.latent_size
        if self._reader is None or (is_repeated and self._now.shift is None):
            return denoise(call)
        if is_repeated and self._now.shift is not None:
            return denoise(call.moved(self._now.shift))
        if self._guidance is not None and self._guidance.schedule.guides(self._now.index):
            shifts = [
                self._guide(self._guidance, self._reader, denoise, call.of_picture(index))
                for index in range(self._calls.pictures)
            ]
            self._now.shift = torch.cat(shifts)
            return denoise(call.moved(self._now.shift))
        with tapped(
            self._reader.layers,
            self._reader.columns,
            latent_size=call.latent_size,
            row=call.first_row,
        ) as probabilities:
            output = denoise(call)
        self._note(self._reader, self._reader.read(probabilities, call.latent_size))
        return output

    @torch.enable_grad()
    def _guide(
        self,
        guidance: Guidance,
        reader: AttentionReader,
        denoise: Callable[[DenoiserCall], Any],
        own: DenoiserCall,
    ) -> torch.Tensor:
        settings = guidance.schedule.settings
        length = guidance.schedule.length(self._now.index)
        shift = torch.zeros_like(own.sample)
        for _ in range(settings.inner_updates):
            start = (own.sample - shift).detach().requires_grad_()
            with tapped(
                reader.layers, reader.columns, latent_size=own.latent_size, stops_early=True
            ) as probabilities:
                denoise(own.with_sample(start))
            reading = reader.read(probabilities, own.latent_size)
            pos = self._note(reader, reading)
            if settings.goal < 1 and min(pos.values()) >= settings.goal:
                break
            loss = guidance.loss(reader.relations, reading.smooth_maps)
            if self._now.loss is None:
                self._now.loss, self._now.step_size = float(loss.detach()), length
            (gradient,) = torch.autograd.grad(loss, start)
            shift = shift + length * gradient
        return shift

    def _note(self, reader: AttentionReader, reading: Reading) -> Mapping[RelationId, float]:
        """Keep a step's first reading; say the PoS of this one."""
        snapshot = reader.snapshot(reading)
        pos = reader.pos(snapshot)
        if self._now.snapshot is None:
            self._now.snapshot, self._now.pos = snapshot, pos
        return pos

    def _scale(
        self, scale: Callable[..., torch.Tensor], sample: torch.Tensor, timestep: torch.Tensor
    ) -> torch.Tensor:
        self._now.input_scale = float(scale(sample.new_ones(1), timestep))
        return scale(sample, timestep)

    def _step(
        self,
        step: Callable[..., Any],
        output: torch.Tensor,
        timestep: torch.Tensor,
        sample: torch.Tensor,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        if self._now.shift is not None:
            shift = self._now.shift.to(sample.dtype).reshape(sample.shape)
            sample = sample - shift / self._now.input_scale
        result = step(output, timestep, sample, *args, **kwargs)
        if not torch.isfinite(result[0]).all():
            raise BackendError(
                "The picture has dissolved into invalid numbers.",
                hint="Lower the strength or the guidance scale.",
            )
        ended, self._now = self._now, DenoisingStep(index=self._now.index + 1)
        self._finish_step(ended, Prediction(output, timestep, sample))
        return result


@contextmanager
def _wrapped(owner: Any, method: str, wrapper: Callable[..., Any]) -> Iterator[None]:
    """Let ``wrapper(original, ...)`` stand in for a method of one object."""
    original = getattr(owner, method)
    was_wrapped = method in vars(owner)
    setattr(owner, method, functools.wraps(original)(functools.partial(wrapper, original)))
    try:
        yield
    finally:
        if was_wrapped:
            setattr(owner, method, original)
        else:
            delattr(owner, method)
