"""Threshold sliders and instance choices of a trial verdict."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QComboBox, QLabel, QWidget

from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.theme.theme import em, restyle
from spatialstudio.ui.widgets.builders import clear, grid
from spatialstudio.ui.widgets.fields import ComboBox, Slider
from spatialstudio.ui.widgets.texts import (
    PlainLabel,
    TextLabel,
    Tone,
    plain_tip,
    tr,
)

STEPS = 100
SLIDER_EM = 1.5


@frozen(kw_only=False)
class Threshold:
    """A threshold with a slider.

    Attributes:
        key: Id emitted when it is moved.
        name: Label.
        tip: Its effect.
        value: Current value, [0, most].
        stored: Value at the evaluation.
        most: Its largest value.
    """

    key: str
    name: str
    tip: str
    value: float
    stored: float
    most: float = 1.0


@frozen(kw_only=False)
class Choices:
    """An object with several detected instances.

    Attributes:
        key: Id emitted when the choice changes.
        name: Name of the object.
        items: Descriptions of the instances, best first.
        chosen: Index of the instance in use; -1 for none.
    """

    key: str
    name: str
    items: tuple[str, ...]
    chosen: int


class ThresholdForm(QWidget):
    """Lets the user move thresholds and choose instances.

    Emits ``threshold_picked`` with a key and a value and ``choice_picked`` with a key and an index,
    on user action only.
    """

    threshold_picked = Signal(str, float)
    choice_picked = Signal(str, int)

    def __init__(self) -> None:
        super().__init__()
        self._kind: tuple[object, ...] = ()
        self._sliders: list[Slider] = []
        self._numbers: list[QLabel] = []
        self._combos: list[ComboBox] = []
        self._grid = grid(self, (0.6, 0.25))

    def show_form(self, thresholds: Sequence[Threshold], choices: Sequence[Choices]) -> None:
        """Show thresholds and choices; rows are rebuilt only when their set changes."""
        kind = (
            *((threshold.key, threshold.name, threshold.most) for threshold in thresholds),
            *((each.key, each.name, each.items) for each in choices),
        )
        if kind != self._kind:
            self._kind = kind
            self._renew(thresholds, choices)
        for threshold, slider, number in zip(thresholds, self._sliders, self._numbers, strict=True):
            with QSignalBlocker(slider):
                slider.setValue(round(threshold.value / threshold.most * STEPS))
            number.setText(f"{threshold.value:.2f}")
            restyle(number, "tone", "muted" if threshold.value == threshold.stored else "heading")
            stored = tr("Judged with {value}").format(value=f"{threshold.stored:.2f}")
            slider.setToolTip(plain_tip(f"{threshold.tip}\n{stored}"))
        for each, combo in zip(choices, self._combos, strict=True):
            with QSignalBlocker(combo):
                combo.setCurrentIndex(each.chosen)

    def _renew(self, thresholds: Sequence[Threshold], choices: Sequence[Choices]) -> None:
        clear(self._grid)
        self._sliders, self._numbers, self._combos = [], [], []
        for place, threshold in enumerate(thresholds):
            self._add_threshold(place, threshold)
        for place, each in enumerate(choices, len(thresholds)):
            self._add_choices(place, each)

    def _add_threshold(self, row: int, threshold: Threshold) -> None:
        slider = Slider()
        slider.setAccessibleName(threshold.name)
        slider.setRange(0, STEPS)
        slider.setMinimumWidth(em(SLIDER_EM))
        slider.valueChanged.connect(
            lambda place: self.threshold_picked.emit(threshold.key, place / STEPS * threshold.most)
        )
        number = PlainLabel()
        self._grid.addWidget(_name(threshold.name), row, 0)
        self._grid.addWidget(slider, row, 1)
        self._grid.addWidget(number, row, 2)
        self._sliders.append(slider)
        self._numbers.append(number)

    def _add_choices(self, row: int, each: Choices) -> None:
        combo = ComboBox()
        combo.setAccessibleName(tr("Instance of {thing} to judge").format(thing=each.name))
        combo.addItems(each.items)
        combo.setPlaceholderText(tr("none above the threshold"))
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        combo.activated.connect(partial(self.choice_picked.emit, each.key))
        self._grid.addWidget(_name(each.name), row, 0)
        self._grid.addWidget(combo, row, 1, 1, 2)
        self._combos.append(combo)


def _name(text: str) -> TextLabel:
    label = TextLabel(text, Tone.MUTED)
    label.setWordWrap(False)
    return label
