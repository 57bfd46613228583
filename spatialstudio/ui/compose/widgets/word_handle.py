"""A word for an object in a relation; it opens a list of objects or is dragged onto another."""

from collections.abc import Hashable

from PySide6.QtCore import QPoint, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QAction, QMouseEvent
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import em, restyle
from spatialstudio.ui.widgets.texts import PlainLabel, plain_tip, tr

WIDEST_EM = 11


@frozen(kw_only=False)
class ThingWord:
    """An object as a word: key, text and hue."""

    key: Hashable
    phrase: str
    hue: int


def checkable(action: QAction, is_checked: bool) -> QAction:
    """Return an action of a menu with a check mark."""
    action.setCheckable(True)
    action.setChecked(is_checked)
    return action


class WordHandle(QToolButton):
    """Shows one object of a relation.

    Emits ``thing_picked`` with another object's key, ``dragged`` with the pointer's screen position
    while the word is dragged, and ``dropped`` with it at the end.

    Args:
        word: The object.
        role: Its role in the relation, for screen readers.
        things: All objects to choose from.
    """

    thing_picked = Signal(object)
    dragged = Signal(QPoint)
    dropped = Signal(QPoint)

    def __init__(self, word: ThingWord, role: str, things: tuple[ThingWord, ...]) -> None:
        super().__init__()
        self.word = word
        self._things = things
        self._grip: QPoint | None = None
        self._pill: QLabel | None = None
        self.setProperty("kind", "word")
        metrics = self.fontMetrics()
        shown = metrics.elidedText(word.phrase, Qt.TextElideMode.ElideRight, em(WIDEST_EM))
        self.setText(shown.replace("&", "&&"))
        self.setAccessibleName(f"{role}: {word.phrase}")
        self.setToolTip(
            plain_tip(
                tr("{thing}: click to choose another object, or drag").format(thing=word.phrase)
            )
        )
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.clicked.connect(self.offer_things)

    def show_target(self, is_target: bool) -> None:
        """Mark this word as the drop target."""
        restyle(self, "kind", "target" if is_target else "word")

    def box_in(self, chip: QWidget) -> QRectF:
        """Return the word's rectangle in its chip."""
        return QRectF(QRect(self.mapTo(chip, QPoint()), self.size()))

    def offer_things(self) -> None:
        """Open the list of all objects."""
        menu = QMenu(self)
        menu.setAccessibleName(tr("Objects of the prompt"))
        for thing in self._things:
            action = menu.addAction(thing.phrase.replace("&", "&&"))
            checkable(action, thing.key == self.word.key).setData(thing.key)
        menu.triggered.connect(lambda action: self.thing_picked.emit(action.data()))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.mapToGlobal(QPoint(0, self.height())))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._grip = event.position().toPoint()
        super().mousePressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if self._grip is None:
            return
        if self._pill is None:
            if (place - self._grip).manhattanLength() < QApplication.startDragDistance():
                return
            self.setDown(False)
            self._pill = self._lifted()
        self._pill.move(self.mapTo(self.window(), place) + QPoint(em(0.6), em(0.4)))
        self.dragged.emit(self.mapToGlobal(place))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grip = None
        if self._pill is None:
            super().mouseReleaseEvent(event)
            return
        self._pill.deleteLater()
        self._pill = None
        self.unsetCursor()
        self.dropped.emit(self.mapToGlobal(event.position().toPoint()))

    def _lifted(self) -> QLabel:
        """Return a copy of the word that follows the pointer."""
        pill = PlainLabel(self.word.phrase, self.window())
        pill.setProperty("kind", "lifted")
        pill.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        pill.adjustSize()
        pill.show()
        self.setCursor(Qt.CursorShape.ClosedHandCursor)
        return pill
