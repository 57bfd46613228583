import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spatialstudio.domain.errors import DetectorError
from tests.fakes import FakeDetector
from tests.sticker_pictures import save_sticker_picture

PROMPT = "a photo of a dog to the left of a car"
GOLDEN = Path(__file__).parents[1] / "golden" / "spatialbench_run"


@pytest.fixture
def folder(tmp_path):
    """Two pictures and one that is none."""
    place = tmp_path / "pictures"
    place.mkdir()
    for name in ("a.png", "b.png"):
        save_sticker_picture(place / name, np.full((16, 16, 3), 128, np.uint8))
    (place / "c.png").write_bytes(b"no picture")
    (place / "notes.txt").write_text("not asked for")
    return place


@pytest.fixture
def kept(tmp_path):
    return tmp_path / "rows.jsonl"


def test_a_folder_is_judged_and_an_error_is_a_row(terminal, folder):
    done = terminal("evaluate", folder, "--prompt", PROMPT, "--json")
    answer = json.loads(done.out)
    assert done.code == 1
    assert [Path(row["picture"]).name for row in answer["pictures"]] == ["a.png", "b.png", "c.png"]
    assert answer["summary"] == {"PASS": 2, "ERROR": 1}
    assert "not a picture" in answer["pictures"][2]["error"]
    assert answer["pictures"][0]["checker"] == "reproduce"


def test_each_relation_is_printed_as_a_sentence(terminal, folder):
    done = terminal("evaluate", folder / "a.png", folder / "c.png", "--prompt", PROMPT)
    lines = done.out.splitlines()
    assert lines[1].startswith("  PASS: The centre of the dog is ")
    assert lines[2].startswith("  DA-score ")
    (error,) = (line for line in lines if line.startswith("  ERROR: "))
    assert error.count(".") >= 3  # file name, sentence and next step
    assert "Total: 1 PASS, 1 ERROR" in lines
    assert "geneval: share 0.5000" in lines
    assert "hrs_mended: score 0.5000, 2 objects 0.500" in lines


def test_a_table_has_a_line_for_each_relation_and_each_error(terminal, folder):
    done = terminal("evaluate", folder, "--prompt", PROMPT, "--csv")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert [row["outcome"] for row in rows] == ["PASS", "PASS", "ERROR"]
    assert float(rows[0]["delta"]) == -0.5
    assert rows[2]["reason"].endswith("is not a picture.")


def test_a_picture_without_relations_has_a_row_in_the_table(terminal, folder):
    done = terminal("evaluate", folder, "--prompt", "a photo of a dog", "--csv")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert [row["outcome"] for row in rows] == ["", "", "ERROR"]
    assert float(rows[0]["da_score"]) == 0.9


def test_every_picture_can_have_a_separate_prompt(terminal, folder, tmp_path):
    prompts = tmp_path / "prompts.csv"
    prompts.write_text(f'picture,prompt\na.png,"{PROMPT}"\nb,a dog to the right of a car\n')
    answer = json.loads(terminal("evaluate", folder, "--prompts", prompts, "--json").out)
    outcomes = [[v["outcome"] for v in row.get("verdicts", [])] for row in answer["pictures"]]
    assert outcomes == [["PASS"], ["FAIL"], []]
    assert "There is no prompt for" in answer["pictures"][2]["error"]


def test_an_interrupted_call_resumes_after_its_rows(terminal, registry, folder, kept):
    first = terminal("evaluate", folder / "a.png", "--prompt", PROMPT, "--out", kept)
    assert first.code == 0
    kept.write_text(kept.read_text() + '{"picture": "cut')
    registry.detector_made.error = DetectorError("The model is damaged.")
    answer = json.loads(
        terminal("evaluate", folder, "--prompt", PROMPT, "--out", kept, "--json").out
    )
    assert answer["summary"] == {"PASS": 1, "ERROR": 2}


def test_rows_of_another_prompt_or_checker_are_not_reused(terminal, folder, kept):
    terminal("evaluate", folder / "a.png", "--prompt", PROMPT, "--out", kept)
    words = ("evaluate", folder / "a.png", "--out", kept, "--json")
    other = terminal(*words, "--prompt", "a dog to the right of a car")
    assert json.loads(other.out)["summary"] == {"FAIL": 1}
    strict = terminal(*words, "--prompt", PROMPT, "--checker", "recommended")
    assert json.loads(strict.out)["pictures"][0]["checker"] == "recommended"


