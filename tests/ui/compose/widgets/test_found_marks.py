import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QImage, QPainter, QPainterPath

from spatialstudio.ui.compose.widgets.found_marks import FoundMark, FoundOverlay, distance_box
from spatialstudio.ui.widgets.picture_label import PictureLabels
from spatialstudio.ui.widgets.stage_overlay import PicturePlace

WHOLE = QRectF(50, 20, 400, 400)


def mark_at(target, found):
    place = None if found is None else QPointF(*found)
    words = {"distance": "20 %", "sentence": "dog: 20 % off"}
    return FoundMark(
        key="m1",
        phrase="dog",
        hue=0,
        target=QPointF(*target),
        found=place,
        outline=QPainterPath(),
        **words,
    )


@pytest.mark.parametrize("found", [(0, 0.5), (1, 0.5), (0.5, 0), (0.5, 1), (1, 1)], ids=str)
def test_a_distance_is_written_inside_the_picture(qapp, found):
    assert WHOLE.contains(distance_box(mark_at((0.5, 0.5), found), WHOLE))


def test_the_distance_of_a_near_object_leaves_its_name_readable(qapp):
    box = distance_box(mark_at((0.5, 0.5), (0.52, 0.5)), WHOLE)
    assert box.bottom() < WHOLE.center().y()


def test_a_distance_on_the_picture_leaves_the_names_of_boxes_readable(theme):
    overlay, labels = FoundOverlay(theme), PictureLabels(WHOLE)
    overlay.show_found((mark_at((0.5, 0.5), (0.5, 0.9)), mark_at((0.2, 0.5), None)))
    canvas = QImage(500, 500, QImage.Format.Format_ARGB32)
    with QPainter(canvas) as painter:
        overlay.draw(painter, PicturePlace(frame=WHOLE, whole=WHOLE), labels)
    ((distance, where),) = labels.lay_out()
    assert distance.text == "20 %"
    labels.add_name(where, "dog 0.90", (theme.colour("raised"), theme.colour("text")))
    (_, note), (_, name) = labels.lay_out()
    assert not note.intersects(name)


def test_an_object_that_was_not_found_has_no_distance(qapp):
    assert distance_box(mark_at((0.5, 0.5), None), WHOLE).isEmpty()
