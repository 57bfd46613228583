"""Two pictures are compared in four ways, with one zoom."""

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QImage, QWheelEvent
from PySide6.QtWidgets import QToolButton

from spatialstudio.ui.gallery.widgets.compare_view import ComparedPicture, CompareView, CompareWay
from spatialstudio.ui.widgets.picture_region import WHOLE

LEFT = Qt.MouseButton.LeftButton
RED, BLUE, GREY = QColor(200, 0, 0), QColor(0, 0, 200), QColor(90, 90, 90)


def picture(colour, title):
    image = QImage(64, 64, QImage.Format.Format_RGB888)
    image.fill(colour)
    return ComparedPicture(image, title, "seed 7")


@pytest.fixture
def view(qtbot, theme):
    view = CompareView(theme)
    qtbot.addWidget(view)
    view.resize(700, 500)
    view.show()
    pair = picture(RED, "Guided"), picture(BLUE, "Baseline")
    view.show_pair(*pair, picture(GREY, "Difference"))
    return view


@pytest.fixture
def canvas(view):
    view.activateWindow()
    view.setFocus()
    return view.canvas


def colour_at(canvas, share, frame=0):
    """Return the colour at a share of the width of a frame."""
    place = canvas.frames()[frame]
    point = QPointF(place.left() + share * place.width(), place.top() + place.height() * 0.25)
    return canvas.grab().toImage().pixelColor(point.toPoint())


def wheel(canvas, place):
    angle, none = QPoint(0, 240), Qt.KeyboardModifier.NoModifier
    phase = Qt.ScrollPhase.NoScrollPhase
    buttons = Qt.MouseButton.NoButton
    canvas.wheelEvent(QWheelEvent(place, place, QPoint(), angle, buttons, none, phase, False))


def test_the_slider_parts_the_two(canvas):
    assert (colour_at(canvas, 0.2), colour_at(canvas, 0.8)) == (RED, BLUE)


def test_the_slider_is_dragged(qtbot, canvas):
    frame = canvas.frames()[0]
    middle = frame.center().toPoint()
    qtbot.mousePress(canvas, LEFT, pos=middle)
    qtbot.mouseMove(canvas, middle + QPoint(round(frame.width() * 0.4), 0))
    qtbot.mouseRelease(canvas, LEFT)
    assert canvas.split == pytest.approx(0.9, abs=0.02)
    assert colour_at(canvas, 0.8) == RED


def test_keys_move_the_slider(qtbot, canvas):
    qtbot.keyClick(canvas, Qt.Key.Key_Left)
    assert canvas.split == pytest.approx(0.48)


def test_side_by_side_both_are_whole(view, canvas):
    view.show_way(CompareWay.SIDE_BY_SIDE)
    assert (colour_at(canvas, 0.9, 0), colour_at(canvas, 0.1, 1)) == (RED, BLUE)


def test_blinking_shows_one_after_the_other(qtbot, view, canvas):
    view.show_way(CompareWay.BLINK)
    assert colour_at(canvas, 0.8) == RED
    canvas._clock.setInterval(50)
    qtbot.waitUntil(lambda: colour_at(canvas, 0.8) == BLUE)
    view.close_comparison()
    assert not canvas._clock.isActive()


def test_the_difference_is_drawn(view, canvas):
    view.show_way(CompareWay.DIFFERENCE)
    assert colour_at(canvas, 0.2) == GREY


def test_pictures_of_different_sizes_have_no_difference(view, canvas):
    view.show_pair(picture(RED, "Guided"), picture(BLUE, "Baseline"), None)
    view.show_way(CompareWay.DIFFERENCE)
    assert colour_at(canvas, 0.2) not in (RED, BLUE, GREY)


def test_one_zoom_for_both(view, canvas):
    view.show_way(CompareWay.SIDE_BY_SIDE)
    wheel(canvas, canvas.frames()[1].center())
    assert canvas.region.width() == pytest.approx(1 / 1.25**2)
    assert canvas.region.center() == WHOLE.center()


def test_a_drag_moves_and_a_double_click_shows_the_whole(qtbot, view, canvas):
    view.show_way(CompareWay.SIDE_BY_SIDE)
    middle = canvas.frames()[0].center()
    wheel(canvas, middle)
    before = canvas.region
    qtbot.mousePress(canvas, LEFT, pos=middle.toPoint())
    qtbot.mouseMove(canvas, middle.toPoint() + QPoint(10, 0))
    qtbot.mouseRelease(canvas, LEFT)
    assert canvas.region.left() < before.left()
    qtbot.mouseDClick(canvas, LEFT, pos=middle.toPoint())
    assert canvas.region == WHOLE


def test_the_ways_have_buttons_and_an_order(qtbot, view):
    button = next(b for b in view.findChildren(QToolButton) if b.text() == "Blink")
    qtbot.mouseClick(button, LEFT)
    assert view.way is CompareWay.BLINK
    assert view.way.next is CompareWay.DIFFERENCE
    assert view.way.next.next is CompareWay.SLIDER
    view.close_comparison()


def test_escape_closes(qtbot, view, canvas):
    with qtbot.waitSignal(view.closed):
        qtbot.keyClick(canvas, Qt.Key.Key_Escape)


def test_screen_readers_hear_what_is_compared(canvas):
    assert canvas.accessibleDescription() == "Slider: Guided seed 7; Baseline seed 7"


def title_strip(canvas, first, second):
    """Draw the words over the left half of a narrow slider."""
    canvas.resize(320, 300)
    canvas.show_pair(first, second, None)
    return canvas.grab(canvas.rect().adjusted(0, 0, -170, -260)).toImage()


def test_long_words_over_one_picture_leave_those_over_the_other_alone(canvas):
    first = picture(RED, "Guided")
    brief, long = (
        ComparedPicture(picture(BLUE, "").image, "Guided", remark)
        for remark in ("seed 7", "seed 7, guidance psg, step size 5, UNDECIDABLE")
    )
    assert title_strip(canvas, first, brief) == title_strip(canvas, first, long)
