"""Local repair: a run that redraws regions of an earlier picture and keeps the rest of it."""

from collections.abc import Iterator

from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.frozen import frozen

MOST_REGIONS = 16
SMALLEST_REGION = 0.02
"""Least side of a region, fraction of the image side."""
MOST_FEATHER = 0.5
ROUNDING = 1e-6


@frozen
class Region:
    """A rectangle of a picture, fractions of its sides, [0, 1]; y grows down.

    Attributes:
        x: Left edge.
        y: Top edge.
        width: Right edge minus left edge.
        height: Bottom edge minus top edge.
    """

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """The right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """The bottom edge."""
        return self.y + self.height

    @property
    def is_inside(self) -> bool:
        """Whether it lies in the picture and is not too small; files may hold any number."""
        ends = ((self.x, self.right), (self.y, self.bottom))
        return all(
            first >= 0 and last <= 1 + ROUNDING and last - first >= SMALLEST_REGION - ROUNDING
            for first, last in ends
        )

    def contains(self, x: float, y: float) -> bool:
        """Return whether a point, in fractions of the sides, lies inside."""
        return self.x <= x <= self.right and self.y <= y <= self.bottom


@frozen
class LocalRepair:
    """Which regions of which picture a run redraws.

    The pixels outside the regions stay as they are. Inside, the new picture fades in over the
    feather, so that no edge shows.

    Attributes:
        start: Request id of the run whose picture is repaired.
        sha256: Hash of that picture's pixels.
        regions: What is redrawn, at least one; they may overlap.
        feather: Width of the fade inside the edges of the regions, fraction of the shorter side of
            the picture; edges that lie on the border of the picture do not fade.
    """

    start: str
    sha256: str
    regions: tuple[Region, ...]
    feather: float = 0.05

    def faults(self) -> Iterator[RequestError]:
        """Yield an error for each value out of its range."""
        if not 1 <= len(self.regions) <= MOST_REGIONS:
            yield RequestError(
                f"{len(self.regions)} regions cannot be redrawn.",
                hint=f"Choose 1 to {MOST_REGIONS} regions.",
            )
        for region in self.regions:
            if not region.is_inside:
                yield RequestError(
                    "A region lies outside the picture or is too small.",
                    hint="Give x, y, width and height as fractions of the sides, from 0 to 1; "
                    f"sides are at least {SMALLEST_REGION:g}.",
                )
        if not 0 <= self.feather <= MOST_FEATHER:
            yield RequestError(
                f"The edge of a region cannot fade over {self.feather:g} of the side.",
                hint=f"Choose 0 to {MOST_FEATHER:g}; 0.05 is usual.",
            )
