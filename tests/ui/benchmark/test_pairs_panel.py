"""Two methods compared, with the pictures that changed most."""

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt

from spatialstudio.domain.benchmark_cells import CellState
from spatialstudio.ui.benchmark.pairs_panel import PairsPanel
from spatialstudio.ui.benchmark.race_panel import RacePanel
from spatialstudio.ui.benchmark.widgets.pair_list import JudgedPicture
from tests.benchmark_cells import FAIL, PASS, grid
from tests.ui.benchmark.conftest import changed
from tests.ui.benchmark.test_benchmark_panel import ReadAtOnce

WAITING = CellState.WAITING


@pytest.fixture
def context(context):
    return replace(context, reading=ReadAtOnce())


@pytest.fixture
def panel(context, shown):
    return shown(PairsPanel(context))


def pictures(panel):
    return panel.pairs.findChildren(JudgedPicture)


def test_a_comparison_has_its_difference_and_test(panel):
    panel.compare()
    words = panel._result.text()
    assert "psg − plain: 0.5" in words  # noqa: RUF001 - a minus sign
    assert "only psg passes: 1" in words
    assert "McNemar" in words


def test_the_largest_change_is_first_and_opens(panel, context, qtbot):
    opened = []
    context.window_signals.cell_asked.connect(opened.append)
    panel.compare()
    assert len(pictures(panel)) == 4
    qtbot.mouseClick(pictures(panel)[1], Qt.MouseButton.LeftButton)
    qtbot.keyClick(pictures(panel)[0], Qt.Key.Key_Return)
    assert opened == [5, 1]


def test_the_same_method_twice_is_no_comparison(panel):
    panel.compare()
    panel._second.setCurrentIndex(0)
    assert "two different methods" in panel._result.text()


def test_another_benchmark_offers_its_methods(panel):
    axes = grid(methods=("a", "b", "c"))
    panel.handle(changed(axes, [PASS] * len(axes)))
    assert [panel._first.itemText(n) for n in range(panel._first.count())] == ["a", "b", "c"]


def test_one_method_cannot_be_compared(context, shown):
    axes = grid(methods=("a",))
    panel = shown(PairsPanel(context), changed(axes, [PASS] * len(axes)))
    assert not panel._renew.isEnabled()
    assert "two methods" in panel._result.text()


def test_the_best_method_is_chosen_and_plotted(context, shown):
    axes = grid(prompts=100)
    states = [FAIL] * 200 + [PASS] * 200
    panel = shown(RacePanel(context), changed(axes, states))
    panel.choose()
    assert "psg is the best" in panel._result.text()
    assert panel.plot.isVisible()
    table = panel.plot.table()
    assert table.rows[0][:3] == (1, "plain", 1)
    assert "psg: behind by 0.000" in panel.plot.text_at(1)


def test_the_choice_follows_the_pictures_that_are_judged(context, shown, qtbot):
    axes = grid(prompts=100)
    panel = shown(RacePanel(context), changed(axes, [FAIL, WAITING] * 100 + [PASS, WAITING] * 100))
    panel.handle(changed(axes, [FAIL] * 400))
    assert not panel.plot.isVisible()  # before the first choice
    panel.handle(changed(axes, [FAIL, WAITING] * 100 + [PASS, WAITING] * 100))
    panel.choose()
    assert "of 200 scores" in panel._result.text()
    panel.handle(changed(axes, [FAIL] * 200 + [PASS] * 200))
    qtbot.waitUntil(lambda: "of 400 scores" in panel._result.text())


def test_a_choice_does_not_outlive_its_benchmark(context, shown, qtbot):
    panel = shown(RacePanel(context))
    panel.choose()
    assert panel.plot.isVisible()
    panel.handle(changed(folder=Path("/other")))
    assert not panel.plot.isVisible()
    assert "Reads the scores" in panel._result.text()


def test_the_published_procedure_states_its_pulls(context, shown):
    axes = grid(prompts=100)
    panel = shown(RacePanel(context), changed(axes, [FAIL] * 200 + [PASS] * 200))
    panel._published.click()
    assert panel._made is None  # nobody has asked for a choice
    panel.choose()
    choice = panel._made.choice
    assert sum(choice.pulls) == 92  # one pull each, then t = 11 to 100
    words = f"psg is pulled most. Pulls of 5 scores: plain {choice.pulls[0]}, psg"
    assert words in panel._result.text()
    assert not panel.plot.isVisible()
    panel._published.click()
    assert "psg is the best" in panel._result.text()


def test_the_settings_of_one_method_make_no_choice(context, shown):
    axes = grid(methods=("a",))
    panel = shown(RacePanel(context), changed(axes, [PASS] * len(axes)))
    problems = []
    panel.problem_met.connect(problems.append)
    panel._published.click()
    panel._values.choice_picked.emit("pse")
    assert "two methods" in panel._result.text()
    assert not problems


def test_a_choice_that_is_not_certain_says_so(context, shown):
    panel = shown(RacePanel(context))
    panel.choose()
    assert "do not decide" in panel._result.text()
