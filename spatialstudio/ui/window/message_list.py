"""Earlier messages, to be read again."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QVBoxLayout, QWidget

from spatialstudio.ui.framework.dialog_size import give_room
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.texts import tr
from spatialstudio.ui.widgets.toast_card import Toast

SIZE_EM = (42, 26)


class MessageList(QDialog):
    """Shows messages, the newest first, with their details."""

    def __init__(self, toasts: tuple[Toast, ...], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Earlier messages"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setAccessibleName(tr("Earlier messages"))
        said = "\n\n".join(_words(toast) for toast in reversed(toasts))
        self._text.setPlainText(said or tr("There was no message yet."))
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        copy = buttons.addButton(tr("Copy all"), QDialogButtonBox.ButtonRole.ActionRole)
        copy.setEnabled(bool(said))
        copy.clicked.connect(self._copy)
        buttons.rejected.connect(self.reject)
        column = QVBoxLayout(self)
        column.addWidget(self._text)
        column.addWidget(buttons)
        give_room(self, QSize(*(em(side) for side in SIZE_EM)))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._text.toPlainText())


def _words(toast: Toast) -> str:
    return "\n".join(part for part in (toast.message, toast.hint, toast.details) if part)