def test_chosen_metrics_are_computed_and_named(terminal, folder):
    words = ("evaluate", folder / "a.png", "--prompt", PROMPT, "--json")
    answer = json.loads(terminal(*words, "--judges", "visor:mended,hrs").out)
    (picture,) = answer["pictures"]
    assert picture["judges"] == ["visor:mended", "hrs"]
    assert {"visor", "hrs"} <= set(picture["verdicts"][0])
    assert "geneval" not in picture["verdicts"][0]
    assert set(answer["figures"]) == {"checker", "visor", "hrs", "hrs_mended"}
    assert terminal(*words, "--metrics", "visor:clip").code == 2


def test_single_settings_can_be_changed(terminal, folder):
    words = ("evaluate", folder / "a.png", "--prompt", PROMPT, "--json", "--set", "margin=0.6")
    (picture,) = json.loads(terminal(*words).out)["pictures"]
    assert picture["checker"] == "reproduce, margin=0.6"
    assert picture["verdicts"][0]["reason"] == "near_boundary"


def test_a_settings_file_of_the_release_can_be_used(terminal, folder):
    config = GOLDEN / "eval" / "checker_config.yaml"
    done = terminal("evaluate", folder / "a.png", "--prompt", PROMPT, "--checker", config)
    assert done.code == 0


@pytest.mark.parametrize(
    ("words", "telling"),
    [
        (["--checker", "nothing"], "nothing"),
        (["--prompts", "nothing.csv"], "nothing.csv"),
        (["--out", "no/such/folder/rows.jsonl", "--prompt", PROMPT], "rows.jsonl"),
    ],
    ids=["checker", "prompts", "rows"],
)
def test_unusable_input_is_reported(terminal, folder, words, telling):
    given = [] if "--prompts" in words or "--prompt" in words else ["--prompt", PROMPT]
    done = terminal("evaluate", folder, *given, *words)
    assert done.code in {1, 2}
    assert telling in done.err


def test_an_empty_folder_is_rejected(terminal, tmp_path):
    done = terminal("evaluate", tmp_path, "--prompt", PROMPT)
    assert done.code == 2
    assert "no picture" in done.err


def test_records_are_judged_again(terminal, tmp_path):
    target = tmp_path / "judged"
    done = terminal("judge-records", GOLDEN, "--out", target)
    assert done.code == 0
    assert done.out.startswith("32 pictures: ")
    assert "0 ERROR (reproduce)" in done.out
    published = (GOLDEN / "eval" / "per_sample.jsonl").read_bytes()
    assert (target / "per_sample.jsonl").read_bytes() == published


@pytest.mark.parametrize("command", ["judge-records", "sweep-records"])
def test_truncated_records_fail_with_their_line_number(terminal, tmp_path, command):
    run = tmp_path / "run"
    shutil.copytree(GOLDEN, run)
    records = run / "eval" / "per_sample.jsonl"
    lines = records.read_bytes().splitlines(keepends=True)
    records.write_bytes(b"".join(lines[:17]) + lines[17][:100])
    out = ["--out", tmp_path / "judged"] if command == "judge-records" else []
    done = terminal(command, run, *out)
    assert done.code == 1
    assert done.err.startswith("15 pictures have no readable record")
    assert done.out


def test_records_are_printed_as_json_with_other_settings(terminal, tmp_path):
    words = ("judge-records", GOLDEN, "--out", tmp_path / "judged", "--json")
    answer = json.loads(terminal(*words, "--checker", "recommended").out)
    assert answer["checker"] == "recommended"
    plain = json.loads(terminal(*words, "--overwrite").out)
    assert answer["samples"] == plain["samples"] == 32
    assert answer["coverage"] >= plain["coverage"]


def test_the_weights_of_the_da_score_can_be_changed(terminal, folder):
    words = ("evaluate", folder / "a.png", "--prompt", PROMPT, "--json", "--judges", "da")
    (picture,) = json.loads(terminal(*words, "--da-set", "relation_weight=0").out)["pictures"]
    assert picture["da_settings"] == "recommended, relation_weight=0.0"
    assert picture["da_score"] == pytest.approx(0.9)
    assert terminal(*words, "--da-set", "temperature=0").code == 2


