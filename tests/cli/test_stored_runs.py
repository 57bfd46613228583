import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.cli.runs import SETTINGS
from tests.cli.conftest import CARD, OTHER_DETECTOR

PROMPT = "a photo of a dog to the left of a car"


@pytest.fixture
def picture(terminal, tmp_path):
    return json.loads(terminal("generate", PROMPT, "--out", tmp_path / "runs", "--json").out)[
        "picture"
    ]


def test_a_stored_run_is_judged_with_other_settings(terminal, picture, tmp_path):
    config = tmp_path / "strict.yaml"
    config.write_text("geometry: {margin: 0.6}\n")
    (strict,) = json.loads(terminal("judge-again", picture, "--checker", config, "--json").out)[
        "runs"
    ]
    assert [verdict["reason"] for verdict in strict["verdicts"]] == ["near_boundary"]
    (plain,) = json.loads(terminal("judge-again", picture, "--json").out)["runs"]
    assert [verdict["outcome"] for verdict in plain["verdicts"]] == ["PASS"]
    assert plain["checker"] == "reproduce"


def test_the_new_verdict_is_printed(terminal, picture):
    done = terminal("judge-again", picture, "--checker", "recommended")
    assert done.code == 0
    assert done.out.startswith("PASS: dog to the left of car\n")


@pytest.fixture
def folder(terminal, tmp_path):
    """A folder of three judged runs, one of them in a folder below."""
    for seed, where in ((1, "."), (2, "."), (3, "2026/11")):
        terminal("generate", PROMPT, "--seed", seed, "--out", tmp_path / "many" / where)
    return tmp_path / "many"


def test_all_runs_of_a_folder_are_judged_again_and_summed_up(terminal, folder):
    done = terminal("judge-again", folder, "--json")
    answer = json.loads(done.out)
    assert done.code == 0
    assert sorted(run["seed"] for run in answer["runs"]) == [1, 2, 3]
    assert answer["summary"] == {"relations": 3, "changed": 0, "PASS": 3, "mean_pse": 1}
    assert answer["errors"] == []


def test_a_table_of_verdicts_has_the_settings_of_each_run(terminal, folder):
    rows = csv.DictReader(io.StringIO(terminal("judge-again", folder, "--csv").out))
    shown = sorted(tuple(row[name] for name in SETTINGS) for row in rows)
    assert shown == [("fake", seed, "2", "layout", "100") for seed in "123"]


def test_runs_are_printed_apart(terminal, folder):
    blocks = terminal("judge-again", folder).out.split("\n\n")
    assert [block.splitlines()[0].endswith(".png") for block in blocks] == [True] * 3 + [False]


def test_the_number_of_runs_judged_again_is_printed(terminal, folder):
    lines = terminal("judge-again", folder).out.splitlines()
    assert sum(line.startswith("PASS: ") for line in lines) == 3
    assert not any(line.startswith("Generated") for line in lines)
    assert lines[-3:] == [
        "3 of 3 runs judged again: 3 PASS",
        "0 of 3 verdicts on relations changed",
        "Mean PSE 1.00 (n = 3 relations of all runs; missing objects count 0)",
    ]


def test_a_run_that_cannot_be_judged_again_does_not_affect_others(terminal, folder):
    damaged, *_ = folder.glob("*.strace")
    damaged.write_bytes(b"no trace")
    done = terminal("judge-again", folder, "--json")
    answer = json.loads(done.out)
    assert done.code == 1
    assert damaged.name in done.err
    assert len(answer["runs"]) == answer["summary"]["relations"] == 2
    assert [error["run"] for error in answer["errors"]] == [str(damaged.with_suffix(".png"))]
    assert all(error["error"] and error["hint"] for error in answer["errors"])


def test_a_run_that_was_never_judged_is_judged_by_the_default_set(terminal, folder):
    unjudged, *_ = folder.glob("*.json")
    unjudged.unlink()
    study = terminal("corruption-study", folder)
    assert (study.code, "has no verdict" in study.err) == (1, True)
    assert "3 of 3 runs judged again: 3 PASS" in terminal("judge-again", folder, "--store").out
    assert terminal("corruption-study", folder).code == 0


def test_the_study_takes_all_runs_of_a_folder(terminal, folder):
    answer = json.loads(terminal("corruption-study", folder, "--json").out)
    assert (answer["pictures"], answer["relations"]) == (3, 3)


