"""The part of a plot's axis that is in view: zoomed, panned, kept within the data."""

from dataclasses import replace

from spatialstudio.domain.frozen import frozen


@frozen
class PlotRange:
    """A stretch of an axis, in the units of the data.

    Attributes:
        low: Where the data begins.
        high: Where it ends; above ``low``.
        least: The shortest stretch that can be zoomed to.
        start: Where the stretch begins.
        span: Its length; 0 for all of the data.
    """

    low: float = 0.0
    high: float = 1.0
    least: float = 0.0
    start: float = 0.0
    span: float = 0.0

    @property
    def is_zoomed(self) -> bool:
        """Whether only a part of the data is in view."""
        return 0 < self.span < self.high - self.low

    @property
    def first(self) -> float:
        """Where the view begins."""
        return self.start if self.is_zoomed else self.low

    @property
    def length(self) -> float:
        """How much of the axis is in view."""
        return self.span if self.is_zoomed else self.high - self.low

    @property
    def last(self) -> float:
        """Where the view ends."""
        return self.first + self.length

    def zoomed(self, factor: float, around: float) -> "PlotRange":
        """Return ``factor`` times as much of the axis; ``around`` stays at its place on screen."""
        whole = self.high - self.low
        span = max(self.length * factor, min(self.least, whole))
        if span >= whole:
            return replace(self, start=0.0, span=0.0)
        share = min(max((around - self.first) / self.length, 0.0), 1.0)
        return self._from(self.first + share * (self.length - span), span)

    def panned(self, by: float) -> "PlotRange":
        """Return the range moved along the axis, as far as there is data."""
        return self._from(self.first + by, self.span) if self.is_zoomed else self

    def showing(self, place: float) -> "PlotRange":
        """Return the range moved just so far that a place is in view."""
        start = min(max(self.first, place - self.length), place)
        return self._from(start, self.span) if self.is_zoomed else self

    def _from(self, start: float, span: float) -> "PlotRange":
        return replace(self, start=min(max(start, self.low), self.high - span), span=span)
