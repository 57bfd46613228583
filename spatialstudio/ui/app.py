"""Starts the window: shown first, then the engine."""

import sys
from collections.abc import Sequence
from contextlib import suppress

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication

from spatialstudio.application.paths import resources_folder
from spatialstudio.application.studio import Studio
from spatialstudio.application.theme_file import load_theme
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.palette import Palette
from spatialstudio.ui.main_window import MainWindow
from spatialstudio.ui.theme.fonts import use_bundled_font
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.qt_palette import dress
from spatialstudio.ui.theme.theme import Theme

NAME = "Spatial Studio"
SIZE_EM = (90, 56)
FIRST_PROMPT = "a cat left of a dog"


def main(arguments: Sequence[str] = ()) -> int:
    """Show the window and stay until it is closed.

    Args:
        arguments: Command-line arguments without the program's name; Qt takes its own.

    Returns:
        The exit code.
    """
    application = make_application(arguments)
    window = open_window(application, Studio.open("process"))
    window.show()
    return application.exec()


def make_application(arguments: Sequence[str] = ()) -> QApplication:
    """Return the application with its name and typeface."""
    application = QApplication([sys.argv[0], *arguments])
    application.setApplicationName(NAME)
    use_bundled_font(application, resources_folder() / "fonts")
    return application


def open_window(
    application: QApplication, studio: Studio, *, dark: bool | None = None
) -> MainWindow:
    """Return the window, not shown yet; the engine starts once Qt has had time to show it.

    Args:
        application: The running application.
        studio: What the window is a face of.
        dark: The colours; None for what the desktop prefers.
    """
    if dark is None:
        dark = application.styleHints().colorScheme() is Qt.ColorScheme.Dark
    theme = Theme(palette_of(dark=dark), resources_folder() / "icons")
    dress(application, theme)
    theme.changed.connect(lambda: dress(application, theme))
    window = MainWindow(studio, theme, lambda on: theme.use(palette_of(dark=on)))
    window.resize(*(em(side) for side in SIZE_EM))
    QTimer.singleShot(0, window, lambda: _get_ready(studio))
    return window


def palette_of(*, dark: bool) -> Palette:
    """Return the dark or the light palette."""
    name = "dark" if dark else "light"
    return load_theme(resources_folder() / "themes" / f"{name}.toml")


def _get_ready(studio: Studio) -> None:
    """Start the engine, and read a first prompt before anyone types: it takes much longer."""
    studio.start()
    with suppress(StudioError):
        studio.scene_of(FIRST_PROMPT)
