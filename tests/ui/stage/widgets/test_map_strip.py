import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QScrollArea

from spatialstudio.ui.stage.widgets.map_strip import (
    MapRoom,
    MapStrip,
    MapTile,
    WordMaps,
)
from spatialstudio.ui.theme.theme import (
    SMALL,
    em,
    font,
)
from tests.ui.scripted_engine import blob

DOG = WordMaps("m1", "dog", 0, blob(0.2, 0.5))
CAR = WordMaps("m2", "car", 1, blob(0.8, 0.5))


@pytest.fixture
def strip(qtbot, theme):
    strip = MapStrip(theme)
    qtbot.addWidget(strip)
    strip.show_words((DOG, CAR))
    strip.show()
    return strip


def tiles(strip):
    return strip.findChildren(MapTile)


def test_every_word_has_a_tile(strip):
    assert [tile.text() for tile in tiles(strip)] == ["dog", "car"]


def test_a_click_picks_a_word_and_another_lets_it_go(qtbot, strip):
    picked = []
    strip.word_picked.connect(picked.append)
    qtbot.mouseClick(tiles(strip)[1], Qt.MouseButton.LeftButton)
    qtbot.mouseClick(tiles(strip)[1], Qt.MouseButton.LeftButton)
    assert picked == ["m2", ""]


def test_space_picks_the_word_in_focus(qtbot, strip):
    with qtbot.waitSignal(strip.word_picked) as picked:
        qtbot.keyClick(tiles(strip)[0], Qt.Key.Key_Space)
    assert picked.args == ["m1"]


def test_tiles_are_one_stop_of_tab_and_arrows_lead_along(qtbot, strip):
    first, second = tiles(strip)
    first.setFocus()
    qtbot.keyClick(first, Qt.Key.Key_Right)
    assert strip.window().focusWidget() is second
    stops = [tile for tile in tiles(strip) if Qt.FocusPolicy.TabFocus & tile.focusPolicy()]
    assert stops == [second]


def test_only_one_word_is_marked(strip):
    strip.show_picked("m1")
    strip.show_picked("m2")
    assert [tile.isChecked() for tile in tiles(strip)] == [False, True]


def test_another_step_keeps_the_tiles(strip):
    before = tiles(strip)
    strip.show_words((WordMaps("m1", "dog", 0, blob(0.3, 0.3)), CAR))
    assert tiles(strip) == before


def test_a_baseline_makes_room_for_a_second_map(strip):
    narrow = tiles(strip)[0].minimumSizeHint().width()
    strip.show_words((WordMaps("m1", "dog", 0, None, None, second_name="Baseline"), CAR))
    assert tiles(strip)[0].minimumSizeHint().width() > 1.8 * narrow


def test_the_map_is_brightest_where_the_word_is_attended_to(strip):
    image = tiles(strip)[0].grab().toImage()
    middle = image.height() * 3 // 5
    left = image.pixelColor(image.width() // 4, middle).lightness()
    right = image.pixelColor(image.width() * 9 // 10, middle).lightness()
    assert left > right + 50


def test_maps_grow_with_the_room_and_all_stay_in_sight(qtbot, strip):
    strip.resize(400, 160)
    small = tiles(strip)[0].sizeHint()
    strip.resize(900, 260)
    qtbot.waitUntil(lambda: tiles(strip)[0].height() > small.height())
    assert tiles(strip)[1].geometry().right() < 900
    strip.resize(strip.minimumSizeHint())
    qtbot.waitUntil(lambda: tiles(strip)[0].height() <= strip.minimumSizeHint().height())


@pytest.fixture
def beside_baseline(strip):
    """The strip with three words, each with the baseline's map."""
    words = [
        WordMaps(f"m{hue}", name, hue, blob(0.2, 0.5), blob(0.8, 0.5), second_name="Baseline")
        for hue, name in enumerate(("dog", "potted plant", "lamp"))
    ]
    strip.show_words(tuple(words))
    return strip


def test_in_a_narrow_dock_the_baseline_is_below_the_maps(qtbot, beside_baseline):
    narrow = em(20)
    beside_baseline.resize(narrow, em(11))
    last = tiles(beside_baseline)[2]
    qtbot.waitUntil(lambda: last.geometry().right() <= narrow)
    assert last.height() > last.width()
    assert beside_baseline.minimumSizeHint().width() <= narrow


def test_in_a_wide_dock_the_baseline_is_next_to_the_maps(qtbot, beside_baseline):
    beside_baseline.resize(em(80), em(11))
    last = tiles(beside_baseline)[2]
    qtbot.waitUntil(lambda: last.width() > last.height())


def test_no_word_over_a_map_is_cut_however_little_room_there_is(qtbot, beside_baseline):
    beside_baseline.resize(em(12), em(6))
    last = tiles(beside_baseline)[2]
    side = last.height() - last.size_around(0, is_stacked=False).height()
    assert side >= QFontMetrics(font(SMALL)).horizontalAdvance("baseline")
    assert side >= QFontMetrics(font(bold=True)).horizontalAdvance("lamp")


def test_tiles_are_as_large_as_their_maps_where_there_is_least_room(qtbot, beside_baseline):
    area = QScrollArea()
    qtbot.addWidget(area)
    area.setWidgetResizable(True)
    area.setWidget(beside_baseline)
    area.resize(em(12), em(6))
    area.show()
    qtbot.waitUntil(lambda: all(each.size() == each.sizeHint() for each in tiles(beside_baseline)))
    area.takeWidget()


@pytest.mark.parametrize("before", [(80, 10), (22, 40), (80, 40)], ids=["wide", "high", "large"])
def test_maps_stand_in_the_same_order_whatever_room_there_was_before(
    qtbot, beside_baseline, before
):
    room = MapRoom(beside_baseline)
    qtbot.addWidget(room)
    room.resize(*map(em, before))
    room.show()
    room.resize(em(22), em(7))
    bar = room.horizontalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() > 0 and room.verticalScrollBar().maximum() == 0)
    room.takeWidget()
