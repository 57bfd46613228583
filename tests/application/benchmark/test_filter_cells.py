"""The filter language of the library finds cells of a benchmark."""

import pytest

from spatialstudio.application.benchmark.filter_cells import filter_cells
from spatialstudio.domain.benchmark_cells import CellState
from spatialstudio.domain.errors import SettingsError
from tests.benchmark_cells import FAIL, PASS, UNDECIDABLE, grid, judged

WAITING, FAILED = CellState.WAITING, CellState.FAILED
TABLE = judged(grid(), [PASS, FAIL, UNDECIDABLE, WAITING, PASS, PASS, FAILED, FAIL])
"""Cells 0 to 3 by "plain", 4 to 7 by "psg": two seeds of a cat and a dog, of a cup and a bed."""


@pytest.mark.parametrize(
    ("line", "cells"),
    [
        ("", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("verdict:pass", [0, 4, 5]),
        ("-verdict:pass", [1, 2, 3, 6, 7]),
        ("verdict:pass,fail seed:1", [1, 5, 7]),
        ("relation:above", [2, 3, 6, 7]),
        ("subject:cat verdict:fail", [1]),
        ("object:bed is:judged", [2, 7]),
        ("method:psg", [4, 5, 6, 7]),
        ("-is:guided seed>0", [1, 3]),
        ("is:missing", [3, 6]),
        ("tag:easy method:plain", [0, 1]),
        ("pse>=0.75", [0, 4, 5]),
        ("cup memory", [6]),
        ("near_boundary", [2]),
        ('"left of a dog"', [0, 1, 4, 5]),
        ("giraffe", []),
    ],
)
def test_a_line_finds_its_cells(line, cells):
    assert filter_cells(TABLE, line).tolist() == cells


@pytest.mark.parametrize("line", ["stars>2", "is:trashed", "colour:red", "pse:high", '"open'])
def test_a_line_that_does_not_apply_is_refused(line):
    with pytest.raises(SettingsError):
        filter_cells(TABLE, line)
