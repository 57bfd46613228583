"""The gallery's main panel: filter line, grid, comparison and sweeps of stored runs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QWidget

from spatialstudio.application.gallery.gallery import (
    FilterRefused,
    GalleryQuery,
    RunsFound,
    TileRead,
    TilesRead,
)
from spatialstudio.application.gallery.library import LibraryChanged
from spatialstudio.application.gallery.study import runs_to_study
from spatialstudio.application.jobs.background_jobs import BackgroundJobEnded
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.library import (
    Cells,
    EntryId,
    LibraryEntry,
    Marks,
)
from spatialstudio.domain.sweep import SweepId
from spatialstudio.ui.framework.actions import ScopedKeys
from spatialstudio.ui.framework.command import Command, Scope
from spatialstudio.ui.framework.command_button import command_button
from spatialstudio.ui.framework.commands import GALLERY_WORKSPACE
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.figure_composing import FigureComposing
from spatialstudio.ui.gallery.gallery_presenter import (
    IN_TRASH,
    ComparedPictures,
    face_of,
    face_with,
    filter_words,
    pair_of,
    pictures_of,
    runs_in_words,
    sections_of,
    words_for_nothing,
)
from spatialstudio.ui.gallery.library_maintenance import LibraryMaintenance
from spatialstudio.ui.gallery.run_exporting import RunExporting
from spatialstudio.ui.gallery.run_marking import GalleryJobs, RunMarking
from spatialstudio.ui.gallery.run_study import RunStudy
from spatialstudio.ui.gallery.sweep_panel import SweepPanel
from spatialstudio.ui.gallery.widgets.compare_view import CompareView
from spatialstudio.ui.gallery.widgets.empty_gallery import EmptyGallery
from spatialstudio.ui.gallery.widgets.filter_line import FilterLine
from spatialstudio.ui.gallery.widgets.run_grid import RunGrid
from spatialstudio.ui.widgets.builders import at_top, column, grow, row
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

GRID, NOTHING, COMPARISON, SWEEP = range(4)
"""Pages of the panel."""

GENERATE, INSPECT = "generate", "inspect"
"""Ids of workspaces to switch to."""

IN_COMPARISON = (commands.COMPARE, commands.NEXT_COMPARISON)
"""Commands that also work in the comparison."""

OF_CHOSEN = (
    *(commands.OPEN, commands.STACK, *commands.STARS, commands.STAR),
    *(commands.REJECT, commands.TAG, commands.TRASH, commands.FORGET, commands.LOCATE),
    *IN_COMPARISON,
)
"""Commands that need a selection."""

IN_MENU: tuple[tuple[Command, ...], ...] = (
    (commands.OPEN, commands.STACK, commands.COMPARE, commands.SWEEP, commands.STUDY),
    (commands.STAR, commands.REJECT, commands.TAG),
    (
        commands.EXPORT,
        commands.FIGURE,
        commands.SAVE_AS,
        commands.CLEAN_COPY,
        commands.COPY_PICTURE,
    ),
    (commands.RUN_AGAIN, commands.VERIFY, commands.RECHECK, commands.JUDGE_STORED),
    (commands.TRASH, commands.RESTORE),
)
"""Groups of a tile's context menu."""


