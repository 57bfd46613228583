from dataclasses import replace

import pytest

from spatialstudio.application.evaluate.adjusting import Adjusting, verdict_on
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import (
    OpenRun,
    RunChanged,
    RunState,
    Session,
)
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.verdict import (
    REPRODUCE,
    AbstentionReason,
    Adjustment,
    Outcome,
)
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS, evaluation_of, picture_of

WIDER = Adjustment(checker=replace(REPRODUCE, margin=0.6))


class OneRunStore:
    """Keeps the last evaluation it was given; fails when it is told to."""

    def __init__(self):
        self.kept = None
        self.error = None

    def judge(self, path, evaluation):
        if self.error is not None:
            raise self.error
        self.kept = (path, evaluation)


@pytest.fixture
def store():
    return OneRunStore()


@pytest.fixture
def events():
    return []


@pytest.fixture
def session(events, tmp_path):
    """Looks at a judged and stored run."""
    session = Session(events.append)
    request = new_request(scene_of(), STICKERS, seed=7)
    picture = picture_of(7)
    session.open(
        OpenRun(
            id=request.id,
            scene=request.scene,
            request=request,
            state=RunState.DONE,
            image=picture,
            evaluation=evaluation_of(request.scene, picture),
            path=tmp_path / "one.png",
        )
    )
    events.clear()
    return session


@pytest.fixture
def adjusting(session, store):
    return Adjusting(session, lambda: store)


def keep(adjusting, session, adjustment):
    adjusting.keep(session.run.id, session.run.scene.relations[0].id, adjustment)


def test_an_adjusted_verdict_is_computed_from_the_stored_perception(adjusting, session):
    other = adjusting.adjusted(session.run, WIDER)
    relation_id = session.run.scene.relations[0].id
    assert verdict_on(other, relation_id).reason is AbstentionReason.NEAR_BOUNDARY
    assert verdict_on(session.run, relation_id).outcome is Outcome.PASS


def test_a_relation_without_a_verdict_stays_without_one(adjusting):
    run = OpenRun(id="x", scene=scene_of())
    assert adjusting.adjusted(run, WIDER) is run
    with pytest.raises(LookupError):
        verdict_on(run, run.scene.relations[0].id)


def test_the_verdict_of_the_checker_is_kept(adjusting, session, store, events):
    own = session.run.evaluation.verdicts
    keep(adjusting, session, WIDER)
    path, evaluation = store.kept
    assert path == session.run.path
    assert evaluation.verdicts == own
    (adjusted,) = evaluation.adjusted
    assert adjusted.verdict.outcome is Outcome.UNDECIDABLE
    assert adjusted.adjustment == WIDER
    assert [type(event) for event in events] == [RunChanged]


def test_a_later_adjustment_replaces_the_earlier_one(adjusting, session):
    keep(adjusting, session, WIDER)
    later = Adjustment(checker=replace(REPRODUCE, margin=0.2))
    keep(adjusting, session, later)
    assert [each.adjustment for each in session.run.evaluation.adjusted] == [later]


def test_an_adjustment_can_be_removed(adjusting, session, store):
    keep(adjusting, session, WIDER)
    keep(adjusting, session, None)
    assert session.run.evaluation.adjusted == ()
    assert store.kept[1].adjusted == ()


def test_an_adjustment_that_cannot_be_written_is_not_shown(adjusting, session, store):
    store.error = StoreError("The disk is full.", hint="Make room.")
    with pytest.raises(StoreError):
        keep(adjusting, session, WIDER)
    assert session.run.evaluation.adjusted == ()


def test_a_picture_without_files_is_adjusted_in_the_session_alone(adjusting, session, store):
    session.open(replace(session.run, path=None))
    keep(adjusting, session, WIDER)
    assert store.kept is None
    assert len(session.run.evaluation.adjusted) == 1


def test_a_run_that_is_no_longer_open_is_unchanged(adjusting, session, store):
    adjusting.keep("another", session.run.scene.relations[0].id, WIDER)
    assert store.kept is None
