"""Tables of benchmark cells, made by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from spatialstudio.domain.benchmark_cells import JUDGED, CellGrid, CellState, CellTable
from spatialstudio.domain.benchmark_plan import BenchmarkPrompt
from spatialstudio.domain.scene import ABOVE, LEFT_OF

PASS, FAIL, UNDECIDABLE = JUDGED


def grid(prompts=2, methods=("plain", "psg"), seeds=(0, 1)):
    """Return the axes of prompts "a cat to the left of a dog 0", "a cup above a bed 1", ..."""
    kinds = [("cat", "dog", LEFT_OF), ("cup", "bed", ABOVE)]
    relations = [kinds[number % 2] for number in range(prompts)]
    return CellGrid(
        prompts=tuple(
            BenchmarkPrompt(
                id=f"p{number}",
                text=f"a {one} {kind.id.replace('_', ' ')} a {other} {number}",
                set_id="list",
                tags=("easy",) if number % 2 == 0 else (),
            )
            for number, (one, other, kind) in enumerate(relations)
        ),
        methods=tuple(methods),
        models=("",) * len(methods),
        guidance=("none", *("psg",) * (len(methods) - 1)),
        seeds=tuple(seeds),
        relations=tuple(((kind, one, other),) for one, other, kind in relations),
    )


def judged(axes, states, folder=Path("/bench")):
    """Return a table of cells with one relation each, in states; a drawn cell has a picture."""
    table = CellTable.empty(axes)
    state = np.array(states, np.uint8)
    is_judged = np.isin(state, JUDGED)
    is_drawn = is_judged | (state == CellState.DRAWN)
    reason = np.where(state == UNDECIDABLE, 0, -1).astype(np.int16)
    failed = np.flatnonzero(state == CellState.FAILED)
    return replace(
        table,
        state=state,
        outcome=np.where(is_judged, state, 0).astype(np.uint8)[:, None],
        reason=reason[:, None],
        reasons=("near_boundary",),
        confidence=np.where(is_judged, 0.9, np.nan).astype(np.float32)[:, None],
        pse=np.where(is_judged, 1 - state / 10, np.nan).astype(np.float32)[:, None],
        seconds=np.where(is_drawn, 2.0, np.nan).astype(np.float32),
        passes=np.where(is_drawn, 40.0, np.nan).astype(np.float32),
        device=np.where(is_drawn, 0, -1).astype(np.int16),
        devices=("cpu",),
        pictures={int(cell): folder / f"{cell}.png" for cell in np.flatnonzero(is_drawn)},
        causes={int(cell): "The engine ran out of memory." for cell in failed},
    )
