"""What the centre metrics of other benchmarks say of one relation, and of one picture.

They look at the boxes of one perception, whatever detector gave them; a detection counts by the
checker's threshold, where each benchmark has one for its own detector.
"""

from collections.abc import Sequence
from dataclasses import field

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import Detection, Perception
from spatialstudio.domain.relation import Axis, Relation, RelationType, SceneGraph, Shape
from spatialstudio.domain.verdict import CheckerSettings
from spatialstudio.science import compbench, geneval, hrs, visor
from spatialstudio.science.candidates import sure_detections
from spatialstudio.science.compbench import CompBenchRules
from spatialstudio.science.geneval import GenEvalRules
from spatialstudio.science.hrs import HrsClaim, HrsRules
from spatialstudio.science.visor import VisorRules


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
        found: Whether all ends were found.
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
    perception: Perception,
    settings: CheckerSettings,
    rules: CenterRules = PUBLISHED,
) -> CenterScores:
    """Ask all four about one relation.

    Args:
        relation: The claim.
        perception: What was seen.
        settings: For the least score of a detection.
        rules: What counts.
    """
    found = [sure_detections(end, perception, settings) for end in relation.ends]
    boxes = [[detection.box for detection in instances] for instances in found]
    is_placed, is_positioned, is_met = None, None, None
    if _is_order_in_plane(relation.type):
        judged = visor.visor_picture(relation.id, relation.type, boxes[0], boxes[1], rules.visor)
        is_placed = judged.is_correct
        is_positioned = geneval.geneval_correct(relation.type, boxes[0], boxes[1], rules.geneval)
    if _is_known_to_hrs(relation.type):
        is_met = hrs.hrs_correct([_claim(relation, relation.ends)], boxes, rules.hrs)
    return CenterScores(
        found=all(found),
        visor=is_placed,
        compbench=_compbench(relation.type, found, perception, rules.compbench),
        hrs=is_met,
        geneval=is_positioned,
    )


def hrs_of_scene(
    scene: SceneGraph,
    perception: Perception,
    settings: CheckerSettings,
    rules: HrsRules = hrs.PUBLISHED,
) -> bool | None:
    """Judge a picture by all relations of its prompt at once, as HRS-Bench does.

    Args:
        scene: What the prompt claims; every thing it mentions must be there.
        perception: What was seen.
        settings: For the least score of a detection.
        rules: What counts.

    Returns:
        None when the prompt claims nothing that HRS-Bench knows.
    """
    names = [mention.id for mention in scene.mentions]
    known = [relation for relation in scene.relations if _is_known_to_hrs(relation.type)]
    if not known:
        return None
    boxes = [
        [detection.box for detection in sure_detections(name, perception, settings)]
        for name in names
    ]
    return hrs.hrs_correct([_claim(relation, names) for relation in known], boxes, rules)


def _claim(relation: Relation, names: Sequence[str]) -> HrsClaim:
    subject, *others = (names.index(end) for end in relation.ends)
    return HrsClaim(relation_type=relation.type, subject=subject, others=tuple(others))


def _is_order_in_plane(relation_type: RelationType) -> bool:
    return relation_type.shape is Shape.ORDER and not relation_type.needs_depth


def _is_known_to_hrs(relation_type: RelationType) -> bool:
    return relation_type.shape is Shape.BETWEEN or _is_order_in_plane(relation_type)


def _compbench(
    relation_type: RelationType,
    found: Sequence[Sequence[Detection]],
    perception: Perception,
    rules: CompBenchRules,
) -> float | None:
    subject, other = (instances[0] if instances else None for instances in found[:2])
    if relation_type.axis is Axis.DEPTH:
        if perception.depth is None:
            return None
        return compbench.depth_score(relation_type, subject, other, perception.depth.values, rules)
    if relation_type.axis is not None or relation_type.shape is Shape.NEAR:
        return compbench.plane_score(relation_type, subject, other, perception.width, rules)
    return None
