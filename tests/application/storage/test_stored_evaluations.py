"""Evaluated pictures of the session are stored as runs; stored runs keep their files."""

import numpy as np
import pytest
from PIL import Image

from spatialstudio.application.jobs.messages import JobFailed, PictureJudged
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.registry import BUILT_IN_MANIFEST, read_manifest
from spatialstudio.application.session import RunStored, StoreFailed
from spatialstudio.application.studio import Studio
from spatialstudio.domain.arrays import hash_of_picture
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.judge_choice import STICKER_JUDGES
from spatialstudio.domain.verdict import REPRODUCE, Evaluation, Perception
from spatialstudio.science.checker.decide import decide
from tests.fakes import FakeDetector
from tests.ui.scripted_engine import PROMPT, ScriptedEngine, WindowRegistry


@pytest.fixture
def engine():
    return ScriptedEngine()


@pytest.fixture
def events():
    return []


@pytest.fixture
def studio(engine, events, tmp_path):
    """A started studio whose judge set was chosen by hand, and that records what it publishes."""
    paths = StudioPaths.within(tmp_path)
    registry = WindowRegistry(read_manifest(BUILT_IN_MANIFEST), paths.surroundings)
    studio = Studio(registry, engine, paths)
    studio.judges = STICKER_JUDGES
    studio.bus.subscribe(events.append)
    studio.bus.subscribe(studio.apply_event)
    studio.start()
    yield studio
    studio.close()


@pytest.fixture
def photo(tmp_path):
    file = tmp_path / "photo.png"
    Image.fromarray(np.arange(48 * 64 * 3, dtype=np.uint8).reshape(48, 64, 3)).save(file)
    return file


def evaluation_of(job):
    """Return what the fake detector sees in the image of a job."""
    seen = FakeDetector().detect(job.image, job.scene.mentions)
    height, width, _ = job.image.shape
    perception = Perception(
        image_sha256=hash_of_picture(job.image),
        height=height,
        width=width,
        detections=seen.detections,
        masks=seen.masks,
        detector_id="fake-detector",
    )
    return Evaluation(perception=perception, verdicts=decide(job.scene, perception, REPRODUCE))


def finish(engine):
    job = engine.jobs[-1]
    evaluation = evaluation_of(job)
    engine.report(PictureJudged(request_id=job.job_id, evaluation=evaluation))
    return evaluation


@pytest.fixture
def judged(studio, engine, photo):
    """The run of a picture that was evaluated in the session."""
    studio.pictures.judge(photo, studio.parse_prompt(PROMPT))
    finish(engine)
    return studio.session.run


def test_the_open_picture_is_stored_when_it_is_judged(studio, judged, events):
    (stored,) = [event for event in events if isinstance(event, RunStored)]
    assert judged.path == stored.path
    assert studio.library.entry(stored.path).summary.source == "photo.png"
    assert studio.library.entry(stored.path).summary.outcome is not None


def test_a_stored_evaluation_opens_as_the_same_imported_picture(studio, judged):
    run = studio.open_run(judged.path)
    assert run.request is None
    assert run.origin == judged.origin
    assert run.events == ()
    assert np.array_equal(run.image, judged.image)
    assert run.scene == judged.scene
    assert run.evaluation.verdicts == judged.evaluation.verdicts
    assert studio.library.recheck(judged.path).faults == ()


def test_judging_again_keeps_file_and_marks(studio, engine, judged):
    studio.library.rate([judged.path], 4)
    studio.open_run(judged.path)
    studio.pictures.judge_open(studio.session.scene)
    assert studio.session.run.path == judged.path
    again = finish(engine)
    assert studio.session.run.evaluation is again
    assert studio.library.list() == studio.library.list("stars>=4")
    assert len(studio.library.list()) == 1


def test_another_prompt_makes_another_run(studio, engine, judged):
    other = studio.parse_prompt("a car above a dog")
    studio.pictures.judge_open(other)
    finish(engine)
    assert studio.session.run.path != judged.path
    assert studio.session.run.origin == judged.origin
    assert len(studio.library.list()) == 2


def test_a_deleted_run_is_stored_again(studio, engine, judged, photo):
    studio.library.trash([judged.path])
    studio.pictures.judge(photo, studio.parse_prompt(PROMPT))
    finish(engine)
    assert studio.library.entry(studio.session.run.path).deleted is None
    assert len(studio.library.list()) == 1


def test_a_failed_evaluation_stores_nothing(studio, engine, photo):
    error = ErrorReport(title="", message="It failed.", hint="")
    studio.pictures.judge(photo, studio.parse_prompt(PROMPT))
    engine.report(JobFailed(request_id=engine.jobs[-1].job_id, error=error))
    finish(engine)  # a late report of the same job
    assert studio.session.run.path is None
    assert studio.library.list() == ()


def test_an_evaluation_that_cannot_be_stored_stays_open(studio, engine, events, photo, caplog):
    studio.runs_folder.parent.mkdir(parents=True, exist_ok=True)
    studio.runs_folder.write_text("a file in the library's place")
    studio.pictures.judge(photo, studio.parse_prompt(PROMPT))
    evaluation = finish(engine)
    (failure,) = [event for event in events if isinstance(event, StoreFailed)]
    assert failure.is_evaluation
    assert studio.session.run.evaluation is evaluation
