"""Votes are on disk one by one; damage and other writers are noticed."""

import json

import pytest

from spatialstudio.adapters.storage.stores.vote_journal import FileVoteJournals
from spatialstudio.application.audit.sessions import Voting
from spatialstudio.domain.audit_session import Answer
from spatialstudio.domain.errors import StoreError, TargetExists
from spatialstudio.domain.verdict import Outcome
from tests.audit_population import session_of

PASS = Answer(verdict=Outcome.PASS)
JOURNALS = FileVoteJournals()


@pytest.fixture
def path(tmp_path):
    """A session of four pictures with two votes."""
    journal = JOURNALS.create(session_of(4), tmp_path)
    voting = Voting(journal)
    voting.vote(PASS, note="grün")
    voting.vote(PASS)
    voting.close()
    return journal.path


def test_a_session_reads_back(path):
    state = JOURNALS.read(path)
    assert state.session.rater == "Ada"
    assert state.votes[0].note == "grün"
    assert len(state.votes) == 2


def test_gold_verdicts_by_sample_id_of_older_files_are_read(path):
    session = json.loads(path.read_bytes().splitlines()[0])["session"]
    shown = session["showings"][0]["sample_ids"][0]
    older = {key: value for key, value in session.items() if key != "tolerance"}
    changed(path, 0, session=older | {"gold": {shown: "PASS"}})
    state = JOURNALS.read(path)
    assert state.gold_answers == ((PASS, PASS),)
    assert [label.sample_id for label in state.labels] != [shown]
    assert len(state.labels) == 1


def test_an_incomplete_last_line_is_no_vote_and_is_removed(path):
    content = path.read_bytes()
    path.write_bytes(content[:-5])
    assert len(JOURNALS.read(path).votes) == 1
    voting = Voting(JOURNALS.open(path))
    voting.vote(PASS)
    voting.close()
    assert len(JOURNALS.read(path).votes) == 2


def test_only_one_window_continues_a_session(path):
    journal = JOURNALS.open(path)
    with pytest.raises(StoreError, match="open in another window"):
        JOURNALS.open(path)
    assert len(JOURNALS.read(path).votes) == 2
    journal.close()
    JOURNALS.open(path).close()


def test_an_existing_session_is_not_replaced(path):
    with pytest.raises(TargetExists):
        JOURNALS.create(JOURNALS.read(path).session, path.parent)


def changed(path, line, **changes):
    lines = path.read_bytes().splitlines()
    lines[line] = json.dumps(json.loads(lines[line]) | changes).encode()
    path.write_bytes(b"\n".join(lines) + b"\n")


@pytest.mark.parametrize(
    ("line", "changes"),
    [
        (0, {"format": "other"}),
        (0, {"version": 2}),
        (1, {"number": 5}),
        (1, {"showing": 99}),
        (1, {"showing": -1}),
        (2, {"showing": 0}),
        (1, {"kind": "undo"}),
        (1, {"answer": None}),
        (1, {"answer": {"score": 50.0}}),
        (1, {"answer": {"score": 1e9}}),
        (1, {"note": "x" * 5000}),
        (1, {"kind": "delete"}),
        (1, {"time": 5}),
    ],
    ids=str,
)
def test_a_damaged_session_is_rejected(path, line, changes):
    changed(path, line, **changes)
    with pytest.raises(StoreError, match="damaged"):
        JOURNALS.read(path)
