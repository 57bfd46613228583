from itertools import combinations

import pytest
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor

from spatialstudio.application.paths import resources_folder
from spatialstudio.ui.theme.fonts import use_bundled_font
from spatialstudio.ui.widgets.picture_label import PictureLabels

COLOURS = QColor("black"), QColor("white")
FRAME = QRectF(10, 10, 160, 160)
BOX = QRectF(40, 60, 50, 40)


@pytest.fixture
def labels(qapp):
    return PictureLabels(FRAME)


def places(labels):
    return {label.text: place for label, place in labels.lay_out()}


def covering(labels):
    own = places(labels).values()
    return [pair for pair in combinations(own, 2) if pair[0].intersects(pair[1])]


def test_a_label_is_above_the_left_corner_of_its_box(labels):
    labels.add_name(BOX, "dog", COLOURS)
    place = places(labels)["dog"]
    assert place.bottom() == pytest.approx(BOX.top())
    assert place.left() == pytest.approx(BOX.left(), abs=2)


def test_a_label_is_inside_a_box_at_the_upper_border(labels):
    box = QRectF(40, FRAME.top(), 80, 60)
    labels.add_name(box, "dog", COLOURS)
    assert box.adjusted(-2, 0, 2, 0).contains(places(labels)["dog"])


@pytest.mark.parametrize("count", [2, 5, 20], ids="{} boxes".format)
def test_names_of_boxes_at_one_place_do_not_cover_each_other(labels, count):
    for number in range(count):
        labels.add_name(BOX, f"d {number}", COLOURS)
    assert len(places(labels)) == count
    assert not covering(labels)
    assert all(FRAME.contains(place) for place in places(labels).values())


def test_a_box_that_two_layers_show_is_named_once(labels):
    labels.add_name(BOX, "dog 0.97", COLOURS)
    labels.add_name(BOX.translated(0.1, 0.1), "dog 0.97", COLOURS)
    assert len(labels.lay_out()) == 1


def test_names_give_way_to_notes(labels):
    labels.add_name(BOX, "dog 0.97", COLOURS)
    usual = places(labels)["dog 0.97"]
    labels.add_note(usual.center(), "0.26 of 0.10", COLOURS)
    assert places(labels)["0.26 of 0.10"].center() == usual.center()
    assert not covering(labels)


def test_two_notes_on_one_point_stand_over_each_other(labels):
    labels.add_note(QPointF(80, 80), "0.03 of 0.10", COLOURS)
    labels.add_note(QPointF(80, 80), "0.04 of 0.10", COLOURS)
    assert not covering(labels)


def test_nothing_leaves_the_frame(labels):
    labels.add_name(QRectF(150, 150, 40, 40), "a long name of a thing", COLOURS)
    labels.add_note(QPointF(500, 500), "far", COLOURS)
    assert all(FRAME.contains(place) for place in places(labels).values())


def test_what_is_dimmed_is_no_longer_named(labels):
    labels.add_name(BOX, "dog", COLOURS)
    labels.clear()
    assert places(labels) == {}


@pytest.mark.parametrize("percent", [150, 200])
def test_large_text_leaves_most_of_a_small_picture_in_sight(qapp, appearance, percent):
    use_bundled_font(qapp, resources_folder() / "fonts")
    appearance.use_text_percent(percent)
    labels = PictureLabels(FRAME)
    for number, word in enumerate(("cat", "dog", "lamp")):
        labels.add_name(BOX.translated(20 * number, 20 * number), f"{word} 0.96", COLOURS)
    labels.add_note(FRAME.center(), "0.18 of 0.10", COLOURS)
    covered = sum(place.width() * place.height() for place in places(labels).values())
    assert covered < FRAME.width() * FRAME.height() / 4
    assert not covering(labels)


def test_letters_keep_their_size_where_there_is_room(qapp, appearance):
    large = QRectF(0, 0, 1600, 1600)
    heights = set()
    for frame in (large, large.adjusted(0, 0, 800, 800)):
        labels = PictureLabels(frame)
        labels.add_name(BOX, "dog 0.97", COLOURS)
        heights.add(places(labels)["dog 0.97"].height())
    assert len(heights) == 1
