"""Runs of other methods of the release, whose lines hold what the prompt-only run lacks."""

import csv
import json
from math import fsum
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.records.spatialbench_uc import SpatialBenchRuns
from spatialstudio.application.evaluate.recorded_runs import judge_records
from spatialstudio.domain.verdict import REPRODUCE
from tests.adapters.storage.records.generated_run import drawn, found, selected_verdict, write_run

RUNS = SpatialBenchRuns(Path(__file__).parents[4] / "resources")
RIGHT_WAY = found("dog", "left"), found("car", "right")
WRONG_WAY = found("dog", "right"), found("car", "left")
SWAPPED = {"subject": "car", "other": "dog", "relation": "right_of"}


def judged(folder, target):
    """Judge a run again, and return the report and what was written of each picture."""
    report = judge_records(RUNS, folder, target)
    lines = (target / "per_sample.jsonl").read_text(encoding="utf-8").splitlines()
    return report, [json.loads(line) for line in lines]


def table(target, name):
    (row,) = csv.DictReader((target / name).read_text(encoding="utf-8").splitlines())
    return row


@pytest.fixture
def target(tmp_path):
    return tmp_path / "judged"


@pytest.fixture
def one_sided(tmp_path):
    """A prompt met by all pictures, its counterpart by none, and a third without counterpart."""
    met = [drawn("v1_0", seed) for seed in range(4)]
    missed = [drawn("v1_1", seed, **SWAPPED) for seed in range(4)]
    alone = [drawn("v1_2", seed, "cat", "car", "above") for seed in range(3)]
    records = [
        *(selected_verdict(line, *RIGHT_WAY, second=RIGHT_WAY) for line in met),
        *(selected_verdict(line, *WRONG_WAY, second=WRONG_WAY) for line in missed),
        *(selected_verdict(line, found("car", "left")) for line in alone),
    ]
    return write_run(tmp_path / "run", [*met, *missed, *alone], records)


def test_a_pair_can_be_met_on_one_side(one_sided, target):
    judge_records(RUNS, one_sided, target)
    assert table(target, "counterfactual.csv") == {
        "run": "sd14_gligen",
        "pairs": "1",
        "both_pass_rate": "0.0000",
        "one_sided_rate": "1.0000",
        "both_fail_rate": "0.0000",
        "undecidable_rate": "0.0000",
        "undecidable_count": "0",
    }
    assert table(target, "counterfactual_by_seed.csv")["pairs"] == "4"


def test_a_prompt_with_missing_pictures_is_undecidable_over_all_pictures(one_sided, target):
    report, _ = judged(one_sided, target)
    assert table(target, "prompt_metrics.csv")["total_prompts"] == "3"
    assert (report.best_of.passes, report.best_of.fails) == (1, 1)
    assert (report.all_of.passes, report.all_of.undecidable) == (1, 1)
    assert table(target, "by_relation.csv") == {
        "run": "sd14_gligen",
        "above_pass_rate": "0.0000",
        "left_of_pass_rate": "1.0000",
        "right_of_pass_rate": "0.0000",
    }


def test_the_figures_of_a_run_equal_its_lines(one_sided, target):
    report, lines = judged(one_sided, target)
    metrics = json.loads((target / "metrics.json").read_text())
    assert (metrics["pass_count"], metrics["fail_count"]) == (4, 4)
    assert metrics["undecidable_reasons"] == {"missing": 3}
    assert metrics["mean_confidence"] == fsum(line["conf"] for line in lines) / 11
    assert metrics["pass_rate_conditional"] == 0.5
    assert report.settings == REPRODUCE


def test_unknown_fields_of_a_record_are_kept(one_sided, target):
    _, lines = judged(one_sided, target)
    assert {line["layout_boxes"] for line in lines} == {"kept as it is"}
    assert lines[0]["detectors"]["secondary"]["type"] == "grounding_dino"
    assert "secondary" not in lines[-1]["detectors"]


