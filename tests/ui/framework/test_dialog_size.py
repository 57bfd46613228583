import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog, QWidget

from spatialstudio.ui.framework.dialog_size import give_room


@pytest.fixture
def window(qtbot):
    window = QWidget()
    window.resize(640, 400)
    qtbot.addWidget(window)
    return window


@pytest.mark.parametrize(
    ("wanted", "fits"), [(QSize(200, 100), True), (QSize(2000, 100), False), (QSize(9, 999), False)]
)
def test_a_dialog_is_never_larger_than_its_window(window, wanted, fits):
    dialog = QDialog(window)
    give_room(dialog, wanted)
    assert (dialog.size() == wanted) is fits
    assert dialog.width() < window.width()
    assert dialog.height() < window.height()


def test_without_a_window_the_screen_is_the_limit(qtbot):
    dialog = QDialog()
    qtbot.addWidget(dialog)
    give_room(dialog, QSize(99_999, 99_999))
    assert dialog.width() < dialog.screen().availableSize().width()
