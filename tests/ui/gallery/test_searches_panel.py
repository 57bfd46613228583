"""Searches are saved, used and removed; days are gone to."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QInputDialog, QListWidget, QPushButton

from spatialstudio.ui.gallery.searches_panel import SearchesPanel
from spatialstudio.ui.gallery.widgets.day_list import DayList
from spatialstudio.ui.gallery.widgets.filter_line import FilterLine


@pytest.fixture
def panel(drawn, gallery):
    return drawn.findChild(SearchesPanel)


def searches(panel):
    return next(each for each in panel.findChildren(QListWidget) if not isinstance(each, DayList))


def names(panel):
    listed = searches(panel)
    return [listed.item(row).text() for row in range(listed.count())]


def press(qtbot, panel, text):
    button = next(each for each in panel.findChildren(QPushButton) if each.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def use(qtbot, panel, name):
    listed = searches(panel)
    item = listed.item(names(panel).index(name))
    place = listed.visualItemRect(item).center()
    qtbot.mouseClick(listed.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_a_search_is_used_by_a_click(qtbot, gallery, panel):
    use(qtbot, panel, "Failed")
    assert gallery.findChild(FilterLine).line == "verdict:fail"
    qtbot.waitUntil(lambda: gallery.grid.current is None)
    use(qtbot, panel, "All runs")
    qtbot.waitUntil(lambda: gallery.grid.current is not None)


def test_the_search_in_use_is_saved_under_a_name(qtbot, gallery, panel, studio, drawn, monkeypatch):
    gallery.use_line("method:psg")
    monkeypatch.setattr(QInputDialog, "getText", lambda *_a, **_k: ("Guided", True))
    press(qtbot, panel, "Save…")
    assert studio.library.searches() == {"Guided": "method:psg"}
    assert names(panel)[-1] == "Guided"
    press(qtbot, panel, "Remove")
    assert studio.library.searches() == {}
    drawn.context.edits.undo()
    assert studio.library.searches() == {"Guided": "method:psg"}


def test_the_timeline_tells_the_days(qtbot, drawn, panel):
    days = panel.findChild(DayList)
    assert days.count() == 1
    assert days.item(0).data(Qt.ItemDataRole.AccessibleTextRole).endswith(": 2")
    late = SearchesPanel(drawn.context)  # made after the days were listed
    qtbot.addWidget(late)
    assert late.findChild(DayList).count() == len(drawn.context.gallery.days) == 1
