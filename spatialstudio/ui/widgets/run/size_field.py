"""The size of the picture: width, height, and a button that lays it on its side."""

from PySide6.QtCore import QSignalBlocker, QSize, Signal
from PySide6.QtWidgets import QHBoxLayout, QSpinBox, QToolButton, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.basic.fields import NumberBox
from spatialstudio.ui.widgets.basic.text_label import PlainLabel, plain_tip

SIDE_EM = 2.8


class SideField(NumberBox):
    """One side in pixels; what is typed is brought to the nearest that can be drawn."""

    def __init__(self, name: str, unit: int, largest: int) -> None:
        super().__init__()
        self._unit = unit
        self.setAccessibleName(name)
        self.setToolTip(
            plain_tip(tr("{name} in pixels, a multiple of {unit}").format(name=name, unit=unit))
        )
        self.setRange(unit * unit, largest)
        self.setSingleStep(unit)
        self.setCorrectionMode(QSpinBox.CorrectionMode.CorrectToNearestValue)
        self.setKeyboardTracking(False)
        self.setButtonSymbols(QSpinBox.ButtonSymbols.NoButtons)
        self.setMinimumWidth(em(SIDE_EM))

    def valueFromText(self, text: str) -> int:
        """Return the nearest multiple of the unit."""
        return round(super().valueFromText(text) / self._unit) * self._unit


class SizeField(QWidget):
    """Lets the user set the picture's size. Emits ``size_picked`` by the user's hand only.

    Args:
        theme: The look.
        unit: Sides are multiples of it, pixels.
        largest: Longest side, pixels.
    """

    size_picked = Signal(int, int)

    def __init__(self, theme: Theme, unit: int, largest: int) -> None:
        super().__init__()
        self._theme = theme
        self._width = SideField(tr("Width"), unit, largest)
        self._height = SideField(tr("Height"), unit, largest)
        self._swap = QToolButton()
        self._swap.setAccessibleName(tr("Swap width and height"))
        self._swap.setToolTip(tr("Swap width and height"))
        self._swap.setIconSize(QSize(em(1.1), em(1.1)))
        self._swap.clicked.connect(self._turn)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(em(0.3))
        row.addWidget(self._width, 1)
        row.addWidget(PlainLabel("×"))  # noqa: RUF001 - the right sign
        row.addWidget(self._height, 1)
        row.addWidget(self._swap)
        for side in (self._width, self._height):
            side.valueChanged.connect(self._tell)
        self.setFocusProxy(self._width)
        theme.changed.connect(self._dress)
        self._dress()

    def show_size(self, width: int, height: int) -> None:
        """Show a size that someone else chose."""
        with QSignalBlocker(self._width), QSignalBlocker(self._height):
            self._width.setValue(width)
            self._height.setValue(height)

    def _turn(self) -> None:
        self.show_size(self._height.value(), self._width.value())
        self._tell()

    def _tell(self) -> None:
        self.size_picked.emit(self._width.value(), self._height.value())

    def _dress(self) -> None:
        self._swap.setIcon(self._theme.icon("swap"))
