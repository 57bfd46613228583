"""One slider for how firmly the layout is held, with honest captions."""

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QDoubleSpinBox,
    QHBoxLayout,
    QSlider,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from spatialstudio.ui.theme.metrics import em
from spatialstudio.ui.widgets.text_label import TextLabel, Tone

FULL = 100
RECOMMENDED = 50
CAPTIONS = (
    (0, "Off: the model places things as it likes."),
    (1, "Loose: a nudge, the picture stays close to the plain one."),
    (34, "Balanced: most layouts hold, the style is kept."),
    (67, "Strict: the layout wins, the picture may suffer."),
)
"""From this position on, what to expect."""


class StrengthSlider(QWidget):
    """Lets the user choose how firmly guidance holds the layout.

    The slider runs from 0 to 100; 50 is the step size that the model recommends. The number
    itself stands behind "Step size". Emits ``strength_picked`` with the step size, by the user's
    hand only.
    """

    strength_picked = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self._recommended = 1.0
        self._slider = QSlider(Qt.Orientation.Horizontal)
        self._slider.setAccessibleName("Hold layout")
        self._slider.setRange(0, FULL)
        self._slider.valueChanged.connect(self._slide)
        self._position = TextLabel()
        self._position.setWordWrap(False)
        self._caption = TextLabel(tone=Tone.MUTED, small=True)
        self._caption.setMinimumHeight(2 * self._caption.fontMetrics().lineSpacing())
        self._caption.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._number = _step_size_field()
        self._number.valueChanged.connect(self._type)
        self._disclosure = self._disclosure_button()
        self._lay_out()
        self.show_recommended(1.0)

    @property
    def strength(self) -> float:
        """The step size, in variance-preserving latent units."""
        return self._number.value()

    def show_recommended(self, strength: float) -> None:
        """Show the model's own step size in the middle of the slider, and choose it."""
        self._recommended = strength
        with QSignalBlocker(self._number):
            self._number.setRange(
                0.0, max(strength * FULL / RECOMMENDED, self._number.singleStep())
            )
        self.show_strength(strength)

    def show_strength(self, strength: float) -> None:
        """Show a step size that someone else chose."""
        with QSignalBlocker(self._slider), QSignalBlocker(self._number):
            self._slider.setValue(round(strength / self._recommended * RECOMMENDED))
            self._number.setValue(strength)
        self._say()

    def _slide(self, position: int) -> None:
        with QSignalBlocker(self._number):
            self._number.setValue(position / RECOMMENDED * self._recommended)
        self._say()
        self.strength_picked.emit(self.strength)

    def _type(self, strength: float) -> None:
        with QSignalBlocker(self._slider):
            self._slider.setValue(round(strength / self._recommended * RECOMMENDED))
        self._say()
        self.strength_picked.emit(strength)

    def _say(self) -> None:
        position = self._slider.value()
        self._position.setText(str(position))
        self._caption.setText([text for start, text in CAPTIONS if position >= start][-1])

    def _disclosure_button(self) -> QToolButton:
        button = QToolButton()
        button.setText("Step size")
        button.setProperty("kind", "disclosure")
        button.setAccessibleName("Show the step size")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setArrowType(Qt.ArrowType.RightArrow)
        button.setCheckable(True)
        button.toggled.connect(self._disclose)
        return button

    def _disclose(self, shown: bool) -> None:
        self._number.setVisible(shown)
        arrow = Qt.ArrowType.DownArrow if shown else Qt.ArrowType.RightArrow
        self._disclosure.setArrowType(arrow)

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.addWidget(self._slider, 1)
        top.addWidget(self._position)
        self._position.setFixedWidth(self._position.fontMetrics().horizontalAdvance("100"))
        self._position.setAlignment(Qt.AlignmentFlag.AlignRight)
        below = QHBoxLayout()
        below.addWidget(self._disclosure)
        below.addWidget(self._number)
        below.addStretch()
        self._number.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(em(0.25))
        column.addLayout(top)
        column.addWidget(self._caption)
        column.addLayout(below)


def _step_size_field() -> QDoubleSpinBox:
    field = QDoubleSpinBox()
    field.setAccessibleName("Step size in latent units")
    field.setToolTip("How far each guided step moves the latents, in variance-preserving units")
    field.setButtonSymbols(QDoubleSpinBox.ButtonSymbols.NoButtons)
    field.setFixedWidth(em(5))
    field.setDecimals(2)
    field.setSingleStep(0.05)
    return field
