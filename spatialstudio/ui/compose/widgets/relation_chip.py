"""A relation as a chip: ``dog -[to the left of]-> car``; its middle opens the wheel."""

from collections.abc import Callable
from functools import partial
from itertools import chain

from PySide6.QtCore import (
    QEvent,
    QObject,
    QPoint,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFocusEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.compose.widgets.relation_wheel import Choice, RelationWheel
from spatialstudio.ui.compose.widgets.word_handle import ThingWord, WordHandle, checkable
from spatialstudio.ui.theme.theme import Theme, em, restyle
from spatialstudio.ui.widgets.builders import SPACE, ThemedIcon, grid, row, tool_button
from spatialstudio.ui.widgets.painting import draw_rounded, painting
from spatialstudio.ui.widgets.texts import (
    TextLabel,
    Tone,
    plain_tip,
    tr,
)

USUAL = 1.0
"""Default weight of a relation."""


@frozen
class ChipClaim:
    """Contents of a chip.

    Attributes:
        ends: The subject, then its objects; two for "between".
        chosen: The relation type.
        inverse: The inverse relation type.
        weight: Weight in the guidance; 1 is the default.
        is_muted: Whether guidance ignores it.
        doubt: Why it is contradictory; empty if it is not.
        fix: Description of the suggested correction.
        why: Where the relation was found.
        is_first: Whether it has the highest priority.
        is_last: Whether it has the lowest priority.
    """

    ends: tuple[ThingWord, ...]
    chosen: Choice
    inverse: Choice
    weight: float = USUAL
    is_muted: bool = False
    doubt: str = ""
    fix: str = ""
    why: str = ""
    is_first: bool = False
    is_last: bool = False

    @property
    def sentence(self) -> str:
        """The relation as a sentence."""
        return self.said(self.chosen, self.ends)

    def said(self, choice: Choice, ends: tuple[ThingWord, ...]) -> str:
        """Return another relation as a sentence."""
        subject, *others = (end.phrase for end in ends)
        return f"{subject} {choice.phrase} {' and '.join(others)}"

    @property
    def remarks(self) -> str:
        """Additional states for screen readers, which the chip shows visually."""
        said = [self.doubt]
        if self.is_muted:
            said.append(tr("Muted."))
        if self.weight != USUAL:
            said.append(tr("Weight {weight}.").format(weight=f"{self.weight:g}"))
        return " ".join(part for part in [*said, self.why] if part)


GAP_EM = 0.65
UNDERLINE_EM = 0.14
HEAD_EM = 0.2
TALL_EM = 1.4
"""Indent of the second and third line of a stacked chip."""
ICON_EM = 0.75
MUTED_ALPHA = 0.35
WEIGHTS = (4.0, 2.0, 1.0, 0.5, 0.25)
TIMES = "\N{MULTIPLICATION SIGN}"
BY_HAND = (Qt.FocusReason.MouseFocusReason, Qt.FocusReason.TabFocusReason)
ALSO_BY_HAND = (Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class RelationChip(QFrame):
    """Shows one relation and lets the user edit all its properties.

    Signals, on user action only: ``type_picked`` with a type's id; ``end_picked`` with the index of
    an end and an object's key; ``end_dragged`` and ``end_dropped`` with the index of an end and a
    screen position; ``swap_asked``, ``removal_asked`` and ``fix_asked``; ``mute_picked``;
    ``weight_picked``; ``move_asked`` with ranks up (-1) or down (1); ``chip_dragged`` and
    ``chip_dropped`` with a screen position; ``picked`` when it is selected. Keys: Space opens the
    wheel, Delete removes, Alt+Up and Alt+Down move it, the menu key opens the context menu.

    Attributes:
        middle: The button of the relation type, which gets the focus first.
        words: The related objects, subject first.

    Args:
        theme: Colours and icons.
        claim: The relation.
        choices: All relation types, including the current one.
        things: All objects that an end can refer to.
    """

    type_picked = Signal(str)
    end_picked = Signal(int, object)
    end_dragged = Signal(int, QPoint)
    end_dropped = Signal(int, QPoint)
    swap_asked = Signal()
    removal_asked = Signal()
    fix_asked = Signal()
    mute_picked = Signal(bool)
    weight_picked = Signal(float)
    move_asked = Signal(int)
    chip_dragged = Signal(QPoint)
    chip_dropped = Signal(QPoint)
    picked = Signal()

    def __init__(
        self,
        theme: Theme,
        claim: ChipClaim,
        choices: tuple[Choice, ...],
        things: tuple[ThingWord, ...],
    ) -> None:
        super().__init__()
        self._theme = theme
        self._claim = claim
        self._choices = choices
        self._grip: QPoint | None = None
        self._is_carried = False
        self.setProperty("kind", "doubtful" if claim.doubt else "card")
        self.setAccessibleName(tr("Relation: {claim}").format(claim=claim.sentence))
        self.setAccessibleDescription(self._claim.remarks)
        self.setToolTip(plain_tip(claim.doubt or claim.sentence))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.middle = self._middle_button()
        self._fix = self._icon_button(tr("Fix: {fix}").format(fix=claim.fix), self.fix_asked)
        self._fix.setToolTip(plain_tip(f"{claim.doubt} {claim.fix}?"))
        remove = tr("Remove relation: {claim}").format(claim=claim.sentence)
        self._remove = self._icon_button(remove, self.removal_asked)
        self._remove.setToolTip(tr("Remove this relation"))
        self.words = tuple(self._handle(place, things) for place in range(len(claim.ends)))
        self._weight = TextLabel(f"{TIMES}{claim.weight:g}", Tone.MUTED, small=True)
        self._why = TextLabel(claim.why, Tone.MUTED, small=True)
        self._objects = QWidget()
        self._lay_out()
        self._weight.setVisible(claim.weight != USUAL)
        self._fix.setVisible(bool(claim.doubt))
        self._why.hide()
        ThemedIcon(self._remove, theme, "close", "muted")
        ThemedIcon(self._fix, theme, "warning", "warning")
        theme.changed.connect(self.update)

    @property
    def stops(self) -> tuple[QToolButton, ...]:
        """Its focusable buttons, from left to right."""
        subject, *others = self.words
        correct = (self._fix,) if self._claim.doubt else ()
        return (subject, self.middle, *others, *correct, self._remove)

    @property
    def has_focus_inside(self) -> bool:
        """Whether one of its buttons has the keyboard focus."""
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def show_picked(self, is_picked: bool) -> None:
        """Mark the relation as selected."""
        if not self._claim.doubt:
            restyle(self, "kind", "picked" if is_picked else "card")

    def open_wheel(self) -> None:
        """Open the wheel to pick another relation type."""
        ends = self._claim.ends[0], self._claim.ends[1]
        wheel = RelationWheel(self._theme, ends, self._claim.chosen, self._choices, self)
        wheel.type_picked.connect(self.type_picked)
        wheel.none_picked.connect(self.removal_asked)
        wheel.open_at(self.middle.mapToGlobal(self.middle.rect().center()))

    def minimumSizeHint(self) -> QSize:
        rows = (self.words[0], self._remove), (self.middle,), (self._objects,)
        widths = (sum(part.sizeHint().width() for part in row) for row in rows)
        return QSize(max(widths) + em(TALL_EM + 1), super().minimumSizeHint().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Switch to one line where there is room."""
        super().resizeEvent(event)
        is_tall = self.width() < self._line_width()
        if is_tall is not self._is_tall:
            self._arrange(is_tall=is_tall)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the chip's keys on its buttons, and selection on focus."""
        if isinstance(event, QFocusEvent) and event.type() is QEvent.Type.FocusIn:
            if event.reason() in (*BY_HAND, *ALSO_BY_HAND):
                self.picked.emit()
        elif isinstance(event, QKeyEvent) and (do := self._bound_to(event)) is not None:
            event.accept()
            if event.type() is QEvent.Type.KeyPress:
                do()
            return True
        return super().eventFilter(watched, event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self._menu()
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(event.globalPos())

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._grip = event.position().toPoint()
            self.picked.emit()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = event.position().toPoint()
        if self._grip is None:
            return
        far_enough = (place - self._grip).manhattanLength() >= QApplication.startDragDistance()
        if self._is_carried or far_enough:
            self._is_carried = True
            self.setCursor(Qt.CursorShape.ClosedHandCursor)
            self.chip_dragged.emit(self.mapToGlobal(place))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        was_carried, self._is_carried, self._grip = self._is_carried, False, None
        if was_carried:
            self.unsetCursor()
            self.chip_dropped.emit(self.mapToGlobal(event.position().toPoint()))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        alpha = MUTED_ALPHA if self._claim.is_muted else 1.0
        with painting(self) as painter:
            for handle in self.words:
                box = handle.box_in(self)
                below = QRectF(box.left() + 2, box.bottom(), box.width() - 4, em(UNDERLINE_EM))
                draw_rounded(painter, below, self._theme.mention(handle.word.hue, alpha))
            self._draw_arrow(painter)

    def _draw_arrow(self, painter: QPainter) -> None:
        pen = QPen(self._theme.colour("faint"), 1.4, c=Qt.PenCapStyle.RoundCap)
        if self._claim.is_muted:
            pen.setStyle(Qt.PenStyle.DotLine)
        painter.setPen(pen)
        middle = QRectF(self.middle.geometry())
        subject, thing = (handle.box_in(self) for handle in self.words[:2])
        tip = QPointF(thing.left() - em(0.15), thing.center().y() + 1)
        if self._is_tall:
            left = subject.left() + em(0.4)
            painter.drawLine(QPointF(left, subject.bottom() + em(0.35)), QPointF(left, tip.y()))
            painter.drawLine(
                QPointF(left, middle.center().y()), QPointF(middle.left(), middle.center().y())
            )
            painter.drawLine(QPointF(left, tip.y()), tip)
        else:
            height = middle.center().y()
            tip.setY(height)
            start = QPointF(subject.right() + em(0.15), height)
            painter.drawLine(start, QPointF(middle.left() - 1, height))
            painter.drawLine(QPointF(middle.right() + 1, height), tip)
        self._draw_head(painter, tip)

    def _draw_head(self, painter: QPainter, tip: QPointF) -> None:
        head = em(HEAD_EM)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.colour("faint"))
        back = tip - QPointF(1.5 * head, 0)
        painter.drawPolygon(QPolygonF([tip, back - QPointF(0, head), back + QPointF(0, head)]))

    def _lay_out(self) -> None:
        self._grid = grid(self, (0.12, 0.4), (0.5, 0.4, 0.35, 0.5), wide=4)
        first, *others = self.words[1:]
        pairs = [(TextLabel(tr("and"), Tone.MUTED), handle) for handle in others]
        row(first, *chain.from_iterable(pairs), SPACE, within=self._objects, gap=0.4)
        for column, part in enumerate((self._weight, self._fix, self._remove), start=5):
            self._grid.addWidget(part, 0, column)
        self._grid.addWidget(self._why, 3, 0, 1, 8)
        self._arrange(is_tall=False)

    def _arrange(self, *, is_tall: bool) -> None:
        """Arrange the relation on one line, or its parts stacked."""
        self._is_tall = is_tall
        grid, left = self._grid, Qt.AlignmentFlag.AlignLeft
        parts = (self.words[0], self.middle, self._objects)
        for part in parts:
            grid.removeWidget(part)
        for column, width in ((0, TALL_EM), (1, GAP_EM), (3, GAP_EM)):
            grid.setColumnMinimumWidth(column, em(width) if is_tall is (column == 0) else 0)
        if is_tall:
            grid.addWidget(parts[0], 0, 0, 1, 4, left)
            grid.addWidget(parts[1], 1, 1, 1, 3, left)
            grid.addWidget(parts[2], 2, 1, 1, 4)
        else:
            for part, column in zip(parts, (0, 2, 4), strict=True):
                grid.addWidget(part, 0, column)

    def _line_width(self) -> int:
        """Return the width of the relation on one line."""
        parts = [self.middle, self._remove, *self.words]
        marks = em(1.6) * (bool(self._claim.doubt) + (self._claim.weight != USUAL))
        return sum(part.sizeHint().width() for part in parts) + em(3) + marks

    def _handle(self, place: int, things: tuple[ThingWord, ...]) -> WordHandle:
        role = tr("Object") if place else tr("Subject")
        handle = WordHandle(self._claim.ends[place], role, things)
        handle.installEventFilter(self)
        handle.thing_picked.connect(partial(self.end_picked.emit, place))
        handle.dragged.connect(partial(self.end_dragged.emit, place))
        handle.dropped.connect(partial(self.end_dropped.emit, place))
        return handle

    def _middle_button(self) -> QToolButton:
        phrase = self._claim.chosen.phrase
        button = tool_button(
            phrase,
            self.open_wheel,
            kind="pill",
            name=tr("Relation type: {phrase}").format(phrase=phrase),
            tip=tr("Change the relation; right-click for more"),
        )
        button.setAccessibleDescription(self._claim.remarks)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        font = button.font()
        font.setStrikeOut(self._claim.is_muted)
        button.setFont(font)
        button.installEventFilter(self)
        return button

    def _icon_button(self, name: str, signal: SignalInstance) -> QToolButton:
        button = tool_button("", signal, name=name, icon_em=ICON_EM)
        button.installEventFilter(self)
        return button

    def _bound_to(self, event: QKeyEvent) -> Callable[[], object] | None:
        """Return the action of a key on any button of the chip; None for none."""
        if event.matches(QKeySequence.StandardKey.Delete):
            return self.removal_asked.emit
        ranks = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}
        if event.modifiers() == Qt.KeyboardModifier.AltModifier and event.key() in ranks:
            return partial(self.move_asked.emit, ranks[Qt.Key(event.key())])
        return None

    def _menu(self) -> QMenu:
        """Return the context menu of the relation."""
        claim, menu = self._claim, QMenu(self)
        if claim.doubt:
            menu.addAction(claim.fix).triggered.connect(self.fix_asked)
            menu.addSeparator()
        menu.addAction(tr("Change the relation…")).triggered.connect(self.open_wheel)
        turned = tr("Reverse: {claim}").format(claim=claim.said(claim.inverse, claim.ends))
        menu.addAction(turned).triggered.connect(
            lambda: self.type_picked.emit(claim.inverse.type_id)
        )
        swapped = (claim.ends[1], claim.ends[0], *claim.ends[2:])
        swap = tr("Swap: {claim}").format(claim=claim.said(claim.chosen, swapped))
        menu.addAction(swap).triggered.connect(self.swap_asked)
        menu.addSeparator()
        mute = checkable(menu.addAction(tr("Mute (ignored by guidance)")), claim.is_muted)
        mute.triggered.connect(self.mute_picked)
        self._add_weights(menu)
        for name, ranks, is_end in (
            (tr("Move up"), -1, claim.is_first),
            (tr("Move down"), 1, claim.is_last),
        ):
            move = menu.addAction(name)
            move.setEnabled(not is_end)
            move.triggered.connect(partial(self._move, ranks))
        menu.addSeparator()
        why = checkable(menu.addAction(tr("Why this?")), not self._why.isHidden())
        why.triggered.connect(lambda on: self._why.setVisible(on))
        menu.addAction(tr("Remove")).triggered.connect(self.removal_asked)
        return menu

    def _move(self, ranks: int) -> None:
        self.move_asked.emit(ranks)

    def _add_weights(self, menu: QMenu) -> None:
        weights = menu.addMenu(tr("Weight"))
        for weight in WEIGHTS:
            action = weights.addAction(f"{TIMES}{weight:g}")
            checkable(action, weight == self._claim.weight).setData(weight)
        weights.triggered.connect(lambda action: self.weight_picked.emit(action.data()))
