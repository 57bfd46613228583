"""Why the checker answers as it does: one plain sentence with its numbers."""

from collections.abc import Sequence

from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import Axis, Relation, SceneGraph
from spatialstudio.domain.verdict import AbstentionReason, Measurement, Outcome, Verdict

EVEN_POS = 0.5
_SIDES = {
    (Axis.X, True): "left of",
    (Axis.X, False): "right of",
    (Axis.Y, True): "above",
    (Axis.Y, False): "below",
}
_EXTENTS = {Axis.X: "width", Axis.Y: "height"}
_VERBS = {Outcome.PASS: "is", Outcome.FAIL: "is not", Outcome.UNDECIDABLE: "is"}


def explain(verdict: Verdict, scene: SceneGraph) -> str:
    """Say in one sentence why a verdict is what it is.

    Args:
        verdict: Of a relation of ``scene``.
        scene: What the prompt claims.

    Returns:
        A sentence with a full stop, for instance "The dog's centre lies 0.31 of the width left of
        the car's; more than 0.10 left is needed."
    """
    relation = next(known for known in scene.relations if known.id == verdict.relation_id)
    clause = _abstention(verdict, scene) or _comparison(verdict, relation, scene)
    return f"{clause[0].upper()}{clause[1:]}."


def _abstention(verdict: Verdict, scene: SceneGraph) -> str:
    about = _listed(verdict.about, scene)
    match verdict.reason:
        case AbstentionReason.MISSING_OBJECT:
            return f"not found: {about}"
        case AbstentionReason.AMBIGUOUS_OBJECT:
            return f"found more than once, equally surely: {about}"
        case AbstentionReason.NO_DEPTH:
            return "without depth and masks nobody can tell what is in front"
        case AbstentionReason.HIGH_OVERLAP if verdict.measurement:
            return f"{about} overlap too much to tell (IoU {verdict.measurement.overlap:.2f})"
        case AbstentionReason.UNSTABLE:
            share = verdict.components.stability
            return f"the answer does not survive small changes (stability {share:.2f})"
        case AbstentionReason.DETECTORS_DISAGREE:
            share = verdict.components.agreement
            return f"a second detector sees it otherwise (agreement {share:.2f})"
        case _:
            return ""


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
            f"{opening}{placed}'s centre lies {share} {side} {landmark}'s; "
            f"more than {measured.margin:.2f} {wanted.removesuffix(' of')} is needed"
        )
    holds = f"{placed} {_VERBS[verdict.outcome]} {relation.type.phrase} {landmark}"
    opening = "too close to call whether " if verdict.reason else ""
    return f"{opening}{holds}{_numbers(measured, relation)}"


def _numbers(measured: Measurement | None, relation: Relation) -> str:
    if measured and measured.gap is not None:
        return f" (gap {measured.gap:.2f} of the diagonal)"
    if measured and measured.pos is not None and relation.type.needs_depth:
        needed = EVEN_POS + measured.margin
        return f" (PoS along depth {measured.pos:.2f}; more than {needed:.2f} is needed)"
    if measured and measured.pos is not None:
        return f" (PoS {measured.pos:.2f})"
    return ""


def _listed(mentions: Sequence[MentionId], scene: SceneGraph) -> str:
    return " and ".join(f"the {scene.name(mention)}" for mention in mentions)
