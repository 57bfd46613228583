"""Explanations of verdicts in sentences with numbers, and the evidence behind them."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from math import hypot

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.assertion import AssertionScore
from spatialstudio.domain.evidence import (
    DOUBTFUL_POS,
    SURE_POS,
    Evidence,
    EvidenceBox,
    GapLine,
    MarginBand,
    PerturbedAnswer,
    Profile,
    Role,
    Unchecked,
)
from spatialstudio.domain.requirements import (
    RequirementKind,
    Requirements,
    requirements_of,
)
from spatialstudio.domain.scene import (
    Axis,
    MentionId,
    Relation,
    RelationType,
    SceneGraph,
    Shape,
)
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Box,
    CheckerSettings,
    DepthMap,
    Detection,
    Evaluation,
    Instance,
    Mask,
    Measurement,
    MentionDoubt,
    MentionVerdict,
    Outcome,
    Perception,
    Verdict,
)
from spatialstudio.science.checker.measurement import (
    between_axis,
    candidates_of,
    intersection,
    measure_relation,
    sure_detections,
)
from spatialstudio.science.pos.pse import masks_of_ends
from spatialstudio.science.pos.superiority import PICTURE_AXES, marginal

EVEN_POS = 0.5
PERCENT = 100
SHOWN_SHARE = 0.1
"""Smallest share of a colour that is named."""
_SIDES = {
    (Axis.X, True): "to the left of",
    (Axis.X, False): "to the right of",
    (Axis.Y, True): "above",
    (Axis.Y, False): "below",
}
_EXTENTS = {Axis.X: "width", Axis.Y: "height"}
_VERBS = {Outcome.PASS: "is", Outcome.FAIL: "is not", Outcome.UNDECIDABLE: "is"}


def explain(
    verdict: Verdict,
    scene: SceneGraph,
    attention_pos: float | None = None,
    unknown: Collection[str] = (),
    judged: Collection[MentionVerdict] = (),
) -> str:
    """Explain a verdict, a contradiction with the attention, and what was not checked.

    Args:
        verdict: Verdict on a relation of ``scene``.
        scene: The scene graph.
        attention_pos: The relation's PoS on the attention at the last step, [0, 1]; None if not
            recorded.
        unknown: Heads outside the detector's classes.
        judged: Verdicts on counts and colours, which are not listed as unchecked.

    Returns:
        Sentences with full stops, for instance "The centre of the dog is 0.31 of the width to
        the left of the centre of the car; the relation requires more than 0.10 to the left."
    """
    relation = next(known for known in scene.relations if known.id == verdict.relation_id)
    clauses = [
        _abstention(verdict, scene) or _comparison(verdict, relation, scene),
        _outside(verdict, scene, unknown),
        _attention(verdict, attention_pos),
        _left_out(not_checked(relation, scene, judged)),
    ]
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in clauses if each)


def share_in_words(share: float) -> str:
    """Format a fraction, [0, 1], in whole percent; only exact 1 and 0 give 100 % and 0 %."""
    percent = f"{share * PERCENT:.0f} %"
    if percent == "100 %" and share < 1:
        return "more than 99 %"
    return "less than 1 %" if percent == "0 %" and share > 0 else percent


def not_checked(
    relation: Relation, scene: SceneGraph, judged: Collection[MentionVerdict] = ()
) -> tuple[Unchecked, ...]:
    """Return the attributes of a relation's ends, and the counts and colours without a verdict."""
    checked = {(verdict.mention_id, verdict.kind) for verdict in judged}
    return tuple(
        Unchecked(mention_id=end, kind=kind, words=words)
        for end in dict.fromkeys(relation.ends)
        for kind, words in _required_of(requirements_of(scene, end))
        if (end, kind) not in checked
    )


def _required_of(required: Requirements) -> Iterator[tuple[RequirementKind, str]]:
    if required.quantity is not None:
        yield RequirementKind.COUNT, required.quantity.words
    for colour in required.colours:
        yield RequirementKind.COLOUR, colour.words
    for attribute in required.others:
        yield RequirementKind.ATTRIBUTE, attribute


