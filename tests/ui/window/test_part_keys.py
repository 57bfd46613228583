"""F6 leads the keyboard around the window, past what only Tab would reach in many steps."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDockWidget

from spatialstudio.ui.evaluate.evaluation_panel import EvaluationPanel
from spatialstudio.ui.evaluate.widgets.verdict_card import CheckChip
from spatialstudio.ui.framework import commands as framework_commands

FORWARD, BACK = Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def evaluating(qtbot, drawn):
    """The workspace Evaluate with a judged picture, the keyboard in the middle."""
    drawn.context.actions[framework_commands.EVALUATE_WORKSPACE].trigger()
    qtbot.waitUntil(lambda: bool(drawn.panel(EvaluationPanel).findChildren(CheckChip)))
    drawn.focus_centre()
    return drawn


def part_in_focus(window):
    """Name the dock that has the keyboard; empty for the middle."""
    widget = QApplication.focusWidget()
    while widget is not window and not isinstance(widget, QDockWidget):
        widget = widget.parentWidget()
    return widget.objectName() if isinstance(widget, QDockWidget) else ""


def walk(qtbot, window, modifiers):
    """Press the key until the keyboard is back in the middle; at most ten times."""
    seen = []
    for _ in range(10):
        qtbot.keyClick(window, Qt.Key.Key_F6, modifiers)
        if not (part := part_in_focus(window)):
            break
        seen.append(part)
    return seen


def test_the_key_leads_once_around_the_window(qtbot, evaluating):
    parts = walk(qtbot, evaluating, FORWARD)
    assert parts[0] == "prompt"
    assert parts[1] == "verdict"
    assert {"what_if", "judges"} <= set(parts)
    assert len(parts) == len(set(parts))


def test_with_shift_it_leads_the_other_way(qtbot, evaluating):
    forward = walk(qtbot, evaluating, FORWARD)
    assert walk(qtbot, evaluating, BACK) == forward[::-1]


def test_evidence_is_lit_by_few_keys(qtbot, evaluating):
    qtbot.keyClick(evaluating, Qt.Key.Key_F6)
    qtbot.keyClick(evaluating, Qt.Key.Key_F6)
    chip = QApplication.focusWidget()
    for _ in range(3):
        if isinstance(chip, CheckChip):
            break
        qtbot.keyClick(chip, Qt.Key.Key_Tab)
        chip = QApplication.focusWidget()
    assert isinstance(chip, CheckChip)
    qtbot.keyClick(chip, Qt.Key.Key_Space)
    assert evaluating.context.judgement.lit is not None
