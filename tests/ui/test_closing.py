"""Closing the window while pictures are drawn: what is not done is offered at the next start."""

from dataclasses import replace

import pytest

from spatialstudio.application.run.queue import EntryState
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFinished,
    NoiseSearch,
)
from spatialstudio.domain.sweep import (
    SweepCell,
    SweepField,
    SweepId,
    SweepPoint,
)
from tests.ui.scripted_engine import PROMPT, ScriptedEngine, picture_of, studio_around


class StoppingEngine(ScriptedEngine):
    """Stops all jobs that are not done when it is closed, as the real one does."""

    def __init__(self):
        super().__init__()
        self.done = set()

    def finish(self, job, candidates=()):
        super().finish(job, candidates)
        self.done.add(job.job_id)

    def close(self):
        super().close()
        for job in self.jobs:
            if job.job_id not in self.done:
                self.report(GenerationCancelled(request_id=job.job_id, at_step=1))


@pytest.fixture
def engine():
    return StoppingEngine()


@pytest.fixture
def drawing(window, studio):
    """The window with a prompt, and requests by their seeds."""
    window.prompt.use_prompt(PROMPT)
    return lambda *seeds: [studio.new_request(seed=seed) for seed in seeds]


@pytest.fixture
def next_start(window, tmp_path):
    """Close the window and return what the next program finds in its queue and library."""
    later = []

    def start():
        window.close()
        later.append(studio_around(ScriptedEngine(), tmp_path))
        later[0].queue.restore(later[0].storage.interrupted())
        return later[0]

    yield start
    for studio in later:
        studio.close()


def seeds(studio):
    assert {entry.state for entry in studio.queue.entries} <= {EntryState.INTERRUPTED}
    return [[request.sampling.seed for request in entry.requests] for entry in studio.queue.entries]


def test_the_running_and_waiting_entries_are_restored(studio, engine, drawing, next_start):
    studio.queue.add(*drawing(1, 2, 3))
    engine.play(engine.jobs[0], steps=2)
    later = next_start()
    assert seeds(later) == [[1], [2], [3]]


def test_what_came_back_can_be_drawn(studio, engine, drawing, next_start):
    asked = drawing(1)
    studio.queue.add(*asked)
    engine.play(engine.jobs[0], steps=2)
    later = next_start()
    later.queue.retry(*(entry.id for entry in later.queue.entries))
    assert [job.request for job in later.engine.jobs] == asked
    assert later.storage.interrupted() == ()


def test_what_was_finished_does_not(studio, engine, drawing, next_start, qtbot):
    studio.queue.add(*drawing(1, 2))
    engine.play(engine.jobs[0])
    qtbot.waitUntil(lambda: len(engine.jobs) == 2)
    later = next_start()
    assert seeds(later) == [[2]]
    later.library.refresh()
    assert len(later.library.list("")) == 1


def test_a_picture_that_was_drawn_and_not_judged_is_in_the_library(
    studio, engine, drawing, next_start
):
    studio.queue.add(*drawing(1))
    job, picture = engine.jobs[0], picture_of(1)
    engine.play(job, steps=job.request.sampling.steps)
    engine.report(
        GenerationFinished(request_id=job.job_id, image=picture, seconds=1.0, peak_memory_bytes=1)
    )
    later = next_start()
    assert seeds(later) == []
    later.library.refresh()
    assert len(later.library.list("")) == 1


def test_a_search_is_restored_with_its_baseline(studio, engine, drawing, next_start):
    (request,) = drawing(7)
    wanted = replace(request, search=NoiseSearch(candidates=4))
    studio.queue.add(wanted, with_baseline=True)
    engine.play(engine.jobs[0], steps=2)
    later = next_start()
    assert seeds(later) == [[7, 7]]
    assert later.queue.entries[0].requests[0] == wanted


def test_a_sweep_is_restored_in_its_order(studio, engine, drawing, next_start):
    cells = [
        SweepCell(sweep_id=SweepId("s"), column=SweepPoint(field=SweepField.SEED, value=seed))
        for seed in (1, 2, 3)
    ]
    asked = [replace(r, sweep=cell) for r, cell in zip(drawing(1, 2, 3), cells, strict=True)]
    studio.queue.add(*asked)
    engine.play(engine.jobs[0], steps=2)
    later = next_start()
    assert [entry.cell for entry in later.queue.entries] == cells


def test_what_the_user_stopped_before_does_not_come_back(studio, drawing, next_start):
    studio.queue.add(*drawing(1, 2))
    studio.queue.cancel()
    assert seeds(next_start()) == [[2]]


def test_a_picture_that_is_restored_twice_is_listed_once(studio, drawing, next_start, tmp_path):
    studio.queue.add(*drawing(1))
    first = next_start()
    first.close()
    second = studio_around(ScriptedEngine(), tmp_path)
    second.queue.restore(second.storage.interrupted())
    assert seeds(second) == [[1]]
    second.close()
