"""Cells of a benchmark follow the files of its folder."""

import json
from pathlib import Path
from queue import SimpleQueue

import numpy as np
import pytest

from spatialstudio.application.benchmark.follow_results import ResultFollower
from spatialstudio.application.benchmark.monitor import (
    BenchmarkChanged,
    BenchmarkMonitor,
    BenchmarkRefused,
)
from spatialstudio.domain.benchmark_cells import CellState, CellTable
from spatialstudio.domain.verdict import Outcome
from tests.application.benchmark.conftest import PLAN, Bench

CUT = '\n[[judges]]\nname = "cut"\ncut = 0.5\n'


def follow(items) -> ResultFollower:
    return ResultFollower(items, items.opened.plan.judges[0])


def last(follower) -> CellTable:
    for _ in follower.read(lambda: None):
        pass
    return follower.table


def file_of(items, cell, kind) -> Path:
    key = items.opened.items[cell].key
    return next((items.store.folder / kind).glob(f"{key}*.json"))


@pytest.fixture
def drawn(bench):
    """The items of a finished benchmark."""
    bench.write(seeds="0-1")
    items = bench.items()
    bench.runner(items).run()
    return items


def test_cells_of_a_new_benchmark_wait(bench):
    table = last(follow(bench.items()))
    assert len(table.grid) == 6 * 2 * 3
    assert table.count(CellState.WAITING) == len(table.grid)


def test_cells_have_the_outcomes_on_disk(drawn):
    table = last(follow(drawn))
    for cell, item in enumerate(drawn.opened.items):
        judged = json.loads(file_of(drawn, cell, "judged").read_text())
        outcome = judged["row"]["outcome"]
        assert table.state_of(cell).outcome == (Outcome(outcome) if outcome else None)
        assert table.grid.prompts[table.grid.place(cell)[1]].id == item.prompt.id
        assert table.pictures[cell].is_file()
    assert np.isfinite(table.seconds).all()


def test_results_that_arrive_later_are_read_into_all_cells_of_a_picture(bench):
    items = bench.items()
    follower = follow(items)
    assert last(follower).count(CellState.WAITING) == 36
    bench.runner(items).run(only_smoke=True)
    both_methods = [item.key for item in items.opened.items].count(items.opened.items[-3].key)
    assert last(follower).count(CellState.WAITING) == 36 - 1 - both_methods


def test_nothing_is_read_twice(drawn):
    follower = follow(drawn)
    last(follower)
    assert list(follower.read(lambda: None)) == []


def test_a_failure_has_its_cause_until_it_is_retried(bench):
    bench.write(seeds="0-1")
    bench.broken_seeds = (1,)
    items = bench.items()
    bench.runner(items).run()
    follower = follow(items)
    table = last(follower)
    assert table.count(CellState.FAILED) == len(table.grid) // 2
    assert table.causes[1] == "The seed 1 broke."
    bench.broken_seeds = ()
    bench.runner(items).run(retry=[item.key for item in items.opened.items])
    assert last(follower).count(CellState.FAILED) == 0
    assert not last(follower).causes


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{", b'{"row": {}}', b'{"row": {"outcome": "MAYBE", "verdicts": []}}'],
)
def test_a_damaged_verdict_leaves_its_cell_waiting(drawn, content):
    file_of(drawn, 0, "judged").write_bytes(content)
    table = last(follow(drawn))
    assert not table.is_judged[0]
    assert table.count(CellState.WAITING) <= 1


def test_a_picture_outside_the_folder_is_not_offered(drawn, tmp_path):
    path = file_of(drawn, 0, "items")
    record = json.loads(path.read_text())
    path.write_text(json.dumps({**record, "picture": "../secret.png"}))
    assert 0 not in last(follow(drawn)).pictures


def test_pictures_left_for_another_judge_set_are_counted(drawn, bench):
    bench.write(seeds="0-1", plan=PLAN + '\n[[judges]]\nname = "default"\n' + CUT)
    items = bench.items(overwrite=True)
    follower = follow(items)
    assert last(follower).is_judged.any()
    assert not last(follower).is_left.any()
    assert follower.unjudged == len(items.opened.drawable)

    bench.runner(items).run()
    last(follower)
    assert follower.unjudged == 0


def test_a_picture_without_relations_is_left_until_its_questions_are_answered(drawn):
    follower = follow(drawn)
    cell = int(np.flatnonzero(~last(follower).is_judged)[0])
    assert follower.unjudged == 0
    file_of(drawn, cell, "judged").unlink()

    follower = follow(drawn)
    assert not last(follower).is_left.any()
    assert follower.unjudged == 1


class Watched:
    """A monitor of benchmarks, and what it publishes."""

    def __init__(self, bench: Bench) -> None:
        bench.items()
        self.events: SimpleQueue[object] = SimpleQueue()
        self.monitor = BenchmarkMonitor(lambda: bench.studio, self.events.put)

    def open(self, folder) -> object:
        """Open a folder, and return the first event."""
        self.monitor.open(folder)
        event = self.events.get(timeout=60)
        self.monitor.close()
        return event


def test_a_folder_is_opened_in_the_background(bench):
    event = Watched(bench).open(bench.home / "out")
    assert isinstance(event, BenchmarkChanged)
    assert event.view.plan.name == "Fakes"


def test_a_folder_without_a_benchmark_is_refused(bench, tmp_path):
    event = Watched(bench).open(tmp_path / "nothing")
    assert isinstance(event, BenchmarkRefused)
    assert "contains no benchmark" in event.error.message
