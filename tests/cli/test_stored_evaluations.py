"""Evaluated pictures are stored as runs, which other commands read without a model."""

import csv
import io
import json
import re
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.cli.runs import SETTINGS
from spatialstudio.domain.errors import DetectorError
from spatialstudio.domain.judge_choice import UNSUITED as WARNING
from spatialstudio.domain.verdict import Outcome
from tests.fakes import FakeDetector
from tests.sticker_pictures import save_sticker_picture

PROMPT = "a photo of a dog to the left of a car"
WITHOUT_TAGS = re.compile(r"<[^>]*>")


@pytest.fixture
def photo(tmp_path):
    """A picture of no known model."""
    file = tmp_path / "photo.jpg"
    Image.fromarray(np.full((16, 16, 3), 128, np.uint8)).save(file)
    return file


@pytest.fixture
def library(tmp_path):
    return tmp_path / "judged"


def evaluate(terminal, *words):
    return json.loads(terminal("evaluate", *words, "--json").out)


def stored_run(terminal, photo, library, *words):
    chosen = "--detector", "other/detector", "--library", library
    (row,) = evaluate(terminal, photo, "--prompt", PROMPT, *chosen, *words)["pictures"]
    return Path(row["run"])


def test_a_run_records_origin_prompt_judge_set_perception_and_verdicts(terminal, photo, library):
    path = stored_run(terminal, photo, library)
    record, _ = RunFiles().load(path)
    assert path.parent == library
    assert path.stem.endswith("_a-photo-of-a-dog-to-the-left-of-a-car_photo")
    assert record.origin.name == "photo.jpg"
    assert record.origin.sha256 == sha256(photo.read_bytes()).hexdigest()
    assert record.request.model.id == ""
    assert record.request.scene.prompt.text == PROMPT
    assert record.evaluation.judge_set.models == {"detector": "other/detector c0ffee 5ha"}
    assert len(record.evaluation.perception.detections) == 2
    assert [each.outcome for each in record.verdicts] == [Outcome.PASS]
    assert RunFiles().verify(path) == ()


def test_the_picture_of_a_run_has_the_same_pixels_and_claims_no_settings(terminal, photo, library):
    path = stored_run(terminal, photo, library)
    with Image.open(path) as copy, Image.open(photo) as original:
        assert np.array_equal(copy, original)
        assert "Steps" not in copy.text["parameters"]
        assert "Seed" not in copy.text["parameters"]


@pytest.mark.parametrize("choice", [(), ("--detector", "other/detector")], ids=["stored", "named"])
def test_judging_again_by_the_same_set_detects_nothing(terminal, registry, photo, library, choice):
    record, _ = RunFiles().load(stored_run(terminal, photo, library))
    registry.detector_made = FakeDetector(error=DetectorError("It was called."))
    answer = json.loads(terminal("judge-again", library, *choice, "--json").out)
    (again,) = answer["runs"][0]["verdicts"]
    assert again["outcome"] == record.verdicts[0].outcome.value
    assert again["confidence"] == record.verdicts[0].confidence


def test_judging_again_by_another_set_detects_and_stores_its_verdicts(
    terminal, registry, photo, library
):
    path = stored_run(terminal, photo, library)
    works, registry.detector_made = registry.detector_made, FakeDetector(error=DetectorError("No."))
    words = "judge-again", library, "--judge-set", "stickers", "--store"
    assert terminal(*words).code == 1
    registry.detector_made = works
    assert terminal(*words).code == 0
    record, _ = RunFiles().load(path)
    assert record.evaluation.judge_set.is_unsuited
    assert record.origin.name == "photo.jpg"
    assert RunFiles().verify(path) == ()


def test_other_thresholds_are_stored_on_request(terminal, photo, library):
    path = stored_run(terminal, photo, library)
    done = terminal("judge-again", path, "--set", "margin=0.6")
    assert "1 of 1 verdicts on relations changed" in done.out
    assert RunFiles().load(path)[0].verdicts[0].outcome is Outcome.PASS
    terminal("judge-again", path, "--set", "margin=0.6", "--store")
    assert RunFiles().load(path)[0].verdicts[0].outcome is Outcome.UNDECIDABLE


