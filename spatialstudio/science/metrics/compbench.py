"""T2I-CompBench's 2D and 3D spatial scores, on boxes of any detector.

An image scores a quarter of each object's detection score plus half of the relation score, all in
[0, 1].

Source: Huang et al. 2023 and 2025, T2I-CompBench and T2I-CompBench++, arXiv:2307.06350, and their
code. Its faults can be switched off: "near" holds when the centres are close along either axis;
"on top of" is parsed but always scores 0; depth is read from a transposed region; an overlap of
exactly one half scores 0 in depth.
"""

from collections.abc import Sequence

import numpy as np

from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.metric import Metric
from spatialstudio.domain.scene import (
    ABOVE,
    Axis,
    AxisClaim,
    Relation,
    RelationType,
    SceneGraph,
    Shape,
)
from spatialstudio.domain.verdict import Box, Detection, Evaluation
from spatialstudio.science.checker.measurement import intersection_over_union

_ON_TOP = "on top of"
_OBJECT_SHARE = 0.25
_RELATION_SHARE = 0.5


@frozen
class CompBenchRules:
    """Rules of the metric; the defaults are the published ones.

    Attributes:
        detection_threshold: Boxes with a score above this are used, [0, 1].
        overlap_limit: Maximum IoU without a penalty for 2D relations, [0, 1].
        near_pixels: Maximum distance of near centres, in pixels of an image 480 wide.
        picture_width: Reference image width, pixels.
        least_score: A 2D score below this counts as 0, [0, 1].
        depth_overlap: IoU at which a depth relation scores 1, (0, 1].
        near_along_either_axis: Fault: centres close along one axis are near.
        ignores_on_top: Fault: "on top of" always scores 0; "on the top of" does not.
        transposes_depth: Fault: rows and columns of the depth map are swapped.
        drops_half_overlap: Fault: an IoU of exactly ``depth_overlap`` scores 0.
    """

    detection_threshold: float = 0.5
    overlap_limit: float = 0.1
    near_pixels: float = 150.0
    picture_width: float = 480.0
    least_score: float = 0.5
    depth_overlap: float = 0.5
    near_along_either_axis: bool = True
    ignores_on_top: bool = True
    transposes_depth: bool = True
    drops_half_overlap: bool = True


PUBLISHED = CompBenchRules()
MENDED = CompBenchRules(
    near_along_either_axis=False,
    ignores_on_top=False,
    transposes_depth=False,
    drops_half_overlap=False,
)


def plane_score(
    relation_type: RelationType,
    subject: Detection | None,
    other: Detection | None,
    width: int,
    rules: CompBenchRules = PUBLISHED,
) -> float:
    """Compute the 2D spatial score of an image.

    Args:
        relation_type: Left, right, above, below or near; "on top of" is above.
        subject: The first detection of the subject; None when there is none.
        other: The first detection of the object; None when there is none.
        width: Image width, pixels.
        rules: Rules of the metric.

    Returns:
        [0, 1].
    """
    held = 0.0
    if subject and other:
        held = _held_in_plane(relation_type, subject.box, other.box, width, rules)
    score = _mixed((subject, other), held)
    return score if score >= rules.least_score else 0.0


def on_top_score(
    subject: Detection | None,
    other: Detection | None,
    width: int,
    rules: CompBenchRules = PUBLISHED,
) -> float:
    """Compute the 2D spatial score for "on top of"; arguments as for ``plane_score``."""
    if not rules.ignores_on_top:
        return plane_score(ABOVE, subject, other, width, rules)
    score = _mixed((subject, other), 0.0)
    return score if score >= rules.least_score else 0.0


