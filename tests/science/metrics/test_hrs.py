import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    BELOW,
    BETWEEN,
    LEFT_OF,
    RIGHT_OF,
)
from spatialstudio.domain.verdict import Box
from spatialstudio.science.metrics.hrs import (
    MENDED,
    PUBLISHED,
    HrsClaim,
    hrs_correct,
    hrs_score,
)


def box(left, top, right, bottom):
    return Box(left=left, top=top, right=right, bottom=bottom)


def at(x, y, half=2):
    return box(x - half, y - half, x + half, y + half)


def claim(relation_type, subject=0, *others):
    return HrsClaim(relation_type=relation_type, subject=subject, others=others or (1,))


@pytest.mark.parametrize(
    ("relation_type", "holds"),
    [(LEFT_OF, True), (RIGHT_OF, True), (ABOVE, False), (BELOW, True)],
    ids=lambda value: getattr(value, "id", value),
)
def test_edges_decide_not_centres(relation_type, holds):
    wide, narrow = box(0, 5, 100, 10), box(10, 4, 20, 10)
    assert hrs_correct([claim(relation_type)], [[wide], [narrow]]) is holds


@pytest.mark.parametrize(
    "relation_type", [LEFT_OF, RIGHT_OF, ABOVE, BELOW], ids=lambda kind: kind.id
)
def test_edges_on_one_line_meet_no_relation(relation_type):
    assert not hrs_correct([claim(relation_type)], [[at(5, 5)], [at(5, 5)]])


@pytest.mark.parametrize("objects", [[[at(1, 1)], []], [[], []]], ids=["one", "none"])
def test_a_missing_object_is_wrong(objects):
    assert not hrs_correct([claim(LEFT_OF)], objects)


def test_the_last_instance_counts_as_published():
    objects = [[at(10, 5), at(90, 5)], [at(50, 5)]]
    assert not hrs_correct([claim(LEFT_OF)], objects, PUBLISHED)
    assert hrs_correct([claim(LEFT_OF)], objects, MENDED)


def test_every_claim_must_hold():
    objects = [[at(10, 10)], [at(50, 10)], [at(10, 50)]]
    assert hrs_correct([claim(LEFT_OF, 0, 1), claim(ABOVE, 0, 2)], objects)
    assert not hrs_correct([claim(LEFT_OF, 0, 1), claim(BELOW, 0, 2)], objects)


@pytest.mark.parametrize(
    ("middle", "holds"),
    [(at(50, 10), True), (at(10, 60), True), (at(95, 95), False)],
    ids=["in a row", "in a column", "beside"],
)
def test_between_is_met_in_a_row_or_in_a_column(middle, holds):
    objects = [[middle], [at(5, 20)], [at(90, 90)]]
    assert hrs_correct([claim(BETWEEN, 0, 1, 2)], objects) is holds
    assert hrs_correct([claim(BETWEEN, 0, 2, 1)], objects) is holds


def test_with_four_objects_the_published_claims_read_one_too_far():
    objects = [[at(10, 10)], [at(20, 10)], [at(50, 10)], [at(5, 50)]]
    claims = [claim(LEFT_OF, 0, 2), claim(ABOVE, 0, 3)]
    assert hrs_correct(claims, objects, MENDED)
    assert not hrs_correct(claims, objects, PUBLISHED)
    assert not hrs_correct([claim(LEFT_OF, 0, 2)], objects, PUBLISHED)
    assert hrs_correct([claim(RIGHT_OF, 0, 2)], objects, PUBLISHED)


def test_the_score_is_the_mean_of_the_levels():
    assert hrs_score({2: 0.6, 3: 0.3, 4: 0.0}) == pytest.approx(0.3)
