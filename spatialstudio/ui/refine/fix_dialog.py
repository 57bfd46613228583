"""The confirmation of a fix: its reason, the remedies in order, and the budget."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QDialogButtonBox, QGridLayout, QWidget

from spatialstudio.domain.fix import MOST_BUDGET
from spatialstudio.domain.frozen import frozen
from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import SPACE, clear, column, grow, push_button, row
from spatialstudio.ui.widgets.dock_column import DockRoom
from spatialstudio.ui.widgets.fields import PLAIN_NUMBER, ChoiceBox, NumberBox
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

SIZE_EM = (32, 33)


@frozen
class RemedyRow:
    """One remedy as shown.

    Attributes:
        name: What is tried.
        success: How often it repaired such pictures.
        explanation: What it changes.
    """

    name: str
    success: str
    explanation: str


class FixDialog(TitledDialog):
    """Shows what a fix will try and cost, and asks to begin.

    Emits ``edited`` when reason or budget change, and ``asked`` to begin.

    Args:
        reasons: Why the picture may not be right, by id; the first is chosen.
        budget: Most pictures, at first.
        parent: The window.
    """

    edited = Signal()
    asked = Signal()

    def __init__(self, reasons: Sequence[tuple[str, str]], budget: int, parent: QWidget) -> None:
        super().__init__(tr("Fix it"), parent)
        self._reason = ChoiceBox(tr("Reason"))
        for reason_id, words in reasons:
            self._reason.addItem(words, reason_id)
        self._reason.setVisible(len(reasons) > 1)
        only = TextLabel(reasons[0][1], Tone.HEADING)
        only.setVisible(len(reasons) == 1)
        self._budget = NumberBox(minimum=1, maximum=MOST_BUDGET, **PLAIN_NUMBER)
        self._budget.setAccessibleName(tr("Most pictures"))
        with QSignalBlocker(self._budget):
            self._budget.setValue(budget)
        self._cost = TextLabel(tone=Tone.MUTED, wraps=False)
        self._cost.setAccessibleName(tr("Estimate"))
        self._begin = push_button(tr("Fix it"), self.asked, kind="primary")
        self._begin.setDefault(True)
        self._reason.currentIndexChanged.connect(lambda _index: self.edited.emit())
        self._budget.valueChanged.connect(lambda _value: self.edited.emit())
        self._remedies = QWidget()
        self._remedies.setMinimumHeight(1)  # else Qt reserves the height of its narrowest width
        self._grid = QGridLayout(self._remedies)
        self._lay_out(only)
        give_room(self, SIZE_EM)

    @property
    def reason_id(self) -> str:
        """Id of the chosen reason."""
        return str(self._reason.currentData())

    @property
    def budget(self) -> int:
        """The chosen number of pictures."""
        return int(self._budget.value())

    def show_plan(self, remedies: Sequence[RemedyRow], cost: str) -> None:
        """Show the remedies in the order in which they are tried, and what they cost."""
        clear(self._grid)
        for place, each in enumerate(remedies):
            number = TextLabel(f"{place + 1}.", Tone.MUTED, wraps=False)
            success = TextLabel(each.success, Tone.MUTED, wraps=False)
            self._grid.addWidget(number, 2 * place, 0)
            self._grid.addWidget(TextLabel(each.name), 2 * place, 1)
            self._grid.addWidget(success, 2 * place, 2)
            explanation = TextLabel(each.explanation, Tone.MUTED, small=True)
            self._grid.addWidget(explanation, 2 * place + 1, 1, 1, 2)
        self._cost.setText(cost)
        self._begin.setEnabled(True)

    def show_problem(self, text: str) -> None:
        """Show why this cannot be begun."""
        clear(self._grid)
        self._cost.setText(text)
        self._begin.setEnabled(False)

    def _lay_out(self, only: TextLabel) -> None:
        self._grid.setHorizontalSpacing(em(0.8))
        self._grid.setVerticalSpacing(em(0.25))
        self._grid.setColumnStretch(1, 1)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignTop)
        words = tr(
            "These remedies are tried in this order until the picture passes. Each attempt is "
            "stored as a run; the picture stays as it is."
        )
        label = TextLabel(tr("Most pictures"), Tone.MUTED, wraps=False)
        label.setBuddy(self._budget)
        buttons = self.buttons(QDialogButtonBox.StandardButton.Cancel)
        buttons.addButton(self._begin, QDialogButtonBox.ButtonRole.ActionRole)
        column(
            only,
            self._reason,
            TextLabel(words, Tone.MUTED),
            grow(DockRoom(self._remedies)),
            row(label, self._budget, self._cost, SPACE, gap=0.6),
            buttons,
            within=self,
            gap=0.8,
            edges=(1.2, 1, 1.2, 1),
        )
