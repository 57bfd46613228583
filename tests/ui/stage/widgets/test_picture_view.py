import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from spatialstudio.domain.scene import Axis
from spatialstudio.domain.verdict import Box
from spatialstudio.ui.stage.widgets.marginal_plot import MarginalPlot
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.picture_layers import (
    BoxLayer,
    Crossing,
    MapLayer,
    MaskLayer,
    PictureScene,
    Profile,
)
from spatialstudio.ui.widgets.picture_region import WHOLE
from tests.ui.scripted_engine import blob

SIDE = 64
PICTURE = np.full((SIDE, SIDE, 3), 255, np.uint8)
LEFT_HALF = np.arange(SIDE) < SIDE // 2


@pytest.fixture
def view(qtbot, theme):
    view = PictureView(theme, "Picture")
    qtbot.addWidget(view)
    view.resize(400, 400)
    view.show_scene(PictureScene(picture=PICTURE))
    view.show()
    return view


def colour_at(view, x, y):
    """Return the colour at a share of the picture."""
    frame = view.frame()
    point = QPointF(frame.left() + x * frame.width(), frame.top() + y * frame.height())
    return view.grab().toImage().pixelColor(point.toPoint())


def turn_wheel(view, notches):
    place = view.frame().center()
    event = QWheelEvent(
        place,
        view.mapToGlobal(place),
        QPoint(),
        QPoint(0, 120 * notches),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    view.wheelEvent(event)


def test_a_remark_without_room_gives_way_to_its_brief_form(view):
    view.show_scene(PictureScene(picture=PICTURE, title="Guided", remark="step 7"))
    brief = view.grab().toImage()
    both = PictureScene(
        picture=PICTURE, title="Guided", remark="step 7, " + "after " * 40, brief_remark="step 7"
    )
    view.show_scene(both)
    assert view.grab().toImage() == brief


@pytest.mark.parametrize("side", [160, 400, 1200])
def test_marginals_leave_most_of_the_room_to_the_picture(view, side):
    half = np.linspace(0, 1, 8)
    crossings = tuple(
        Crossing(axis=axis, hues=(0, 1), rising=half, falling=1 - half, place=0.5, share=0.5)
        for axis in (Axis.X, Axis.Y)
    )
    view.show_scene(PictureScene(picture=PICTURE, crossings=crossings))
    view.resize(side, side)
    assert view.frame().height() >= min(0.8 * side - 2 * em(), side - 8 * em())
    view.resize(3 * side, side)
    assert view.frame().height() >= 0.8 * side - 2 * em()


def test_the_picture_is_seen(view):
    assert colour_at(view, 0.5, 0.5).lightness() == 255


def test_a_wide_picture_keeps_its_shape(view):
    view.show_scene(PictureScene(picture=np.zeros((32, 64, 3), np.uint8)))
    frame = view.frame()
    assert frame.width() / frame.height() == pytest.approx(2, rel=0.02)


def test_a_map_tints_where_it_is_high(view):
    view.show_scene(PictureScene(picture=PICTURE, maps=(MapLayer(0, blob(0.25, 0.5)),)))
    assert colour_at(view, 0.25, 0.5).saturation() > 100
    assert colour_at(view, 0.9, 0.5).saturation() < 20


def test_a_mask_tints_its_pixels_only(view):
    mask = MaskLayer(0, np.broadcast_to(LEFT_HALF, (SIDE, SIDE)).copy())
    view.show_scene(PictureScene(picture=PICTURE, masks=(mask,)))
    assert colour_at(view, 0.2, 0.5).saturation() > 10
    assert colour_at(view, 0.8, 0.5).saturation() == 0


def test_a_box_is_drawn_in_its_hue(view, theme):
    box = BoxLayer(1, Box(left=16, top=16, right=48, bottom=48), "car 0.90")
    view.show_scene(PictureScene(picture=PICTURE, boxes=(box,)))
    image = view.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(400) for y in range(400)}
    assert theme.mention(1).name() in seen


def test_profiles_lie_outside_the_picture_on_its_axes(view):
    frame = view.frame()
    below = QPointF(frame.left() + 0.25 * frame.width(), frame.bottom() + 12).toPoint()
    before = view.grab().toImage().pixelColor(below)
    weights = blob(0.25, 0.5)
    profile = Profile(0, weights.sum(0) / weights.sum(), weights.sum(1) / weights.sum())
    view.show_scene(PictureScene(picture=PICTURE, profiles=(profile,)))
    assert view.grab().toImage().pixelColor(below) != before


CROSSINGS = tuple(
    Crossing(
        axis=axis,
        hues=(0, 1),
        rising=np.linspace(0, 1, 9, dtype=np.float32),
        falling=np.linspace(1, 0, 9, dtype=np.float32),
        place=0.5,
        share=0.5,
    )
    for axis in (Axis.X, Axis.Y)
)


@pytest.fixture
def marginals(view):
    """The plots under and beside a picture: the dog is left and above, the car right and below."""
    near, far = np.float32([0.7, 0.2, 0.1, 0]), np.float32([0, 0.1, 0.2, 0.7])
    profiles = Profile(0, near, near, name="dog"), Profile(1, far, far, name="car")
    view.show_scene(PictureScene(picture=PICTURE, profiles=profiles, crossings=CROSSINGS))
    plots = view.findChildren(MarginalPlot)
    assert all(plot.isVisible() for plot in plots)
    return plots


