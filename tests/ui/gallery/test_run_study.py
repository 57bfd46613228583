"""A study of a sweep: from the gallery to a table and a plot with intervals."""

from dataclasses import replace

import pytest
from pyqtgraph import AxisItem
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QPushButton,
    QTableWidget,
)

from spatialstudio.application.gallery.study import study_table
from spatialstudio.science.statistics.study import StudyRun
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery import run_study
from spatialstudio.ui.gallery.metric_table_panel import MetricTablePanel
from spatialstudio.ui.gallery.run_study import contents_of
from spatialstudio.ui.gallery.study_dialog import StudyDialog
from spatialstudio.ui.gallery.widgets.study_contents import StudyPoint
from spatialstudio.ui.gallery.widgets.study_plot import StudyPlot
from tests.ui.gallery.test_sweep_panel import begun, panel, sweep_id  # noqa: F401 - fixtures
from tests.ui.pdf_text import figure_text, pdf_characters


def run_of(strength, seed, **values):
    settings = {"strength": float(strength), "seed": seed, "prompt": "a dog"}
    return StudyRun(run=f"{strength}-{seed}", settings=settings, values=values)


RUNS = (
    *(run_of(0, seed, pos=0.4 + seed / 100, passes=0.0) for seed in range(3)),
    *(run_of(5, seed, pos=0.7 + seed / 50, passes=1.0) for seed in range(2)),
    run_of(5, 2),
)
"""Two strengths by three seeds; the last run has no number."""


def choices(dialog):
    return {box.accessibleName(): box for box in dialog.findChildren(QComboBox)}


def cells(dialog):
    table = dialog.findChild(QTableWidget)
    return [
        [table.item(row, place).text() for place in range(table.columnCount())]
        for row in range(table.rowCount())
    ]


@pytest.fixture
def dialog(qtbot, begun, panel):  # noqa: F811
    """The study of the sweep that is shown."""
    begun.context.actions[commands.STUDY].trigger()
    dialog = begun.findChild(StudyDialog)
    qtbot.waitUntil(lambda: dialog.findChild(QTableWidget).rowCount() > 0)
    return dialog


def test_the_shown_sweep_is_studied_by_its_strengths(dialog):
    rows = cells(dialog)
    assert [row[0] for row in rows] == ["0", "5"]
    assert sum(int(row[1]) for row in rows) == 3
    assert len(dialog.findChild(StudyPlot).points) == 2


def test_the_number_is_chosen_and_the_table_copied(qtbot, dialog):
    box = choices(dialog)["Number"]
    box.setFocus()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert dialog.number == box.currentData() != "pos"
    dialog.copy_asked.emit()
    head, *rows = QGuiApplication.clipboard().text().splitlines()
    assert dialog.number in head.split("\t")
    assert len(rows) == 2


def test_a_metric_is_chosen(qtbot, dialog):
    box = choices(dialog)["Number"]
    assert box.findText("VISOR") >= 0
    box.setFocus()
    for _ in range(box.findText("VISOR")):
        qtbot.keyClick(box, Qt.Key.Key_Down)
    assert dialog.number == "visor"
    head = dialog.findChild(QTableWidget).horizontalHeaderItem(2)
    assert head.text() == "VISOR, 95 %"
    assert sum(int(row[3]) for row in cells(dialog)) == 3


def test_the_grouping_is_chosen(qtbot, dialog):
    box = choices(dialog)["Group by"]
    place = box.findText("Seed")
    box.setFocus()
    for _ in range(place):
        qtbot.keyClick(box, Qt.Key.Key_Down)
    assert [row[0] for row in cells(dialog)] == ["7", "8"]


def test_a_closed_stack_stands_for_its_runs(qtbot, gallery, drawn):
    assert len(drawn.context.gallery.ids) == 1
    drawn.context.actions[commands.STUDY].trigger()
    dialog = drawn.findChild(StudyDialog)
    qtbot.waitUntil(lambda: dialog.findChild(QTableWidget).rowCount() > 0)
    assert sum(int(row[1]) for row in cells(dialog)) == 2


def test_metrics_are_compared_over_the_runs_of_a_closed_stack(qtbot, gallery, drawn):
    compared = drawn.panel(MetricTablePanel)
    compared.compare_selected()
    assert len(compared._paths) == 2


def click(qtbot, dialog, text):
    buttons = dialog.findChildren(QPushButton)
    button = next(each for each in buttons if each.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def shown_in(dialog):
    return " ".join(label.text() for label in dialog.findChildren(QLabel))


def test_a_notice_follows_the_notes_until_the_next_choice(qtbot, dialog):
    click(qtbot, dialog, "Copy the table")
    assert "averaged over seed." in shown_in(dialog)
    assert "Copied the table as tab-separated text." in shown_in(dialog)
    dialog.choice_picked.emit()
    assert "averaged over seed." in shown_in(dialog)
    assert "Copied" not in shown_in(dialog)


def test_a_saved_plot_states_its_number_groups_and_n(qtbot, dialog, monkeypatch, tmp_path):
    target = tmp_path / "plot.pdf"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(target), ""))
    click(qtbot, dialog, "Save plot…")
    qtbot.waitUntil(lambda: "Wrote plot.pdf." in shown_in(dialog))
    text = figure_text(target.read_bytes())
    assert "PoS (probability)" in text
    assert "Step size" in text
    assert "runs by group: 2, 1; runs without a number: none." in text


