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

    def __init__(self, witness):
        self.followed = []
        self._witness = witness

    def present(self):
        return ()

    def follow(self, event):
        assert event not in self._witness.events
        self.followed.append(event)


@pytest.fixture
def bus():
    return EventBus()


@pytest.fixture
def witness(qtbot):
    panel = Witness()
    qtbot.addWidget(panel)
    return panel


@pytest.fixture
def bridge(bus, witness):
    bridge = Bridge(bus, Follower(witness), FileReading(lambda: None))
    bridge.serve(witness)
    yield bridge
    bridge.close()


EVENTS = [StepPicked(step=step) for step in range(50)]


def publish_all(bus):
    for event in EVENTS:
        bus.publish(event)


def test_events_of_another_thread_arrive_in_order_on_the_gui_thread(qtbot, bus, bridge, witness):
    thread = threading.Thread(target=publish_all, args=(bus,))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: len(witness.events) == len(EVENTS))
    assert witness.events == EVENTS
    assert witness.threads == {bridge.thread()}


def test_a_closed_bridge_hears_nothing(qtbot, bus, bridge, witness):
    bridge.close()
    publish_all(bus)
    qtbot.wait(10)
    assert witness.events == []


def test_the_first_request_is_drawn_at_once(witness):
    drawn = []
    FrameClock(lambda: drawn.append(1), witness).request()
    assert drawn == [1]


@pytest.fixture
def long_frames(monkeypatch):
    """Frames that no pause of a busy machine outlasts."""
    monkeypatch.setattr("spatialstudio.ui.framework.bridge.FRAME_MS", 1000)


def test_a_burst_of_requests_is_drawn_twice(qtbot, witness, long_frames):
    drawn = []
    clock = FrameClock(lambda: drawn.append(1), witness)
    for _ in EVENTS:
        clock.request()
    qtbot.waitUntil(lambda: len(drawn) > 1)
    qtbot.wait(100)
    assert len(drawn) == 2


def test_what_the_hand_asks_for_is_drawn_sooner(witness, long_frames):
    clock = FrameClock(lambda: None, witness)
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
    qtbot, witness, short_turns
):
    told = []
    first = FrameClock(lambda: told.append("first"), witness)
    second = FrameClock(lambda: told.append("second"), witness)
    first.request()
    second.request()
    assert told == ["first"]
    qtbot.waitUntil(lambda: told == ["first", "second"])


def test_the_hand_waits_for_no_turn(witness, short_turns):
    told = []
    FrameClock(lambda: told.append("first"), witness).request()
    FrameClock(lambda: told.append("second"), witness).request(by_hand=True)
    assert told == ["first", "second"]


def test_a_panel_out_of_sight_is_drawn_once_when_it_is_shown(qtbot, witness):
    drawn = []
    clock = VisibleFrameClock(lambda: drawn.append(1), witness)
    for _ in EVENTS:
        clock.request()
    assert drawn == []
    with qtbot.waitExposed(witness):
        witness.show()
    qtbot.waitUntil(lambda: drawn == [1])


def test_a_panel_that_missed_nothing_is_not_drawn_when_it_is_shown(qtbot, witness):
    drawn = []
    clock = VisibleFrameClock(lambda: drawn.append(1), witness)
    witness.show()
    clock.request()
    qtbot.waitUntil(lambda: drawn == [1])
    witness.hide()
    with qtbot.waitExposed(witness):
        witness.show()
    assert drawn == [1]
