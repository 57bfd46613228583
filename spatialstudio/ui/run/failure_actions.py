"""Reports failed runs and offers remedies."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.messages import EngineStopped
from spatialstudio.application.run.queue import QueueChanged
from spatialstudio.application.session import OpenRun, StoreFailed
from spatialstudio.domain.devices import (
    AS_IT_WAS,
    MemoryFix,
    size_in_words,
)
from spatialstudio.domain.errors import ErrorReport, Obstacle, StudioError
from spatialstudio.domain.generation import GenerationFailed, RequestId
from spatialstudio.ui.framework.commands import LIBRARY_FOLDER
from spatialstudio.ui.framework.confirmation import file_to_write
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.models.commands import MODELS
from spatialstudio.ui.run.commands import (
    CHOOSE_MODEL,
    FIND_MODELS,
    MODELS_FOLDER,
)
from spatialstudio.ui.run.widgets.guidance_form import savings_in_words
from spatialstudio.ui.widgets.texts import tr
from spatialstudio.ui.widgets.toast_cards import Offer


def report_with_remedies(context: WindowContext, report: ErrorReport) -> None:
    """Show a problem, with a button for each remedy."""
    context.toasts.report(report, *remedies_for(context, report))


def remedies_for(context: WindowContext, report: ErrorReport) -> tuple[Offer, ...]:
    """Return the remedies of a problem; empty if none is known."""
    match report.obstacle:
        case Obstacle.LIBRARY:
            return (folder_offer(context),)
        case Obstacle.MODEL:
            return _model_offers(context)
        case Obstacle.DETECTOR:
            return (_judge_set_offer(context),)
        case None:
            return ()


def folder_offer(context: WindowContext) -> Offer:
    """Return the offer to open the setting of the library folder."""
    return Offer(tr("Choose a folder…"), context.actions[LIBRARY_FOLDER].trigger)


def _judge_set_offer(context: WindowContext) -> Offer:
    studio = context.studio
    names = studio.judge_sets.to_download(studio.judges.set_id)
    ask = partial(context.window_signals.models_asked.emit, names)
    return Offer(tr("Download a judge set…"), ask)


def _model_offers(context: WindowContext) -> tuple[Offer, ...]:
    """Return offers for a usable model: the first available, another, or a download."""
    actions, models = context.actions, context.studio.models
    shown = Offer(tr("Open models folder"), actions[MODELS_FOLDER].trigger)
    get = Offer(tr("Get a model…"), actions[MODELS].trigger)
    if not models:
        return (get, shown, Offer(tr("Refresh"), actions[FIND_MODELS].trigger))
    offers = (Offer(tr("Choose a model…"), actions[CHOOSE_MODEL].trigger), get, shown)
    settings = context.studio.storage.drafts.newest.settings
    if settings is None or settings.model_id == models[0].id:
        return offers
    use = partial(context.window_signals.model_wanted.emit, models[0].id)
    return (Offer(tr("Use {model}").format(model=models[0].title), use), *offers)


SAFE = "A recovery copy of the picture was saved."
UNSAFE = "The picture has not been saved. Save it now."


class FailureActions:
    """Reports failed runs, with a button for each remedy.

    Args:
        context: Services of the window.
        parent: Parent of dialogs.
    """

    def __init__(self, context: WindowContext, parent: QWidget) -> None:
        self._context = context
        self._queue = context.studio.queue
        self._parent = parent
        self._reported_full: tuple[str, str] = ("", "")
        self._later: dict[str, MemoryFix] = {}

    def handle(self, event: object) -> None:
        """Report a failure; apply a deferred retry once its paired picture is done."""
        match event:
            case QueueChanged():
                for entry_id in [each for each in self._later if not self._is_drawn(each)]:
                    self._retry(entry_id, self._later.pop(entry_id))
            case GenerationFailed(request_id=request_id, error=error):
                is_quick = self._context.studio.preview.owns(request_id)
                if not is_quick and not self._is_recorded(request_id, error):
                    self._tell(error, *self._remedies(request_id, error))
            case EngineStopped(error=error, lost=lost):
                self._tell(error, *(self._again(lost) if lost else ()))
            case StoreFailed(is_evaluation=True, error=error):
                self._tell(error, folder_offer(self._context))
            case StoreFailed():
                self._tell_unstored(event)

    def _tell(self, error: ErrorReport, *offers: Offer) -> None:
        self._context.toasts.report(error, *offers)

    def _tell_unstored(self, failure: StoreFailed) -> None:
        """Report a storage failure, once per cause for a job whose pictures are safe."""
        job = self._entry_id(failure.request_id), failure.error.message
        is_safe = failure.recovered is not None
        if is_safe and job == self._reported_full:
            return
        self._reported_full = job
        hint = f"{tr(SAFE if is_safe else UNSAFE)} {failure.error.hint}".strip()
        self._tell(replace(failure.error, hint=hint), *self._copies(failure))

    def _is_recorded(self, request_id: RequestId, error: ErrorReport) -> bool:
        """Return True if the other picture of the entry failed for the same reason."""
        entry = self._queue.entry(self._entry_id(request_id))
        others = (run for run in (entry.runs if entry else ()) if run.id != request_id)
        return any(run.failure and run.failure.message == error.message for run in others)

    def _remedies(self, request_id: RequestId, error: ErrorReport) -> tuple[Offer, ...]:
        entry_id = self._entry_id(request_id)
        if error.fixes and entry_id:
            return tuple(
                Offer(fix_in_words(fix), partial(self._apply, entry_id, fix)) for fix in error.fixes
            )
        helps = remedies_for(self._context, error)
        return helps if error.is_mistake else (*helps, *self._again(request_id))

    def _again(self, request_id: RequestId) -> tuple[Offer, ...]:
        entry_id = self._entry_id(request_id)
        return (Offer(tr("Retry"), partial(self._retry, entry_id)),) if entry_id else ()

    def _copies(self, failure: StoreFailed) -> tuple[Offer, ...]:
        offers: list[Offer] = []
        if (recovered := failure.recovered) is not None:
            folder = QUrl.fromLocalFile(str(recovered.parent))
            offers.append(Offer(tr("Show the copy"), partial(QDesktopServices.openUrl, folder)))
        offers.append(folder_offer(self._context))
        run = self._drawn(failure.request_id)
        if run is not None:
            offers.append(Offer(tr("Save as…"), partial(self._save, run)))
        return tuple(offers)

    def _apply(self, entry_id: str, fix: MemoryFix) -> None:
        """Retry the picture with a memory fix, and apply it to later pictures as well."""
        self._context.window_signals.fix_wanted.emit(fix)
        self._retry(entry_id, fix)

    def _retry(self, entry_id: str, fix: MemoryFix = AS_IT_WAS) -> None:
        if self._is_drawn(entry_id):
            self._later[entry_id] = fix
            self._context.toasts.tell(
                tr("The retry starts when the run's current picture is finished.")
            )
            return
        self._try(tr("Retrying"), lambda: self._queue.retry(entry_id, fix=fix))

    def _is_drawn(self, entry_id: str) -> bool:
        running = self._queue.running
        return running is not None and running.id == entry_id

    def _save(self, run: OpenRun) -> None:
        path, _ = QFileDialog.getSaveFileName(
            self._parent, tr("Save the picture"), "picture.png", "*.png"
        )
        if path and (target := file_to_write(self._parent, Path(path), "png")):
            save = self._context.studio.storage.save_picture
            self._try(tr("Saving the picture"), lambda: save(run, target, overwrite=True))

    def _try(self, title: str, do: Callable[[], None]) -> None:
        try:
            do()
        except StudioError as error:
            self._tell(report_on(error, title))

    def _entry_id(self, request_id: RequestId) -> str:
        entries = self._queue.entries
        owns = (each.id for each in entries if request_id in {run.id for run in each.runs})
        return next(owns, "")

    def _drawn(self, request_id: RequestId) -> OpenRun | None:
        runs = [run for entry in self._queue.entries for run in entry.runs]
        finished = (run for run in runs if run.id == request_id and run.events)
        return next(finished, None)


def fix_in_words(fix: MemoryFix) -> str:
    """Return the text of a button: "Decode in tiles: 3.1 GB"."""
    words = savings_in_words(fix.savings) if fix.savings else ""
    if fix.size is not None:
        height, width = fix.size
        smaller = tr("Generate {width} × {height} pixels").format(width=width, height=height)  # noqa: RUF001
        words = ", ".join(part for part in (words, smaller) if part)
    return words if fix.peak_bytes is None else f"{words}: {size_in_words(fix.peak_bytes)}"