def test_the_corruption_study_reads_evaluated_pictures(terminal, photo, library):
    stored_run(terminal, photo, library)
    answer = json.loads(terminal("corruption-study", library, "--json").out)
    assert (answer["pictures"], answer["relations"]) == (1, 1)


def test_the_library_lists_and_shows_them(terminal, photo, library):
    path = stored_run(terminal, photo, library)
    words = "runs", "list", "--library", library, "--json"
    (run,) = json.loads(terminal(*words).out)["runs"]
    assert (run["picture"], run["outcome"]) == (str(path), "PASS")
    assert json.loads(terminal(*words, "is:imported").out)["found"] == 1
    assert json.loads(terminal(*words, "-is:imported").out)["found"] == 0
    (shown,) = json.loads(terminal("runs", "show", path, "--library", library, "--json").out)[
        "runs"
    ]
    assert shown["origin"]["name"] == "photo.jpg"
    assert "seed" not in shown
    again = terminal("runs", "again", path, "--library", library)
    assert again.code == 1
    assert "imported picture" in again.err


def test_the_same_picture_and_prompt_have_one_run(terminal, photo, library):
    first = stored_run(terminal, photo, library)
    assert stored_run(terminal, photo, library, "--set", "margin=0.6") == first
    assert RunFiles().load(first)[0].verdicts[0].outcome is Outcome.UNDECIDABLE
    words = "--prompt", "a car above a dog", "--detector", "other/detector", "--library", library
    (other,) = evaluate(terminal, photo, *words)["pictures"]
    assert Path(other["run"]) != first
    assert len(list(library.glob("*.png"))) == 2


def test_a_single_picture_is_stored_in_the_library_by_default(terminal, tmp_path):
    picture = save_sticker_picture(tmp_path / "a.png", np.full((16, 16, 3), 128, np.uint8))
    answer = evaluate(terminal, picture, "--prompt", PROMPT)
    record, _ = RunFiles().load(Path(answer["run"]))
    assert record.request.model.id == "stickers"
    assert record.origin.is_marked
    assert (tmp_path / "runs") in Path(answer["run"]).parents


@pytest.mark.parametrize("many", [(), ("--checker", "recommended")], ids=["one", "many"])
def test_storing_can_be_disabled(terminal, tmp_path, many):
    picture = save_sticker_picture(tmp_path / "a.png", np.full((16, 16, 3), 128, np.uint8))
    done = terminal("evaluate", picture, "--prompt", PROMPT, "--no-store", *many)
    assert done.code == 0
    assert not list((tmp_path / "runs").rglob("*.strace"))


@pytest.mark.parametrize("many", [(), ("--checker", "recommended")], ids=["one", "many"])
def test_a_read_only_library_keeps_the_verdict(terminal, tmp_path, many):
    (tmp_path / "runs").write_text("a file in the library's place")
    picture = save_sticker_picture(tmp_path / "a.png", np.full((16, 16, 3), 128, np.uint8))
    done = terminal("evaluate", picture, "--prompt", PROMPT, *many)
    assert done.code == 0
    assert "PASS" in done.out
    assert "not stored" in done.err


def test_a_chosen_folder_must_be_writable(terminal, photo, tmp_path):
    (tmp_path / "taken").write_text("a file")
    words = "--detector", "other/detector", "--library", tmp_path / "taken"
    done = terminal("evaluate", photo, "--prompt", PROMPT, *words)
    assert done.code == 1
    assert "PASS" not in done.out


@pytest.fixture
def unsuited(terminal, photo, library):
    """The file of a photo that the sticker models judged on demand."""
    words = "--judge-set", "stickers", "--library", library
    (row,) = evaluate(terminal, photo, "--prompt", PROMPT, *words)["pictures"]
    assert WARNING in row["note"]
    return Path(row["run"])


@pytest.mark.parametrize(
    ("kind", "ending"),
    [("table", "csv"), ("table", "jsonl"), ("report", "html"), ("annotated", "svg")],
)
def test_exports_carry_the_warning_and_claim_no_settings(
    terminal, tmp_path, unsuited, kind, ending
):
    file = tmp_path / f"export.{ending}"
    done = terminal("runs", "export", unsuited, "--as", kind, "--out", file)
    assert done.code == 0, done.err
    words = " ".join(WITHOUT_TAGS.sub(" ", file.read_text()).split())
    assert WARNING in words
    assert "photo.jpg" in words
    assert "seed 0" not in words


