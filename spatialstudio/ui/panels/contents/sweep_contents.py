"""Turns the runs of a sweep into its grid."""

from collections.abc import Iterable, Mapping

from spatialstudio.domain.library import EntryId, LibraryEntry
from spatialstudio.domain.sweep import SweepCell, SweepField, SweepPoint, sides_of
from spatialstudio.ui.texts import tr
from spatialstudio.ui.widgets.gallery.sweep_grid import SweepTable


def table_of(runs: Mapping[EntryId, LibraryEntry], awaited: Iterable[SweepCell] = ()) -> SweepTable:
    """Return the grid of a sweep.

    Args:
        runs: Those that are kept, the newest first; of two in one cell the newer is shown.
        awaited: Cells that have no picture yet.
    """
    cells = {key: run.summary.sweep for key, run in runs.items() if run.summary.sweep is not None}
    known = (*cells.values(), *awaited)
    if not known:
        return SweepTable()
    sides = sides_of(known)
    keys: list[list[int | None]] = [[None] * len(sides.columns) for _ in sides.rows]
    for key, cell in reversed(cells.items()):
        row, column = sides.place(cell)
        keys[row][column] = key
    first = sides.rows[0]
    sizes = [(run.summary.width, run.summary.height) for run in runs.values()]
    return SweepTable(
        column_title=tr(sides.columns[0].field.title),
        columns=tuple(point.label for point in sides.columns),
        row_title=tr(first.field.title) if first else "",
        rows=tuple(point.label if point else "" for point in sides.rows),
        keys=tuple(tuple(row) for row in keys),
        ratio=max((width / height for width, height in sizes if width and height), default=1.0),
    )


def cell_in_words(cell: SweepCell) -> str:
    """Return where a picture stands: "Step size 5, Seed 3"."""
    points = [point for point in (cell.column, cell.row) if point is not None]
    return ", ".join(map(point_in_words, points))


def point_in_words(point: SweepPoint) -> str:
    """Return one value with its name: "Step size 5"; a seed as everywhere, "seed 3"."""
    if point.field is SweepField.SEED:
        return tr("seed {seed}").format(seed=point.label)
    return f"{tr(point.field.title)} {point.label}"
