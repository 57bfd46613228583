"""The main panel of the benchmark workspace: filter line, matrix and table of all cells."""

from enum import Enum
from functools import partial
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from spatialstudio.application.benchmark.filter_cells import filter_cells
from spatialstudio.application.benchmark.monitor import (
    BenchmarkChanged,
    BenchmarkRefused,
    BenchmarkView,
)
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.errors import StudioError
from spatialstudio.ui.benchmark import commands
from spatialstudio.ui.benchmark.benchmark_presenter import (
    cell_in_words,
    filter_terms,
    matches_in_words,
    progress_in_words,
)
from spatialstudio.ui.benchmark.plan_making import PlanMaking
from spatialstudio.ui.benchmark.report_exporting import ReportExporting
from spatialstudio.ui.benchmark.widgets.cell_list import CellList
from spatialstudio.ui.benchmark.widgets.cell_matrix import CellMatrix
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.gallery.widgets.empty_gallery import EmptyGallery
from spatialstudio.ui.gallery.widgets.filter_line import FilterLine
from spatialstudio.ui.theme.theme import LARGE, font
from spatialstudio.ui.widgets.builders import action_button, column, grow, pages, row
from spatialstudio.ui.widgets.segments import Segments
from spatialstudio.ui.widgets.texts import PlainLabel, TextLabel, Tone, plain_tip, tr

EVALUATE = "evaluate"
"""Id of the workspace that shows an opened picture."""
NOTHING, CONTENT = range(2)


class Shown(Enum):
    """How cells are shown."""

    MATRIX = 0
    LIST = 1


class BenchmarkPanel(Panel):
    """Shows the cells of the open benchmark and opens their pictures."""

    title = "Benchmark"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._view: BenchmarkView | None = None
        self._planning = PlanMaking(context, self)
        self._name = PlainLabel()
        self._name.setFont(font(LARGE, bold=True))
        self._progress = TextLabel(tone=Tone.MUTED, wraps=False)
        self._line = FilterLine(tr("cat  verdict:fail  relation:left_of  method:psg  pse<0.6"))
        self._exporting = ReportExporting(context, self, lambda: self._line.line)
        self._count = TextLabel(tone=Tone.MUTED, wraps=False)
        words = tr("Show cells as")
        self._shown = Segments(
            words,
            {
                Shown.MATRIX: (tr("Matrix"), tr("A row per prompt, a column per method and seed")),
                Shown.LIST: (tr("Table"), tr("A row per picture, with its numbers")),
            },
        )
        self.matrix = CellMatrix(context.theme, self._describe)
        self.list = CellList(context.theme, self._describe)
        self._cells = pages(self.matrix, self.list)
        self._nothing = EmptyGallery(context.theme)
        self._pages = pages(self._nothing, self._content())
        column(self._pages, within=self)
        self._clock = VisibleFrameClock(self._draw, self)
        self._connect()
        self._show_nothing()
        self._show_kind(Shown.MATRIX)
        self._reopen()

    def handle(self, event: object) -> None:
        """Show the open benchmark, or why it cannot be opened."""
        match event:
            case BenchmarkChanged(view=view):
                self._show(view)
            case BenchmarkRefused(folder=folder, error=error):
                self._context.settings.benchmark = ""
                if self._view is None or self._view.folder != folder:
                    self.problem_met.emit(error)

    def open_folder(self, folder: Path) -> None:
        """Open a benchmark in the background."""
        self._context.benchmark.open(folder)

    def use_line(self, line: str) -> None:
        """Apply a filter line chosen elsewhere."""
        self._line.show_line(line)
        self._clock.request(by_hand=True)

    def open_cell(self, cell: int) -> None:
        """Open the picture of a cell in Evaluate."""
        view = self._view
        if view is None:
            return
        picture = view.table.pictures.get(cell)
        if picture is None:
            self._context.toasts.tell(tr("This picture is not drawn yet."))
            return
        self._context.reading.read(
            Subject.STAGE,
            tr("Opening the picture"),
            partial(self._context.studio.read_run, picture),
            self._show_run,
            self.problem_met.emit,
        )

    def _content(self) -> Panel:
        content = Panel()
        opening = action_button(self._context.actions[commands.OPEN], tr("Open…"))
        planning = action_button(self._context.actions[commands.NEW], tr("New…"))
        column(
            row(self._name, grow(self._progress), planning, opening, gap=0.8),
            row(grow(self._line), self._count, self._shown, gap=0.8),
            grow(self._cells),
            within=content,
            gap=0.5,
            edges=(0.9, 0.6, 0.9, 0.3),
        )
        return content

    def _connect(self) -> None:
        self._line.line_edited.connect(lambda _line: self._clock.request(by_hand=True))
        self._line.left_downwards.connect(lambda: self._cells.currentWidget().setFocus())
        self._shown.choice_picked.connect(self._show_kind)
        self.matrix.cell_opened.connect(self.open_cell)
        self.list.cell_opened.connect(self.open_cell)
        self._nothing.action_picked.connect(self._planning.ask)
        self._context.window_signals.cells_asked.connect(self.use_line)
        self._context.window_signals.cell_asked.connect(self.open_cell)
        self._context.actions.bind(commands.OPEN, self._ask_folder)

    def _reopen(self) -> None:
        """Show the benchmark that was open before, also in an earlier session."""
        last = self._context.settings.benchmark
        if self._context.benchmark.view is not None:
            self._show(self._context.benchmark.view)
        elif last:
            self.open_folder(Path(last))

    def _show_nothing(self) -> None:
        self._nothing.show_words(
            tr("No benchmark is open"),
            tr(
                "A benchmark draws many prompts with several methods and seeds, and judges them. "
                "Open an earlier one with Run, Open a benchmark."
            ),
            tr("New benchmark…"),
        )

    def _show(self, view: BenchmarkView) -> None:
        is_new = self._view is None or self._view.folder != view.folder
        self._view = view
        if is_new:
            self._context.settings.benchmark = str(view.folder)
            self._line.show_line("")
            self._pages.setCurrentIndex(CONTENT)
        self._clock.request()

    def _draw(self) -> None:
        view = self._view
        if view is None:
            return
        self._name.setText(view.plan.name)
        self._name.setToolTip(plain_tip(str(view.folder)))
        self._progress.setText(progress_in_words(view.table))
        self._line.show_words(filter_terms(view.table))
        try:
            matches = filter_cells(view.table, self._line.line)
        except StudioError as error:
            self._line.show_problem(f"{error.message} {error.hint}")
            return
        self._line.show_problem("")
        self._count.setText(matches_in_words(len(matches), view.table))
        shown = self._cells.currentWidget()
        assert isinstance(shown, CellMatrix | CellList)
        shown.show_table(view.table, matches)

    def _show_kind(self, kind: Shown) -> None:
        self._shown.show_choice(kind)
        self._cells.setCurrentIndex(kind.value)
        self.setFocusProxy(self._cells.currentWidget())
        self._clock.request(by_hand=True)

    def _describe(self, cell: int) -> str:
        return "" if self._view is None else cell_in_words(self._view.table, cell)

    def _ask_folder(self) -> None:
        last = self._context.settings.benchmark
        chosen = QFileDialog.getExistingDirectory(self, tr("Open a benchmark"), last)
        if chosen:
            self.open_folder(Path(chosen))

    def _show_run(self, run: OpenRun) -> None:
        self._context.studio.show_run(run)
        self._context.window_signals.workspace_asked.emit(EVALUATE)
