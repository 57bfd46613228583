"""Asks the user before something happens that cannot be taken back."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QWidget


def is_confirmed(parent: QWidget, question: str, consequence: str, action: str) -> bool:
    """Ask in a box whose default is to leave everything as it is; shows plain text only.

    Args:
        parent: Stands behind the box.
        question: As one sentence.
        consequence: What happens then.
        action: On the button that does it.
    """
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(question)
    box.setInformativeText(consequence)
    agree = box.addButton(action, QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
    box.exec()
    return box.clickedButton() is agree
