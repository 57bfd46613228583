"""A fix of stored runs whose program ended while an attempt was drawn or judged."""

import pytest

from spatialstudio.application.jobs.messages import PictureJudged
from spatialstudio.application.refine.fix_run import FixRun
from spatialstudio.application.refine.refine_loop import find_pictures
from spatialstudio.domain.fix import FixReason
from spatialstudio.domain.generation import GenerationFinished
from spatialstudio.domain.verdict import Outcome
from tests.ui.scripted_engine import evaluation_of, picture_of


def fix_run_of(studio, fix):
    storage = studio.storage
    find = find_pictures(storage.picture_of_request, storage.read_run)
    return FixRun(fix, storage.fixes.save, find)


@pytest.fixture
def plan(studio, engine):
    """The plan for a picture that fails."""
    studio.queue.add(studio.new_request(seed=4))
    request = engine.jobs[-1].request
    engine.play(engine.jobs[-1], steps=request.sampling.steps)
    image = picture_of(4)
    engine.report(
        GenerationFinished(request_id=request.id, image=image, seconds=1.0, peak_memory_bytes=1),
        PictureJudged(
            request_id=request.id, evaluation=evaluation_of(request.scene, image, Outcome.FAIL)
        ),
    )
    return studio.fixing.plan(studio.session.run, reason=FixReason.PLACE)


@pytest.fixture
def begun(studio, plan):
    """The stored fix after its first attempt was begun, and the attempt's request."""
    fix_run = fix_run_of(studio, plan)
    request = fix_run.next_request()
    fix_run.begin(request)
    return studio.storage.fixes.of_run(plan.start.request_id), request


@pytest.fixture
def drawn(studio, engine, begun):
    """The picture of the attempt, stored."""
    studio.queue.add(begun[1])
    engine.play(engine.jobs[-1])
    return studio.session.run.path


def test_an_attempt_whose_picture_is_whole_is_judged(studio, begun, drawn):
    again = fix_run_of(studio, begun[0])
    assert again.unjudged == drawn
    assert again.fix.attempts == ()
    assert len(again.remaining_requests()) == len(again.fix.steps) - 1


def test_an_attempt_whose_picture_is_damaged_is_drawn_again(studio, begun, drawn, caplog):
    drawn.write_bytes(b"")
    again = fix_run_of(studio, begun[0])
    assert again.unjudged is None
    assert "is repeated" in caplog.text


def test_an_attempt_whose_picture_is_missing_is_drawn_again(studio, begun, drawn):
    drawn.unlink()
    again = fix_run_of(studio, begun[0])
    assert again.unjudged is None


def test_an_attempt_that_never_ended_is_drawn_again(studio, begun):
    again = fix_run_of(studio, begun[0])
    assert again.unjudged is None


def test_an_interrupted_attempt_neither_is_the_best_nor_spends_the_budget(begun, plan):
    stored, _ = begun
    assert len(stored.attempts) == 1
    assert stored.best == plan.start
    assert not stored.is_over