def test_a_view_without_marginals_has_no_plots(view):
    assert not view.findChildren(MarginalPlot)


def test_marginals_lie_on_the_pictures_axes(view, marginals):
    under, beside = marginals
    frame = view.frame()
    for share in (0.0, 0.25, 1.0):
        x = under.mapTo(view, under.position_of(share)).x()
        y = beside.mapTo(view, beside.position_of(share)).y()
        assert x == pytest.approx(frame.left() + share * frame.width(), abs=1)
        assert y == pytest.approx(frame.top() + share * frame.height(), abs=1)


def test_zooming_the_picture_zooms_its_marginals(view, marginals):
    view.show_view(QRectF(0.25, 0.5, 0.5, 0.5))
    under, beside = marginals
    assert (under.range.first, under.range.last) == (0.25, 0.75)
    assert (beside.range.first, beside.range.last) == (0.5, 1.0)


def test_the_keys_of_a_marginal_zoom_the_picture_with_it(qtbot, view, marginals):
    _, beside = marginals
    with qtbot.waitSignal(view.view_picked) as picked:
        qtbot.keyClick(beside, Qt.Key.Key_Plus)
    assert picked.args[0].height() == beside.range.length < 1
    with qtbot.waitSignal(view.view_picked) as picked:
        qtbot.keyClick(beside, Qt.Key.Key_Home)
    assert picked.args == [WHOLE]


def test_a_marginal_reads_each_words_share(qtbot, marginals):
    under, _ = marginals
    under.read(0.1)
    said = under.accessibleDescription().splitlines()
    assert said[:3] == ["12% from the left edge", "dog: 70.00%", "car: 0.00%"]
    assert "dog: 12% before this position" in said[3]
    under.setFocus()
    qtbot.keyClick(under, Qt.Key.Key_Right)
    assert under.place == pytest.approx(0.375)


def test_a_marginal_says_the_share_at_the_crossing(marginals):
    for plot in marginals:
        texts = [each.text() for each in plot.surface.scene().items() if hasattr(each, "text")]
        assert texts == ["50%"]


@pytest.mark.parametrize("side", [110, 400])
def test_the_share_at_the_crossing_stays_within_its_band(view, marginals, side):
    view.resize(side, side)
    for plot in marginals:
        (text,) = (each for each in plot.surface.scene().items() if hasattr(each, "text"))
        area = plot.rows[0].area.adjusted(-1, -1, 1, 1)
        assert area.contains(text.sceneBoundingRect().center())
        assert text.sceneBoundingRect().width() <= area.width()


def test_the_values_of_a_marginal_can_be_saved(marginals):
    table = marginals[1].table()
    assert table.columns == ("place", "dog", "car")
    assert [round(row[1], 3) for row in table.rows] == [0.7, 0.2, 0.1, 0.0]


def test_a_wish_to_save_a_marginal_is_passed_on(qtbot, view, marginals):
    with qtbot.waitSignal(view.save_asked) as asked:
        marginals[0].actions()[0].trigger()
    assert asked.args == [marginals[0]]


def test_marginals_go_with_their_maps(view, marginals):
    view.show_scene(PictureScene(picture=PICTURE))
    assert not any(plot.isVisible() for plot in marginals)


def test_the_wheel_over_a_marginal_zooms_the_picture(view, marginals):
    under, _ = marginals
    there = QPointF(under.rect().center())
    event = QWheelEvent(
        there,
        under.mapToGlobal(there),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(under, event)
    assert view.view.width() == under.range.length < 1


def test_the_wheel_zooms_and_a_double_click_shows_the_whole_again(qtbot, view):
    with qtbot.waitSignal(view.view_picked) as picked:
        turn_wheel(view, 2)
    assert picked.args[0].width() < 1
    with qtbot.waitSignal(view.view_picked) as picked:
        qtbot.mouseDClick(view, Qt.MouseButton.LeftButton)
    assert picked.args == [WHOLE]


def test_one_cannot_zoom_out_beyond_the_whole(qtbot, view):
    with qtbot.waitSignal(view.view_picked) as picked:
        turn_wheel(view, -3)
    assert picked.args == [WHOLE]


def test_dragging_moves_what_is_in_sight(qtbot, view):
    view.show_view(QRectF(0.25, 0.25, 0.5, 0.5))
    middle = view.frame().center().toPoint()
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=middle)
    with qtbot.waitSignal(view.view_picked) as picked:
        qtbot.mouseMove(view, middle + QPoint(40, 0))
    assert picked.args[0].left() < 0.25


def test_showing_a_view_does_not_echo_it(qtbot, view):
    with qtbot.assertNotEmitted(view.view_picked):
        view.show_view(QRectF(0, 0, 0.5, 0.5))


def test_without_a_picture_it_says_what_it_waits_for(view):
    view.show_scene(PictureScene(waiting="Waiting in the queue"))
    assert "Waiting in the queue" in view.accessibleDescription()
