"""The checker: what was seen becomes PASS, FAIL, or UNDECIDABLE with its reason.

For each relation, the first that applies:

    missing       no detection of a mention is sure and large enough
    ambiguous     two detections of a mention are nearly equally sure
    no depth      the relation is one of depth, and depth or masks are not there
    high overlap  the relation compares x, and the boxes overlap
    near boundary the relation holds, or fails, by no more than the margin
    unstable      the answer does not survive small changes of the picture
    PASS or FAIL

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, and its code, whose order and
arithmetic are kept for left, right, above and below; the other relations are ours.
"""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.perception import Detection, Perception
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import Axis, Relation, RelationId, RelationType, SceneGraph
from spatialstudio.domain.verdict import (
    AbstentionReason,
    CheckerSettings,
    ConfidenceComponents,
    Measurement,
    Outcome,
    Verdict,
)
from spatialstudio.science.confidence import confidence, detection_component, geometry_component
from spatialstudio.science.geometry import intersection_over_union
from spatialstudio.science.readings import Reading, read_boxes, read_depth
from spatialstudio.science.relation_rules import relation_pos_on_masks
from spatialstudio.science.superiority import pse_from_pos

_NOT_TESTED: Mapping[RelationId, float] = MappingProxyType({})
_UNTESTED = 1.0
_NO_CONFIDENCE = ConfidenceComponents(detection=0, geometry=0, stability=0, agreement=0)


def decide(
    scene: SceneGraph,
    perception: Perception,
    settings: CheckerSettings,
    stability: Mapping[RelationId, float] = _NOT_TESTED,
    agreement: Mapping[RelationId, float] = _NOT_TESTED,
) -> tuple[Verdict, ...]:
    """Judge every relation of a scene.

    Args:
        scene: What the prompt claims.
        perception: What was seen.
        settings: Thresholds and weights.
        stability: Share of small picture changes that an answer survives, [0, 1]; untested is 1.
        agreement: Consent of a second detector, [0, 1]; untested is 1.

    Returns:
        One verdict a relation, in the scene's order.
    """
    return tuple(
        decide_relation(
            relation,
            perception,
            settings,
            stability.get(relation.id, _UNTESTED),
            agreement.get(relation.id, _UNTESTED),
        )
        for relation in scene.relations
    )


def decide_relation(
    relation: Relation,
    perception: Perception,
    settings: CheckerSettings,
    stability: float = _UNTESTED,
    agreement: float = _UNTESTED,
) -> Verdict:
    """Judge one relation; arguments as for ``decide``."""
    best = _best_detections(relation.ends, perception, settings)
    missing = tuple(end for end in relation.ends if end not in best)
    if missing:
        return _abstain(relation, AbstentionReason.MISSING_OBJECT, missing)
    for end in relation.ends:
        if _is_ambiguous(end, perception, settings):
            return _abstain(relation, AbstentionReason.AMBIGUOUS_OBJECT, (end,))
    chosen = [best[end] for end in relation.ends]
    masks = [_mask_of(end, perception, settings) for end in relation.ends]
    pos = relation_pos_on_masks(relation.type, masks, perception.depth)
    reading = _read(relation.type, chosen, masks, perception, settings)
    if reading is None:
        return _abstain(relation, AbstentionReason.NO_DEPTH, relation.ends)
    measurement = _measurement(reading, chosen, pos)
    if _compares_x(relation.type) and measurement.overlap > settings.max_overlap_iou:
        return _abstain(relation, AbstentionReason.HIGH_OVERLAP, relation.ends, measurement)
    components = ConfidenceComponents(
        detection=detection_component([detection.score for detection in chosen]),
        geometry=geometry_component(reading.offset, reading.margin, settings.geometry_slope),
        stability=stability if reading.is_clear else _UNTESTED,
        agreement=agreement,
    )
    reason = _doubt(reading, components, settings)
    return Verdict(
        relation_id=relation.id,
        outcome=_outcome(reading, reason),
        confidence=confidence(components, settings.weights),
        components=components,
        measurement=measurement,
        reason=reason,
        about=relation.ends if reason else (),
    )


def _abstain(
    relation: Relation,
    reason: AbstentionReason,
    about: tuple[MentionId, ...],
    measurement: Measurement | None = None,
) -> Verdict:
    return Verdict(
        relation_id=relation.id,
        outcome=Outcome.UNDECIDABLE,
        confidence=0.0,
        components=_NO_CONFIDENCE,
        measurement=measurement,
        reason=reason,
        about=about,
    )


def _best_detections(
    mentions: Iterable[MentionId], perception: Perception, settings: CheckerSettings
) -> dict[MentionId, Detection]:
    least_area = settings.min_area_fraction * perception.width * perception.height
    best = {}
    for mention in mentions:
        sure = _sure_detections(mention, perception, settings)
        large = [detection for detection in sure if detection.box.area >= least_area]
        if large:
            best[mention] = large[0]
    return best


def _is_ambiguous(mention: MentionId, perception: Perception, settings: CheckerSettings) -> bool:
    # NOTE: as in the source, detections of any area count here.
    match _sure_detections(mention, perception, settings):
        case [first, second, *_]:
            return first.score - second.score < settings.ambiguity_delta
        case _:
            return False


def _sure_detections(
    mention: MentionId, perception: Perception, settings: CheckerSettings
) -> list[Detection]:
    found = perception.detections_of(mention)
    return [detection for detection in found if detection.score >= settings.detection_score]


def _mask_of(mention: MentionId, perception: Perception, settings: CheckerSettings) -> BoolMask:
    """Unite the masks of a mention's sure instances; empty when there are none."""
    union = np.zeros((perception.height, perception.width), dtype=np.bool_)
    for mask in perception.masks_of(mention):
        if mask.score >= settings.detection_score:
            union |= mask.pixels
    return union


def _read(
    relation_type: RelationType,
    chosen: Sequence[Detection],
    masks: Sequence[BoolMask],
    perception: Perception,
    settings: CheckerSettings,
) -> Reading | None:
    if relation_type.needs_depth:
        return read_depth(relation_type, masks, perception.depth, settings)
    boxes = [detection.box for detection in chosen]
    return read_boxes(relation_type, boxes, perception, settings)


def _measurement(reading: Reading, chosen: Sequence[Detection], pos: float | None) -> Measurement:
    subject, *others = (detection.box for detection in chosen)
    return Measurement(
        delta=reading.delta,
        margin=reading.margin,
        overlap=max(intersection_over_union(subject, other) for other in others),
        pos=pos,
        pse=0.0 if pos is None else pse_from_pos(pos),
        gap=reading.gap,
    )


def _compares_x(relation_type: RelationType) -> bool:
    return any(claim.axis is Axis.X for claim in relation_type.claims)


def _doubt(
    reading: Reading, components: ConfidenceComponents, settings: CheckerSettings
) -> AbstentionReason | None:
    if not reading.is_clear:
        return AbstentionReason.NEAR_BOUNDARY
    if components.stability < settings.min_stability:
        return AbstentionReason.UNSTABLE
    return None


def _outcome(reading: Reading, doubt: AbstentionReason | None) -> Outcome:
    if doubt:
        return Outcome.UNDECIDABLE
    return Outcome.PASS if reading.offset > 0 else Outcome.FAIL
