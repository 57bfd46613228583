from PySide6.QtGui import QPalette

from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.theme.qt_palette import (
    dress,
    qt_palette,
    stylesheet,
)


def test_the_windows_ground_is_the_themes_surface(theme):
    assert qt_palette(theme).color(QPalette.ColorRole.Window) == theme.colour("surface")


def test_switched_off_text_is_faint(theme):
    off = qt_palette(theme).color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.Text)
    assert off == theme.colour("faint")


def test_the_stylesheet_has_no_open_places(theme):
    assert "$" not in stylesheet(theme)


def test_the_tick_is_seen_in_the_dark(theme):
    theme.use(palette_of(ThemeChoice.DARK))
    assert "tick-black" in stylesheet(theme)


def test_dressing_reaches_the_application(qapp, theme):
    dress(qapp, theme)
    assert qapp.palette().color(QPalette.ColorRole.WindowText) == theme.colour("text")
