"""Gradient updates of one picture's latents on an attention loss.

A guiding pass runs the conditional half only, up to the last layer that is read. All relations
share one pass, or each takes its own pass on latents that the previous ones have updated. The
denoiser's input is variance-preserving (VP) for every sampler, and so is the step length.

Source: Rezaei et al. 2025, arXiv:2506.23418; refinement until the loss is low enough: Chefer et al.
2023, arXiv:2301.13826, as implemented in diffusers, where the update that meets the goal is
followed by one more; BoxDiff's refinement of only the inner part of its loss: Xie et al. 2023,
arXiv:2307.10816. Ours: the VP units, the early exit, and one gradient for all relations.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import sqrt
from typing import Any

import torch
from torch.utils.checkpoint import checkpoint

from spatialstudio.adapters.diffusion.attention_reader import AttentionReader
from spatialstudio.adapters.diffusion.attention_tap import AttentionTap
from spatialstudio.adapters.diffusion.denoiser_call import DenoiserCall
from spatialstudio.adapters.diffusion.masked_latents import MaskedLatents
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Relation, RelationId
from spatialstudio.science.guidance.losses import GuidanceLoss, RefinedLoss
from spatialstudio.science.guidance.method import Trial
from spatialstudio.science.guidance.schedule import GuidanceSchedule
from spatialstudio.science.pos.attention_maps import WordAttention

Denoise = Callable[[DenoiserCall], Any]

PACKED_DIMENSIONS = 3
"""Dimensions of packed latents, (rows, positions, channels)."""
FLOAT16_LOSS_SCALE = 1024.0
"""Loss scale that keeps small gradients from underflowing in a float16 denoiser."""


class GuidanceNeeded(Exception):  # noqa: N818 - an outcome, not an error
    """The picture of a trial is not right by itself."""


@frozen(eq=False)
class Guidance:
    """Guidance of a picture: loss, schedule and how the update is applied.

    Attributes:
        loss: The loss that the updates lower.
        schedule: When updates are made and how far they go.
        refined: Loss that refinement lowers before the step's update; None for ``loss``.
        corrects_prediction: True if the updates are added to the predicted noise, False if
            they are subtracted from the latents.
        reads_decoder: Whether the loss reads the decoder's levels.
        guides_depth: Whether the loss reads relations in depth.
        keeps_colours: Whether updates leave the mean of each latent channel.
        masked: What a local repair keeps, and updates leave; None for whole pictures.
        trial: The trial that this call is: nothing is updated, and the loss at its end decides
            whether the picture needs guidance; None for a guided call.
        see_before: Takes a pass of the first picture on the latents before a step's updates;
            None to make no such pass.
        failures_named: Returns a context that names the plugin of the loss in errors.
    """

    loss: GuidanceLoss
    schedule: GuidanceSchedule
    refined: RefinedLoss | None = None
    corrects_prediction: bool = False
    reads_decoder: bool = False
    guides_depth: bool = False
    keeps_colours: bool = False
    masked: MaskedLatents | None = None
    trial: Trial | None = None
    see_before: Callable[[Callable[[], Any]], object] | None = None
    failures_named: Callable[[], AbstractContextManager[None]] = nullcontext

    def ends_trial(self, step: int) -> bool:
        """Return True if the call is a trial that ends on a step."""
        return self.trial is not None and step == self.trial.last_step(self.schedule.total_steps)

    def finish_trial(self, relations: Sequence[Relation], attention: WordAttention) -> None:
        """Decide by the loss whether the picture needs guidance.

        Raises:
            GuidanceNeeded: The loss is too high.
        """
        with self.failures_named():
            loss = float(self.loss(relations, attention))
        if self.trial is None or not loss <= self.trial.enough:
            raise GuidanceNeeded

    @property
    def leaves_input(self) -> bool:
        """Whether the ordinary pass runs on the latents before the updates."""
        return self.corrects_prediction or self.schedule.settings.reuses_prediction


class LatentUpdates:
    """The updates of one picture on one step. Not thread-safe: use on the model's thread.

    Args:
        guidance: Guidance of the picture.
        reader: Reads the attention of a pass.
        denoiser: Checkpointed to save memory if the settings say so.
        denoise: Makes a model call.
        own: The conditional call for this picture.

    Attributes:
        shift: Shape of the sample, float32; total subtracted from it so far.
        loss: Loss of the first pass; None if no update was made.
        passes: Passes made so far.
        clipped: Number of updates whose gradient was scaled down to the limit.
        output: Output of the last pass, if whole passes were requested.
    """

    def __init__(
        self,
        guidance: Guidance,
        reader: AttentionReader,
        denoiser: Any,
        denoise: Denoise,
        own: DenoiserCall,
    ) -> None:
        self.shift = torch.zeros_like(own.sample, dtype=torch.float32)
        self.loss: float | None = None
        self.passes = 0
        self.clipped = 0
        self.output: Any = None
        self._guidance = guidance
        self._reader = reader
        self._denoiser = denoiser
        self._denoise = denoise
        self._own = own
        self._snapshots: list[AttentionSnapshot] = []
        self._limit: float | None = None

    @torch.enable_grad()
    def make(self, step: int, length: float, spread: float = 1.0) -> AttentionSnapshot:
        """Make all updates of a step.

        Args:
            step: Step index, from 0.
            length: Step length of one update, VP units.
            spread: Variance of the denoiser's input: 1, or less for rectified flow.

        Returns:
            The attention of the first pass.
        """
        schedule, relations = self._guidance.schedule, self._reader.guided
        settings = schedule.settings
        length = length * spread
        limit = settings.gradient_limit
        self._limit = None if limit is None else limit / sqrt(spread)
        takes_turns = settings.one_by_one and relations
        groups = [(one,) for one in relations] if takes_turns else [relations]
        limit = schedule.refined_loss(step)
        for group in groups * settings.inner_updates:
            if limit is not None and self._guidance.refined is not None:
                self._refine_apart(self._guidance.refined, group, length, limit)
            loss = self._update(group, length)
            if loss is None:
                break
            if limit is not None and self._guidance.refined is None:
                self._refine(group, length, limit, loss)
        return self._snapshots[0]

    def _refine(
        self, relations: Sequence[Relation], length: float, limit: float, loss: float | None
    ) -> None:
        """Update until the loss is low enough; one more update follows the one that reaches it."""
        if loss is None or loss <= limit:
            return
        for _ in range(self._guidance.schedule.settings.most_refinements - 1):
            loss = self._update(relations, length)
            if loss is None or loss <= limit:
                break
        self._update(relations, length)

    def _refine_apart(
        self, refined: RefinedLoss, relations: Sequence[Relation], length: float, limit: float
    ) -> None:
        """Lower a part of the loss until it is low enough; make no update if it already is."""
        for _ in range(self._guidance.schedule.settings.most_refinements):
            loss = self._update(relations, length, refined, limit)
            if loss is None or loss <= limit:
                break

    def _update(
        self,
        relations: Sequence[Relation],
        length: float,
        refined: RefinedLoss | None = None,
        limit: float | None = None,
    ) -> float | None:
        """Make one pass and update along its negative gradient.

        Args:
            relations: Relations in the loss.
            length: Step length of the update, VP units.
            refined: Loss to lower instead of the guidance loss; not reported as the loss.
            limit: Skip the update if the first such pass finds a loss of at most this; None to
                always update.

        Returns:
            The loss before the update; None if all goals are reached.
        """
        schedule = self._guidance.schedule
        settings = schedule.settings
        sample = self._own.sample
        start = (sample - self.shift).to(sample.dtype).detach().requires_grad_()
        scale = FLOAT16_LOSS_SCALE if start.dtype is torch.float16 else 1.0
        reader, size = self._reader, self._own.latent_size
        mean = reader.mean()
        tap = AttentionTap(
            reader.watch, [mean.take], size, stops_early=not settings.reuses_prediction
        )
        with tap.on_duty(), self._spared(tap) if settings.checkpointing else nullcontext():
            self.output = tap.see(lambda: self._denoise(self._own.with_sample(start)))
            self.passes += 1
            attention = reader.read(mean, size)
            if not self._snapshots or schedule.can_rest:
                self._snapshots.append(reader.snapshot(attention))
            if schedule.can_rest and schedule.may_rest(self._guided_pos()):
                return None
            with self._guidance.failures_named():
                loss = (refined or self._guidance.loss)(relations, attention)
                value = float(loss.detach())
            if limit is not None and value <= limit and not self.shift.any():
                return value
            with self._guidance.failures_named():
                (gradient,) = torch.autograd.grad(loss * scale, start)
        self.shift = self.shift + length * self._bounded(gradient.float() / scale)
        if refined is None and self.loss is None:
            self.loss = value
        return value

    def _bounded(self, gradient: torch.Tensor) -> torch.Tensor:
        """Remove what changes colours or kept regions, and scale down to the settings' limit."""
        inside = None if self._guidance.masked is None else self._guidance.masked.inside(gradient)
        if inside is not None:
            gradient = gradient * inside
        if self._guidance.keeps_colours:
            gradient = without_channel_means(gradient, inside)
        if self._limit is None:
            return gradient
        size = float(gradient.square().mean().sqrt())
        if size <= self._limit:
            return gradient
        self.clipped += 1
        return gradient * (self._limit / size)

    def _guided_pos(self) -> Mapping[RelationId, float]:
        return self._reader.guided_pos(self._reader.pos(self._snapshots[-1]))

    @contextmanager
    def _spared(self, tap: AttentionTap) -> Iterator[None]:
        """Enable gradient checkpointing: keep only block inputs and recompute the rest."""

        def run(block: Callable[..., Any], *args: Any) -> Any:
            def contexts() -> tuple[Any, Any]:
                return nullcontext(), tap.repeating(self._reader.mean().take)

            return checkpoint(block, *args, use_reentrant=False, context_fn=contexts)

        with keep_checkpointing(self._denoiser):
            self._denoiser.enable_gradient_checkpointing(run)
            yield


