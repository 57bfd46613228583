"""Styles the application: Fusion style, Qt palette and style sheet from the theme's colours."""

from pathlib import Path
from string import Template

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from spatialstudio.ui.theme.theme import Theme

STYLE = "Fusion"
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
    """Apply the theme's colours; called again when the theme or the text size changes.

    Qt restyles every widget when a style sheet is set, even the same one again.
    """
    if not application.styleSheet():
        application.setStyle(STYLE)
    application.setPalette(qt_palette(theme))
    sheet = f"/* {application.font().pointSizeF()} */ {stylesheet(theme)}"  # em changes with it
    if application.styleSheet() != sheet:
        application.setStyleSheet(sheet)


def qt_palette(theme: Theme) -> QPalette:
    """Return a Qt palette in the theme's colours."""
    palette = QPalette()
    for role, name in _ROLES.items():
        palette.setColor(role, theme.colour(name))
    for role in _FAINT_WHEN_OFF:
        palette.setColor(QPalette.ColorGroup.Disabled, role, theme.colour("faint"))
    return palette


def stylesheet(theme: Theme) -> str:
    """Return the style sheet with the theme's colours filled in."""
    template = Template(STYLESHEET.read_text(encoding="utf-8"))
    return template.substitute(
        theme.palette.colours,
        icons=theme.icon_folder.as_posix(),
        tick="tick-black" if theme.palette.is_dark else "tick-white",
    )
