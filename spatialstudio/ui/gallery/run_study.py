"""Opens the study of the selected runs or of a sweep, and follows its choices."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from spatialstudio.application.gallery.study import (
    RunsRead,
    StudyRow,
    StudyTable,
    label_of,
    meaning_of,
    numbers_of,
    read_runs,
    setting_title,
    settings_to_group_by,
    study_table,
    tab_separated,
    title_of,
    usual_grouping,
)
from spatialstudio.application.jobs.background_jobs import (
    BackgroundJobId,
    BackgroundJobProgressed,
)
from spatialstudio.domain.export import STUDY, StudyChoice
from spatialstudio.domain.interval import decimals_of
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.gallery import commands
from spatialstudio.ui.gallery.run_exporting import RunExporting
from spatialstudio.ui.gallery.run_marking import GalleryJobs
from spatialstudio.ui.gallery.widgets.study_contents import StudyContents, StudyPoint
from spatialstudio.ui.widgets.texts import tr

if TYPE_CHECKING:  # plots are loaded after the first frame
    from spatialstudio.ui.gallery.study_dialog import StudyDialog

FEWEST = 2


class RunStudy(QObject):
    """Opens the study of runs.

    Args:
        context: Services of the window; its command is bound.
        targets: Returns the files of the runs to study.
        exporting: Saves the plots.
        background_jobs: The gallery's jobs.
        parent: Parent of the dialog.
    """

    def __init__(
        self,
        context: WindowContext,
        targets: Callable[[], Sequence[Path]],
        exporting: RunExporting,
        background_jobs: GalleryJobs,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._targets = targets
        self._exporting = exporting
        self._background_jobs = background_jobs
        self._reading: BackgroundJobId | None = None
        self._window = parent
        self._dialog: StudyDialog | None = None
        self._read: RunsRead | None = None
        self._shown: StudyTable | None = None
        context.actions.bind(commands.STUDY, self.open)

    def open(self) -> None:
        """Open the study; its runs are read in the background."""
        from spatialstudio.ui.gallery.study_dialog import StudyDialog

        paths = tuple(self._targets())
        if len(paths) < FEWEST:
            self._context.toasts.tell(
                tr("Select at least two runs."),
                tr("Select runs in the gallery, or show a sweep, then open the study."),
            )
            return
        dialog = StudyDialog(self._context.theme, self._window)
        dialog.choice_picked.connect(self._draw)
        dialog.copy_asked.connect(self._copy)
        dialog.figure_asked.connect(self._save_figure)
        dialog.finished.connect(self._forget)
        dialog.show_progress(0, len(paths))
        self._dialog = dialog
        store = self._context.studio.storage.store
        self._reading = self._background_jobs.run(
            tr("Reading runs"), partial(read_runs, store, paths), partial(self._show_runs, dialog)
        )
        dialog.open()

    def handle(self, event: object) -> None:
        """Show how many runs are read."""
        match event:
            case BackgroundJobProgressed(job_id=job_id) if job_id == self._reading and self._dialog:
                self._dialog.show_progress(event.done, event.total)

    def _show_runs(self, dialog: "StudyDialog", read: RunsRead) -> None:
        if self._dialog is not dialog:
            return
        self._read = read
        numbers = numbers_of(read.runs)
        if not numbers:
            dialog.show_problem(tr("None of the runs has a number to compare."))
            return
        dialog.show_choices({name: tr(label_of(name)) for name in numbers}, _groupings(read))
        self._draw()

    def _draw(self) -> None:
        if self._dialog is None or self._read is None:
            return
        chosen = self._dialog
        self._shown = study_table(self._read.runs, chosen.number, chosen.by, chosen.reference)
        unread = len(self._read.errors)
        chosen.show_study(contents_of(self._shown, unread))

    def _copy(self) -> None:
        if self._shown is not None:
            QGuiApplication.clipboard().setText(tab_separated(self._shown))
            self._tell(tr("Copied the table as tab-separated text."))

    def _save_figure(self) -> None:
        """Export the plot of the shown number and groups, as ``study --plot`` does."""
        if self._read is None or self._shown is None:
            return
        if len(self._shown.rows) < FEWEST:
            self._tell(tr("A saved plot needs two groups or more."))
            return
        number = self._shown.number
        study = StudyChoice(numbers={number: tr(title_of(number))}, by=self._shown.by)
        choice = replace(self._exporting.usual_choice(STUDY), study=study)
        self._exporting.export(self._read.paths, choice, self._tell)

    def _tell(self, message: str) -> None:
        """Say in the dialog what was done: it hides the messages of the window."""
        if self._dialog is not None:
            self._dialog.show_notice(message)

    def _forget(self) -> None:
        if self._reading is not None:
            self._background_jobs.cancel(self._reading)
        self._dialog = self._read = self._shown = None


def contents_of(table: StudyTable, unread: int = 0) -> StudyContents:
    """Return what the dialog shows of a study.

    Args:
        table: One number by groups.
        unread: Number of runs that could not be read.
    """
    label = tr(label_of(table.number))
    tested = any(row.holm_p is not None for row in table.rows)
    columns = (
        *((_setting(name), "") for name in table.by),
        (tr("Runs"), tr("Number of runs")),
        (tr("{number}, 95 %").format(number=label), tr(meaning_of(table.number))),
        (tr("n"), tr("Runs that have the number")),
        (tr("Missing"), tr("Runs without the number, which enter no mean")),
        (tr("Difference, 95 %"), tr("Mean of the paired differences to the reference group")),
        (tr("Pairs"), tr("Pairs of which both runs have the number")),
        (tr("Incomplete"), tr("Pairs of which a run is absent or lacks the number")),
        *([(tr("Holm p"), tr("McNemar's exact test with Holm's correction"))] if tested else ()),
    )
    figures = (figure for row in table.rows for figure in (row.figure, row.difference))
    decimals = decimals_of(figure for figure in figures if figure is not None)
    notes = list(map(tr, table.notes))
    if unread:
        notes.append(tr("{count} runs could not be read.").format(count=unread))
    return StudyContents(
        columns=columns,
        rows=tuple(_cells(row, decimals, tested=tested) for row in table.rows),
        points=tuple(_point(row) for row in table.rows),
        names=(tr(title_of(table.number)), ", ".join(map(_setting, table.by))),
        bounds=(0.0, 1.0) if table.is_share else None,
        groups=tuple(row.name for row in table.rows),
        reference=table.reference,
        notes=" ".join(notes),
    )


def _cells(row: StudyRow, decimals: int, *, tested: bool) -> tuple[str, ...]:
    other, paired = row.difference, ("", "", "")
    if other is not None:
        paired = (other.in_decimals(decimals), str(other.n), str(other.missing))
    p = "" if row.holm_p is None else f"{row.holm_p:.3g}"
    figure = row.figure
    own = (str(row.runs), figure.in_decimals(decimals), str(figure.n), str(figure.missing))
    return (*row.settings, *own, *paired, *([p] if tested else ()))


def _point(row: StudyRow) -> StudyPoint:
    figure = row.figure
    said = tr("{value}, n = {n}, missing {missing}").format(
        value=figure.text, n=figure.n, missing=figure.missing
    )
    return StudyPoint(
        name=row.name, value=figure.value, low=figure.low, high=figure.high, said=said
    )


def _groupings(read: RunsRead) -> dict[str, tuple[str, ...]]:
    """Return the groupings on offer by label: the usual one, then single settings."""
    usual = usual_grouping(read.runs)
    single = {_setting(name): (name,) for name in settings_to_group_by(read.runs)}
    return {", ".join(map(_setting, usual)) or tr("all runs together"): usual} | single


def _setting(name: str) -> str:
    """Return the label of a setting."""
    return tr(setting_title(name))
