"""Plain data shown by the chart over the steps; independent of the chart widget."""

from bisect import bisect_left
from dataclasses import field
from enum import Enum

from spatialstudio.domain.frozen import frozen


@frozen(kw_only=False)
class PosCurve:
    """One relation's PoS over the steps.

    Attributes:
        name: The relation in words.
        hue: Hue of the relation.
        points: Step and PoS in [0, 1], in order; ties count half. A difference is in [-1, 1].
        bounds: Step, PoS with ties counted 0 and with ties counted 1; empty where they do not
            differ.
    """

    name: str
    hue: int
    points: tuple[tuple[int, float], ...]
    bounds: tuple[tuple[int, float, float], ...] = ()

    def at(self, step: int) -> float | None:
        """Return the value at a step; None if not measured."""
        found = self.points[bisect_left(self.points, (step,)) :][:1]
        return found[0][1] if found and found[0][0] == step else None

    def bounds_at(self, step: int) -> tuple[float, float] | None:
        """Return the values with ties counted 0 and 1; None where they do not differ."""
        found = self.bounds[bisect_left(self.bounds, (step,)) :][:1]
        return found[0][1:] if found and found[0][0] == step else None


@frozen
class GuidanceMark:
    """What guidance did on one step.

    Attributes:
        step: From 0.
        loss: Loss before the update; None where there is none.
        step_size: Step size applied, in variance-preserving units; None where guidance was due but
            paused.
        passes: Number of passes with a gradient.
        clipped: Number of updates whose gradient was scaled down to its limit.
    """

    step: int
    loss: float | None
    step_size: float | None
    passes: int
    clipped: int = 0


@frozen
class TimeLine:
    """A run's curves and guidance marks over its steps.

    Attributes:
        name: Label of the run.
        curves: One for each relation.
        marks: What guidance did, on the steps on which it was due.
        goal: PoS at which guidance pauses, (0.5, 1]; None without guidance.
    """

    name: str
    curves: tuple[PosCurve, ...] = ()
    marks: tuple[GuidanceMark, ...] = ()
    goal: float | None = None

    @property
    def guided_steps(self) -> tuple[int, ...]:
        """The steps on which guidance acted."""
        return tuple(mark.step for mark in self.marks if mark.step_size is not None)


class Lanes(Enum):
    """How the chart arranges a second run."""

    TOGETHER = "together"
    APART = "apart"
    DIFFERENCE = "difference"


@frozen
class TimeContents:
    """Contents of the chart over the steps.

    Attributes:
        first: The open run.
        second: The second run; None for none.
        differences: First minus second, one curve for each common relation.
        step_count: Total number of steps; 0 for no run.
        reading: Description of when within a guided step, and on which chosen layers, PoS was
            read; empty where it was read once on the layers of guidance.
    """

    first: TimeLine = field(default_factory=lambda: TimeLine(name=""))
    second: TimeLine | None = None
    differences: tuple[PosCurve, ...] = ()
    step_count: int = 0
    reading: str = ""

    @property
    def goals(self) -> tuple[float, ...]:
        """The different goals of both runs."""
        lines = (self.first, self.second)
        goals = (line.goal for line in lines if line is not None and line.goal is not None)
        return tuple(dict.fromkeys(goals))
