"""A dialog for the axes of a sweep, with an estimate of its cost."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.sweep import SweepField
from spatialstudio.ui.framework.dialog_size import closing_buttons
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import SPACE, column, push_button
from spatialstudio.ui.widgets.fields import ChoiceBox
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

VALUES_EM, PROMPTS_EM = 18, 5.2
PAUSE_MS = 150
"""Time without typing before the prompts are read."""
FIELD_LETTERS = 16
"""Visible letters of a setting; longer names are elided."""


@frozen(kw_only=False)
class AxisChoice:
    """A swept field and its values as typed; no field for an unused axis."""

    field: SweepField | None
    values: str


class AxisFields:
    """The two fields of an axis: the swept setting and its values.

    Args:
        name: Label of the axis.
        fields: Settings that can be swept.
        suggest: Returns the initial values of a setting.
        can_be_none: Whether the axis may be omitted.
        changed: Called on every change by the user.
    """

    def __init__(
        self,
        name: str,
        fields: Sequence[SweepField],
        suggest: Callable[[SweepField], str],
        changed: Callable[[], None],
        *,
        can_be_none: bool,
    ) -> None:
        self._fields = {field.id: field for field in fields}
        self._suggest = suggest
        self._changed = changed
        self.field = ChoiceBox(name)
        self.field.setMinimumContentsLength(FIELD_LETTERS)
        if can_be_none:
            self.field.addItem(tr("None"), None)
        for field in fields:
            self.field.addItem(tr(field.title), field.id)
        self.values = QLineEdit(placeholderText=tr("For example: 0, 5, 10 or 0 to 20 by 5"))
        self.values.setAccessibleName(tr("Values of the {axis}").format(axis=name.lower()))
        self.values.setMinimumWidth(em(VALUES_EM))
        self.field.currentIndexChanged.connect(self._take_field)
        self.values.textEdited.connect(lambda _text: changed())

    @property
    def choice(self) -> AxisChoice:
        """The current choice."""
        return AxisChoice(self._fields.get(self.field.currentData()), self.values.text())

    def show_field(self, field: SweepField) -> None:
        """Select a setting and its initial values."""
        with QSignalBlocker(self.field):
            self.field.setCurrentIndex(self.field.findData(field.id))
        self._fill()

    def _take_field(self) -> None:
        self._fill()
        self._changed()

    def _fill(self) -> None:
        field = self.choice.field
        self.values.setText("" if field is None else self._suggest(field))
        self.values.setCursorPosition(0)
        self.values.setEnabled(field is not None)


class SweepDialog(QDialog):
    """Lets the user choose prompts and one or two axes, and shows the cost of the sweep.

    Emits ``edited`` when the choice changes and ``asked`` to start the sweep.

    Args:
        fields: Settings that can be swept.
        suggest: Returns the initial values of a setting.
        prompt: The current prompt, in one line.
        parent: The window.
    """

    edited = Signal()
    asked = Signal()

    def __init__(
        self,
        fields: Sequence[SweepField],
        suggest: Callable[[SweepField], str],
        prompt: str,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Sweep over parameters"))
        changed = self.edited.emit
        self._prompts = QPlainTextEdit(prompt, tabChangesFocus=True)
        self._prompts.setAccessibleName(tr("Prompts, one per line"))
        self._prompts.setPlaceholderText(tr("One prompt per line"))
        self._prompts.setFixedHeight(em(PROMPTS_EM))
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(changed)
        self._prompts.textChanged.connect(self._pause.start)
        self._columns = AxisFields(tr("Columns"), fields, suggest, changed, can_be_none=False)
        self._rows = AxisFields(tr("Rows"), fields, suggest, changed, can_be_none=True)
        self._cost = TextLabel(tone=Tone.MUTED)
        self._cost.setAccessibleName(tr("Estimate"))
        self._cost.setToolTip(tr("Total time, and largest memory of a picture"))
        self._draw = push_button("", self.asked, kind="primary")
        self._draw.setDefault(True)
        self._lay_out()
        self._columns.field.setFocus()
        self._columns.show_field(SweepField.STRENGTH)
        self._rows.show_field(SweepField.SEED)

    @property
    def prompts(self) -> tuple[str, ...]:
        """The distinct prompts, one for each line with text."""
        lines = (" ".join(line.split()) for line in self._prompts.toPlainText().splitlines())
        return tuple(dict.fromkeys(filter(None, lines)))

    @property
    def columns(self) -> AxisChoice:
        """The setting that varies by column."""
        return self._columns.choice

    @property
    def rows(self) -> AxisChoice:
        """The setting that varies by row."""
        return self._rows.choice

    def show_plan(self, pictures: int, cost: str) -> None:
        """Show the number of pictures and their cost."""
        one, many = tr("Generate 1 picture"), tr("Generate {count} pictures").format(count=pictures)
        self._draw.setText(one if pictures == 1 else many)
        self._draw.setEnabled(True)
        self._cost.setText(cost)

    def show_problem(self, text: str) -> None:
        """Show why the sweep is invalid."""
        self._draw.setText(tr("Generate"))
        self._draw.setEnabled(False)
        self._cost.setText(text)

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(em(0.8))
        grid.setVerticalSpacing(em(0.5))
        grid.setColumnStretch(2, 1)
        label = TextLabel(tr("Prompts"), Tone.MUTED, wraps=False)
        label.setBuddy(self._prompts)
        grid.addWidget(label, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(self._prompts, 0, 1, 1, 2)
        for row, (name, axis) in enumerate(
            ((tr("Columns"), self._columns), (tr("Rows"), self._rows)), start=1
        ):
            label = TextLabel(name, Tone.MUTED, wraps=False)
            label.setBuddy(axis.field)
            grid.addWidget(label, row, 0)
            grid.addWidget(axis.field, row, 1)
            grid.addWidget(axis.values, row, 2)
        words = tr(
            "One prompt per line; each is a sweep over the same values. All other settings stay "
            "unchanged; no baselines are generated."
        )
        buttons = closing_buttons(self, QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self._draw, QDialogButtonBox.ButtonRole.ActionRole)
        parts = (TextLabel(words, Tone.MUTED), grid, self._cost, SPACE, buttons)
        column(*parts, within=self, gap=0.9, edges=(1.2, 1, 1.2, 1))
