"""What the centre metrics of other benchmarks say of one relation, and of one picture.

They look at the boxes of one perception, whatever detector gave them. A box counts by the threshold
that the benchmark publishes for its own detector, not by that of the checker: VISOR 0.1,
T2I-CompBench 0.5, HRS-Bench 0.5, GenEval 0.3.
"""

from collections.abc import Iterable, Sequence
from dataclasses import field

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import (
    Box,
    Detection,
    Perception,
)
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import (
    ABOVE,
    Axis,
    Relation,
    RelationType,
    SceneGraph,
    Shape,
)
from spatialstudio.science.metrics import compbench, geneval, hrs, visor
from spatialstudio.science.metrics.compbench import CompBenchRules
from spatialstudio.science.metrics.geneval import GenEvalRules
from spatialstudio.science.metrics.hrs import HrsClaim, HrsRules
from spatialstudio.science.metrics.visor import VisorRules

_ON_TOP = "on top of"


@frozen
class CenterRules:
    """What counts with each benchmark; the defaults are the published ones, faults included."""

    visor: VisorRules = field(default_factory=VisorRules)
    compbench: CompBenchRules = field(default_factory=CompBenchRules)
    hrs: HrsRules = field(default_factory=HrsRules)
    geneval: GenEvalRules = field(default_factory=GenEvalRules)


PUBLISHED = CenterRules()
MENDED = CenterRules(
    visor=visor.MENDED, compbench=compbench.MENDED, hrs=hrs.MENDED, geneval=geneval.MENDED
)


@frozen
class CenterScores:
    """The answers of four benchmarks; None where one knows no such relation.

    Attributes:
        found: Whether all ends were found, by VISOR's threshold.
        visor: VISOR: whether the relation holds.
        compbench: T2I-CompBench: [0, 1].
        hrs: HRS-Bench: whether the relation holds.
        geneval: GenEval: whether the relation holds.
    """

    found: bool
    visor: bool | None
    compbench: float | None
    hrs: bool | None
    geneval: bool | None


def center_scores(
    relation: Relation,
    scene: SceneGraph,
    perception: Perception,
    rules: CenterRules = PUBLISHED,
) -> CenterScores:
    """Ask all four about one relation.

    Args:
        relation: The claim.
        scene: What the prompt claims, this among it.
        perception: What was seen.
        rules: What counts.
    """
    placed = _boxes(relation.ends, perception, rules.visor.detection_threshold)
    is_placed, is_positioned, is_met = None, None, None
    if _is_order_in_plane(relation.type):
        judged = visor.visor_picture(relation.id, relation.type, placed[0], placed[1], rules.visor)
        is_placed = judged.is_correct
        seen = _boxes(relation.ends, perception, rules.geneval.detection_threshold)
        is_positioned = geneval.geneval_correct(relation.type, seen[0], seen[1], rules.geneval)
    if _is_known_to_hrs(relation.type):
        seen = _boxes(relation.ends, perception, rules.hrs.detection_threshold)
        is_met = hrs.hrs_correct([_claim(relation, relation.ends)], seen, rules.hrs)
    return CenterScores(
        found=all(placed),
        visor=is_placed,
        compbench=_compbench(relation, scene, perception, rules.compbench),
        hrs=is_met,
        geneval=is_positioned,
    )


def hrs_of_scene(
    scene: SceneGraph, perception: Perception, rules: HrsRules = hrs.PUBLISHED
) -> bool | None:
    """Judge a picture by all relations of its prompt at once, as HRS-Bench does.

    Args:
        scene: What the prompt claims; every thing it mentions must be there.
        perception: What was seen.
        rules: What counts.

    Returns:
        None when the prompt claims nothing that HRS-Bench knows.
    """
    names = [mention.id for mention in scene.mentions]
    known = [relation for relation in scene.relations if _is_known_to_hrs(relation.type)]
    if not known:
        return None
    boxes = _boxes(names, perception, rules.detection_threshold)
    return hrs.hrs_correct([_claim(relation, names) for relation in known], boxes, rules)


def _claim(relation: Relation, names: Sequence[str]) -> HrsClaim:
    subject, *others = (names.index(end) for end in relation.ends)
    return HrsClaim(relation_type=relation.type, subject=subject, others=tuple(others))


def _is_order_in_plane(relation_type: RelationType) -> bool:
    return relation_type.shape is Shape.ORDER and not relation_type.needs_depth


def _is_known_to_hrs(relation_type: RelationType) -> bool:
    return relation_type.shape is Shape.BETWEEN or _is_order_in_plane(relation_type)


def _compbench(
    relation: Relation, scene: SceneGraph, perception: Perception, rules: CompBenchRules
) -> float | None:
    found = (_found(end, perception, rules.detection_threshold) for end in relation.ends[:2])
    subject, other = (instances[0] if instances else None for instances in found)
    kind = relation.type
    if kind.axis is Axis.DEPTH:
        if perception.depth is None:
            return None
        return compbench.depth_score(kind, subject, other, perception.depth.values, rules)
    if kind == ABOVE and _says_on_top(relation, scene):
        return compbench.on_top_score(subject, other, perception.width, rules)
    if kind.axis is not None or kind.shape is Shape.NEAR:
        return compbench.plane_score(kind, subject, other, perception.width, rules)
    return None


def _says_on_top(relation: Relation, scene: SceneGraph) -> bool:
    """Whether a relation stands as "on top of" in the prompt; "on the top of" is another phrase."""
    if relation.span is None:
        return False
    words = scene.prompt.text[relation.span.start : relation.span.stop]
    return _ON_TOP in " ".join(words.lower().split())


def _boxes(ends: Iterable[MentionId], perception: Perception, threshold: float) -> list[list[Box]]:
    return [[found.box for found in _found(end, perception, threshold)] for end in ends]


def _found(end: MentionId, perception: Perception, threshold: float) -> list[Detection]:
    """Return a mention's detections above a threshold, surest first, those below the cut too."""
    own = [d for d in perception.detections if d.mention_id == end and d.score > threshold]
    return sorted(own, key=lambda found: -found.score)
