"""The analysis of votes in a thread: its progress, its cancellation, and what went wrong."""

import threading

import pytest

from spatialstudio.adapters.storage.stores.vote_journal import FileVoteJournals
from spatialstudio.application.audit.analysis import (
    AnalysisJob,
    AuditAnalysed,
    AuditAnalysing,
    analyse,
)
from spatialstudio.application.audit.sessions import AuditSessions
from spatialstudio.domain.audit_session import Answer, rater_quality
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.verdict import Outcome
from tests.audit_population import session_of


@pytest.fixture
def state(tmp_path):
    """A session with a vote on every picture."""
    voting = AuditSessions(tmp_path, FileVoteJournals()).start(session_of(12))
    for turn in range(12):
        voting.vote(Answer(verdict=(Outcome.PASS, Outcome.FAIL)[turn % 2]))
    voting.close()
    return voting.state


@pytest.fixture
def events():
    return []


@pytest.fixture
def job(events):
    job = AnalysisJob(events.append)
    yield job
    job.close()


def test_each_part_is_reported_before_the_analysis(state, events, job):
    job.start(lambda progress: analyse(state, [], (), progress))
    job.wait()
    *parts, last = events
    assert [(each.done, each.total) for each in parts] == [(0, 1), (0, 2), (1, 2)]
    assert all(isinstance(each, AuditAnalysing) for each in parts)
    assert last.analysis.session_id == state.session.id


def test_a_rater_who_adjudicates_keeps_the_consistency_of_the_own_session(state, tmp_path):
    later = session_of(4, is_adjudication=True)
    assert later.rater == state.session.rater
    voting = AuditSessions(tmp_path / "later", FileVoteJournals()).start(later)
    for _ in later.showings:
        voting.vote(Answer(verdict=Outcome.PASS))
    voting.close()
    analysis = analyse(state, [], [voting.state])
    assert analysis.consistency == (
        (later.rater, rater_quality(state)),
        (later.rater, rater_quality(voting.state)),
    )


def test_a_cancelled_analysis_is_not_published(state, events, job):
    started, go_on = threading.Event(), threading.Event()

    def slow(progress):
        started.set()
        go_on.wait()
        return analyse(state, [], (), progress)

    job.start(slow)
    started.wait()
    job.cancel()
    go_on.set()
    job.wait()
    assert events == []


def test_a_damaged_file_is_stated(events, job):
    def damaged(_progress):
        raise StoreError("The file is damaged.", hint="Choose another one.")

    job.start(damaged)
    job.wait()
    (event,) = events
    assert isinstance(event, AuditAnalysed)
    assert event.analysis is None
    assert event.problem.message == "The file is damaged."
