import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    ABOVE_RIGHT_OF,
    BEHIND,
    BELOW,
    BELOW_LEFT_OF,
    BELOW_RIGHT_OF,
    BETWEEN,
    BUILT_IN_TYPES,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    RelationType,
    Shape,
    relation_types,
)
from spatialstudio.domain.verdict import DepthMap
from spatialstudio.science.pos.superiority import (
    can_guide,
    relation_pos,
    relation_pos_on_masks,
)

FLAT_TYPES = [known for known in BUILT_IN_TYPES if not known.needs_depth]
PAIR_TYPES = [known for known in FLAT_TYPES if known is not BETWEEN]


def blob(row, column):
    """A 16 x 16 mask with a 3 x 3 object centred at a cell."""
    drawn = np.zeros((16, 16), dtype=bool)
    drawn[row - 1 : row + 2, column - 1 : column + 2] = True
    return drawn


def random_maps(seed, count):
    return list(np.random.default_rng(seed).random((count, 12, 16)))


def ends_of(relation_type):
    return 3 if relation_type is BETWEEN else 2


@pytest.mark.parametrize(
    ("relation_type", "row", "column"),
    [
        (LEFT_OF, 8, 2),
        (RIGHT_OF, 8, 14),
        (ABOVE, 2, 8),
        (BELOW, 14, 8),
        (ABOVE_LEFT_OF, 2, 2),
        (ABOVE_RIGHT_OF, 2, 14),
        (BELOW_LEFT_OF, 14, 2),
        (BELOW_RIGHT_OF, 14, 14),
        (NEAR, 8, 8),
    ],
    ids=lambda value: getattr(value, "id", value),
)
def test_a_relation_that_clearly_holds_is_certain(relation_type, row, column):
    assert relation_pos(relation_type, [blob(row, column), blob(8, 8)]) == 1


def test_opposite_corners_are_certainly_far_apart():
    assert relation_pos(FAR_FROM, [blob(1, 1), blob(14, 14)]) == 1


@pytest.mark.parametrize(
    ("row", "column", "expected"),
    [(8, 8, 1), (2, 8, 1), (8, 2, 0.5), (8, 14, 0.5)],
    ids=["in the middle", "above the middle", "level with a flank", "level with the other"],
)
def test_between_compares_with_both_flanks(row, column, expected):
    assert relation_pos(BETWEEN, [blob(row, column), blob(8, 2), blob(8, 14)]) == expected


def test_between_works_along_the_height_too():
    assert relation_pos(BETWEEN, [blob(8, 8), blob(14, 8), blob(2, 8)]) == 1


def test_a_diagonal_is_as_certain_as_its_less_certain_claim():
    maps = random_maps(0, 2)
    expected = min(relation_pos(ABOVE, maps), relation_pos(LEFT_OF, maps))
    assert relation_pos(ABOVE_LEFT_OF, maps) == expected


def test_near_and_far_complement_each_other():
    maps = random_maps(1, 2)
    assert relation_pos(NEAR, maps) + relation_pos(FAR_FROM, maps) == pytest.approx(1)


@given(seed=st.integers(min_value=0, max_value=2**32 - 1))
def test_numpy_and_torch_and_the_inverse_relation_agree_within_bounds(seed):
    drawn = random_maps(seed, 3)
    for relation_type in FLAT_TYPES:
        maps = drawn[: ends_of(relation_type)]
        pos = relation_pos(relation_type, maps)
        assert 0 <= pos <= 1
        on_torch = relation_pos(relation_type, [torch.from_numpy(weights) for weights in maps])
        assert on_torch.item() == pytest.approx(pos)
        if relation_type in PAIR_TYPES:
            back = relation_pos(relation_types.inverse(relation_type), maps[::-1])
            assert back == pytest.approx(pos)


def test_the_order_of_the_flanks_does_not_matter():
    subject, one, other = random_maps(2, 3)
    assert relation_pos(BETWEEN, [subject, one, other]) == pytest.approx(
        relation_pos(BETWEEN, [subject, other, one])
    )


@pytest.mark.parametrize("relation_type", [IN_FRONT_OF, BEHIND], ids=lambda known: known.id)
def test_flat_maps_cannot_hold_depth(relation_type):
    assert not can_guide(relation_type)


@pytest.mark.parametrize("relation_type", FLAT_TYPES, ids=lambda known: known.id)
def test_flat_maps_can_hold_the_rest(relation_type):
    assert can_guide(relation_type)


@pytest.mark.parametrize(("relation_type", "expected"), [(IN_FRONT_OF, 1), (BEHIND, 0)])
def test_masks_and_depth_decide_in_front_of(relation_type, expected):
    farther_right = DepthMap(
        values=np.tile(np.arange(16, dtype=np.float32), (16, 1)), estimator_id="slope"
    )
    masks = [blob(8, 2), blob(8, 14)]
    assert relation_pos_on_masks(relation_type, masks, farther_right) == expected


def test_a_relation_of_depth_and_side_is_as_certain_as_its_less_certain_claim():
    to_the_right_in_front = RelationType(
        "right_front",
        "to the right in front of",
        Shape.ORDER,
        (*RIGHT_OF.claims, *IN_FRONT_OF.claims),
        "left_back",
    )
    farther_right = DepthMap(
        values=np.tile(np.arange(16, dtype=np.float32), (16, 1)), estimator_id="slope"
    )
    masks = [blob(8, 14), blob(8, 2)]
    assert relation_pos_on_masks(RIGHT_OF, masks, farther_right) == 1
    assert relation_pos_on_masks(to_the_right_in_front, masks, farther_right) == 0


def test_masks_without_depth_do_not_decide_in_front_of():
    assert relation_pos_on_masks(IN_FRONT_OF, [blob(8, 2), blob(8, 14)]) is None


def test_masks_decide_a_planar_relation_without_depth():
    assert relation_pos_on_masks(LEFT_OF, [blob(8, 2), blob(8, 14)]) == 1


@pytest.mark.parametrize("relation_type", BUILT_IN_TYPES, ids=lambda known: known.id)
def test_an_empty_mask_is_missing_instead_of_a_number(relation_type):
    depth = DepthMap(values=np.zeros((16, 16), dtype=np.float32), estimator_id="flat")
    masks = [blob(8, 8)] * (ends_of(relation_type) - 1) + [np.zeros((16, 16), dtype=bool)]
    assert relation_pos_on_masks(relation_type, masks, depth) is None
