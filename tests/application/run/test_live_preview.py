"""Quick pictures of a layout: of the newest layout only, never during a run."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from spatialstudio.application.jobs.messages import EngineStopped
from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.application.run.live_preview import PREVIEW_STEPS, LivePreview
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import (
    GenerationCancelled,
    GenerationFailed,
    GenerationFinished,
    PlaceTarget,
)
from spatialstudio.domain.run_settings import SketchedPlaces, places_of, with_values
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS

SETTINGS = with_values(usual_settings(replace(STICKERS, steps=20)), candidates=4, seed=7)
SCENE = scene_of()


def places(x):
    return SketchedPlaces(targets=(PlaceTarget(mention_id="m1", x=x, y=0.5),))


@dataclass
class Engine:
    """Notes jobs and cancellations."""

    jobs: list = field(default_factory=list)
    cancelled: list = field(default_factory=list)

    def submit(self, job):
        self.jobs.append(job)

    def cancel(self, job_id):
        self.cancelled.append(job_id)


@pytest.fixture
def engine():
    return Engine()


@pytest.fixture
def busy():
    return []


@pytest.fixture
def preview(engine, busy):
    return LivePreview(engine, lambda _: STICKERS, lambda: bool(busy))


def finished(job):
    image = np.zeros((8, 8, 3), np.uint8)
    return GenerationFinished(request_id=job.job_id, image=image, seconds=1.0, peak_memory_bytes=0)


def test_a_preview_is_one_quick_picture_that_is_not_judged(preview, engine):
    preview.draw(SCENE, SETTINGS, places(0.2))
    (job,) = engine.jobs
    request = job.request
    assert (request.sampling.steps, request.search.candidates) == (PREVIEW_STEPS, 1)
    assert request.sampling.guidance.last_step is None or (
        request.sampling.guidance.last_step < PREVIEW_STEPS
    )
    assert (request.sampling.seed, request.steering.is_on) == (7, False)
    assert (request.capture.attention_every, request.capture.preview_every) == (0, 0)
    assert places_of(request) == places(0.2)
    assert not job.judge
    assert preview.apply_event(finished(job)) is not None


def test_during_a_drag_a_picture_ends_and_only_the_newest_layout_follows(preview, engine):
    for x in (0.2, 0.3, 0.4):
        preview.draw(SCENE, SETTINGS, places(x), is_final=False)
    assert (len(engine.jobs), engine.cancelled) == (1, [])
    assert preview.apply_event(finished(engine.jobs[0])) is not None
    assert [places_of(job.request) for job in engine.jobs] == [places(0.2), places(0.4)]


def test_a_drop_cancels_the_picture_of_an_earlier_layout(preview, engine):
    preview.draw(SCENE, SETTINGS, places(0.2), is_final=False)
    preview.draw(SCENE, SETTINGS, places(0.3))
    (first,) = engine.jobs
    assert engine.cancelled == [first.job_id]
    assert preview.apply_event(GenerationCancelled(request_id=first.job_id, at_step=1)) is None
    assert places_of(engine.jobs[1].request) == places(0.3)


def test_the_same_layout_is_drawn_once(preview, engine):
    for _ in range(2):
        preview.draw(SCENE, SETTINGS, places(0.2))
    assert (len(engine.jobs), engine.cancelled) == (1, [])


def test_a_run_stops_previews_and_none_begins_beside_it(preview, engine, busy):
    preview.draw(SCENE, SETTINGS, places(0.2))
    preview.draw(SCENE, SETTINGS, places(0.3), is_final=False)
    busy.append("a run")
    preview.stop()
    (job,) = engine.jobs
    assert engine.cancelled == [job.job_id]
    preview.apply_event(GenerationCancelled(request_id=job.job_id, at_step=1))
    preview.draw(SCENE, SETTINGS, places(0.4))
    assert len(engine.jobs) == 1


def test_pictures_of_others_are_left_alone(preview, engine):
    preview.draw(SCENE, SETTINGS, places(0.2))
    other = replace(engine.jobs[0], request=replace(engine.jobs[0].request, id="other"))
    assert preview.apply_event(finished(other)) is None
    assert not preview.owns("other")


@pytest.mark.parametrize("is_engine_gone", [False, True])
def test_a_failure_is_silent_and_the_next_layout_is_drawn(preview, engine, is_engine_gone):
    preview.draw(SCENE, SETTINGS, places(0.2))
    report, failed = ErrorReport(title="Drawing", message="It broke."), engine.jobs[0].job_id
    stopped = EngineStopped(error=report, lost=failed)
    failure = GenerationFailed(request_id=failed, error=report)
    assert preview.apply_event(stopped if is_engine_gone else failure) is None
    preview.draw(SCENE, SETTINGS, places(0.3))
    assert len(engine.jobs) == 2


@pytest.mark.parametrize(
    "scene",
    [
        replace(SCENE, prompt=replace(SCENE.prompt, text="a {cat|dog} and a car")),
        replace(
            SCENE,
            relations=(
                *SCENE.relations,
                replace(SCENE.relations[0], id="r2", subject="m2", object="m1"),
            ),
        ),
    ],
    ids=["choices", "contradiction"],
)
def test_what_cannot_be_previewed_is_not_drawn(preview, engine, scene):
    preview.draw(scene, SETTINGS, places(0.2))
    assert engine.jobs == []
