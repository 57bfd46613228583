"""HRS-Bench's spatial accuracy, on boxes of any detector.

An image is correct when every object of its prompt is detected and every claim holds. Claims are
evaluated on the edges of boxes, not on their centres.

Source: Bakr et al. 2023, HRS-Bench, arXiv:2304.05390, and its code. Its faults can be switched off:
of several instances the last listed is used; with four objects, order claims are compared with
the object after the one they name. The second claim of a prompt of four objects ("... to the right
of C and above D") names the last object, so there is none after it: as published, no image of
such a prompt can be correct, and the score of that level comes from "between" only. Results
therefore include both the corrected and the published form.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.metric import Figures, Metric, Row
from spatialstudio.domain.scene import (
    Axis,
    AxisClaim,
    Relation,
    RelationType,
    SceneGraph,
    Shape,
)
from spatialstudio.domain.verdict import Box, Evaluation, Perception

HRS = "hrs"
_FOUR_OBJECTS = 4


@frozen
class HrsRules:
    """Rules of the metric; the defaults are the published ones.

    Attributes:
        detection_threshold: Boxes with a score above this are used, [0, 1].
        takes_last_instance: Fault: of several boxes the last listed is used, not the best.
        shifts_fourth_object: Fault: with four objects a claim is compared with the next object.
    """

    detection_threshold: float = 0.5
    takes_last_instance: bool = True
    shifts_fourth_object: bool = True


PUBLISHED = HrsRules()
MENDED = HrsRules(takes_last_instance=False, shifts_fourth_object=False)


def other_form(rules: HrsRules) -> tuple[str, HrsRules]:
    """Return name and rules of the form reported in addition: corrected, or published."""
    return ("hrs_mended", MENDED) if rules == PUBLISHED else ("hrs_published", PUBLISHED)


@frozen
class HrsClaim:
    """One claim of a prompt, with objects by their index in the prompt.

    Attributes:
        relation_type: Left, right, above, below or between.
        subject: Index of the subject, from 0.
        others: Index of the object; two indices for "between".
    """

    relation_type: RelationType
    subject: int
    others: tuple[int, ...]


def hrs_correct(
    claims: Sequence[HrsClaim], objects: Sequence[Sequence[Box]], rules: HrsRules = PUBLISHED
) -> bool:
    """Return True if an image is correct by HRS-Bench's rules.

    Args:
        claims: All claims of the prompt.
        objects: Boxes of each object, best first, in the prompt's order.
        rules: Rules of the metric.
    """
    if not all(objects):
        return False
    boxes = [instances[-1 if rules.takes_last_instance else 0] for instances in objects]
    return all(_holds(_as_looked_up(claim, boxes, rules), boxes) for claim in claims)


def hrs_score(accuracy_by_level: Mapping[int, float]) -> float:
    """Return the mean accuracy over levels (2, 3 and 4 objects), [0, 1]."""
    return sum(accuracy_by_level.values()) / len(accuracy_by_level)


def _as_looked_up(claim: HrsClaim, boxes: Sequence[Box], rules: HrsRules) -> HrsClaim:
    is_pair = claim.relation_type.shape is Shape.ORDER
    if rules.shifts_fourth_object and is_pair and len(boxes) == _FOUR_OBJECTS:
        shifted = tuple(place + 1 for place in claim.others)
        return HrsClaim(relation_type=claim.relation_type, subject=claim.subject, others=shifted)
    return claim


def _holds(claim: HrsClaim, boxes: Sequence[Box]) -> bool:
    if max(claim.others) >= len(boxes):
        return False
    subject = boxes[claim.subject]
    others = [boxes[place] for place in claim.others]
    if claim.relation_type.shape is Shape.BETWEEN:
        return _is_between(subject, others)
    return all(_is_met(part, subject, others[0]) for part in claim.relation_type.claims)


def _is_between(subject: Box, flanks: Sequence[Box]) -> bool:
    one, other = flanks
    return any(
        _is_met(AxisClaim(axis, one_side), subject, one)
        and _is_met(AxisClaim(axis, not one_side), subject, other)
        for axis in (Axis.X, Axis.Y)
        for one_side in (True, False)
    )


def _is_met(claim: AxisClaim, subject: Box, other: Box) -> bool:
    if claim.axis is Axis.X:
        return subject.left < other.left if claim.subject_first else subject.right > other.right
    if claim.subject_first:
        return subject.top < other.top or subject.bottom < other.bottom
    return subject.bottom > other.bottom or subject.top > other.top


def hrs_of_scene(
    scene: SceneGraph, perception: Perception, rules: HrsRules = PUBLISHED
) -> bool | None:
    """Return True if an image is correct for all relations of its prompt.

    Args:
        scene: The scene graph; every mention must be detected.
        perception: The perception of the image.
        rules: Rules of the metric.

    Returns:
        None when the prompt has no relation that HRS-Bench covers.
    """
    names = [mention.id for mention in scene.mentions]
    known = [relation for relation in scene.relations if _covers(relation.type)]
    if not known:
        return None
    boxes = [perception.boxes_above(name, rules.detection_threshold) for name in names]
    return hrs_correct([_claim(relation, names) for relation in known], boxes, rules)


def _of_relation(
    relation: Relation, _: SceneGraph, evaluation: Evaluation, rules: HrsRules
) -> bool | None:
    if not _covers(relation.type):
        return None
    boxes = [
        evaluation.perception.boxes_above(end, rules.detection_threshold) for end in relation.ends
    ]
    return hrs_correct([_claim(relation, relation.ends)], boxes, rules)


def _covers(relation_type: RelationType) -> bool:
    return relation_type.shape is Shape.BETWEEN or relation_type.is_order_in_plane


def _claim(relation: Relation, names: Sequence[str]) -> HrsClaim:
    subject, *others = (names.index(end) for end in relation.ends)
    return HrsClaim(relation_type=relation.type, subject=subject, others=tuple(others))


def _of_picture(
    scene: SceneGraph, evaluation: Evaluation, rules: HrsRules
) -> Mapping[str, bool | None]:
    name, others = other_form(rules)
    return {
        HRS: hrs_of_scene(scene, evaluation.perception, rules),
        name: hrs_of_scene(scene, evaluation.perception, others),
    }


def _figures(rows: Sequence[Row], rules: HrsRules) -> Mapping[str, Figures]:
    return {name: _scores(rows, name) for name in (HRS, other_form(rules)[0])}


def _scores(rows: Sequence[Row], form: str) -> Figures:
    by_level: defaultdict[int, list[bool]] = defaultdict(list)
    for row in rows:
        is_met = False if row["error"] else row.get(form)
        if is_met is not None and row.get("objects"):
            by_level[row["objects"]].append(is_met)
    accuracy = {level: mean(met) for level, met in sorted(by_level.items())}
    return {} if not accuracy else {"score": hrs_score(accuracy), "by_objects": accuracy}


METRIC = Metric(
    id=HRS,
    label="HRS-Bench",
    help="Whether all objects were found and the edges of their boxes satisfy the relation.",
    of_relation=_of_relation,
    of_picture=_of_picture,
    add_up=_figures,
    is_yes_no=True,
    rules=PUBLISHED,
    corrected=MENDED,
    order=60,
)
