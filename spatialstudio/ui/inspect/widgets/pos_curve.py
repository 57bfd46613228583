"""What a chart over the steps shows, as plain data: who makes it needs no chart."""

from bisect import bisect_left
from dataclasses import field
from enum import Enum

from spatialstudio.domain.frozen import frozen


@frozen(kw_only=False)
class PosCurve:
    """One relation's PoS over the steps.

    Attributes:
        name: The relation in words.
        hue: Of its relation.
        points: Step and PoS in [0, 1], in order; ties count half. Of a difference, in [-1, 1].
        bounds: Step, PoS without ties and PoS with ties in full; empty where they do not differ.
    """

    name: str
    hue: int
    points: tuple[tuple[int, float], ...]
    bounds: tuple[tuple[int, float, float], ...] = ()

    def at(self, step: int) -> float | None:
        """Return the value at a step; None where it was not measured."""
        found = self.points[bisect_left(self.points, (step,)) :][:1]
        return found[0][1] if found and found[0][0] == step else None

    def bounds_at(self, step: int) -> tuple[float, float] | None:
        """Return the values without ties and with ties in full; None where nothing differs."""
        found = self.bounds[bisect_left(self.bounds, (step,)) :][:1]
        return found[0][1:] if found and found[0][0] == step else None


@frozen
class GuidanceMark:
    """What guidance did on one step.

    Attributes:
        step: From 0.
        loss: Before the update; None where there is none.
        length: How far the latents were moved; None where guidance was due but rested.
        passes: Passes with a gradient.
    """

    step: int
    loss: float | None
    length: float | None
    passes: int


@frozen
class TimeLine:
    """A run on the clock of its steps.

    Attributes:
        name: What to call the run.
        curves: One for each relation.
        marks: What guidance did, on the steps on which it was due.
    """

    name: str
    curves: tuple[PosCurve, ...] = ()
    marks: tuple[GuidanceMark, ...] = ()

    @property
    def guided_steps(self) -> tuple[int, ...]:
        """The steps on which guidance acted."""
        return tuple(mark.step for mark in self.marks if mark.length is not None)


class Lanes(Enum):
    """How a second run stands beside the first."""

    TOGETHER = "together"
    APART = "apart"
    DIFFERENCE = "difference"


@frozen
class TimeContents:
    """All that a chart over the steps shows.

    Attributes:
        first: The open run.
        second: The run beside it; None for none.
        differences: First less second, one curve for each relation of both.
        step_count: How many steps there will be; 0 for no run.
        goal: PoS at which guidance rests, (0.5, 1]; None without guidance.
        reading: When within a guided step PoS was read, in words; empty where it was read once.
    """

    first: TimeLine = field(default_factory=lambda: TimeLine(name=""))
    second: TimeLine | None = None
    differences: tuple[PosCurve, ...] = ()
    step_count: int = 0
    goal: float | None = None
    reading: str = ""