class GalleryPanel(Panel):
    """Connects the filter line and the grid to the library.

    Attributes:
        grid: All runs found.
    """

    title = "Gallery"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._view = context.gallery
        self._storage = context.studio.storage
        self._is_awake = False
        self._is_unseen = True
        self._query = GalleryQuery()
        self._cells = Cells()
        self._entries: dict[EntryId, LibraryEntry] = {}
        self._awaited: frozenset[EntryId] = frozenset()
        self._marking = RunMarking(context)
        self._marking.marked.connect(self._show_marks)
        self._background_jobs = GalleryJobs(self._storage.background_jobs)
        self._exporting = RunExporting(context, self._background_jobs, self)
        self._composing = FigureComposing(context, self._exporting, self)
        self._study = RunStudy(
            context, self._study_targets, self._exporting, self._background_jobs, self
        )
        self._looking_after = LibraryMaintenance(
            context, self._exporting, self._background_jobs, self
        )
        self._line = FilterLine()
        self._line.line_edited.connect(self._use_line)
        self._line.left_downwards.connect(self._view.grid_asked)
        self._count = TextLabel(tone=Tone.MUTED)
        self._count.setWordWrap(False)
        self.grid = self._make_grid()
        self._nothing = EmptyGallery(context.theme)
        self._nothing.action_picked.connect(self._help_out)
        self._comparison = CompareView(context.theme)
        self._comparison.closed.connect(self._show_grid)
        self._sweep = self._make_sweep()
        self._pages = QStackedWidget()
        self._line_parts: tuple[QWidget, ...] = ()
        self._lay_out()
        self._bind()
        self._view.chosen_changed.connect(self._follow_chosen)
        self._view.line_offered.connect(self.use_line)
        self._view.day_offered.connect(self.grid.show_section)
        self._view.grid_asked.connect(self._focus_page)
        self._view.sweep_asked.connect(self._show_sweep)
        ScopedKeys(context.actions.of_scope(Scope.GALLERY), self.grid)
        ScopedKeys([context.actions[way] for way in IN_COMPARISON], self._comparison.canvas)
        self.setFocusProxy(self.grid)
        self._follow_chosen()

    def showEvent(self, event: QShowEvent) -> None:
        """Scan the library when the gallery is first shown."""
        super().showEvent(event)
        if not self._is_awake:
            self._is_awake = True
            self._find()
            self._storage.library.watch()
        self.grid.setFocus()

    def handle(self, event: object) -> None:
        """Show search results and read tiles; search again when the library changes."""
        self._sweep.handle(event)
        self._exporting.handle(event)
        self._study.handle(event)
        self._looking_after.handle(event)
        match event:
            case RunsFound(request=request) if request == self._query:
                self._show_found(event)
            case FilterRefused(request=request, error=error) if request == self._query:
                self._line.show_problem(f"{error.message} {error.hint}")
            case TilesRead(tiles=tiles):
                for tile in tiles:
                    self._show_tile(tile)
            case LibraryChanged() if self._is_awake:
                self._look_again()
            case BackgroundJobEnded(job_id=job_id, error=error):
                is_own = self._marking.end(job_id) or self._background_jobs.end(event)
                if is_own and error is not None:
                    self.problem_met.emit(error)

    def _study_targets(self) -> tuple[Path, ...]:
        """Return the runs to study: those of the shown sweep, or the selected ones."""
        if self._pages.currentIndex() == SWEEP:
            return self._sweep.paths
        entries = runs_to_study(self._storage.library, len(self._view.ids), self._view.members)
        return tuple(entry.path for entry in entries)

    def _stack(self, run: EntryId) -> tuple[EntryId, ...]:
        """Return the runs that a tile shows: those of its closed stack, or one."""
        cell = self._cells.of(run)
        return (run,) if cell is None or cell.is_open else tuple(cell.members)

    def _make_grid(self) -> RunGrid:
        grid = RunGrid(self._context.theme)
        grid.faces_wanted.connect(self._storage.gallery.read)
        grid.selection_picked.connect(self._show_chosen)
        grid.opened.connect(self._open)
        grid.stack_picked.connect(self._toggle_stack)
        grid.menu_asked.connect(self._show_menu)
        grid.drag_begun.connect(partial(self._exporting.drag_out, grid))
        return grid

    def _make_sweep(self) -> SweepPanel:
        sweep = SweepPanel(self._context)
        sweep.closed.connect(self._show_grid)
        sweep.opened.connect(self._open)
        sweep.menu_asked.connect(self._show_menu)
        sweep.export_asked.connect(self._exporting.ask_grid)
        self._marking.marked.connect(sweep.show_marks)
        return sweep

    def use_line(self, line: str) -> None:
        """Apply a filter line chosen elsewhere."""
        self._line.show_line(line)
        self._use_line(line)

    def _show_runs(self, pictures: Sequence[Path]) -> None:
        """List all runs, select some of them and open their stacks."""
        ids = map(self._storage.library.id_of, pictures)
        self._awaited = frozenset(each for each in ids if each is not None)
        self._context.actions[GALLERY_WORKSPACE].trigger()
        self._show_grid()
        self._line.show_line("")
        self._use_line("", self._awaited)

    def _use_line(self, line: str, opened: frozenset[EntryId] = frozenset()) -> None:
        are_single = IN_TRASH in line or not self._context.actions[commands.STACKS].isChecked()
        self._query = GalleryQuery(line=line, is_stacked=not are_single, opened=opened)
        self._view.show_line(line)
        self._find()

    def _find(self) -> None:
        if self._is_awake:
            self._storage.gallery.find(self._query)

    def _look_again(self) -> None:
        self._entries.clear()
        self.grid.renew_faces()
        self._find()

    def _show_found(self, found: RunsFound) -> None:
        self._line.show_problem("")
        self._cells = found.cells
        sections = sections_of(found.days, datetime.now(UTC).date())
        self.grid.show_cells(found.cells, sections)
        if self._awaited:
            self.grid.choose(self._awaited)
            self._awaited = frozenset()
        self._count.setText(runs_in_words(found.runs))
        titles = (section.title for section in sections)
        self._view.show_days(tuple(zip(titles, (day.runs for day in found.days), strict=True)))
        if self._pages.currentIndex() not in (COMPARISON, SWEEP):
            self._pages.setCurrentIndex(GRID if found.runs else NOTHING)
        if self._is_unseen and found.runs:  # until now there was no grid to focus
            self._is_unseen = False
            self.grid.setFocus()
        if not found.runs:
            is_known = self._storage.library.is_looked_through
            self._nothing.show_words(*words_for_nothing(self._query.line, is_known))
        models = [card.id for card in self._context.studio.models]
        self._line.show_words(filter_words(self._storage.library.tags(), models))
        self._show_chosen()

    def _help_out(self) -> None:
        if self._query.line.strip():
            self.use_line("")
        else:
            self._context.window_signals.workspace_asked.emit(GENERATE)

    def _show_chosen(self) -> None:
        key = self.grid.current
        current = None if key is None else self._entry(EntryId(key))
        if self._pages.currentIndex() != SWEEP:
            ids = tuple(EntryId(each) for each in self.grid.chosen)
            members = tuple(key for each in ids for key in self._stack(each))
            self._view.show_chosen(ids, current, members)

    def _show_tile(self, tile: TileRead) -> None:
        entry = self._entries[tile.id] = self._marking.as_said(tile.entry)
        self.grid.show_face(tile.id, face_of(entry, tile.thumbnail))

    def _entry(self, entry_id: EntryId) -> LibraryEntry | None:
        if entry_id not in self._entries:
            for entry in self._storage.library.entries([entry_id]):
                self._entries[entry_id] = self._marking.as_said(entry)
        return self._entries.get(entry_id)

    def _show_marks(self, marks: Mapping[Path, Marks]) -> None:
        """Show marks at once, before they are written to disk."""
        for entry_id, entry in tuple(self._entries.items()):
            if entry.path in marks:
                changed = self._entries[entry_id] = replace(entry, marks=marks[entry.path])
                if (face := self.grid.face(entry_id)) is not None:
                    self.grid.show_face(entry_id, face_with(changed, face.picture))
        self._show_chosen()

    def _open(self, key: int) -> None:
        if (entry := self._entry(EntryId(key))) is not None:
            self._context.reading.read(
                Subject.STAGE,
                tr("Opening the run"),
                partial(self._context.studio.read_run, entry.path),
                self._show_run,
                self.problem_met.emit,
            )

    def _show_run(self, run: OpenRun) -> None:
        self._context.studio.show_run(run)
        self._context.window_signals.workspace_asked.emit(INSPECT)

    def _toggle_stack(self, key: int) -> None:
        cell = self._cells.of(EntryId(key))
        if cell is None or len(cell.members) == 1:
            return
        opened = self._query.opened
        opened = opened.difference(cell.members) if cell.is_open else opened | {cell.id}
        self._query = GalleryQuery(line=self._query.line, opened=opened)
        self._find()

    def _go_to_line(self) -> None:
        self._context.actions[GALLERY_WORKSPACE].trigger()
        self._line.setFocus()
        self._line.select_all()

    def _show_trash(self) -> None:
        self._context.actions[GALLERY_WORKSPACE].trigger()
        self.use_line(IN_TRASH)

    def _show_menu(self, place: QPoint) -> None:
        menu = QMenu(self)
        for group in IN_MENU:
            menu.addSeparator()
            menu.addActions([self._context.actions[command] for command in group])
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(place)

    def _compare(self) -> None:
        """Compare the selected runs, or return to the grid if already comparing."""
        library = self._storage.library
        if self._pages.currentIndex() == COMPARISON:
            self._comparison.close_comparison()
        elif pair := pair_of(library, self._view.ids):
            self._context.reading.read(
                Subject.COMPARISON,
                tr("Comparing runs"),
                partial(pictures_of, library, pair),
                self._show_pair,
                self.problem_met.emit,
            )
        else:
            self._show_pair(None)

    def _show_pair(self, shown: ComparedPictures | None) -> None:
        if shown is None:
            hint = tr("A run with a baseline is compared with it.")
            self._context.toasts.tell(tr("Select two runs to compare."), hint)
            return
        self._comparison.show_pair(*shown)
        self._pages.setCurrentIndex(COMPARISON)
        self._comparison.setFocus()

    def _next_way(self) -> None:
        if self._pages.currentIndex() == COMPARISON:
            self._comparison.show_way(self._comparison.way.next)
        else:
            self._compare()

    def _show_grid(self) -> None:
        self._pages.setCurrentIndex(GRID)
        self._show_chosen()
        self.grid.setFocus()

    def _show_sweep(self, sweep_id: SweepId) -> None:
        self._pages.setCurrentIndex(SWEEP)
        self._sweep.show_sweep(sweep_id)
        self._sweep.setFocus()

    def _focus_page(self) -> None:
        self._pages.currentWidget().setFocus()

    def _bind(self) -> None:
        self._exporting.runs_asked.connect(self._show_runs)
        self._looking_after.list_changed.connect(self._look_again)
        actions = self._context.actions
        actions.bind_all(
            {
                commands.FIND: self._go_to_line,
                commands.OPEN: self._open_current,
                commands.STACK: self._toggle_current,
                commands.TAG: self._view.tags_asked.emit,
                commands.SHOW_TRASH: self._show_trash,
                commands.COMPARE: self._compare,
                commands.NEXT_COMPARISON: self._next_way,
            }
        )
        actions.bind_switch(commands.STACKS, lambda _on: self._use_line(self._query.line))
        actions[commands.STACKS].setChecked(True)
        actions.bind_switch(commands.DRAG_CLEAN, lambda _on: None)

    def _open_current(self) -> None:
        grid = self._sweep.grid if self._pages.currentIndex() == SWEEP else self.grid
        if (key := grid.current) is not None:
            self._open(key)

    def _toggle_current(self) -> None:
        if (key := self.grid.current) is not None:
            self._toggle_stack(key)

    def _follow_chosen(self) -> None:
        """Enable the commands that apply to the selection."""
        actions, current = self._context.actions, self._view.current
        for command in OF_CHOSEN:
            actions[command].setEnabled(bool(self._view.ids))
        is_deleted = current is not None and current.deleted is not None
        actions[commands.TRASH].setEnabled(current is not None and not is_deleted)
        actions[commands.RESTORE].setEnabled(is_deleted)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.StyleChange:
            self._level_with_line()

    def _level_with_line(self) -> None:
        """Place parts next to the line, with or without a message below it."""
        for part in self._line_parts:
            part.setFixedHeight(self._line.sizeHint().height())

    def _lay_out(self) -> None:
        stacks = command_button(self._context.actions[commands.STACKS], "icon")
        self._line_parts = (self._count, stacks)
        self._level_with_line()
        for page in (self.grid, self._nothing, self._comparison, self._sweep):
            self._pages.addWidget(page)
        bar = row(
            *(grow(self._line), at_top(self._count), at_top(stacks)),
            gap=0.6,
            edges=(0.9, 0, 0.9, 0),
        )
        column(bar, grow(self._pages), within=self, gap=0.3, edges=(0, 0.7, 0, 0))
