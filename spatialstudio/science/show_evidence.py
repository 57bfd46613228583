"""Gathers what lies behind a verdict: boxes, masks, bands, projections, perturbed answers."""

from collections.abc import Iterator, Sequence

import numpy as np

from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.assertion import AssertionScore
from spatialstudio.domain.evidence import (
    Evidence,
    EvidenceBox,
    PerturbedAnswer,
    Profile,
    Role,
)
from spatialstudio.domain.perception import Box, DepthMap, Detection, Mask, Perception
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import Axis, Relation, SceneGraph
from spatialstudio.domain.verdict import CheckerSettings, Evaluation, Verdict
from spatialstudio.science.bands import bands_of, gap_of
from spatialstudio.science.candidates import candidates_of, sure_detections
from spatialstudio.science.evidence import EVEN_POS, explain, not_checked
from spatialstudio.science.geometry import intersection
from spatialstudio.science.glance import glance_at
from spatialstudio.science.pse import masks_of_ends
from spatialstudio.science.relation_rules import PICTURE_AXES
from spatialstudio.science.superiority import marginal

DEPTH_SLICES = 64
CROP_BORDER = 0.1
"""Border around the chosen boxes, share of the picture's longer side."""


def evidence_of(
    verdict: Verdict,
    scene: SceneGraph,
    evaluation: Evaluation,
    attention_pos: float | None = None,
) -> Evidence:
    """Gather what lies behind a verdict.

    Args:
        verdict: One of the evaluation's.
        scene: What the prompt claims.
        evaluation: What was seen, and by which settings it was judged.
        attention_pos: As for ``explain``.
    """
    relation = next(known for known in scene.relations if known.id == verdict.relation_id)
    perception, settings = evaluation.perception, evaluation.checker
    chosen = _chosen(relation, perception, settings)
    profiles, depth_edges = _profiles(relation, perception, settings)
    boxes = [detection.box for detection in chosen]
    is_whole = len(boxes) == len(relation.ends)
    return Evidence(
        relation_id=relation.id,
        sentence=explain(verdict, scene, attention_pos),
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
        not_checked=not_checked(relation, scene),
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
    """Project the ends' masks on what is compared; without claims, on both axes of the picture."""
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
        glance = look and glance_at(relation, look, evaluation.checker)
        own = glance.boxes if glance else ()
        yield PerturbedAnswer(
            perturbation=perturbation,
            outcome=glance.outcome if glance else None,
            boxes=own,
            crop=_crop([*boxes, *own], evaluation.perception),
        )


def _crop(boxes: Sequence[Box], perception: Perception) -> Box:
    """Return a box around all boxes, with a border, within the picture; without any, all of it."""
    width, height = float(perception.width), float(perception.height)
    border = CROP_BORDER * max(width, height)
    return Box(
        left=max(min((box.left for box in boxes), default=0.0) - border, 0.0),
        top=max(min((box.top for box in boxes), default=0.0) - border, 0.0),
        right=min(max((box.right for box in boxes), default=width) + border, width),
        bottom=min(max((box.bottom for box in boxes), default=height) + border, height),
    )
