"""A slider between the relations only and the sketched places."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QWidget

from spatialstudio.ui.widgets.builders import SPACE, column, grow, row
from spatialstudio.ui.widgets.fields import Slider
from spatialstudio.ui.widgets.texts import TextLabel, Tone, plain_tip, tr

FULL = 100


class PlaceWeight(QWidget):
    """Lets the user choose how much the held places count beside the relations.

    Emits ``weight_picked`` with 0 to 1, on user action only.
    """

    weight_picked = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._slider = Slider()
        self._slider.setAccessibleName(tr("Weight of the places"))
        self._slider.setRange(0, FULL)
        self._slider.valueChanged.connect(self._slide)
        self._ends = [
            TextLabel(tr(text), Tone.MUTED, small=True, wraps=False)
            for text in ("Relations only", "As sketched")
        ]
        relations, sketched = self._ends
        self._percent = TextLabel(wraps=False)
        self._percent.setFixedWidth(self._percent.fontMetrics().horizontalAdvance("100 %"))
        self._percent.setAlignment(Qt.AlignmentFlag.AlignRight)
        column(
            row(grow(self._slider), self._percent, gap=0.5),
            row(relations, SPACE, sketched),
            within=self,
            gap=0.1,
        )

    def show_weight(self, weight: float, *, is_used: bool) -> None:
        """Show a weight chosen elsewhere.

        Args:
            weight: 0 to 1.
            is_used: Whether a place is held, so that the weight has an effect.
        """
        with QSignalBlocker(self._slider):
            self._slider.setValue(round(weight * FULL))
        self.setEnabled(is_used)
        self._say()
        tip = "" if is_used else tr("Drag an object or hold its place first.")
        self._slider.setToolTip(plain_tip(tip))
        self._slider.setAccessibleDescription(tip)

    def _slide(self, position: int) -> None:
        self._say()
        self.weight_picked.emit(position / FULL)

    def _say(self) -> None:
        self._percent.setText(f"{self._slider.value()} %")
