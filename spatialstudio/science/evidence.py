"""Why the checker answers as it does, in plain sentences with numbers, and what it leaves out."""

from collections.abc import Iterator, Sequence

from spatialstudio.domain.evidence import Unchecked, UncheckedKind
from spatialstudio.domain.prompt import MentionId, ObjectMention
from spatialstudio.domain.relation import Axis, Relation, SceneGraph
from spatialstudio.domain.verdict import AbstentionReason, Measurement, Outcome, Verdict
from spatialstudio.science.colours import colour_named

EVEN_POS = 0.5
SURE_POS, DOUBTFUL_POS = 0.75, 0.25
"""PoS on attention from which it says the contrary of a FAIL, and down to which that of a PASS."""
SEVERAL = "more than one"
PERCENT = 100
_SIDES = {
    (Axis.X, True): "left of",
    (Axis.X, False): "right of",
    (Axis.Y, True): "above",
    (Axis.Y, False): "below",
}
_EXTENTS = {Axis.X: "width", Axis.Y: "height"}
_VERBS = {Outcome.PASS: "is", Outcome.FAIL: "is not", Outcome.UNDECIDABLE: "is"}


def explain(verdict: Verdict, scene: SceneGraph, attention_pos: float | None = None) -> str:
    """Say why a verdict is what it is, where attention says otherwise, and what was not checked.

    Args:
        verdict: Of a relation of ``scene``.
        scene: What the prompt claims.
        attention_pos: The relation's PoS on the attention at the last step, [0, 1]; None where
            none was recorded.

    Returns:
        Sentences with full stops, for instance "The dog's centre lies 0.31 of the width left of
        the car's; more than 0.10 left is needed."
    """
    relation = next(known for known in scene.relations if known.id == verdict.relation_id)
    clause = _abstention(verdict, scene) or _comparison(verdict, relation, scene)
    clauses = [clause, _attention(verdict, attention_pos), _left_out(not_checked(relation, scene))]
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in clauses if each)


def share_in_words(share: float) -> str:
    """Say a share, [0, 1], in whole percent; only all and nothing are called 100 % and 0 %."""
    percent = f"{share * PERCENT:.0f} %"
    if percent == "100 %" and share < 1:
        return "more than 99 %"
    if percent == "0 %" and share > 0:
        return "less than 1 %"
    return percent


def not_checked(relation: Relation, scene: SceneGraph) -> tuple[Unchecked, ...]:
    """List counts, colours and other attributes of a relation's things; no verdict tests them."""
    return tuple(
        Unchecked(mention_id=end, kind=kind, words=words)
        for end in dict.fromkeys(relation.ends)
        for kind, words in _asked_of(scene.mention(end))
    )


def _asked_of(mention: ObjectMention) -> Iterator[tuple[UncheckedKind, str]]:
    if mention.count or mention.is_plural:
        yield UncheckedKind.COUNT, mention.count or SEVERAL
    counts = mention.count.split()
    for word in mention.attributes:
        if word not in counts:
            is_colour = any(colour_named(part) for part in word.split("-"))
            yield UncheckedKind.COLOUR if is_colour else UncheckedKind.ATTRIBUTE, word


def _left_out(unchecked: Sequence[Unchecked]) -> str:
    """Say what was not checked: "count (three) and colour (blue) were not checked"."""
    parts = []
    for kind in UncheckedKind:
        words = [each.words for each in unchecked if each.kind is kind]
        if words:
            parts.append(f"{kind.value}{'s' * (len(words) > 1)} ({', '.join(words)})")
    if not parts:
        return ""
    *first, last = parts
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{listed} {'was' if len(unchecked) == 1 else 'were'} not checked"


def _attention(verdict: Verdict, pos: float | None) -> str:
    """Say where the attention at the last step and the picture disagree."""
    if pos is None:
        return ""
    share = share_in_words(pos)
    if verdict.outcome is Outcome.FAIL and pos >= SURE_POS:
        return f"the attention is {share} sure of the relation, but the picture shows otherwise"
    if verdict.outcome is Outcome.PASS and pos <= DOUBTFUL_POS:
        return f"the attention is only {share} sure of the relation, but the picture shows it"
    return ""


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
    return " and ".join(f"the {scene.detected_name(mention)}" for mention in mentions)
