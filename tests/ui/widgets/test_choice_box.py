import pytest
from PySide6.QtCore import Qt

from spatialstudio.ui.widgets.choice_box import ChoiceBox

BEGINNING = "the beginning of what"
CHOICES = (f"{BEGINNING} is chosen", f"{BEGINNING} is chosen, much longer than there is room for")


@pytest.fixture
def box(qtbot):
    box = ChoiceBox("Choice")
    qtbot.addWidget(box)
    for choice in CHOICES:
        box.addItem(choice)
    box.resize(box.fontMetrics().horizontalAdvance(BEGINNING), box.sizeHint().height())
    box.show()
    return box


def test_it_asks_for_little_room(box):
    assert box.sizeHint().width() < box.fontMetrics().horizontalAdvance(BEGINNING)


def test_what_is_too_long_ends_in_dots_whatever_follows(qtbot, box):
    shorter = box.grab().toImage()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert box.currentText() == CHOICES[1]
    assert box.grab().toImage() == shorter


def test_what_fits_is_shown_whole(qtbot, box):
    box.resize(box.fontMetrics().horizontalAdvance(CHOICES[1]) * 2, box.height())
    shorter = box.grab().toImage()
    qtbot.keyClick(box, Qt.Key.Key_Down)
    assert box.grab().toImage() != shorter
