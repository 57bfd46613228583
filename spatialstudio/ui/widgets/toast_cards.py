"""Message cards over the stage, and their stack in its corner."""

from collections import deque
from collections.abc import Callable
from enum import Enum
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton, QScrollArea, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import (
    SPACE,
    Part,
    ThemedIcon,
    at_top,
    column,
    discard,
    grow,
    push_button,
    row,
    tool_button,
)
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    RemarkLabel,
    TextLabel,
    Tone,
    tr,
)

DETAILS_LINES = 9
NEWS_MS = 6000
OFFER_MS = 12_000


class ToastKind(Enum):
    """Kind of a message; the value is the name of its icon and style."""

    NEWS = "tick"
    PROBLEM = "warning"


@frozen(kw_only=False)
class Offer:
    """A button of a message and its action.

    Attributes:
        text: Button text: "Undo".
        accept: Performs the action.
    """

    text: str
    accept: Callable[[], object]


@frozen
class Toast:
    """Content of a message.

    Attributes:
        kind: News closes after a while, a problem stays until closed.
        message: One sentence.
        hint: What to try; may be empty.
        details: Technical details such as a traceback; may be empty.
        report: Text to copy for a bug report; empty when there is nothing to report.
        offers: Actions, one button each.
    """

    kind: ToastKind
    message: str
    hint: str = ""
    details: str = ""
    report: str = ""
    offers: tuple[Offer, ...] = ()


class ToastCard(QFrame):
    """Shows one message; emits ``closed`` when the user or the timeout closes it.

    The timeout pauses while the pointer or the focus is on it.

    Attributes:
        toast: The message.
    """

    closed = Signal()

    def __init__(self, theme: Theme, toast: Toast) -> None:
        super().__init__()
        self._theme = theme
        self.toast = toast
        is_problem = toast.kind is ToastKind.PROBLEM
        self.setProperty("kind", "error" if is_problem else "toast")
        self.setAccessibleName(tr("Error") if is_problem else tr("Message"))
        self.setAccessibleDescription(f"{toast.message} {toast.hint}".strip())
        self._mark = PlainLabel()
        self._mark.setFixedSize(em(1.4), em(1.4))
        self._details = QPlainTextEdit(toast.details)
        self._details.setReadOnly(True)
        self._details.setAccessibleName(tr("Error details"))
        self._details.setFixedHeight(em(DETAILS_LINES))
        self._details.hide()
        self._close = tool_button(do=self.closed, name=tr("Dismiss"), tip=tr("Close"), icon_em=0.9)
        ThemedIcon(self._close, theme, "close")
        shown_ms = OFFER_MS if toast.offers else NEWS_MS
        self._timer = QTimer(self, singleShot=True, interval=shown_ms)
        self._timer.timeout.connect(self.closed)
        self._lay_out()
        theme.changed.connect(self._dress)
        self._dress()
        self._go_on()

    def enterEvent(self, event: QEnterEvent) -> None:
        """Pause the timeout while the pointer is on the card."""
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._go_on()
        super().leaveEvent(event)

    def _go_on(self) -> None:
        if self.toast.kind is ToastKind.NEWS:
            self._timer.start()

    def _lay_out(self) -> None:
        words = column(TextLabel(self.toast.message, Tone.HEADING), gap=0.15)
        if self.toast.hint:
            words.addWidget(RemarkLabel(self.toast.hint))
        parts: list[Part] = [row(at_top(self._mark), grow(words), at_top(self._close), gap=0.6)]
        if buttons := self._buttons():
            is_upright = len(self.toast.offers) > 1
            if is_upright:
                buttons.sort(key=lambda button: button.property("kind") == "quiet")
            parts.append((column if is_upright else row)(SPACE, *buttons, gap=0.3))
        column(*parts, self._details, within=self, gap=0.4, edges=(0.7, 0.55, 0.5, 0.55))

    def _buttons(self) -> list[QPushButton]:
        buttons: list[QPushButton] = []
        if self.toast.details:
            more = push_button(tr("Details"), kind="quiet")
            more.setCheckable(True)
            more.toggled.connect(self._show_details)
            buttons.append(more)
        if self.toast.report:
            buttons.append(push_button(tr("Copy report"), self._copy, kind="quiet"))
        offers = self.toast.offers
        return buttons + [push_button(each.text, partial(self._accept, each)) for each in offers]

    def _show_details(self, shown: bool) -> None:
        self._details.setVisible(shown)
        self.adjustSize()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.toast.report)

    def _accept(self, offer: Offer, _checked: bool = False) -> None:
        offer.accept()
        self.closed.emit()

    def _dress(self) -> None:
        role = "bad" if self.toast.kind is ToastKind.PROBLEM else "good"
        side = em(1.4)
        self._mark.setPixmap(self._theme.icon(self.toast.kind.value, role).pixmap(side, side))


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

    def remove(self, toast: Toast) -> None:
        """Remove a message, shown or waiting; one that is gone is ignored."""
        if toast in self._waiting:
            self._waiting.remove(toast)
        for card in [each for each in self._cards if each.toast == toast]:
            self._drop(card)
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
