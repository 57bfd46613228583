"""A sweep is asked for, estimated, queued and cancelled."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QLabel, QLineEdit, QPlainTextEdit, QPushButton

from spatialstudio.application.jobs.messages import MemoryEstimated
from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import MemoryEstimate
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


def test_the_size_of_recorded_layers_is_shown_where_a_sweep_is_confirmed(window, dialog, studio):
    dialog.reject()
    window.context.window_signals.capture_asked.emit(AttentionDetail.EVERYTHING)
    (request, *_) = studio.requests(studio.storage.drafts.newest.settings)
    window.context.actions[commands.SWEEP].trigger()
    dialog = window.findChildren(SweepDialog)[-1]
    assert "on disk" not in told(dialog)
    for disk, size in (
        (10**6, "1 MB on disk for the largest run, 12 MB for all"),
        (10**9, "1.0 GB on disk for the largest run"),
    ):
        memory = MemoryEstimate(
            weights_bytes=1, guiding_bytes=1, denoising_bytes=1, decoding_bytes=1, disk_bytes=disk
        )
        studio.apply_event(MemoryEstimated(request=request, memory=memory))
        window.generation.handle(MemoryEstimated(request=request, memory=memory))
        assert f"Recorded maps: all layers and heads. About {size}" in told(dialog)
    assert "the oldest runs will lose their layers" in told(dialog)


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


def write_prompts(dialog, *lines):
    named(dialog, QPlainTextEdit, "Prompts, one per line").setPlainText("\n".join(lines))


def test_each_prompt_of_a_study_is_a_sweep_over_the_same_values(qtbot, dialog, studio):
    write(qtbot, dialog, "columns", "0, 5, 10, 20")
    write(qtbot, dialog, "rows", "0-4")
    others = ("a sun above a house", "a boat below a bird")
    write_prompts(dialog, PROMPT, "", *others, f" {others[0]} ")
    qtbot.waitUntil(lambda: draw_button(dialog).text() == "Generate 60 pictures")
    qtbot.mouseClick(draw_button(dialog), Qt.MouseButton.LeftButton)
    requests = [entry.requests[0] for entry in studio.queue.entries]
    prompts = [each.scene.prompt.text for each in requests]
    assert [prompts.count(text) for text in (PROMPT, *others)] == [20, 20, 20]
    assert len({(each.sweep.sweep_id, each.scene.prompt.text) for each in requests}) == 3
    assert len({each.sweep.sweep_id for each in requests}) == 3
    assert studio.session.scene.prompt.text == PROMPT


def test_a_prompt_that_cannot_be_read_is_explained(qtbot, dialog):
    write_prompts(dialog, PROMPT, "x" * 100_000)
    qtbot.waitUntil(lambda: not draw_button(dialog).isEnabled())
    assert told(dialog)
    write_prompts(dialog, *(f"a cat to the left of a dog, {n}" for n in range(40)))
    qtbot.waitUntil(lambda: "too large" in told(dialog))


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
