"""A benchmark drawn in the background: complete, stopped, retried, or cut off."""

import os
from queue import SimpleQueue

import pytest

from spatialstudio.application.benchmark import method_race
from spatialstudio.application.benchmark.background_run import (
    EVERY_CAUSE,
    BackgroundRun,
    RunBegan,
    RunEnded,
    RunOrder,
    draw,
)
from spatialstudio.application.benchmark.runner import PAUSE, failures_of


@pytest.fixture
def begun(bench):
    """A benchmark of 24 pictures that has begun."""
    bench.write(seeds="0-1")
    bench.items()
    return bench


def drawn(bench, begin=lambda runner: None, **changes):
    """Draw in this process; return how it ended, and the progress sent."""
    order = RunOrder(folder=bench.home / "out", **changes)
    sent = []
    return draw(bench.studio, order, sent.append, begin), sent


def test_a_complete_run_writes_its_results(begun):
    ended, sent = drawn(begun)
    assert ended.error is None
    assert not ended.is_stopped
    assert sent[-1].progress.done == sent[-1].progress.total
    assert (begun.home / "out" / "results" / "psg" / "rows.jsonl").is_file()


def test_a_smoke_run_draws_two_pictures(begun):
    ended, sent = drawn(begun, only_smoke=True)
    assert ended.error is None
    assert [each.progress.done for each in sent] == [1, 2]


@pytest.mark.parametrize("value", ["pass", "pse"])
def test_a_choice_that_the_pictures_do_not_decide_names_no_best(begun, value):
    ended, _ = drawn(begun, choose=value)
    assert ended.error is None
    assert ended.best == ""


def test_a_choice_with_certainty_ends_early_and_names_the_best(bench, monkeypatch):
    bench.write(seeds="0-9")
    bench.items()
    score_of = {"plain": 0.0, "psg": 1.0}
    monkeypatch.setattr(
        method_race, "score_reader", lambda *_: lambda item: score_of[item.method.name]
    )
    ended, sent = drawn(bench, choose="pass")
    assert ended.best == "psg"
    assert sent[-1].progress.done < sent[-1].progress.total


def test_a_stopped_run_is_no_error_and_goes_on_later(begun):
    ended, sent = drawn(begun, begin=lambda runner: runner.cancel())
    assert ended.is_stopped
    assert sent == []
    assert drawn(begun)[0].error is None
    assert len(begun.drawn()) == len(set(begun.drawn()))


def test_a_start_ends_a_pause(begun):
    begun.items().store.hold(PAUSE)
    ended, _ = drawn(begun, only_smoke=True)
    assert ended.error is None
    assert begun.items().store.held == ""


@pytest.mark.parametrize(
    ("cause", "left"),
    [(None, 1), ("The engine broke.", 1), ("The seed # broke.", 0), (EVERY_CAUSE, 0)],
)
def test_a_group_of_failures_is_retried_by_its_cause(begun, cause, left):
    begun.broken_seeds = (1,)
    begun.items()
    drawn(begun)
    begun.broken_seeds = ()
    items = begun.items()
    assert failures_of(items)
    drawn(begun, retry=cause)
    assert (len(failures_of(items)) > 0) == left


def test_a_folder_without_a_benchmark_is_reported(begun, tmp_path):
    ended = draw(begun.studio, RunOrder(folder=tmp_path / "no"), print, print)
    assert "contains no benchmark" in ended.error.message


def die():
    os._exit(3)


def test_a_killed_process_is_reported_and_another_can_start(tmp_path):
    events = SimpleQueue()
    run = BackgroundRun(die, events.put)
    order = RunOrder(folder=tmp_path)
    run.start(order)
    assert isinstance(events.get(timeout=60), RunBegan)
    ended = events.get(timeout=60)
    assert isinstance(ended, RunEnded)
    assert "stopped unexpectedly" in ended.error.message
    assert run.order is None
    run.close()
