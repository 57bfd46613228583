"""The chosen run is told, and what is written there goes to all that are chosen."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit

from spatialstudio.ui.gallery.gallery_details_panel import GalleryDetailsPanel
from spatialstudio.ui.gallery.widgets.star_row import StarRow
from tests.ui.by_name import named
from tests.ui.scripted_engine import PROMPT

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def details(drawn, panel):
    return drawn.findChild(GalleryDetailsPanel)


def field(details, name):
    return named(details, QLineEdit, name)


def texts(details):
    return [label.text() for label in details.findChildren(QLabel) if label.isVisible()]


def test_it_tells_what_the_run_claims_and_how_it_was_made(details):
    shown = texts(details)
    assert PROMPT in shown
    assert "dog to the left of car" in shown
    assert "layout, step size 100" in shown


def test_t_writes_tags_and_return_goes_back_to_the_grid(qtbot, drawn, panel, details, studio):
    path = drawn.context.gallery.current.path
    panel.grid.setFocus()
    qtbot.keyClick(panel.grid, Qt.Key.Key_T)
    tags = field(details, "Tags")
    assert tags.hasFocus()
    qtbot.keyClicks(tags, "blue, for Ada")
    qtbot.keyClick(tags, Qt.Key.Key_Return)
    assert panel.grid.hasFocus()
    qtbot.waitUntil(lambda: studio.library.marks(path).tags == ("blue", "for Ada"))


def test_tags_of_several_runs_keep_the_tags_of_each(qtbot, drawn, panel, details, studio):
    panel.grid.setFocus()
    assert any("export, study and metrics take all of them" in text for text in texts(details))
    qtbot.keyClick(panel.grid, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: len(panel.grid._keys) == 2)
    assert not any("export, study and metrics take all of them" in text for text in texts(details))
    qtbot.keyClick(panel.grid, Qt.Key.Key_T)
    tags = field(details, "Tags")
    qtbot.keyClicks(tags, "own")
    qtbot.keyClick(tags, Qt.Key.Key_Return)
    qtbot.keyClick(panel.grid, Qt.Key.Key_A, CONTROL)
    qtbot.keyClick(panel.grid, Qt.Key.Key_T)
    qtbot.keyClicks(tags, "own, both")
    qtbot.keyClick(tags, Qt.Key.Key_Return)
    entries = studio.library.entries(studio.library.list())
    qtbot.waitUntil(
        lambda: sorted(len(studio.library.marks(entry.path).tags) for entry in entries) == [1, 2]
    )
    assert "2 runs selected; rating, tags and note apply to all of them" in texts(details)


def test_a_note_is_kept_and_can_be_undone(qtbot, drawn, details, studio):
    path = drawn.context.gallery.current.path
    note = field(details, "Note")
    note.setFocus()
    qtbot.keyClicks(note, "the nicest")
    qtbot.keyClick(note, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: studio.library.marks(path).note == "the nicest")
    drawn.context.edits.undo()
    qtbot.waitUntil(lambda: studio.library.marks(path).note == "")


def test_stars_are_given_by_hand(qtbot, drawn, details):
    stars = details.findChild(StarRow)
    qtbot.keyClick(stars, Qt.Key.Key_4)
    assert drawn.context.gallery.current.marks.stars == 4
    qtbot.keyClick(stars, Qt.Key.Key_Left)
    assert drawn.context.gallery.current.marks.stars == 3
    assert stars.stars == 3
