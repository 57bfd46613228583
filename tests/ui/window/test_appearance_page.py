import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QComboBox

from spatialstudio.ui.framework.window_settings import Density, ThemeChoice
from spatialstudio.ui.theme.fonts import POINT_SIZE
from spatialstudio.ui.window.settings_dialog import SettingsDialog
from tests.ui.by_name import named


@pytest.fixture
def dialog(window):
    window.show_settings("Appearance")
    dialog = window.findChild(SettingsDialog)
    yield dialog
    for left in window.findChildren(SettingsDialog):
        left.close()


def field(dialog, name):
    return named(dialog, QComboBox, name)


def choose(qtbot, box, text):
    box.setFocus()
    box.setCurrentText(text)
    box.activated.emit(box.currentIndex())


def test_colours_change_at_once(qtbot, dialog, appearance, settings):
    choose(qtbot, field(dialog, "Colours"), "High contrast")
    assert appearance.theme.palette.name == "high_contrast"
    assert settings.theme is ThemeChoice.HIGH_CONTRAST


def test_colours_chosen_elsewhere_are_shown(dialog, appearance):
    appearance.choose(ThemeChoice.DARK)
    assert field(dialog, "Colours").currentText() == "Dark"


def test_the_text_grows_and_the_dialog_reopens(qtbot, qapp, window, dialog, settings):
    before = window.prompt
    choose(qtbot, field(dialog, "Text size"), "150 %")
    qtbot.waitUntil(lambda: window.prompt is not before)
    assert qapp.font().pointSizeF() == pytest.approx(POINT_SIZE * 1.5)
    assert settings.text_percent == 150
    assert any(each.isVisible() for each in window.findChildren(SettingsDialog))


def test_the_simple_window_is_one_click_away(qtbot, dialog, settings):
    box = next(each for each in dialog.findChildren(QCheckBox) if each.text().startswith("Show"))
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=box.rect().center() * 0.2)
    assert settings.density is Density.SIMPLE
