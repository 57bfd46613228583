"""Subjects of commits since the rule was introduced have an area and a limited length."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIRST = "16cebd84a430"
"""The last commit before the check; earlier subjects are not checked."""
LONGEST = 72
SUBJECT = re.compile(r"[a-z][a-z0-9_ ,.-]*: [^A-Z\s].*[^.\s]")


def complaint(subject):
    """Return what is wrong with a subject, or an empty string."""
    if len(subject) > LONGEST:
        return f"{len(subject)} columns: {subject}"
    return "" if SUBJECT.fullmatch(subject) else f'not "area: subject": {subject}'


def git(*words):
    return subprocess.run(
        [shutil.which("git"), *words], cwd=ROOT, capture_output=True, encoding="utf-8", check=False
    )


def test_subjects_have_an_area_and_a_limited_length():
    if not (ROOT / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout")
    done = git("log", "--no-merges", "--format=%s", f"{FIRST}..HEAD")
    if done.returncode:
        pytest.skip("a shallow clone without the first commit")
    assert [found for subject in done.stdout.splitlines() if (found := complaint(subject))] == []


@pytest.mark.parametrize(
    "subject",
    [
        "engine: keep the queue " + "x" * 60,
        "keep the queue",
        "Engine: keep",
        "engine: Keep",
        "a: b.",
    ],
)
def test_a_bad_subject_is_found(subject):
    assert complaint(subject)


@pytest.mark.parametrize("subject", ["plugin_api: export marginal", "ui, cli: drop a flag"])
def test_a_good_subject_passes(subject):
    assert not complaint(subject)
