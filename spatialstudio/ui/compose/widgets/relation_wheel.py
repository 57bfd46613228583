"""The relation wheel: eight directions around the object, other relations below."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.compose.widgets.word_handle import ThingWord
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import centred, column, grow, row, tool_button
from spatialstudio.ui.widgets.painting import painting
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    TextLabel,
    Tone,
    tr,
)

CELL_EM = (3.2, 2.5)
DOT_EM = 0.5
RING_EM = 0.16
PUSH = 0.16
"""Offset of a dot from the centre of its cell towards its side, as a fraction of the cell."""
IN_A_ROW = 3
SIDEWAYS = 2.0
"""Penalty on sideways distance when an arrow key looks for the next button."""
TINT = 0.18

AHEAD = {
    Qt.Key.Key_Left: QPoint(-1, 0),
    Qt.Key.Key_Right: QPoint(1, 0),
    Qt.Key.Key_Up: QPoint(0, -1),
    Qt.Key.Key_Down: QPoint(0, 1),
}


@frozen(kw_only=False)
class Choice:
    """A relation type to choose.

    Attributes:
        type_id: Its id.
        phrase: The relation phrase.
        place: Column and row around the object, -1 to 1; None for a type without a direction.
    """

    type_id: str
    phrase: str
    place: tuple[int, int] | None = None


class RelationWheel(QFrame):
    """Lets the user pick a relation by its direction; closes on a choice or Escape.

    Emits ``type_picked`` with a type's id, ``none_picked`` to remove the relation. The arrow keys
    move between the directions.

    Args:
        theme: Colours and icons.
        subject: The subject.
        thing: The object.
        chosen: The current type.
        choices: All types to offer.
        parent: Parent widget.
    """

    type_picked = Signal(str)
    none_picked = Signal()

    def __init__(
        self,
        theme: Theme,
        ends: tuple[ThingWord, ThingWord],
        chosen: Choice,
        choices: tuple[Choice, ...],
        parent: QWidget,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setProperty("kind", "popup")
        self._subject, self._thing = ends
        self._buttons: list[QToolButton] = []
        name = tr("Where is the {subject}?").format(subject=self._subject.phrase)
        self.setAccessibleName(name)
        self._caption = TextLabel(tone=Tone.MUTED, small=True)
        self._caption.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column(
            centred(TextLabel(name, Tone.HEADING)),
            self._compass(theme, chosen, choices),
            self._rows(chosen, choices),
            self._caption,
            within=self,
            gap=0.5,
            edges=(0.8, 0.7, 0.8, 0.7),
        )
        self._caption.setFixedHeight(self._caption.sizeHint().height())
        self._say(chosen.phrase)

    def open_at(self, place: QPoint) -> None:
        """Show the wheel around a screen position, within the screen."""
        self.adjustSize()
        corner = place - QPoint(self.width() // 2, self.height() // 3)
        free = self.screen().availableGeometry()
        corner.setX(max(min(corner.x(), free.right() - self.width()), free.left()))
        corner.setY(max(min(corner.y(), free.bottom() - self.height()), free.top()))
        self.move(corner)
        self.show()
        chosen = next((each for each in self._buttons if each.isChecked()), self._buttons[0])
        chosen.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Describe the focused or hovered button; move by the arrow keys."""
        if isinstance(watched, QToolButton):
            if event.type() in (QEvent.Type.FocusIn, QEvent.Type.Enter):
                self._say(watched.accessibleName())
            if isinstance(event, QKeyEvent) and event.type() is QEvent.Type.KeyPress:
                return self._follow_key(watched, event)
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def _follow_key(self, button: QToolButton, event: QKeyEvent) -> bool:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            button.click()
            return True
        ahead = AHEAD.get(Qt.Key(event.key()))
        if ahead is None:
            return False
        here = button.geometry().center()
        steps = {each: each.geometry().center() - here for each in self._buttons}
        before = {each: QPoint.dotProduct(step, ahead) for each, step in steps.items()}
        reachable = [each for each in self._buttons if before[each] > 0 and each.isEnabled()]
        if reachable:
            side = QPoint(ahead.y(), ahead.x())
            nearest = min(
                reachable,
                key=lambda each: (
                    before[each] + SIDEWAYS * abs(QPoint.dotProduct(steps[each], side))
                ),
            )
            nearest.setFocus(Qt.FocusReason.TabFocusReason)
        return True

    def _say(self, phrase: str) -> None:
        sentence = f"{self._subject.phrase} {phrase} {self._thing.phrase}"
        known = phrase not in (tr("no relation"), "")
        self._caption.setText(sentence if known else phrase)

    def _compass(self, theme: Theme, chosen: Choice, choices: tuple[Choice, ...]) -> QGridLayout:
        grid = QGridLayout()
        grid.setSpacing(em(0.25))
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(4, 1)
        for place, choice in _placed(choices).items():
            across, down = place
            cell = PlaceButton(theme, place, self._subject.hue)
            self._add(cell, choice, chosen)
            grid.addWidget(cell, down + 1, across + 2)
        middle = PlainLabel(self._thing.phrase)
        middle.setAlignment(Qt.AlignmentFlag.AlignCenter)
        middle.setMaximumWidth(em(2 * CELL_EM[0]))
        hue = theme.mention(self._thing.hue)
        tint = theme.mention(self._thing.hue, TINT)
        middle.setStyleSheet(
            f"background: {tint.name(tint.NameFormat.HexArgb)}; border: 1px solid {hue.name()};"
            "border-radius: 0.4em; padding: 0.2em;"
        )
        grid.addWidget(middle, 1, 2)
        return grid

    def _rows(self, chosen: Choice, choices: tuple[Choice, ...]) -> QVBoxLayout:
        """Return the types without a direction, a few per row, and "no relation"."""
        placed = _placed(choices).values()
        placeless = [choice for choice in choices if choice not in placed]
        buttons = [tool_button(choice.phrase, kind="segment") for choice in placeless]
        for button, choice in zip(buttons, placeless, strict=True):
            self._add(button, choice, chosen)
        words = tr("no relation")
        none = tool_button(words, self._take_none, kind="segment", name=words)
        none.installEventFilter(self)
        self._buttons.append(none)
        cells = [grow(button) for button in (*buttons, none)]
        starts = range(0, len(cells), IN_A_ROW)
        rows = (row(*cells[start : start + IN_A_ROW], gap=0.25) for start in starts)
        return column(*rows, gap=0.25)

    def _add(self, button: QToolButton, choice: Choice, chosen: Choice) -> None:
        button.setCheckable(True)
        button.setChecked(choice.type_id == chosen.type_id)
        button.setAccessibleName(choice.phrase)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.installEventFilter(self)
        button.clicked.connect(lambda _=False: self._take(choice))
        self._buttons.append(button)

    def _take(self, choice: Choice) -> None:
        self.close()
        self.type_picked.emit(choice.type_id)

    def _take_none(self) -> None:
        self.close()
        self.none_picked.emit()


