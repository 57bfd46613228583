"""The checker: computes PASS, FAIL, or UNDECIDABLE with a reason from perception.

For each relation, the first rule that applies:

    missing       no detection of a mention passes the score and area thresholds
    ambiguous     two detections of a mention have nearly equal scores
    no depth      the relation is one of depth, and the depth map or a mask is missing
    high overlap  the relation compares x, and the boxes overlap
    near boundary the relation holds, or fails, by no more than the margin
    unstable      the answer changes under small image changes
    disagreement  a second detector disagrees
    confidence    the confidence is below the threshold of an audit
    PASS or FAIL

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, and its code, whose order and
arithmetic are kept for left, right, above and below; the other relations are ours. The settings can
correct its faults: an ambiguous relation is decided where all choices of instances agree, and
overlap can make above and below undecidable too.

Verdicts adjusted by the user, with other thresholds and instances, are computed from the stored
perception; no model runs. Perturbations and the second detector apply to the checker's choice; for
other instances they count as untested.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod

from spatialstudio.domain.scene import (
    Axis,
    MentionId,
    Relation,
    RelationType,
    SceneGraph,
)
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Adjustment,
    CheckerSettings,
    ConfidenceComponents,
    Detection,
    Evaluation,
    Looks,
    Measurement,
    Outcome,
    Perception,
    StabilityMeasure,
    Verdict,
)
from spatialstudio.science.checker.confidence import (
    agreement_of,
    confidence,
    detection_component,
    geometry_component,
    stability_of,
)
from spatialstudio.science.checker.decide_mentions import decide_mentions
from spatialstudio.science.checker.measurement import (
    BoxMeasurement,
    Candidates,
    candidates_of,
    measure_from,
    measure_relation,
)
from spatialstudio.science.pos.pse import relation_pse

NO_LOOKS = Looks()
MAX_CHOICES = 10_000
"""Maximum number of compared choices of instances; above it the relation is ambiguous."""

_UNTESTED = 1.0
_NO_CONFIDENCE = ConfidenceComponents(detection=0, geometry=0, stability=0, agreement=0)


def decide(
    scene: SceneGraph, perception: Perception, settings: CheckerSettings, looks: Looks = NO_LOOKS
) -> tuple[Verdict, ...]:
    """Decide every relation of a scene.

    Args:
        scene: The scene graph.
        perception: The perception of the image.
        settings: Thresholds, weights and options.
        looks: Further perceptions; tests without data count as passed.

    Returns:
        One verdict per relation, in the scene's order.
    """
    return tuple(
        decide_relation(relation, perception, settings, looks) for relation in scene.relations
    )


def decide_again(
    evaluation: Evaluation, scene: SceneGraph, settings: CheckerSettings
) -> Evaluation:
    """Return an evaluation with verdicts under other settings; no model runs.

    Args:
        evaluation: The evaluation, with its perceptions.
        scene: The scene graph.
        settings: The perturbations must be those of the evaluation.
    """
    verdicts = decide(scene, evaluation.perception, settings, evaluation.looks)
    return replace(
        evaluation,
        verdicts=verdicts,
        checker=settings,
        mention_verdicts=decide_mentions(scene, evaluation.instances, settings),
    )


def decide_relation(
    relation: Relation,
    perception: Perception,
    settings: CheckerSettings,
    looks: Looks = NO_LOOKS,
) -> Verdict:
    """Decide one relation; arguments as for ``decide``."""
    found = {end: candidates_of(end, perception, settings) for end in relation.ends}
    missing = tuple(end for end in relation.ends if found[end].chosen is None)
    if missing:
        return _abstain(relation, AbstentionReason.MISSING_OBJECT, missing)
    ambiguous = _ambiguous_end(relation, found, perception, settings)
    if ambiguous:
        return _abstain(relation, AbstentionReason.AMBIGUOUS_OBJECT, (ambiguous,))
    measured_relation = measure_relation(relation, perception, settings)
    if measured_relation is None:
        return _abstain(relation, AbstentionReason.NO_DEPTH, relation.ends)
    measurement = _measure(relation, measured_relation, perception, settings)
    if _is_barred(relation.type, measured_relation, settings):
        return _abstain(relation, AbstentionReason.HIGH_OVERLAP, relation.ends, measurement)
    components = _components(relation, measured_relation, settings, looks)
    sureness = confidence(components, settings.weights)
    reason = _doubt(measured_relation, components, settings, looks)
    if reason is None and sureness < settings.min_confidence:
        reason = AbstentionReason.LOW_CONFIDENCE
    return Verdict(
        relation_id=relation.id,
        outcome=Outcome.UNDECIDABLE if reason else measured_relation.outcome,
        confidence=sureness,
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


def _ambiguous_end(
    relation: Relation,
    found: dict[MentionId, Candidates],
    perception: Perception,
    settings: CheckerSettings,
) -> MentionId | None:
    """Return the first ambiguous end; None if there is none, or all choices agree."""
    ambiguous = next((end for end in relation.ends if found[end].are_ambiguous), None)
    count = prod(len(found[end].rivals) for end in relation.ends)
    if ambiguous and settings.decides_agreeing_instances and count <= MAX_CHOICES:
        choices = product(*(found[end].rivals for end in relation.ends))
        measured_relations = [
            measure_from(choice, relation, perception, settings) for choice in choices
        ]
        if _all_say_the_same(relation.type, measured_relations, settings):
            return None
    return ambiguous


def _all_say_the_same(
    relation_type: RelationType,
    measured_relations: Sequence[BoxMeasurement | None],
    settings: CheckerSettings,
) -> bool:
    outcomes = {
        Outcome.UNDECIDABLE
        if measured_relation is None or _is_barred(relation_type, measured_relation, settings)
        else measured_relation.outcome
        for measured_relation in measured_relations
    }
    return len(outcomes) == 1 and Outcome.UNDECIDABLE not in outcomes


def _measure(
    relation: Relation,
    measured_relation: BoxMeasurement,
    perception: Perception,
    settings: CheckerSettings,
) -> Measurement:
    shown = relation_pse(relation, perception, least_score=settings.detection_score)
    return Measurement(
        delta=measured_relation.reading.delta,
        margin=measured_relation.reading.margin,
        overlap=measured_relation.overlap,
        pos=shown.pos,
        pse=shown.pse,
        gap=measured_relation.reading.gap,
    )


def _is_barred(
    relation_type: RelationType, measured_relation: BoxMeasurement, settings: CheckerSettings
) -> bool:
    barred = {Axis.X, Axis.Y} if settings.overlap_bars_vertical else {Axis.X}
    compares = any(claim.axis in barred for claim in relation_type.claims)
    return compares and measured_relation.overlap > settings.max_overlap_iou


def _components(
    relation: Relation,
    measured_relation: BoxMeasurement,
    settings: CheckerSettings,
    looks: Looks,
) -> ConfidenceComponents:
    reading = measured_relation.reading
    stability = _stability(relation, measured_relation, settings, looks)
    return ConfidenceComponents(
        detection=detection_component([detection.score for detection in measured_relation.chosen]),
        geometry=geometry_component(reading.offset, reading.margin, settings.geometry_slope),
        stability=stability,
        agreement=_agreement(relation, measured_relation, stability, settings, looks),
    )


def _stability(
    relation: Relation,
    measured_relation: BoxMeasurement,
    settings: CheckerSettings,
    looks: Looks,
) -> float:
    if not measured_relation.reading.is_clear:
        return _UNTESTED
    if looks.stability is not None:
        return looks.stability
    if not looks.perturbed:
        return _UNTESTED
    return stability_of(relation, measured_relation, looks.perturbed, settings)


def _agreement(
    relation: Relation,
    measured_relation: BoxMeasurement,
    stability: float,
    settings: CheckerSettings,
    looks: Looks,
) -> float:
    if looks.second is None:
        return _UNTESTED
    unstable = _is_unstable(stability, settings, looks)
    outcome = Outcome.UNDECIDABLE if unstable else measured_relation.outcome
    return agreement_of(
        outcome, measured_relation, measure_relation(relation, looks.second, settings)
    )


def _is_unstable(stability: float, settings: CheckerSettings, looks: Looks) -> bool:
    # NOTE: Recorded stability is the MIXED measure, so it is not compared under ANSWERS.
    is_mixed = settings.stability_measure is StabilityMeasure.MIXED
    return (looks.stability is None or is_mixed) and stability < settings.min_stability


def _doubt(
    measured_relation: BoxMeasurement,
    components: ConfidenceComponents,
    settings: CheckerSettings,
    looks: Looks,
) -> AbstentionReason | None:
    if not measured_relation.reading.is_clear:
        return AbstentionReason.NEAR_BOUNDARY
    if _is_unstable(components.stability, settings, looks):
        return AbstentionReason.UNSTABLE
    if components.agreement < settings.min_agreement:
        return AbstentionReason.DETECTORS_DISAGREE
    return None


def decide_adjusted(
    evaluation: Evaluation, scene: SceneGraph, adjustment: Adjustment
) -> Evaluation:
    """Return an evaluation with the user's adjustment applied.

    Args:
        evaluation: The evaluation, with its perception.
        scene: The scene graph.
        adjustment: The perturbations must be those of the evaluation; a chosen detection that is
            not in its perception is ignored.

    Returns:
        The evaluation, reduced to the detections that were considered, with settings under which
        the chosen detections pass the thresholds.
    """
    settings = adjustment.checker
    seen = evaluation.perception
    seen = replace(seen, cut=min(seen.cut, settings.detection_score))
    chosen = {each.mention_id: each for each in adjustment.choices if each in seen.detections}
    if chosen:
        seen = _narrowed(seen, settings, chosen)
        settings = _lowered(settings, chosen, seen)
    verdicts = tuple(
        decide_relation(
            relation,
            seen,
            settings,
            Looks() if chosen.keys() & set(relation.ends) else evaluation.looks,
        )
        for relation in scene.relations
    )
    return replace(evaluation, perception=seen, verdicts=verdicts, checker=settings)


def _narrowed(
    seen: Perception, settings: CheckerSettings, chosen: Mapping[MentionId, Detection]
) -> Perception:
    """Reduce a perception to the user's choices and the checker's candidates elsewhere."""
    kept = list(_kept(seen, settings, chosen))
    places = [place for place, found in enumerate(seen.detections) if found in kept]
    masks = seen.masks
    if len(masks) == len(seen.detections):
        masks = tuple(masks[place] for place in places)
    detections = tuple(seen.detections[place] for place in places)
    return replace(seen, detections=detections, masks=masks)


def _kept(
    seen: Perception, settings: CheckerSettings, chosen: Mapping[MentionId, Detection]
) -> Iterator[Detection]:
    for mention in dict.fromkeys(found.mention_id for found in seen.detections):
        if mention in chosen:
            yield chosen[mention]
            continue
        candidates = candidates_of(mention, seen, settings)
        if candidates.are_ambiguous:
            yield from candidates.rivals
        elif candidates.chosen is not None:
            yield candidates.chosen


def _lowered(
    settings: CheckerSettings, chosen: Mapping[MentionId, Detection], seen: Perception
) -> CheckerSettings:
    """Lower the thresholds so that the user's choices pass."""
    picture = seen.width * seen.height
    return replace(
        settings,
        detection_score=min(settings.detection_score, *(d.score for d in chosen.values())),
        min_area_fraction=min(
            settings.min_area_fraction, *(d.box.area / picture for d in chosen.values())
        ),
    )
