"""Hostile journals of audit sessions."""

import json
from dataclasses import replace

import pytest

from spatialstudio.adapters.images import PillowImages
from spatialstudio.adapters.storage.stores.vote_journal import MOST_ENTRIES, FileVoteJournals
from spatialstudio.application.audit.desk import AuditDesk
from spatialstudio.application.audit.sessions import AuditSessions, Voting
from spatialstudio.domain.audit_session import Answer
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.verdict import Outcome
from tests.audit_population import population_of, session_of
from tests.security.harness import attack, studio
from tests.security.hostile_files import MEGABYTE
from tests.security.test_library import KINDS, lay, needs_pipes

JOURNALS = FileVoteJournals()
OPEN = """
from pathlib import Path
from spatialstudio.adapters.images import PillowImages
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


def put(place, value):
    """Return a change of the session in a file: of every picture, or at the top."""

    def change(session):
        for target in session["items"] if place[0] != "session" else [session]:
            for name in place[1:-1]:
                target = target[name]
            if value is None:
                del target[place[-1]]
            else:
                target[place[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put(("item", "fields", "image_path"), None),
        put(("item", "fields", "prompt"), None),
        put(("item", "fields", "object_a"), 3),
        put(("item", "fields"), []),
        put(("item", "weight"), 0.0),
        put(("item", "weight"), "inf"),
        put(("item", "weight"), 1e308),
        put(("item", "candidate", "confidence"), "nan"),
        put(("item", "candidate", "confidence"), -0.5),
        put(("item", "candidate", "stratum", "verdict"), "MAYBE"),
        put(("item", "scores"), {"pse": "nan"}),
        put(("item", "scores"), {"pse": "high"}),
        put(("session", "items"), []),
        put(("session", "showings"), [{"sample_ids": ["another"]}]),
        put(("session", "rater"), "x" * 5000),
        put(("session", "seed"), 10**400),
        put(("session", "gold"), {"another": "PASS"}),
        put(("session", "gold"), [{"sample_ids": ["another"], "correct": {"verdict": "PASS"}}]),
        put(("session", "gold"), [{"sample_ids": [], "correct": {"verdict": "PASS"}}]),
        put(("session", "gold"), [{"sample_ids": ["sample 0000"], "correct": {"score": 5.0}}]),
        put(("session", "gold"), [{"sample_ids": ["sample 0000"], "correct": {"score": "nan"}}]),
        put(("session", "tolerance"), "nan"),
    ],
)
def test_sessions_with_wrong_fields_are_refused(path, change):
    header, *lines = path.read_text().splitlines()
    plain = json.loads(header)
    change(plain["session"])
    path.write_text("\n".join([json.dumps(plain), *lines, ""]))
    with pytest.raises(StoreError, match="damaged"):
        JOURNALS.read(path)


@pytest.mark.parametrize("seconds", [-1, "nan", "inf", 1e300, None], ids=repr)
def test_times_out_of_range_are_refused(path, seconds):
    header, first, second = map(json.loads, path.read_text().splitlines())
    first["seconds"] = seconds
    path.write_text("".join(f"{json.dumps(each)}\n" for each in (header, first, second)))
    with pytest.raises(StoreError, match="damaged"):
        JOURNALS.read(path)


@pytest.mark.parametrize(
    "picture",
    ["../../../etc/passwd", "/dev/zero", "a\0b", "x" * 100_000, "\ud800", "http://host/a.png", ""],
    ids=["above", "device", "zero", "long", "surrogate", "address", "empty"],
)
def test_other_files_in_place_of_pictures_are_missing_pictures(tmp_path, picture):
    (item,) = population_of(1)
    item = replace(item, fields={**item.fields, "image_path": picture})
    desk = AuditDesk(AuditSessions(tmp_path, JOURNALS), None, None, (print, PillowImages()))
    assert desk.picture(item) is None
    desk.close()


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
