from spatialstudio.adapters.exports.agreement_plot import agreement_drawing
from spatialstudio.application.themes import load_theme
from spatialstudio.domain.audit_figures import (
    AgreementFigure,
    FigureCaption,
    HeatMap,
    IntervalGroup,
)
from spatialstudio.domain.drawing import Line, Text
from spatialstudio.domain.export import ExportLook
from spatialstudio.domain.interval import Interval, IntervalMethod, no_interval
from spatialstudio.domain.resources import resources_folder

LOOK = ExportLook(palette=load_theme(resources_folder() / "themes" / "light.toml"))
CAPTION = FigureCaption(title="Agreement", lines=("Of 8 metrics.",))


def texts(drawing):
    return [item.text for item in drawing.items if isinstance(item, Text)]


def interval(value, low, high):
    return Interval(value=value, low=low, high=high, n=9, method=IntervalMethod.BOOTSTRAP)


def test_the_names_of_many_columns_fit():
    names = tuple(f"Metric number {place}" for place in range(8))
    heat_map = HeatMap(
        rows=names,
        columns=names,
        heading="Spearman's rho",
        texts=(("1.00",) * 8,) * 8,
        shades=((1.0,) * 8,) * 8,
    )
    drawing = agreement_drawing(
        AgreementFigure(heat_map=heat_map, groups=(), caption=CAPTION), LOOK
    )
    assert all(texts(drawing).count(name) == 2 for name in names)
    assert all(0 <= x <= drawing.width for item in drawing.items for x in x_of(item))


def x_of(item):
    return [x for x, _ in item.points] if isinstance(item, Line) else [item.at[0]]


def test_figures_share_an_axis_and_undefined_ones_are_named_only():
    rows = (
        ("low", interval(-0.5, -0.75, -0.25)),
        ("high", interval(0.5, 0.25, 0.75)),
        ("undefined", no_interval(IntervalMethod.BOOTSTRAP, missing=9)),
    )
    groups = (IntervalGroup(title="Kendall's tau-b", rows=rows),)
    drawing = agreement_drawing(
        AgreementFigure(heat_map=None, groups=groups, caption=CAPTION), LOOK
    )
    dots = [each for each in drawing.items if isinstance(each, Line) and each.fill]
    low, high = (min(x_of(each)) for each in dots)
    assert {"low", "high", "undefined", "-"} <= set(texts(drawing))
    ticks = {each.text: each.at[0] for each in drawing.items if isinstance(each, Text)}
    share = (high - low) / (ticks["1"] - ticks["-1"])
    assert abs(share - 0.5) < 1e-9
