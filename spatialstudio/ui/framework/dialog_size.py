"""Dialogs, their buttons, and their sizes limited to the parent window or screen."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMessageBox, QWidget

from spatialstudio.ui.theme.theme import em

EDGE_EM = 2
"""Margin of the window around a dialog, both sides together."""


class TitledDialog(QDialog):
    """A dialog that is deleted when it is closed.

    Args:
        title: Translated title.
        parent: The window.
    """

    def __init__(self, title: str, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def buttons(
        self, standard: QDialogButtonBox.StandardButton = QDialogButtonBox.StandardButton.Close
    ) -> QDialogButtonBox:
        """Return a row of buttons, of which the standard one closes the dialog."""
        return closing_buttons(self, standard)


def closing_buttons(dialog: QDialog, standard: QDialogButtonBox.StandardButton) -> QDialogButtonBox:
    """Return a row of buttons, of which the standard one closes the dialog."""
    box = QDialogButtonBox(standard)
    remove_icons(box)
    box.rejected.connect(dialog.reject)
    return box


def remove_icons(box: QDialogButtonBox | QMessageBox) -> None:
    """Remove the icons that some desktops put on standard buttons, in other colours."""
    for button in box.buttons():
        button.setIcon(QIcon())


def room_for(dialog: QDialog) -> QSize:
    """Return the largest size available to a dialog in its window, else on screen, in pixels."""
    window = dialog.parentWidget()
    most = dialog.screen().availableSize() if window is None else window.window().size()
    return most - QSize(em(EDGE_EM), em(EDGE_EM))


def give_room(dialog: QDialog, wanted: QSize | tuple[float, float]) -> None:
    """Resize a dialog to the wanted size, in pixels or ``em``, within the available room."""
    size = wanted if isinstance(wanted, QSize) else QSize(*map(em, wanted))
    dialog.resize(size.boundedTo(room_for(dialog)))
