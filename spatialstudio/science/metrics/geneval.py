"""GenEval's position score, on boxes of any detector.

Uses the box with the best score of each object. The offset of their centres is reduced by a tenth
of both sizes, and the remainder must point mainly in the stated direction.

Source: Ghosh et al. 2023, GenEval, arXiv:2310.11513, and its code. There the remainder is divided
by the unreduced distance, so that large objects must be farther apart than the direction requires;
this can be switched off.
"""

from collections.abc import Sequence
from math import copysign, hypot

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.metric import Metric
from spatialstudio.domain.scene import (
    Axis,
    AxisClaim,
    Relation,
    RelationType,
    SceneGraph,
)
from spatialstudio.domain.verdict import Box, Evaluation

_ROUNDING = 1e-3


@frozen
class GenEvalRules:
    """Rules of the metric; the defaults are the published ones.

    Attributes:
        detection_threshold: Boxes with a score above this are used, [0, 1].
        slack: Fraction of the sizes subtracted from the offset, [0, 1].
        least_part: Minimum component of the direction vector along the claim, [0, 1].
        divides_by_whole_distance: Fault: the slack shortens the direction vector as well.
    """

    detection_threshold: float = 0.3
    slack: float = 0.1
    least_part: float = 0.5
    divides_by_whole_distance: bool = True


PUBLISHED = GenEvalRules()
MENDED = GenEvalRules(divides_by_whole_distance=False)


def geneval_correct(
    relation_type: RelationType,
    subjects: Sequence[Box],
    others: Sequence[Box],
    rules: GenEvalRules = PUBLISHED,
) -> bool:
    """Return True if an image shows a relation by GenEval's rules.

    Args:
        relation_type: Left, right, above, below, or a diagonal.
        subjects: Boxes of the subject, best first.
        others: Boxes of the object, best first.
        rules: Rules of the metric.
    """
    if not (subjects and others):
        return False
    direction = direction_xy(subjects[0], others[0], rules)
    return all(_points_there(claim, direction, rules) for claim in relation_type.claims)


def direction_xy(subject: Box, other: Box, rules: GenEvalRules = PUBLISHED) -> tuple[float, float]:
    """Return the direction from ``other`` to ``subject`` as a vector (x, y), [-1, 1] each.

    (0, 0) where they are too close.
    """
    (subject_x, subject_y), (other_x, other_y) = subject.center_xy, other.center_xy
    whole = subject_x - other_x, subject_y - other_y
    beyond = (
        _beyond(whole[0], rules.slack * (subject.width + other.width)),
        _beyond(whole[1], rules.slack * (subject.height + other.height)),
    )
    if max(abs(part) for part in beyond) < _ROUNDING:
        return 0.0, 0.0
    distance = hypot(*(whole if rules.divides_by_whole_distance else beyond))
    return beyond[0] / distance, beyond[1] / distance


def _beyond(offset: float, slack: float) -> float:
    return copysign(max(abs(offset) - slack, 0.0), offset)


def _points_there(claim: AxisClaim, direction: tuple[float, float], rules: GenEvalRules) -> bool:
    along = direction[0] if claim.axis is Axis.X else direction[1]
    return along < -rules.least_part if claim.subject_first else along > rules.least_part


def _of_relation(
    relation: Relation, _: SceneGraph, evaluation: Evaluation, rules: GenEvalRules
) -> bool | None:
    if not relation.type.is_order_in_plane:
        return None
    subjects, others = (
        evaluation.perception.boxes_above(end, rules.detection_threshold) for end in relation.ends
    )
    return geneval_correct(relation.type, subjects, others, rules)


METRIC = Metric(
    id="geneval",
    label="GenEval",
    help=(
        "Whether the centres are separated in the stated direction by more than a tenth of "
        "the box sizes."
    ),
    of_relation=_of_relation,
    is_yes_no=True,
    rules=PUBLISHED,
    corrected=MENDED,
    order=70,
)
