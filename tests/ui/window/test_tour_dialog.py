import pytest
from PIL import Image
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton

from spatialstudio.application.paths import resources_folder
from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.window.tour import STATIONS, TourDialog


@pytest.fixture
def dialog(qtbot, theme):
    shown = TourDialog(resources_folder(), theme)
    shown.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, on=False)
    qtbot.addWidget(shown)
    shown.show()
    return shown


def texts(dialog):
    return [label.text() for label in dialog.findChildren(QLabel)]


def button(dialog, text):
    return next(each for each in dialog.findChildren(QPushButton) if each.text() == text)


def test_the_arrows_go_through_all_stations_and_back(qtbot, dialog):
    for number, page in enumerate(STATIONS, 1):
        assert page.title in texts(dialog)
        assert f"{number} of {len(STATIONS)}" in texts(dialog)
        qtbot.keyClick(dialog, Qt.Key.Key_Right)
    assert STATIONS[-1].title in texts(dialog)
    qtbot.keyClick(dialog, Qt.Key.Key_Left)
    assert STATIONS[-2].title in texts(dialog)


def test_the_buttons_do_too_and_the_last_one_ends_the_tour(qtbot, dialog):
    assert not button(dialog, "Back").isEnabled()
    for _ in STATIONS[1:]:
        qtbot.mouseClick(button(dialog, "Next"), Qt.MouseButton.LeftButton)
    assert button(dialog, "Back").isEnabled()
    with qtbot.waitSignal(dialog.accepted):
        qtbot.mouseClick(button(dialog, "Done"), Qt.MouseButton.LeftButton)


@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_every_station_has_a_picture_of_the_window(is_dark):
    for page in STATIONS:
        with Image.open(page.picture(resources_folder(), is_dark=is_dark)) as picture:
            assert min(picture.size) >= 800


def test_the_pictures_follow_the_theme(dialog, theme):
    light = dialog.findChildren(QLabel)[0].pixmap().toImage()
    theme.use(palette_of(ThemeChoice.DARK))
    dark = dialog.findChildren(QLabel)[0].pixmap().toImage()
    assert dark.pixelColor(5, 5).lightness() < light.pixelColor(5, 5).lightness() - 100


def test_a_tour_without_pictures_still_tells(qtbot, theme, tmp_path):
    dialog = TourDialog(tmp_path, theme)
    qtbot.addWidget(dialog)
    assert STATIONS[0].text in texts(dialog)
