"""A sweep in the gallery; its grid fills while pictures are generated."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, QPoint, Qt, Signal

from spatialstudio.application.gallery.gallery import TilesRead
from spatialstudio.application.gallery.library import LibraryChanged
from spatialstudio.application.run.queue import QueueChanged
from spatialstudio.domain.library import (
    EntryId,
    LibraryEntry,
    Marks,
)
from spatialstudio.domain.sweep import SweepCell, SweepId
from spatialstudio.ui.framework.actions import ScopedKeys
from spatialstudio.ui.framework.command import Scope
from spatialstudio.ui.framework.command_button import command_button
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.gallery import commands as commands
from spatialstudio.ui.gallery.gallery_presenter import face_of, face_with, table_of
from spatialstudio.ui.gallery.widgets.sweep_grid import SweepGrid, keys_of
from spatialstudio.ui.run.commands import CANCEL_SWEEP
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import FlowLayout, ThemedIcon, column, grow, tool_button
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr


class SweepPanel(Panel):
    """Shows one sweep; the focused cell is the gallery's selected run.

    Emits ``closed`` to return to all runs, ``opened`` with the key of a run, ``menu_asked`` with a
    screen position, and ``export_asked`` with the pictures' files.

    Attributes:
        grid: The pictures.
    """

    title = "Sweep"
    closed = Signal()
    opened = Signal(int)
    menu_asked = Signal(QPoint)
    export_asked = Signal(object)

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._context = context
        self._studio = context.studio
        self._sweep_id: SweepId | None = None
        self._runs: dict[EntryId, LibraryEntry] = {}
        self._back = tool_button(
            tr("All runs"),
            self.closed,
            name=tr("Back to all runs"),
            tip=tr("Back to all runs (Esc)"),
            icon_em=1,
        )
        ThemedIcon(self._back, context.theme, "previous")
        self._title = TextLabel(tone=Tone.HEADING)
        self._count = TextLabel(tone=Tone.MUTED)
        self.grid = SweepGrid(context.theme)
        self.grid.picked.connect(self._choose)
        self.grid.opened.connect(self.opened)
        self.grid.menu_asked.connect(self.menu_asked)
        self.grid.left.connect(self.closed)
        context.actions.bind(commands.SWEEP, self._show_sweep_of_chosen)
        context.actions.bind(commands.EXPORT_SWEEP, lambda: self.export_asked.emit(self.paths))
        context.actions[commands.EXPORT_SWEEP].setEnabled(False)
        context.gallery.chosen_changed.connect(self._follow_chosen)
        ScopedKeys(context.actions.of_scope(Scope.GALLERY), self.grid)
        self.setFocusProxy(self.grid)
        self._lay_out()
        self._follow_chosen()

    @property
    def paths(self) -> tuple[Path, ...]:
        """Pictures of the sweep."""
        return tuple(run.path for run in self._runs.values() if not run.is_missing)

    def show_sweep(self, sweep_id: SweepId) -> None:
        """Show another sweep."""
        self._sweep_id = sweep_id
        self._look()
        self._choose()

    def handle(self, event: object) -> None:
        """Fill the grid as pictures are generated."""
        match event:
            case LibraryChanged() | QueueChanged() if self._sweep_id and self.isVisible():
                self._look()
            case TilesRead(tiles=tiles):
                for tile in tiles:
                    if tile.id in self._runs:
                        self.grid.show_face(tile.id, face_of(tile.entry, tile.thumbnail))

    def show_marks(self, marks: Mapping[Path, Marks]) -> None:
        """Show marks at once, before they are written to disk."""
        for key, run in tuple(self._runs.items()):
            face = self.grid.face(key)
            if run.path in marks and face is not None:
                changed = self._runs[key] = replace(run, marks=marks[run.path])
                self.grid.show_face(key, face_with(changed, face.picture))
                self._choose()

    def _show_sweep_of_chosen(self) -> None:
        run = self._context.gallery.current
        if run is not None and run.summary.sweep is not None:
            self._context.gallery.sweep_asked.emit(run.summary.sweep.sweep_id)

    def _follow_chosen(self) -> None:
        run = self._context.gallery.current
        is_swept = run is not None and run.summary.sweep is not None
        self._context.actions[commands.SWEEP].setEnabled(is_swept)

    def _look(self) -> None:
        library = self._studio.library
        ids = library.list(f"sweep:{self._sweep_id}")
        self._runs = dict(zip(ids, library.entries(ids), strict=True))
        awaited = self._awaited()
        table = table_of(self._runs, awaited)
        self.grid.show_table(table)
        keys = [EntryId(key) for key in keys_of(table)]
        missing = [key for key in keys if self.grid.face(key) is None]
        if missing:
            self._studio.storage.gallery.read(missing)
        prompt = next((run.summary.prompt for run in self._runs.values()), "")
        self._title.setText(prompt or tr("Sweep"))
        cells = len(set(awaited)) + len(keys)
        text = tr("{count} of {cells} pictures") if awaited else tr("{count} pictures")
        self._count.setText(text.format(count=len(keys), cells=cells))
        self._context.actions[commands.EXPORT_SWEEP].setEnabled(bool(self.paths))

    def _awaited(self) -> tuple[SweepCell, ...]:
        drawn = {run.summary.request_id for run in self._runs.values()}
        asked = (each for entry in self._studio.queue.entries for each in entry.unfinished)
        return tuple(
            request.sweep
            for request in asked
            if request.sweep
            and request.sweep.sweep_id == self._sweep_id
            and request.id not in drawn
        )

    def _choose(self) -> None:
        key = self.grid.current
        run = None if key is None else self._runs.get(EntryId(key))
        chosen = () if key is None or run is None else (EntryId(key),)
        self._context.gallery.show_chosen(chosen, run)

    def changeEvent(self, event: QEvent) -> None:
        """Align the texts with the buttons, whose height follows from the style."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.StyleChange:
            for part in (self._back, self._title, self._count):
                part.setMinimumHeight(self._back.sizeHint().height())

    def _lay_out(self) -> None:
        self._title.setWordWrap(False)
        self._count.setWordWrap(False)
        head = FlowLayout(em(0.7))
        for part in (self._back, self._title, self._count):
            head.addWidget(part)
        for command in (CANCEL_SWEEP, commands.STUDY, commands.EXPORT_SWEEP):
            button = command_button(self._context.actions[command], "quiet")
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            head.addWidget(button)
        column(head, grow(self.grid), within=self, gap=0.6, edges=(0.9, 0.2, 0.9, 0.5))
