"""The library in the terminal: find, show, export, import, verify, draw again."""

import json

import pytest

PROMPT = "a photo of a dog to the left of a car"


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def picture(terminal, runs):
    return json.loads(terminal("generate", PROMPT, "--out", runs, "--json").out)["picture"]


def answer(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_runs_are_found_by_a_filter(terminal, runs, picture):
    found = answer(terminal("runs", "list", "--library", runs, "--json", "verdict:pass", "dog"))
    assert [run["picture"] for run in found["runs"]] == [picture]
    assert found["runs"][0]["relations"][0]["outcome"] == "PASS"
    assert answer(terminal("runs", "list", "--library", runs, "--json", "cat"))["found"] == 0


def test_people_read_a_list(terminal, runs, picture):
    done = terminal("runs", "list", "--library", runs)
    assert done.out.splitlines()[0].split(maxsplit=1) == ["PASS", PROMPT]
    assert done.out.endswith("1 found\n")


def test_a_filter_that_makes_no_sense_is_told(terminal, runs, picture):
    done = terminal("runs", "list", "--library", runs, "verdict:maybe")
    assert done.code == 2
    assert "verdict:pass" in done.err


def test_a_run_is_shown(terminal, runs, picture):
    assert PROMPT in terminal("runs", "show", "--library", runs, picture).out


def test_a_run_goes_out_and_into_another_library(terminal, runs, picture, tmp_path):
    bundle = tmp_path / "two.zip"
    terminal("runs", "export", "--library", runs, picture, "--as", "bundle", "--out", bundle)
    other = tmp_path / "other"
    (arrived,) = answer(terminal("runs", "import", "--library", other, bundle, "--json"))["files"]
    assert answer(terminal("runs", "verify", "--library", other, arrived, "--json"))["checked"] == 1
    assert answer(terminal("runs", "reindex", "--library", other, "--json"))["runs"] == 1


def test_a_damaged_run_is_named_and_the_exit_code_tells(terminal, runs, picture):
    (trace,) = runs.glob("*.strace")
    trace.write_bytes(trace.read_bytes()[:-50])
    done = terminal("runs", "verify", "--library", runs)
    assert done.code == 1
    assert "is damaged" in done.out


def test_a_run_drawn_again_is_the_same(terminal, runs, picture):
    again = answer(terminal("runs", "again", "--library", runs, picture, "--json"))
    assert again["sameness"] == "same"
    assert again["reasons"] == []


def test_no_run_named_is_told(terminal, runs):
    done = terminal("runs", "show", "--library", runs)
    assert done.code == 1
    assert "No run is named." in done.err
