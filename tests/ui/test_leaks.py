"""Runs, workspaces and another size of text leave no widget, timer or action behind."""

import threading
from collections import Counter

import pytest
import shiboken6
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QDialog, QDockWidget, QLabel, QWidget

from spatialstudio.ui.compose.commands import LAYOUTS
from spatialstudio.ui.evaluate.widgets.verdict_card import VerdictCard
from spatialstudio.ui.framework.commands import (
    MESSAGES,
    PALETTE,
    SETTINGS,
    SHORTCUTS,
    TOUR,
)
from spatialstudio.ui.run.commands import SWEEP
from spatialstudio.ui.window.workspaces import WORKSPACES
from tests.ui.scripted_engine import PROMPT

DIALOGS = (PALETTE, SHORTCUTS, MESSAGES, TOUR, SETTINGS, LAYOUTS, SWEEP)
TIMES = 5


def settle():
    QCoreApplication.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    QCoreApplication.processEvents()


def alive(window):
    """Count what belongs to a window, by its kind."""
    settle()
    found = [each for kind in (QWidget, QTimer, QAction) for each in window.findChildren(kind)]
    return Counter(type(each).__name__ for each in found)


def alive_anywhere(window):
    """Count what belongs to a window, and all widgets whether they belong to it or not."""
    return alive(window), len(QApplication.allWidgets())


@pytest.fixture
def draw(qtbot, window, engine, studio):
    """Draws a picture with its baseline, to the end."""

    def draw_once():
        window.prompt.use_prompt(PROMPT)
        window.generation.generate()
        jobs, engine.jobs = engine.jobs, []
        engine.play(jobs[0])
        engine.play(jobs[1])
        qtbot.waitUntil(lambda: not window.generation.is_running)
        qtbot.waitUntil(is_shown)

    def is_shown():
        """Tell whether the panels, which draw one a turn, have come to the second verdict."""
        done = [
            label for label in window.findChildren(QLabel) if label.text().startswith("Generated")
        ]
        cards = [card for card in window.findChildren(VerdictCard) if card.isVisible()]
        return bool(done) and len(cards) == 2

    return draw_once


def test_runs_leave_nothing_behind(window, draw):
    draw()
    before = alive_anywhere(window)
    draw()
    draw()
    after = alive_anywhere(window)
    assert not after[0] - before[0]  # a toast of the first run may have gone by itself
    assert after[1] <= before[1]


def test_workspaces_leave_nothing_behind(window):
    def visit_all():
        for workspace in (*WORKSPACES, WORKSPACES[0]):
            window.use_workspace(workspace)

    visit_all()
    before = alive_anywhere(window)
    visit_all()
    assert alive_anywhere(window) == before


def test_another_size_of_text_leaves_nothing_behind(qtbot, window, appearance):
    def use(percent):
        before = window.prompt
        appearance.use_text_percent(percent)
        qtbot.waitUntil(lambda: window.prompt is not before)
        settle()

    first = window.prompt
    use(90)
    use(100)
    before = alive(window)  # at the same size, as a full menu bar has a menu more
    use(90)
    use(100)
    assert alive(window) == before
    assert not shiboken6.isValid(first)


def test_dialogs_leave_nothing_behind(qtbot, window):
    def open_and_close(command):
        window.context.actions[command].trigger()
        (dialog,) = [each for each in window.findChildren(QDialog) if each.isVisible()]
        dialog.close()

    for command in DIALOGS:
        open_and_close(command)
        before, threads = alive_anywhere(window), threading.active_count()
        for _time in range(TIMES):
            open_and_close(command)
        qtbot.waitUntil(lambda before=before: alive_anywhere(window) == before)
        # the library is read in a thread
        qtbot.waitUntil(lambda threads=threads: threading.active_count() <= threads)


def test_docks_that_are_closed_and_opened_leave_nothing_behind(qtbot, window):
    def toggle_all():
        for dock in window.findChildren(QDockWidget):
            if dock.parent() is window:
                dock.toggleViewAction().trigger()

    for workspace in WORKSPACES:
        window.use_workspace(workspace)
        toggle_all()
        toggle_all()
        before, threads = alive_anywhere(window), threading.active_count()
        for _time in range(2 * TIMES):
            toggle_all()
        qtbot.waitUntil(lambda before=before: alive_anywhere(window) == before)
        # the library is read in a thread
        qtbot.waitUntil(lambda threads=threads: threading.active_count() <= threads)
