"""What the centre metrics of other benchmarks say of one relation, on the boxes of one picture."""

from collections.abc import Sequence
from dataclasses import dataclass

from spatialstudio.domain.perception import Detection, Perception
from spatialstudio.domain.relation import Axis, Relation, RelationType, Shape
from spatialstudio.domain.verdict import CheckerSettings
from spatialstudio.science import compbench, geneval, hrs
from spatialstudio.science.candidates import sure_detections
from spatialstudio.science.center_metrics import visor_picture


@dataclass(frozen=True, slots=True, kw_only=True)
class CenterScores:
    """The answers of four benchmarks; None where one knows no such relation.

    Attributes:
        visor: VISOR: whether the relation holds.
        compbench: T2I-CompBench: [0, 1].
        hrs: HRS-Bench: whether the relation holds.
        geneval: GenEval: whether the relation holds.
    """

    visor: bool | None
    compbench: float | None
    hrs: bool | None
    geneval: bool | None


def center_scores(
    relation: Relation, perception: Perception, settings: CheckerSettings, *, mended: bool = False
) -> CenterScores:
    """Ask all four.

    Args:
        relation: The claim.
        perception: What was seen.
        settings: For the least score of a detection.
        mended: Without the faults of the published code.
    """
    found = [sure_detections(end, perception, settings) for end in relation.ends]
    boxes = [[detection.box for detection in instances] for instances in found]
    in_order = _is_order_in_plane(relation.type)
    is_between = relation.type.shape is Shape.BETWEEN
    visor, position = None, None
    if in_order:
        subjects, others = boxes
        visor = visor_picture(
            relation.id, relation.type, subjects, others, any_pair=not mended
        ).is_correct
        rules = geneval.MENDED if mended else geneval.PUBLISHED
        position = geneval.geneval_correct(relation.type, subjects, others, rules)
    edges = None
    if in_order or is_between:
        places = tuple(range(1, len(boxes)))
        claim = hrs.HrsClaim(relation_type=relation.type, subject=0, others=places)
        edges = hrs.hrs_correct([claim], boxes, hrs.MENDED if mended else hrs.PUBLISHED)
    return CenterScores(
        visor=visor,
        compbench=_compbench(relation.type, found, perception, mended=mended),
        hrs=edges,
        geneval=position,
    )


def _is_order_in_plane(relation_type: RelationType) -> bool:
    return relation_type.shape is Shape.ORDER and not relation_type.needs_depth


def _compbench(
    relation_type: RelationType,
    found: Sequence[Sequence[Detection]],
    perception: Perception,
    *,
    mended: bool,
) -> float | None:
    rules = compbench.MENDED if mended else compbench.PUBLISHED
    subject, other = (instances[0] if instances else None for instances in found[:2])
    if relation_type.axis is Axis.DEPTH:
        if perception.depth is None:
            return None
        return compbench.depth_score(relation_type, subject, other, perception.depth.values, rules)
    if relation_type.axis is not None or relation_type.shape is Shape.NEAR:
        return compbench.plane_score(relation_type, subject, other, perception.width, rules)
    return None
