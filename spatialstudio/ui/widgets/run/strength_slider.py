"""One slider for how firmly the layout is held, with honest captions."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from spatialstudio.ui.texts import tr
from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.basic.fields import Slider
from spatialstudio.ui.widgets.basic.text_label import TextLabel, Tone

FULL = 100
RECOMMENDED = 50
CAPTIONS = (
    (0, "Off: the model places things as it likes. Fastest."),
    (1, "Loose: a nudge, the picture stays close to the plain one."),
    (34, "Balanced: most layouts hold, the style is kept."),
    (67, "Strict: the layout wins, the picture may suffer."),
)
"""From this position on, what to expect."""


class StrengthSlider(QWidget):
    """Lets the user choose how firmly guidance holds the layout.

    The slider runs from 0 to 100; 50 is the step size that is recommended. Emits
    ``strength_picked`` with the step size, by the user's hand only.
    """

    strength_picked = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._recommended = 1.0
        self._slider = Slider()
        self._slider.setAccessibleName(tr("Hold layout"))
        self._slider.setRange(0, FULL)
        self._slider.valueChanged.connect(self._slide)
        self._position = TextLabel()
        self._position.setWordWrap(False)
        self._caption = TextLabel(tone=Tone.MUTED, small=True)
        self._caption.setMinimumHeight(2 * self._caption.fontMetrics().lineSpacing())
        self._caption.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._lay_out()
        self.show_strength(1.0, 1.0)

    def show_strength(self, strength: float, recommended: float) -> None:
        """Show a step size that someone else chose.

        Args:
            strength: Step size, >= 0; one beyond the end of the slider is shown at its end.
            recommended: Step size in the middle of the slider, > 0.
        """
        self._recommended = recommended
        with QSignalBlocker(self._slider):
            self._slider.setValue(round(strength / recommended * RECOMMENDED))
        self._say()

    def _slide(self, position: int) -> None:
        self._say()
        self.strength_picked.emit(position / RECOMMENDED * self._recommended)

    def _say(self) -> None:
        position = self._slider.value()
        self._position.setText(str(position))
        caption = tr([text for start, text in CAPTIONS if position >= start][-1])
        self._caption.setText(caption)
        self._slider.setAccessibleDescription(caption)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self._slider, 1)
        top.addWidget(self._position)
        self._position.setFixedWidth(self._position.fontMetrics().horizontalAdvance("100"))
        self._position.setAlignment(Qt.AlignmentFlag.AlignRight)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.25))
        column.addLayout(top)
        column.addWidget(self._caption)