def test_a_picture_of_another_size_is_measured_by_its_size(tmp_path, target):
    small = drawn("v1_0", 0) | {"gen_params": {"seed": 0, "height": 512, "width": 1024}}
    untold = drawn("v1_0", 1) | {"gen_params": {"seed": 1}}
    records = [selected_verdict(line, *RIGHT_WAY, second=RIGHT_WAY) for line in (small, untold)]
    _, lines = judged(write_run(tmp_path / "run", [small, untold], records), target)
    assert [line["geometry"]["delta"] for line in lines] == [-300 / 1024, -300 / 512]


def test_a_failed_second_detector_has_an_agreement_of_one_half(tmp_path, target):
    line = drawn("v1_0", 0)
    record = selected_verdict(line, *RIGHT_WAY, agreement=0.5)
    _, (written,) = judged(write_run(tmp_path / "run", [line], [record]), target)
    assert written["conf_components"]["agreement"] == 0.5
    assert written["verdict_raw"] == "PASS"


def test_without_a_second_detector_there_is_no_disagreement(tmp_path, target):
    line = drawn("v1_0", 0)
    record = selected_verdict(line, *RIGHT_WAY, agreement=1.0)
    _, (written,) = judged(write_run(tmp_path / "run", [line], [record]), target)
    assert written["conf_components"]["agreement"] == 1.0


def test_an_unstable_answer_is_undecidable_with_its_numbers(tmp_path, target):
    line = drawn("v1_0", 0)
    record = selected_verdict(line, *RIGHT_WAY, second=RIGHT_WAY, stability=0.42)
    report, (written,) = judged(write_run(tmp_path / "run", [line], [record]), target)
    assert written["verdict_reason"] == "unstable: stability=0.42 < 0.5"
    assert written["conf"] > 0
    assert json.loads((target / "metrics.json").read_text())["undecidable_reasons"] == {
        "unstable": 1
    }
    assert report.all.coverage == 0


def test_labels_match_in_any_case_and_not_partially(tmp_path, target):
    line = drawn("v1_0", 0, "Fire Hydrant", "car")
    first = found("fire hydrant", "left"), found("Car", "right")
    record = selected_verdict(line, *first, second=(found("fire", "left"), found("car", "right")))
    _, (written,) = judged(write_run(tmp_path / "run", [line], [record]), target)
    assert written["verdict_raw"] == "PASS"
    assert written["conf_components"]["agreement"] == 0.5


def test_a_picture_drawn_twice_counts_once(tmp_path, target):
    line = drawn("v1_0", 0)
    record = selected_verdict(line, *RIGHT_WAY, second=RIGHT_WAY)
    run = write_run(tmp_path / "run", [line, line], [record, record])
    assert judged(run, target)[0].all.total == 1


def test_missing_pictures_stay_in_the_denominator(tmp_path, target):
    lines = [drawn("v1_0", seed) for seed in range(4)]
    records = [
        selected_verdict(lines[0], *RIGHT_WAY, second=RIGHT_WAY),
        {"sample_id": lines[1]["sample_id"], "verdict_raw": "ERROR", "detectors": None},
        '{"sample_id": "cut',
    ]
    report, written = judged(write_run(tmp_path / "run", lines, records), target)
    assert [line["verdict_raw"] for line in written] == ["PASS", "ERROR", "ERROR", "ERROR"]
    assert (report.all.total, report.all.pass_rate_all) == (4, 0.25)


def test_without_a_settings_file_the_margin_is_read_from_the_records(tmp_path, target):
    line = drawn("v1_0", 0)
    record = selected_verdict(line, *RIGHT_WAY, second=RIGHT_WAY, margin=0.05)
    run = write_run(tmp_path / "run", [line], [record], "eval_precal")
    report, (written,) = judged(run / "eval_precal", target)
    assert written["geometry"]["margin"] == report.settings.margin == 0.05
    assert report.settings.preset == "reproduce, other thresholds"


def test_an_evaluation_before_calibration_counts_reasons_in_full(tmp_path, target):
    line = drawn("v1_0", 0)
    record = selected_verdict(line, found("dog", "left"), found("car", "left"), second=())
    run = write_run(tmp_path / "run", [line], [record | {"conf": 0.0}], "eval_precal")
    judged(run / "eval_precal", target)
    assert RUNS.read(run / "eval_precal").counts_full_reasons
