"""Requests are generated one after the other, and none is lost."""

from dataclasses import replace

import pytest

from spatialstudio.application.jobs.messages import EngineStopped
from spatialstudio.application.run.queue import EntryState, Place, QueueChanged, entries_of
from spatialstudio.domain.derived_requests import unguided
from spatialstudio.domain.devices import MemoryFix, Saving
from spatialstudio.domain.errors import ErrorReport, RequestError
from spatialstudio.domain.generation import (
    UNGUIDED,
    CandidateScore,
    GenerationCancelled,
    GenerationFailed,
    GenerationFinished,
    GuidanceSettings,
    NoiseSearch,
    RequestId,
)
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.sweep import (
    SweepCell,
    SweepField,
    SweepId,
    SweepPoint,
)
from spatialstudio.domain.verdict import Outcome
from tests.ui.scripted_engine import ScriptedEngine, picture_of

TROUBLE = ErrorReport(title="Drawing", message="It failed.")


@pytest.fixture
def queue(studio):
    return studio.queue


@pytest.fixture
def asked(studio):
    """Make requests with the given seeds."""
    return lambda *seeds: [studio.new_request(seed=seed) for seed in seeds]


@pytest.fixture
def searching(queue, asked):
    """The queue, with a search from seed 1 that is begun and its baseline, and seed 9 waiting."""
    request, next_one = asked(1, 9)
    queue.add(replace(request, search=NoiseSearch(candidates=4)), with_baseline=True)
    queue.add(next_one)
    return queue


def best_seed(seed):
    score = CandidateScore(seed=seed, pse=1.0, lead=1.0, found=2, sureness=1.0, second=1.0)
    return (score,)


def seeds(engine):
    return [job.request.sampling.seed for job in engine.jobs]


def waiting_seeds(queue):
    return [entry.seed for entry in queue.waiting]


def states(queue):
    return [entry.state for entry in queue.entries]


def test_the_engine_gets_one_entry_at_a_time(queue, asked, engine):
    queue.add(*asked(1, 2))
    assert seeds(engine) == [1]
    engine.play(engine.jobs[0])
    assert seeds(engine) == [1, 2]
    assert states(queue) == [EntryState.DONE, EntryState.RUNNING]


def test_a_baseline_follows_its_picture(queue, asked, engine):
    queue.add(*asked(1, 2), with_baseline=True)
    first, baseline = engine.jobs
    assert baseline.request == unguided(first.request, baseline.job_id)
    engine.play(first)
    assert len(engine.jobs) == 2
    engine.play(baseline)
    assert len(engine.jobs) == 4


@pytest.mark.parametrize(
    "changes",
    [{"guidance": GuidanceSettings()}, {"savings": (Saving.SEARCH,)}],
    ids=["not guided", "search instead"],
)
def test_an_unguided_run_has_no_baseline(queue, asked, engine, changes):
    (request,) = asked(1)
    queue.add(with_values(request, **changes), with_baseline=True)
    assert [job.request for job in engine.jobs] == [with_values(request, **changes)]


def test_the_baseline_of_a_search_is_drawn_from_the_seed_of_its_picture(studio, searching, engine):
    (search,) = engine.jobs
    engine.play(search, steps=1)
    engine.finish(search, candidates=best_seed(3))
    baseline = engine.jobs[1].request
    assert (baseline.sampling.seed, baseline.sampling.guidance.method_id) == (3, UNGUIDED)
    assert searching.running.baseline.request == studio.session.baseline.request == baseline
    engine.play(engine.jobs[1])
    assert [
        studio.open_run(run.path).request.sampling.seed for run in searching.entries[0].runs
    ] == [3, 3]
    assert seeds(engine) == [1, 3, 9]


def test_the_baseline_of_a_cancelled_search_is_not_drawn(studio, searching, engine):
    (search,) = engine.jobs
    baseline = searching.running.baseline
    searching.cancel()
    engine.report(GenerationCancelled(request_id=search.job_id, at_step=0))
    assert engine.cancelled == [search.job_id]
    assert states(searching) == [EntryState.CANCELLED, EntryState.RUNNING]
    assert seeds(engine) == [1, 9]
    assert baseline.id not in {each.id for each in studio.storage.interrupted()}


def test_a_failed_search_is_retried_with_its_baseline(searching, engine):
    (search,) = engine.jobs
    engine.report(EngineStopped(error=TROUBLE, lost=search.job_id))
    assert states(searching) == [EntryState.FAILED, EntryState.RUNNING]
    searching.retry(search.job_id)
    engine.play(engine.jobs[1])
    engine.play(engine.jobs[2], steps=1)
    engine.finish(engine.jobs[2], candidates=best_seed(3))
    assert seeds(engine) == [1, 9, 1, 3]