def explain_mention(
    verdict: MentionVerdict, scene: SceneGraph, unknown: Collection[str] = ()
) -> str:
    """Explain a verdict on a count or colour in sentences.

    Args:
        verdict: A verdict on a mention of ``scene``.
        scene: The scene graph.
        unknown: Heads outside the detector's classes.

    Returns:
        For instance "One instance of bird was found; the prompt requires three."
    """
    head = scene.detected_name(verdict.mention_id)
    if verdict.doubt is MentionDoubt.MISSING_OBJECT:
        is_unknown = scene.mention(verdict.mention_id).head in unknown
        reason = f" The detector has no class for the {head}." if is_unknown else ""
        return f"Not found: the {head}.{reason}"
    if verdict.kind is RequirementKind.COUNT:
        return _count_in_words(verdict, head)
    return _colour_in_words(verdict, head)


_COUNT_DOUBTS = {
    MentionDoubt.UNSEPARATED: "touching instances may be one object or several",
    MentionDoubt.TOO_MANY: "so many cannot be counted reliably",
    MentionDoubt.INDISTINCT: "the prompt names several of them without telling them apart",
    MentionDoubt.CLOSE_COLOURS: "the colours of some instances are not clear",
}


def _count_in_words(verdict: MentionVerdict, head: str) -> str:
    noun = "instance" if verdict.count == 1 else "instances"
    found = f"{verdict.count} {noun} of {head} found; the prompt requires {verdict.words}"
    doubt = _COUNT_DOUBTS.get(verdict.doubt) if verdict.doubt else None
    return f"Too close to call: {found}; {doubt}." if doubt else f"{found[0].upper()}{found[1:]}."


def _colour_in_words(verdict: MentionVerdict, head: str) -> str:
    seen = _shares_in_words(verdict.instances)
    if verdict.doubt is MentionDoubt.NO_MASK:
        return f"The colour of the {head} needs the picture and a mask."
    if verdict.doubt is MentionDoubt.MULTICOLOURED:
        return f"The {head} has several colours ({seen}); the prompt requires {verdict.words}."
    opening = "Too close to call: the" if verdict.doubt else "The"
    return f"{opening} {head} is {seen}; the prompt requires {verdict.words}."


def _shares_in_words(instances: Sequence[Instance]) -> str:
    """Return the main colours of instances, each as the mean: "red 82 %, brown 11 %"."""
    shares = Counter[str]()
    for instance in instances:
        shares.update({each.term: each.share / len(instances) for each in instance.colours})
    main = [(term, share) for term, share in shares.most_common(2) if share >= SHOWN_SHARE]
    return ", ".join(f"{term} {share_in_words(share)}" for term, share in main)


def _left_out(unchecked: Sequence[Unchecked]) -> str:
    """Return what was not checked: "count (three) and colour (blue) were not checked"."""
    parts = []
    for kind in RequirementKind:
        words = [each.words for each in unchecked if each.kind is kind]
        if words:
            parts.append(f"{kind.value}{'s' * (len(words) > 1)} ({', '.join(words)})")
    if not parts:
        return ""
    *first, last = parts
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{listed} {'was' if len(unchecked) == 1 else 'were'} not checked"


def _attention(verdict: Verdict, pos: float | None) -> str:
    """Return a clause if the attention at the last step contradicts the verdict."""
    if pos is None:
        return ""
    share = share_in_words(pos)
    if verdict.outcome is Outcome.FAIL and pos >= SURE_POS:
        return f"attention PoS is {share}, but the picture does not satisfy the relation"
    if verdict.outcome is Outcome.PASS and pos <= DOUBTFUL_POS:
        return f"attention PoS is only {share}, but the picture satisfies the relation"
    return ""


