"""Which device draws: chosen by keyboard, told with what is free, kept, used by the next job."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from spatialstudio.application.jobs.messages import ListDevices
from spatialstudio.domain.devices import DeviceCard
from tests.fakes import PROCESSOR
from tests.ui.by_name import named

FAST = DeviceCard(
    id="cuda:0", name="Big card", free_bytes=78 * 10**9, dtypes=("float32", "bfloat16")
)
SMALL = DeviceCard(id="cuda:1", name="Small card", free_bytes=8 * 10**9, dtypes=("float32",))


@pytest.fixture
def field(panel):
    return field_of(panel)


def field_of(panel):
    return named(panel, QComboBox, "Device")


def titles(field):
    return [field.itemText(place) for place in range(field.count())]


def list_devices(qtbot, engine, field, *devices):
    """Let the engine tell its devices; wait until the field shows the last one's memory."""
    engine.list_devices(*devices)
    free = f"{devices[-1].free_bytes / 10**9:.1f} GB free"
    qtbot.waitUntil(lambda: any(title.endswith(free) for title in titles(field)))


def test_the_devices_are_asked_for_when_the_window_is_ready(panel, engine):
    assert ListDevices() in engine.questions


def test_a_processor_alone_is_told_plainly(qtbot, field, engine):
    list_devices(qtbot, engine, field, PROCESSOR)
    assert titles(field) == ["CPU, 2 cores, 4.0 GB free"]


def test_several_devices_are_offered_below_the_fastest(qtbot, field, engine):
    list_devices(qtbot, engine, field, FAST, SMALL, PROCESSOR)
    assert titles(field) == [
        "Fastest available",
        "Big card, 78.0 GB free",
        "Small card, 8.0 GB free",
        "CPU, 2 cores, 4.0 GB free",
    ]
    assert field.currentIndex() == 0


def test_a_device_chosen_by_keyboard_draws_the_next_picture(qtbot, panel, field, engine, studio):
    list_devices(qtbot, engine, field, FAST, SMALL, PROCESSOR)
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.keyClick(field, Qt.Key.Key_Down)
    panel.generate()
    assert {job.request.sampling.device for job in engine.jobs} == {"cuda:1"}
    assert studio.storage.drafts.newest.settings.sampling.device == "cuda:1"
    assert "float32" in field.toolTip()


def test_a_choice_can_be_undone(qtbot, field, engine, window):
    list_devices(qtbot, engine, field, FAST, PROCESSOR)
    qtbot.keyClick(field, Qt.Key.Key_End)
    assert field.currentData() == "cpu"
    window.context.edits.undo()
    assert field.currentIndex() == 0


def test_looking_at_the_list_asks_what_is_free_now(qtbot, panel, field, engine):
    list_devices(qtbot, engine, field, FAST, PROCESSOR)
    asked = engine.questions.count(ListDevices())
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.keyClick(field, Qt.Key.Key_Space)
    assert engine.questions.count(ListDevices()) == asked + 1
    list_devices(qtbot, engine, field, FAST, replace(PROCESSOR, free_bytes=10**9))
    assert field.currentData() == "cuda:0"
    field.hidePopup()


def test_a_device_that_is_gone_is_told(qtbot, field, engine):
    list_devices(qtbot, engine, field, FAST, SMALL, PROCESSOR)
    qtbot.keyClicks(field, "small")
    list_devices(qtbot, engine, field, FAST, replace(PROCESSOR, free_bytes=10**9))
    assert field.currentText() == "cuda:1, not found"
