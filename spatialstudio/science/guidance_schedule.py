"""When guidance acts and how far it moves the latents.

The step length is strength * sqrt(r_i) with r = linspace(1, 0.5, steps), so it falls little within
the guided window. It is stated in variance-preserving (VP) units: a sampler that keeps its latents
as z = sqrt(sigma^2 + 1) * z_VP needs sigma^2 + 1 times as much for the same effect.

Source: the code of Rezaei et al. 2025, arXiv:2506.23418; the VP units are ours, so that one
strength means the same for every sampler.
"""

from dataclasses import dataclass
from math import sqrt

from spatialstudio.domain.generation import GuidanceSettings

_FIRST_RATIO, _LAST_RATIO = 1.0, 0.5


@dataclass(frozen=True, slots=True)
class GuidanceSchedule:
    """The guided window of one run and the step length within it.

    Attributes:
        settings: How the layout is held.
        total_steps: Denoising steps of the run.
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
        return self.settings.first_step <= step <= self.last_step

    def length(self, step: int) -> float:
        """Return the step length in VP units; it falls over all steps, guided or not."""
        progress = step / max(self.total_steps - 1, 1)
        ratio = _FIRST_RATIO + (_LAST_RATIO - _FIRST_RATIO) * progress
        return self.settings.strength * sqrt(ratio)