def _abstention(verdict: Verdict, scene: SceneGraph) -> str:
    about = _listed(verdict.about, scene)
    match verdict.reason:
        case AbstentionReason.MISSING_OBJECT:
            return f"not found: {about}"
        case AbstentionReason.AMBIGUOUS_OBJECT:
            return f"several instances with similar scores: {about}"
        case AbstentionReason.NO_DEPTH:
            return "depth relations need a depth map and masks"
        case AbstentionReason.HIGH_OVERLAP if verdict.measurement:
            return f"{about} overlap too much (IoU {verdict.measurement.overlap:.2f})"
        case AbstentionReason.UNSTABLE:
            share = verdict.components.stability
            return f"the verdict changes under small perturbations (stability {share:.2f})"
        case AbstentionReason.DETECTORS_DISAGREE:
            share = verdict.components.agreement
            return f"the second detector disagrees (agreement {share:.2f})"
        case AbstentionReason.LOW_CONFIDENCE:
            return f"the confidence is below the threshold (confidence {verdict.confidence:.2f})"
        case _:
            return ""


def _outside(verdict: Verdict, scene: SceneGraph, unknown: Collection[str]) -> str:
    """Return a clause on missing objects that the detector cannot recognise."""
    if verdict.reason is not AbstentionReason.MISSING_OBJECT:
        return ""
    outside = [each for each in verdict.about if scene.mention(each).head in unknown]
    return f"the detector has no class for {_listed(outside, scene)}" if outside else ""


def _comparison(verdict: Verdict, relation: Relation, scene: SceneGraph) -> str:
    subject, *others = relation.ends
    placed, landmark = _listed([subject], scene), _listed(others, scene)
    measured = verdict.measurement
    claim = relation.type.claims[0] if relation.type.axis in _EXTENTS else None
    if measured and measured.delta is not None and claim:
        side = _SIDES[claim.axis, measured.delta < 0]
        wanted = _SIDES[claim.axis, claim.subject_first]
        share = f"{abs(measured.delta):.2f} of the {_EXTENTS[claim.axis]}"
        opening = "too close to call: " if verdict.reason else ""
        return (
            f"{opening}the centre of {placed} is {share} {side} the centre of {landmark}; the "
            f"relation requires more than {measured.margin:.2f} {wanted.removesuffix(' of')}"
        )
    holds = f"{placed} {_VERBS[verdict.outcome]} {relation.type.phrase} {landmark}"
    opening = "too close to call whether " if verdict.reason else ""
    return f"{opening}{holds}{_numbers(measured, relation)}"


def _numbers(measured: Measurement | None, relation: Relation) -> str:
    if measured and measured.gap is not None:
        return f" (gap {measured.gap:.2f} of the diagonal)"
    if measured and measured.pos is not None and relation.type.needs_depth:
        needed = EVEN_POS + measured.margin
        return f" (depth PoS {measured.pos:.2f}; the relation requires more than {needed:.2f})"
    return f" (PoS {measured.pos:.2f})" if measured and measured.pos is not None else ""


def _listed(mentions: Sequence[MentionId], scene: SceneGraph) -> str:
    return " and ".join(f"the {scene.detected_name(mention)}" for mention in mentions)


def bands_of(
    relation_type: RelationType,
    boxes: Sequence[Box],
    perception: Perception,
    settings: CheckerSettings,
) -> Iterator[MarginBand]:
    """Yield the bands of the subject's centre in which a relation is undecidable.

    Args:
        relation_type: The relation type; near, far and depth have no bands.
        boxes: Boxes of all ends, subject first.
        perception: Provides the size of the image.
        settings: Provides the margins.
    """
    _, landmark, *flank = boxes
    if relation_type.shape is Shape.BETWEEN:
        axis = between_axis(boxes, perception)
        first, last = sorted((landmark, *flank), key=lambda box: _center(box, axis))
        yield _band(axis, first, settings.between_margin, perception, wanted_before=False)
        yield _band(axis, last, settings.between_margin, perception, wanted_before=True)
    for claim in relation_type.claims:
        if claim.axis in PICTURE_AXES:
            yield _band(
                claim.axis,
                landmark,
                settings.margin,
                perception,
                wanted_before=claim.subject_first,
            )


def gap_of(
    relation_type: RelationType,
    boxes: Sequence[Box],
    perception: Perception,
    settings: CheckerSettings,
) -> GapLine | None:
    """Return the shortest line between two boxes; None unless the relation is near or far."""
    if relation_type.shape not in {Shape.NEAR, Shape.FAR}:
        return None
    subject, other = boxes
    xs = _nearest(subject.left, subject.right, other.left, other.right)
    ys = _nearest(subject.top, subject.bottom, other.top, other.bottom)
    diagonal = hypot(perception.width, perception.height)
    return GapLine(
        start_xy=(xs[0], ys[0]),
        stop_xy=(xs[1], ys[1]),
        near=settings.near_distance * diagonal,
        far=settings.far_distance * diagonal,
    )


