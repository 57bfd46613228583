from dataclasses import replace
from math import dist

import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BEHIND,
    BELOW,
    BETWEEN,
    BUILT_IN_TYPES,
    BY_HAND,
    FAR_FROM,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    Relation,
)
from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.science.scenes.layout import (
    BLOB_SIDE,
    arrange,
    can_sketch,
    is_shown,
    on_a_ring,
    relations_after,
    shown_type,
)
from tests.fakes import scene_of

FLAT = [kind for kind in BUILT_IN_TYPES if can_sketch(kind) and kind is not BETWEEN]


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ((0.2, 0.5), LEFT_OF),
        ((0.8, 0.5), RIGHT_OF),
        ((0.5, 0.2), ABOVE),
        ((0.2, 0.2), ABOVE_LEFT_OF),
        ((0.2, 0.4), LEFT_OF),
        ((0.52, 0.5), NEAR),
    ],
    ids=["left", "right", "above", "diagonal", "mostly left", "on top of it"],
)
def test_places_show_a_relation(subject, expected):
    assert shown_type(subject, (0.5, 0.5)) == expected


def test_the_margin_is_the_judges_own():
    within, beyond = 0.5 - REPRODUCE.margin + 0.001, 0.5 - REPRODUCE.margin - 0.001
    assert shown_type((within, 0.5), (0.5, 0.5)) != LEFT_OF
    assert shown_type((beyond, 0.5), (0.5, 0.5)) == LEFT_OF


@pytest.mark.parametrize("kind", FLAT, ids=lambda kind: kind.id)
def test_an_arrangement_shows_what_is_claimed(kind):
    scene = scene_of(relation_type=kind)
    assert is_shown(scene.relations[0], arrange(scene, {}))


def three(scene):
    """Add a bird to "a dog to the left of a car"."""
    bird = replace(scene.mentions[0], id="m3", phrase="bird", head="bird")
    return replace(scene, mentions=(*scene.mentions, bird))


def test_between_is_arranged_in_a_row():
    scene = three(scene_of())
    claim = Relation(id="r1", type=BETWEEN, subject="m3", object="m1", second_object="m2")
    scene = replace(scene, relations=(claim,))
    assert is_shown(claim, arrange(scene, {}))


def test_things_without_relations_do_not_lie_on_each_other():
    places = list(arrange(replace(three(scene_of()), relations=()), {}).values())
    assert min(dist(a, b) for a in places for b in places if a is not b) >= BLOB_SIDE


def test_things_in_one_relation_to_another_do_not_lie_on_each_other():
    scene = scene_of("cat", "clock", ABOVE)
    cat, clock = scene.mentions
    dog = replace(clock, id="m3", phrase="dog", head="dog")
    below = replace(scene.relations[0], id="r2", type=BELOW, subject="m3", object=cat.id)
    scene = replace(scene, mentions=(cat, clock, dog), relations=(*scene.relations, below))
    places = arrange(scene, {})
    assert dist(places["m3"], places[clock.id]) >= BLOB_SIDE
    assert all(is_shown(each, places) for each in scene.relations)
    stacked = {**places, "m3": places[clock.id]}
    assert arrange(scene, stacked) == stacked


def test_satisfied_places_are_unchanged():
    kept = {"m1": (0.3, 0.31), "m2": (0.8, 0.7)}
    assert arrange(scene_of(), kept) == kept


def test_what_no_longer_shows_its_relation_is_moved():
    kept = {"m1": (0.8, 0.3), "m2": (0.3, 0.7)}
    places = arrange(scene_of(), kept)
    assert places != kept
    assert is_shown(scene_of().relations[0], places)


def test_a_moved_thing_changes_its_relation_by_hand():
    (relation,) = relations_after(scene_of(), {"m1": (0.9, 0.5), "m2": (0.5, 0.5)}, "m1")
    assert (relation.type, relation.source) == (RIGHT_OF, BY_HAND)


def test_a_move_that_shows_the_same_changes_nothing():
    scene = scene_of()
    places = {"m1": (0.1, 0.3), "m2": (0.5, 0.5)}
    assert relations_after(scene, places, "m1") == scene.relations


def test_a_distance_that_is_left_becomes_a_side():
    scene = scene_of(relation_type=FAR_FROM)
    (relation,) = relations_after(scene, {"m1": (0.35, 0.5), "m2": (0.5, 0.5)}, "m1")
    assert relation.type == LEFT_OF


def test_depth_is_none_of_the_sketchs_business():
    scene = scene_of(relation_type=BEHIND)
    places = {"m1": (0.9, 0.5), "m2": (0.5, 0.5)}
    assert relations_after(scene, places, "m1") == scene.relations


def test_a_lone_thing_is_related_to_its_nearest():
    places = {"m1": (0.1, 0.5), "m2": (0.8, 0.5), "m3": (0.8, 0.1)}
    first, second = relations_after(three(scene_of()), places, "m3")
    assert first == scene_of().relations[0]
    assert (second.id, second.type, second.subject, second.object) == ("r2", ABOVE, "m3", "m2")


def test_the_only_thing_is_related_to_nothing():
    scene = scene_of()
    alone = replace(scene, mentions=scene.mentions[:1], relations=())
    assert relations_after(alone, {"m1": (0.1, 0.1)}, "m1") == ()


def test_two_things_stand_on_a_ring_as_they_stand():
    ring = on_a_ring({"a": (0.6, 0.5), "b": (0.3, 0.5)})
    assert ring["a"] == pytest.approx((1.0, 0.5))
    assert ring["b"] == pytest.approx((0.0, 0.5))


def test_things_in_a_row_stand_in_no_row_on_a_ring():
    ring = on_a_ring({"a": (0.2, 0.5), "b": (0.5, 0.51), "c": (0.8, 0.5)})
    sides = [dist(ring[one], ring[other]) for one, other in ("ab", "bc", "ca")]
    assert sides == pytest.approx([sides[0]] * 3)


def test_a_single_object_is_placed_in_the_middle():
    assert on_a_ring({"a": (0.1, 0.1)}) == {"a": (0.5, 0.5)}


def test_a_registered_type_is_arranged_and_no_place_is_read_as_it(diagonally_above):
    scene = scene_of(relation_type=diagonally_above)
    assert is_shown(scene.relations[0], arrange(scene, {}))
    assert shown_type((0.5, 0.2), (0.5, 0.5)) is ABOVE