def test_deleted_and_hidden_runs_are_left_alone(terminal, folder):
    hidden = folder / ".trash"
    hidden.mkdir()
    for file in [each for each in folder.iterdir() if each.is_file()]:
        file.rename(hidden / file.name)
    assert len(json.loads(terminal("judge-again", folder, "--json").out)["runs"]) == 1


def test_the_study_corrupts_the_masks_of_stored_runs(terminal, picture):
    answer = json.loads(terminal("corruption-study", picture, picture, "--json").out)
    assert answer["pictures"] == 2
    assert [row["name"] for row in answer["rows"]][:2] == ["none", "dropout"]
    assert answer["rows"][0]["mean_pse"] == 1
    lines = terminal("corruption-study", picture).out.splitlines()
    assert lines[1].split() == ["none", "0", "100.00"]


def test_a_folder_without_a_run_is_reported(terminal, tmp_path):
    done = terminal("judge-again", tmp_path)
    assert done.code == 1
    assert done.err
    assert "no relations" not in done.out


def test_verdicts_of_the_sticker_models_on_other_pictures_are_not_judged_again(
    terminal, registry, tmp_path
):
    registry.detector_made.id = "sticker-segmenter"
    words = ("generate", PROMPT, "--out", tmp_path / "runs", "--json")
    picture = json.loads(terminal(*words).out)["picture"]
    assert terminal("judge-again", picture).code == 0
    registry.shelf_made.models = (replace(CARD, known_objects={}),)
    assert terminal("judge-again", picture).code == 0  # a detector that is named was chosen
    sidecar = Path(picture).with_suffix(".json")
    record = json.loads(sidecar.read_text())
    record["evaluation"]["perception"]["detector_id"] = ""  # as older records
    sidecar.write_text(json.dumps(record))
    done = terminal("judge-again", picture, "--store")
    assert done.code == 1
    assert "The picture is not judged" in done.err
    assert 'Run "spatialstudio models get IDEA-Research/grounding-dino-base"' in done.err
    registry.perception_shelf_made.unknown = ()  # the installed detector knows the objects
    judged = json.loads(terminal("judge-again", picture, "--store", "--json").out)
    assert [verdict["outcome"] for verdict in judged["runs"][0]["verdicts"]] == ["PASS"]
    assert json.loads(sidecar.read_text())["evaluation"]["judge_set"]["id"] == "coco"


@pytest.mark.parametrize(
    ("words", "chosen"),
    [
        (("--detector", "other/detector"), "other/detector"),
        (("--detector", "detector"), "other/detector"),
        (("--detector", "rtdetr-r50"), "PekingU/rtdetr_r50vd"),
        (("--judge-set", "coco", "--detector", "detector"), "other/detector"),
    ],
)
def test_models_are_chosen_by_id_and_by_short_name(terminal, registry, picture, words, chosen):
    shelf = registry.perception_shelf_made
    hub = replace(OTHER_DETECTOR, ref=replace(OTHER_DETECTOR.ref, id="PekingU/rtdetr_r50vd"))
    shelf.models = (*shelf.models, hub)
    terminal("judge-again", picture, "--store", *words)
    sidecar = json.loads(Path(picture).with_suffix(".json").read_text())
    assert sidecar["evaluation"]["judge_set"]["models"]["detector"] == f"{chosen} c0ffee 5ha"


def test_a_short_name_of_a_model_for_another_task_is_refused(terminal, picture):
    done = terminal("judge-again", picture, "--detector", "sam2-tiny")
    assert done.code != 0
    assert 'The model "sam2-tiny" is for the task "segmenter", not "detector".' in done.err
    assert 'models list --task detector"' in done.err


def test_an_ambiguous_short_name_is_refused_with_the_ids(terminal, registry, picture):
    shelf = registry.perception_shelf_made
    another = replace(OTHER_DETECTOR, ref=replace(OTHER_DETECTOR.ref, id="maker/detector"))
    shelf.models = (*shelf.models, another)
    done = terminal("judge-again", picture, "--detector", "detector")
    assert done.code != 0
    assert 'Several installed models are named "detector".' in done.err
    assert "Pass one of these ids: other/detector, maker/detector." in done.err
