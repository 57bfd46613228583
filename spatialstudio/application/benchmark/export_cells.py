"""Writes the cells of a benchmark that match a filter to a table."""

from collections.abc import Callable, Iterator
from contextlib import closing
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spatialstudio.application.benchmark.filter_cells import filter_cells
from spatialstudio.application.benchmark.open_items import FILES_ID
from spatialstudio.application.benchmark.report_files import latex_table
from spatialstudio.domain.benchmark_cells import CellTable
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.foreign_text import latex_text, table_text
from spatialstudio.domain.library import Whole

if TYPE_CHECKING:
    from spatialstudio.application.studio import Studio

HEADER = (
    *("prompt_id", "prompt", "method", "seed", "state", "reason", "confidence", "pse"),
    *("seconds", "passes", "device", "picture"),
)
PRINTED = {
    "prompt": "Prompt",
    "method": "Method",
    "seed": "Seed",
    "state": "Verdict",
    "reason": "Reason",
    "confidence": "Confidence",
    "pse": "PSE",
}
"""Titles of the columns of the LaTeX table."""
DIGITS = 4
Line = tuple[object, ...]


def cell_lines(table: CellTable, cells: Whole) -> Iterator[Line]:
    """Yield cells as lines of ``HEADER``; None where nothing was measured.

    Confidence and PSE are the smallest of a cell's relations, as in the window.
    """
    grid = table.grid
    numbers = (
        *(np.fmin.reduce(each[cells], axis=1) for each in (table.confidence, table.pse)),
        *(table.seconds[cells], table.passes[cells]),
    )
    for place, cell in enumerate(cells.tolist()):
        method, prompt, seed = grid.place(cell)
        device, picture = int(table.device[cell]), table.pictures.get(cell)
        yield (
            grid.prompts[prompt].id,
            grid.prompts[prompt].text,
            grid.methods[method],
            grid.seeds[seed],
            table.state_of(cell).name,
            table.causes.get(cell) or ", ".join(table.reasons_of(cell)) or None,
            *(_known(float(each[place])) for each in numbers),
            table.devices[device] if device >= 0 else None,
            picture and str(picture),
        )


def _printed(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.2f}"
    return "--" if value is None else latex_text(str(value))


def _known(value: float) -> float | None:
    return None if isnan(value) else round(value, DIGITS)


def export_cells(
    open_studio: Callable[[], "Studio"], table: CellTable, line: str, target: Path
) -> Path:
    """Write the cells that match a filter line as CSV, or as a LaTeX table; return the file.

    Raises:
        SettingsError: The filter line is invalid, or the suffix of the file is unknown.
        StoreError: The file cannot be written.
    """
    lines = [*cell_lines(table, filter_cells(table, line))]
    match target.suffix.lower():
        case ".csv":
            text = table_text([HEADER, *lines], line_end="\n")
        case ".tex":
            places = [HEADER.index(each) for each in PRINTED]
            rows = ([_printed(each[place]) for place in places] for each in lines)
            text = latex_table("lllllrr", [*PRINTED.values()], rows)
        case _:
            raise SettingsError(
                f'Cells cannot be written as "{target.name}".', hint="Choose .csv or .tex."
            )
    with closing(open_studio()) as studio:
        studio.registry.benchmark_files(FILES_ID).write(target, text.encode())
    return target
