"""One relation as a chip: ``dog -[to the left of]-> car``; its middle opens the choices."""

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QLineF, QObject, QPointF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QSizePolicy, QToolButton, QWidget

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme

GAP_EM = 0.9
UNDERLINE_EM = 0.14
HEAD_EM = 0.2
WORD_WIDTH_EM = 5.2


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
        self._lay_out()
        theme.changed.connect(self._dress)
        self._dress()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take Delete on the chip's buttons as the wish to remove it."""
        is_delete = event.type() is QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Delete  # type: ignore[attr-defined]
        if is_delete:
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
        middle, height = self._middle.geometry(), self.rect().center().y() + 0.5
        start = self._words[0][0].geometry().right() + em(0.25)
        end = self._words[1][0].geometry().left() - em(0.25)
        painter.drawLine(QLineF(start, height, middle.left() - 1, height))
        painter.drawLine(QLineF(middle.right() + 2, height, end, height))
        head = em(HEAD_EM)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ink)
        points = [
            (end, height),
            (end - 1.5 * head, height - head),
            (end - 1.5 * head, height + head),
        ]
        painter.drawPolygon(QPolygonF([QPointF(*point) for point in points]))

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(em(0.6), em(0.4), em(0.3), em(0.45))
        row.setSpacing(em(0.3))
        subject, *others = (label for label, _ in self._words)
        row.addWidget(subject)
        row.addSpacing(em(GAP_EM))
        row.addWidget(self._middle)
        row.addSpacing(em(GAP_EM))
        for label in others:
            row.addWidget(label)
        row.addStretch()
        row.addWidget(self._remove)

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
    label.setMaximumWidth(em(WORD_WIDTH_EM))
    label.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
    return label
