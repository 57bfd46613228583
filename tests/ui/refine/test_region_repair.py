"""A region is drawn by mouse, keys or numbers, and redrawn in the queue."""

import pytest
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QImage

from spatialstudio.application.jobs.messages import PictureJudged
from spatialstudio.domain.generation import GenerationFinished
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.refine import commands
from spatialstudio.ui.refine.fix_panel import FixPanel
from spatialstudio.ui.refine.repair_dialog import RepairDialog
from spatialstudio.ui.refine.widgets.region_picture import RegionPicture
from tests.ui.scripted_engine import PROMPT, evaluation_of, picture_of

LEAST = 0.1


@pytest.fixture
def picture(qtbot, context):
    """A widget that shows what it emits, as its dialog does."""
    image = QImage(200, 100, QImage.Format.Format_RGB32)
    made = RegionPicture(context.theme, image, LEAST)
    qtbot.addWidget(made)
    made.resize(404, 404)
    made.region_picked.connect(lambda region: made.show_regions(region, ()))
    made.show_regions(QRectF(0.2, 0.2, 0.4, 0.4), ())
    made.show()
    return made


def at(picture, x, y):
    frame = picture.frame()
    place = frame.topLeft() + QPointF(x * frame.width(), y * frame.height())
    return place.toPoint()


def drag(qtbot, picture, start, stop):
    left = Qt.MouseButton.LeftButton
    qtbot.mousePress(picture, left, pos=at(picture, *start))
    for share in (0.5, 1):
        between = [a + share * (b - a) for a, b in zip(start, stop, strict=True)]
        qtbot.mouseMove(picture, at(picture, *between))
    qtbot.mouseRelease(picture, left, pos=at(picture, *stop))


def shown(picture):
    return pytest.approx(picture._region.getRect(), abs=0.01)


def test_the_picture_keeps_its_shape(picture):
    assert picture.frame().width() == pytest.approx(2 * picture.frame().height())


def test_a_drag_from_outside_draws_a_region(qtbot, picture):
    drag(qtbot, picture, (0.9, 0.95), (0.7, 0.7))
    assert shown(picture) == (0.7, 0.7, 0.2, 0.25)


def test_a_drag_inside_moves_the_region_within_the_picture(qtbot, picture):
    drag(qtbot, picture, (0.4, 0.4), (0.5, 0.3))
    assert shown(picture) == (0.3, 0.1, 0.4, 0.4)
    drag(qtbot, picture, (0.5, 0.3), (0.95, 0.9))
    assert shown(picture) == (0.6, 0.6, 0.4, 0.4)


def test_a_drag_of_a_corner_keeps_the_opposite_one(qtbot, picture):
    drag(qtbot, picture, (0.6, 0.6), (0.8, 0.7))
    assert shown(picture) == (0.2, 0.2, 0.6, 0.5)


def test_a_region_is_never_too_small(qtbot, picture):
    drag(qtbot, picture, (0.9, 0.9), (0.905, 0.905))
    assert shown(picture) == (0.9, 0.9, LEAST, LEAST)


def test_arrows_move_the_region_and_with_shift_change_its_size(qtbot, picture):
    keys, held = Qt.Key, Qt.KeyboardModifier
    qtbot.keyClick(picture, keys.Key_Right)
    qtbot.keyClick(picture, keys.Key_Up, held.ControlModifier)
    assert shown(picture) == (0.21, 0.1, 0.4, 0.4)
    qtbot.keyClick(picture, keys.Key_Left, held.ShiftModifier)
    qtbot.keyClick(picture, keys.Key_Down, held.ShiftModifier | held.ControlModifier)
    assert shown(picture) == (0.21, 0.1, 0.39, 0.5)
    assert "width 39%" in picture.accessibleDescription()


@pytest.fixture
def dialog(qtbot, window, studio, engine):
    """The dialog for a picture with a failed verdict."""
    window.prompt.use_prompt(PROMPT)
    studio.queue.add(studio.new_request(seed=1, guided=False))
    job = engine.jobs[-1]
    engine.play(job, steps=job.request.sampling.steps)
    image = picture_of(1)
    engine.report(
        GenerationFinished(
            request_id=job.request.id, image=image, seconds=1.0, peak_memory_bytes=1
        ),
        PictureJudged(
            request_id=job.request.id,
            evaluation=evaluation_of(job.request.scene, image, Outcome.FAIL),
        ),
    )
    qtbot.waitUntil(lambda: studio.session.run.path is not None)
    panel = window.findChild(FixPanel)
    button = panel._buttons[commands.REDRAW_REGION]
    qtbot.waitUntil(button.isVisible)
    button.click()
    return window.findChild(RepairDialog)


def test_the_dialog_begins_with_the_region_that_the_verdicts_suggest(dialog, studio):
    plan = studio.storage.repairs.plan(studio.session.run)
    assert dialog.object_id == plan.mention_id
    assert dialog.regions == plan.regions
    dialog._erases.setChecked(False)
    assert dialog.regions == plan.regions[:1]


def test_another_object_has_another_region(dialog, studio):
    dialog._object.setCurrentIndex(1 - dialog._object.currentIndex())
    plan = studio.storage.repairs.plan(studio.session.run, dialog.object_id)
    assert dialog.regions == plan.regions


def test_a_region_of_numbers_is_redrawn_in_the_queue(dialog, studio, engine):
    start, mention_id = studio.session.run, dialog.object_id
    dialog._erases.setChecked(False)
    for box, value in zip(dialog._sides, (60, 10, 30, 80), strict=True):
        box.setValue(value)
    drawn = dialog._picture._region.getRect()
    dialog._begin.click()

    request = engine.jobs[-1].request
    (region,) = request.repair.regions
    found = (region.x, region.y, region.width, region.height)
    assert found == pytest.approx(drawn)
    assert found == pytest.approx((0.6, 0.1, 0.3, 0.8))
    assert request.repair.start == start.id
    assert request.sampling.seed == start.request.sampling.seed
    (target,) = request.sampling.guidance.targets
    assert (target.mention_id, target.x, target.y) == (mention_id, 0.75, 0.5)


def test_other_noise_has_another_seed(dialog, engine):
    dialog._noise.setChecked(True)
    dialog._begin.click()
    assert engine.jobs[-1].request.sampling.seed != 1


def test_an_imported_picture_or_none_has_no_region(window):
    window.context.actions[commands.REDRAW_REGION].trigger()
    assert not window.context.actions[commands.REDRAW_REGION].isEnabled()
    assert window.findChild(RepairDialog) is None