def _placed(choices: Sequence[Choice]) -> dict[tuple[int, int], Choice]:
    """Return the first choice of each direction around the object."""
    placed: dict[tuple[int, int], Choice] = {}
    for choice in choices:
        if choice.place is not None:
            placed.setdefault(choice.place, choice)
    return placed


class PlaceButton(QToolButton):
    """A direction around the object, with a dot in the subject's hue on its side."""

    def __init__(self, theme: Theme, place: tuple[int, int], hue: int) -> None:
        super().__init__()
        self._theme = theme
        self._place = place
        self._hue = hue
        self.setProperty("kind", "place")

    def sizeHint(self) -> QSize:
        return QSize(*(em(side) for side in CELL_EM))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the button and its dot, filled when chosen, hovered or focused."""
        super().paintEvent(event)
        middle = QRectF(self.rect()).center()
        push = QPointF(self._place[0] * PUSH * self.width(), self._place[1] * PUSH * self.height())
        is_full = self.isChecked() or self.underMouse() or self.hasFocus()
        with painting(self) as painter:
            painter.setPen(QPen(self._theme.mention(self._hue), em(RING_EM)))
            painter.setBrush(self._theme.mention(self._hue, 1.0 if is_full else TINT))
            painter.drawEllipse(middle + push, em(DOT_EM), em(DOT_EM))
