from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QRectF, Qt

from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.inspect.widgets.replay_bar import StepScrubber
from spatialstudio.ui.stage.widgets.empty_stage import EmptyStage
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.widgets.picture_region import WHOLE
from tests.ui.event_count import EventCount
from tests.ui.judged_runs import CAR, DOG, judged_run

PART = QRectF(0.25, 0.25, 0.5, 0.5)
STILL = 20
"""Looks in a row at which nothing must have been painted."""


@pytest.fixture
def views(qtbot, drawn):
    """The guided picture and the baseline."""
    views = drawn.stage.findChildren(PictureView)
    qtbot.waitUntil(lambda: all(view.isVisible() for view in views))
    return views


def test_a_picture_that_stays_the_same_is_not_painted_while_the_other_moves(qtbot, views, studio):
    guided, beside = (EventCount(view, QEvent.Type.Paint) for view in views)
    counts = []

    def rests():
        counts.append((guided.count, beside.count))
        return len(counts) > STILL and len(set(counts[-STILL:])) == 1

    qtbot.waitUntil(rests)
    session = studio.session
    session.set_second_run(replace(session.baseline, image=None, steps=session.baseline.steps[:1]))
    qtbot.waitUntil(lambda: beside.count > counts[-1][1])
    assert guided.count == counts[-1][0]


def test_before_the_first_run_the_stage_says_what_to_do(window):
    assert window.stage.findChild(EmptyStage).isVisible()


def test_guided_and_baseline_stand_side_by_side(qtbot, views):
    assert [view.accessibleName() for view in views] == ["Picture", "Second picture"]
    qtbot.waitUntil(lambda: views[0].accessibleDescription().startswith("Guided"))


def test_both_pictures_zoom_together(views):
    views[0].view_picked.emit(PART)
    assert [view.view for view in views] == [PART, PART]


def test_z_fits_both_pictures(qtbot, drawn, views):
    views[1].view_picked.emit(PART)
    qtbot.keyClick(drawn, Qt.Key.Key_Z)
    assert [view.view for view in views] == [WHOLE, WHOLE]


def test_arrows_on_the_picture_go_through_the_steps(qtbot, drawn, views, studio):
    last = studio.session.step
    qtbot.waitUntil(lambda: drawn.findChild(StepScrubber).value() == last)
    views[0].setFocus()
    qtbot.keyClick(views[0], Qt.Key.Key_Left)
    assert studio.session.step == last - 1


def test_evaluate_shows_the_finished_picture_and_gives_the_step_back(qtbot, drawn, views, studio):
    studio.session.pick_step(1)
    qtbot.waitUntil(lambda: "step 2 of" in views[0].accessibleDescription())
    drawn.context.actions[framework_commands.EVALUATE_WORKSPACE].trigger()
    qtbot.waitUntil(lambda: "step 2 of" not in views[0].accessibleDescription())
    assert studio.session.step == 1
    drawn.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
    qtbot.waitUntil(lambda: "step 2 of" in views[0].accessibleDescription())


def test_the_first_picture_takes_over_the_keyboard_from_the_examples(qtbot, window, studio):
    window.stage.take_focus()
    assert window.stage.findChild(EmptyStage).isAncestorOf(window.focusWidget())
    studio.session.open(judged_run(DOG, CAR))
    qtbot.waitUntil(lambda: isinstance(window.focusWidget(), PictureView))


def test_a_prompt_that_is_being_written_keeps_the_keyboard(qtbot, window, studio):
    window.prompt.setFocus()
    writing = window.focusWidget()
    studio.session.open(judged_run(DOG, CAR))
    qtbot.waitUntil(lambda: window.stage.findChild(PictureView).isVisible())
    assert window.focusWidget() is writing
