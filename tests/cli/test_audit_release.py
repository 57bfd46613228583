"""A whole release through the terminal equals an independent script, row by row."""

import csv
import json
import os
from pathlib import Path

import pytest

from tests import generated_release, independent_audit

RELEASE = os.environ.get("SPATIALBENCH_RELEASE", "")
"""Folder of a complete release v1.0.1, for the published figures."""
RUNS = "sd15_promptonly", "sd15_boxdiff", "sd15_gligen"


@pytest.fixture
def release(tmp_path):
    """Three generated runs in the form of the release."""
    return generated_release.write_release(tmp_path / "release", seed=5)


@pytest.fixture
def sample(terminal, release, tmp_path):
    """The sample that the terminal draws from the verdicts before calibration."""
    path = tmp_path / "sample.csv"
    runs = [run / "eval_precal" for run in release]
    assert terminal("audit", "sample", *runs, "--out", path).code == 0
    return path


def ids_of(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return [row["sample_id"] for row in csv.DictReader(file)]


def test_the_sampler_draws_the_ids_of_the_independent_script(release, sample):
    pictures = independent_audit.population(release, "eval_precal")
    assert ids_of(sample) == independent_audit.stratified_sample(pictures)


@pytest.mark.parametrize("evaluation", ["eval", "eval_precal"])
def test_every_figure_equals_the_independent_script(
    evaluation, terminal, release, sample, tmp_path
):
    labels = tmp_path / "labels.csv"
    known = generated_release.write_labels(labels, sample, seed=3)
    expected = independent_audit.report(release, evaluation, ids_of(sample), known)
    runs = [word for run in release for word in ("--run", run / evaluation)]
    own = [labels, "--sample", sample, *runs, "--json"]
    check_answers(terminal, own, expected)


def check_answers(terminal, own, expected):
    agreement = json.loads(terminal("audit", "agreement", *own).out)
    assert agreement["confusion"] == expected["confusion"]
    points = json.loads(terminal("audit", "risk-coverage", *own).out)["points"]
    names = ("tau", "coverage", "risk", "n_covered", "n_evaluated")
    found = [tuple(each[name] for name in names) for each in points]
    assert len(found) == len(expected["points"])
    assert [value for row in found for value in row] == pytest.approx(
        [value for row in expected["points"] for value in row], abs=1e-12
    )
    answer = json.loads(terminal("audit", "calibrate", *own).out)
    for name in ("threshold", "false_pass_rate", "risk", "coverage", "objective"):
        wanted = [row[name] for row in expected["rows"]]
        assert [row[name] for row in answer["rows"]] == pytest.approx(wanted, abs=1e-12)
        assert answer["best"][name] == pytest.approx(expected["best"][name], abs=1e-12)
    return points, answer


@pytest.mark.skipif(not RELEASE, reason="needs a complete release: SPATIALBENCH_RELEASE=FOLDER")
def test_a_complete_release_reproduces_the_published_figures(terminal, tmp_path):
    folder = Path(RELEASE)
    found = {path.parent.name: path.parent for path in folder.rglob("manifest.jsonl")}
    runs = [found[name] for name in RUNS]
    published = next(folder.rglob("sample.csv"))
    labels = next(folder.rglob("labels*.csv"))
    drawn = tmp_path / "sample.csv"
    terminal("audit", "sample", *(run / "eval_precal" for run in runs), "--out", drawn)
    assert ids_of(drawn) == ids_of(published)
    counts = {}
    for evaluation in ("eval", "eval_precal"):
        expected = independent_audit.report(
            runs, evaluation, ids_of(published), independent_audit.read_labels(labels)
        )
        own = [word for run in runs for word in ("--run", run / evaluation)]
        words = [labels, "--sample", published, *own, "--json"]
        counts[evaluation] = check_answers(terminal, words, expected)
    (calibrated, deployed), (before, _) = counts["eval"], counts["eval_precal"]
    assert (len(calibrated), len(before)) == (93, 121)
    assert deployed["best"]["objective"] == pytest.approx(0.36226, abs=5e-6)
