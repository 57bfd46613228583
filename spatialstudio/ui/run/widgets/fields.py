"""Input fields of a run: choices, seed, size, strength."""

import secrets
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QStandardItemModel, QValidator
from PySide6.QtWidgets import QSpinBox, QToolButton, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.run_settings import SeedMode
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import ThemedIcon, column, grow, row, tool_button
from spatialstudio.ui.widgets.fields import (
    PLAIN_NUMBER,
    ChoiceBox,
    DecimalBox,
    EditLine,
    NumberBox,
    Slider,
)
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone, plain_tip, tr


@frozen
class Choice:
    """An option of a ``ChoiceField``.

    Attributes:
        id: Id emitted when it is picked.
        title: Display name.
        tip: Additional information.
        is_usable: Whether it can be picked; greyed out if not.
    """

    id: str
    title: str
    tip: str = ""
    is_usable: bool = True


class ChoiceField(ChoiceBox):
    """Lets the user pick one of the available choices.

    On user action only, emits ``choice_picked`` with an id, and ``list_opened`` when the list
    opens, so that the choices can be refreshed.

    Args:
        name: Accessible name.
    """

    choice_picked = Signal(str)
    list_opened = Signal()

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.currentIndexChanged.connect(self._tell)

    def show_choices(self, choices: tuple[Choice, ...], chosen: str) -> None:
        """Set the choices, in place where only their texts changed."""
        ids = [choice.id for choice in choices]
        with QSignalBlocker(self):
            if ids != [self.itemData(place) for place in range(self.count())]:
                self.clear()
                for choice in choices:
                    self.addItem(choice.title, choice.id)
                if self.view().isVisible():
                    super().showPopup()  # as high as the new choices need
            for place, choice in enumerate(choices):
                self._show_choice(place, choice)
        self.show_chosen(chosen)

    def show_chosen(self, chosen: str) -> None:
        """Show a choice made elsewhere."""
        with QSignalBlocker(self):
            self.setCurrentIndex(self.findData(chosen))
        self._show_tip()

    def showPopup(self) -> None:
        super().showPopup()
        self.list_opened.emit()

    def _show_choice(self, place: int, choice: Choice) -> None:
        self.setItemText(place, choice.title)
        self.setItemData(place, plain_tip(choice.tip), Qt.ItemDataRole.ToolTipRole)
        self.setItemData(place, choice.tip, Qt.ItemDataRole.AccessibleDescriptionRole)
        model = self.model()
        if isinstance(model, QStandardItemModel):
            model.item(place).setEnabled(choice.is_usable)

    def _tell(self) -> None:
        self._show_tip()
        self.choice_picked.emit(self.currentData())

    def _show_tip(self) -> None:
        tip = self.currentData(Qt.ItemDataRole.AccessibleDescriptionRole)
        self.setToolTip(plain_tip("\n".join(line for line in (self.currentText(), tip) if line)))


def count_field(name: str, most: int, **properties: Any) -> NumberBox:
    """Return a field for 1 to ``most`` items, with further Qt properties."""
    usual = {"minimum": 1, "maximum": most}
    return NumberBox(accessibleName=name, **PLAIN_NUMBER, **(usual | properties))


def share_field(name: str, largest: float, **properties: Any) -> DecimalBox:
    """Return a field for numbers up to ``largest`` with two decimal places, and properties."""
    steps = {"minimum": 0.0, "maximum": largest, "singleStep": 0.05}
    return DecimalBox(accessibleName=name, **PLAIN_NUMBER, **(steps | properties))


MODES = {
    SeedMode.RANDOM: ("random", "A random seed for each picture"),
    SeedMode.FIXED: ("fixed", "Keep the seed for the next picture"),
    SeedMode.INCREMENT: ("increment", "Increment the seed for each picture"),
    SeedMode.REUSE: ("reuse", "The seed of the open picture"),
}


class WholeNumber(QValidator):
    """Accepts whole numbers from 0 to a maximum; Qt's own validator stops at 31 bits."""

    def __init__(self, largest: int) -> None:
        super().__init__()
        self._largest = largest

    def validate(self, text: str, position: int) -> object:
        """Return Qt's validation state of a partial input."""
        if not text:
            return QValidator.State.Intermediate, text, position
        fits = text.isascii() and text.isdigit() and int(text) <= self._largest
        state = QValidator.State.Acceptable if fits else QValidator.State.Invalid
        return state, text, position


class SeedField(QWidget):
    """Lets the user set or randomise the seed.

    Emits ``seed_picked`` on user action only.

    Args:
        theme: Colours and icons.
        largest: Largest seed.
    """

    seed_picked = Signal(object)  # a seed does not fit Qt's int

    def __init__(self, theme: Theme, largest: int) -> None:
        super().__init__()
        self._largest = largest
        self._validator = WholeNumber(largest)
        self._number = EditLine("0", accessibleName=tr("Seed"), minimumWidth=em(4))
        self._number.setValidator(self._validator)
        self._number.textEdited.connect(self._tell)
        dice = _tool(theme, "dice", tr("Random seed"), self.roll)
        row(grow(self._number), dice, within=self, gap=0.2)
        self.setFocusProxy(self._number)

    @property
    def seed(self) -> int:
        """The current seed; 0 when the field is empty."""
        return int(self._number.text() or 0)

    def show_seed(self, seed: int) -> None:
        """Show a seed chosen elsewhere."""
        if seed != self.seed or not self._number.text():
            with QSignalBlocker(self._number):
                self._number.setText(str(seed))
                self._number.setCursorPosition(0)

    def roll(self) -> None:
        """Set a random seed, as a user action."""
        self.show_seed(secrets.randbelow(self._largest + 1))
        self._tell()

    def _tell(self) -> None:
        self.seed_picked.emit(self.seed)


