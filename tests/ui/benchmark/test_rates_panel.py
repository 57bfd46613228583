"""Bars of pass rates: a click finds the pictures."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton

from spatialstudio.ui.benchmark.rates_panel import RatesPanel
from spatialstudio.ui.framework.plot_saving import write_plot


@pytest.fixture
def lines(context):
    found = []
    context.window_signals.cells_asked.connect(found.append)
    return found


@pytest.fixture
def panel(context, shown, qtbot, lines):
    made = shown(RatesPanel(context))
    qtbot.waitUntil(made.bars.isVisible)
    return made


def press(panel, text):
    button = next(each for each in panel.findChildren(QToolButton) if each.text() == text)
    button.click()


def rows(panel):
    return panel.bars.table().rows


def test_each_method_has_a_bar_with_its_interval(panel):
    (plain, psg) = rows(panel)
    assert plain[:2] == ("", "plain")
    assert plain[2] == pytest.approx(1 / 3)
    assert plain[3] < plain[2] < plain[4]
    assert psg[5] == 3


def test_a_click_on_a_bar_asks_for_its_pictures(panel, qtbot, lines):
    place = panel.bars.position_of(1.0)
    qtbot.mouseClick(panel.bars, Qt.MouseButton.LeftButton, pos=place)
    assert lines == ["method:psg is:judged"]


def test_the_keyboard_reads_and_picks_bars(panel, qtbot, lines):
    qtbot.keyClick(panel.bars, Qt.Key.Key_Down)
    assert "plain" in panel.bars.accessibleDescription()
    qtbot.keyClick(panel.bars, Qt.Key.Key_Down)
    qtbot.keyClick(panel.bars, Qt.Key.Key_Return)
    assert lines == ["method:psg is:judged"]


def test_methods_stand_side_by_side_for_each_relation(panel):
    press(panel, "Relation")
    assert [row[:2] for row in rows(panel)] == [
        ("to the left of", "plain"),
        ("to the left of", "psg"),
        ("above", "plain"),
        ("above", "psg"),
    ]


def test_abstentions_are_counted_by_reason(panel, qtbot, lines):
    press(panel, "Reasons")
    assert [row[0] for row in rows(panel)] == ["near_boundary", "near_boundary"]
    qtbot.keyClick(panel.bars, Qt.Key.Key_Down)
    qtbot.keyClick(panel.bars, Qt.Key.Key_Return)
    assert lines == ['method:plain "near_boundary" is:judged']


@pytest.mark.parametrize(
    ("suffix", "start"),
    [("svg", b"<?xml"), ("pdf", b"%PDF"), ("png", b"\x89PNG"), ("csv", b"group")],
)
def test_the_figure_is_saved(panel, tmp_path, suffix, start):
    write_plot(panel.bars, tmp_path / f"rates.{suffix}")
    assert (tmp_path / f"rates.{suffix}").read_bytes().startswith(start)


def test_without_a_benchmark_a_sentence_is_shown(context, qtbot):
    panel = RatesPanel(context)
    qtbot.addWidget(panel)
    panel.show()
    assert "Open a benchmark" in panel._remark.text()
    assert not panel.bars.isVisible()
