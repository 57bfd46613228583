"""Maintenance of stored runs: verify, reproduce, relocate missing files, empty the trash."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.gallery.library import LibraryChanged, Recheck, recheck_sentence
from spatialstudio.application.jobs.background_jobs import (
    Progress,
)
from spatialstudio.application.storage.storage import Reproduced
from spatialstudio.domain.errors import ErrorReport, StudioError
from spatialstudio.domain.generation import GenerationRequest, new_request_id
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.ui.framework.confirmation import is_confirmed
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.gallery_presenter import (
    IN_TRASH,
    nameless_in_words,
    reproduction_in_words,
    runs_in_words,
)
from spatialstudio.ui.gallery.run_exporting import RunExporting
from spatialstudio.ui.gallery.run_marking import GalleryJobs
from spatialstudio.ui.run.failure_actions import report_with_remedies
from spatialstudio.ui.widgets.texts import tr

PICTURES = "*.png *.jpg *.jpeg *.webp"
EMPTY = "The trash is empty."
NOT_JUDGED = 'Verdicts were not checked; use "Verify and judge again".'
NAMELESS_HINT = "Their file names are not valid Unicode. Rename the files."


class LibraryMaintenance(QObject):
    """Implements the commands on files of runs. Emits ``list_changed`` when runs were removed.

    Args:
        context: Services of the window; its commands are bound.
        exporting: Returns the target runs.
        background_jobs: The gallery's jobs.
        parent: Parent of the dialogs.
    """

    list_changed = Signal()

    def __init__(
        self,
        context: WindowContext,
        exporting: RunExporting,
        background_jobs: GalleryJobs,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._exporting = exporting
        self._window = parent
        self._background_jobs = background_jobs
        self._nameless = 0
        context.actions.bind_all(
            {
                commands.VERIFY: partial(self._verify, judges_again=False),
                commands.RECHECK: partial(self._verify, judges_again=True),
                commands.JUDGE_STORED: self._judge,
                commands.RUN_AGAIN: self._run_again,
                commands.REINDEX: self._reindex,
                commands.EMPTY_TRASH: self._empty_trash,
                commands.LOCATE: self._locate,
            }
        )

    def handle(self, event: object) -> None:
        """Report the result of a finished job."""
        match event:
            case LibraryChanged(change=change) if change.nameless > self._nameless:
                self._nameless = change.nameless
                self._context.toasts.tell(nameless_in_words(change.nameless), tr(NAMELESS_HINT))
            case Reproduced(comparison=comparison):
                self._context.toasts.tell(reproduction_in_words(comparison))

    def _verify(self, *, judges_again: bool) -> None:
        """Verify the target runs and those of closed stacks."""
        targets, library = self._exporting.members, self._context.studio.library

        def work(progress: Progress) -> Mapping[Path, Recheck]:
            checks = {}
            for done, path in enumerate(targets):
                progress(done, len(targets))
                if judges_again:
                    checks[path] = library.recheck(path)
                else:
                    checks[path] = Recheck(faults=library.verify(path))
            return checks

        tell = partial(self._tell_checks, judges_again)
        self._background_jobs.run(tr("Verifying runs"), work, tell)

    def _judge(self) -> None:
        """Judge the selected runs by the chosen judge set; an error affects only its run."""
        targets, studio = self._exporting.members, self._context.studio

        def work(progress: Progress) -> Mapping[Path, Evaluation | StudioError]:
            results: dict[Path, Evaluation | StudioError] = {}
            for done, path in enumerate(targets):
                try:
                    check = partial(progress, done, len(targets))
                    results[path] = studio.judge_stored(path, check)
                except StudioError as error:
                    results[path] = error
            return results

        self._background_jobs.run(tr("Judging runs"), work, self._tell_judged)

    def _tell_judged(self, results: Mapping[Path, Evaluation | StudioError]) -> None:
        run = self._context.studio.session.run
        failed, obstacle = [], None
        for path, result in results.items():
            if isinstance(result, StudioError):
                failed.append(f"{path.name}: {result.message} {result.hint}")
                obstacle = obstacle or report_on(result, "").obstacle
            elif run is not None and run.path == path:
                self._context.studio.session.set_evaluation(result)
        judged = runs_in_words(len(results) - len(failed))
        message = tr("{runs} judged.").format(runs=judged)
        if not failed:
            self._context.toasts.tell(message)
            return
        message = tr("{runs} judged, {bad} with errors.").format(runs=judged, bad=len(failed))
        details = "\n".join(failed)
        title = tr("Judging runs")
        report_with_remedies(
            self._context,
            ErrorReport(
                title=title, message=message, hint=failed[0], details=details, obstacle=obstacle
            ),
        )

    def _tell_checks(self, judges_again: bool, checks: Mapping[Path, Recheck]) -> None:
        bad = {path: check.faults for path, check in checks.items() if check.faults}
        count = runs_in_words(len(checks))
        judged = tr(recheck_sentence(checks.values()) if judges_again else NOT_JUDGED)
        if not bad:
            message = tr("{runs} verified: files are unchanged.").format(runs=count)
            self._context.toasts.tell(message, judged)
            return
        lines = [f"{path.name}: {fault.message}" for path, found in bad.items() for fault in found]
        message = tr("{runs} verified, {bad} with errors.").format(runs=count, bad=len(bad))
        report = ErrorReport(
            title=tr("Verifying runs"),
            message=f"{message} {judged}" if judges_again else message,
            hint=lines[0],
            details="\n".join(lines),
        )
        self._context.toasts.report(report)

    def _run_again(self) -> None:
        for path in self._exporting.targets[:1]:
            self._context.reading.read(
                Subject.REPETITION,
                tr("Maintaining the library"),
                partial(self._context.studio.storage.again, path, new_request_id()),
                self._draw_again,
                self._context.toasts.report,
            )

    def _draw_again(self, request: GenerationRequest) -> None:
        studio = self._context.studio
        studio.generate(studio.devices.without_missing_device(request))

    def _reindex(self) -> None:
        library = self._context.studio.library
        self._background_jobs.run(
            tr("Rebuilding the index"), lambda _progress: library.reindex(), self._tell_index
        )

    def _tell_index(self, count: int) -> None:
        outcome_text = tr("{runs} in the index.").format(runs=runs_in_words(count))
        self._context.toasts.tell(outcome_text)
        self.list_changed.emit()

    def _empty_trash(self) -> None:
        """Permanently delete the trash after confirmation."""
        library, toasts = self._context.studio.library, self._context.toasts
        count = len(library.list(IN_TRASH))
        if not count:
            toasts.tell(tr(EMPTY))
        elif is_confirmed(
            self._window,
            tr("Delete {runs} permanently?").format(runs=runs_in_words(count)),
            tr("Their files are deleted. This cannot be undone."),
            tr("Delete permanently"),
        ):
            self._background_jobs.run(
                tr("Emptying the trash"),
                lambda _progress: library.empty_trash(days=0),
                lambda _count: toasts.tell(tr(EMPTY)),
            )

    def _locate(self) -> None:
        entry, library = self._context.gallery.current, self._context.studio.library
        if entry is None or not entry.is_missing:
            return
        title = tr("Locate {name}").format(name=entry.path.name)
        kinds = f"{tr('Pictures')} ({PICTURES})"
        file, _ = QFileDialog.getOpenFileName(self._window, title, "", kinds)
        if not file:
            return
        try:
            library.forget([entry.path])
            library.move(Path(file), entry.path.parent)
        except StudioError as error:
            self._context.toasts.report(report_on(error, tr("Maintaining the library")))
        else:
            self.list_changed.emit()
