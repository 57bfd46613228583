import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QSpinBox,
)

from spatialstudio.domain.generation import GenerationCancelled, GenerationStarted
from spatialstudio.domain.run_settings import SeedMode
from spatialstudio.ui.compose.widgets.prompt_editor import PromptEditor
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.run import commands as commands
from spatialstudio.ui.run.generation_panel import GenerationPanel
from tests.ui.by_name import named
from tests.ui.scripted_engine import PROMPT, STEPS

CONTROL, SHIFT, ALT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.AltModifier,
)


@pytest.fixture
def panel(window):
    window.prompt.use_prompt(PROMPT)
    return window.generation


def foot(panel, name):
    buttons = panel.buttons.findChildren(QPushButton)
    return next((each for each in buttons if each.text() == name), None)


def estimate(panel):
    return named(panel.buttons, QLabel, "Estimate").text()


def seeds(engine):
    return [job.request.sampling.seed for job in engine.jobs]


def test_the_models_own_numbers_are_offered_and_changes_reach_the_request(
    qtbot, panel, window, context, engine
):
    steps, width = (named(panel, QSpinBox, name) for name in ("Denoising steps", "Width"))
    assert (steps.value(), width.value(), panel.findChild(QSlider).value()) == (STEPS, 128, 50)
    qtbot.keyClick(width, Qt.Key.Key_Up)
    window.context.edits.undo()
    assert width.value() == 128
    steps.setValue(9)
    qtbot.keyClick(width, Qt.Key.Key_Up)
    again = GenerationPanel(context)  # as at the next start
    qtbot.addWidget(again)
    assert again.settings == panel.settings
    panel.generate()
    request = engine.jobs[0].request
    assert (request.sampling.steps, request.width, request.height) == (9, 136, 128)


def test_strength_zero_draws_one_plain_picture(qtbot, panel, engine):
    qtbot.keyClick(panel.findChild(QSlider), Qt.Key.Key_Home)
    panel.generate()
    assert [job.request.sampling.guidance.strength for job in engine.jobs] == [0.0]


def test_while_it_runs_the_next_one_waits_as_it_was_set(qtbot, panel, engine, studio):
    panel.generate()
    qtbot.waitUntil(lambda: foot(panel, "Add to queue") is not None)
    qtbot.mouseClick(foot(panel, "Add to queue"), Qt.MouseButton.LeftButton)
    assert len(engine.jobs) == 2  # guided and baseline
    (entry,) = studio.queue.waiting
    before = entry.requests
    named(panel, QSpinBox, "Denoising steps").setValue(50)
    assert studio.queue.waiting[0].requests == before


def test_several_pictures_get_separate_seeds(panel, studio):
    panel.use_seed(7)
    named(panel, QComboBox, "Seed of the next picture").setCurrentText("increment")
    named(panel, QSpinBox, "Pictures").setValue(3)
    panel.generate()
    assert [entry.seed for entry in studio.queue.entries] == [7, 8, 9]
    assert panel.settings.sampling.seed == 10


def test_keys_say_where_in_the_queue_it_goes(qtbot, window, panel, studio):
    for seed in (0, 1):
        panel.use_seed(seed)
        panel.generate()
    for seed, modifiers, expected in (
        (7, CONTROL, [1, 7]),
        (8, CONTROL | SHIFT, [8, 1, 7]),
        (9, CONTROL | ALT, [9]),
    ):
        panel.use_seed(seed)
        qtbot.keyClick(window.findChild(PromptEditor), Qt.Key.Key_Return, modifiers)
        assert [entry.seed for entry in studio.queue.waiting] == expected


def test_a_seed_by_chance_is_another_after_each_picture_and_one_key_draws_four(
    qtbot, window, panel, engine, studio
):
    panel.use_seed(7)
    assert panel.settings.seed_mode is SeedMode.RANDOM
    panel.generate()
    assert seeds(engine) == [7, 7]
    assert named(panel, QLineEdit, "Seed").text() != "7"
    before = len(studio.queue.entries)
    qtbot.keyClick(window, Qt.Key.Key_Return, ALT)
    assert len(studio.queue.entries) == before + 4
    assert panel.settings.pictures == 1


def test_a_seed_is_reused_from_the_picture_looked_at(qtbot, window, panel, engine, studio):
    named(panel, QComboBox, "Seed of the next picture").setCurrentText("reuse")
    panel.use_seed(7)
    panel.generate()
    engine.play(engine.jobs[0])
    engine.play(engine.jobs[1])
    qtbot.waitUntil(lambda: not window.context.actions[commands.CANCEL].isEnabled())
    qtbot.waitUntil(lambda: studio.queue.entries[0].run.path is not None)
    panel.use_seed(50)
    studio.session.open(studio.queue.entries[0].run)
    panel._run_id = ""  # as if another picture had been open
    qtbot.waitUntil(lambda: panel.settings.sampling.seed == 7)
    window.context.edits.undo()
    assert panel.settings.sampling.seed == 50


def test_stopping_after_this_holds_the_queue_and_once_more_lets_it_go(
    qtbot, window, panel, engine, studio
):
    panel.generate()
    panel.generate()
    qtbot.keyClick(window.findChild(PromptEditor), Qt.Key.Key_Escape, SHIFT)
    assert studio.queue.is_held
    for job in tuple(engine.jobs):
        engine.play(job)
    qtbot.waitUntil(lambda: studio.queue.running is None)
    assert len(engine.jobs) == 2
    qtbot.keyClick(window.findChild(PromptEditor), Qt.Key.Key_Escape, SHIFT)
    assert len(engine.jobs) == 4


