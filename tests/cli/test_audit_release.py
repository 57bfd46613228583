"""A whole release through the terminal equals an independent script, row by row."""

import csv
import json
import os
from pathlib import Path

import pytest

from tests import generated_release, independent_audit
from tests.generated_release import AFTER, BEFORE, RUNS

RELEASE = os.environ.get("SPATIALBENCH_RELEASE", "")
"""Folder of a complete release v1.0.1, for the published figures."""


@pytest.fixture
def release(tmp_path):
    """Three generated runs in the form of the release."""
    return generated_release.write_release(tmp_path / "release", seed=5)


@pytest.fixture
def sample(terminal, release, tmp_path):
    """The sample that the terminal draws from the verdicts before calibration."""
    path = tmp_path / "sample.csv"
    runs = [run / BEFORE for run in release]
    assert terminal("audit", "sample", *runs, "--out", path).code == 0
    return path


def ids_of(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return [row["sample_id"] for row in csv.DictReader(file)]


def test_the_sampler_draws_the_ids_of_the_independent_script(release, sample):
    pictures = independent_audit.population(release, BEFORE)
    assert ids_of(sample) == independent_audit.stratified_sample(pictures)


@pytest.mark.parametrize("evaluation", [AFTER, BEFORE])
def test_every_figure_equals_the_independent_script(
    evaluation, terminal, release, sample, tmp_path
):
    labels = tmp_path / "labels.csv"
    known = generated_release.write_labels(labels, sample, seed=3)
    expected = independent_audit.report(release, evaluation, ids_of(sample), known)
    runs = [word for run in release for word in ("--run", run / evaluation)]
    own = [labels, "--sample", sample, *runs, "--json"]
    check_answers(terminal, own, expected)


def check_answers(terminal, own, expected, *more):
    agreement = json.loads(terminal("audit", "agreement", *own).out)
    assert agreement["confusion"] == expected["confusion"]
    points = json.loads(terminal("audit", "risk-coverage", *own).out)["points"]
    names = ("tau", "coverage", "risk", "n_covered", "n_evaluated")
    found = [tuple(each[name] for name in names) for each in points]
    assert len(found) == len(expected["points"])
    assert [value for row in found for value in row] == pytest.approx(
        [value for row in expected["points"] for value in row], abs=1e-12
    )
    answer = json.loads(terminal("audit", "calibrate", *own, *more).out)
    for name in ("threshold", "false_pass_rate", "risk", "coverage", "objective"):
        wanted = [row[name] for row in expected["rows"]]
        assert [row[name] for row in answer["rows"]] == pytest.approx(wanted, abs=1e-12)
        assert answer["best"][name] == pytest.approx(expected["best"][name], abs=1e-12)
    return points, answer


@pytest.fixture
def search(tmp_path):
    """A recorded search in the form of the release."""
    return write_search(tmp_path / "audit_metrics.json", false_pass=0.0, risk=1 / 66, coverage=0.36)


def write_search(path, false_pass, risk, coverage):
    chosen = {"margin": 0.1, "detection_score": 0.2, "confidence_threshold": 0.7}
    figures = {"false_pass_rate_high_conf": false_pass, "risk": risk, "coverage": coverage}
    search = {"best_parameters": chosen, "best_metrics": figures}
    path.write_text(json.dumps({"calibration": search}), encoding="utf-8")
    return path


def test_a_recorded_search_is_compared_with_the_deployed_checker(
    terminal, release, sample, search, tmp_path
):
    labels = tmp_path / "labels.csv"
    known = generated_release.write_labels(labels, sample, seed=3)
    expected = independent_audit.report(release, "eval", ids_of(sample), known)
    (deployed,) = (row["objective"] for row in expected["rows"] if row["threshold"] == 0.7)
    runs = [word for run in release for word in ("--run", run / "eval")]
    own = [labels, "--sample", sample, *runs, "--search", search]
    answer = json.loads(terminal("audit", "calibrate", *own, "--json").out)["search"]
    assert answer["chosen"]["objective"] == pytest.approx(0.35030, abs=5e-6)
    assert answer["deployed"]["objective"] == pytest.approx(deployed, abs=1e-12)
    assert answer["gap"] == pytest.approx(deployed - answer["chosen"]["objective"], abs=1e-12)
    assert "J 0.35030 at tau 0.7, margin 0.1" in terminal("audit", "calibrate", *own).out


@pytest.mark.parametrize(
    "content", ["{}", "[]", '{"calibration": {"best_parameters": 3}}', "not JSON", "\0"]
)
def test_a_file_without_a_search_is_named(content, terminal, sample, search, tmp_path):
    labels = tmp_path / "labels.csv"
    generated_release.write_labels(labels, sample, seed=3)
    search.write_text(content, encoding="utf-8")
    ended = terminal("audit", "calibrate", labels, "--sample", sample, "--search", search)
    assert ended.code != 0
    assert "records no threshold search" in ended.err


@pytest.mark.parametrize(("risk", "coverage"), [(2.0, 0.3), (0.1, -0.3), (float("nan"), 0.3)])
def test_figures_of_a_search_outside_their_range_are_rejected(
    risk, coverage, terminal, sample, search, tmp_path
):
    labels = tmp_path / "labels.csv"
    generated_release.write_labels(labels, sample, seed=3)
    write_search(search, 0.0, risk, coverage)
    ended = terminal("audit", "calibrate", labels, "--sample", sample, "--search", search)
    assert "records no threshold search" in ended.err


@pytest.mark.skipif(not RELEASE, reason="needs a complete release: SPATIALBENCH_RELEASE=FOLDER")
def test_a_complete_release_reproduces_the_published_figures(terminal, tmp_path):
    folder = Path(RELEASE)
    found = {path.parent.name: path.parent for path in folder.rglob("manifest.jsonl")}
    runs = [found[name] for name in RUNS]
    (before,) = {path.name for path in runs[0].glob("eval_precal*")}
    published = next(folder.rglob("sample.csv"))
    labels = next(folder.rglob("labels*.csv"))
    search = next(folder.rglob("analysis_calibration/audit_metrics.json"))
    drawn = tmp_path / "sample.csv"
    terminal("audit", "sample", *(run / before for run in runs), "--out", drawn)
    assert ids_of(drawn) == ids_of(published)
    found = {}
    for evaluation, analysis in (("eval", "calibrated"), (before, "uncalibrated")):
        expected = independent_audit.report(
            runs, evaluation, ids_of(published), independent_audit.read_labels(labels)
        )
        own = [word for run in runs for word in ("--run", run / evaluation)]
        words = [labels, "--sample", published, *own, "--json"]
        points, answer = check_answers(terminal, words, expected, "--search", search)
        check_published(points, next(folder.rglob(f"analysis_{analysis}/audit_metrics.json")))
        found[evaluation] = len(points), answer
    (calibrated, answer), (uncalibrated, _) = found["eval"], found[before]
    assert (calibrated, uncalibrated) == (93, 121)
    assert answer["best"]["objective"] == pytest.approx(0.36226, abs=5e-6)
    assert answer["search"]["chosen"]["objective"] == pytest.approx(0.35030, abs=5e-6)
    assert answer["search"]["deployed"] == answer["best"]


def check_published(points, path):
    """Compare a curve with the one that the release stores."""
    stored = json.loads(path.read_text(encoding="utf-8"))["risk_coverage_curve"]
    names = ("tau", "coverage", "risk", "n_covered", "n_evaluated")
    assert [tuple(each[name] for name in names) for each in stored] == [
        pytest.approx(tuple(each[name] for name in names), abs=1e-12) for each in points
    ]
