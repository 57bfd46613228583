"""Why a judged picture is not right: the reason that decides which remedies are tried.

Of several reasons the most fundamental counts: an object that is not there has no place.
"""

from collections.abc import Iterator

from spatialstudio.domain.fix import FixReason, FoundReason
from spatialstudio.domain.requirements import RequirementKind
from spatialstudio.domain.scene import MentionId, Relation, SceneGraph, Shape
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Evaluation,
    MentionDoubt,
    MentionVerdict,
    Outcome,
    Perception,
    Verdict,
)
from spatialstudio.science.checker.measurement import containment

MERGED_AT = 0.6
"""Containment of two boxes from which objects count as merged."""

_DISTANCES = (Shape.NEAR, Shape.FAR)


def reasons_of(scene: SceneGraph, evaluation: Evaluation) -> tuple[FoundReason, ...]:
    """Return the reasons for which a picture does not pass, the most fundamental first.

    Args:
        scene: Scene of its prompt.
        evaluation: Its evaluation.

    Returns:
        Empty if every verdict passes, or none can be improved by drawing again.
    """
    order = list(FixReason)
    found = (*_of_relations(scene, evaluation), *_of_mentions(evaluation))
    return tuple(sorted(found, key=lambda each: order.index(each.reason)))


def _of_relations(scene: SceneGraph, evaluation: Evaluation) -> Iterator[FoundReason]:
    relations = {relation.id: relation for relation in scene.relations}
    for verdict in evaluation.verdicts:
        relation = relations.get(verdict.relation_id)
        if relation is None or verdict.outcome is Outcome.PASS:
            continue
        if verdict.reason is AbstentionReason.NO_DEPTH:
            continue  # no depth model is installed
        reason = _of_verdict(verdict, relation, evaluation.perception)
        yield FoundReason(reason=reason, about=verdict.about or relation.ends)


def _of_verdict(verdict: Verdict, relation: Relation, perception: Perception) -> FixReason:
    match verdict.reason:
        case AbstentionReason.MISSING_OBJECT:
            is_merged = any(_is_merged(end, perception) for end in verdict.about)
            return FixReason.MERGED if is_merged else FixReason.MISSING
        case AbstentionReason.AMBIGUOUS_OBJECT:
            return FixReason.DUPLICATED
        case AbstentionReason.HIGH_OVERLAP:
            return FixReason.MERGED
        case AbstentionReason.UNSTABLE | AbstentionReason.DETECTORS_DISAGREE:
            return FixReason.UNSURE
        case _:
            return _of_geometry(relation)


def _of_geometry(relation: Relation) -> FixReason:
    if relation.type.needs_depth:
        return FixReason.DEPTH
    return FixReason.DISTANCE if relation.type.shape in _DISTANCES else FixReason.PLACE


def _is_merged(missing: MentionId, perception: Perception) -> bool:
    """Return True if the best candidate for a missing object lies on an object that was found."""
    candidates = [each for each in perception.detections if each.mention_id == missing]
    if not candidates:
        return False
    best = max(candidates, key=lambda each: each.score)
    found = (
        each
        for each in perception.detections
        if each.mention_id != missing and each.score >= max(perception.cut, best.score)
    )
    return any(containment(best.box, each.box) >= MERGED_AT for each in found)


def _of_mentions(evaluation: Evaluation) -> Iterator[FoundReason]:
    for verdict in evaluation.mention_verdicts:
        if verdict.outcome is not Outcome.PASS:
            yield FoundReason(reason=_of_mention(verdict), about=(verdict.mention_id,))


def _of_mention(verdict: MentionVerdict) -> FixReason:
    if verdict.doubt is MentionDoubt.MISSING_OBJECT:
        return FixReason.MISSING
    is_count = verdict.kind is RequirementKind.COUNT
    return FixReason.COUNT if is_count else FixReason.COLOUR
