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

GAP_EM = 0.9
UNDERLINE_EM = 0.14
HEAD_EM = 0.2
ROOM_EM = 16.5
"""Width of the prompt dock's content; what does not fit stands in two lines."""


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
        self._is_tall = not self._fits_one_line()
        self._lay_out()
        theme.changed.connect(self._dress)
        self._dress()

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
        ink = self._theme.colour("faint")
        painter.setPen(QPen(ink, 1.4, c=Qt.PenCapStyle.RoundCap))
        middle = QRectF(self._middle.geometry())
        height = middle.center().y()
        subject, thing = (QRectF(label.geometry()) for label, _ in self._words[:2])
        if self._is_tall:
            corner = QPointF(subject.left() + em(0.4), height)
            painter.drawLine(QPointF(corner.x(), subject.bottom() + em(0.35)), corner)
        else:
            corner = QPointF(subject.right() + em(0.25), height)
        painter.drawLine(corner, QPointF(middle.left() - 1, height))
        tip = thing.left() - em(0.25)
        painter.drawLine(QPointF(middle.right() + 1, height), QPointF(tip - 1, height))
        head = em(HEAD_EM)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        back = tip - 1.5 * head
        corners = [(tip, height), (back, height - head), (back, height + head)]
        painter.drawPolygon(QPolygonF([QPointF(*corner) for corner in corners]))

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(em(0.6), em(0.45), em(0.35), em(0.5))
        grid.setVerticalSpacing(em(0.5))
        claim = QHBoxLayout()
        claim.setSpacing(em(0.3))
        subject, *others = (label for label, _ in self._words)
        claim.addSpacing(em(GAP_EM))
        claim.addWidget(self._middle)
        claim.addSpacing(em(GAP_EM))
        for label in others:
            claim.addWidget(label)
        claim.addStretch()
        grid.addWidget(subject, 0, 0, Qt.AlignmentFlag.AlignLeft)
        grid.addWidget(self._remove, 0, 2)
        grid.setColumnStretch(1, 1)
        if self._is_tall:
            grid.addLayout(claim, 1, 0, 1, 3)
        else:
            grid.addLayout(claim, 0, 1)

    def _fits_one_line(self) -> bool:
        parts = [self._middle, self._remove, *(label for label, _ in self._words)]
        return sum(part.sizeHint().width() for part in parts) + em(4 * GAP_EM) <= em(ROOM_EM)

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
