"""Layouts fit the picture, and the tables of sketches measure what they say."""

from itertools import pairwise
from math import hypot

import pytest

from tests.performance.follow_sketches import (
    MOVED_BY,
    Move,
    all_visible,
    phrase_of,
    place_line,
    random_layouts,
)
from tests.performance.prompt_lists import Split


@pytest.fixture(scope="module")
def layouts():
    return random_layouts(Split.HELD_OUT, 30)


def test_layouts_have_two_to_four_objects_inside_the_picture(layouts):
    assert [len(layout.places) for layout in layouts[:3]] == [2, 3, 4]
    for x, y, size in (place for layout in layouts for place in (*layout.places, *layout.moved)):
        assert size / 2 <= min(x, y)
        assert max(x, y) <= 1 - size / 2


def test_one_object_of_a_layout_is_moved(layouts):
    for layout in layouts:
        shifts = [
            hypot(after[0] - before[0], after[1] - before[1])
            for before, after in zip(layout.places, layout.moved, strict=True)
        ]
        assert shifts.pop(layout.mover) == pytest.approx(MOVED_BY)
        assert set(shifts) == {0}


def test_splits_share_no_layout_and_no_seed(layouts):
    others = random_layouts(Split.DEVELOPMENT, 30)
    assert not {layout.seed for layout in layouts} & {layout.seed for layout in others}
    assert not {layout.places for layout in layouts} & {layout.places for layout in others}


def test_fewer_layouts_are_the_first_of_more(layouts):
    assert random_layouts(Split.HELD_OUT, 4) == layouts[:4]


def test_related_prompts_state_what_the_layout_has(layouts):
    layout = layouts[2]
    text = layout.text(is_related=True)
    assert all(phrase_of(*pair) in text for pair in pairwise(layout.places))
    assert phrase_of((0.2, 0.5, 0.3), (0.7, 0.4, 0.3)) == "to the left of"
    assert phrase_of((0.5, 0.8, 0.3), (0.6, 0.2, 0.3)) == "below"


def test_a_covered_object_does_not_fit():
    assert not all_visible([(0.5, 0.5, 0.3), (0.55, 0.5, 0.3)])
    assert all_visible([(0.3, 0.5, 0.3), (0.7, 0.5, 0.3)])


def row(*centres, places=((0.3, 0.5, 0.3), (0.7, 0.5, 0.3)), mover=0, background=(9, 9, 9)):
    return {
        "id": "layout-0",
        "centres": list(centres),
        "places": places,
        "mover": mover,
        "background": list(background),
        "passes": 30,
    }


def test_a_missing_object_is_within_no_distance():
    cells = place_line("ours", [row((0.3, 0.5), None), row((0.3, 0.65), (0.7, 0.5))]).split(" | ")
    assert cells[1:3] == ["2", "4"]
    assert [cell.split(" [")[0] for cell in cells[3:]] == [
        "75.0",
        "0.000",
        "0.120",
        "50.0",
        "75.0",
        "30.0 |",
    ]


def test_a_move_is_measured_in_its_direction():
    after = row((0.3, 0.75), (0.7, 0.58), places=((0.3, 0.8, 0.3), (0.7, 0.5, 0.3)))
    move = Move.of(row((0.3, 0.5), (0.7, 0.5)), after)
    assert move.follow == pytest.approx(0.25)
    assert move.others == pytest.approx((0.08,))
    assert move.stays


def test_a_missing_object_neither_follows_nor_stays():
    after = row(None, None, places=((0.3, 0.8, 0.3), (0.7, 0.5, 0.3)), background=(9, 9, 12))
    move = Move.of(row((0.3, 0.5), (0.7, 0.5)), after)
    assert move.follow is None
    assert not move.stays
    assert move.recoloured == pytest.approx(3**0.5)
