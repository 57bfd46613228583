"""A sweep is asked for, estimated, queued and cancelled."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPushButton

from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.domain.sweep import SweepField
from spatialstudio.ui.run import commands as commands
from spatialstudio.ui.run.sweep_dialog import SweepDialog
from tests.ui.by_name import named
from tests.ui.scripted_engine import PROMPT, STICKERS


@pytest.fixture
def dialog(window):
    window.prompt.use_prompt(PROMPT)
    window.context.actions[commands.SWEEP].trigger()
    return window.findChild(SweepDialog)


def choose(dialog, axis, field):
    box = named(dialog, QComboBox, axis)
    box.setCurrentIndex(box.findText(field))


def write(qtbot, dialog, axis, text):
    line = named(dialog, QLineEdit, f"Values of the {axis}")
    line.selectAll()
    qtbot.keyClicks(line, text) if text else qtbot.keyClick(line, Qt.Key.Key_Delete)


def draw_button(dialog):
    return next(each for each in dialog.findChildren(QPushButton) if "Generate" in each.text())


def told(dialog):
    return named(dialog, QLabel, "Estimate").text()


def test_it_begins_with_values_around_those_that_are_set(dialog):
    strength = usual_settings(STICKERS).sampling.guidance.strength
    values = named(dialog, QLineEdit, "Values of the columns").text()
    assert values == f"0, {strength / 2:g}, {strength:g}, {2 * strength:g}"
    assert draw_button(dialog).text() == "Generate 12 pictures"
    assert "Time not yet known" in told(dialog)
    assert "at least" in told(dialog)
    choose(dialog, "Rows", "Updates")
    assert named(dialog, QLineEdit, "Values of the rows").text() == "1, 2, 4"
    choose(dialog, "Rows", "None")
    assert draw_button(dialog).text() == "Generate 4 pictures"
    assert not named(dialog, QLineEdit, "Values of the rows").isEnabled()


def test_values_that_cannot_be_read_are_explained(qtbot, dialog):
    for text in ("", "many", "1 to"):
        write(qtbot, dialog, "columns", "1")
        assert draw_button(dialog).isEnabled()
        write(qtbot, dialog, "columns", text)
        assert not draw_button(dialog).isEnabled()
        assert told(dialog)


def test_values_that_cannot_be_drawn_are_explained(qtbot, dialog):
    choose(dialog, "Columns", "Width")
    write(qtbot, dialog, "columns", "100")
    assert "multiple of 8" in told(dialog)
    write(qtbot, dialog, "columns", "64, 128")
    assert draw_button(dialog).text() == "Generate 6 pictures"


def test_every_picture_is_queued_with_its_place(qtbot, dialog, studio, engine):
    write(qtbot, dialog, "columns", "0, 5")
    choose(dialog, "Rows", "Seed")
    write(qtbot, dialog, "rows", "7, 8, 9")
    qtbot.mouseClick(draw_button(dialog), Qt.MouseButton.LeftButton)
    requests = [entry.requests[0] for entry in studio.queue.entries]
    assert [(each.sampling.guidance.strength, each.sampling.seed) for each in requests] == [
        *((0, 7), (5, 7)),
        *((0, 8), (5, 8)),
        *((0, 9), (5, 9)),
    ]
    assert all(entry.baseline is None for entry in studio.queue.entries)
    assert requests[0].sweep.row.field is SweepField.SEED
    assert len(engine.jobs) == 1


def test_a_whole_sweep_is_cancelled_at_once(qtbot, window, dialog, studio, engine):
    cancel = window.context.actions[commands.CANCEL_SWEEP]
    before = window.generation.settings
    assert not cancel.isEnabled()
    qtbot.mouseClick(draw_button(dialog), Qt.MouseButton.LeftButton)
    assert window.generation.settings == before
    qtbot.waitUntil(cancel.isEnabled)
    cancel.trigger()
    assert engine.cancelled == [engine.jobs[0].job_id]
    assert studio.queue.waiting == ()
