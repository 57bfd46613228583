"""Figures of benchmarks for papers."""

import numpy as np
import pytest

from spatialstudio.adapters.exports.benchmark_plot import (
    BenchmarkPlots,
    best_of_n_drawing,
    race_drawing,
    rates_drawing,
)
from spatialstudio.application.themes import load_theme
from spatialstudio.domain.benchmark_figures import MethodRates, RaceCurves, ScalingCurves
from spatialstudio.domain.drawing import Line, Text
from spatialstudio.domain.export import ExportLook, FigureCaption
from spatialstudio.domain.resources import resources_folder
from spatialstudio.science.benchmark.opse import corrected, published
from spatialstudio.science.statistics.intervals import mean_bootstrap, share_interval

LOOK = ExportLook(palette=load_theme(resources_folder() / "themes" / "light.toml"))
CAPTION = FigureCaption(title="Pairs: pass rates", lines=("Pairs. Wilson's intervals.",))
RATES = [
    MethodRates(
        title="PASS over all", rates={"plain": share_interval(3, 8), "psg": share_interval(8, 8)}
    ),
    MethodRates(
        title="PASS over decided",
        rates={"plain": share_interval(0, 0), "psg": share_interval(8, 8)},
    ),
]


def texts(drawing):
    return [item.text for item in drawing.items if isinstance(item, Text)]


def is_inside(drawing):
    points = [point for item in drawing.items if isinstance(item, Line) for point in item.points]
    points += [item.at for item in drawing.items if isinstance(item, Text)]
    return all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in points)


def test_each_rate_has_its_interval_and_number_and_none_says_so():
    drawing = rates_drawing(RATES, CAPTION, LOOK)

    assert "37.5 [13.7, 69.4] %, n = 8" in texts(drawing)
    assert "none (n = 0)" in texts(drawing)
    assert "Pairs. Wilson's intervals." in texts(drawing)
    assert is_inside(drawing)


def test_curves_of_the_best_of_n_have_a_panel_per_value():
    curve = {n: mean_bootstrap([0.1 * n, 0.2 * n, 0.3]) for n in (1, 2, 4)}
    panels = [
        ScalingCurves(value=value, curves={"plain": curve, "psg": curve})
        for value in ("pass", "pse")
    ]

    drawing = best_of_n_drawing(panels, CAPTION, LOOK)

    assert {"Mean of the best by pass", "Mean of the best by pse", "4", "psg"} <= {*texts(drawing)}
    assert is_inside(drawing)


def race(choice):
    return RaceCurves(
        names=("plain", "psg"),
        pulls=choice.history.astype(float),
        leads=choice.leads,
        radii=choice.radii,
    )


def test_a_choice_shows_leads_with_their_bounds_and_the_scores_read():
    scores = np.array([[0.0] * 300, [1.0] * 300])
    choice = corrected(scores, np.random.default_rng(0))

    drawing = race_drawing(race(choice), CAPTION, LOOK)

    assert sum(isinstance(item, Line) and item.is_dashed for item in drawing.items) == 2
    assert {"Lead of the best method, and its lower bound (dashed)", "Scores read"} <= {
        *texts(drawing)
    }
    assert is_inside(drawing)


def test_the_published_procedure_has_pulls_only():
    choice = published([[0.1, 0.2], [0.9, 0.8]], np.random.default_rng(0))

    drawing = race_drawing(race(choice), CAPTION, LOOK)

    assert "Pulls" in texts(drawing)
    assert not any(isinstance(item, Line) and item.is_dashed for item in drawing.items)


@pytest.mark.parametrize(("ending", "sign"), [("pdf", b"/FontFile2"), ("svg", b"@font-face")])
def test_vector_figures_embed_their_fonts(ending, sign):
    plots = BenchmarkPlots(resources_folder() / "fonts")

    content = plots.rates(RATES, CAPTION, LOOK, ending).content

    assert sign in content
