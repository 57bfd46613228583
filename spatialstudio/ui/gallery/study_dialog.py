"""The dialog of a study: a number of many runs by their settings, as a table and a plot."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from spatialstudio.ui.framework.dialog_size import TitledDialog, give_room
from spatialstudio.ui.gallery.widgets.study_contents import StudyContents
from spatialstudio.ui.gallery.widgets.study_plot import StudyPlot
from spatialstudio.ui.theme.theme import Theme, em
from spatialstudio.ui.widgets.builders import column, grow, push_button, row
from spatialstudio.ui.widgets.fields import ChoiceBox
from spatialstudio.ui.widgets.row_table import RowTable
from spatialstudio.ui.widgets.texts import TextLabel, Tone, plain_tip, tr

SIZE_EM = (60, 40)
PLOT_EM = 15
READING = "Reading {done} of {total} runs…"


class StudyDialog(TitledDialog):
    """Shows a study.

    Emits ``choice_picked`` when number, grouping or reference change, ``copy_asked`` for the table
    as text, and ``figure_asked`` for a file of the plot.

    Args:
        theme: Colours of the plot.
        parent: The window.
    """

    choice_picked = Signal()
    copy_asked = Signal()
    figure_asked = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(tr("Study of the runs"), parent)
        self._number = ChoiceBox(tr("Number"))
        self._by = ChoiceBox(tr("Group by"))
        self._reference = ChoiceBox(tr("Differences to"))
        for box in (self._number, self._by, self._reference):
            box.activated.connect(lambda _index: self.choice_picked.emit())
        self._table = RowTable(tr("Numbers of the groups"), ())
        self._plot = StudyPlot(theme)
        self._plot.setMinimumHeight(em(PLOT_EM))
        self._plot.save_asked.connect(lambda _plot: self.figure_asked.emit())
        self._notes = TextLabel(tone=Tone.MUTED, small=True)
        self._copy = push_button(tr("Copy the table"), self.copy_asked)
        self._save = push_button(tr("Save plot…"), self.figure_asked)
        self._study_notes = ""
        self._parts = (self._number, self._by, self._reference, self._copy, self._save)
        self._lay_out()
        give_room(self, SIZE_EM)

    @property
    def number(self) -> str:
        """Name of the chosen number."""
        return str(self._number.currentData() or "")

    @property
    def by(self) -> tuple[str, ...]:
        """Names of the grouping settings; empty for the usual ones."""
        return self._by.currentData() or ()

    @property
    def reference(self) -> int:
        """Index of the group that differences refer to."""
        return max(self._reference.currentIndex(), 0)

    def show_progress(self, done: int, total: int) -> None:
        """Show how many runs are read."""
        self._show_parts(False)
        self._notes.setText(tr(READING).format(done=done, total=total))

    def show_problem(self, text: str) -> None:
        """Show why there is no study."""
        self._show_parts(False)
        self._notes.setText(text)

    def show_choices(
        self, numbers: Mapping[str, str], groupings: Mapping[str, tuple[str, ...]]
    ) -> None:
        """Offer the numbers, with their labels, and the groupings, with their settings."""
        for name, label in numbers.items():
            self._number.addItem(label, name)
        for label, names in groupings.items():
            self._by.addItem(label, names)

    def show_study(self, contents: StudyContents) -> None:
        """Show table and plot of the chosen number."""
        self._show_parts(True)
        self._reference.clear()
        self._reference.addItems(contents.groups)
        self._reference.setCurrentIndex(contents.reference)
        self._fill(contents)
        self._plot.show_points(contents.names, contents.points, contents.bounds)
        self._study_notes = contents.notes
        self._notes.setText(contents.notes)

    def show_notice(self, text: str) -> None:
        """Show below the notes what a button did; the next choice clears it."""
        self._notes.setText(f"{self._study_notes}\n{text}")

    def _fill(self, contents: StudyContents) -> None:
        self._table.show_titles([text for text, _ in contents.columns])
        for place, (_, tip) in enumerate(contents.columns):
            if (head := self._table.horizontalHeaderItem(place)) is not None:
                head.setToolTip(plain_tip(tip))
        self._table.show_rows(contents.rows)

    def _show_parts(self, shown: bool) -> None:
        for part in (*self._parts, self._table, self._plot):
            part.setEnabled(shown)

    def _lay_out(self) -> None:
        choices: Sequence[tuple[str, QWidget]] = (
            (tr("Number"), self._number),
            (tr("Group by"), self._by),
            (tr("Differences to"), self._reference),
        )
        fields = [part for text, box in choices for part in (TextLabel(text), grow(box))]
        foot = row(grow(self._notes), self._copy, self._save, gap=0.6)
        column(
            row(*fields, gap=0.6),
            grow(self._table),
            grow(self._plot),
            foot,
            within=self,
            gap=0.7,
            edges=(1, 1, 1, 1),
        )
