import numpy as np
import pytest

from spatialstudio.application.inspect.map_reading import (
    difference_of,
    isolines_of,
    map_in_words,
    peak_of,
    reading_at,
    top_of,
)
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import MapScale
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS, step_of

MAP = np.array([[0, 1, 0, 0], [0, 3, 0, 0]], np.float32) / 8


def test_isolines_enclose_half_and_four_fifths():
    assert [line.share for line in isolines_of(MAP)] == [0.5, 0.8]
    assert all(len(line.pieces) for line in isolines_of(MAP))


def test_an_empty_map_has_no_isolines():
    assert isolines_of(np.zeros((4, 4), np.float32)) == ()


@pytest.mark.parametrize(
    ("scale", "top"),
    [(MapScale.PER_MAP, 3 / 8), (MapScale.SHARED, 0.7), (MapScale.ABSOLUTE, 1.0)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_scale_states_the_value_of_full_colour(scale, top):
    assert top_of(MAP, scale, peak=0.7) == pytest.approx(top)


def test_the_shared_peak_is_that_of_all_words_and_steps():
    request = new_request(scene_of(), STICKERS, seed=1)
    steps = tuple(step_of(request, step) for step in range(3))
    run = OpenRun(id=request.id, scene=request.scene, request=request, steps=steps)
    highest = max(m.max() for step in steps for m in step.attention.maps.values())
    assert peak_of([run]) == pytest.approx(highest)
    assert peak_of([]) == 0


def test_maps_are_compared_word_by_word():
    first = {"m1": MAP, "m2": MAP, "m3": MAP}
    second = {"m1": MAP / 2, "m2": MAP[:1], "m4": MAP}
    assert list(difference_of(first, second)) == ["m1"]
    assert difference_of(first, second)["m1"] == pytest.approx(MAP / 2)


def test_a_position_is_read_with_its_share_of_the_mass():
    reading = reading_at(MAP, 0.3, 0.9)
    assert (reading.value, reading.share) == (pytest.approx(3 / 8), pytest.approx(3 / 4))


@pytest.mark.parametrize("place", [(0.0, 0.0), (1.0, 1.0)], ids=["first", "last"])
def test_the_picture_s_corners_belong_to_it(place):
    assert reading_at(MAP, *place).value == 0


def test_a_map_is_described():
    assert map_in_words("dog", MAP) == (
        "The map of dog peaks at 0.375, 38 % from the left and 75 % from the top; "
        "half of its mass covers 12 % of the picture."
    )


def test_an_empty_map_is_described_as_empty():
    assert map_in_words("dog", 0 * MAP) == "The map of dog is empty."
