"""How large dialogs are: never larger than what they stand over."""

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QDialog

from spatialstudio.ui.theme.metrics import em

EDGE_EM = 2
"""Of the window that stays in sight around a dialog, both sides together."""


def room_for(dialog: QDialog) -> QSize:
    """Return the most that a dialog can take of its window, or else of the screen, in pixels."""
    window = dialog.parentWidget()
    most = dialog.screen().availableSize() if window is None else window.window().size()
    return most - QSize(em(EDGE_EM), em(EDGE_EM))


def give_room(dialog: QDialog, wanted: QSize) -> None:
    """Give a dialog its size, as far as there is room for it."""
    dialog.resize(wanted.boundedTo(room_for(dialog)))
