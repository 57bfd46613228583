from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from spatialstudio.ui.compose.widgets.layout_sketch import (
    LEAP,
    NUDGE,
    Blob,
    LayoutSketch,
    Link,
)

DOG, CAR = Blob("m1", "dog", 0, 0.2, 0.5), Blob("m2", "car", 1, 0.8, 0.5)
LEFT = Link("r1", ("m1", "m2"), "to the left of", "dog to the left of car")


@pytest.fixture
def sketch(qtbot, theme):
    """A sketch of a dog and a car, with a text field behind it."""
    around = QWidget()
    column = QVBoxLayout(around)
    sketch = LayoutSketch(theme, 0.24)
    sketch.blob_picked.connect(sketch.show_picked)
    column.addWidget(sketch)
    column.addWidget(QLineEdit())
    qtbot.addWidget(around)
    around.resize(400, 440)
    around.show()
    sketch.show_sketch((DOG, CAR), (LEFT,))
    sketch.around = around  # else nothing keeps it
    return sketch


def push(qtbot, sketch, key, by):
    start = sketch.place_of(key).toPoint()
    qtbot.mousePress(sketch, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(sketch, start + by)
    qtbot.mouseRelease(sketch, Qt.MouseButton.LeftButton, pos=start + by)


def test_a_thing_is_pushed_by_the_mouse(qtbot, sketch):
    side = sketch.frame().width()
    moved = qtbot.waitSignal(sketch.blob_moved)
    with moved, qtbot.waitSignal(sketch.blob_dropped) as dropped:
        push(qtbot, sketch, "m1", QPoint(round(side / 2), 0))
    key, place = dropped.args
    assert key == "m1"
    assert (place.x(), place.y()) == pytest.approx((0.7, 0.5), abs=0.01)


def test_a_thing_stays_in_the_picture(qtbot, sketch):
    with qtbot.waitSignal(sketch.blob_dropped) as dropped:
        push(qtbot, sketch, "m1", QPoint(-500, -500))
    assert 0 < dropped.args[1].x() < 0.1
    assert 0 < dropped.args[1].y() < 0.1


def test_no_object_is_moved_off_the_sketch(qtbot, sketch):
    with qtbot.assertNotEmitted(sketch.blob_picked), qtbot.assertNotEmitted(sketch.blob_dropped):
        qtbot.mouseClick(sketch, Qt.MouseButton.LeftButton, pos=sketch.rect().center())


@pytest.mark.parametrize(
    ("key", "modifier", "by"),
    [
        (Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier, QPointF(NUDGE, 0)),
        (Qt.Key.Key_Up, Qt.KeyboardModifier.NoModifier, QPointF(0, -NUDGE)),
        (Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier, QPointF(0, LEAP * NUDGE)),
    ],
    ids=["right", "up", "far down"],
)
def test_the_arrows_push_the_picked_thing(qtbot, sketch, key, modifier, by):
    sketch.show_picked("m1")
    with qtbot.waitSignal(sketch.blob_dropped) as dropped:
        qtbot.keyClick(sketch, key, modifier)
    assert dropped.args == ["m1", QPointF(0.2, 0.5) + by]


def test_tab_goes_from_thing_to_thing_and_then_on(qtbot, sketch):
    sketch.setFocus(Qt.FocusReason.TabFocusReason)
    picked = []
    sketch.blob_picked.connect(picked.append)
    qtbot.keyClick(sketch, Qt.Key.Key_Tab)
    assert picked == ["m2"]
    qtbot.keyClick(sketch, Qt.Key.Key_Tab)
    qtbot.waitUntil(lambda: not sketch.hasFocus())


def test_what_is_drawn_is_told_in_words(sketch):
    said = sketch.accessibleDescription()
    assert said.startswith("dog to the left of car. dog: 20 % across, 50 % down.")


def test_a_thing_is_drawn_in_its_hue(sketch, theme):
    image = sketch.grab().toImage()
    inside = sketch.place_of("m2").toPoint() + QPoint(0, 16)
    blank = sketch.rect().center() + QPoint(0, 60)
    assert image.pixelColor(blank).name() == theme.colour("raised").name()
    assert image.pixelColor(inside).name() != theme.colour("raised").name()


def drag_handle(qtbot, sketch, blob, by):
    start = sketch.handle_of(blob).toPoint()
    qtbot.mousePress(sketch, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(sketch, start + by)
    qtbot.mouseRelease(sketch, Qt.MouseButton.LeftButton, pos=start + by)


def test_the_handle_on_the_rim_sizes_an_object(qtbot, sketch):
    sketch.show_picked("m1")
    side = sketch.frame().width()
    with qtbot.waitSignal(sketch.size_moved), qtbot.waitSignal(sketch.size_picked) as sized:
        drag_handle(qtbot, sketch, DOG, QPoint(round(0.05 * side), round(0.05 * side)))
    assert sized.args == ["m1", pytest.approx(0.24 + 2 * 0.05 * 2**0.5, abs=0.02)]


def test_a_click_on_the_handle_changes_nothing(qtbot, sketch):
    sketch.show_picked("m1")
    with qtbot.assertNotEmitted(sketch.size_picked), qtbot.assertNotEmitted(sketch.blob_dropped):
        drag_handle(qtbot, sketch, DOG, QPoint())


@pytest.mark.parametrize(("delta", "size"), [(120, 0.26), (-240, 0.2)])
def test_the_wheel_sizes_the_object_at_the_pointer(qtbot, sketch, delta, size):
    with qtbot.waitSignal(sketch.size_picked) as sized:
        turn_wheel(sketch, sketch.place_of("m2"), delta)
    assert sized.args == ["m2", pytest.approx(size)]


def test_the_wheel_beside_objects_is_left_to_others(qtbot, sketch):
    with qtbot.assertNotEmitted(sketch.size_picked):
        assert not turn_wheel(sketch, sketch.point_of(QPointF(0.5, 0.9)), 120).isAccepted()


def turn_wheel(sketch, place, delta):
    event = QWheelEvent(
        place,
        sketch.mapToGlobal(place),
        QPoint(),
        QPoint(0, delta),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(sketch, event)
    return event


@pytest.mark.parametrize(
    ("blob", "words"),
    [
        (DOG, "dog: 20 % across, 50 % down. The place is free."),
        (replace(DOG, is_held=True), "The place is held, at any size."),
        (replace(DOG, is_held=True, size=0.25), "The place is held, with a size of 25 %."),
    ],
)
def test_words_say_whether_a_place_is_held(sketch, blob, words):
    sketch.show_sketch((blob,), ())
    assert words in sketch.accessibleDescription()


def test_a_free_object_is_hollow(sketch):
    beside = QPoint(round(sketch.frame().width() * 0.07), 0)
    colours = []
    for blob in (DOG, replace(DOG, is_held=True)):
        sketch.show_sketch((blob,), ())
        image = sketch.grab().toImage()
        colours.append(image.pixelColor(sketch.place_of("m1").toPoint() + beside).lightnessF())
    assert abs(colours[0] - colours[1]) > 0.05


def test_of_two_objects_the_small_one_inside_is_grabbed(qtbot, sketch):
    large = replace(DOG, x=0.5, size=0.9)
    small = replace(CAR, x=0.6, size=0.1)
    sketch.show_sketch((large, small), ())
    with qtbot.waitSignal(sketch.blob_picked) as picked:
        qtbot.mouseClick(sketch, Qt.MouseButton.LeftButton, pos=sketch.place_of("m2").toPoint())
    assert picked.args == ["m2"]


def picture_of(sketch, phrase):
    """Return the drawn sketch of two near objects with a relation."""
    sketch.show_sketch((DOG, replace(CAR, x=0.42)), (replace(LEFT, phrase=phrase),))
    return sketch.grab().toImage()


def test_a_relation_phrase_is_not_written_over_the_names(sketch):
    one, other = picture_of(sketch, "to the left of"), picture_of(sketch, "to the right of")
    names = QRect(sketch.place_of("m1").toPoint(), sketch.place_of("m2").toPoint())
    line = names.adjusted(0, -3, 0, 3)
    assert one != other
    assert one.copy(line) == other.copy(line)