@pytest.mark.parametrize(
    ("place", "expected"),
    [(Place.LAST, [2, 3, 9]), (Place.FIRST, [9, 2, 3]), (Place.INSTEAD, [9])],
    ids=lambda value: value.name.lower() if isinstance(value, Place) else "",
)
def test_a_new_run_is_added_where_requested(queue, asked, place, expected):
    queue.add(*asked(1, 2, 3))
    queue.add(*asked(9), place=place)
    assert waiting_seeds(queue) == expected


def test_an_invalid_request_leaves_the_queue_unchanged(queue, asked):
    queue.add(*asked(1, 2))
    with pytest.raises(RequestError):
        queue.add(*asked(-1), place=Place.INSTEAD)
    assert waiting_seeds(queue) == [2]


def test_cancelling_continues_with_the_waiting_runs(queue, asked, engine):
    queue.add(*asked(1, 2))
    queue.cancel()
    assert engine.cancelled == [engine.jobs[0].job_id]
    engine.report(GenerationCancelled(request_id=engine.jobs[0].job_id, at_step=0))
    assert states(queue) == [EntryState.CANCELLED, EntryState.RUNNING]


def test_a_paused_queue_finishes_the_current_run_and_waits(queue, asked, engine):
    queue.add(*asked(1, 2))
    queue.hold(True)
    engine.play(engine.jobs[0])
    assert states(queue) == [EntryState.DONE, EntryState.WAITING]
    queue.hold(False)
    assert seeds(engine) == [1, 2]


def test_generating_resumes_a_paused_queue(queue, asked, engine):
    queue.hold(True)
    queue.add(*asked(1))
    assert not queue.is_held
    assert seeds(engine) == [1]


def test_waiting_runs_can_be_reordered(queue, asked, engine):
    queue.add(*asked(1, 2, 3))
    two, three = queue.waiting
    queue.rearrange([three, two], [two, three])
    engine.play(engine.jobs[0])
    assert seeds(engine) == [1, 3]


def test_removed_runs_can_be_restored(queue, asked):
    queue.add(*asked(1, 2, 3))
    before = queue.waiting
    queue.rearrange(before[:1], before)
    assert waiting_seeds(queue) == [2]
    queue.rearrange(before, before)
    assert waiting_seeds(queue) == [2, 3]


def test_runs_that_started_meanwhile_are_not_restored(queue, asked, engine):
    queue.add(*asked(1, 2, 3))
    before = queue.waiting
    engine.play(engine.jobs[0])
    queue.rearrange(before[::-1], before)
    assert waiting_seeds(queue) == [3]
    assert queue.running.seed == 2


def test_runs_added_meanwhile_are_kept(queue, asked):
    queue.add(*asked(1, 2))
    before = queue.waiting
    queue.add(*asked(5))
    queue.rearrange([], before)
    assert waiting_seeds(queue) == [5]


def test_a_failure_does_not_stop_the_queue_and_can_be_retried(queue, asked, engine):
    queue.add(*asked(1, 2))
    engine.report(GenerationFailed(request_id=engine.jobs[0].job_id, error=TROUBLE))
    assert states(queue) == [EntryState.FAILED, EntryState.RUNNING]
    queue.retry(queue.entries[0].id)
    assert waiting_seeds(queue) == [1]


def test_only_runs_without_a_picture_are_drawn_again(queue, asked, engine):
    queue.add(*asked(1), with_baseline=True)
    guided, baseline = engine.jobs
    engine.play(guided)
    engine.report(GenerationFailed(request_id=baseline.job_id, error=TROUBLE))
    queue.retry(guided.job_id)
    assert engine.jobs[-1].request == baseline.request


def test_a_picture_whose_judging_crashed_is_drawn_again(queue, asked, engine):
    queue.add(*asked(1))
    (job,) = engine.jobs
    engine.play(job, steps=1)
    picture = GenerationFinished(
        request_id=job.job_id, image=picture_of(1), seconds=1.0, peak_memory_bytes=1
    )
    engine.report(picture, EngineStopped(error=TROUBLE, lost=job.job_id))
    assert states(queue) == [EntryState.FAILED]
    queue.retry(job.job_id)
    assert seeds(engine) == [1, 1]


def test_the_memory_savings_of_a_search_apply_to_its_baseline(searching, engine):
    (search,) = engine.jobs
    engine.report(GenerationFailed(request_id=search.job_id, error=TROUBLE))
    engine.play(engine.jobs[1])
    searching.retry(search.job_id, fix=MemoryFix(savings=(Saving.SEARCH, Saving.TILING)))
    entry = searching.running
    assert entry.baseline.request == unguided(entry.run.request, entry.baseline.id)
    assert entry.baseline.request.sampling.savings == (Saving.TILING,)


