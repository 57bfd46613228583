"""The clock of the denoising steps on a screen: which step lies where, and which are in sight."""

from dataclasses import replace

from spatialstudio.domain.frozen import frozen

MOST_TICKS = 9
FEWEST_IN_SIGHT = 3.0


@frozen
class StepAxis:
    """Maps steps to pixels.

    Attributes:
        count: How many steps there are.
        left: Where the first step in sight lies, pixels.
        width: From there to the last in sight, pixels.
        start: The first in sight; may lie between two steps.
        span: From there to the last in sight, steps; 0 for all of them.
    """

    count: int = 0
    left: float = 0.0
    width: float = 1.0
    start: float = 0.0
    span: float = 0.0

    @property
    def last(self) -> int:
        """The last step, but no less than 1: an axis of no length cannot be drawn."""
        return max(self.count - 1, 1)

    @property
    def is_zoomed(self) -> bool:
        """Whether only some of the steps are in sight."""
        return 0 < self.span < self.last

    @property
    def in_sight(self) -> float:
        """How many steps lie between both ends."""
        return self.span if self.is_zoomed else float(self.last)

    @property
    def pixels_a_step(self) -> float:
        """How far one step is from the next."""
        return self.width / self.in_sight

    def x_of(self, step: float) -> float:
        """Return where a step lies."""
        return self.left + (step - self.start) * self.pixels_a_step

    def step_at(self, x: float) -> int:
        """Return the step nearest to a place."""
        step = round(self.start + (x - self.left) / self.pixels_a_step)
        return min(max(step, 0), max(self.count - 1, 0))

    def zoomed(self, factor: float, around: float) -> "StepAxis":
        """Return the axis with ``factor`` times the steps in sight, the place ``around`` kept."""
        span = max(self.in_sight * factor, min(FEWEST_IN_SIGHT, self.last))
        if span >= self.last:
            return replace(self, start=0.0, span=0.0)
        share = min(max((around - self.left) / self.width, 0.0), 1.0)
        kept = self.start + share * self.in_sight
        return replace(self, start=min(max(kept - share * span, 0), self.last - span), span=span)

    def showing(self, step: int) -> "StepAxis":
        """Return the axis moved just so far that a step is in sight."""
        start = min(max(self.start, step - self.in_sight), step)
        return replace(self, start=max(start, 0.0)) if self.is_zoomed else self

    def ticks(self) -> tuple[int, ...]:
        """Return the steps that are named, evenly apart."""
        stride = max(-(-int(self.in_sight + 1) // MOST_TICKS), 1)
        ends = self.start - 1e-6, self.start + self.in_sight + 1e-6
        return tuple(step for step in range(0, self.count, stride) if ends[0] <= step <= ends[1])
