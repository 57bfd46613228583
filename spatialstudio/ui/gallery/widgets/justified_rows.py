"""Pictures of any shape in rows of equal width, section by section; only sums and comparisons."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QRectF

from spatialstudio.domain.frozen import frozen

NARROWEST, WIDEST = 0.4, 2.6
"""Shapes beyond these are shown as these, so that a strip does not fill a row alone."""


class Row(NamedTuple):
    """Tiles side by side.

    Attributes:
        start: The first tile.
        stop: One past the last.
        top: Pixels from the beginning of all.
        height: Of the pictures, pixels.
    """

    start: int
    stop: int
    top: float
    height: float


@frozen
class RowSizes:
    """What the rows are made to, all in pixels.

    Attributes:
        width: Of all rows.
        height: Of the pictures, about; a full row is lower, never higher.
        caption: Under each picture.
        gap: Between tiles.
        heading: Over each section.
    """

    width: float
    height: float
    caption: float
    gap: float
    heading: float


@frozen
class JustifiedRows:
    """Where every tile lies. Made by ``justify``.

    Attributes:
        sizes: What they were made to.
        ratios: Width over height of each picture, as it is shown.
        rows: From top to bottom.
        headings: Where each section's heading begins.
        height: Of all, pixels.
    """

    sizes: RowSizes
    ratios: Sequence[float] = ()
    rows: tuple[Row, ...] = ()
    headings: tuple[float, ...] = ()
    height: float = 0.0
    _tops: tuple[float, ...] = field(default=(), repr=False)
    _starts: tuple[int, ...] = field(default=(), repr=False)

    def row_of(self, tile: int) -> int:
        """Return the number of the row that a tile stands in."""
        return bisect_right(self._starts, tile) - 1

    def rows_between(self, top: float, bottom: float) -> range:
        """Return the numbers of the rows that a stretch touches."""
        first = max(bisect_right(self._tops, top) - 1, 0)
        return range(first, bisect_right(self._tops, bottom))

    def places(self, row: int) -> list[QRectF]:
        """Return where the pictures of a row lie."""
        start, stop, top, height = self.rows[row]
        places, left = [], 0.0
        for ratio in self.ratios[start:stop]:
            width = ratio * height
            places.append(QRectF(round(left), round(top), round(width), round(height)))
            left += width + self.sizes.gap
        return places

    def place(self, tile: int) -> QRectF:
        """Return where the picture of a tile lies."""
        row = self.row_of(tile)
        return self.places(row)[tile - self.rows[row].start]

    def tile_at(self, x: float, y: float) -> int | None:
        """Return the tile at a point, its caption included; None between tiles."""
        for row in self.rows_between(y, y):
            for tile, place in enumerate(self.places(row), self.rows[row].start):
                if place.adjusted(0, 0, 0, self.sizes.caption).contains(x, y):
                    return tile
        return None

    def above_or_below(self, tile: int, rows: int) -> int:
        """Return the tile some rows on, or back when negative, that stands nearest in x."""
        now = self.row_of(tile)
        target = min(max(now + rows, 0), len(self.rows) - 1)
        if target == now:
            return tile
        middle = self.place(tile).center().x()
        places = self.places(target)
        nearest = min(range(len(places)), key=lambda i: abs(places[i].center().x() - middle))
        return self.rows[target].start + nearest


def justify(ratios: npt.ArrayLike, sections: Sequence[int], sizes: RowSizes) -> JustifiedRows:
    """Lay tiles out.

    Args:
        ratios: (N,) width over height of each picture.
        sections: The first tile of each; the first is 0.
        sizes: What the rows are made to.
    """
    shown = np.clip(np.asarray(ratios, float), NARROWEST, WIDEST)
    ends = tuple(accumulate((shown * sizes.height + sizes.gap).tolist(), initial=0.0))
    rows: list[Row] = []
    headings: list[float] = []
    top = 0.0
    for start, stop in pairwise((*sections, len(shown))):
        headings.append(top)
        top += sizes.heading
        for row in _rows(ends, start, stop, top, sizes):
            rows.append(row)
            top = row.top + row.height + sizes.caption + sizes.gap
    return JustifiedRows(
        sizes=sizes,
        ratios=shown.tolist(),
        rows=tuple(rows),
        headings=tuple(headings),
        height=top,
        _tops=tuple(row.top for row in rows),
        _starts=tuple(row.start for row in rows),
    )


def _rows(
    ends: Sequence[float], start: int, stop: int, top: float, sizes: RowSizes
) -> Iterator[Row]:
    """Fill rows until each is as wide as it shall be; the last keeps the usual height.

    Args:
        ends: Where each tile would end in a single row of the usual height, its gap included;
            one more than there are tiles.
        start: The first tile.
        stop: One past the last.
        top: Of the first row.
        sizes: What the rows are made to.
    """
    first = start
    while first < stop:
        full = ends[first] + sizes.width + sizes.gap
        last = bisect_left(ends, full, first + 1, stop + 1)
        if last > stop:
            yield Row(first, stop, top, sizes.height)
            return
        gaps = sizes.gap * (last - first)
        pictures = ends[last] - ends[first] - gaps
        height = sizes.height * (sizes.width + sizes.gap - gaps) / pictures
        yield Row(first, last, top, max(height, 1.0))
        top += max(height, 1.0) + sizes.caption + sizes.gap
        first = last
