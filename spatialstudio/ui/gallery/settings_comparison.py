"""A dialog that compares a picture's settings with the current ones and applies some."""

from collections.abc import Collection, Mapping, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialogButtonBox,
    QScrollArea,
    QWidget,
)

from spatialstudio.domain.generation import SAMPLING_OPTIONS
from spatialstudio.domain.picture_settings import FieldDifference
from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import column, grid, grow, push_button
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

TOP = Qt.AlignmentFlag.AlignTop
SIZE_EM = (48, 34)
NAMES = {
    "prompt": "Prompt",
    "negative": "Negative prompt",
    "seed": "Seed",
    "steps": "Steps",
    "guidance_scale": "CFG scale",
    "sampler": "Sampler",
    "scheduler": "Scheduler",
    "width": "Width",
    "height": "Height",
    "model": "Model",
    "model_hash": "Model hash",
    "method": "Guidance",
    "strength": "Step size",
    "guidance": "Guidance details",
    "detail": "Recorded maps",
    "preview_every": "Preview interval",
    "search": "Noise search",
    "savings": "Memory saving",
    **{option.id: option.label for option in SAMPLING_OPTIONS},
    "device": "Device",
    "relations": "Relations",
}
"""Fields and their labels, untranslated."""
USUAL = frozenset({"guidance", "device"} | {option.id for option in SAMPLING_OPTIONS})
"""Fields that have a default where the picture gives none; others are empty then."""

PROGRAMS = {
    "a1111": "AUTOMATIC1111",
    "comfyui": "ComfyUI",
    "fooocus": "Fooocus",
    "invokeai": "InvokeAI",
    "swarmui": "SwarmUI",
    "spatial studio": "Spatial Studio",
}
"""Display names of the metadata dialects."""


class SettingsComparison(TitledDialog):
    """Lets the user select fields to apply.

    Emits ``fields_taken`` with their names, and ``judging_asked``, the default, to evaluate the
    picture instead.

    Args:
        title: Title of the picture.
        dialect: Program whose metadata format was read.
        rows: One row per field.
        usable: Names of the fields that can be applied.
        needs: Maps a field to the one that it requires.
        parent: The window.
    """

    fields_taken = Signal(object)
    judging_asked = Signal()

    def __init__(
        self,
        title: str,
        dialect: str,
        rows: Sequence[FieldDifference],
        usable: Collection[str],
        needs: Mapping[str, str],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Settings in {name}").format(name=title), parent)
        self._boxes: dict[str, QCheckBox] = {}
        stated = [row for row in rows if row.is_stated]
        self._take = push_button(tr("Apply"), self._tell)
        judge = push_button(tr("Judge the picture"), self._ask_to_judge, kind="primary")
        buttons = self.buttons(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(judge, QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton(self._take, QDialogButtonBox.ButtonRole.ActionRole)
        judge.setDefault(True)
        program = PROGRAMS.get(dialect, dialect)
        area = QScrollArea(widgetResizable=True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidget(self._table(stated, usable))
        explanation = tr(
            "Read from {program} metadata. The selected fields replace the current settings."
        )
        column(
            *(TextLabel(explanation.format(program=program), Tone.MUTED), grow(area), buttons),
            within=self,
            gap=0.7,
            edges=(1, 1, 1, 0.8),
        )
        for name, needed in needs.items():
            self._tie(name, needed)
        self._follow()
        give_room(self, SIZE_EM)

    @property
    def picked(self) -> frozenset[str]:
        """Names of the selected fields."""
        return frozenset(name for name, box in self._boxes.items() if box.isChecked())

    def _table(self, rows: Sequence[FieldDifference], usable: Collection[str]) -> QWidget:
        table = QWidget()
        cells = grid(table, (1.2, 0.6), (0, 0, 0.6, 0))
        cells.setColumnStretch(2, 1)
        for place, heading in enumerate((tr("Field"), tr("Current"), tr("In the picture"))):
            cells.addWidget(TextLabel(heading, Tone.MUTED), 0, place)
        for number, row in enumerate(rows, 1):
            cells.addWidget(self._name(row, row.name in usable), number, 0, TOP)
            tone = Tone.MUTED if row.is_same else Tone.PLAIN
            for place, words in enumerate(_in_words(row), 1):
                cells.addWidget(TextLabel(words, tone), number, place, TOP)
        cells.setRowStretch(len(rows) + 1, 1)
        return table

    def _name(self, row: FieldDifference, is_usable: bool) -> QWidget:
        name = row.name if row.is_extra else tr(NAMES[row.name])
        if row.is_same or row.is_extra or not is_usable:
            label = TextLabel(name, Tone.MUTED)
            label.setWordWrap(False)
            label.setContentsMargins(em(1.5), 0, 0, 0)
            return label
        box = self._boxes[row.name] = QCheckBox(name)
        box.setChecked(True)
        mine, theirs = _in_words(row)
        box.setAccessibleDescription(
            tr("current {mine}, in the picture {theirs}").format(mine=mine, theirs=theirs)
        )
        box.toggled.connect(self._follow)
        return box

    def _tie(self, name: str, needed: str) -> None:
        """Select the required field along with a field; clearing it clears the field as well."""
        box, other = self._boxes.get(name), self._boxes.get(needed)
        if box is not None and other is not None:
            box.toggled.connect(lambda on: other.setChecked(on or other.isChecked()))
            other.toggled.connect(lambda on: box.setChecked(on and box.isChecked()))

    def _follow(self) -> None:
        self._take.setEnabled(bool(self.picked))

    def _tell(self) -> None:
        self.fields_taken.emit(self.picked)
        self.accept()

    def _ask_to_judge(self) -> None:
        self.judging_asked.emit()
        self.accept()


def _in_words(row: FieldDifference) -> tuple[str, str]:
    """Return the current and the picture's value; extra fields have no current value."""
    empty = tr("default") if row.name in USUAL else tr("empty")
    return row.mine or ("" if row.is_extra else empty), row.theirs or empty
