"""How long a run still takes: guided and plain steps are timed apart, as they cost differently."""

from spatialstudio.domain.generation import UNGUIDED, GenerationRequest, StepEvent
from spatialstudio.science.guidance_schedule import GuidanceSchedule

WEIGHT = 0.4
"""Of the newest step in the moving mean."""
ENOUGH = 2
"""Steps to have seen before anything is said."""


class RemainingTime:
    """Learns the pace of steps, and says what is left of a run and of those behind it.

    Attributes:
        pace: Seconds a step: True for guided ones, False for plain ones; empty before any was seen.
    """

    def __init__(self) -> None:
        self.pace: dict[bool, float] = {}
        self._last: float | None = None
        self._seen = 0

    def start(self, now: float) -> None:
        """Begin to time; what was learnt before still counts.

        Args:
            now: Seconds of any steady clock.
        """
        self._last, self._seen = now, 0

    def observe(self, event: StepEvent, now: float) -> None:
        """Learn from a step that has just ended."""
        if self._last is not None:
            took, guided = now - self._last, event.step_size is not None
            before = self.pace.get(guided, took)
            self.pace[guided] = before + WEIGHT * (took - before)
        self._last = now
        self._seen += 1

    def seconds_left(self, request: GenerationRequest, steps_done: int) -> float | None:
        """Return what a run still takes, judging aside; None while nobody can know."""
        if not self.pace or (self._seen < ENOUGH and steps_done):
            return None
        left = range(steps_done, request.steps)
        guided = sum(is_guided(request, step) for step in left)
        usual = next(iter(self.pace.values()))
        plain_pace = self.pace.get(False, usual)
        return guided * self.pace.get(True, usual) + (len(left) - guided) * plain_pace


def is_guided(request: GenerationRequest, step: int) -> bool:
    """Whether guidance may act on a step of a request."""
    guidance = request.guidance
    acts = guidance.method_id != UNGUIDED and guidance.strength > 0
    return acts and GuidanceSchedule(guidance, request.steps).guides(step)
