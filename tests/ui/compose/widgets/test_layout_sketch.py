import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

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
