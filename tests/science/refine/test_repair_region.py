"""Where a failed object is redrawn."""

import pytest

from spatialstudio.domain.generation import PlaceTarget
from spatialstudio.domain.scene import ABOVE, LEFT_OF
from spatialstudio.domain.verdict import REPRODUCE, Evaluation
from spatialstudio.science.checker.decide import decide_again
from spatialstudio.science.refine.repair_region import failed_objects, plan_repair
from tests.fakes import scene_of
from tests.science.seen_things import masked, perception, seen


def judged(scene, *detections, masks=()):
    found = perception(*detections, masks=masks)
    return decide_again(Evaluation(perception=found, verdicts=()), scene, REPRODUCE)


def centre(region):
    return region.x + region.width / 2, region.y + region.height / 2


@pytest.mark.parametrize(
    ("relation", "place", "axis"),
    [(LEFT_OF, (75, 50), 0), (ABOVE, (50, 75), 1)],
    ids=["left of", "above"],
)
def test_the_region_lies_on_the_side_of_the_relation_and_off_the_other_object(
    relation, place, axis
):
    scene = scene_of(relation_type=relation)
    evaluation = judged(scene, seen("m2", *place), masks=(masked("m2", *place),))
    plan = plan_repair(scene, evaluation)
    (region,) = plan.regions
    assert plan.mention_id == "m1"
    assert centre(region)[axis] < 0.5
    assert (region.right, region.bottom)[axis] <= 0.65 + 1e-6
    assert (plan.target.x, plan.target.y) == pytest.approx(centre(region))


def test_a_misplaced_object_is_erased_at_its_old_place():
    evaluation = judged(scene_of(), seen("m1", 80, 50), seen("m2", 40, 50))
    plan = plan_repair(scene_of(), evaluation)
    old = {"m1": (0.8, 0.5), "m2": (0.4, 0.5)}[plan.mention_id]
    assert any(region.contains(*old) for region in plan.regions[1:])
    x = {"m1": plan.target.x, "m2": 1 - plan.target.x}[plan.mention_id]
    assert x < 0.5


def test_a_duplicate_gives_its_place_to_the_missing_object():
    """Of two cars the right one is kept, as the dog must be to its left."""
    evaluation = judged(scene_of(), seen("m2", 25, 50, 0.95), seen("m2", 75, 50, 0.9))
    plan = plan_repair(scene_of(), evaluation)
    assert plan.mention_id == "m1"
    assert plan.target.x < 0.5
    assert plan.regions[0].contains(0.25, 0.5)
    assert not any(region.contains(0.75, 0.5) for region in plan.regions)


def test_a_sketched_place_is_not_searched_for():
    target = PlaceTarget(mention_id="m1", x=0.2, y=0.8, size=0.3)
    evaluation = judged(scene_of(), seen("m2", 75, 50))
    plan = plan_repair(scene_of(), evaluation, [target])
    assert plan.target == target
    assert plan.regions[0].contains(0.2, 0.8)


def test_a_chosen_object_is_redrawn_though_another_failed():
    evaluation = judged(scene_of(), seen("m2", 75, 50))
    assert plan_repair(scene_of(), evaluation, mention_id="m2").mention_id == "m2"


def test_nothing_is_redrawn_where_all_relations_pass():
    evaluation = judged(scene_of(), seen("m1", 20, 50), seen("m2", 80, 50))
    assert failed_objects(scene_of(), evaluation) == ()
    assert plan_repair(scene_of(), evaluation) is None


def test_regions_stay_inside_the_picture():
    evaluation = judged(scene_of(), seen("m1", 98, 2), seen("m2", 2, 98))
    for region in plan_repair(scene_of(), evaluation).regions:
        assert 0 <= region.x < region.right <= 1 + 1e-6
        assert 0 <= region.y < region.bottom <= 1 + 1e-6


def test_an_empty_picture_gets_its_first_missing_object():
    evaluation = judged(scene_of())
    plan = plan_repair(scene_of(), evaluation)
    assert plan.mention_id == "m1"
    assert len(plan.regions) == 1
