"""From a failed verdict to a fixed picture, with an engine that does what the test says."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics

from spatialstudio.application.jobs.messages import PictureJudged
from spatialstudio.domain.generation import GenerationCancelled, GenerationFinished
from spatialstudio.domain.verdict import AbstentionReason, Outcome
from spatialstudio.ui.framework.commands import REDO, UNDO
from spatialstudio.ui.refine import commands
from spatialstudio.ui.refine.fix_dialog import FixDialog
from spatialstudio.ui.refine.fix_panel import FixPanel
from spatialstudio.ui.refine.fix_presenter import success_in_words
from spatialstudio.ui.run.widgets.result_strip import ROLE
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.theme.theme import SMALL, font
from spatialstudio.ui.widgets.dock_column import DockRoom
from tests.ui.scripted_engine import PROMPT, evaluation_of, picture_of


def play(engine, outcome, reason=None):
    """Draw the newest job to its end, with a verdict."""
    job = engine.jobs[-1]
    engine.play(job, steps=job.request.sampling.steps)
    picture = picture_of(job.request.sampling.seed)
    engine.report(
        GenerationFinished(
            request_id=job.request.id, image=picture, seconds=2.5, peak_memory_bytes=1
        ),
        PictureJudged(
            request_id=job.request.id,
            evaluation=evaluation_of(job.request.scene, picture, outcome, reason),
        ),
    )


@pytest.fixture
def failed(qtbot, window, studio, engine):
    """The window after a picture with a failed verdict."""
    window.prompt.use_prompt(PROMPT)
    studio.queue.add(studio.new_request(seed=1, guided=False))
    play(engine, Outcome.FAIL)
    qtbot.waitUntil(lambda: studio.session.run.path is not None)
    return window


@pytest.fixture
def panel(failed):
    return failed.findChild(FixPanel)


@pytest.fixture
def confirm(qtbot, failed, panel, studio):
    """Press the button on the verdict, and confirm the dialog."""

    def press():
        button = panel._buttons[commands.FIX_IT]
        qtbot.waitUntil(button.isVisible)
        button.click()
        dialog = failed.findChild(FixDialog)
        dialog._begin.click()
        qtbot.waitUntil(lambda: studio.fixing.is_running)

    return press


def strip(panel):
    found = [panel._strip.item(place).data(ROLE) for place in range(panel._strip.count())]
    return [(each.caption, each.outcomes[0]) for each in found]


def test_a_picture_that_passes_is_not_offered_to_be_fixed(qtbot, drawn):
    panel = drawn.findChild(FixPanel)
    qtbot.waitUntil(lambda: not panel._buttons[commands.FIX_IT].isVisible())
    assert not panel._why.isVisible()


def test_the_confirmation_shows_reason_remedies_and_budget(qtbot, failed, panel, studio):
    qtbot.waitUntil(lambda: "wrong place" in panel._why.text())
    failed.context.actions[commands.FIX_IT].trigger()
    dialog = failed.findChild(FixDialog)
    words = [label.text() for label in dialog._remedies.findChildren(type(dialog._cost))]
    steps = studio.fixing.plan(studio.session.run).steps
    assert [word for word in words if word in map(success_in_words, steps)] == [
        success_in_words(step) for step in steps
    ]
    assert words.count("1.") == 1
    assert "6." in words
    dialog._budget.setValue(2)
    assert "at most " in dialog._cost.text()
    dialog.reject()


def test_six_remedies_are_shown_without_a_scroll_bar_and_large_text_scrolls(qtbot, failed, panel):
    qtbot.waitUntil(failed.context.actions[commands.FIX_IT].isEnabled)
    failed.context.actions[commands.FIX_IT].trigger()
    dialog = failed.findChild(FixDialog)
    bar = dialog.findChild(DockRoom).verticalScrollBar()
    qtbot.waitUntil(lambda: dialog.isVisible() and bar.maximum() == 0)
    dialog.resize(dialog.minimumSizeHint())
    qtbot.waitUntil(lambda: bar.maximum() > 0)
    dialog.reject()


def test_one_click_and_one_confirmation_fix_a_picture(
    qtbot, failed, panel, studio, engine, confirm
):
    start = studio.session.run
    confirm()
    play(engine, Outcome.FAIL)
    qtbot.waitUntil(lambda: len(studio.fixing.fix.attempts) == 1)
    qtbot.waitUntil(lambda: "attempt 2 of at most 6" in panel._state.text())
    play(engine, Outcome.PASS)
    qtbot.waitUntil(lambda: studio.fixing.fix.is_fixed and not studio.fixing.is_running)
    qtbot.waitUntil(lambda: "Fixed by attempt 2" in panel._state.text())
    fixed = studio.fixing.fix.best
    assert [outcome for _, outcome in strip(panel)] == [Outcome.FAIL, Outcome.FAIL, Outcome.PASS]
    qtbot.waitUntil(lambda: studio.session.run.id == fixed.request_id)

    failed.context.actions[UNDO].trigger()
    qtbot.waitUntil(lambda: studio.session.run.id == start.id)
    assert Path(fixed.picture).is_file()


def test_ctrl_z_takes_a_fix_back_and_redo_opens_it_again(
    qtbot, failed, panel, studio, engine, confirm
):
    start = studio.session.run
    confirm()
    play(engine, Outcome.PASS)
    qtbot.waitUntil(lambda: failed.context.edits.undoText() == "fix the picture")
    fixed = studio.fixing.fix.best
    qtbot.waitUntil(lambda: studio.session.run.id == fixed.request_id)

    failed.activateWindow()  # no window manager returns the focus of the closed dialog
    qtbot.waitUntil(failed.isActiveWindow)
    qtbot.keyClick(failed, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: studio.session.run.id == start.id)

    failed.context.actions[REDO].trigger()
    qtbot.waitUntil(lambda: studio.session.run.id == fixed.request_id)


def test_the_heading_names_the_reason_of_the_open_picture_and_of_the_running_attempt(
    qtbot, failed, panel, studio, engine, confirm
):
    qtbot.waitUntil(lambda: "wrong place" in panel._why.text())
    confirm()
    play(engine, Outcome.UNDECIDABLE, AbstentionReason.AMBIGUOUS_OBJECT)
    qtbot.waitUntil(lambda: "more than once" in panel._why.text())
    play(engine, Outcome.PASS)
    qtbot.waitUntil(lambda: studio.fixing.fix.is_fixed)
    qtbot.waitUntil(lambda: studio.session.run.id == studio.fixing.fix.best.request_id)
    qtbot.waitUntil(lambda: not panel._why.isVisible())

    panel._open_attempt(studio.fixing.fix.attempts[0].request_id)
    qtbot.waitUntil(lambda: "more than once" in panel._why.text() and panel._why.isVisible())


def test_captions_of_attempts_are_shown_whole(qtbot, failed, panel, studio, engine, confirm):
    before = panel._strip.sizeHint().height()
    confirm()
    for attempt in (1, 2):
        play(engine, Outcome.FAIL)
        qtbot.waitUntil(lambda: panel._strip.count() == 1 + attempt)  # noqa: B023
    caption = max((name for name, _ in strip(panel)), key=len)
    assert "other noise" in caption
    metrics = QFontMetrics(font(SMALL))
    lines = panel._strip._painter.caption_height / metrics.lineSpacing()
    assert lines * panel._strip.sizeHintForColumn(0) >= metrics.horizontalAdvance(caption)
    assert panel._strip.sizeHint().height() > before


def test_the_start_is_compared_with_an_attempt(qtbot, failed, panel, studio, engine, confirm):
    start = studio.session.run
    confirm()
    play(engine, Outcome.PASS)
    compare = failed.context.actions[commands.COMPARE_WITH_START]
    qtbot.waitUntil(compare.isEnabled)
    compare.trigger()
    qtbot.waitUntil(lambda: studio.session.baseline is not None)
    assert studio.session.baseline.id == start.id
    pictures = failed.stage.findChildren(PictureView)
    qtbot.waitUntil(lambda: [each._scene.title for each in pictures] == ["Fixed", "Start"])


def test_fixing_is_stopped_and_continued(qtbot, failed, panel, studio, engine, confirm):
    confirm()
    play(engine, Outcome.FAIL)
    stop = failed.context.actions[commands.STOP_FIXING]
    qtbot.waitUntil(lambda: len(engine.jobs) == 3 and stop.isEnabled())
    stop.trigger()
    assert engine.jobs[-1].request.id in engine.cancelled
    engine.report(GenerationCancelled(request_id=engine.jobs[-1].request.id, at_step=0))
    go_on = panel._buttons[commands.CONTINUE_FIXING]
    qtbot.waitUntil(go_on.isVisible)
    assert "Stopped after 1 of 6" in panel._state.text()
    go_on.click()
    qtbot.waitUntil(lambda: len(engine.jobs) == 4)
    play(engine, Outcome.PASS)
    qtbot.waitUntil(lambda: "Fixed by attempt 2" in panel._state.text())


def test_an_attempt_is_opened_from_the_strip(qtbot, failed, panel, studio, engine, confirm):
    start = studio.session.run
    confirm()
    play(engine, Outcome.PASS)
    qtbot.waitUntil(lambda: panel._strip.count() == 2)
    panel._strip.result_picked.emit(start.id)
    qtbot.waitUntil(lambda: studio.session.run.id == start.id)
    qtbot.waitUntil(lambda: panel._said.text().startswith("Start: FAIL"))
