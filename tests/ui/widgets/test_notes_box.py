import pytest
from PySide6.QtWidgets import QLabel

from spatialstudio.ui.widgets.notes_box import NotesBox


@pytest.fixture
def notes(qtbot, theme):
    box = NotesBox(theme)
    qtbot.addWidget(box)
    return box


def test_without_notes_it_is_not_there(notes):
    notes.show_notes(())
    assert not notes.isVisible()


def test_each_note_has_a_line(notes):
    notes.show_notes(("One.", "Two."))
    assert "One.\nTwo." in [label.text() for label in notes.findChildren(QLabel)]
    assert notes.isVisible()
