"""The LoRAs of the next picture, each with its weight."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QDoubleSpinBox, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from spatialstudio.domain.scene import LoraUse
from spatialstudio.ui.run.widgets.fields import Choice, ChoiceField
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import tool_button
from spatialstudio.ui.widgets.fields import DecimalBox
from spatialstudio.ui.widgets.texts import TextLabel, plain_tip, tr

ADD = ""
"""Id of the entry that adds nothing."""
MOST_WEIGHT = 10.0
WEIGHT_STEP = 0.05


class LoraList(QWidget):
    """Shows LoRAs and lets the user add and remove them and set their weights.

    Signals, on user action only: ``loras_picked`` with a tuple of ``LoraUse``; ``names_wanted``
    when the list of available LoRAs opens.
    """

    loras_picked = Signal(object)
    names_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._loras: tuple[LoraUse, ...] = ()
        self._rows: list[QWidget] = []
        self._boxes: list[tuple[str, DecimalBox]] = []
        self._field = ChoiceField(tr("Add a LoRA"))
        self._field.list_opened.connect(self.names_wanted)
        self._field.choice_picked.connect(self._add)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(em(0.2))
        self._column.addWidget(self._field)
        self.setFocusProxy(self._field)
        self._field.show_choices((Choice(id=ADD, title=tr("Add…")),), ADD)

    def show_choices(self, choices: Sequence[Choice]) -> None:
        """Offer LoRAs to add."""
        add = Choice(id=ADD, title=tr("Add…") if choices else tr("None found"))
        self._field.show_choices((add, *choices), ADD)

    def show_loras(self, loras: tuple[LoraUse, ...]) -> None:
        """Show the LoRAs of the settings."""
        if loras == self._loras:
            return
        self._loras = loras
        if self._shown() == loras:
            return  # a weight changed by its box, which keeps the focus
        for row in self._rows:
            self._column.removeWidget(row)
            row.deleteLater()
        self._boxes.clear()
        self._rows = [self._row(number, lora) for number, lora in enumerate(loras)]
        for number, row in enumerate(self._rows):
            self._column.insertWidget(number, row)

    def _shown(self) -> tuple[LoraUse, ...]:
        return tuple(LoraUse(name=name, weight=box.value()) for name, box in self._boxes)

    def _row(self, number: int, lora: LoraUse) -> QWidget:
        row = QWidget()
        weight = DecimalBox()
        weight.setAccessibleName(tr("Weight of {name}").format(name=lora.name))
        weight.setRange(-MOST_WEIGHT, MOST_WEIGHT)
        weight.setSingleStep(WEIGHT_STEP)
        weight.setKeyboardTracking(False)
        weight.setButtonSymbols(QDoubleSpinBox.ButtonSymbols.NoButtons)
        weight.setValue(lora.weight)
        self._boxes.append((lora.name, weight))
        weight.valueChanged.connect(partial(self._weigh, number))
        remove = tool_button(
            "×",  # noqa: RUF001 - a multiplication sign
            partial(self._remove, number),
            name=tr("Remove {name}").format(name=lora.name),
        )
        line = QHBoxLayout()
        line.setSpacing(em(0.4))
        line.addWidget(weight, 1)
        line.addWidget(remove)
        column = QVBoxLayout(row)
        column.setContentsMargins(0, 0, 0, em(0.2))
        column.setSpacing(em(0.1))
        column.addWidget(_Name(lora.name))
        column.addLayout(line)
        return row

    def _add(self, name: str) -> None:
        if name:
            self._field.show_chosen(ADD)
            self.loras_picked.emit((*self._loras, LoraUse(name=name)))

    def _weigh(self, number: int, weight: float) -> None:
        lora = replace(self._loras[number], weight=weight)
        self.loras_picked.emit((*self._loras[:number], lora, *self._loras[number + 1 :]))

    def _remove(self, number: int) -> None:
        self.loras_picked.emit((*self._loras[:number], *self._loras[number + 1 :]))


class _Name(TextLabel):
    """A name that is shortened in the middle where the width is not enough."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self._name = name
        self.setWordWrap(False)
        self.setToolTip(plain_tip(name))
        self.setAccessibleName(name)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setSizePolicy(policy)  # without height-for-width
        self.setMinimumHeight(self.fontMetrics().height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        middle = Qt.TextElideMode.ElideMiddle
        self.setText(self.fontMetrics().elidedText(self._name, middle, self.width()))
