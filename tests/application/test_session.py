from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.application.jobs.messages import (
    EngineStopped,
    JobFailed,
    Phase,
    PhaseChanged,
    PictureJudged,
)
from spatialstudio.application.session import (
    BaselineChanged,
    MentionPicked,
    OpenRun,
    PlacesChanged,
    RelationPicked,
    RunChanged,
    RunState,
    RunStored,
    SceneChanged,
    Session,
    StepPicked,
    after,
)
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import (
    CandidateScore,
    GenerationCancelled,
    GenerationFailed,
    GenerationFinished,
    GenerationStarted,
    PlaceTarget,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.run_settings import SketchedPlaces
from spatialstudio.domain.scene import MentionId, Prompt, RelationId, SceneGraph
from spatialstudio.domain.verdict import Evaluation, Perception
from tests.fakes import scene_of

MINE, OTHER = RequestId("mine"), RequestId("other")
REPORT = ErrorReport(title="Drawing", message="It broke.")


@pytest.fixture
def scene():
    return SceneGraph(prompt=Prompt(text="a cat"), mentions=(), relations=(), extractor_id="hand")


@pytest.fixture
def run(scene):
    return OpenRun(id=MINE, scene=scene)


@pytest.fixture
def published():
    return []


@pytest.fixture
def session(published):
    return Session(published.append)


def step(number, request_id=MINE):
    return StepEvent(request_id=request_id, step=number, total_steps=4, timestep=1.0, pos={})


def finished(request_id=MINE):
    image = np.zeros((8, 8, 3), np.uint8)
    return GenerationFinished(request_id=request_id, image=image, seconds=2.0, peak_memory_bytes=1)


def judged():
    perception = Perception(image_sha256="", height=8, width=8, detections=(), masks=())
    return PictureJudged(request_id=MINE, evaluation=Evaluation(perception=perception, verdicts=()))


def folded(run, *events):
    for event in events:
        run = after(run, event)
    return run


def test_a_run_is_updated_by_events_until_it_is_judged(run):
    started = GenerationStarted(request_id=MINE, total_steps=4, token_spans=(), device="cpu")
    drawn = folded(run, started, step(0), step(1), finished())
    assert (drawn.state, drawn.total_steps, len(drawn.steps)) == (RunState.RUNNING, 4, 2)
    assert drawn.seconds == 2.0
    done = folded(drawn, judged())
    assert done.state is RunState.DONE
    assert done.evaluation is not None


def test_each_picture_of_a_search_clears_the_steps(run):
    started = GenerationStarted(request_id=MINE, total_steps=4, token_spans=(), device="cpu")
    score = CandidateScore(seed=3, pse=1, lead=1, found=2, sureness=1, second=1)
    best = replace(finished(), candidates=(score,))
    drawn = folded(run, started, step(0), step(1), started, step(0), best)
    assert len(drawn.steps) == 1
    assert drawn.candidates == (score,)


def test_the_phase_follows_its_events(run):
    moved = after(run, PhaseChanged(request_id=MINE, phase=Phase.LOADING))
    assert (moved.state, moved.phase) == (RunState.RUNNING, Phase.LOADING)


def test_events_of_another_run_change_nothing(run):
    assert after(run, step(0, OTHER)) is run
    assert after(run, finished(OTHER)) is run


def test_a_failed_run_keeps_its_data(run):
    failed = folded(run, step(0), GenerationFailed(request_id=MINE, error=REPORT))
    assert failed.state is RunState.FAILED
    assert failed.failure is REPORT
    assert len(failed.steps) == 1


def test_a_picture_that_cannot_be_judged_is_kept(run):
    done = folded(run, finished(), JobFailed(request_id=MINE, error=REPORT))
    assert done.state is RunState.DONE
    assert done.image is not None
    assert done.failure is REPORT


def test_cancelling_while_drawing_cancels_the_run(run):
    assert folded(run, GenerationCancelled(request_id=MINE, at_step=1)).state is RunState.CANCELLED


def test_cancelling_while_judging_leaves_the_picture_done(run):
    done = folded(run, finished(), GenerationCancelled(request_id=MINE, at_step=4))
    assert done.state is RunState.DONE


def test_a_crashed_engine_fails_the_unfinished_runs(run):
    assert after(run, EngineStopped(error=REPORT)).state is RunState.FAILED
    done = folded(run, finished(), judged())
    assert after(done, EngineStopped(error=REPORT)) is done


def test_a_stored_run_knows_its_folder(run, tmp_path):
    assert after(run, RunStored(request_id=MINE, path=tmp_path / "a.png")).folder == tmp_path


def test_a_live_run_is_followed_step_by_step(session, run):
    session.open(run)
    changes = (*session.apply_event(step(0)), *session.apply_event(step(1)))
    assert session.step == 1
    assert [event.step for event in changes if isinstance(event, StepPicked)] == [0, 1]


def test_selecting_a_step_detaches_from_the_live_run(session, run):
    session.open(run)
    session.apply_event(step(0))
    session.pick_step(0)
    session.apply_event(step(1))
    assert session.step == 0
    session.go_live()
    assert session.step == 1
    session.apply_event(step(2))
    assert session.step == 2


def test_the_baseline_is_followed_separately(session, run, scene):
    session.open(run, OpenRun(id=OTHER, scene=scene))
    changes = session.apply_event(step(0, OTHER))
    assert len(session.baseline.steps) == 1
    assert session.run.steps == ()
    assert [type(event) for event in changes] == [BaselineChanged]


def test_opening_a_run_is_published(session, run, published):
    session.open(run)
    assert [type(event) for event in published] == [RunChanged, BaselineChanged, StepPicked]


def test_a_missing_scene_has_a_reason(session, published):
    session.set_scene(None, error=REPORT)
    assert published == [SceneChanged(scene=None, error=REPORT)]


def test_a_relation_is_selected_once(session, published):
    session.pick_relation(RelationId("r1"))
    session.pick_relation(RelationId("r1"))
    assert session.relation_id == "r1"
    assert published == [RelationPicked(relation_id=RelationId("r1"))]


def test_a_mention_is_selected(session, published):
    session.pick_mention(MentionId("m1"))
    assert session.mention_id == "m1"
    assert published == [MentionPicked(mention_id=MentionId("m1"))]


def places_of(*names, x=0.3):
    targets = (PlaceTarget(mention_id=MentionId(name), x=x, y=0.5) for name in names)
    return SketchedPlaces(targets=tuple(targets), weight=0.7)


@pytest.fixture
def placed(session):
    """A session whose prompt has both of its objects placed."""
    session.set_scene(scene_of("cat"))
    session.set_places(places_of("m1", "m2"))
    return session


def test_sketched_places_are_published_once(placed, published):
    placed.set_places(places_of("m1", "m2"))
    assert published.count(PlacesChanged(places=places_of("m1", "m2"))) == 1


def test_an_object_that_vanishes_loses_its_place_until_the_prompt_returns(placed):
    before = placed.scene
    alone = replace(scene_of("bird"), mentions=before.mentions[:1], relations=())
    placed.set_scene(None)
    assert placed.places == places_of("m1", "m2")
    placed.set_scene(alone)
    assert placed.places == places_of("m1")
    placed.set_scene(before)
    assert placed.places == places_of("m1", "m2")


@pytest.mark.parametrize("is_late", [False, True])
def test_a_prompt_chosen_elsewhere_begins_without_places(placed, is_late):
    new = scene_of("bird")
    steps = [lambda: placed.forget_places(new.prompt.text), lambda: placed.set_scene(new)]
    for do in reversed(steps) if is_late else steps:
        do()
    assert placed.places.targets == ()
    placed.set_scene(scene_of("cat"))
    assert placed.places == places_of("m1", "m2")


@pytest.mark.parametrize("x", [float("nan"), 1.5, -1e300])
def test_a_place_outside_of_the_picture_is_ignored(placed, x):
    placed.set_places(places_of("m1", x=x))
    assert placed.places.targets == ()
