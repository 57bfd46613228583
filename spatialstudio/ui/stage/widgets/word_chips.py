"""The words of a prompt as chips in their hues, to hover, pin, compare or solo."""

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QEnterEvent,
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import Theme, em, font
from spatialstudio.ui.widgets.builders import FlowLayout, discard
from spatialstudio.ui.widgets.painting import draw_rounded, draw_text, painting
from spatialstudio.ui.widgets.roving_focus import ALONG_THE_LINE, RovingFocus
from spatialstudio.ui.widgets.texts import plain_tip, tr

HEIGHT_EM = 1.55
PAD_EM = 0.55
DOT_EM = 0.5
GAP_EM = 0.3
TINT = 0.2
HELP = "Click to pin the map, Shift+click to compare, double-click to show only this map"
KEYBOARD_REASONS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


@frozen(kw_only=False)
class WordTag:
    """What one chip shows.

    Attributes:
        key: Id emitted when the chip is picked.
        text: The word.
        hue: Its hue.
        is_quiet: Whether it names no object and is drawn dimmed.
        reason: Why it has no map; empty when it has one.
    """

    key: str
    text: str
    hue: int
    is_quiet: bool = False
    reason: str = ""


class WordChip(QAbstractButton):
    """Shows one word; checked while it is pinned.

    Emits ``pin_asked`` (click, Space), ``compare_asked`` (the same with Shift), ``solo_asked``
    (double click, Enter), and ``hovered`` with True when pointer or keyboard focus enter.
    """

    pin_asked = Signal()
    compare_asked = Signal()
    solo_asked = Signal()
    hovered = Signal(bool)

    def __init__(self, theme: Theme, tag: WordTag) -> None:
        super().__init__()
        self._theme = theme
        self.tag = tag
        self.setCheckable(True)
        self.setText(tag.text)
        self.setEnabled(not tag.reason)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Map of {word}").format(word=tag.text))
        self.setToolTip(plain_tip(tag.reason or tr(HELP)))
        if not tag.reason:
            self.setCursor(Qt.CursorShape.PointingHandCursor)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        width = QFontMetricsF(font(bold=not self.tag.is_quiet)).horizontalAdvance(self.tag.text)
        pad = PAD_EM if not self.tag.is_quiet else PAD_EM / 2
        dot = em(DOT_EM) + em(GAP_EM) if not self.tag.is_quiet else 0
        return QSize(round(width) + 2 * em(pad) + dot + 2, em(HEIGHT_EM))

    def nextCheckState(self) -> None:
        """Keep the checked state; the owner sets the pins."""

    def enterEvent(self, event: QEnterEvent) -> None:
        super().enterEvent(event)
        self.hovered.emit(True)
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self.hovered.emit(False)
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Emit ``hovered`` on keyboard focus only, not on a click."""
        super().focusInEvent(event)
        if event.reason() in KEYBOARD_REASONS:
            self.hovered.emit(True)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.hovered.emit(False)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Pin, or compare with Shift."""
        was_down = self.isDown()
        super().mouseReleaseEvent(event)
        if was_down and self.rect().contains(event.position().toPoint()):
            self._ask(event.modifiers())

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.solo_asked.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pin on Space, compare on Shift+Space, solo on Enter."""
        match event.key():
            case Qt.Key.Key_Space:
                self._ask(event.modifiers())
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.solo_asked.emit()
            case _:
                super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002 - Qt's signature
        with painting(self) as painter:
            self._draw_pill(painter)
            left = em(PAD_EM if not self.tag.is_quiet else PAD_EM / 2)
            if not self.tag.is_quiet:
                painter.setPen(Qt.PenStyle.NoPen)
                painter.setBrush(self._theme.mention(self.tag.hue))
                dot, middle = em(DOT_EM), self.height() / 2
                painter.drawEllipse(QRectF(left, middle - dot / 2, dot, dot))
                left += em(DOT_EM) + em(GAP_EM)
            room = QRectF(left, 0, self.width() - left, self.height())
            ink = self._theme.colour("text" if self.isEnabled() else "muted")
            look = (font(bold=not self.tag.is_quiet), ink)
            draw_text(painter, room, self.text(), look, Qt.AlignmentFlag.AlignVCenter)

    def _draw_pill(self, painter: QPainter) -> None:
        if self.tag.is_quiet and not (self.isChecked() or self.hasFocus() or self._is_lit()):
            return
        edge, width = self._theme.colour("line"), 1.0
        if self.isChecked():
            edge, width = self._theme.mention(self.tag.hue), 1.6
        if self.hasFocus():
            edge, width = self._theme.colour("accent"), 1.6
        ground = self._theme.colour("hover" if self._is_lit() else "raised")
        fill = self._theme.mention(self.tag.hue, TINT) if self.isChecked() else ground
        pill = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        draw_rounded(painter, pill, fill, QPen(edge, width))

    def _is_lit(self) -> bool:
        return self.underMouse() and self.isEnabled()

    def _ask(self, modifiers: Qt.KeyboardModifier) -> None:
        if modifiers & Qt.KeyboardModifier.ShiftModifier:
            self.compare_asked.emit()
        else:
            self.pin_asked.emit()


class WordChips(QWidget):
    """Shows the words of a prompt in wrapped lines; one tab stop, arrows move between words.

    Emits, with the word's key and on user action only, ``pin_asked``, ``compare_asked`` and
    ``solo_asked``; ``word_hovered`` with the key of the hovered word, empty for none.
    """

    pin_asked = Signal(str)
    compare_asked = Signal(str)
    solo_asked = Signal(str)
    word_hovered = Signal(str)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._chips: tuple[WordChip, ...] = ()
        self._is_brief = False
        self._flow = FlowLayout(em(GAP_EM))
        self._roving_focus = RovingFocus(self, ALONG_THE_LINE)
        self.setLayout(self._flow)

    def show_words(self, tags: tuple[WordTag, ...]) -> None:
        """Show these words; chips are reused while the words stay the same."""
        if tuple(chip.tag for chip in self._chips) == tags:
            return
        discard(self._flow, *self._chips)
        self._chips = tuple(self._made(tag) for tag in tags)
        self._roving_focus.lead([chip for chip in self._chips if chip.isEnabled()])
        self._show_brief()

    def show_brief(self, is_brief: bool) -> None:
        """Hide the words that have no map, where there is little room."""
        if is_brief != self._is_brief:
            self._is_brief = is_brief
            self._show_brief()

    def show_pins(self, keys: tuple[str, ...]) -> None:
        """Mark the pinned words."""
        for chip in self._chips:
            chip.setChecked(chip.tag.key in keys)

    def _show_brief(self) -> None:
        for chip in self._chips:
            chip.setVisible(chip.isEnabled() or not self._is_brief)
        self.updateGeometry()

    def _made(self, tag: WordTag) -> WordChip:
        chip = WordChip(self._theme, tag)
        chip.pin_asked.connect(lambda: self.pin_asked.emit(tag.key))
        chip.compare_asked.connect(lambda: self.compare_asked.emit(tag.key))
        chip.solo_asked.connect(lambda: self.solo_asked.emit(tag.key))
        chip.hovered.connect(lambda here: self.word_hovered.emit(tag.key if here else ""))
        self._flow.addWidget(chip)
        return chip
