"""VISOR, on the centres of boxes of any detector.

A relation holds when it holds strictly for any pair of instances of subject and object; as this is
lenient with many instances, the rules can require it of the best pair instead. The unconditional
score counts a missing object as a failure, the conditional one is over images with both objects,
and VISOR_n is the fraction of prompts with at least n correct images.

Source: Gokhale et al. 2022, arXiv:2212.10015, and their code; its scores are percentages, ours
fractions.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.metric import Figures, Metric, Row
from spatialstudio.domain.scene import (
    Axis,
    AxisClaim,
    Relation,
    RelationType,
    SceneGraph,
)
from spatialstudio.domain.verdict import Box, Evaluation, Perception

VISOR = "visor"
_PLACE_IN_XY = {Axis.X: 0, Axis.Y: 1}


@frozen
class VisorRules:
    """Rules of the metric; the defaults are the published ones.

    Attributes:
        detection_threshold: Boxes with a score above this are used, [0, 1].
        takes_any_pair: Fault: any pair of instances may satisfy the relation, not only the best.
    """

    detection_threshold: float = 0.1
    takes_any_pair: bool = True


PUBLISHED = VisorRules()
MENDED = VisorRules(takes_any_pair=False)


@frozen
class VisorPicture:
    """The result of one image.

    Attributes:
        prompt_id: Its prompt.
        has_both: Whether both objects were detected.
        is_correct: Whether both objects were detected and the relation holds.
    """

    prompt_id: str
    has_both: bool
    is_correct: bool


@frozen
class VisorScores:
    """The scores of a set of images, each in [0, 1].

    Attributes:
        object_accuracy: Fraction of images with both objects.
        unconditional: Fraction of correct images.
        conditional: Fraction of correct images among images with both objects; None when there
            are none.
        at_least: Fraction of prompts with at least 1, 2, ... correct images: VISOR_1, VISOR_2, ...
    """

    object_accuracy: float
    unconditional: float
    conditional: float | None
    at_least: tuple[float, ...]


def visor_picture(
    prompt_id: str,
    relation_type: RelationType,
    subjects: Sequence[Box],
    others: Sequence[Box],
    rules: VisorRules = PUBLISHED,
) -> VisorPicture:
    """Return the result of one image.

    Args:
        prompt_id: Its prompt.
        relation_type: Left, right, above, below, or a diagonal.
        subjects: Boxes of all instances of the subject, best first.
        others: Boxes of all instances of the object, best first.
        rules: Rules of the metric.
    """
    count = None if rules.takes_any_pair else 1
    return VisorPicture(
        prompt_id=prompt_id,
        has_both=bool(subjects) and bool(others),
        is_correct=any(
            all(_holds(claim, subject, other) for claim in relation_type.claims)
            for subject in subjects[:count]
            for other in others[:count]
        ),
    )


def visor_scores(pictures: Sequence[VisorPicture], pictures_per_prompt: int = 4) -> VisorScores:
    """Compute the scores of a set of images.

    Args:
        pictures: At least one.
        pictures_per_prompt: The largest n of VISOR_n.
    """
    both = sum(picture.has_both for picture in pictures)
    correct = sum(picture.is_correct for picture in pictures)
    return VisorScores(
        object_accuracy=both / len(pictures),
        unconditional=correct / len(pictures),
        conditional=correct / both if both else None,
        at_least=_at_least(pictures, pictures_per_prompt),
    )


def _at_least(pictures: Iterable[VisorPicture], most: int) -> tuple[float, ...]:
    correct: Counter[str] = Counter()
    for picture in pictures:
        correct[picture.prompt_id] += picture.is_correct
    return tuple(
        sum(count >= wanted for count in correct.values()) / len(correct)
        for wanted in range(1, most + 1)
    )


def _holds(claim: AxisClaim, subject: Box, other: Box) -> bool:
    place = _PLACE_IN_XY[claim.axis]
    offset = subject.center_xy[place] - other.center_xy[place]
    return offset < 0 if claim.subject_first else offset > 0


def ends_found(relation: Relation, perception: Perception, rules: VisorRules = PUBLISHED) -> bool:
    """Return True if all ends of a relation were detected."""
    return all(perception.boxes_above(end, rules.detection_threshold) for end in relation.ends)


def _of_relation(
    relation: Relation, _: SceneGraph, evaluation: Evaluation, rules: VisorRules
) -> bool | None:
    if not relation.type.is_order_in_plane:
        return None
    subjects, others = (
        evaluation.perception.boxes_above(end, rules.detection_threshold) for end in relation.ends
    )
    return visor_picture(relation.id, relation.type, subjects, others, rules).is_correct


def _figures(rows: Sequence[Row], _: VisorRules) -> Mapping[str, Figures]:
    pictures = [
        VisorPicture(
            prompt_id=f"{row['prompt']} {place}", has_both=found, is_correct=bool(is_correct)
        )
        for row in rows
        for place, (found, is_correct) in enumerate(_answers(row))
        if is_correct is not None
    ]
    if not pictures:
        return {}
    scores = visor_scores(pictures)
    return {
        VISOR: {
            "object_accuracy": scores.object_accuracy,
            "unconditional": scores.unconditional,
            "conditional": scores.conditional,
            **{f"visor_{count}": share for count, share in enumerate(scores.at_least, 1)},
        }
    }


def _answers(row: Row) -> list[tuple[bool, bool | None]]:
    if row["error"]:
        return [(False, False)] * (row["relations"] or 1)
    return [(verdict["found"], verdict[VISOR]) for verdict in row["verdicts"]]


METRIC = Metric(
    id=VISOR,
    label="VISOR",
    help="Whether the centres of the boxes satisfy the relation.",
    of_relation=_of_relation,
    add_up=_figures,
    is_yes_no=True,
    rules=PUBLISHED,
    corrected=MENDED,
    order=40,
)
