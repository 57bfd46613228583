"""The layout of pictures in justified rows, section by section, as pure geometry."""

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
"""Aspect ratios are clamped to these, so that a panorama does not fill a row alone."""


class Row(NamedTuple):
    """Tiles side by side.

    Attributes:
        start: The first tile.
        stop: One past the last.
        top: Offset from the top of the layout, pixels.
        height: Height of the pictures, pixels.
    """

    start: int
    stop: int
    top: float
    height: float


@frozen
class RowSizes:
    """Target sizes of the rows, all in pixels.

    Attributes:
        width: Width of all rows.
        height: Target height of the pictures; a full row is lower, never higher.
        caption: Height of the caption under each picture.
        gap: Between tiles.
        heading: Height of the heading above each section.
    """

    width: float
    height: float
    caption: float
    gap: float
    heading: float


@frozen
class JustifiedRows:
    """Positions of all tiles, as computed by ``justify``.

    Attributes:
        sizes: Target sizes.
        ratios: Width over height of each picture, as shown.
        rows: From top to bottom.
        headings: Offset of each section's heading.
        height: Total height, pixels.
    """

    sizes: RowSizes
    ratios: Sequence[float] = ()
    rows: tuple[Row, ...] = ()
    headings: tuple[float, ...] = ()
    height: float = 0.0
    _tops: tuple[float, ...] = field(default=(), repr=False)
    _starts: tuple[int, ...] = field(default=(), repr=False)

    def row_of(self, tile: int) -> int:
        """Return the index of a tile's row."""
        return bisect_right(self._starts, tile) - 1

    def rows_between(self, top: float, bottom: float) -> range:
        """Return the indices of the rows in a vertical range."""
        first = max(bisect_right(self._tops, top) - 1, 0)
        return range(first, bisect_right(self._tops, bottom))

    def places(self, row: int) -> list[QRectF]:
        """Return the rectangles of a row's pictures."""
        start, stop, top, height = self.rows[row]
        places, left = [], 0.0
        for ratio in self.ratios[start:stop]:
            width = ratio * height
            places.append(QRectF(round(left), round(top), round(width), round(height)))
            left += width + self.sizes.gap
        return places

    def place(self, tile: int) -> QRectF:
        """Return the rectangle of a tile's picture."""
        row = self.row_of(tile)
        return self.places(row)[tile - self.rows[row].start]

    def tile_at(self, x: float, y: float) -> int | None:
        """Return the tile at a point, including its caption; None between tiles."""
        for row in self.rows_between(y, y):
            for tile, place in enumerate(self.places(row), self.rows[row].start):
                if place.adjusted(0, 0, 0, self.sizes.caption).contains(x, y):
                    return tile
        return None

    def above_or_below(self, tile: int, rows: int) -> int:
        """Return the tile nearest in x, a number of rows below, or above when negative."""
        now = self.row_of(tile)
        target = min(max(now + rows, 0), len(self.rows) - 1)
        if target == now:
            return tile
        middle = self.place(tile).center().x()
        places = self.places(target)
        nearest = min(range(len(places)), key=lambda i: abs(places[i].center().x() - middle))
        return self.rows[target].start + nearest


def justify(ratios: npt.ArrayLike, sections: Sequence[int], sizes: RowSizes) -> JustifiedRows:
    """Lay out tiles in rows.

    Args:
        ratios: (N,) width over height of each picture.
        sections: First tile of each section; the first is 0.
        sizes: Target sizes.
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
    """Fill rows to the target width; the last row keeps the target height.

    Args:
        ends: Right end of each tile in a single row of the target height, including its gap; one
            more entry than tiles.
        start: The first tile.
        stop: One past the last.
        top: Offset of the first row.
        sizes: Target sizes.
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
