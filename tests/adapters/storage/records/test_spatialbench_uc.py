"""Reads and judges a part of a published run; tests/golden states its origin and licence."""

import csv
import json
import shutil
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.records.spatialbench_uc import SpatialBenchRuns
from spatialstudio.application.evaluate.recorded_runs import judge_records
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.verdict import RECOMMENDED

GOLDEN = Path(__file__).parents[3] / "golden" / "spatialbench_run"
RUNS = SpatialBenchRuns(Path(__file__).parents[4] / "resources")


@pytest.fixture
def run_folder(tmp_path):
    return Path(shutil.copytree(GOLDEN, tmp_path / "run"))


@pytest.fixture
def target(tmp_path):
    return tmp_path / "judged"


def rows(path):
    return list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))


def records(folder):
    text = (folder / "per_sample.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("evaluation", ["eval", "eval_precal"])
def test_judging_a_run_again_reproduces_the_published_lines_to_the_byte(evaluation, target):
    judge_records(RUNS, GOLDEN / evaluation, target)
    written = (target / "per_sample.jsonl").read_bytes()
    assert written == (GOLDEN / evaluation / "per_sample.jsonl").read_bytes()


def test_a_run_is_judged_by_its_calibrated_evaluation(target):
    judge_records(RUNS, GOLDEN, target)
    written = (target / "per_sample.jsonl").read_bytes()
    assert written == (GOLDEN / "eval" / "per_sample.jsonl").read_bytes()


def test_the_figures_add_up(target):
    report = judge_records(RUNS, GOLDEN, target)
    metrics = json.loads((target / "metrics.json").read_text())
    verdicts = [record["verdict_raw"] for record in records(target)]
    assert metrics["total_samples"] == len(verdicts) == report.all.total
    assert metrics["pass_count"] == verdicts.count("PASS")
    assert metrics["coverage"] == 1 - verdicts.count("UNDECIDABLE") / len(verdicts)
    assert sum(own["count"] for own in metrics["by_relation"].values()) == len(verdicts)
    assert sum(metrics["undecidable_reasons"].values()) == verdicts.count("UNDECIDABLE")
    assert metrics["config"] == "reproduce preset"


def test_the_tables_have_the_published_columns(target):
    judge_records(RUNS, GOLDEN, target)
    (main,) = rows(target / "main_results.csv")
    assert list(main) == [
        *("run", "samples", "pass_rate", "coverage"),
        *("pass_rate_cond", "prompt_pass_rate", "mean_conf"),
    ]
    assert main["run"] == "sd15_promptonly"
    (pairs,) = rows(target / "counterfactual.csv")
    assert int(pairs["pairs"]) == int(main["samples"]) / 8
    assert list(rows(target / "prompt_metrics.csv")[0])[2:] == [
        "best_of_k_pass_rate",
        "all_of_k_pass_rate",
    ]


def test_counterparts_are_counted_by_seed_as_well(target):
    judge_records(RUNS, GOLDEN, target)
    (by_best,) = rows(target / "counterfactual.csv")
    (by_seed,) = rows(target / "counterfactual_by_seed.csv")
    assert int(by_seed["pairs"]) == 4 * int(by_best["pairs"])


@pytest.mark.parametrize(
    ("published", "key"),
    [("near_boundary", "near_boundary"), ("near_boundary (|delta|=0.1", "near_boundary (|delta|")],
    ids=["by kind", "by their whole text"],
)
def test_reasons_are_counted_as_the_run_counts_them(run_folder, target, published, key):
    figures = json.dumps({"undecidable_reasons": {published: 1}})
    (run_folder / "eval" / "metrics.json").write_text(figures)
    judge_records(RUNS, run_folder, target)
    reasons = json.loads((target / "metrics.json").read_text())["undecidable_reasons"]
    assert any(reason.startswith(key) for reason in reasons)
    assert ("near_boundary" in reasons) is (published == "near_boundary")


def test_other_settings_give_other_verdicts_and_are_named(target):
    report = judge_records(RUNS, GOLDEN, target, RECOMMENDED)
    assert report.settings is RECOMMENDED
    assert json.loads((target / "metrics.json").read_text())["config"] == "recommended preset"
    assert json.loads((target / "provenance.json").read_text())["checker_preset"] == "recommended"
    assert report.all.total == len(RUNS.read(GOLDEN).samples)


@pytest.mark.parametrize("line", ["", '{"sample_id": "sd15', "[1, 2]", '{"sample_id": 5}'])
def test_a_picture_without_a_usable_record_counts_as_an_error(run_folder, target, line):
    path = run_folder / "eval" / "per_sample.jsonl"
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join([line, *others]) + "\n")
    report = judge_records(RUNS, run_folder, target)
    assert report.all.errors == 1
    assert report.all.total == len(others) + 1
    error = records(target)[0]
    assert error["sample_id"] == json.loads(first)["sample_id"]
    assert error["verdict_raw"] == "ERROR"
    assert json.loads((target / "metrics.json").read_text())["error_count"] == 1


@pytest.mark.parametrize("damage", ["box_xyxy", "score", "conf_components"])
def test_a_record_without_its_numbers_is_an_error(run_folder, target, damage):
    path = run_folder / "eval" / "per_sample.jsonl"
    path.write_text(path.read_text().replace(f'"{damage}"', '"gone"'))
    assert judge_records(RUNS, run_folder, target).all.errors > 0


@pytest.mark.parametrize(
    "spoil",
    [
        lambda folder: (folder / "manifest.jsonl").unlink(),
        lambda folder: (folder / "eval" / "per_sample.jsonl").unlink(),
        lambda folder: (folder / "manifest.jsonl").write_text("{"),
        lambda folder: (folder / "manifest.jsonl").write_text(""),
        lambda folder: (folder / "manifest.jsonl").write_text('{"run_id": "x"}'),
    ],
    ids=["no manifest", "no records", "cut manifest", "empty manifest", "poor manifest"],
)
def test_a_folder_without_a_run_is_rejected_with_a_message(run_folder, spoil):
    spoil(run_folder)
    with pytest.raises(StoreError, match=r"\.$"):
        RUNS.read(run_folder)


def test_a_file_as_output_folder_is_rejected(tmp_path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(StoreError):
        judge_records(RUNS, GOLDEN, tmp_path / "taken")


def test_the_prompts_can_be_exported(tmp_path):
    RUNS.write_prompts(tmp_path / "prompts.jsonl")
    lines = (tmp_path / "prompts.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0])["prompt"] == "A photo of a cake to the left of a bed."