def _band(
    axis: Axis, landmark: Box, margin: float, perception: Perception, *, wanted_before: bool
) -> MarginBand:
    side = perception.width if axis is Axis.X else perception.height
    middle = _center(landmark, axis)
    return MarginBand(
        axis=axis,
        start=middle - margin * side,
        stop=middle + margin * side,
        wanted_before=wanted_before,
    )


def _center(box: Box, axis: Axis) -> float:
    return box.center_xy[0] if axis is Axis.X else box.center_xy[1]


def _nearest(
    start: float, stop: float, other_start: float, other_stop: float
) -> tuple[float, float]:
    """Return the nearest points of two intervals; the middle of their intersection, if any."""
    if stop < other_start:
        return stop, other_start
    if other_stop < start:
        return start, other_stop
    middle = (max(start, other_start) + min(stop, other_stop)) / 2
    return middle, middle


DEPTH_SLICES = 64
CROP_BORDER = 0.1
"""Border around the chosen boxes, fraction of the longer image side."""


def evidence_of(
    verdict: Verdict,
    scene: SceneGraph,
    evaluation: Evaluation,
    attention_pos: float | None = None,
) -> Evidence:
    """Return the evidence for a verdict.

    Args:
        verdict: A verdict of the evaluation.
        scene: The scene graph.
        evaluation: The evaluation.
        attention_pos: As for ``explain``.
    """
    relation = next(known for known in scene.relations if known.id == verdict.relation_id)
    perception, settings = evaluation.perception, evaluation.checker
    judged = evaluation.mention_verdicts
    chosen = _chosen(relation, perception, settings)
    profiles, depth_edges = _profiles(relation, perception, settings)
    boxes = [detection.box for detection in chosen]
    is_whole = len(boxes) == len(relation.ends)
    return Evidence(
        relation_id=relation.id,
        sentence=explain(verdict, scene, attention_pos, perception.missing_classes, judged),
        boxes=tuple(_boxes(relation, evaluation)),
        masks=_masks(relation, perception, settings),
        bands=tuple(bands_of(relation.type, boxes, perception, settings)) if is_whole else (),
        gap=gap_of(relation.type, boxes, perception, settings) if is_whole else None,
        pos_band=_pos_band(relation, settings),
        intersection=_shared(boxes) if is_whole else None,
        profiles=profiles,
        depth_edges=depth_edges,
        perturbed=tuple(_perturbed(relation, evaluation, boxes)),
        crop=_crop(boxes, perception) if boxes else None,
        assertions=tuple(_assertions(relation, evaluation)),
        not_checked=not_checked(relation, scene, judged),
    )


def _chosen(
    relation: Relation, perception: Perception, settings: CheckerSettings
) -> list[Detection]:
    choices = (candidates_of(end, perception, settings).chosen for end in relation.ends)
    return [detection for detection in choices if detection is not None]


def _boxes(relation: Relation, evaluation: Evaluation) -> Iterator[EvidenceBox]:
    for end in relation.ends:
        own = [found for found in evaluation.perception.detections if found.mention_id == end]
        for detection in sorted(own, key=lambda found: -found.score):
            yield _evidence_box(detection, _role(detection, evaluation))
    if evaluation.looks.second is not None:
        for detection in _chosen(relation, evaluation.looks.second, evaluation.checker):
            yield _evidence_box(detection, Role.SECOND_OPINION)


def _role(detection: Detection, evaluation: Evaluation) -> Role:
    settings = evaluation.checker
    candidates = candidates_of(detection.mention_id, evaluation.perception, settings)
    if detection is candidates.chosen:
        return Role.CHOSEN
    if any(detection is rival for rival in candidates.rivals):
        return Role.RIVAL
    sure = sure_detections(detection.mention_id, evaluation.perception, settings)
    is_sure = any(detection is other for other in sure)
    return Role.PASSED_OVER if is_sure else Role.TOO_UNSURE


