"""The main panel of the benchmark workspace."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from spatialstudio.application.benchmark.monitor import BenchmarkRefused
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.benchmark.benchmark_panel import BenchmarkPanel, Shown
from spatialstudio.ui.gallery.widgets.filter_line import FilterLine
from tests.ui.benchmark.conftest import changed


@pytest.fixture
def panel(context, shown, qtbot):
    made = shown(BenchmarkPanel(context))
    qtbot.waitUntil(lambda: made.matrix.current is not None)
    return made


def test_without_a_benchmark_a_sentence_and_a_button_are_shown(context, qtbot):
    panel = BenchmarkPanel(context)
    qtbot.addWidget(panel)
    panel.show()
    assert not panel.matrix.isVisible()


def test_progress_is_told_in_words(panel):
    assert "6 of 8 judged, 1 failed" in panel._progress.text()


def test_arrows_move_between_cells_and_tell_screen_readers(panel, qtbot):
    qtbot.keyClick(panel.matrix, Qt.Key.Key_Right)
    assert panel.matrix.current == 1
    assert "FAIL" in panel.matrix.accessibleDescription()
    qtbot.keyClick(panel.matrix, Qt.Key.Key_End)
    assert panel.matrix.current == 5


def test_a_click_moves_to_a_cell(panel, qtbot):
    place = panel.matrix.place_of(1, 3).center().toPoint()
    qtbot.mouseClick(panel.matrix.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert panel.matrix.current == 7


def test_a_filter_leaves_out_rows_without_matches(panel, qtbot):
    panel.use_line("relation:above")
    qtbot.waitUntil(lambda: "4 of 8" in panel._count.text())
    assert panel.matrix.current in (2, 3, 6, 7)


def test_an_invalid_filter_is_explained(panel, qtbot):
    panel.use_line("stars>2")
    problem = panel.findChild(FilterLine).problem
    qtbot.waitUntil(problem.isVisible)
    assert "does not apply" in problem.text()


def test_the_table_sorts_cells_without_a_value_last(panel, qtbot):
    panel._show_kind(Shown.LIST)
    qtbot.waitUntil(lambda: panel.list.model().rowCount() == 8)
    panel.list.sortByColumn(6, Qt.SortOrder.DescendingOrder)
    cells = panel.list.model().cells.tolist()
    assert cells[:3] == [0, 4, 5]
    assert set(cells[6:]) == {3, 6}


def test_a_cell_without_a_picture_says_so(panel, context):
    told = []
    context.toasts.toast_raised.connect(told.append)
    panel.open_cell(3)
    assert len(told) == 1


class ReadAtOnce:
    """Reads a file while the panel waits."""

    def read(self, subject, title, work, show, fail):
        show(work())


def test_a_picture_opens_in_evaluate(context, shown, monkeypatch):
    asked, run = [], object()
    context = replace(context, reading=ReadAtOnce())
    context.window_signals.workspace_asked.connect(asked.append)
    monkeypatch.setattr(context.studio, "read_run", lambda path: (run, path))
    monkeypatch.setattr(context.studio, "show_run", asked.append)
    shown(BenchmarkPanel(context)).open_cell(4)
    assert asked == [(run, Path("/bench/4.png")), "evaluate"]


def test_a_folder_that_cannot_be_opened_is_reported(panel):
    problems = []
    panel.problem_met.connect(problems.append)
    error = ErrorReport(title="", message="No benchmark.", hint="", details="")
    panel.handle(BenchmarkRefused(folder=Path("/other"), error=error))
    assert problems == [error]


def test_new_results_keep_the_current_cell(panel, qtbot):
    qtbot.keyClick(panel.matrix, Qt.Key.Key_Down)
    before = panel.matrix.current
    panel.handle(changed(states=[2] * 8))
    qtbot.waitUntil(lambda: "8 of 8" in panel._progress.text())
    assert panel.matrix.current == before
