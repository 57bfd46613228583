"""The dock that compares metrics with each other over a set of pictures."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QFileDialog, QWidget

from spatialstudio.application.evaluate.metric_table import compare_pictures, disagreements
from spatialstudio.application.evaluate.metric_table_files import write_metric_table
from spatialstudio.application.evaluate.metrics import all_metrics
from spatialstudio.application.gallery.study import runs_to_study
from spatialstudio.application.questions.question_report import question_scores
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.export import FIGURE_SUFFIXES
from spatialstudio.domain.metric_table import Disagreement, MetricPair, MetricTable
from spatialstudio.ui.framework.confirmation import asked_target
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.widgets.builders import column, flow, grow, push_button, row
from spatialstudio.ui.widgets.row_table import RowTable
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

EVALUATE = "evaluate"
MOST_LISTED = 200
DECIMALS = 2


class MetricTablePanel(Panel):
    """Shows rank correlations of metrics, and the pictures that they rank differently.

    A pair of metrics lists its disagreements; a picture opens with its evidence.
    """

    title = "Metric against metric"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._table: MetricTable | None = None
        self._pairs: tuple[MetricPair, ...] = ()
        self._found: tuple[Disagreement, ...] = ()
        self._listed: tuple[Disagreement, ...] = ()
        tools = self._make_tools()
        self._paths: tuple[Path, ...] = ()
        self._answers: list[Path] = []
        self._state = TextLabel(
            tr("Compares metrics over at least three judged pictures."), Tone.MUTED
        )
        self._columns = RowTable(tr("Metrics"), (tr("Metric"), tr("Pictures"), tr("Mean")))
        self._correlations = RowTable(
            tr("Rank correlations, weakest first"),
            (tr("Metrics"), tr("Spearman"), tr("Tau-b"), tr("Pictures")),
        )
        self._correlations.row_picked.connect(self._list)
        self._pictures = RowTable(tr("Disagreements, largest first"), ())
        self._pictures.row_opened.connect(self._open)
        self._content = QWidget()
        self._tables = row(
            grow(self._columns, 3),
            grow(self._correlations, 5),
            grow(self._pictures, 7),
            within=self._content,
            gap=0.6,
        )
        parts = tools, self._state, grow(self._content)
        column(*parts, within=self, gap=0.4, edges=(0.9, 0.3, 0.9, 0.5))
        self._content.hide()
        context.gallery.chosen_changed.connect(self._offer)
        self._offer()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Stack the tables in a dock that is taller than wide."""
        super().resizeEvent(event)
        is_tall = self.height() > self.width()
        direction = QBoxLayout.Direction
        self._tables.setDirection(direction.TopToBottom if is_tall else direction.LeftToRight)

    def _make_tools(self) -> QWidget:
        self._selected = push_button(
            tr("Selected runs"), self.compare_selected, tip=tr("Compare over the selected runs")
        )
        self._benchmark = push_button(
            tr("Benchmark"), self._compare_benchmark, tip=tr("Compare over the open benchmark")
        )
        folder = push_button(
            tr("Folder…"),
            self._ask_folder,
            tip=tr("Compare over a folder of runs, a benchmark, or results of evaluate"),
        )
        answers = push_button(
            tr("Add answers…"),
            self._ask_answers,
            tip=tr("Add the right answers of a run of questions about the same pictures"),
        )
        self._export = push_button(
            tr("Export…"),
            self._ask_export,
            tip=tr("Write the listed pictures as CSV, or the correlations as a LaTeX table"),
        )
        self._export.setEnabled(False)
        return flow(self._selected, self._benchmark, folder, answers, self._export, gap=0.4)

    def showEvent(self, event: object) -> None:  # noqa: ARG002 - Qt's signature
        self._offer()

    def compare_selected(self) -> None:
        """Compare over the selected runs of the gallery, the same as those of a study."""
        gallery, library = self._context.gallery, self._context.studio.library
        self.compare(
            [entry.path for entry in runs_to_study(library, len(gallery.ids), gallery.members)]
        )

    def compare(self, paths: Sequence[Path]) -> None:
        """Read pictures in the background, and show the comparison."""
        self._state.setText(tr("Comparing…"))
        self._paths = tuple(paths)
        self._context.reading.read(
            Subject.METRICS,
            tr("Comparing metrics"),
            partial(self._compared, self._paths, tuple(self._answers)),
            self._show,
            self._fail,
        )

    def add_answers(self, folder: Path) -> None:
        """Add the right answers of a run of questions, and compare again."""
        self._answers.append(folder)
        self.compare(self._paths)

    def _compared(self, paths: Sequence[Path], answers: Sequence[Path]) -> MetricTable:
        store = self._context.studio.storage.store
        return compare_pictures(paths, store, all_metrics(), question_scores(answers))

    def _compare_benchmark(self) -> None:
        self.compare([Path(self._context.settings.benchmark)])

    def _ask_answers(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, tr("Add the answers of a run"))
        if chosen:
            self.add_answers(Path(chosen))

    def _ask_folder(self) -> None:
        chosen = QFileDialog.getExistingDirectory(self, tr("Compare metrics over a folder"))
        if chosen:
            self.compare([Path(chosen)])

    def _ask_export(self) -> None:
        """Ask for a file; its suffix selects pictures or correlations."""
        kinds = [
            tr("Pictures with scores and ranks") + " (*.csv)",
            tr("Correlations as LaTeX table") + " (*.tex)",
            *(tr("Correlations as figure") + f" (*{suffix})" for suffix in FIGURE_SUFFIXES),
        ]
        target = asked_target(self, self._context.settings, "metrics.csv", kinds)
        if target is None or self._table is None:
            return
        studio = self._context.studio
        look = studio.storage.exports.look()
        self._context.reading.read(
            Subject.METRICS,
            tr("Exporting the comparison"),
            partial(write_metric_table, studio.registry, self._table, self._found, look, target),
            lambda path: self._context.toasts.tell(tr("Wrote {name}.").format(name=path.name)),
            self.problem_met.emit,
        )

    def _offer(self) -> None:
        self._selected.setEnabled(bool(self._context.gallery.ids))
        self._benchmark.setEnabled(bool(self._context.settings.benchmark))

    def _fail(self, report: ErrorReport) -> None:
        self._answers.clear()  # else every further comparison fails
        self._state.setText(f"{report.message} {report.hint}".rstrip())

    def _show(self, table: MetricTable) -> None:
        self._table = table
        self._pairs = table.weakest_first
        self._columns.show_rows(
            [(each.label, str(each.pictures), f"{each.mean:.3f}") for each in table.columns]
        )
        labels = {each.id: each.label for each in table.columns}
        rows = [(tr("all metrics"), "", "", "")]
        rows += [_pair_row(each, labels) for each in self._pairs]
        self._correlations.show_rows(rows, picked=0)
        self._content.show()
        self._export.setEnabled(True)
        self._list(0)

    def _list(self, number: int) -> None:
        """List the pictures that the picked pair, or all metrics, rank differently."""
        table = self._table
        if table is None:
            return
        pair = self._pairs[number - 1] if number else None
        names = (pair.first, pair.second) if pair else None
        shown = [each for each in table.columns if names is None or each.id in names]
        found = disagreements(table, names)
        self._found, self._listed = found, found[:MOST_LISTED]
        labels = (each.label for each in shown)
        titles = (tr("Difference"), tr("Prompt"), tr("Picture"), *labels)
        self._pictures.show_titles(titles)
        self._pictures.show_rows(
            [
                (
                    f"{each.spread:.2f}",
                    each.picture.prompt,
                    each.picture.name,
                    *(_score(each, column.id) for column in shown),
                )
                for each in self._listed
            ]
        )
        self._state.setText(_state(table, len(self._listed), len(found)))

    def _open(self, number: int) -> None:
        path = self._listed[number].picture.path
        if path is None:
            self._context.toasts.tell(tr("The file of this picture is not known."))
            return
        self._context.reading.read(
            Subject.STAGE,
            tr("Opening the run"),
            partial(self._context.studio.read_run, path),
            self._show_run,
            self.problem_met.emit,
        )

    def _show_run(self, run: OpenRun) -> None:
        self._context.studio.show_run(run)
        self._context.window_signals.workspace_asked.emit(EVALUATE)


def _pair_row(pair: MetricPair, labels: dict[str, str]) -> tuple[str, str, str, str]:
    interval = pair.spearman
    words = interval.in_decimals(DECIMALS, tr("undefined"))
    tau = "" if pair.kendall is None else f"{pair.kendall:.2f}"
    return f"{labels[pair.first]}, {labels[pair.second]}", words, tau, str(interval.n)


def _score(found: Disagreement, name: str) -> str:
    """Return a score with its rank: "0.67 (0.08)"; empty if the metric does not cover it."""
    if name not in found.ranks:
        return ""
    return f"{found.picture.scores[name]:.2f} ({found.ranks[name]:.2f})"


def _state(table: MetricTable, listed: int, found: int) -> str:
    words = tr("{listed} of {found} pictures, with score and rank from 0 to 1 by each metric.")
    said = words.format(listed=listed, found=found)
    return " ".join((said, tr("Double-click one to see its evidence."), *table.notes))
