"""Hostile files of questions, recorded answers and runs of questions."""

import json

import pytest

from tests.security.harness import attack
from tests.security.test_library import lay, needs_pipes

READ = """
from pathlib import Path
from spatialstudio.application.questions.question_files import (
    read_question_file, read_rollout_file,
)
from spatialstudio.domain.errors import StoreError

for read in (read_question_file, read_rollout_file):
    try:
        read(Path({path!r}))
    except StoreError as error:
        print("StoreError:", error.message)
print("done")
"""


@needs_pipes
@pytest.mark.parametrize("kind", ["fifo", "zero", "loop", "folder"])
def test_a_special_file_is_refused_without_blocking(tmp_path, kind):
    path = tmp_path / "data.jsonl"
    lay(path, kind)
    done = attack(READ.format(path=str(path)), tmp_path)
    assert done.contained, done.output
    assert done.output.count("StoreError:") == 2
    assert done.output.endswith("done\n")


@pytest.mark.parametrize(
    "content",
    [b"[" * 500_000, b'{"id": "' + b"\xff" * 1000 + b'"}', b'{"a": ' * 5000, b"1" * 100_000],
    ids=["brackets", "bytes", "depth", "digits"],
)
def test_hostile_lines_are_refused(tmp_path, content):
    path = tmp_path / "data.jsonl"
    path.write_bytes(content)
    done = attack(READ.format(path=str(path)), tmp_path)
    assert done.contained, done.output
    assert done.output.count("StoreError:") == 2


OPEN = """
from pathlib import Path
from spatialstudio.application.questions.question_folder import open_run
from spatialstudio.application.questions.reply_journal import ReplyJournal
from spatialstudio.domain.errors import StoreError

try:
    journal = ReplyJournal(Path({folder!r}) / "replies.jsonl")
    print("damaged:", journal.damaged, journal.cost.replies)
except StoreError as error:
    print("StoreError:", error.message)
try:
    open_run(Path({folder!r}))
except StoreError as error:
    print("StoreError:", error.message)
print("done")
"""
REPLY = {
    "key": "k",
    "place": ["000001", 0, -1],
    "picture": "",
    "text": "A",
    "tokens_in": 1,
    "tokens_out": 1,
    "seconds": 0.1,
    "chances": {},
    "cached": False,
}


@needs_pipes
@pytest.mark.parametrize("kind", ["fifo", "zero", "loop", "folder"])
def test_special_files_in_a_run_are_refused_without_blocking(tmp_path, kind):
    for name in ("replies.jsonl", "settings.json"):
        lay(tmp_path / name, kind)
    done = attack(OPEN.format(folder=str(tmp_path)), tmp_path)
    assert done.contained, done.output
    assert done.output.count("StoreError:") == 2
    assert done.output.endswith("done\n")


@pytest.mark.parametrize(
    "changed",
    [
        {"place": ["000001"]},
        {"place": [{}, 0, 0]},
        {"place": "abc"},
        {"place": ["000001", "1e999", 0]},
        {"tokens_in": -1},
        {"tokens_in": 1e300},
        {"tokens_out": "many"},
        {"seconds": None},
        {"chances": {"A": []}},
        {"chances": []},
        {"text": 7},
        {"key": None},
    ],
    ids=lambda value: json.dumps(value)[:30],
)
def test_damaged_replies_are_skipped_and_counted(tmp_path, changed):
    lines = [REPLY, {**REPLY, **changed}]
    (tmp_path / "replies.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = attack(OPEN.format(folder=str(tmp_path)), tmp_path)
    assert done.contained, done.output
    assert "damaged: 1 1" in done.output


@pytest.mark.parametrize(
    "content",
    [b"[" * 500_000, b"null", b'{"price": 7}', b'{"settings": {"rules": {"votes": "4"}}}', b"\xff"],
    ids=["brackets", "null", "price", "votes", "bytes"],
)
def test_hostile_settings_of_a_run_are_refused(tmp_path, content):
    (tmp_path / "settings.json").write_bytes(content)
    done = attack(OPEN.format(folder=str(tmp_path)), tmp_path)
    assert done.contained, done.output
    assert "contains no answers" in done.output


SLOW = """
import sys
from pathlib import Path
from spatialstudio.application.questions.question_files import read_question_file
from spatialstudio.domain.errors import StoreError
from spatialstudio.science.questions.choice_forms import read_stem
from spatialstudio.science.questions.choice_message import reply_lines
from spatialstudio.domain.multiple_choice import VoteRules
from spatialstudio.science.questions.spatialgeneval import read_rollout

text = {text}
try:
    read_question_file(Path({path!r}))
except StoreError as error:
    print("StoreError:", error.message[:200])
read_stem(text)
reply_lines(text, 10)
read_rollout("\\n".join([text] * 10), VoteRules())
print("done")
"""


@pytest.mark.parametrize(
    "text",
    [
        "' ' * 300_000",
        "'Where is the ' + 'a in relation to the ' * 20_000",
        "'1' * 300_000",
        "'1' + ' ' * 300_000",
        "'{' * 300_000",
        "'Options:' * 40_000",
        "'(' * 300_000",
    ],
    ids=["spaces", "stem", "digits", "gap", "braces", "options", "brackets"],
)
def test_texts_that_make_patterns_slow_end_at_once(tmp_path, text):
    path = tmp_path / "data.jsonl"
    row = {
        "id": "1",
        "scene": "",
        "prompt": "",
        "questions": [eval(text)] * 10,
        "answers": ["A"] * 10,
    }
    path.write_text(json.dumps(row))
    done = attack(SLOW.format(text=text, path=str(path)), tmp_path)
    assert done.contained, done.output
    assert done.output.endswith("done\n")
    assert "StoreError:" in done.output


def test_a_reply_that_nests_without_end_is_no_rollout(tmp_path):
    done = attack(
        "from spatialstudio.science.questions.choice_message import reply_lines\n"
        "text = '{\"answers\": ' + '[' * 100_000 + '}'\n"
        "print(reply_lines(text, 10) == text)",
        tmp_path,
    )
    assert done.contained, done.output
    assert done.output.endswith("True\n")
