"""Words of the benchmark workspace: cells, counts, durations and filter terms."""

from collections.abc import Iterator

import numpy as np

from spatialstudio.application.benchmark.filter_cells import FIELDS, FLAGS
from spatialstudio.domain.benchmark_cells import CellState, CellTable
from spatialstudio.domain.library import Field
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.benchmark.widgets.state_marks import state_words
from spatialstudio.ui.gallery.gallery_presenter import quoted
from spatialstudio.ui.widgets.texts import tr

MOST_WORDS = 200
"""Methods, tags and reasons that the filter line completes."""


def cell_in_words(table: CellTable, cell: int) -> str:
    """Return what a cell shows, a line each: prompt, method and seed, state and numbers."""
    method, prompt, seed = table.grid.place(cell)
    grid = table.grid
    place = tr("{method}, seed {seed}").format(method=grid.methods[method], seed=grid.seeds[seed])
    lines = [grid.prompts[prompt].text, place, state_words()[table.state_of(cell)]]
    if reasons := table.reasons_of(cell):
        lines[-1] += f": {', '.join(reasons)}"
    if cause := table.causes.get(cell):
        lines.append(cause)
    numbers = (("PSE", table.pse[cell]), (tr("confidence"), table.confidence[cell]))
    measured = [f"{name} {np.nanmin(own):.2f}" for name, own in numbers if np.isfinite(own).any()]
    return "\n".join([*lines, *([", ".join(measured)] if measured else [])])


def progress_in_words(table: CellTable) -> str:
    """Return how many pictures are done, failed and left: "120 of 3,200 judged, 2 failed"."""
    judged = int(table.is_judged.sum())
    parts = [tr("{done} of {all} judged").format(done=f"{judged:,}", all=f"{len(table.grid):,}")]
    for state in (CellState.DRAWN, CellState.FAILED, CellState.UNUSABLE):
        if count := table.count(state):
            parts.append(f"{count:,} {state_words()[state]}")
    return ", ".join(parts)


def matches_in_words(matches: int, table: CellTable) -> str:
    """Return how many cells a filter finds."""
    if matches == len(table.grid):
        return tr("{count} cells").format(count=f"{matches:,}")
    return tr("{count} of {all} cells").format(count=f"{matches:,}", all=f"{len(table.grid):,}")


def filter_terms(table: CellTable) -> list[str]:
    """Return the completions of the filter line."""
    return [*_terms(table)][:MOST_WORDS]


def _terms(table: CellTable) -> Iterator[str]:
    yield from (f"verdict:{each.value.lower()}" for each in Outcome)
    yield from (f"is:{flag.value}" for flag in FLAGS)
    yield from (f"method:{quoted(each)}" for each in table.grid.methods)
    kinds = dict.fromkeys(kind.id for each in table.grid.relations for kind, _, _ in each)
    yield from (f"relation:{kind}" for kind in kinds)
    yield from map(quoted, table.reasons)
    yield from (
        f"tag:{each}" for each in dict.fromkeys(t for p in table.grid.prompts for t in p.tags)
    )
    yield from (f"{each.value}:" for each in FIELDS if each is not Field.IS)
