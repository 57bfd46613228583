"""Opens the figure composer, draws its previews in the background, and saves its results."""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.gallery.figures import FigurePreview, Figures, latex_figure
from spatialstudio.application.gallery.library import is_guided
from spatialstudio.application.inspect.captured_layers import ordinary
from spatialstudio.domain.derived_requests import has_baseline
from spatialstudio.domain.errors import ErrorReport, SettingsError, StudioError
from spatialstudio.domain.export import FIGURE, ExportLook
from spatialstudio.domain.figure_template import FigureTemplate
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.library import LibraryEntry
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.gallery import commands
from spatialstudio.ui.gallery.figure_dialog import FigureDialog
from spatialstudio.ui.gallery.run_exporting import LIGHT, RunExporting
from spatialstudio.ui.widgets.texts import tr

MOST_OFFERED = 24
"""Largest number of runs on offer beside the chosen ones."""
MOST_SEARCHED = 2000
NAME = "figure"
JSON = "*.json"
ALL_HEADS = "The maps are means over all heads, not the head chosen in Inspect."


@frozen(eq=False)
class _PreviewRequest:
    """A preview to be drawn."""

    runs: tuple[Path, ...]
    look: ExportLook


class FigureComposing(QObject):
    """Composes figures of the selected runs, or of the open run and the second one.

    Only one preview is drawn at a time, and only the newest request waits.

    Args:
        context: Services of the window; its command is bound.
        exporting: Saves the figures.
        parent: Parent of the dialog.
    """

    def __init__(self, context: WindowContext, exporting: RunExporting, parent: QWidget) -> None:
        super().__init__(parent)
        self._context = context
        self._exporting = exporting
        self._window = parent
        self._dialog: FigureDialog | None = None
        self._look: ExportLook | None = None
        self._has_head = False
        self._is_drawing = False
        self._waiting: _PreviewRequest | None = None
        context.actions.bind(commands.FIGURE, self.compose)

    @property
    def _figures(self) -> Figures:
        return self._context.studio.storage.figures

    def compose(self) -> None:
        """Open the composer for the target runs."""
        targets = self._exporting.targets
        if not targets:
            self._context.toasts.tell(
                tr("No run for a figure."), tr("Generate a picture, or select runs in the gallery.")
            )
            return
        self._look = self._context.studio.exports.look(LIGHT)
        self._has_head = self._is_open(targets) and self._context.maps.choice.head is not None
        runs, checked = self._runs(targets)
        dialog = FigureDialog(runs, checked, self._figures.fonts, self._window)
        dialog.show_template(self._start_of(targets))
        dialog.show_names(self._figures.names)
        dialog.edited.connect(self._draw)
        dialog.template_picked.connect(self._use_template)
        dialog.open_asked.connect(self._open_template)
        dialog.save_asked.connect(self._save_template)
        dialog.latex_asked.connect(self._copy_latex)
        dialog.caption_asked.connect(self._copy_caption)
        dialog.export_asked.connect(self._export)
        dialog.finished.connect(self._forget)
        self._dialog = dialog
        dialog.open()

    def _runs(self, targets: tuple[Path, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return labels of the runs on offer by path, and the paths that are shown first."""
        library, session = self._context.studio.library, self._context.studio.session
        entries = library.entries(library.list()[:MOST_SEARCHED])
        by_path = {entry.path: entry for entry in entries if not entry.is_missing}
        prompts = {by_path[path].summary.prompt for path in targets if path in by_path}
        others = [path for path, each in by_path.items() if each.summary.prompt in prompts]
        second = session.baseline.path if session.baseline is not None else None
        chosen = [*targets, *([second] if self._is_open(targets) and second is not None else [])]
        if len(chosen) == 1 and chosen[0] in by_path:
            chosen += self._baseline_of(chosen[0])
        offered = dict.fromkeys((*chosen, *self._exporting.members, *others[:MOST_OFFERED]))
        known = _labels([by_path[path] for path in offered if path in by_path])
        labels = {str(path): known.get(path, path.stem) for path in offered}
        return labels, tuple(map(str, chosen))

    def _baseline_of(self, path: Path) -> list[Path]:
        """Return the stored baseline of a run; empty without one, or for a baseline."""
        studio = self._context.studio
        with suppress(StudioError):  # the preview reports an unreadable run
            request = studio.read_run(path).request
            if request is not None and has_baseline(request):
                baseline = studio.library.baseline_of(request)
                return [] if baseline is None else [baseline]
        return []

    def _start_of(self, targets: tuple[Path, ...]) -> FigureTemplate:
        """Return the default template; for the open run, with the moment that Inspect shows."""
        usual, session, maps = FigureTemplate(), self._context.studio.session, self._context.maps
        run = session.run
        if run is None or not self._is_open(targets):
            return usual
        picked = () if session.step >= run.total_steps - 1 else (session.step + 1,)
        captured = (file.layer for file in ordinary(run.attention_files))
        return replace(
            usual,
            steps=tuple(sorted({*usual.steps, *picked})),
            layers=tuple(layer for layer in captured if layer in maps.choice.layers),
            moment=maps.look.moment,
        )

    def _is_open(self, targets: tuple[Path, ...]) -> bool:
        """Whether the only target is the open run."""
        run = self._context.studio.session.run
        return run is not None and targets == (run.path,)

    def _draw(self) -> None:
        """Ask for a preview of the current choice."""
        if self._dialog is None or self._look is None:
            return
        if not self._dialog.chosen_runs:
            self._dialog.show_problem(tr("Choose at least one run."))
            return
        try:
            look = replace(self._look, template=self._dialog.template)
        except SettingsError as error:
            self._dialog.show_problem(f"{error.message} {error.hint}")
            return
        self._waiting = _PreviewRequest(runs=self._dialog.chosen_runs, look=look)
        self._go_on()

    def _go_on(self) -> None:
        if self._is_drawing or self._waiting is None:
            return
        request, self._waiting = self._waiting, None
        self._is_drawing = True
        self._context.reading.read(
            Subject.FIGURE,
            tr("Drawing the figure"),
            partial(self._figures.preview, request.runs, request.look),
            self._show,
            self._show_error,
        )

    def _show(self, preview: FigurePreview) -> None:
        self._is_drawing = False
        if self._dialog is not None and self._waiting is None:
            notes = (*preview.notes, *([tr(ALL_HEADS)] if self._has_head else []))
            self._dialog.show_preview(replace(preview, notes=notes))
        self._go_on()

    def _show_error(self, error: ErrorReport) -> None:
        self._is_drawing = False
        if self._dialog is not None:
            self._dialog.show_problem(f"{error.message} {error.hint}")
        self._go_on()

    def _use_template(self, name: str) -> None:
        try:
            template = self._figures.template(name)
        except StudioError as error:
            self._context.toasts.report(report_on(error, tr("Opening the template")))
            return
        if self._dialog is not None:
            self._dialog.show_template(template)

    def _open_template(self) -> None:
        start, title = str(self._figures.folder), tr("Open a template")
        path, _ = QFileDialog.getOpenFileName(self._dialog, title, start, JSON)
        if path:
            self._use_template(path)

    def _save_template(self) -> None:
        if self._dialog is None:
            return
        start, title = str(self._figures.folder / f"{NAME}.json"), tr("Save the template")
        path, _ = QFileDialog.getSaveFileName(self._dialog, title, start, JSON)
        if not path:
            return
        target = Path(path).with_suffix(".json")
        try:
            self._figures.save(self._dialog.template, target)
        except StudioError as error:
            self._context.toasts.report(report_on(error, tr("Saving the template")))
            return
        names = self._figures.names
        if target.parent == self._figures.folder:
            self._dialog.show_names(names, target.stem)
        self._tell(tr("Wrote {name}.").format(name=target.name))

    def _copy_caption(self) -> None:
        if self._dialog is not None:
            QGuiApplication.clipboard().setText(self._dialog.caption)
            self._tell(tr("Copied the caption."))

    def _copy_latex(self) -> None:
        if self._dialog is not None:
            text = latex_figure(self._dialog.caption, f"{NAME}.pdf", self._dialog.width_inches)
            QGuiApplication.clipboard().setText(text)
            self._tell(tr("Copied the LaTeX snippet."))

    def _export(self) -> None:
        if self._dialog is None:
            return
        try:
            template = self._dialog.template
        except SettingsError as error:
            self._dialog.show_problem(f"{error.message} {error.hint}")
            return
        choice = replace(self._exporting.usual_choice(FIGURE), template=template)
        self._exporting.export(self._dialog.chosen_runs, choice, self._tell)

    def _tell(self, message: str) -> None:
        """Say in the dialog what was done: it hides the messages of the window."""
        if self._dialog is not None:
            self._dialog.show_notice(message)

    def _forget(self) -> None:
        self._dialog = self._waiting = None


def _labels(entries: Sequence[LibraryEntry]) -> dict[Path, str]:
    """Name runs by their settings; those of equal settings also by their time."""
    labels = {entry.path: _label(entry) for entry in entries}
    counts = Counter(labels.values())
    times = {entry.path: f", {entry.summary.created:%Y-%m-%d %H:%M:%S} UTC" for entry in entries}
    return {path: text + times[path] * (counts[text] > 1) for path, text in labels.items()}


def _label(entry: LibraryEntry) -> str:
    summary = entry.summary
    held = tr("baseline")
    if is_guided(summary):
        held = f"{summary.method_id} {summary.strength:g}"
    if summary.is_left_unguided:
        held = tr("{held}, not needed").format(held=held)
    words = tr("{held}, seed {seed}, {steps} steps, {model}")
    return words.format(held=held, seed=summary.seed, steps=summary.steps, model=summary.model_id)
