import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BELOW,
    BETWEEN,
    BUILT_IN_TYPES,
    IN_FRONT_OF,
    LEFT_OF,
    RIGHT_OF,
    Relation,
)
from spatialstudio.science.scenes.relation_boxes import relation_boxes


def boxes(*claims):
    relations = [
        Relation(
            id=str(number),
            type=kind,
            subject=ends[0],
            object=ends[1],
            second_object=ends[2] if kind is BETWEEN else None,
        )
        for number, (kind, ends) in enumerate(claims)
    ]
    return {
        mention: [round(side, 6) for side in (box.left, box.top, box.right, box.bottom)]
        for mention, box in relation_boxes(relations).items()
    }


@pytest.mark.parametrize(
    ("kind", "subject", "other"),
    [
        (LEFT_OF, [0.05, 0.25, 0.35, 0.75], [0.65, 0.25, 0.95, 0.75]),
        (RIGHT_OF, [0.65, 0.25, 0.95, 0.75], [0.05, 0.25, 0.35, 0.75]),
        (ABOVE, [0.25, 0.05, 0.75, 0.35], [0.25, 0.65, 0.75, 0.95]),
        (BELOW, [0.25, 0.65, 0.75, 0.95], [0.25, 0.05, 0.75, 0.35]),
    ],
    ids=lambda value: getattr(value, "id", ""),
)
def test_two_objects_get_the_boxes_of_spatialbench(kind, subject, other):
    assert boxes((kind, "ab")) == {"a": subject, "b": other}


def test_a_diagonal_moves_along_both_axes():
    assert boxes((ABOVE_LEFT_OF, "ab"))["a"] == [0.05, 0.05, 0.35, 0.35]


def test_a_chain_divides_the_side():
    row = boxes((LEFT_OF, "ab"), (LEFT_OF, "bc"))
    assert [row[mention][0] for mention in "abc"] == [0.05, 0.4, 0.75]


def test_between_is_the_middle_sector():
    row = boxes((BETWEEN, "abc"))
    assert row["b"][2] < row["a"][0]
    assert row["a"][2] < row["c"][0]


def test_depth_relations_place_no_boxes():
    assert boxes((IN_FRONT_OF, "ab")) == {}


def test_a_cycle_terminates():
    assert len(boxes((LEFT_OF, "ab"), (LEFT_OF, "ba"))) == 2


@pytest.mark.parametrize("kind", BUILT_IN_TYPES, ids=lambda kind: kind.id)
def test_boxes_lie_within_the_picture(kind):
    sides = [side for box in boxes((kind, "abc")).values() for side in box]
    assert all(0 <= side <= 1 for side in sides)
