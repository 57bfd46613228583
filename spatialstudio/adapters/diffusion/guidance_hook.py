"""Hooks that read and guide an unmodified diffusers pipeline during denoising.

A wrapper around the denoiser's ``forward`` sees every model call. On a guided step
``LatentUpdates`` first updates the latents of each picture; the denoiser then runs on the updated
input, and the patched ``scheduler.step`` applies the same shift to the pipeline's latents in their
own units. The ordinary pass is read on every step at almost no cost, so that guidance can pause
once its goal is reached and make no pass until a relation falls again. In a batch, each picture
pauses by its own relations.

Some samplers make several calls per step. The first is read and guided; the others continue from
the shifted latents.

A method may correct the predicted noise instead, on every call. A step may also reuse the
conditional prediction of its last guiding pass. Then only the unconditional half is computed, on
the same input as that pass, because classifier-free guidance would amplify the difference between
two inputs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from diffusers.models.unets.unet_2d_condition import UNet2DConditionOutput
from diffusers.utils.outputs import BaseOutput

from spatialstudio.adapters.diffusion.attention_reader import AttentionReader
from spatialstudio.adapters.diffusion.attention_tap import AttentionTap
from spatialstudio.adapters.diffusion.denoiser_call import CallLayout, DenoiserCall
from spatialstudio.adapters.diffusion.invalid_numbers import refuse_invalid
from spatialstudio.adapters.diffusion.latent_updates import Guidance, LatentUpdates
from spatialstudio.adapters.diffusion.particles import (
    Particles,
    noise_shares,
    particles_at_once,
    repeated,
    resample_sampler,
    with_fresh_noise,
)
from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.adapters.diffusion.preview import (
    corrected,
    is_flow,
    predicted_clean_latents,
    signal_of,
)
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.scene import RelationId


def move_along(scheduler: Any, shift: torch.Tensor) -> None:
    """Apply a shift of the latents to the sampler's own state before its step.

    Args:
        scheduler: Scheduler during a run.
        shift: Subtracted from the latents, in the scheduler's units.
    """
    if not shift.any():
        return
    if getattr(scheduler, "last_sample", None) is not None:
        scheduler.last_sample = None  # makes UniPC skip its corrector on this step
    first_stage = getattr(scheduler, "sample", None)
    if isinstance(first_stage, torch.Tensor):
        scheduler.sample = first_stage - shift


@dataclass(slots=True, kw_only=True, eq=False)
class PictureReading:
    """The reading of one picture on one step.

    Attributes:
        snapshot: Attention before any update; None if nothing was read.
        pos: Relation id to PoS of the snapshot.
        snapshot_after: Attention after the updates, from the step's ordinary pass; None if guidance
            did not act or that pass ran on the latents before the update.
        pos_after: Relation id to PoS of ``snapshot_after``; empty if there is none.
        loss: Before the update; None if the picture was not updated.
        step_size: Step length applied, VP units; None if the picture was not updated.
        passes: Guiding passes made.
        clipped: Updates whose gradient was scaled down to the settings' limit.
    """

    snapshot: AttentionSnapshot | None = None
    pos: Mapping[RelationId, float] = field(default_factory=dict)
    snapshot_after: AttentionSnapshot | None = None
    pos_after: Mapping[RelationId, float] = field(default_factory=dict)
    loss: float | None = None
    step_size: float | None = None
    passes: int = 0
    clipped: int = 0


@dataclass(slots=True, kw_only=True, eq=False)
class DenoisingStep:
    """One denoising step, filled in as it runs. Not thread-safe: use on the model's thread.

    Attributes:
        index: Step index, from 0.
        call: Index of the pending or current model call, from 0 over the whole run.
        prediction: Prediction of the step's first call, set when that call ends.
        readings: By picture index, from 0.
        guided: Indices of the pictures that guidance acts on; empty outside the guided window.
        has_begun: Whether the denoiser was called; pipelines may call it again for the
            other half of classifier-free guidance.
        shift: (pictures, ...) subtracted from the denoiser's input or added to the noise.
        latent_size: (h, w) of the denoiser's input.
        input_scale: Factor from the scheduler's latents to the denoiser's input: 1 for
            variance-preserving samplers, 1 / sqrt(sigma^2 + 1) for samplers such as Euler.
        signal: The picture's share of the variance of variance-preserving latents, (0, 1].
        spread: Variance of the denoiser's input: 1, or less for rectified flow.
    """

    index: int
    call: int = 0
    prediction: "Prediction | None" = None
    readings: dict[int, PictureReading] = field(default_factory=dict)
    guided: tuple[int, ...] = ()
    has_begun: bool = False
    shift: torch.Tensor | None = None
    latent_size: tuple[int, int] = (0, 0)
    input_scale: float = 1.0
    signal: float = 1.0
    spread: float = 1.0

    def reading(self, number: int = 0) -> PictureReading:
        """Return the reading of a picture, by default the first."""
        return self.readings.setdefault(number, PictureReading())


@frozen(eq=False, kw_only=False)
class Prediction:
    """The scheduler's input for a step. Not thread-safe: use on the model's thread.

    Attributes:
        output: (1, c, h, w) of the denoiser, classifier-free guidance applied.
        timestep: Scheduler time.
        latents: (1, c, h, w) at the start of the step, in the scheduler's units.
    """

    output: torch.Tensor
    timestep: torch.Tensor
    latents: torch.Tensor


FinishStep = Callable[[DenoisingStep, Prediction], Sequence[int]]
"""Called at the end of a step; returns the pictures that continue, empty if all do."""


class GuidanceHook:
    """Reads and guides one run of a pipeline.

    Args:
        reader: None to read nothing.
        guidance: None for no guidance; requires a reader.
        token: Checked before every model call.
        finish_step: Called with each step when it ends.
        particles: The pictures of the call as particles; None if all are drawn to the end.
        allows_invalid: Whether NaN and infinite latents are recorded instead of raising.

    Attributes:
        has_moved: Whether guidance has updated any picture so far.
    """

    def __init__(
        self,
        reader: AttentionReader | None,
        guidance: Guidance | None,
        token: CancelToken,
        finish_step: FinishStep,
        *,
        particles: Particles | None = None,
        allows_invalid: bool = False,
    ) -> None:
        self._allows_invalid = allows_invalid
        self._particles = particles
        self.has_moved = False
        self._reader = reader
        self._guidance = guidance
        self._token = token
        self._finish_step = finish_step
        self._calls = CallLayout()
        self._denoiser = torch.nn.Module()
        self._scheduler: Any = None
        self._last_pos: dict[int, Mapping[RelationId, float]] = {}
        self._now = DenoisingStep(index=0)

    @contextmanager
    def attached(
        self, denoiser: torch.nn.Module, scheduler: Any, calls: CallLayout | None = None
    ) -> Iterator[None]:
        """Patch denoiser and scheduler for one pipeline call and restore them afterwards.

        Args:
            denoiser: Called once or twice per step.
            scheduler: The pipeline's scheduler.
            calls: How the pipeline calls the denoiser; None for both halves in one call.
        """
        self._calls = calls or CallLayout()
        self._denoiser, self._scheduler = denoiser, scheduler
        with ExitStack() as wrappers:
            if self._reader is not None:
                wrappers.enter_context(self._reader.watch.on_duty())
            wrappers.enter_context(patched_attribute(denoiser, "forward", self._denoise))
            wrappers.enter_context(patched_attribute(scheduler, "step", self._step))
            if hasattr(scheduler, "scale_model_input"):
                wrappers.enter_context(
                    patched_attribute(scheduler, "scale_model_input", self._scale)
                )
            yield

    @property
    def _pictures(self) -> int:
        """The number of pictures that are denoised, from the first."""
        return self._calls.pictures if self._particles is None else self._particles.count

    def _denoise(self, forward: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        call, particles = DenoiserCall(self._calls, args, kwargs), self._particles
        if particles is None or particles.count == particles.pictures:
            output = self._denoise_call(forward, call)
        else:
            own = call.of_pictures(0, particles.count)
            output = own.spread(self._denoise_call(forward, own), particles.sources)
        is_bare = isinstance(output, tuple) and kwargs.get("return_dict", True)
        return UNet2DConditionOutput(sample=output[0]) if is_bare else output

    def _denoise_call(self, forward: Callable[..., Any], call: DenoiserCall) -> Any:
        def denoise(wanted: DenoiserCall) -> Any:
            self._token.raise_if_cancelled()
            return wanted.run(forward)

        def denoise_all(wanted: DenoiserCall) -> Any:
            return wanted.merged([denoise(part) for _, part in self._parts(wanted)])

        now = self._now
        is_repeated, now.has_begun = now.has_begun, True
        now.latent_size = call.latent_size
        if self._reader is None or now.prediction is not None:
            return denoise_all(call)
        if is_repeated:
            return denoise_all(self._moved(call))
        now.guided = self._awake(self._reader)
        if self._guidance is None or not now.guided:
            return self._read(self._reader, denoise, call)
        if self._guidance.see_before is not None and 0 in now.guided:
            self._guidance.see_before(lambda: denoise(call.of_picture(0)))
        updates = self._update(self._guidance, self._reader, denoise, call)
        if self._guidance.schedule.settings.reuses_prediction:
            return self._joined(self._reader, denoise, call, updates)
        return self._read(self._reader, denoise, self._moved(call))

    def _awake(self, reader: AttentionReader) -> tuple[int, ...]:
        """Return the indices of the pictures that guidance acts on now."""
        if self._guidance is None or self._guidance.trial is not None:
            return ()
        if not self._guidance.schedule.guides(self._now.index):
            return ()
        may_rest = self._guidance.schedule.may_rest
        known = [self._last_pos.get(number, {}) for number in range(self._pictures)]
        return tuple(n for n, pos in enumerate(known) if not may_rest(reader.guided_pos(pos)))

    def _update(
        self,
        guidance: Guidance,
        reader: AttentionReader,
        denoise: Callable[[DenoiserCall], Any],
        call: DenoiserCall,
    ) -> Mapping[int, LatentUpdates]:
        """Compute and record the updates of the guided pictures."""
        now = self._now
        if is_flow(self._scheduler):
            noise = float(self._scheduler.sigmas[now.call])
            now.spread = (1 - noise) ** 2 + noise**2
            now.signal = (1 - noise) ** 2 / now.spread
        length = guidance.schedule.length(now.index, now.signal)
        updates = {
            number: LatentUpdates(
                guidance, reader, self._denoiser, denoise, call.of_picture(number)
            )
            for number in now.guided
        }
        for number, own in updates.items():
            try:
                self._note(reader, number, own.make(now.index, length, now.spread))
            finally:
                self.has_moved |= own.loss is not None
            reading = now.reading(number)
            reading.loss, reading.passes, reading.clipped = own.loss, own.passes, own.clipped
            reading.step_size = None if own.loss is None else length
        still = torch.zeros_like(next(iter(updates.values())).shift)
        shifts = [updates[n].shift if n in updates else still for n in range(self._pictures)]
        now.shift = torch.cat(shifts)
        return updates

    def _moved(self, call: DenoiserCall) -> DenoiserCall:
        if self._now.shift is None or self._guidance is None or self._guidance.leaves_input:
            return call
        return call.moved(self._now.shift)

    def _joined(
        self,
        reader: AttentionReader,
        denoise: Callable[[DenoiserCall], Any],
        call: DenoiserCall,
        updates: Mapping[int, LatentUpdates],
    ) -> Any:
        """Join an output, reusing the conditional predictions of the guiding passes."""
        with_prompt = [
            updates[n].output
            if n in updates
            else self._read(reader, denoise, call.of_picture(n), n)
            for n in range(call.layout.pictures)
        ]
        other = call.without_prompt()
        if other is None:
            return call.joined(with_prompt, None)
        rest = other.merged([denoise(part) for _, part in self._parts(other)])
        return call.joined(with_prompt, rest)

    def _parts(self, call: DenoiserCall) -> Sequence[tuple[int, DenoiserCall]]:
        """Split a call for particles so that it takes no more memory than one large picture."""
        if self._particles is None:
            return [(0, call)]
        return call.parts(particles_at_once(call.latent_size))

    def _read(
        self,
        reader: AttentionReader,
        denoise: Callable[[DenoiserCall], Any],
        call: DenoiserCall,
        first: int = 0,
    ) -> Any:
        """Run an ordinary pass and read the rows of its pictures, numbered from ``first``."""
        if len(parts := self._parts(call)) > 1:
            return call.merged([self._read(reader, denoise, part, first + n) for n, part in parts])
        size, means = call.latent_size, [reader.mean() for _ in range(call.layout.pictures)]
        tap = AttentionTap(reader.watch, [mean.take for mean in means], size, call.first_row)
        with tap.on_duty():
            output = tap.see(lambda: denoise(call))
        for number, mean in enumerate(means, first):
            self._note(reader, number, reader.snapshot_of_mean(mean, size))
        if self._guidance is not None and self._guidance.ends_trial(self._now.index):
            self._guidance.finish_trial(reader.guided, reader.read(means[0], size))
        return output

    def _note(self, reader: AttentionReader, number: int, snapshot: AttentionSnapshot) -> None:
        """Record a picture's last PoS and the step's readings."""
        now, pos = self._now, reader.pos(snapshot)
        reading = now.reading(number)
        self._last_pos[number] = pos
        if reading.snapshot is None:
            reading.snapshot, reading.pos = snapshot, pos
        has_moved = now.shift is not None and number in now.guided
        if has_moved and self._guidance is not None and not self._guidance.leaves_input:
            reading.snapshot_after, reading.pos_after = snapshot, pos

    def _scale(
        self, scale: Callable[..., torch.Tensor], sample: torch.Tensor, timestep: torch.Tensor
    ) -> torch.Tensor:
        self._now.input_scale = float(scale(sample.new_ones(1), timestep))
        if not is_flow(self._scheduler):
            self._now.signal = signal_of(self._scheduler, timestep, self._now.input_scale)
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
        now = self._now
        if now.shift is not None and self._guidance is not None:
            rows = now.shift if self._particles is None else now.shift[self._particles.sources]
            shift = rows.to(sample.dtype).reshape(sample.shape)
            if self._guidance.corrects_prediction:
                output = corrected(self._scheduler, output, shift, now.signal)
            elif now.prediction is None:
                shift = shift / now.input_scale
                sample = sample - shift
                move_along(self._scheduler, shift)

        def run() -> Any:
            return step(output, timestep, sample, *args, **kwargs)

        result = run() if self._particles is None else self._particles.draws_noise(run)
        if not self._allows_invalid:
            refuse_invalid(result[0])
        latents = self._end_call(Prediction(output, timestep, sample), result[0])
        if isinstance(result, BaseOutput):
            return type(result)(**{**result, "prev_sample": latents})
        return _with_finished(result if latents is result[0] else (latents, *result[1:]))

    def _end_call(self, prediction: Prediction, latents: torch.Tensor) -> torch.Tensor:
        """Advance to the next call of the step, or to the next step; return its latents."""
        now = self._now
        now.prediction = first = now.prediction or prediction
        now.has_begun = False
        now.call += 1
        calls = len(self._scheduler.timesteps)
        if now.call % self._scheduler.order == 0 or now.call == calls:
            self._now = DenoisingStep(index=now.index + 1, call=now.call)
            parents = self._finish_step(now, first)
            if self._particles is not None and parents:
                latents = self._resampled(self._particles, latents, parents, (now, first))
        if self._particles is None or self._particles.count == self._particles.pictures:
            return latents
        return latents[self._particles.sources]

    def _resampled(
        self,
        particles: Particles,
        latents: torch.Tensor,
        parents: Sequence[int],
        ended: tuple[DenoisingStep, Prediction],
    ) -> torch.Tensor:
        """Return the latents of the particles that continue; move the sampler's state along."""
        step, first = ended
        self._last_pos = {
            number: self._last_pos.get(parent, {}) for number, parent in enumerate(parents)
        }
        rows = [parents[source] for source in particles.sources]
        resample_sampler(self._scheduler, rows, latents.shape)
        latents, copies = latents[rows], repeated(parents)
        if particles.adds_noise or not copies:
            return latents
        clean = predicted_clean_latents(
            self._scheduler, first.output, first.timestep, first.latents, step.input_scale
        )[rows]
        shares = noise_shares(self._scheduler, step.call, step.input_scale)
        fresh = particles.fresh_noise(latents[copies], step.index)
        latents[copies] = with_fresh_noise(latents[copies], clean[copies], fresh, shares)
        if getattr(self._scheduler, "last_sample", None) is not None:
            self._scheduler.last_sample = None  # UniPC's corrector would restore the old noise
        return latents


def _with_finished(result: Any) -> Any:
    """Repeat the latents of samplers that return no denoised latents.

    Both are equal after the only step of a run.
    """
    # WORKAROUND(https://github.com/huggingface/diffusers/issues/8689): PixArt-alpha reads the
    # second output of every sampler. Remove when it reads the first of samplers with one output.
    tells_once = isinstance(result, tuple) and len(result) == 1
    return result * 2 if tells_once else result
