import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BELOW,
    LEFT_OF,
    RIGHT_OF,
)
from spatialstudio.domain.verdict import Box
from spatialstudio.science.metrics.geneval import (
    MENDED,
    direction_xy,
    geneval_correct,
)


def at(x, y, half=10):
    return Box(left=x - half, top=y - half, right=x + half, bottom=y + half)


def met(subject, other):
    kinds = (LEFT_OF, RIGHT_OF, ABOVE, BELOW)
    return [kind for kind in kinds if geneval_correct(kind, [subject], [other])]


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        (at(10, 50), [LEFT_OF]),
        (at(90, 50), [RIGHT_OF]),
        (at(50, 10), [ABOVE]),
        (at(50, 90), [BELOW]),
        (at(10, 10), [LEFT_OF, ABOVE]),
        (at(50, 50), []),
        (at(46, 46), []),
        (at(46.0005, 50), []),
        (at(40, 50), [LEFT_OF]),
    ],
    ids=[
        *("left", "right", "above", "below", "diagonal"),
        *("the same place", "within the slack", "at the slack", "beyond the slack"),
    ],
)
def test_the_direction_beyond_the_slack_decides(subject, expected):
    assert met(subject, at(50, 50)) == expected


def test_a_diagonal_needs_both_directions():
    assert geneval_correct(ABOVE_LEFT_OF, [at(10, 10)], [at(50, 50)])
    assert not geneval_correct(ABOVE_LEFT_OF, [at(10, 45)], [at(50, 50)])


@pytest.mark.parametrize(("subjects", "others"), [([], [at(1, 1)]), ([at(1, 1)], []), ([], [])])
def test_a_missing_object_is_wrong(subjects, others):
    assert not geneval_correct(LEFT_OF, subjects, others)


def test_only_the_instance_of_highest_score_counts():
    assert not geneval_correct(LEFT_OF, [at(90, 50), at(10, 50)], [at(50, 50)])


def test_large_objects_need_a_larger_distance_as_published():
    pair = at(20, 50, half=80), at(60, 50, half=80)
    assert direction_xy(*pair) == (-0.2, 0)
    assert not geneval_correct(LEFT_OF, [pair[0]], [pair[1]])
    assert geneval_correct(LEFT_OF, [pair[0]], [pair[1]], MENDED)
