"""Styles the application: Fusion style, Qt palette and style sheet from the theme's colours."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from string import Template

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from spatialstudio.ui.theme.theme import Theme

STYLE = "Fusion"
THIN_SEPARATORS = "QMainWindow::separator { width: 1px; height: 1px; }"
STYLESHEET = Path(__file__).with_name("stylesheet.qss")

_ROLES = {
    QPalette.ColorRole.Window: "surface",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "raised",
    QPalette.ColorRole.AlternateBase: "surface",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.Button: "raised",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "on_accent",
    QPalette.ColorRole.ToolTipBase: "raised",
    QPalette.ColorRole.ToolTipText: "text",
    QPalette.ColorRole.PlaceholderText: "muted",
    QPalette.ColorRole.Highlight: "accent",
    QPalette.ColorRole.HighlightedText: "on_accent",
    QPalette.ColorRole.Accent: "accent",
    QPalette.ColorRole.Link: "good",
    QPalette.ColorRole.Light: "raised",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "line",
    QPalette.ColorRole.Dark: "faint",
    QPalette.ColorRole.Shadow: "sunken",
}
_FAINT_WHEN_OFF = (
    QPalette.ColorRole.WindowText,
    QPalette.ColorRole.Text,
    QPalette.ColorRole.ButtonText,
)


def dress(application: QApplication, theme: Theme) -> None:
    """Apply the style and the theme's palette; called again when the theme changes."""
    if application.style().name() != STYLE.lower():
        application.setStyle(STYLE)
    application.setPalette(qt_palette(theme))


@contextmanager
def thin_separators() -> Iterator[None]:
    """Have the separators of a main window that is created within be one pixel wide.

    Qt chooses the kind of separator when it creates the window, from the application's style, and
    would not delete the thin separators of the window's own style sheet.
    """
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    application.setStyleSheet(THIN_SEPARATORS)
    yield
    application.setStyleSheet("")


def qt_palette(theme: Theme) -> QPalette:
    """Return a Qt palette in the theme's colours."""
    palette = QPalette()
    for role, name in _ROLES.items():
        palette.setColor(role, theme.colour(name))
    for role in _FAINT_WHEN_OFF:
        palette.setColor(QPalette.ColorGroup.Disabled, role, theme.colour("faint"))
    return palette


def stylesheet(theme: Theme) -> str:
    """Return the style sheet with the theme's colours filled in.

    It is set on the main window, whose dialogs inherit it. On the application, Qt would restyle
    parts of the window with all their children whenever one is placed in another.
    """
    template = Template(STYLESHEET.read_text(encoding="utf-8"))
    return template.substitute(
        theme.palette.colours,
        icons=theme.icon_folder.as_posix(),
        tick="tick-black" if theme.palette.is_dark else "tick-white",
    )
