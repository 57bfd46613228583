"""A message card over the stage: sentence, hint, details, and action buttons."""

from collections.abc import Callable
from enum import Enum
from functools import partial

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QEnterEvent, QGuiApplication
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.box_layouts import SPACE, Part, at_top, column, grow, row
from spatialstudio.ui.widgets.buttons import ThemedIcon, push_button, tool_button
from spatialstudio.ui.widgets.text_label import (
    PlainLabel,
    RemarkLabel,
    TextLabel,
    Tone,
)
from spatialstudio.ui.widgets.texts import tr

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
    """

    closed = Signal()

    def __init__(self, theme: Theme, toast: Toast) -> None:
        super().__init__()
        self._theme = theme
        self._toast = toast
        is_problem = toast.kind is ToastKind.PROBLEM
        self.setProperty("kind", "error" if is_problem else "toast")
        self.setAccessibleName(tr("Problem") if is_problem else tr("Message"))
        self.setAccessibleDescription(f"{toast.message} {toast.hint}".strip())
        self._mark = PlainLabel()
        self._mark.setFixedSize(em(1.4), em(1.4))
        self._details = QPlainTextEdit(toast.details)
        self._details.setReadOnly(True)
        self._details.setAccessibleName(tr("Details of the problem"))
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

    @property
    def toast(self) -> Toast:
        """The message."""
        return self._toast

    def enterEvent(self, event: QEnterEvent) -> None:
        """Pause the timeout while the pointer is on the card."""
        self._timer.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._go_on()
        super().leaveEvent(event)

    def _go_on(self) -> None:
        if self._toast.kind is ToastKind.NEWS:
            self._timer.start()

    def _lay_out(self) -> None:
        words = column(TextLabel(self._toast.message, Tone.HEADING), gap=0.15)
        if self._toast.hint:
            words.addWidget(RemarkLabel(self._toast.hint))
        parts: list[Part] = [row(at_top(self._mark), grow(words), at_top(self._close), gap=0.6)]
        if buttons := self._buttons():
            is_upright = len(self._toast.offers) > 1
            if is_upright:
                buttons.sort(key=lambda button: button.property("kind") == "quiet")
            parts.append((column if is_upright else row)(SPACE, *buttons, gap=0.3))
        column(*parts, self._details, within=self, gap=0.4, edges=(0.7, 0.55, 0.5, 0.55))

    def _buttons(self) -> list[QPushButton]:
        buttons: list[QPushButton] = []
        if self._toast.details:
            more = push_button(tr("Details"), kind="quiet")
            more.setCheckable(True)
            more.toggled.connect(self._show_details)
            buttons.append(more)
        if self._toast.report:
            buttons.append(push_button(tr("Copy report"), self._copy, kind="quiet"))
        offers = self._toast.offers
        return buttons + [push_button(each.text, partial(self._accept, each)) for each in offers]

    def _show_details(self, shown: bool) -> None:
        self._details.setVisible(shown)
        self.adjustSize()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._toast.report)

    def _accept(self, offer: Offer, _checked: bool = False) -> None:
        offer.accept()
        self.closed.emit()

    def _dress(self) -> None:
        role = "bad" if self._toast.kind is ToastKind.PROBLEM else "good"
        side = em(1.4)
        self._mark.setPixmap(self._theme.icon(self._toast.kind.value, role).pixmap(side, side))
