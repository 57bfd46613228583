import json
from dataclasses import replace

import pytest

from tests.cli.conftest import CARD

PROMPT = "a photo of a dog to the left of a car"


@pytest.fixture
def picture(terminal, tmp_path):
    return json.loads(terminal("generate", PROMPT, "--out", tmp_path / "runs", "--json").out)[
        "picture"
    ]


def test_a_stored_run_is_judged_by_other_settings(terminal, picture, tmp_path):
    config = tmp_path / "strict.yaml"
    config.write_text("geometry: {margin: 0.6}\n")
    (strict,) = json.loads(terminal("judge-again", picture, "--checker", config, "--json").out)[
        "runs"
    ]
    assert [verdict["reason"] for verdict in strict["verdicts"]] == ["near_boundary"]
    (plain,) = json.loads(terminal("judge-again", picture, "--json").out)["runs"]
    assert [verdict["outcome"] for verdict in plain["verdicts"]] == ["PASS"]
    assert plain["checker"] == "reproduce"


def test_people_read_what_became_of_it(terminal, picture):
    done = terminal("judge-again", picture, "--checker", "recommended")
    assert done.code == 0
    assert done.out.startswith("PASS: dog to the left of car\n")


def test_the_masks_of_stored_runs_are_spoilt_on_purpose(terminal, picture):
    answer = json.loads(terminal("corruption-study", picture, picture, "--json").out)
    assert answer["pictures"] == 2
    assert [row["name"] for row in answer["rows"]][:2] == ["none", "dropout"]
    assert answer["rows"][0]["mean_pse"] == 1
    lines = terminal("corruption-study", picture).out.splitlines()
    assert lines[1].split() == ["none", "0", "100.00"]


def test_a_folder_without_a_run_is_told(terminal, tmp_path):
    done = terminal("judge-again", tmp_path)
    assert done.code == 1
    assert done.err


def test_verdicts_of_the_sticker_models_on_other_pictures_are_not_judged_again(
    terminal, registry, tmp_path
):
    registry.detector_made.id = "sticker-segmenter"
    words = ("generate", PROMPT, "--out", tmp_path / "runs", "--json")
    picture = json.loads(terminal(*words).out)["picture"]
    assert terminal("judge-again", picture).code == 0
    registry.shelf_made.models = (replace(CARD, known_objects={}),)
    done = terminal("judge-again", picture)
    assert done.code == 2
    assert "no sticker model drew this picture" in done.err