def _evidence_box(detection: Detection, role: Role) -> EvidenceBox:
    return EvidenceBox(
        mention_id=detection.mention_id,
        box=detection.box,
        score=detection.score,
        role=role,
        label=detection.label,
    )


def _masks(
    relation: Relation, perception: Perception, settings: CheckerSettings
) -> tuple[Mask, ...]:
    return tuple(
        mask
        for end in relation.ends
        for mask in perception.masks_of(end)
        if mask.score >= settings.detection_score
    )


def _pos_band(relation: Relation, settings: CheckerSettings) -> tuple[float, float] | None:
    if not relation.type.needs_depth:
        return None
    return EVEN_POS - settings.depth_margin, EVEN_POS + settings.depth_margin


def _shared(boxes: Sequence[Box]) -> Box | None:
    subject, *others = boxes
    largest = max((intersection(subject, other) for other in others), key=lambda box: box.area)
    return largest if largest.area > 0 else None


def _assertions(relation: Relation, evaluation: Evaluation) -> Iterator[AssertionScore]:
    for score in evaluation.da_score.scores if evaluation.da_score else ():
        stated = score.assertion.relation_id
        if stated == relation.id or (
            stated is None and score.assertion.mention_id in relation.ends
        ):
            yield score


def _profiles(
    relation: Relation, perception: Perception, settings: CheckerSettings
) -> tuple[tuple[Profile, ...], tuple[float, ...]]:
    """Project the ends' masks onto the compared axes; without claims, onto both image axes."""
    masks = masks_of_ends(relation, perception, settings.detection_score)
    seen = [pair for pair in zip(relation.ends, masks, strict=True) if pair[1].any()]
    axes = [claim.axis for claim in relation.type.claims] or PICTURE_AXES
    flat = [
        Profile(mention_id=end, axis=axis, weights=marginal(mask.astype(np.float64), axis))
        for axis in axes
        if axis in PICTURE_AXES
        for end, mask in seen
    ]
    if Axis.DEPTH not in axes or perception.depth is None or not seen:
        return tuple(flat), ()
    edges = _depth_edges(seen, perception.depth)
    deep = [
        Profile(mention_id=end, axis=Axis.DEPTH, weights=_depths(mask, perception.depth, edges))
        for end, mask in seen
    ]
    return (*flat, *deep), edges


def _depth_edges(seen: Sequence[tuple[MentionId, BoolMask]], depth: DepthMap) -> tuple[float, ...]:
    values = np.concatenate([depth.values[mask] for _, mask in seen])
    edges = np.histogram_bin_edges(values.astype(np.float64), DEPTH_SLICES)
    return tuple(float(edge) for edge in edges)


def _depths(
    mask: BoolMask, depth: DepthMap, edges: tuple[float, ...]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    counts, _ = np.histogram(depth.values[mask].astype(np.float64), np.array(edges))
    return counts / counts.sum()


def _perturbed(
    relation: Relation, evaluation: Evaluation, boxes: Sequence[Box]
) -> Iterator[PerturbedAnswer]:
    pairs = zip(evaluation.checker.perturbations, evaluation.looks.perturbed, strict=False)
    for perturbation, look in pairs:
        measured_relation = look and measure_relation(relation, look, evaluation.checker)
        own = measured_relation.boxes if measured_relation else ()
        yield PerturbedAnswer(
            perturbation=perturbation,
            outcome=measured_relation.outcome if measured_relation else None,
            boxes=own,
            crop=_crop([*boxes, *own], evaluation.perception),
        )


def _crop(boxes: Sequence[Box], perception: Perception) -> Box:
    """Return the bounding box of boxes plus a border, clipped; without boxes, the whole image."""
    width, height = float(perception.width), float(perception.height)
    border = CROP_BORDER * max(width, height)
    return Box(
        left=max(min((box.left for box in boxes), default=0.0) - border, 0.0),
        top=max(min((box.top for box in boxes), default=0.0) - border, 0.0),
        right=min(max((box.right for box in boxes), default=width) + border, width),
        bottom=min(max((box.bottom for box in boxes), default=height) + border, height),
    )
