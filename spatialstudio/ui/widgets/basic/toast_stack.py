"""The corner where messages stand, one over the other; none hides another."""

from collections import deque

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.basic.toast_card import Toast, ToastCard

MOST_CARDS = 3
MARGIN_EM = 0.8
WIDTH_EM = 25
"""Of a card, where the ground is wide enough."""


class ToastStack(QWidget):
    """Shows messages in the lower right corner of its parent; more than three wait their turn.

    Emits ``covered`` with the height, in pixels, of the foot that messages lie over; 0 for none.

    Args:
        theme: The look.
        ground: What the messages lie on.
    """

    covered = Signal(int)

    def __init__(self, theme: Theme, ground: QWidget) -> None:
        super().__init__(ground)
        self._theme = theme
        self._ground = ground
        self._waiting: deque[Toast] = deque()
        self._cards: list[ToastCard] = []
        self._more = TextLabel(tone=Tone.MUTED)
        self._more.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._more.hide()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(em(0.4))
        self._column.addWidget(self._more)
        self.setAccessibleName(tr("Messages"))
        ground.installEventFilter(self)
        self.hide()

    def show_toast(self, toast: Toast) -> None:
        """Show a message now, or as soon as there is room; the same one is not shown twice."""
        if toast not in [card.toast for card in self._cards] and toast not in self._waiting:
            self._waiting.append(toast)
            self._fill()

    def clear(self) -> None:
        """Take all messages away."""
        self._waiting.clear()
        for card in list(self._cards):
            self._drop(card)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the corner."""
        if event.type() is QEvent.Type.Resize:
            self._settle()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Follow the cards when one opens its details."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._settle()
        return super().event(event)

    def _fill(self) -> None:
        while self._waiting and len(self._cards) < MOST_CARDS:
            card = ToastCard(self._theme, self._waiting.popleft())
            card.closed.connect(self._close_sender)
            self._cards.append(card)
            self._column.addWidget(card)
            card.show()
        self._more.setText(tr("{count} more").format(count=len(self._waiting)))
        self._more.setVisible(bool(self._waiting))
        self.setVisible(bool(self._cards))
        self._settle()

    def _close_sender(self) -> None:
        card = self.sender()
        if isinstance(card, ToastCard):
            self._drop(card)

    def _drop(self, card: ToastCard) -> None:
        if card in self._cards:
            self._cards.remove(card)
            self._column.removeWidget(card)
            card.hide()
            card.deleteLater()
            self._fill()

    def _settle(self) -> None:
        room, margin = self._ground.size(), em(MARGIN_EM)
        for card in self._cards:
            card.setFixedWidth(max(min(em(WIDTH_EM), room.width() - 2 * margin), 1))
        self._column.activate()
        size = self._column.sizeHint()
        size.setHeight(min(size.height(), room.height() - 2 * margin))
        if (layout := self._column).hasHeightForWidth():
            size.setHeight(max(layout.heightForWidth(size.width()), 1))
        left = max(room.width() - size.width() - margin, 0)
        self.setGeometry(left, max(room.height() - size.height() - margin, 0), *size.toTuple())
        self.raise_()
        self.covered.emit(room.height() - self.y() if self._cards else 0)
