"""The seed: a number, a dice for a new one, and a lock that keeps it."""

import secrets

from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QToolButton, QWidget

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme


class WholeNumber(QValidator):
    """Lets only whole numbers from 0 to a largest be typed; Qt's own stops at 31 bits."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self._largest = largest

    def validate(self, text: str, position: int) -> object:
        """Judge what stands in the field while one types."""
        if not text:
            return QValidator.State.Intermediate, text, position
        fits = text.isascii() and text.isdigit() and int(text) <= self._largest
        state = QValidator.State.Acceptable if fits else QValidator.State.Invalid
        return state, text, position


class SeedField(QWidget):
    """Lets the user set the seed, roll a new one, or lock it for the next pictures.

    Emits ``seed_picked`` by the user's hand only.

    Args:
        theme: The look.
        largest: Largest seed.
    """

    seed_picked = Signal(object)  # a seed does not fit Qt's int

    def __init__(self, theme: Theme, largest: int) -> None:
        super().__init__()
        self._theme = theme
        self._largest = largest
        self._validator = WholeNumber(largest)
        self._number = QLineEdit("0")
        self._number.setAccessibleName("Seed")
        self._number.setValidator(self._validator)
        self._number.textEdited.connect(self._tell)
        self._dice = _tool("Roll another seed", checkable=False)
        self._dice.clicked.connect(self.roll)
        self._lock = _tool("Keep this seed for the next picture", checkable=True)
        self._lock.setChecked(True)
        self._lock.toggled.connect(self._dress)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(em(0.2))
        row.addWidget(self._number, 1)
        row.addWidget(self._dice)
        row.addWidget(self._lock)
        self.setFocusProxy(self._number)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def seed(self) -> int:
        """The seed as it stands; 0 when the field is empty."""
        return int(self._number.text() or 0)

    @property
    def is_locked(self) -> bool:
        """Whether the next picture shall have the same seed."""
        return self._lock.isChecked()

    def show_seed(self, seed: int) -> None:
        """Show a seed that someone else chose."""
        with QSignalBlocker(self._number):
            self._number.setText(str(seed))

    def roll(self) -> None:
        """Take a new seed by chance, as the user asked."""
        self.show_seed(secrets.randbelow(self._largest + 1))
        self._tell()

    def _tell(self) -> None:
        self.seed_picked.emit(self.seed)

    def _dress(self) -> None:
        self._dice.setIcon(self._theme.icon("dice"))
        self._lock.setIcon(self._theme.icon("lock" if self.is_locked else "unlock"))


def _tool(name: str, *, checkable: bool) -> QToolButton:
    button = QToolButton()
    button.setAccessibleName(name)
    button.setToolTip(name)
    button.setCheckable(checkable)
    button.setIconSize(QSize(em(1.1), em(1.1)))
    return button
