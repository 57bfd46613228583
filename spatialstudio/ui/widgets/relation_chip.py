"""One relation as a chip: ``dog -[to the left of]-> car``; its middle opens the choices."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPen,
    QPolygonF,
)
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.text_label import TextLabel, Tone

GAP_EM = 0.9
UNDERLINE_EM = 0.14
HEAD_EM = 0.2
ROOM_EM = 15.8
"""Width of the prompt dock's content; what does not fit stands in three lines."""


@dataclass(frozen=True, slots=True)
class ChipEnd:
    """One object word of a relation: how it is called, and its hue."""

    phrase: str
    hue: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A relation type that can be chosen: its id, and how it reads."""

    type_id: str
    phrase: str


class RelationChip(QFrame):
    """Shows one relation and lets the user change its type, turn it round or remove it.

    Emits ``type_picked`` with a type id, ``swap_asked`` and ``removal_asked``, each by the user's
    hand only. Keys: Space or Enter opens the choices, Delete removes.

    Args:
        theme: The look.
        subject: The thing placed.
        objects: What it is placed against; two for "between".
        chosen: The present type.
        choices: All types to offer, the present one among them.

    ``show_doubt`` marks a relation that cannot hold together with another.
    """

    type_picked = Signal(str)
    swap_asked = Signal()
    removal_asked = Signal()

    def __init__(
        self,
        theme: Theme,
        subject: ChipEnd,
        objects: tuple[ChipEnd, ...],
        chosen: Choice,
        choices: tuple[Choice, ...],
    ) -> None:
        super().__init__()
        self._theme = theme
        self.setProperty("kind", "card")
        objects_in_words = " and ".join(end.phrase for end in objects)
        sentence = f"{subject.phrase} {chosen.phrase} {objects_in_words}"
        self.setAccessibleName(f"Relation: {sentence}")
        self.setToolTip(sentence)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._words = [(_word(end), end.hue) for end in (subject, *objects)]
        self._middle = self._middle_button(chosen, choices)
        self._remove = self._remove_button(sentence)
        self.setFocusProxy(self._middle)
        self._is_tall = not self._fits_one_line()
        self._lay_out()
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def has_focus_inside(self) -> bool:
        """Whether one of its buttons has the keyboard focus."""
        return self._middle.hasFocus() or self._remove.hasFocus()

    def show_doubt(self) -> None:
        """Mark the relation as one that contradicts another; the notes say which."""
        self.setProperty("kind", "doubtful")
        self.setAccessibleDescription("Contradicts another relation.")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take Delete on the chip's buttons as the wish to remove it."""
        is_delete = isinstance(event, QKeyEvent) and event.matches(QKeySequence.StandardKey.Delete)
        if is_delete and event.type() is QEvent.Type.KeyPress:
            self.removal_asked.emit()
        return is_delete or super().eventFilter(watched, event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the card, the hue under each word, and the arrow through the middle."""
        super().paintEvent(event)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        for label, hue in self._words:
            painter.setBrush(self._theme.mention(hue))
            below = label.geometry().adjusted(0, label.height(), 0, em(UNDERLINE_EM))
            painter.drawRoundedRect(below, em(UNDERLINE_EM) / 2, em(UNDERLINE_EM) / 2)
        self._draw_arrow(painter)
        painter.end()

    def _draw_arrow(self, painter: QPainter) -> None:
        painter.setPen(QPen(self._theme.colour("faint"), 1.4, c=Qt.PenCapStyle.RoundCap))
        middle = QRectF(self._middle.geometry())
        subject, thing = (QRectF(label.geometry()) for label, _ in self._words[:2])
        tip = QPointF(thing.left() - em(0.25), thing.center().y() + 1)
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
            start = QPointF(subject.right() + em(0.25), height)
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
        grid = QGridLayout(self)
        grid.setContentsMargins(em(0.6), em(0.45), em(0.35), em(0.5))
        grid.setVerticalSpacing(em(0.45))
        grid.setHorizontalSpacing(em(0.3))
        grid.setColumnStretch(4, 1)
        subject, *others = (label for label, _ in self._words)
        objects = QHBoxLayout()
        objects.setSpacing(em(0.6))
        for place, label in enumerate(others):
            if place:
                objects.addWidget(TextLabel("and", Tone.MUTED))
            objects.addWidget(label)
        objects.addStretch()
        left = Qt.AlignmentFlag.AlignLeft
        if self._is_tall:
            grid.setColumnMinimumWidth(0, em(1.4))
            grid.addWidget(subject, 0, 0, 1, 4, left)
            grid.addWidget(self._middle, 1, 1, 1, 3, left)
            grid.addLayout(objects, 2, 1, 1, 3)
        else:
            grid.setColumnMinimumWidth(1, em(GAP_EM))
            grid.setColumnMinimumWidth(3, em(GAP_EM))
            grid.addWidget(subject, 0, 0)
            grid.addWidget(self._middle, 0, 2)
            grid.addLayout(objects, 0, 4)
        grid.addWidget(self._remove, 0, 5)

    def _fits_one_line(self) -> bool:
        parts = [self._middle, self._remove, *(label for label, _ in self._words)]
        return sum(part.sizeHint().width() for part in parts) + em(3) <= em(ROOM_EM)

    def _middle_button(self, chosen: Choice, choices: tuple[Choice, ...]) -> QToolButton:
        button = QToolButton()
        button.setProperty("kind", "pill")
        button.setText(chosen.phrase)
        button.setAccessibleName(f"Relation type: {chosen.phrase}")
        button.setToolTip("Change the relation")
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        button.setMenu(self._menu(button, chosen, choices))
        button.installEventFilter(self)
        return button

    def _menu(self, parent: QWidget, chosen: Choice, choices: tuple[Choice, ...]) -> QMenu:
        menu = QMenu(parent)
        group = QActionGroup(menu)
        for choice in choices:
            action = QAction(choice.phrase, group, checkable=True, checked=choice == chosen)
            action.setData(choice.type_id)
            menu.addAction(action)
        group.triggered.connect(self._pick)
        menu.addSeparator()
        menu.addAction("Turn round").triggered.connect(self.swap_asked)
        menu.addAction("Remove").triggered.connect(self.removal_asked)
        return menu

    def _pick(self, action: QAction) -> None:
        self.type_picked.emit(action.data())

    def _remove_button(self, sentence: str) -> QToolButton:
        button = QToolButton()
        button.setAccessibleName(f"Remove relation: {sentence}")
        button.setToolTip("Remove this relation")
        button.setIconSize(QSize(em(0.75), em(0.75)))
        button.clicked.connect(self.removal_asked)
        button.installEventFilter(self)
        return button

    def _dress(self) -> None:
        self._remove.setIcon(self._theme.icon("close", "muted"))
        self.update()


def _word(end: ChipEnd) -> QLabel:
    label = QLabel(end.phrase)
    label.setToolTip(end.phrase)
    label.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return label
