"""When guidance acts and how far it moves the latents.

The step length is strength * sqrt(r_i) with r = linspace(1, 0.5, steps), so it falls little within
the guided window. It is stated in variance-preserving (VP) units: a sampler that keeps its latents
as z = sqrt(sigma^2 + 1) * z_VP needs sigma^2 + 1 times as much for the same effect. A strength that
was published for such latents (SDXL) is divided by sigma^2 + 1, so it too means the same for every
sampler.

Source: the code of Rezaei et al. 2025, arXiv:2506.23418; the VP units are ours, so that one
strength means the same for every sampler.
"""

from collections.abc import Mapping
from math import sqrt

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GuidanceSettings, StepUnit
from spatialstudio.domain.relation import RelationId


@frozen(kw_only=False)
class GuidanceSchedule:
    """The guided window of one run and the step length within it.

    Attributes:
        settings: How the layout is held.
        total_steps: Denoising steps that were asked for; PNDM makes one more.
    """

    settings: GuidanceSettings
    total_steps: int

    @property
    def last_step(self) -> int:
        """The last guided step, inclusive; without a setting the first half is guided."""
        chosen = self.settings.last_step
        return (self.total_steps + 1) // 2 - 1 if chosen is None else chosen

    def guides(self, step: int) -> bool:
        """Tell whether guidance acts on a step, counted from 0."""
        first = self.settings.first_step
        return first <= step <= self.last_step and (step - first) % self.settings.every == 0

    def length(self, step: int, signal: float = 1.0) -> float:
        """Return the step length in VP units; it falls over all steps, guided or not.

        Args:
            step: From 0.
            signal: Share of the picture in the variance of the latents, 1 / (sigma^2 + 1), (0, 1].
        """
        progress = min(step / max(self.total_steps - 1, 1), 1)
        ratio = 1 + (self.settings.decay - 1) * progress
        length = self.settings.strength * sqrt(ratio)
        return length * signal if self.settings.unit is StepUnit.SIGMA else length

    @property
    def can_rest(self) -> bool:
        """Whether the settings name a goal that can be reached."""
        return self.settings.goal < 1

    def may_rest(self, pos: Mapping[RelationId, float]) -> bool:
        """Tell whether every relation is as sure as the settings ask for.

        Args:
            pos: Relation id to PoS, as last seen; empty when nothing is known.
        """
        return self.can_rest and min(pos.values(), default=0) >= self.settings.goal

    def refined_loss(self, step: int) -> float | None:
        """Return the loss that this step shall go below; None where one update is enough."""
        wanted = [goal.presence for goal in self.settings.refinements if goal.step == step]
        return 1 - wanted[0] if wanted else None