def test_records_can_be_judged_with_other_thresholds(terminal, tmp_path):
    words = ("judge-records", GOLDEN, "--out", tmp_path / "judged", "--json")
    answer = json.loads(terminal(*words, "--set", "margin=1").out)
    assert (answer["coverage"], answer["checker"]) == (0, "reproduce, margin=1.0")


def test_a_folder_without_a_run_is_rejected_with_a_message(terminal, tmp_path):
    done = terminal("judge-records", tmp_path, "--out", tmp_path / "judged")
    assert done.code == 1
    assert "contains no SpatialBench-UC run" in done.err


def test_the_prompts_of_the_benchmark_are_written(terminal, tmp_path):
    done = terminal("benchmark-prompts", "--out", tmp_path / "prompts.jsonl")
    assert done.code == 0
    assert len((tmp_path / "prompts.jsonl").read_text().splitlines()) == 200


def test_other_thresholds_can_be_tried_on_a_run(terminal, tmp_path):
    answer = json.loads(terminal("sweep-records", GOLDEN, "--json").out)
    rows = {(row["margin"], row["least_confidence"]): row for row in answer["rows"]}
    plain = json.loads(terminal("judge-records", GOLDEN, "--out", tmp_path, "--json").out)
    assert rows[0.1, 0.0]["passes"] == plain["pass"]
    assert rows[0.1, 0.0]["coverage"] == plain["coverage"]
    assert rows[0.03, 0.0]["coverage"] > rows[0.1, 0.0]["coverage"] > rows[0.1, 0.7]["coverage"]
    assert terminal("sweep-records", GOLDEN).out.split()[:2] == ["margin", "confidence"]


def test_every_row_names_the_judge_models(terminal, folder):
    words = ("evaluate", folder / "a.png", "--prompt", "a spaceship to the left of a boat")
    done = terminal(*words, "--detector", "other/detector", "--json")
    (row,) = json.loads(done.out)["pictures"]
    assert row["models"] == {
        "detector": "other/detector c0ffee 5ha",
    }
    assert row["verdicts"][0]["outcome"] == "PASS"


def test_the_embedded_detector_is_asked_only_for_stickers(terminal, folder):
    done = terminal("evaluate", folder, "--prompt", "a spaceship left of a boat", "--json")
    *pictures, _ = json.loads(done.out)["pictures"]
    assert all("spaceship" in row["error"] for row in pictures)


def test_a_threshold_drops_detections_of_lower_score(terminal, folder):
    words = ("evaluate", folder / "a.png", "--prompt", PROMPT, "--json")
    outcomes = [
        json.loads(terminal(*words, "--cut", cut).out)["pictures"][0]["verdicts"][0]["outcome"]
        for cut in ("0.85", "0.95")
    ]
    assert outcomes == ["PASS", "UNDECIDABLE"]


def test_rows_of_another_detector_are_not_reused(terminal, registry, folder, kept):
    words = ("evaluate", folder / "a.png", "--prompt", PROMPT, "--out", kept, "--json")
    terminal(*words)
    registry.detector_made.error = DetectorError("The model is damaged.")
    other = terminal(*words, "--detector", "other/detector")
    assert json.loads(other.out)["summary"] == {"ERROR": 1}


def test_a_threshold_above_all_scores_is_rejected(terminal, folder):
    done = terminal("evaluate", folder, "--prompt", PROMPT, "--cut", "1.5")
    assert done.code == 2
    assert "between 0 and 1" in done.err


class BoxDetector(FakeDetector):
    """Sees what the fake sees, without masks."""

    def detect(self, image, mentions):
        return replace(super().detect(image, mentions), masks=())


def test_missing_masks_for_pse_are_reported(terminal, registry, folder):
    words = ("evaluate", folder / "a.png", folder / "b.png", "--prompt", PROMPT)
    assert "PSE is 0 because there are no masks" not in terminal(*words).out
    registry.detector_made = BoxDetector()
    assert "Choose a --segmenter" in terminal(*words).out


def test_the_scene_graph_score_is_printed_with_what_differs(terminal, folder):
    swapped = PROMPT.replace("left", "right")
    picture = folder / "a.png"
    done = terminal("evaluate", picture, "--prompt", swapped, "--metrics", "scene_graph")
    assert "scene graph 0.69 (edit distance 1.00 of 3.20, exact)" in done.out
    assert "wrong relation m1 right_of m2; found:" in done.out
