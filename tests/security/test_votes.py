"""Hostile journals of audit sessions."""

import json
from dataclasses import replace

import pytest

from spatialstudio.adapters.storage.stores.vote_journal import MOST_ENTRIES, FileVoteJournals
from spatialstudio.application.audit.sessions import Voting
from spatialstudio.domain.audit_session import Answer
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.verdict import Outcome
from tests.audit_population import session_of
from tests.security.harness import attack, studio
from tests.security.hostile_files import MEGABYTE
from tests.security.test_library import KINDS, lay, needs_pipes

JOURNALS = FileVoteJournals()
OPEN = """
from pathlib import Path
from spatialstudio.adapters.storage.stores.vote_journal import FileVoteJournals
from spatialstudio.domain.errors import StoreError

journals, path = FileVoteJournals(), Path({path!r})
for use in (journals.read, journals.open):
    try:
        use(path)
    except StoreError as error:
        print("StoreError:", error.message)
print("done")
"""


@pytest.fixture
def path(tmp_path):
    """A session of two pictures with both votes."""
    journal = JOURNALS.create(session_of(2), tmp_path)
    voting = Voting(journal)
    voting.vote(Answer(verdict=Outcome.PASS))
    voting.vote(Answer(verdict=Outcome.FAIL))
    voting.close()
    return journal.path


def check_refused(path):
    done = attack(OPEN.format(path=str(path)), path.parent)
    assert done.contained, done.output
    assert done.output.count("StoreError:") == 2
    assert done.output.endswith("done\n")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"[]\n",
        b"\x00\xff\n",
        b"[" * 500_000 + b"\n",
        b'{"format":"spatial-studio-votes","version":1,"session":[' + b"[]," * 10**7 + b"[]]}\n",
    ],
    ids=["empty", "line", "list", "bytes", "brackets", "values"],
)
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    check_refused(path)


@pytest.mark.parametrize(
    "lines",
    [
        b'{"number":2,"note":"' + b"x" * (40 * MEGABYTE) + b'"}\n',
        b'{"number":2,"answer":' + b"[" * MEGABYTE + b"\n",
        b"\n" * (60 * MEGABYTE),
        b"\n" * (MOST_ENTRIES + 1),
        b"\r" * (60 * MEGABYTE) + b"\n",
        b"x" * (65 * MEGABYTE),
    ],
    ids=["line", "depth", "lines", "entries", "returns", "size"],
)
def test_hostile_entries_are_refused(path, lines):
    with path.open("ab") as file:
        file.write(lines)
    check_refused(path)


@needs_pipes
@pytest.mark.parametrize("kind", KINDS)
def test_special_files_are_refused_without_blocking(tmp_path, kind):
    path = tmp_path / "session.votes"
    lay(path, kind)
    check_refused(path)


@needs_pipes
def test_votes_are_not_written_through_a_link(path):
    outside = path.with_name("outside")
    path.rename(outside)
    path.symlink_to(outside)
    before = outside.read_bytes()
    outside.write_bytes(before + b"incomplete")
    with pytest.raises(StoreError):
        JOURNALS.open(path)
    assert outside.read_bytes() == before + b"incomplete"


@pytest.mark.parametrize("name", ["../up", "/etc/up", "a/b", "a\\b", "a\0b", "a\nb"], ids=repr)
def test_the_id_of_a_session_is_one_plain_file_name(tmp_path, name):
    folder = tmp_path / "sessions"
    with pytest.raises(StoreError):
        JOURNALS.create(replace(session_of(2), id=name), folder)
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]


def test_what_a_foreign_rater_wrote_does_not_act_in_the_terminal(path, tmp_path):
    hostile = "\x1b[2J\x1b]0;title\x07\u202eevil\nPASS"
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[0]["session"]["rater"] = hostile
    first, second = path, tmp_path / "other.votes"
    first.write_text("\n".join(map(json.dumps, lines)) + "\n")
    for line in lines[1:]:
        line["answer"]["verdict"] = "UNDECIDABLE"
        line["note"] = hostile
    second.write_text("\n".join(map(json.dumps, lines)) + "\n")
    for command in (["agreement", "--sample", str(first)], ["import", "--out", "merged.csv"]):
        done = studio(["audit", *command, str(first), str(second)], tmp_path)
        assert done.contained, done.output
        assert "evil" in done.output
        assert not set(done.output) & set("\x1b\x07\u202e")
        assert not any(line.startswith("PASS") for line in done.output.splitlines())
