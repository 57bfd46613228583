import threading

import pytest
from PySide6.QtCore import QCoreApplication, QThread, QTimer

from spatialstudio.application.events import EventBus
from spatialstudio.application.session import StepPicked
from spatialstudio.ui.framework.bridge import (
    HAND_FRAME_MS,
    Bridge,
    FrameClock,
    VisibleFrameClock,
)
from spatialstudio.ui.framework.file_reading import FileReading
from spatialstudio.ui.framework.panel_api import Panel
from spatialstudio.ui.framework.window_settings import Density


class Witness(Panel):
    """Remembers what it was handed, and on which thread."""

    def __init__(self):
        super().__init__()
        self.events = []
        self.threads = set()

    def handle(self, event):
        self.events.append(event)
        self.threads.add(QThread.currentThread())


class Follower:
    """A session that remembers what it followed."""

    def __init__(self, answers):
        self.followed = []
        self.changes = ()
        self._witness = answers

    def present(self):
        return ()

    def apply_event(self, event):
        assert event not in self._witness.events
        self.followed.append(event)
        return (event, *self.changes)


@pytest.fixture
def bus():
    return EventBus()


@pytest.fixture
def answers(qtbot):
    panel = Witness()
    qtbot.addWidget(panel)
    return panel


@pytest.fixture
def follower(answers):
    return Follower(answers)


@pytest.fixture
def bridge(bus, answers, follower):
    bridge = Bridge(bus, follower, FileReading(lambda: None))
    bridge.serve(answers)
    yield bridge
    bridge.close()


EVENTS = [StepPicked(step=step) for step in range(50)]


def publish_all(bus):
    for event in EVENTS:
        bus.publish(event)


def test_events_of_another_thread_arrive_in_order_on_the_gui_thread(qtbot, bus, bridge, answers):
    thread = threading.Thread(target=publish_all, args=(bus,))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(answers.events) == len(EVENTS))
    assert answers.events == EVENTS
    assert answers.threads == {bridge.thread()}


def test_changes_of_the_session_reach_panels_directly_after_their_event(
    qtbot, bus, bridge, follower, answers
):
    follower.changes = ("a change",)
    bus.publish(EVENTS[0])
    bus.publish(EVENTS[1])
    qtbot.waitUntil(lambda: len(answers.events) == 4)
    assert answers.events == [EVENTS[0], "a change", EVENTS[1], "a change"]


def test_a_closed_bridge_hears_nothing(qtbot, bus, bridge, answers):
    bridge.close()
    publish_all(bus)
    qtbot.wait(10)
    assert answers.events == []


class Failing(Panel):
    """Raises on every event and density."""

    def __init__(self, error):
        super().__init__()
        self._error = error

    def handle(self, event):
        raise self._error

    def use_density(self, density):
        raise self._error


@pytest.mark.parametrize("error", [ZeroDivisionError("no"), SystemExit(2)], ids=repr)
def test_a_plugin_panel_that_raises_is_reported_once_and_others_get_every_event(
    qtbot, bus, bridge, answers, error
):
    failing, reports = Failing(error), []
    qtbot.addWidget(failing)
    first = Bridge(bus, Follower(answers), FileReading(lambda: None))
    first.panel_failed.connect(reports.append)
    first.name_plugin(failing, "Counts", "Counting")
    bridge.close()
    first.use_density(Density.FULL, failing)
    first.serve(failing)
    first.serve(answers)
    publish_all(bus)
    qtbot.waitUntil(lambda: len(answers.events) == len(EVENTS))
    first.close()
    (report,) = reports
    assert '"Counts" of the plugin "Counting"' in report.message
    assert type(error).__name__ in report.message
    assert "Traceback" in report.details


def test_a_panel_of_the_program_that_raises_is_logged(qtbot, bridge, caplog):
    failing, reports = Failing(ZeroDivisionError()), []
    qtbot.addWidget(failing)
    bridge.panel_failed.connect(reports.append)
    bridge.use_density(Density.FULL, failing)
    assert len(reports) == 1
    assert "A panel failed." in caplog.text


def test_the_first_request_is_drawn_at_once(answers):
    drawn = []
    FrameClock(lambda: drawn.append(1), answers).request()
    assert drawn == [1]


@pytest.fixture
def long_frames(monkeypatch):
    """Frames that no pause of a busy machine outlasts."""
    monkeypatch.setattr("spatialstudio.ui.framework.bridge.FRAME_MS", 1000)


def test_a_burst_of_requests_is_drawn_twice(qtbot, answers, long_frames):
    drawn = []
    clock = FrameClock(lambda: drawn.append(1), answers)
    for _ in EVENTS:
        clock.request()
    assert len(drawn) == 1
    timer = clock.findChild(QTimer)
    assert timer.isActive()
    timer.setInterval(0)  # the frame is over
    qtbot.waitUntil(lambda: len(drawn) > 1)
    assert len(drawn) == 2
    assert not timer.isActive()


def test_what_the_hand_asks_for_is_drawn_sooner(answers, long_frames):
    clock = FrameClock(lambda: None, answers)
    clock.request()
    clock.request()
    timer = clock.findChild(QTimer)
    assert timer.remainingTime() > HAND_FRAME_MS
    clock.request(by_hand=True)
    assert timer.remainingTime() <= HAND_FRAME_MS


@pytest.fixture
def short_turns(qapp, monkeypatch):
    QCoreApplication.processEvents()  # earlier turns have ended
    monkeypatch.setattr("spatialstudio.ui.framework.bridge.TURN_MS", 0)


def test_many_clocks_draw_in_turns_so_that_other_events_come_in_between(
    qtbot, answers, short_turns
):
    told = []
    first = FrameClock(lambda: told.append("first"), answers)
    second = FrameClock(lambda: told.append("second"), answers)
    first.request()
    second.request()
    assert told == ["first"]
    qtbot.waitUntil(lambda: told == ["first", "second"])


def test_the_hand_waits_for_no_turn(answers, short_turns):
    told = []
    FrameClock(lambda: told.append("first"), answers).request()
    FrameClock(lambda: told.append("second"), answers).request(by_hand=True)
    assert told == ["first", "second"]


def test_a_panel_out_of_sight_is_drawn_once_when_it_is_shown(qtbot, answers):
    drawn = []
    clock = VisibleFrameClock(lambda: drawn.append(1), answers)
    for _ in EVENTS:
        clock.request()
    assert drawn == []
    with qtbot.waitExposed(answers):
        answers.show()
    qtbot.waitUntil(lambda: drawn == [1])


def test_a_panel_that_missed_nothing_is_not_drawn_when_it_is_shown(qtbot, answers):
    drawn = []
    clock = VisibleFrameClock(lambda: drawn.append(1), answers)
    answers.show()
    clock.request()
    qtbot.waitUntil(lambda: drawn == [1])
    answers.hide()
    with qtbot.waitExposed(answers):
        answers.show()
    assert drawn == [1]
