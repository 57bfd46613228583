"""Dialog sizes limited to the parent window or screen."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog

from spatialstudio.ui.theme.metrics import em

EDGE_EM = 2
"""Margin of the window around a dialog, both sides together."""


def room_for(dialog: QDialog) -> QSize:
    """Return the largest size available to a dialog in its window, else on screen, in pixels."""
    window = dialog.parentWidget()
    most = dialog.screen().availableSize() if window is None else window.window().size()
    return most - QSize(em(EDGE_EM), em(EDGE_EM))


def give_room(dialog: QDialog, wanted: QSize) -> None:
    """Resize a dialog to the wanted size, within the available room."""
    dialog.resize(wanted.boundedTo(room_for(dialog)))