def test_a_crashed_engine_loses_only_the_current_run(queue, asked, engine):
    queue.add(*asked(1, 2))
    engine.report(EngineStopped(error=TROUBLE, lost=engine.jobs[0].job_id))
    assert states(queue) == [EntryState.FAILED, EntryState.RUNNING]
    engine.play(engine.jobs[1])
    assert queue.entries[1].run.path is not None


def test_a_run_drawn_after_a_crash_while_paused_is_stored(queue, asked, engine):
    queue.add(*asked(1, 2))
    queue.hold(True)
    engine.play(engine.jobs[0])
    engine.report(EngineStopped(error=TROUBLE))
    queue.hold(False)
    engine.play(engine.jobs[1])
    assert queue.entries[1].run.path is not None


def test_a_stored_run_takes_little_memory_and_keeps_its_verdict(queue, asked, engine):
    queue.add(*asked(1))
    engine.play(engine.jobs[0])
    (entry,) = queue.entries
    assert entry.run.steps == ()
    assert entry.outcome is Outcome.PASS


def test_the_next_run_is_opened_if_the_last_was_open(studio, queue, asked, engine):
    queue.add(*asked(1, 2))
    engine.play(engine.jobs[0])
    assert studio.session.run.id == engine.jobs[1].job_id


def test_another_open_run_stays_open(studio, queue, asked, engine):
    queue.add(*asked(1, 2, 3))
    engine.play(engine.jobs[0])
    first = queue.entries[0]
    studio.open_run(first.run.path)
    engine.play(engine.jobs[1])
    assert studio.session.run.id == first.id
    assert len(engine.jobs) == 3


def test_every_change_is_published(studio, queue, asked, engine):
    told = []
    studio.bus.subscribe(told.append)
    queue.add(*asked(1))
    engine.play(engine.jobs[0])
    changes = [event for event in told if isinstance(event, QueueChanged)]
    assert changes[-1].entries == queue.entries


def test_interrupted_runs_are_listed_and_drawn_again(opened, queue, asked, engine):
    queue.add(*asked(1, 2), with_baseline=True)
    later_engine = ScriptedEngine()
    queue._starter._storage.close()  # as a killed program lets go of its journal
    later = opened(later_engine)
    later.queue.restore(later.storage.interrupted())
    assert [entry.seed for entry in later.queue.entries] == [1, 2]
    assert states(later.queue) == [EntryState.INTERRUPTED] * 2
    later.queue.retry(*(entry.id for entry in later.queue.entries))
    assert [job.request for job in later_engine.jobs] == [job.request for job in engine.jobs]
    assert later.storage.interrupted() == ()


def test_dismissed_runs_are_not_listed_again(opened, queue, asked):
    queue.add(*asked(1))
    queue._starter._storage.close()
    later = opened(ScriptedEngine())
    later.queue.restore(later.storage.interrupted())
    later.queue.dismiss(later.queue.entries[0].id)
    assert later.queue.entries == ()
    assert later.storage.interrupted() == ()


def test_removed_runs_are_not_listed_as_interrupted(opened, queue, asked):
    queue.add(*asked(1, 2))
    queue.rearrange([], queue.waiting)
    queue._starter._storage.close()
    left = opened(ScriptedEngine()).storage.interrupted()
    assert [request.sampling.seed for request in left] == [1]


def test_only_a_matching_baseline_joins_the_previous_picture(asked):
    first, second = asked(1, 2)
    baseline = unguided(first, RequestId("baseline"))
    pairs = entries_of([first, baseline, second])
    assert [len(entry.runs) for entry in pairs] == [2, 1]


def test_a_long_session_drops_its_oldest_pictures(queue, asked, engine):
    queue.most_done = 2
    queue.add(*asked(1, 2, 3))
    for place in range(3):
        engine.play(engine.jobs[place])
    assert [entry.seed for entry in queue.entries] == [2, 3]


def test_stored_runs_are_not_kept_in_memory(queue, asked, engine):
    queue.add(*asked(1))
    engine.play(engine.jobs[0])
    (entry,) = queue.entries
    assert entry.run.steps == ()
    assert entry.run.evaluation.perception.masks == ()
    assert entry.outcome is Outcome.PASS


def test_a_cancelled_sweep_leaves_the_others_in_the_queue(queue, asked, engine):
    point = SweepPoint(field=SweepField.SEED, value=1)
    cells = [SweepCell(sweep_id=SweepId(name), column=point) for name in ("mine", "other")]
    first, second, third = asked(1, 2, 3)
    of_sweep = [replace(each, sweep=cells[0]) for each in (first, second)]
    queue.add(*of_sweep, replace(third, sweep=cells[1]))
    queue.cancel_sweep(SweepId("mine"))
    assert engine.cancelled == [first.id]
    assert waiting_seeds(queue) == [3]
