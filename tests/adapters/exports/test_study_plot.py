"""The plot of a study, with intervals."""

from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.adapters.exports.study_plot import PLOT_HEIGHT, study_of, study_plot
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.drawing import Line, Text
from spatialstudio.domain.errors import ExportError
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.verdict import Outcome

SAMPLE = Path(__file__).parents[2] / "golden" / "run_of_schema_1"


@pytest.fixture(scope="module")
def runs(exports):
    """The sample at two numbers of steps and two seeds, of which the first passes."""
    sample = exports.read(SAMPLE)

    def at(steps, seed):
        request = with_values(sample.record.request, steps=steps, seed=seed)
        outcome = Outcome.PASS if seed == 1 else Outcome.FAIL
        evaluation = sample.record.evaluation
        verdicts = tuple(replace(v, outcome=outcome, reason=None) for v in evaluation.verdicts)
        judged = replace(evaluation, verdicts=verdicts)
        return replace(sample, record=replace(sample.record, request=request, evaluation=judged))

    return [at(steps, seed) for steps in (10, 20) for seed in (1, 2)]


def texts(drawing):
    return [item.text for item in drawing.items if isinstance(item, Text)]


def test_each_group_has_a_name_and_each_number_a_panel(runs, exports):
    shown = texts(study_plot(runs, exports.look()))
    assert {"pos", "pse", "passes", "10", "20", "steps"} <= set(shown)
    caption = " ".join(shown)
    assert "over seed; runs by group: 2, 2" in caption
    assert "passes Wilson score" in caption


def test_intervals_stay_inside_the_figure(runs, exports):
    drawing = study_plot(runs, exports.look())
    points = [point for item in drawing.items if isinstance(item, Line) for point in item.points]
    assert all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in points)


def test_lines_are_as_long_as_intervals(runs, exports):
    study = study_of(runs)
    figure = study.groups[0].figures["passes"]
    drawing = study_plot(runs, exports.look())
    lines = [item for item in drawing.items if isinstance(item, Line) and len(item.points) == 2]
    upright = [abs(a[1] - b[1]) for a, b in (line.points for line in lines) if a[0] == b[0]]
    assert max(upright) == pytest.approx(PLOT_HEIGHT * (figure.high - figure.low))


def test_runs_that_differ_in_the_seed_only_are_rejected(runs, exports):
    with pytest.raises(ExportError, match="do not differ"):
        study_plot(runs[:2], exports.look())


@pytest.mark.parametrize(("ending", "head"), [("png", b"\x89PNG"), ("svg", b"<"), ("pdf", b"%PDF")])
def test_a_study_plot_is_written_in_every_format(runs, exports, tmp_path, ending, head):
    target = tmp_path / f"study.{ending}"
    made = exports.exporter.make(runs, EXPORT_KINDS["study"], exports.look(), ending)
    exports.exporter.write(made, target)
    assert target.read_bytes().startswith(head)
