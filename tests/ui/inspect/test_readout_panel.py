from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QLabel

from spatialstudio.ui.inspect.readout_panel import ReadoutPanel
from spatialstudio.ui.stage.widgets.picture_view import PictureView

STILL = 20
"""Looks in a row at which the docks around a picture must have stopped growing."""


def text(window):
    return window.findChild(ReadoutPanel).findChild(QLabel).text()


def test_the_place_under_the_pointer_is_read(qtbot, drawn):
    view = drawn.stage.findChildren(PictureView)[0]
    qtbot.waitUntil(view.isVisible)
    frames = []

    def stands_still():
        frames.append((view.mapToGlobal(QPoint()), view.frame()))
        return len(frames) > STILL and len(set(map(repr, frames[-STILL:]))) == 1

    qtbot.waitUntil(stands_still)
    qtbot.mouseMove(view, view.frame().center().toPoint())
    qtbot.waitUntil(lambda: text(drawn).startswith("x 6"))
    assert "dog 0." in text(drawn)
    assert "% of the map's mass" in text(drawn)


def test_outside_the_picture_nothing_is_read(qtbot, drawn):
    view = drawn.stage.findChildren(PictureView)[0]
    drawn.context.stage.place_pointed.emit(QPointF(0.5, 0.5))
    assert text(drawn)
    qtbot.mouseMove(view, QPoint(view.width() // 2, 2))
    qtbot.waitUntil(lambda: text(drawn) == "")


def test_another_step_is_read_at_the_same_place(qtbot, drawn, studio):
    drawn.context.stage.place_pointed.emit(QPointF(0.2, 0.5))
    before = text(drawn)
    studio.session.pick_step(0)
    qtbot.waitUntil(lambda: text(drawn) != before)


def test_a_long_text_does_not_widen_the_window(qtbot, drawn):
    drawn.resize(900, 800)
    width = drawn.width()
    drawn.context.stage.place_pointed.emit(QPointF(0.2, 0.5))
    qtbot.waitUntil(lambda: text(drawn) != "")
    label = drawn.findChild(ReadoutPanel).findChild(QLabel)
    assert label.minimumSizeHint().width() > label.minimumWidth()
    assert drawn.width() == width
    assert label.fontMetrics().horizontalAdvance(label.text()) <= drawn.width()