def test_the_terminal_shows_the_warning(terminal, unsuited):
    assert f"Warning: {WARNING}" in terminal("runs", "show", unsuited).out


@pytest.fixture
def own_set(tmp_path):
    """The file of a judge set that was defined in the window."""
    file = tmp_path / "settings" / "judge_sets.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"my set": {"detector": ["other/detector"], "cut": 0.95}}))


@pytest.mark.usefixtures("own_set")
def test_a_set_of_the_user_judges_by_name_with_its_threshold(terminal, photo, library):
    words = "--judge-set", "my set", "--library", library
    (row,) = evaluate(terminal, photo, "--prompt", PROMPT, *words)["pictures"]
    assert (row["judge_set"]["id"], row["judge_set"]["cut"]) == ("my set", 0.95)
    assert RunFiles().load(Path(row["run"]))[0].evaluation.perception.cut == 0.95
    answer = json.loads(terminal("judge-again", library, *words[:2], "--cut", "0.5", "--json").out)
    assert answer["runs"][0]["judge_set"]["cut"] == 0.5


@pytest.mark.usefixtures("own_set")
def test_an_unknown_set_lists_all_names(terminal, photo):
    done = terminal("evaluate", photo, "--prompt", PROMPT, "--judge-set", "yours", "--csv")
    assert done.code != 0
    assert 'no judge set "yours"' in done.out + done.err


@pytest.mark.parametrize(
    ("stored", "message"),
    [
        (
            {"detektor": ["other/detector"]},
            'cannot be used: "detektor" is not one of detector, second_detector, segmenter, depth, '
            "answerer, cut.",
        ),
        (
            {"detector": ["other/detector"], "cut": 3},
            'cannot be used: "cut" must be a number from 0 to 1.',
        ),
        ({"detector": ["gone/model"]}, 'No detector of the judge set "my set" is installed.'),
    ],
    ids=["misspelt", "threshold", "removed"],
)
def test_an_invalid_set_of_the_user_names_its_fault(terminal, photo, tmp_path, stored, message):
    file = tmp_path / "settings" / "judge_sets.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"my set": stored}))
    done = terminal("evaluate", photo, "--prompt", PROMPT, "--judge-set", "my set")
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "runs").exists() or not [*(tmp_path / "runs").rglob("*.png")]


def test_a_model_that_is_gone_from_a_set_is_noted(terminal, photo, library, tmp_path):
    file = tmp_path / "settings" / "judge_sets.json"
    file.parent.mkdir(exist_ok=True)
    stored = {"detector": ["other/detector"], "depth": ["gone/depth"]}
    file.write_text(json.dumps({"my set": stored}))
    words = "--judge-set", "my set", "--library", library
    done = terminal("evaluate", photo, "--prompt", "a dog in front of a car", *words)
    assert 'The model "gone/depth" of the judge set "my set" is not installed' in done.err
    assert "Depth relations are undecidable without a depth model." in done.out


def test_judging_a_folder_again_writes_a_row_for_each_relation_of_all_runs(
    terminal, photo, library
):
    path = stored_run(terminal, photo, library)
    other = photo.with_name("other.jpg")
    Image.fromarray(np.full((16, 16, 3), 64, np.uint8)).save(other)
    stored_run(terminal, other, library)
    done = terminal("judge-again", library, "--set", "margin=0.6", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert str(path) in {row["picture"] for row in rows}
    assert [row["outcome"] for row in rows] == ["UNDECIDABLE"] * 2
    assert tuple(rows[0])[:7] == ("picture", "prompt", *SETTINGS)
    assert {row[name] for row in rows for name in SETTINGS} == {""}  # imported pictures
    assert done.code == 0
    assert "2 of 2 runs judged again: 2 UNDECIDABLE" in done.err


def test_a_run_that_cannot_be_judged_again_has_its_row_and_fails_the_command(
    terminal, photo, library
):
    stored_run(terminal, photo, library)
    done = terminal("judge-again", library, library / "missing.png", "--csv")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [row["outcome"] for row in rows] == ["PASS", "ERROR"]
    assert done.code == 1
