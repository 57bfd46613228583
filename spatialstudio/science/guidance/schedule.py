"""The schedule of guidance: guided steps and their step size.

The step size is strength * sqrt(r_i) with r = linspace(1, 0.5, steps), so it decreases little
within the guided window. It is stated in variance-preserving (VP) units: a sampler with latents
z = sqrt(sigma^2 + 1) * z_VP needs sigma^2 + 1 times as much for the same effect. A strength
published for such latents (SDXL) is divided by sigma^2 + 1, so it too has the same effect with
every sampler.

Source: the code of Rezaei et al. 2025, arXiv:2506.23418; the VP units are ours, so that a strength
has the same effect with every sampler.
"""

from collections.abc import Mapping
from math import sqrt

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings, StepUnit
from spatialstudio.domain.scene import RelationId


@frozen(kw_only=False)
class GuidanceSchedule:
    """The guided window of one run and its step sizes.

    Attributes:
        settings: The guidance settings.
        total_steps: Requested denoising steps; PNDM takes one more.
    """

    settings: GuidanceSettings
    total_steps: int

    @property
    def last_step(self) -> int:
        """The last guided step, inclusive; by default the end of the first half."""
        chosen = self.settings.last_step
        return (self.total_steps + 1) // 2 - 1 if chosen is None else chosen

    def guides(self, step: int) -> bool:
        """Return True if guidance acts on a step, counted from 0."""
        first = self.settings.first_step
        return first <= step <= self.last_step and (step - first) % self.settings.every == 0

    def length(self, step: int, signal: float = 1.0) -> float:
        """Return the step size in VP units; it decays over all steps, guided or not.

        Args:
            step: Denoising step, from 0.
            signal: Fraction of the signal in the variance of the latents, 1 / (sigma^2 + 1),
                (0, 1].
        """
        progress = min(step / max(self.total_steps - 1, 1), 1)
        ratio = 1 + (self.settings.decay - 1) * progress
        length = self.settings.strength * sqrt(ratio)
        return length * signal if self.settings.unit is StepUnit.SIGMA else length

    @property
    def can_rest(self) -> bool:
        """Whether guidance can pause, that is, the goal is below 1."""
        return self.settings.goal < 1

    def may_rest(self, pos: Mapping[RelationId, float]) -> bool:
        """Return True if the PoS of every relation reaches the goal.

        Args:
            pos: Relation id to the latest PoS; empty when not yet measured.
        """
        return self.can_rest and min(pos.values(), default=0) >= self.settings.goal

    def refined_loss(self, step: int) -> float | None:
        """Return the loss threshold of refinement at a step; None without refinement."""
        wanted = [goal.presence for goal in self.settings.refinements if goal.step == step]
        return 1 - wanted[0] if wanted else None
