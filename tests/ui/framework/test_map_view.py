import pytest

from spatialstudio.domain.attention import MapScale
from spatialstudio.domain.scene import MentionId
from spatialstudio.ui.framework.map_view import MapView

DOG, CAR, CAT = (MentionId(name) for name in ("m1", "m2", "m3"))


@pytest.fixture
def maps(qapp):
    return MapView()


def test_words_are_pinned_together_and_unpinned(maps):
    maps.toggle(DOG)
    maps.toggle(CAR)
    assert maps.pins == (DOG, CAR)
    maps.toggle(DOG)
    assert maps.pins == (CAR,)


def test_a_comparison_is_with_the_word_pinned_last(maps):
    maps.pin(DOG, CAR)
    maps.compare(CAT)
    assert maps.pins == (CAR, CAT)


def test_a_word_is_not_compared_with_itself(maps):
    maps.pin(DOG, CAR)
    maps.compare(CAR)
    assert maps.pins == (DOG, CAR)


def test_the_word_in_passing_goes_before_the_pins(maps):
    maps.pin(DOG)
    maps.hover(CAR)
    assert maps.words == (CAR,)
    maps.hover(None)
    assert maps.words == (DOG,)


def test_nothing_is_told_when_nothing_changes(qtbot, maps):
    maps.pin(DOG)
    with qtbot.assertNotEmitted(maps.changed):
        maps.pin(DOG)
        maps.show_look(scale=MapScale.PER_MAP)


def test_after_the_last_scale_comes_the_first(maps):
    seen = []
    for _ in MapScale:
        maps.show_next_scale()
        seen.append(maps.look.scale)
    assert seen == [MapScale.SHARED, MapScale.ABSOLUTE, MapScale.PER_MAP]