def depth_score(
    relation_type: RelationType,
    subject: Detection | None,
    other: Detection | None,
    depth: FloatMap,
    rules: CompBenchRules = PUBLISHED,
) -> float:
    """Compute the 3D spatial score of an image.

    Args:
        relation_type: In front of or behind.
        subject: The first detection of the subject; None when there is none.
        other: The first detection of the object; None when there is none.
        depth: (H, W), larger is farther.
        rules: Rules of the metric.

    Returns:
        [0, 1].
    """
    held = 0.0
    if subject and other:
        distance = _mean_depth(depth, subject.box, rules) - _mean_depth(depth, other.box, rules)
        (claim,) = relation_type.claims
        if (distance < 0) if claim.subject_first else (distance > 0):
            held = _overlap_credit(intersection_over_union(subject.box, other.box), rules)
    return _mixed((subject, other), held)


def _mixed(detections: Sequence[Detection | None], held: float) -> float:
    found = [detection for detection in detections if detection]
    return _OBJECT_SHARE * sum(detection.score for detection in found) + _RELATION_SHARE * held


def _held_in_plane(
    relation_type: RelationType, subject: Box, other: Box, width: int, rules: CompBenchRules
) -> float:
    (subject_x, subject_y), (other_x, other_y) = subject.center_xy, other.center_xy
    offset_xy = subject_x - other_x, subject_y - other_y
    if relation_type.shape is Shape.NEAR:
        scale = rules.picture_width / width
        return _nearness(abs(offset_xy[0]) * scale, abs(offset_xy[1]) * scale, rules)
    (claim,) = relation_type.claims
    if not _points_there(claim, offset_xy):
        return 0.0
    overlap = intersection_over_union(subject, other)
    return 1.0 if overlap < rules.overlap_limit else rules.overlap_limit / overlap


def _points_there(claim: AxisClaim, offset_xy: tuple[float, float]) -> bool:
    x, y = offset_xy
    along, across = (x, y) if claim.axis is Axis.X else (y, x)
    is_right_side = along < 0 if claim.subject_first else along > 0
    return is_right_side and abs(along) > abs(across)


def _nearness(apart_x: float, apart_y: float, rules: CompBenchRules) -> float:
    closer, farther = sorted((apart_x, apart_y))
    decisive = closer if rules.near_along_either_axis else farther
    return 1.0 if decisive < rules.near_pixels else rules.near_pixels / farther


def _mean_depth(depth: FloatMap, box: Box, rules: CompBenchRules) -> float:
    """Return the mean depth within a box; NaN when it contains no pixel."""
    columns = slice(max(int(box.left), 0), max(int(box.right), 0))
    rows = slice(max(int(box.top), 0), max(int(box.bottom), 0))
    region = depth[columns, rows] if rules.transposes_depth else depth[rows, columns]
    return float(region.mean()) if region.size else float(np.nan)


def _overlap_credit(overlap: float, rules: CompBenchRules) -> float:
    if overlap == rules.depth_overlap and rules.drops_half_overlap:
        return 0.0
    return min(overlap / rules.depth_overlap, 1.0)


def _of_relation(
    relation: Relation, scene: SceneGraph, evaluation: Evaluation, rules: CompBenchRules
) -> float | None:
    perception, kind = evaluation.perception, relation.type
    subject, other = (
        next(iter(perception.detections_above(end, rules.detection_threshold)), None)
        for end in relation.ends[:2]
    )
    if kind.axis is Axis.DEPTH:
        if perception.depth is None:
            return None
        return depth_score(kind, subject, other, perception.depth.values, rules)
    if kind == ABOVE and _says_on_top(relation, scene):
        return on_top_score(subject, other, perception.width, rules)
    if kind.axis is not None or kind.shape is Shape.NEAR:
        return plane_score(kind, subject, other, perception.width, rules)
    return None


def _says_on_top(relation: Relation, scene: SceneGraph) -> bool:
    """Return True if the prompt states a relation as "on top of", not "on the top of"."""
    if relation.span is None:
        return False
    words = scene.prompt.text[relation.span.start : relation.span.stop]
    return _ON_TOP in " ".join(words.lower().split())


METRIC = Metric(
    id="compbench",
    label="T2I-CompBench",
    help="Combination of detection scores and relation score, [0, 1].",
    of_relation=_of_relation,
    rules=PUBLISHED,
    corrected=MENDED,
    order=50,
)