def test_cancelling_is_seen_at_once_and_the_next_one_comes(qtbot, panel, engine):
    panel.generate()
    panel.generate()
    qtbot.waitUntil(foot(panel, "Cancel").isEnabled)
    qtbot.mouseClick(foot(panel, "Cancel"), Qt.MouseButton.LeftButton)
    assert foot(panel, "Cancelling…")
    assert engine.cancelled == [job.job_id for job in engine.jobs]
    for job in tuple(engine.jobs):
        engine.report(GenerationCancelled(request_id=job.job_id, at_step=0))
    qtbot.waitUntil(lambda: len(engine.jobs) == 4)
    qtbot.waitUntil(lambda: foot(panel, "Cancel") is not None)
    assert foot(panel, "Cancel").isEnabled()


def test_the_estimate_follows_what_is_set(qtbot, panel, engine):
    assert estimate(panel).startswith("Time not yet known")
    panel.generate()
    for job in engine.jobs:
        engine.play(job)
    qtbot.waitUntil(lambda: estimate(panel).startswith("About"))
    assert "guided step 1" in estimate(panel)
    qtbot.keyClick(panel.findChild(QSlider), Qt.Key.Key_Home)
    assert "guidance off" in estimate(panel)


def test_without_anything_to_draw_one_is_told_once(qtbot, window, panel, engine):
    told = []
    window.context.toasts.toast_raised.connect(lambda toast: told.append(toast.message))
    window.context.toasts.cleared.connect(told.clear)
    window.prompt.use_prompt("")
    with qtbot.waitSignal(panel.problem_met) as met:
        panel.generate()
    assert met.args[0].hint
    panel.generate()
    assert len(told) == 1
    assert engine.jobs == []


def test_a_corrected_prompt_is_drawn_at_once(window, panel, engine):
    window.prompt.use_prompt("")
    window.context.studio.use_prompt(PROMPT)  # its events are still on their way
    panel.generate()
    assert engine.jobs[-1].request.scene.prompt.text == PROMPT


def test_settings_can_be_saved_and_opened(qtbot, panel, window, tmp_path, monkeypatch):
    path = tmp_path / "mine.json"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    steps = named(panel, QSpinBox, "Denoising steps")
    steps.setValue(9)
    window.context.actions[commands.SAVE_SETTINGS].trigger()
    steps.setValue(20)
    window.context.actions[commands.OPEN_SETTINGS].trigger()
    qtbot.waitUntil(lambda: steps.value() == 9)
    window.context.edits.undo()
    assert steps.value() == 20
    path.write_text("[]")
    with qtbot.waitSignal(panel.problem_met):
        window.context.actions[commands.OPEN_SETTINGS].trigger()
    assert steps.value() == 20


def test_a_pictures_settings_can_be_taken_over(qtbot, panel, window, engine, studio):
    panel.use_seed(7)
    named(panel, QSpinBox, "Denoising steps").setValue(9)
    panel.generate()
    window.prompt.use_prompt("a cat above a dog")
    named(panel, QSpinBox, "Denoising steps").setValue(20)
    qtbot.keyClick(window, Qt.Key.Key_U, CONTROL | SHIFT)
    assert (panel.settings.sampling.seed, panel.settings.sampling.steps) == (7, 9)
    assert studio.session.scene.prompt.text == PROMPT


def test_ctrl_b_switches_the_baseline_also_in_the_simple_window_that_has_little_but_the_slider(
    qtbot, window, panel
):
    action = window.context.actions[commands.BASELINE]
    assert (panel.settings.with_baseline, action.isChecked()) == (True, True)
    qtbot.keyClick(window, Qt.Key.Key_B, CONTROL)
    assert (panel.settings.with_baseline, action.isChecked()) == (False, False)
    window.context.edits.undo()
    assert (panel.settings.with_baseline, action.isChecked()) == (True, True)
    window.use_density(Density.SIMPLE)
    QApplication.processEvents()
    assert panel.findChild(QSlider).isVisible()
    assert not named(panel, QComboBox, "Model").isVisible()
    qtbot.keyClick(window, Qt.Key.Key_B, CONTROL)
    assert window.context.toasts.earlier[-1].message == "No baseline is generated."
    window.use_density(Density.FULL)
    assert named(panel, QComboBox, "Model").isVisible()


def test_what_is_not_wanted_reaches_the_request_and_can_be_undone(qtbot, window, panel, engine):
    field = named(panel, QLineEdit, "Negative prompt")
    field.setFocus()
    qtbot.keyClicks(field, "fog, rain")
    panel.generate()
    assert engine.jobs[0].request.scene.prompt.negative == "fog, rain"
    window.context.edits.undo()
    assert field.text() == ""


def test_layers_chosen_elsewhere_guide_the_next_picture(panel, window, engine):
    asked = window.context.window_signals.guidance_layers_asked
    asked.emit(frozenset({"up", "mid"}))
    window.context.edits.undo()
    assert panel.settings.sampling.guidance.layers == ()
    asked.emit(frozenset({"up", "mid"}))
    panel.generate()
    assert engine.jobs[0].request.sampling.guidance.layers == ("mid", "up")


def test_a_notice_says_that_older_runs_lost_their_layers(window):
    started = GenerationStarted(
        request_id="a", total_steps=1, token_spans=(), device="cpu", removed_runs=2
    )
    window.panel(GenerationPanel).handle(started)
    assert window.context.toasts.earlier[-1].message == (
        "The recorded layers of the 2 oldest runs were removed: their cache is limited to 8.6 GB."
    )
