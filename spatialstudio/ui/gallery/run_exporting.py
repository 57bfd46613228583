"""Exports runs to files and imports bundles."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path

from PySide6.QtCore import QMimeData, QObject, Qt, QTemporaryDir, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QDrag, QGuiApplication, QImage
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.gallery.exports import (
    NEUTRAL_NAME,
    ExportOrder,
    Exports,
)
from spatialstudio.application.jobs.background_jobs import (
    BackgroundJobEnded,
    BackgroundJobId,
    BackgroundJobProgressed,
    Progress,
)
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.export import (
    ANNOTATED,
    CLEAN,
    GRAPH,
    PICTURE,
    SWEEP,
    ExportKind,
    ExportLayer,
)
from spatialstudio.domain.library import EntryId
from spatialstudio.ui.framework.confirmation import may_write
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.export_dialog import ExportChoice, ExportDialog
from spatialstudio.ui.gallery.gallery_presenter import runs_in_words
from spatialstudio.ui.gallery.run_marking import GalleryJobs
from spatialstudio.ui.widgets.picture_layers import Layer
from spatialstudio.ui.widgets.texts import tr

EXPORTING = "Exporting"
GALLERY = "gallery"
ON_STAGE = {
    Layer.MAPS: ExportLayer.MAPS,
    Layer.MASKS: ExportLayer.MASKS,
    Layer.BOXES: ExportLayer.BOXES,
    Layer.MARGINALS: ExportLayer.MARGINALS,
}
LIGHT = "light"
THEMES = {LIGHT: "Light", "dark": "Dark", "high_contrast": "High contrast"}
"""Themes of figures: file names and untranslated titles."""


class RunExporting(QObject):
    """Asks for a target, exports in the background, and reports the result.

    Emits ``runs_asked`` with the pictures of imported runs that the user wants to see.

    Args:
        context: Services of the window; its commands are bound.
        background_jobs: The gallery's jobs.
        parent: Parent of the dialogs.
    """

    runs_asked = Signal(object)

    def __init__(
        self, context: WindowContext, background_jobs: GalleryJobs, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._context = context
        self._window = parent
        self._background_jobs = background_jobs
        self._dialog: ExportDialog | None = None
        self._copies = QTemporaryDir()
        self._pulls = count(1)
        self._exporting: BackgroundJobId | None = None
        context.actions.bind_all(
            {
                commands.SAVE_AS: partial(self._save, PICTURE),
                commands.CLEAN_COPY: partial(self._save, CLEAN),
                commands.COPY_PICTURE: self._copy,
                commands.EXPORT: self.ask,
                commands.EXPORT_GRAPH: partial(self.ask, EXPORT_KINDS[GRAPH]),
                commands.IMPORT: self._import,
            }
        )

    @property
    def _exports(self) -> Exports:
        return self._context.studio.exports

    @property
    def targets(self) -> tuple[Path, ...]:
        """Pictures of the target runs: those selected in the gallery, or the open one.

        A closed stack stands for the run that its tile shows.
        """
        return self._pictures(self._context.gallery.ids)

    @property
    def members(self) -> tuple[Path, ...]:
        """Like ``targets``, with all runs of closed stacks."""
        return self._pictures(self._context.gallery.members)

    def _pictures(self, selected: Sequence[EntryId]) -> tuple[Path, ...]:
        if self._context.settings.workspace == GALLERY:
            entries = self._context.studio.library.entries(selected)
            return tuple(entry.path for entry in entries if not entry.is_missing)
        run = self._context.studio.session.run
        return (run.path,) if run is not None and run.path is not None else ()

    def handle(self, event: object) -> None:
        """Follow the running export."""
        match event:
            case BackgroundJobProgressed(job_id=job_id) if (
                job_id == self._exporting and self._dialog
            ):
                self._dialog.show_progress(event.done, event.total)
            case BackgroundJobEnded(job_id=job_id) if job_id == self._exporting:
                self._end_export(is_cancelled=event.is_cancelled)

    def ask(self, kind: ExportKind | None = None) -> None:
        """Open the dialog for the target runs and those of closed stacks, with a kind if given."""
        if self._targets_or_news():
            self._ask(self.members, kind)

    def ask_grid(self, runs: tuple[Path, ...]) -> None:
        """Open the dialog for the runs of a sweep."""
        self._ask(runs, EXPORT_KINDS[SWEEP])

    def _ask(self, targets: tuple[Path, ...], kind: ExportKind | None = None) -> None:
        if targets:
            on_stage = frozenset(
                ON_STAGE[each] for each in self._context.stage.layers & set(ON_STAGE)
            )
            themes = {name: tr(title) for name, title in THEMES.items()}
            dialog = ExportDialog(len(targets), on_stage, themes, self._window)
            dialog.show_marked(self._context.settings.marks_pictures)
            dialog.export_asked.connect(partial(self.export, targets))
            dialog.cancel_asked.connect(self._cancel)
            if kind is not None:
                dialog.show_kind(kind)
            dialog.finished.connect(self._forget_dialog)
            self._dialog = dialog
            dialog.open()

    def drag_out(self, source: QWidget) -> None:
        """Start a drag of the selected runs' files to another program."""
        pictures = self.targets
        try:
            if self._context.actions[commands.DRAG_CLEAN].isChecked():
                pictures = self.clean_copies(pictures)
        except StudioError as error:
            self._context.toasts.report(report_on(error, tr("Preparing pictures for dragging")))
            return
        if pictures:
            data = QMimeData()
            data.setUrls([QUrl.fromLocalFile(str(picture)) for picture in pictures])
            drag = QDrag(source)
            drag.setMimeData(data)
            drag.exec(Qt.DropAction.CopyAction)

    def clean_copies(self, pictures: Sequence[Path]) -> tuple[Path, ...]:
        """Write copies of pictures without metadata, for dragging; return the files.

        Raises:
            StudioError: A run is damaged, or the disk is full.
        """
        folder = Path(self._copies.path()) / str(next(self._pulls))
        return self._exports.export(pictures, EXPORT_KINDS[CLEAN], folder)

    def _targets_or_news(self) -> tuple[Path, ...]:
        targets = self.targets
        if not targets:
            self._context.toasts.tell(
                tr("No run to export."),
                tr("Generate a picture, or select one in the gallery."),
            )
        return targets

    def _save(self, kind_id: str) -> None:
        if targets := self._targets_or_news():
            self.export(targets, self.usual_choice(kind_id))

    def usual_choice(self, kind_id: str) -> ExportChoice:
        """Return the choice of a kind in its first format, in light colours, without layers."""
        kind = EXPORT_KINDS[kind_id]
        return ExportChoice(
            kind=kind,
            ending=kind.formats[0],
            layers=frozenset(),
            theme=LIGHT,
            is_marked=self._context.settings.marks_pictures,
        )

    def export(
        self,
        runs: Sequence[Path],
        choice: ExportChoice,
        tell: Callable[[str], object] | None = None,
    ) -> None:
        """Ask for a target, and export runs in the background.

        Args:
            runs: Pictures of the runs.
            choice: Kind and look of the export.
            tell: Receives the message of success, for a dialog that hides the window's messages.
        """
        chosen = self._ask_where(runs, choice)
        if chosen is None:
            return
        is_named = bool(chosen.suffix) or chosen.is_dir()
        target = chosen if is_named else chosen.with_name(f"{chosen.name}.{choice.ending}")
        if not self._may_write(runs, choice, chosen, target):
            return
        self._exporting = self._start(runs, choice, target, partial(self._tell_export, tell))
        if self._dialog is not None:
            self._dialog.show_running(True)

    def _may_write(
        self, runs: Sequence[Path], choice: ExportChoice, chosen: Path, target: Path
    ) -> bool:
        order = ExportOrder(ending=choice.ending)
        try:
            targets = self._exports.targets(runs, choice.kind, target, order)
        except StudioError:
            return True  # the export reports the error
        return may_write(self._window, chosen, targets)

    def _start(
        self,
        runs: Sequence[Path],
        choice: ExportChoice,
        target: Path,
        then: Callable[[Sequence[Path]], object],
    ) -> BackgroundJobId:
        """Export in the background; ``then`` receives the files, after notes are shown."""
        look = replace(
            self._exports.look(choice.theme),
            layers=choice.layers,
            is_marked=choice.is_marked,
            template=choice.template,
            graph=self._context.judgement.graph,
            study=choice.study,
        )
        notes: list[str] = []

        def work(progress: Progress) -> tuple[Path, ...]:
            order = ExportOrder(
                ending=choice.ending, overwrite=True, progress=progress, note=notes.append
            )
            return self._exports.export(runs, choice.kind, target, look, order)

        def tell(files: Sequence[Path]) -> None:
            for note in dict.fromkeys(notes):
                self._context.toasts.tell(note)
            then(files)

        return self._background_jobs.run(tr(EXPORTING), work, tell)

    def _ask_where(self, runs: Sequence[Path], choice: ExportChoice) -> Path | None:
        """Return a target file, or a folder for several files; None if cancelled."""
        kind, title = choice.kind, tr("Export to")
        if len(runs) > 1 and not kind.is_of_many:
            folder = QFileDialog.getExistingDirectory(self._window, title)
            return Path(folder) if folder else None
        name = runs[0].stem if len(runs) == 1 else tr("runs")
        name = NEUTRAL_NAME if kind.is_anonymous else name
        suffix = "" if kind.is_anonymous or kind.id == PICTURE else f"_{kind.id}"
        endings = (choice.ending, *(e for e in kind.formats if e != choice.ending))
        patterns = ";;".join(f"{ending.upper()} (*.{ending})" for ending in endings)
        start = str(Path.home() / f"{name}{suffix}.{choice.ending}")
        file, _ = QFileDialog.getSaveFileName(self._window, title, start, patterns)
        return Path(file) if file else None

    def _copy(self) -> None:
        targets = self._targets_or_news()
        if not targets:
            return
        run = self._context.studio.session.run
        layers = self._context.stage.layers & set(ON_STAGE)
        is_shown = run is not None and run.path == targets[0]
        choice = ExportChoice(
            kind=EXPORT_KINDS[ANNOTATED],
            ending="png",
            layers=frozenset(ON_STAGE[layer] for layer in (layers if is_shown else ON_STAGE)),
            theme="dark" if self._context.theme.palette.is_dark else LIGHT,
            is_marked=self._context.settings.marks_pictures,
        )
        target = Path(self._copies.path()) / "copied.png"
        self._start(targets[:1], choice, target, self._tell_copy)

    def _tell_copy(self, files: Sequence[Path]) -> None:
        QGuiApplication.clipboard().setImage(QImage(str(files[0])))
        self._context.toasts.tell(tr("Copied the picture with legend."))

    def _end_export(self, *, is_cancelled: bool) -> None:
        self._exporting = None
        if self._dialog is not None:
            self._dialog.show_running(False)
        if is_cancelled:
            self._context.toasts.tell(tr("The export was cancelled."))

    def _tell_export(self, tell: Callable[[str], object] | None, files: Sequence[Path]) -> None:
        if self._dialog is not None:
            self._dialog.accept()
        message = tr("Wrote {name}.").format(name=files[0].name)
        if len(files) > 1:
            message = tr("Wrote {count} files.").format(count=len(files))
        if tell is not None:
            tell(message)
        folder = QUrl.fromLocalFile(str(files[0].parent))
        self._context.toasts.offer(message, tr("Show"), lambda: QDesktopServices.openUrl(folder))

    def _cancel(self) -> None:
        if self._exporting is not None:
            self._background_jobs.cancel(self._exporting)

    def _forget_dialog(self) -> None:
        self._dialog = None

    def _import(self) -> None:
        title, kinds = tr("Import a bundle"), f"{tr('Bundles')} (*.zip)"
        file, _ = QFileDialog.getOpenFileName(self._window, title, "", kinds)
        if file:
            notes: list[str] = []
            work = partial(self._take_in, Path(file), notes)
            tell = partial(self._tell_import, notes)
            self._background_jobs.run(tr("Importing a bundle"), work, tell)

    def _tell_import(self, notes: Sequence[str], files: Sequence[Path]) -> None:
        for note in notes:
            self._context.toasts.tell(note)
        message = tr("Imported {runs}.").format(runs=runs_in_words(len(files)))
        self._context.toasts.offer(message, tr("Show"), partial(self.runs_asked.emit, files))

    def _take_in(self, bundle: Path, notes: list[str], _: Progress) -> tuple[Path, ...]:
        library = self._context.studio.library
        pictures = self._exports.open_bundle(bundle, library.root, notes.append)
        library.refresh()
        return pictures