def without_channel_means(
    gradient: torch.Tensor, inside: torch.Tensor | None = None
) -> torch.Tensor:
    """Subtract the mean of each channel over all positions.

    Args:
        gradient: (..., h, w) with at least four dimensions, or packed, (rows, positions, channels).
        inside: Of the same shape: 1 at the positions that count, elsewhere 0 like the gradient;
            None for all positions.
    """
    positions = (1,) if gradient.ndim == PACKED_DIMENSIONS else (-2, -1)
    if inside is None:
        return gradient - gradient.mean(positions, keepdim=True)
    count = inside.sum(positions, keepdim=True).clamp_min(1)
    return gradient - inside * gradient.sum(positions, keepdim=True) / count


CHECKPOINTING_ATTRIBUTES = ("gradient_checkpointing", "_gradient_checkpointing_func")


@contextmanager
def keep_checkpointing(denoiser: torch.nn.Module) -> Iterator[None]:
    """Restore the gradient checkpointing state of a denoiser's modules afterwards."""
    kept = [
        (vars(module), {name: vars(module)[name] for name in names})
        for module in denoiser.modules()
        if (names := [name for name in CHECKPOINTING_ATTRIBUTES if name in vars(module)])
    ]
    try:
        yield
    finally:
        for attributes, usual in kept:
            for name in CHECKPOINTING_ATTRIBUTES:
                attributes.pop(name, None)
            attributes.update(usual)
