"""VISOR, on boxes that any detector gave: it compares their centres.

A relation holds when any instance of the subject and any of the object stand as asked, their
centres compared strictly; that is generous where there are many, so the surest of each can be asked
for instead. The unconditional score counts a missing object as a failure, the
conditional one looks only at pictures with both objects, and VISOR_n is the share of prompts with
at least n correct pictures.

Source: Gokhale et al. 2022, arXiv:2212.10015, and their code; its scores are percentages, ours
shares.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.metric import Figures, Metric, Row
from spatialstudio.domain.perception import Box, Perception
from spatialstudio.domain.relation import (
    Axis,
    AxisClaim,
    Relation,
    RelationType,
    SceneGraph,
)
from spatialstudio.domain.verdict import Evaluation

VISOR = "visor"
_PLACE_IN_XY = {Axis.X: 0, Axis.Y: 1}


@frozen
class VisorRules:
    """What counts; the defaults are the published ones.

    Attributes:
        detection_threshold: Boxes count whose score is above this, [0, 1].
        takes_any_pair: Fault: any pair of instances will do, not only the surest.
    """

    detection_threshold: float = 0.1
    takes_any_pair: bool = True


PUBLISHED = VisorRules()
MENDED = VisorRules(takes_any_pair=False)


@frozen
class VisorPicture:
    """What was seen in one picture.

    Attributes:
        prompt_id: The prompt it was drawn from.
        has_both: Whether both objects were found.
        is_correct: Whether, besides, the relation holds.
    """

    prompt_id: str
    has_both: bool
    is_correct: bool


@frozen
class VisorScores:
    """The scores of a set of pictures, each in [0, 1].

    Attributes:
        object_accuracy: Share of pictures with both objects.
        unconditional: Share of pictures with both objects, placed as asked.
        conditional: The same share among pictures with both objects; None when there are none.
        at_least: Share of prompts with at least 1, 2, ... correct pictures: VISOR_1, VISOR_2, ...
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
    """Judge one picture.

    Args:
        prompt_id: The prompt it was drawn from.
        relation_type: Left, right, above, below, or a diagonal.
        subjects: Boxes of every instance of the subject, surest first.
        others: Boxes of every instance of the object, surest first.
        rules: What counts.
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
    """Score a set of pictures.

    Args:
        pictures: At least one.
        pictures_per_prompt: The n of the last VISOR_n.
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
    """Tell whether all things of a relation were detected."""
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
    help="Whether the centres of the boxes stand as the relation claims.",
    of_relation=_of_relation,
    add_up=_figures,
    is_yes_no=True,
    rules=PUBLISHED,
    corrected=MENDED,
    order=40,
)
