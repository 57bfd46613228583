"""The queue dock: running, waiting, failed and interrupted runs, and their actions."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QToolButton

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.run.queue import (
    REPEATABLE,
    EntryState,
    QueueChanged,
    QueueEntry,
    entries_of,
)
from spatialstudio.application.storage.storage import InterruptedFound
from spatialstudio.domain.errors import StudioError
from spatialstudio.ui.framework.bridge import VisibleFrameClock
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.run import commands as commands
from spatialstudio.ui.run.failure_actions import FailureActions
from spatialstudio.ui.run.presenters import rows_of
from spatialstudio.ui.run.widgets.queue_list import QueueList
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.builders import SPACE, column, grow, row, tool_button
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

TOOLS = (commands.STOP_AFTER, commands.RETRY, commands.CLEAR_QUEUE)
UNDONE = (EntryState.FAILED, EntryState.INTERRUPTED)


class QueuePanel(Panel):
    """Lets the user see, reorder, remove and retry queue entries."""

    title = "Queue"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._queue = context.studio.queue
        self._session = context.studio.session
        self._edits = context.edits
        self._toasts = context.toasts
        self._actions = context.actions
        self._failure_actions = FailureActions(context, self)
        self._count = TextLabel(tone=Tone.MUTED)
        self._count.setMinimumWidth(em(4))
        self._list = QueueList(context.theme)
        self._list.order_picked.connect(self._reorder)
        self._list.removal_picked.connect(self._take_out)
        self._list.row_picked.connect(self._open)
        self._list.menu_asked.connect(self._offer)
        self._clock = VisibleFrameClock(self._draw, self)
        context.actions.bind(commands.CLEAR_QUEUE, self._clear)
        context.actions.bind(commands.RETRY, self._retry_all)
        tools = [_tool_for(context.actions[command]) for command in TOOLS]
        head = row(grow(self._count), *tools)
        edges = (0.9, 0.3, 0.9, 0.7)
        column(head, grow(self._list), SPACE, within=self, gap=0.4, edges=edges)
        self._switch_commands()
        self._draw()

    def handle(self, event: object) -> None:
        """Follow the queue; report failures and entries left over from an earlier session."""
        self._failure_actions.handle(event)
        match event:
            case QueueChanged():
                self._switch_commands()
                self._clock.request()
            case InterruptedFound(requests=requests):
                count = len(entries_of(requests))
                message = tr("{count} waiting; the queue was interrupted when the program ended.")
                self._toasts.offer(message.format(count=count), tr("Retry"), self._retry_all)

    def _switch_commands(self) -> None:
        """Enable the commands that apply to the queue, whether the panel is visible or not."""
        is_undone = any(entry.state in UNDONE for entry in self._queue.entries)
        self._actions[commands.RETRY].setEnabled(is_undone)
        self._actions[commands.CLEAR_QUEUE].setEnabled(bool(self._queue.waiting))

    def _draw(self) -> None:
        rows = rows_of(self._queue.entries)
        waiting = len(self._queue.waiting)
        words = tr("{count} waiting").format(count=waiting)
        if self._queue.is_held and waiting:
            words = tr("Paused, {count} waiting").format(count=waiting)
        self._count.setText(words if rows else tr("Waiting runs are listed here."))
        self._list.setVisible(bool(rows))
        self._list.show_rows(rows)

    def _reorder(self, keys: Sequence[str]) -> None:
        before = self._queue.waiting
        by_id = {entry.id: entry for entry in before}
        after = tuple(by_id[key] for key in keys if key in by_id)  # type: ignore[index]
        self._rearrange(tr("reorder queue"), before, after)

    def _take_out(self, keys: Sequence[str]) -> None:
        before = self._queue.waiting
        after = tuple(entry for entry in before if entry.id not in keys)
        self._rearrange(tr("remove from queue"), before, after)
        running = self._queue.running
        if running is not None and running.id in keys:
            self._queue.cancel()
        waiting = {entry.id for entry in before}
        self._queue.dismiss(*(key for key in keys if key not in waiting))

    def _clear(self) -> None:
        self._rearrange(tr("clear queue"), self._queue.waiting, ())

    def _rearrange(
        self, name: str, before: tuple[QueueEntry, ...], after: tuple[QueueEntry, ...]
    ) -> None:
        self._edits.change(
            name, before, after, lambda wanted: self._queue.rearrange(wanted, before)
        )

    def _retry_all(self) -> None:
        undone = (entry.id for entry in self._queue.entries if entry.state in UNDONE)
        self._retry(*undone)

    def _retry(self, *keys: str) -> None:
        try:
            self._queue.retry(*keys)
        except StudioError as error:
            self.problem_met.emit(report_on(error, tr("Retrying")))

    def _open(self, key: str) -> None:
        entry = self._queue.entry(key)
        if entry is None:
            return
        if entry.state in REPEATABLE:
            self._retry(key)
        elif entry.state is EntryState.RUNNING:
            self._session.open(*entry.runs)

    def _offer(self, key: str, place: QPoint) -> None:
        entry = self._queue.entry(key)
        if entry is None:
            return
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        if entry.state in REPEATABLE:
            menu.addAction(tr("Retry"), lambda: self._retry(*self._list.picked))
        if entry.state is EntryState.RUNNING:
            menu.addAction(tr("Show on the stage"), lambda: self._open(key))
        if entry.state is EntryState.WAITING:
            menu.addAction(tr("Up (Alt+Up)"), lambda: self._list.move_picked(-1))
            menu.addAction(tr("Down (Alt+Down)"), lambda: self._list.move_picked(1))
        words = tr("Cancel") if entry.state is EntryState.RUNNING else tr("Remove (Del)")
        menu.addAction(words, lambda: self._take_out(self._list.picked))
        menu.popup(place)


def _tool_for(action: QAction) -> QToolButton:
    button = tool_button(name=action.text(), icon_em=1.1)
    button.setDefaultAction(action)
    return button
