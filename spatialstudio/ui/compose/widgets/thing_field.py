"""A field for the name of an object, over the layout sketch."""

from PySide6.QtCore import QPoint, QStringListModel, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QCompleter, QWidget

from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.fields import TextLine
from spatialstudio.ui.widgets.texts import tr

WIDTH_EM = 11
MOST_OFFERED = 6


class ThingField(TextLine):
    """A field over another widget; hidden until it is opened.

    Emits ``name_entered`` with the text on Enter and stays open until closed; Esc or a click
    elsewhere closes it.

    Args:
        parent: Widget below it; gets the focus back.
    """

    name_entered = Signal(str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, placeholderText=tr("Name, for example: red cup"))
        self._beneath = parent
        self._names = QStringListModel(self)
        self.setCompleter(
            QCompleter(
                *(self._names, self),
                caseSensitivity=Qt.CaseSensitivity.CaseInsensitive,
                maxVisibleItems=MOST_OFFERED,
            )
        )
        self.setAccessibleName(tr("Name of the object"))
        self.setFixedWidth(em(WIDTH_EM))
        self.returnPressed.connect(self._tell)
        self.hide()

    def open_at(self, place: QPoint, names: tuple[str, ...]) -> None:
        """Ask for a name.

        Args:
            place: Its centre in the parent's coordinates; kept inside the parent.
            names: Completions.
        """
        self._names.setStringList(list(names))
        self.clear()
        room = self._beneath.rect()
        own = self.sizeHint().expandedTo(self.minimumSize())
        left = min(max(place.x() - own.width() // 2, 0), max(room.width() - own.width(), 0))
        top = min(max(place.y() - own.height() // 2, 0), max(room.height() - own.height(), 0))
        self.move(left, top)
        self.show()
        self.raise_()
        self.setFocus()

    def give_back(self) -> None:
        """Close the field and return the focus to the parent."""
        self.hide()
        self._beneath.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Esc."""
        if event.key() == Qt.Key.Key_Escape:
            self.give_back()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Close when the focus moves elsewhere, except to the list of completions."""
        super().focusOutEvent(event)
        if event.reason() is not Qt.FocusReason.PopupFocusReason:
            self.hide()

    def _tell(self) -> None:
        if name := self.text().strip():
            self.name_entered.emit(name)
