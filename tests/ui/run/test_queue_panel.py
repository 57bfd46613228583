import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QLabel

from spatialstudio.application.run.queue import EntryState
from spatialstudio.application.storage.storage import InterruptedFound
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.generation import GenerationFailed
from spatialstudio.ui.run import commands as commands
from spatialstudio.ui.run.queue_panel import QueuePanel
from spatialstudio.ui.run.widgets.queue_list import ROLE, QueueList
from tests.ui.scripted_engine import PROMPT

ALT, CONTROL, SHIFT = (
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
)
TROUBLE = ErrorReport(title="Drawing", message="It failed.")


@pytest.fixture
def ask(context, studio):
    """Ask for pictures with the given seeds."""
    studio.start()
    studio.bus.subscribe(studio.apply_event)
    studio.use_prompt(PROMPT)
    return lambda *seeds: studio.queue.add(*(studio.new_request(seed=seed) for seed in seeds))


@pytest.fixture
def panel(qtbot, context, studio):
    panel = QueuePanel(context)
    qtbot.addWidget(panel)
    studio.bus.subscribe(panel.handle)
    panel.resize(300, 500)
    panel.show()
    return panel


@pytest.fixture
def rows(panel):
    return panel.findChild(QueueList)


def titles(rows):
    return [rows.item(place).data(ROLE).title for place in range(rows.count())]


def drop_on(rows, place, below):
    """Drop what is chosen over the upper or lower edge of a row."""
    at = rows.visualItemRect(rows.item(place))
    edge = QPointF(at.center().x(), at.bottom() - 1 if below else at.top() + 1)
    data = rows.model().mimeData(rows.selectedIndexes())
    left, none, move = Qt.MouseButton.LeftButton, ALT & SHIFT, Qt.DropAction.MoveAction
    rows.dropEvent(QDropEvent(edge, move, data, left, none))


def test_the_running_entry_is_first_and_waiting_ones_follow(qtbot, ask, panel, rows):
    ask(1, 2, 3)
    qtbot.waitUntil(lambda: titles(rows) == ["seed 1", "seed 2", "seed 3"])
    assert [rows.item(place).data(ROLE).state for place in range(3)] == [
        *("running", "waiting", "waiting")
    ]


def test_alt_and_an_arrow_move_a_row_and_undo_moves_it_back(qtbot, ask, panel, rows, context):
    ask(1, 2, 3)
    qtbot.waitUntil(lambda: rows.count() == 3)
    rows.setCurrentRow(2)
    qtbot.keyClick(rows, Qt.Key.Key_Up, ALT)
    qtbot.waitUntil(lambda: titles(rows) == ["seed 1", "seed 3", "seed 2"])
    assert rows.currentItem().data(ROLE).title == "seed 3"
    context.edits.undo()
    qtbot.waitUntil(lambda: titles(rows) == ["seed 1", "seed 2", "seed 3"])


def test_a_row_is_moved_by_drag(qtbot, ask, panel, rows):
    ask(1, 2, 3, 4)
    qtbot.waitUntil(lambda: rows.count() == 4)
    rows.setCurrentRow(3)
    drop_on(rows, 1, below=False)
    qtbot.waitUntil(lambda: titles(rows) == ["seed 1", "seed 4", "seed 2", "seed 3"])


def test_what_is_drawn_cannot_be_moved(qtbot, ask, panel, rows):
    ask(1, 2)
    qtbot.waitUntil(lambda: rows.count() == 2)
    rows.setCurrentRow(0)
    with qtbot.assertNotEmitted(rows.order_picked):
        qtbot.keyClick(rows, Qt.Key.Key_Down, ALT)


def test_del_takes_a_row_out_and_undo_puts_it_back(qtbot, ask, panel, rows, context):
    ask(1, 2, 3)
    qtbot.waitUntil(lambda: rows.count() == 3)
    rows.setCurrentRow(1)
    qtbot.keyClick(rows, Qt.Key.Key_Delete)
    qtbot.waitUntil(lambda: titles(rows) == ["seed 1", "seed 3"])
    context.edits.undo()
    qtbot.waitUntil(lambda: titles(rows) == ["seed 1", "seed 2", "seed 3"])


def test_del_on_what_is_drawn_cancels_it(qtbot, ask, panel, rows, engine):
    ask(1)
    qtbot.waitUntil(lambda: rows.count() == 1)
    rows.setCurrentRow(0)
    qtbot.keyClick(rows, Qt.Key.Key_Delete)
    assert engine.cancelled == [engine.jobs[0].job_id]


def test_enter_draws_again_what_failed(qtbot, ask, panel, rows, engine, studio):
    ask(1)
    engine.report(GenerationFailed(request_id=engine.jobs[0].job_id, error=TROUBLE))
    qtbot.waitUntil(lambda: rows.count() and rows.item(0).data(ROLE).state == "failed")
    rows.setCurrentRow(0)
    qtbot.keyClick(rows, Qt.Key.Key_Return)
    assert studio.queue.running.seed == 1


def test_what_was_interrupted_is_offered_and_drawn_again_at_one_click(
    qtbot, ask, panel, studio, engine, context
):
    offered = []
    context.toasts.toast_raised.connect(offered.append)
    interrupted = (studio.new_request(seed=4), studio.new_request(seed=5))
    studio.bus.publish(InterruptedFound(requests=interrupted))
    assert [entry.state for entry in studio.queue.entries] == [EntryState.INTERRUPTED] * 2
    (toast,) = offered
    assert "2" in toast.message
    toast.offers[0].accept()
    assert [job.request for job in engine.jobs] == [interrupted[0]]
    assert [entry.requests for entry in studio.queue.waiting] == [(interrupted[1],)]


def test_a_key_clears_what_waits_and_leaves_what_is_drawn(qtbot, window, studio, engine):
    window.prompt.use_prompt(PROMPT)
    for _ in range(3):
        window.generation.generate()
    qtbot.waitUntil(window.context.actions[commands.CLEAR_QUEUE].isEnabled)
    qtbot.keyClick(window, Qt.Key.Key_Backspace, CONTROL | SHIFT)
    assert studio.queue.waiting == ()
    assert engine.cancelled == []
    window.context.edits.undo()
    assert len(studio.queue.waiting) == 2


def test_out_of_sight_commands_are_switched_and_rows_wait_until_shown(
    qtbot, ask, panel, rows, context
):
    panel.hide()
    ask(1, 2, 3)
    assert context.actions[commands.CLEAR_QUEUE].isEnabled()
    assert rows.count() == 0
    panel.show()
    qtbot.waitUntil(lambda: rows.count() == 3)


def test_an_empty_queue_says_what_it_is_for(panel, rows):
    assert not rows.isVisible()
    assert "listed here" in panel.findChild(QLabel).text()
