"""The stack of message cards in the corner of the stage."""

from collections import deque

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.box_layouts import column, discard
from spatialstudio.ui.widgets.text_label import TextLabel, Tone
from spatialstudio.ui.widgets.texts import tr
from spatialstudio.ui.widgets.toast_card import Toast, ToastCard

MOST_CARDS = 3
MARGIN_EM = 0.8
WIDTH_EM = 25
"""Width of a card where the parent is wide enough."""


class ToastStack(QScrollArea):
    """Shows messages in the lower right corner of its parent; at most three at a time.

    Cards that exceed the parent's height are scrolled.

    Emits ``covered`` with the height of the parent's lower part that messages cover, in pixels; 0
    for none.

    Args:
        theme: Colours and icons.
        ground: Parent widget.
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
        self._content = QWidget()
        self._content.installEventFilter(self)
        self.setWidget(self._content)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._column = column(self._more, within=self._content, gap=0.4)
        self.setAccessibleName(tr("Messages"))
        ground.installEventFilter(self)
        self.hide()

    def show_toast(self, toast: Toast) -> None:
        """Show a message now, or when there is room; duplicates are ignored."""
        if toast not in [card.toast for card in self._cards] and toast not in self._waiting:
            self._waiting.append(toast)
            self._fill()

    def clear(self) -> None:
        """Remove all messages."""
        self._waiting.clear()
        for card in list(self._cards):
            self._drop(card)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the corner, and follow size changes of the cards."""
        is_resized = watched is self._ground and event.type() is QEvent.Type.Resize
        if is_resized or event.type() is QEvent.Type.LayoutRequest:
            self._settle()
        return super().eventFilter(watched, event)

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
            discard(self._column, card)
            self._fill()

    def _settle(self) -> None:
        margin = em(MARGIN_EM)
        room = self._ground.size() - QSize(2 * margin, 2 * margin)
        width = max(min(em(WIDTH_EM), room.width()), 1)
        height = self._height_of_cards(width)
        if height > room.height():
            height = self._height_of_cards(width - self.verticalScrollBar().sizeHint().width())
        self._content.setMinimumHeight(height)  # else Qt assumes a narrower width
        size = QSize(width, max(min(height, room.height()), 1))
        self.setGeometry(QRect(self._corner(size), size))
        self.raise_()
        self.covered.emit(self._ground.height() - self.y() if self._cards else 0)

    def _height_of_cards(self, width: int) -> int:
        """Set the width of all cards and return their total height."""
        for card in self._cards:
            card.setFixedWidth(max(width, 1))
        self._column.activate()
        return max(self._column.totalHeightForWidth(width), 0)  # -1 without cards

    def _corner(self, size: QSize) -> QPoint:
        """Return the upper left corner for a given size at the lower right corner."""
        margin = em(MARGIN_EM)
        free = self._ground.size() - size - QSize(margin, margin)
        return QPoint(max(free.width(), 0), max(free.height(), 0))
