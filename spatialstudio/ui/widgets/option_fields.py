"""Fields for the options of a registered component: a switch, a number, a list or a text."""

from collections.abc import Sequence
from math import ceil, log10

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QCheckBox, QDoubleSpinBox, QSpinBox, QWidget

from spatialstudio.domain.options import LONGEST_TEXT, Option, OptionKind, OptionValue
from spatialstudio.ui.widgets.builders import grow, row
from spatialstudio.ui.widgets.fields import PLAIN_NUMBER, ChoiceBox, DecimalBox, NumberBox, TextLine
from spatialstudio.ui.widgets.texts import plain_tip, tr

LARGEST_COUNT = 2**31 - 1
LARGEST_NUMBER = 1e9
FEWEST_PLACES = 2
USUAL_STEP = 0.1


class OptionField(QWidget):
    """Shows the value of an option and lets the user change it.

    Emits ``value_picked`` with a value in the option's type, on user action only.

    Args:
        option: Its label is the field's accessible name, its help the tooltip.
    """

    value_picked = Signal(object)

    def __init__(self, option: Option) -> None:
        super().__init__()
        self._option = option
        self._field = _field_of(option)
        self._field.setAccessibleName(tr(option.label))
        self._field.setToolTip(plain_tip(tr(option.help)))
        self.setFocusProxy(self._field)
        row(grow(self._field), within=self)
        self._connect()

    def show_value(self, value: OptionValue) -> None:
        """Show a value chosen elsewhere."""
        with QSignalBlocker(self._field):
            match self._field:
                case QCheckBox() as box:
                    box.setChecked(bool(value))
                case ChoiceBox() as box:
                    box.setCurrentIndex(box.findData(value))
                case QSpinBox() as box:
                    box.setValue(int(value))
                case QDoubleSpinBox() as box:
                    box.setValue(float(value))
                case TextLine() as line:
                    line.setText(str(value))

    def _connect(self) -> None:
        match self._field:
            case QCheckBox() as box:
                box.toggled.connect(self._tell)
            case ChoiceBox() as box:
                box.currentIndexChanged.connect(lambda _index: self._tell(box.currentData()))
            case QSpinBox() | QDoubleSpinBox() as box:
                box.valueChanged.connect(self._tell)
            case TextLine() as line:
                line.editingFinished.connect(lambda: self._tell_text(line))

    def _tell_text(self, line: TextLine) -> None:
        if line.isModified():
            line.setModified(False)
            self._tell(line.text())

    def _tell(self, value: object) -> None:
        self.value_picked.emit(self._option.check(value))


def _field_of(option: Option) -> QWidget:
    match option.kind:
        case OptionKind.BOOL:
            return QCheckBox()
        case OptionKind.CHOICE:
            return _choice_field(option.choices, option.label)
        case OptionKind.TEXT:
            return TextLine(maxLength=LONGEST_TEXT)
        case OptionKind.INT:
            count = NumberBox(**PLAIN_NUMBER, singleStep=int(option.step or 1))
            low, high = _range(option, LARGEST_COUNT)
            count.setRange(ceil(low), int(high))
            return count
    step = option.step or USUAL_STEP
    number = DecimalBox(**PLAIN_NUMBER, decimals=_places(option), singleStep=step)
    number.setRange(*_range(option, LARGEST_NUMBER))
    return number


def _choice_field(choices: Sequence[str], name: str) -> ChoiceBox:
    box = ChoiceBox(tr(name))
    for choice in choices:
        box.addItem(tr(choice), choice)
    return box


def _range(option: Option, largest: float) -> tuple[float, float]:
    low, high = option.minimum, option.maximum
    return -largest if low is None else low, largest if high is None else high


def _places(option: Option) -> int:
    """Return the number of decimal places of the option's step."""
    step = option.step or USUAL_STEP
    return max(FEWEST_PLACES, ceil(-log10(step)) + 1 if step < 1 else FEWEST_PLACES)
