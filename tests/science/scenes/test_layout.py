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
def test_a_relation_is_read_from_positions(subject, expected):
    assert shown_type(subject, (0.5, 0.5)) == expected


def test_the_margin_equals_the_checker_setting():
    within, beyond = 0.5 - REPRODUCE.margin + 0.001, 0.5 - REPRODUCE.margin - 0.001
    assert shown_type((within, 0.5), (0.5, 0.5)) != LEFT_OF
    assert shown_type((beyond, 0.5), (0.5, 0.5)) == LEFT_OF


@pytest.mark.parametrize("kind", FLAT, ids=lambda kind: kind.id)
def test_an_arrangement_meets_its_claims(kind):
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


def test_objects_without_relations_do_not_overlap():
    places = list(arrange(replace(three(scene_of()), relations=()), {}).values())
    assert min(dist(a, b) for a in places for b in places if a is not b) >= BLOB_SIDE


def test_objects_with_the_same_relation_to_another_do_not_overlap():
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


def test_satisfied_positions_are_unchanged():
    kept = {"m1": (0.3, 0.31), "m2": (0.8, 0.7)}
    assert arrange(scene_of(), kept) == kept


def test_an_object_that_breaks_its_relation_is_moved():
    kept = {"m1": (0.8, 0.3), "m2": (0.3, 0.7)}
    places = arrange(scene_of(), kept)
    assert places != kept
    assert is_shown(scene_of().relations[0], places)


def test_moving_an_object_edits_its_relation():
    (relation,) = relations_after(scene_of(), {"m1": (0.9, 0.5), "m2": (0.5, 0.5)}, "m1")
    assert (relation.type, relation.source) == (RIGHT_OF, BY_HAND)


def test_a_move_within_the_relation_changes_nothing():
    scene = scene_of()
    places = {"m1": (0.1, 0.3), "m2": (0.5, 0.5)}
    assert relations_after(scene, places, "m1") == scene.relations


def test_an_object_moved_out_of_its_distance_gets_a_side():
    scene = scene_of(relation_type=FAR_FROM)
    (relation,) = relations_after(scene, {"m1": (0.35, 0.5), "m2": (0.5, 0.5)}, "m1")
    assert relation.type == LEFT_OF


def test_depth_relations_are_ignored_by_the_sketch():
    scene = scene_of(relation_type=BEHIND)
    places = {"m1": (0.9, 0.5), "m2": (0.5, 0.5)}
    assert relations_after(scene, places, "m1") == scene.relations


def test_an_unrelated_object_is_related_to_the_nearest():
    places = {"m1": (0.1, 0.5), "m2": (0.8, 0.5), "m3": (0.8, 0.1)}
    first, second = relations_after(three(scene_of()), places, "m3")
    assert first == scene_of().relations[0]
    assert (second.id, second.type, second.subject, second.object) == ("r2", ABOVE, "m3", "m2")


def test_a_single_object_gets_no_relation():
    scene = scene_of()
    alone = replace(scene, mentions=scene.mentions[:1], relations=())
    assert relations_after(alone, {"m1": (0.1, 0.1)}, "m1") == ()


def test_two_objects_keep_their_order_on_a_ring():
    ring = on_a_ring({"a": (0.6, 0.5), "b": (0.3, 0.5)})
    assert ring["a"] == pytest.approx((1.0, 0.5))
    assert ring["b"] == pytest.approx((0.0, 0.5))


def test_objects_in_a_row_are_equidistant_on_a_ring():
    ring = on_a_ring({"a": (0.2, 0.5), "b": (0.5, 0.51), "c": (0.8, 0.5)})
    sides = [dist(ring[one], ring[other]) for one, other in ("ab", "bc", "ca")]
    assert sides == pytest.approx([sides[0]] * 3)


def test_a_single_object_is_placed_in_the_middle():
    assert on_a_ring({"a": (0.1, 0.1)}) == {"a": (0.5, 0.5)}


def test_a_registered_type_is_arranged_but_not_read_from_positions(diagonally_above):
    scene = scene_of(relation_type=diagonally_above)
    assert is_shown(scene.relations[0], arrange(scene, {}))
    assert shown_type((0.5, 0.2), (0.5, 0.5)) is ABOVE