def test_the_menu_of_the_plot_saves_the_chosen_groups(qtbot, dialog, monkeypatch, tmp_path):
    box = choices(dialog)["Group by"]
    box.setCurrentIndex(box.findText("Seed"))
    dialog.choice_picked.emit()
    target = tmp_path / "plot.svg"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_a, **_k: (str(target), ""))
    plot = dialog.findChild(StudyPlot)
    next(each for each in plot.actions() if each.text() == "Save plot…").trigger()
    qtbot.waitUntil(lambda: "Wrote plot.svg." in shown_in(dialog))
    assert ">Seed<" in target.read_text()
    assert "PSE" not in target.read_text()


def test_a_saved_plot_needs_two_groups(qtbot, dialog, monkeypatch):
    one_group = study_table(RUNS[:3], "pos")
    monkeypatch.setattr(run_study, "study_table", lambda *_: one_group)
    dialog.choice_picked.emit()
    click(qtbot, dialog, "Save plot…")
    assert "A saved plot needs two groups or more." in shown_in(dialog)


def test_one_run_is_no_study(begun):  # noqa: F811
    begun.context.actions[commands.STUDY].trigger()
    assert begun.findChild(StudyDialog) is None
    assert begun.context.toasts.earlier[-1].message == "Select at least two runs."


def test_missing_numbers_are_counted_and_enter_no_mean():
    table = study_table(RUNS, "pos")
    contents = contents_of(table)
    assert [row[:2] for row in contents.rows] == [("0", "3"), ("5", "3")]
    names = [name for name, _ in contents.columns]
    first, second = (dict(zip(names, row, strict=True)) for row in contents.rows)
    assert (first["n"], first["Missing"]) == ("3", "0")
    assert (second["n"], second["Missing"]) == ("2", "1")
    assert second["PoS, 95 %"].startswith("0.710 [")
    assert second["Difference, 95 %"].startswith("0.305 [")
    assert (second["Pairs"], second["Incomplete"]) == ("2", "1")
    assert (first["Pairs"], first["Incomplete"]) == ("", "")
    assert "A run without this number is missing" in contents.notes


def test_runs_that_are_not_counted_and_runs_left_unguided_are_said():
    first = replace(RUNS[0], recipe=("a dog", 0), is_left_unguided=True)
    contents = contents_of(study_table((*RUNS[1:], first, first), "pos"))
    assert "6 runs, averaged over seed." in contents.notes
    assert "Not counted: 1 run repeats" in contents.notes
    assert "1 of 6 runs needed no guidance, by its trial." in contents.notes


def test_another_group_can_be_the_reference():
    contents = contents_of(study_table(RUNS, "pos", reference=1))
    names = [name for name, _ in contents.columns]
    first, second = (dict(zip(names, row, strict=True)) for row in contents.rows)
    assert names[0] == "Step size"
    assert first["Difference, 95 %"].startswith("-0.305 [")
    assert second["Pairs"] == ""


def test_the_share_of_passes_is_tested():
    contents = contents_of(study_table(RUNS, "passes"))
    assert contents.columns[-1][0] == "Holm p"
    assert contents.rows[1][-1] == "0.5"
    assert contents.bounds == (0, 1)


def test_the_digits_of_the_plot_can_be_extracted_from_a_pdf(bundled_font, dialog):
    assert set("01.") <= pdf_characters(dialog.findChild(StudyPlot).contents("pdf"))


def test_the_plot_says_its_values(qtbot, dialog):
    plot = dialog.findChild(StudyPlot)
    plot.setFocus()
    qtbot.keyClick(plot, Qt.Key.Key_Left)
    QApplication.processEvents()
    assert plot.points[0].name in plot.accessibleDescription()
    assert plot.contents("csv").decode().splitlines()[0] == "group,PoS (probability),low,high"
    drawing = plot.contents("svg")
    assert b"<svg" in drawing
    assert b"<image" not in drawing


def test_small_numbers_are_on_the_axis_as_they_are(qtbot, theme):
    plot = StudyPlot(theme)
    qtbot.addWidget(plot)
    plot.resize(400, 300)
    points = [
        StudyPoint(name=n, value=v, low=v, high=v, said="") for n, v in (("0", 0.328), ("5", 0.352))
    ]
    plot.show_points(("Gap", "Step size"), points, None)
    plot.show()
    plot.contents("png")
    (left,) = (
        each
        for each in plot.surface.items()
        if isinstance(each, AxisItem) and each.orientation == "left"
    )
    assert left.label.toPlainText().strip() == "Gap"


def test_intervals_over_few_prompts_are_noted():
    runs = [
        replace(run, settings={**run.settings, "prompt": prompt}, values={"pos": 0.1 * place})
        for place, prompt in enumerate(("a dog", "a cat"))
        for run in RUNS
    ]
    table = study_table(runs, "pos", by=("strength",))
    assert "Some intervals are over 2 prompts" in contents_of(table).notes


def test_methods_that_differ_are_named_with_their_groups():
    runs = [replace(run, values={"pos": place / 10}) for place, run in enumerate(RUNS)]
    other = [
        replace(run, settings={**run.settings, "prompt": "a cat"}, values={"pos": 0.9})
        for run in RUNS[:2]
    ]
    notes = contents_of(study_table([*runs, *other], "pos", by=("strength",))).notes
    assert "95 % intervals: cluster bootstrap by prompt (0); Student's t (5)." in notes
