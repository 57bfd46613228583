"""Found runs become tiles: stacks of one prompt, never over two days."""

from datetime import date

import numpy as np
import pytest

from spatialstudio.application.gallery.gallery import arrange_runs
from spatialstudio.domain.library import (
    Cell,
    Day,
    Listing,
)

TODAY, YESTERDAY = date(2026, 11, 20), date(2026, 11, 19)
LISTING = Listing(
    ids=np.array([5, 4, 3, 2, 1]),
    days=np.array([day.toordinal() for day in (TODAY, TODAY, TODAY, YESTERDAY, YESTERDAY)]),
    batches=np.array([7, 7, 8, 8, 8]),
    is_guided=np.array([False, True, True, True, True]),
    ratios=np.array([1.0, 1.0, 1.5, 1.0, 1.0]),
)


def test_runs_of_one_prompt_are_a_stack_with_the_guided_run_on_top():
    cells, _ = arrange_runs(LISTING)
    assert tuple(cells) == (Cell(4, (5, 4)), Cell(3, (3,)), Cell(2, (2, 1)))
    assert cells.ratios.tolist() == [1.0, 1.5, 1.0]


def test_without_a_guided_run_the_newest_is_on_top():
    unguided = Listing(
        ids=np.array([2, 1]),
        days=np.array([9, 9]),
        batches=np.array([7, 7]),
        is_guided=np.array([False, False]),
        ratios=np.ones(2),
    )
    cells, _ = arrange_runs(unguided)
    assert tuple(cells) == (Cell(2, (2, 1)),)


def test_a_stack_never_holds_runs_of_two_days():
    _, days = arrange_runs(LISTING)
    assert days == (Day(TODAY, 0, 3), Day(YESTERDAY, 2, 2))


def test_an_open_stack_has_a_tile_for_each_run():
    cells, days = arrange_runs(LISTING, opened={4})
    assert tuple(cells)[:2] == (Cell(5, (5, 4), True), Cell(4, (5, 4), True))
    assert [day.start for day in days] == [0, 3]


def test_a_single_run_is_no_open_stack():
    cells, _ = arrange_runs(LISTING, opened={3})
    assert not any(cell.is_open for cell in cells)


def test_without_stacks_every_run_has_a_tile():
    cells, _ = arrange_runs(LISTING, is_stacked=False)
    assert [cell.members for cell in cells] == [(5,), (4,), (3,), (2,), (1,)]


@pytest.mark.parametrize("is_stacked", [True, False])
def test_no_runs_give_an_empty_grid(is_stacked):
    cells, days = arrange_runs(Listing(), is_stacked=is_stacked)
    assert (len(cells), days) == (0, ())


def test_a_cell_is_found_by_its_run():
    cells, _ = arrange_runs(LISTING)
    assert cells.of(4) == Cell(4, (5, 4))
    assert cells.of(5) is None
