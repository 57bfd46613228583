from pathlib import Path

import numpy as np
import pytest

from spatialstudio.application.engine.messages import JobFailed, PictureJudged
from spatialstudio.application.run_keeper import RunKeeper
from spatialstudio.application.session import RunStored, StoreFailed
from spatialstudio.domain.errors import ErrorReport, StoreError
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    RequestId,
)
from spatialstudio.domain.perception import Perception
from spatialstudio.domain.prompt import Prompt
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import Evaluation

MINE = RequestId("mine")


@pytest.fixture
def request_():
    scene = SceneGraph(prompt=Prompt(text="a cat"), mentions=(), relations=(), extractor_id="hand")
    return GenerationRequest(id=MINE, scene=scene, backend_id="fake", model=ModelRef(id="fake"))


class Shelf:
    """Remembers what it was given to store."""

    def __init__(self, error=None):
        self.stored = []
        self.error = error

    def __call__(self, request, events, evaluation):
        if self.error is not None:
            raise self.error
        self.stored.append((request, tuple(events), evaluation))
        return Path("folder")


def drawn():
    image = np.zeros((8, 8, 3), np.uint8)
    return (
        GenerationStarted(request_id=MINE, total_steps=1, token_spans=(), device="cpu"),
        GenerationFinished(request_id=MINE, image=image, seconds=1.0, peak_memory_bytes=1),
    )


def judged():
    perception = Perception(image_sha256="", height=8, width=8, detections=(), masks=())
    return PictureJudged(request_id=MINE, evaluation=Evaluation(perception=perception, verdicts=()))


def kept(request, shelf, *events):
    published = []
    keeper = RunKeeper(shelf, published.append)
    keeper.expect(request)
    for event in events:
        keeper.follow(event)
    return published


def test_a_judged_run_is_stored_with_its_evaluation(request_):
    shelf, verdict = Shelf(), judged()
    assert kept(request_, shelf, *drawn(), verdict) == [
        RunStored(request_id=MINE, folder=Path("folder"))
    ]
    [(request, events, evaluation)] = shelf.stored
    assert request is request_
    assert len(events) == 2
    assert evaluation is verdict.evaluation


def test_a_picture_that_was_not_judged_is_stored_all_the_same(request_):
    shelf = Shelf()
    error = ErrorReport(title="Judging", message="It broke.")
    kept(request_, shelf, *drawn(), JobFailed(request_id=MINE, error=error))
    assert shelf.stored[0][2] is None


def test_a_cancelled_run_is_not_stored(request_):
    shelf = Shelf()
    cancelled = GenerationCancelled(request_id=MINE, at_step=0)
    assert kept(request_, shelf, drawn()[0], cancelled) == []
    assert shelf.stored == []


def test_a_full_disk_is_told_and_nothing_breaks(request_, caplog):
    shelf = Shelf(StoreError("The disk is full.", hint="Free some space."))
    [failure] = kept(request_, shelf, *drawn(), judged())
    assert isinstance(failure, StoreFailed)
    assert failure.error.message == "The disk is full."


def test_runs_that_nobody_expects_are_let_pass(request_):
    published = []
    keeper = RunKeeper(Shelf(), published.append)
    for event in (*drawn(), judged()):
        keeper.follow(event)
    assert published == []
