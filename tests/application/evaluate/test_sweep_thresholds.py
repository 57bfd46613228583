from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.records.spatialbench_uc import SpatialBenchRuns
from spatialstudio.application.evaluate.recorded_runs import (
    judge_sample,
    report_of,
    sweep_thresholds,
)
from spatialstudio.domain.errors import StoreError

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def run():
    folder = ROOT / "tests" / "golden" / "spatialbench_run"
    return SpatialBenchRuns(ROOT / "resources").read(folder)


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1, 0.3])
def test_each_margin_gives_the_verdicts_of_judging_with_it(run, margin):
    (row,) = sweep_thresholds(run, run.settings, [margin], [0.0])
    settings = replace(run.settings, margin=margin)
    counts = report_of([judge_sample(s, settings) for s in run.samples], settings).all
    assert (row.passes, row.fails, row.total) == (counts.passes, counts.fails, counts.total)
    assert row.coverage == counts.coverage


def test_answers_of_low_confidence_are_abstentions(run):
    rows = sweep_thresholds(run, run.settings, [0.1], [0.0, 0.8, 1.0])
    assert rows[0].coverage > rows[1].coverage >= rows[2].coverage == 0


def test_a_run_without_a_perception_cannot_be_swept(run):
    blind = replace(run, samples=tuple(replace(s, perception=None) for s in run.samples))
    with pytest.raises(StoreError):
        sweep_thresholds(blind, run.settings)


def test_a_picture_without_a_perception_counts_among_all(run):
    first, *others = run.samples
    holed = replace(run, samples=(replace(first, perception=None), *others))
    (row,) = sweep_thresholds(holed, run.settings, [0.1], [0.0])
    assert row.total == len(run.samples)
