import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QPushButton

from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.framework.bridge import Bridge
from spatialstudio.ui.gallery.metric_table_panel import MetricTablePanel
from spatialstudio.ui.widgets.row_table import RowTable
from tests.application.evaluate.test_metric_table import ROWS
from tests.application.questions.answerers import FakeAnswerer, always_right
from tests.application.questions.folders import asked_folder


@pytest.fixture
def panel(qtbot, context):
    panel = MetricTablePanel(context)
    bridge = Bridge(context.studio.bus, context.studio, context.reading)
    qtbot.addWidget(panel)
    panel.resize(1000, 300)
    panel.show()
    yield panel
    bridge.close()


@pytest.fixture
def results(tmp_path):
    """Results of evaluate over three pictures."""
    rows = [{**row, "picture": f"/p/{n}.png"} for n, row in enumerate(ROWS)]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.fixture
def compared(qtbot, panel, results):
    panel.compare([results])
    qtbot.waitUntil(lambda: table(panel, "Metrics").isVisible())
    return panel


def table(panel, name):
    return next(each for each in panel.findChildren(RowTable) if each.accessibleName() == name)


def rows(shown):
    places = range(shown.columnCount())
    return [[shown.item(row, place).text() for place in places] for row in range(shown.rowCount())]


@pytest.mark.parametrize(("width", "height"), [(1000, 300), (400, 900)], ids=["wide", "tall"])
def test_every_table_has_the_room_of_its_titles(qtbot, compared, width, height):
    compared.resize(width, height)
    names = ("Metrics", "Rank correlations, weakest first", "Disagreements, largest first")
    qtbot.waitUntil(lambda: all(table(compared, name).width() > 140 for name in names))


def test_metrics_pairs_and_disagreements_are_listed(compared):
    assert rows(table(compared, "Metrics")) == [
        ["SpatialBench-UC", "2", "0.500"],
        ["Scene graph", "3", "0.633"],
        ["VISOR", "3", "0.667"],
    ]
    pairs = rows(table(compared, "Rank correlations, weakest first"))
    assert pairs[0][0] == "all metrics"
    assert pairs[1][0] == "Scene graph, VISOR"
    first = rows(table(compared, "Disagreements, largest first"))[0]
    assert first == ["0.75", "a dog to the left of a car", "2", "", "0.20 (0.00)", "1.00 (0.75)"]


def test_a_correlation_without_bounds_says_why(qtbot, panel, results):
    rows_of_one = [
        {**row, "picture": f"/p/{n}.png", "scene_graph_score": 0.5} for n, row in enumerate(ROWS)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows_of_one)
    (results / "answers.jsonl").write_text(text)
    panel.compare([results])
    pairs = table(panel, "Rank correlations, weakest first")
    qtbot.waitUntil(pairs.isVisible)
    assert [row[1] for row in rows(pairs)[1:]] == [
        "1.00 (no interval: one prompt)",
        "undefined",
        "undefined",
    ]


def test_a_pair_lists_the_pictures_that_it_ranks_differently(qtbot, compared):
    pairs = table(compared, "Rank correlations, weakest first")
    qtbot.keyClick(pairs, Qt.Key.Key_Down)
    shown = table(compared, "Disagreements, largest first")
    assert [shown.horizontalHeaderItem(n).text() for n in range(5)] == [
        "Difference",
        "Prompt",
        "Picture",
        "Scene graph",
        "VISOR",
    ]
    assert rows(shown)[0][0] == "0.75"


def test_a_picture_is_opened_or_the_error_reported(qtbot, compared):
    shown = table(compared, "Disagreements, largest first")
    with qtbot.waitSignal(compared.problem_met) as met:
        shown.row_opened.emit(0)  # /p/2.png does not exist
    assert isinstance(met.args[0], ErrorReport)


def test_too_few_pictures_are_explained(qtbot, panel, tmp_path):
    (tmp_path / "empty").mkdir()
    panel.compare([tmp_path / "empty"])
    qtbot.waitUntil(lambda: "Comparing" not in panel._state.text())
    assert panel._state.text() != "Compares metrics over at least three judged pictures."


def test_buttons_need_a_selection_or_a_benchmark(panel):
    buttons = {each.text(): each for each in panel.findChildren(QPushButton)}
    assert not buttons["Selected runs"].isEnabled()
    assert not buttons["Benchmark"].isEnabled()
    assert buttons["Folder…"].isEnabled()


def test_answers_to_questions_become_a_metric(qtbot, panel, tmp_path):
    folder = asked_folder(tmp_path, FakeAnswerer(always_right), count=3)
    lines = [
        {**each, "picture": str(path)}
        for each, path in zip(ROWS, sorted((tmp_path / "pictures").iterdir()), strict=True)
    ]
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    panel.compare([results])
    panel.add_answers(folder)
    qtbot.waitUntil(lambda: ["SpatialGenEval", "3", "1.000"] in rows(table(panel, "Metrics")))


@pytest.mark.parametrize(
    "export",
    [
        ("out", "Pictures (*.csv)", "picture,prompt,spread,checker,scene_graph,visor,"),
        ("out.tex", "LaTeX table (*.tex)", r"\begin{tabular}{llrrr}"),
        ("out", "Figure (*.svg)", "<svg"),
    ],
    ids=["csv", "latex", "figure"],
)
def test_a_comparison_is_exported(qtbot, compared, monkeypatch, tmp_path, export):
    name, kind, begins = export
    chosen = tmp_path / "written" / name
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(chosen), kind))
    button = next(each for each in compared.findChildren(QPushButton) if each.text() == "Export…")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    target = chosen.with_suffix("." + kind.rpartition("*.")[2].rstrip(")"))
    qtbot.waitUntil(target.exists)
    lines = target.read_text().splitlines()
    assert lines[0].startswith(begins)
    known = ("0.75", "Scene graph & VISOR", "Scene graph, VISOR")
    assert any(each in line for each in known for line in lines)


def test_an_export_needs_a_comparison(panel):
    buttons = {each.text(): each for each in panel.findChildren(QPushButton)}
    assert not buttons["Export…"].isEnabled()