class SeedModeField(ChoiceBox):
    """Lets the user choose how the next seed is determined.

    Emits ``mode_picked`` with a ``SeedMode`` on user action only.
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
        """How the next picture's seed is determined."""
        return SeedMode(self.currentData())

    def show_mode(self, mode: SeedMode) -> None:
        """Show how the next seed is determined."""
        with QSignalBlocker(self):
            self.setCurrentIndex(list(MODES).index(mode))
        self.setToolTip(tr(MODES[mode][1]))

    def _tell(self) -> None:
        self.setToolTip(tr(MODES[self.mode][1]))
        self.mode_picked.emit(self.mode)


def _tool(theme: Theme, icon: str, name: str, do: Callable[[], None]) -> QToolButton:
    button = tool_button(do=do, name=name, tip=name, icon_em=1.1)
    ThemedIcon(button, theme, icon)
    return button


SIDE_EM = 2.8


class SideField(NumberBox):
    """One side in pixels; input is rounded to the nearest valid multiple."""

    def __init__(self, name: str, unit: int, largest: int) -> None:
        tip = tr("{name} in pixels, a multiple of {unit}").format(name=name, unit=unit)
        super().__init__(
            accessibleName=name,
            toolTip=plain_tip(tip),
            minimum=unit * unit,
            maximum=largest,
            singleStep=unit,
            correctionMode=QSpinBox.CorrectionMode.CorrectToNearestValue,
            minimumWidth=em(SIDE_EM),
            **PLAIN_NUMBER,
        )
        self._unit = unit

    def valueFromText(self, text: str) -> int:
        """Return the nearest multiple of the unit."""
        return round(super().valueFromText(text) / self._unit) * self._unit


class SizeField(QWidget):
    """Lets the user set the picture's size; emits ``size_picked`` on user action only.

    Args:
        theme: Colours and icons.
        unit: Sides are multiples of it, pixels.
        largest: Longest side, pixels.
    """

    size_picked = Signal(int, int)

    def __init__(self, theme: Theme, unit: int, largest: int) -> None:
        super().__init__()
        self._width = SideField(tr("Width"), unit, largest)
        self._height = SideField(tr("Height"), unit, largest)
        times = PlainLabel("×")  # noqa: RUF001 - a multiplication sign
        swap = _tool(theme, "swap", tr("Swap width and height"), self._turn)
        row(grow(self._width), times, grow(self._height), swap, within=self, gap=0.3)
        for side in (self._width, self._height):
            side.valueChanged.connect(self._tell)
        self.setFocusProxy(self._width)

    def show_size(self, width: int, height: int) -> None:
        """Show a size chosen elsewhere."""
        with QSignalBlocker(self._width), QSignalBlocker(self._height):
            self._width.setValue(width)
            self._height.setValue(height)

    def _turn(self) -> None:
        self.show_size(self._height.value(), self._width.value())
        self._tell()

    def _tell(self) -> None:
        self.size_picked.emit(self._width.value(), self._height.value())


FULL = 100
RECOMMENDED = 50
CAPTIONS = (
    (0, "Off: no guidance. Fastest."),
    (1, "Loose, step size {size:g}: weak guidance, close to the baseline."),
    (34, "Balanced, step size {size:g}: satisfies most layouts and preserves the style."),
    (67, "Strict, step size {size:g}: prioritises the layout; picture quality may suffer."),
)
"""The description that applies from each position, with the step size."""


class StrengthSlider(QWidget):
    """Lets the user choose the strength of guidance.

    The slider runs from 0 to 100; 50 is the recommended step size. Emits ``strength_picked`` with
    the step size, on user action only.
    """

    strength_picked = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._strength = self._recommended = 1.0
        self._slider = Slider()
        self._slider.setAccessibleName(tr("Layout strength"))
        self._slider.setRange(0, FULL)
        self._slider.valueChanged.connect(self._slide)
        self._position = TextLabel(wraps=False)
        self._caption = TextLabel(tone=Tone.MUTED, small=True)
        self._caption.setMinimumHeight(2 * self._caption.fontMetrics().lineSpacing())
        self._caption.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._position.setFixedWidth(self._position.fontMetrics().horizontalAdvance("100"))
        self._position.setAlignment(Qt.AlignmentFlag.AlignRight)
        top = row(grow(self._slider), self._position)
        column(top, self._caption, within=self, gap=0.25)
        self.show_strength(1.0, 1.0)

    def show_strength(self, strength: float, recommended: float) -> None:
        """Show a step size chosen elsewhere.

        Args:
            strength: Step size, >= 0; larger values than the slider's are shown at its end.
            recommended: Step size in the middle of the slider, > 0.
        """
        self._strength, self._recommended = strength, recommended
        with QSignalBlocker(self._slider):
            self._slider.setValue(round(strength / recommended * RECOMMENDED))
        self._say()

    def _slide(self, position: int) -> None:
        self._strength = position / RECOMMENDED * self._recommended
        self._say()
        self.strength_picked.emit(self._strength)

    def _say(self) -> None:
        position = self._slider.value()
        self._position.setText(str(position))
        caption = tr([text for start, text in CAPTIONS if position >= start][-1])
        caption = caption.format(size=self._strength)
        self._caption.setText(caption)
        self._slider.setAccessibleDescription(caption)
