"""The seed: a number with a dice for a new one; and which one the next picture gets."""

import secrets

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from spatialstudio.domain.run_settings import SeedMode
from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.basic.choice_box import ChoiceBox
from spatialstudio.ui.widgets.basic.fields import EditLine
from spatialstudio.ui.widgets.basic.text_label import plain_tip

MODES = {
    SeedMode.RANDOM: ("random", "Another seed by chance for each picture"),
    SeedMode.FIXED: ("fixed", "The same seed for the next picture"),
    SeedMode.INCREMENT: ("count up", "The seed that follows for the next picture"),
    SeedMode.REUSE: ("reuse", "The seed of the picture that is looked at"),
}


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
    """Lets the user set the seed, or roll a new one.

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
        self._number = EditLine()
        self._number.setText("0")
        self._number.setAccessibleName(tr("Seed"))
        self._number.setValidator(self._validator)
        self._number.setMinimumWidth(em(4))
        self._number.textEdited.connect(self._tell)
        self._dice = _tool(tr("Roll another seed"))
        self._dice.clicked.connect(self.roll)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(em(0.2))
        row.addWidget(self._number, 1)
        row.addWidget(self._dice)
        self.setFocusProxy(self._number)
        theme.changed.connect(self._dress)
        self._dress()

    @property
    def seed(self) -> int:
        """The seed as it stands; 0 when the field is empty."""
        return int(self._number.text() or 0)

    def show_seed(self, seed: int) -> None:
        """Show a seed that someone else chose."""
        if seed != self.seed or not self._number.text():
            with QSignalBlocker(self._number):
                self._number.setText(str(seed))
                self._number.setCursorPosition(0)

    def roll(self) -> None:
        """Take a new seed by chance, as the user asked."""
        self.show_seed(secrets.randbelow(self._largest + 1))
        self._tell()

    def _tell(self) -> None:
        self.seed_picked.emit(self.seed)

    def _dress(self) -> None:
        self._dice.setIcon(self._theme.icon("dice"))


class SeedModeField(ChoiceBox):
    """Lets the user say which seed comes next.

    Emits ``mode_picked`` with a ``SeedMode`` by the user's hand only.
    """

    mode_picked = Signal(object)

    def __init__(self) -> None:
        super().__init__(tr("Seed of the next picture"))
        for place, (mode, (name, tip)) in enumerate(MODES.items()):
            self.addItem(tr(name), mode)
            self.setItemData(place, tr(tip), Qt.ItemDataRole.ToolTipRole)
        self.currentIndexChanged.connect(self._tell)

    @property
    def mode(self) -> SeedMode:
        """Which seed the next picture gets."""
        return SeedMode(self.currentData())

    def show_mode(self, mode: SeedMode) -> None:
        """Show which seed comes next."""
        with QSignalBlocker(self):
            self.setCurrentIndex(list(MODES).index(mode))
        self.setToolTip(tr(MODES[mode][1]))

    def _tell(self) -> None:
        self.setToolTip(tr(MODES[self.mode][1]))
        self.mode_picked.emit(self.mode)


def _tool(name: str) -> QToolButton:
    button = QToolButton()
    button.setAccessibleName(name)
    button.setToolTip(plain_tip(name))
    button.setIconSize(QSize(em(1.1), em(1.1)))
    return button
