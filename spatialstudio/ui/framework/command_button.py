"""A tool button for a command."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolButton

from spatialstudio.ui.theme.theme import em

ICON_EM = 1.15


def command_button(action: QAction, kind: str) -> QToolButton:
    """Return a button for an action; ``kind`` selects its style in the style sheet."""
    button = QToolButton()
    button.setDefaultAction(action)
    button.setProperty("kind", kind)
    button.setAccessibleName(action.text())
    button.setIconSize(QSize(em(ICON_EM), em(ICON_EM)))
    if kind == "icon":
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
    return button
