from pathlib import Path

import numpy as np
import pytest

from spatialstudio.application.jobs.messages import (
    EngineStopped,
    JobFailed,
    PictureJudged,
)
from spatialstudio.application.session import RunStored
from spatialstudio.application.storage.run_writer import RunRecorder
from spatialstudio.domain.errors import ErrorReport, StoreError
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    RequestId,
)
from spatialstudio.domain.scene import Prompt, SceneGraph
from spatialstudio.domain.verdict import Evaluation, Perception

MINE = RequestId("mine")
PICTURE = Path("library/picture.png")
RECOVERED = Path("recovery/picture.png")


@pytest.fixture
def request_():
    scene = SceneGraph(prompt=Prompt(text="a cat"), mentions=(), relations=(), extractor_id="hand")
    return GenerationRequest(id=MINE, scene=scene, backend_id="fake", model=ModelRef(id="fake"))


class FakeShelf:
    """Remembers what it was given to store, judge and recover."""

    def __init__(self, error=None, recovery=RECOVERED):
        self.stored = []
        self.judged = []
        self.recovered = []
        self.error = error
        self.recovery = recovery

    def store(self, request, events):
        if self.error is not None:
            raise self.error
        self.stored.append((request, tuple(events)))
        return PICTURE

    def judge(self, path, evaluation):
        self.judged.append((path, evaluation))

    def recover(self, request, events):
        self.recovered.append(request)
        return self.recovery


class FakeJournal:
    """Remembers which requests are open."""

    def __init__(self):
        self.open = []

    def note(self, request):
        self.open.append(request.id)

    def end(self, request_id):
        self.open.remove(request_id)


def drawn():
    image = np.zeros((8, 8, 3), np.uint8)
    return (
        GenerationStarted(request_id=MINE, total_steps=1, token_spans=(), device="cpu"),
        GenerationFinished(request_id=MINE, image=image, seconds=1.0, peak_memory_bytes=1),
    )


def judged():
    perception = Perception(image_sha256="", height=8, width=8, detections=(), masks=())
    return PictureJudged(request_id=MINE, evaluation=Evaluation(perception=perception, verdicts=()))


def kept(request, shelf, *events, journal=None):
    published = []
    run_recorder = RunRecorder(shelf, journal or FakeJournal(), published.append)
    run_recorder.expect(request)
    for event in events:
        run_recorder.apply_event(event)
    return published


def test_a_judged_run_is_stored_and_its_verdicts_with_it(request_):
    shelf, verdict = FakeShelf(), judged()
    assert kept(request_, shelf, *drawn(), verdict) == [RunStored(request_id=MINE, path=PICTURE)]
    [(request, events)] = shelf.stored
    assert request is request_
    assert len(events) == 2
    assert shelf.judged == [(PICTURE, verdict.evaluation)]


def test_a_picture_is_stored_before_it_is_judged(request_):
    shelf = FakeShelf()
    assert kept(request_, shelf, *drawn()) == []
    assert len(shelf.stored) == 1


def test_a_picture_without_verdicts_is_stored(request_):
    shelf = FakeShelf()
    error = ErrorReport(title="Judging", message="It broke.")
    kept(request_, shelf, *drawn(), JobFailed(request_id=MINE, error=error))
    assert len(shelf.stored) == 1
    assert shelf.judged == []


def test_a_cancelled_run_is_not_stored(request_):
    shelf = FakeShelf()
    cancelled = GenerationCancelled(request_id=MINE, at_step=0)
    assert kept(request_, shelf, drawn()[0], cancelled) == []
    assert shelf.stored == []


def test_on_a_full_disk_the_run_and_its_verdicts_go_to_recovery(request_, caplog):
    shelf = FakeShelf(StoreError("The disk is full.", hint="Free some space."))
    [failure] = kept(request_, shelf, *drawn(), judged())
    assert failure.error.message == "The disk is full."
    assert failure.recovered == RECOVERED
    assert [path for path, _ in shelf.judged] == [RECOVERED]


def test_on_a_full_disk_a_picture_goes_to_recovery_before_judging(request_, caplog):
    shelf = FakeShelf(StoreError("The disk is full."))
    assert kept(request_, shelf, *drawn()) == []
    assert shelf.recovered == [request_]


def test_a_request_without_a_stored_picture_is_remembered(request_, caplog):
    shelf, journal = FakeShelf(StoreError("The disk is full."), recovery=None), FakeJournal()
    [failure] = kept(request_, shelf, *drawn(), judged(), journal=journal)
    assert failure.recovered is None
    assert journal.open == [MINE]
    assert shelf.judged == []


@pytest.mark.parametrize(
    ("events", "left"),
    [
        ((), [MINE]),
        ((*drawn(),), [MINE]),
        ((*drawn(), judged()), []),
        ((GenerationCancelled(request_id=MINE, at_step=0),), []),
        ((EngineStopped(error=ErrorReport(title="Engine", message="It died.")),), [MINE]),
    ],
    ids=["waiting", "not judged yet", "done", "cancelled", "engine died"],
)
def test_a_request_is_remembered_until_it_needs_no_retry(request_, events, left):
    journal = FakeJournal()
    kept(request_, FakeShelf(), *events, journal=journal)
    assert journal.open == left


def test_unexpected_runs_are_ignored():
    published = []
    run_recorder = RunRecorder(FakeShelf(), FakeJournal(), published.append)
    for event in (*drawn(), judged()):
        run_recorder.apply_event(event)
    assert published == []


CANCELLED = GenerationCancelled(request_id=MINE, at_step=0)


def test_a_run_stopped_by_closing_is_remembered(request_):
    journal = FakeJournal()
    run_recorder = RunRecorder(FakeShelf(), journal, lambda _: None)
    run_recorder.expect(request_)
    run_recorder.note_closing()
    run_recorder.apply_event(CANCELLED)
    assert journal.open == [MINE]


def test_a_run_stopped_by_the_user_is_not_remembered(request_):
    journal = FakeJournal()
    run_recorder = RunRecorder(FakeShelf(), journal, lambda _: None)
    run_recorder.expect(request_)
    run_recorder.note_cancellation(MINE)
    run_recorder.note_closing()
    run_recorder.apply_event(CANCELLED)
    assert journal.open == []


def test_a_run_finished_while_closing_is_stored(request_):
    shelf, journal = FakeShelf(), FakeJournal()
    run_recorder = RunRecorder(shelf, journal, lambda _: None)
    run_recorder.expect(request_)
    run_recorder.note_closing()
    for event in (*drawn(), judged()):
        run_recorder.apply_event(event)
    assert len(shelf.stored) == 1
    assert journal.open == []


def test_forgetting_all_runs_returns_the_stored_pictures(request_):
    journal = FakeJournal()
    run_recorder = RunRecorder(FakeShelf(), journal, lambda _: None)
    run_recorder.expect(request_)
    for event in drawn():
        run_recorder.apply_event(event)
    assert run_recorder.forget_all() == (PICTURE,)
    assert (journal.open, run_recorder.is_busy) == ([], False)
