"""The checks of a verdict in the checker's order, with their values."""

from collections.abc import Callable, Mapping, Sequence
from math import floor

from spatialstudio.application.inspect.inspection import (
    attention_at_the_end,
    evidence_of,
    explain_mention,
)
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.evidence import (
    Evidence,
    Role,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.requirements import RequirementKind
from spatialstudio.domain.scene import (
    Axis,
    Relation,
    RelationType,
    SceneGraph,
)
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Measurement,
    MentionVerdict,
    Outcome,
    Verdict,
)
from spatialstudio.ui.evaluate.widgets.mention_card import JudgedMention
from spatialstudio.ui.evaluate.widgets.verdict_card import CheckState, JudgedRelation, VerdictCheck
from spatialstudio.ui.widgets.texts import tr

STEPS_IN_ONE = 100
"""Thresholds are offered in hundredths."""


@frozen(eq=False)
class Case:
    """A verdict with its relation, evidence and scene, and the verdicts on its ends' counts."""

    relation: Relation
    verdict: Verdict
    evidence: Evidence
    scene: SceneGraph
    counts: tuple[MentionVerdict, ...] = ()

    def scores(self, *roles: Role) -> list[str]:
        """Return the formatted scores of the boxes with the given roles."""
        return [f"{box.score:.2f}" for box in self.evidence.boxes if box.role in roles]

    def things(self) -> str:
        """Return the names of the objects that the verdict is about."""
        return ", ".join(map(self.scene.detected_name, self.verdict.about))


def checks_of(
    relation: Relation,
    verdict: Verdict,
    evidence: Evidence,
    scene: SceneGraph,
    mention_verdicts: Sequence[MentionVerdict] = (),
) -> tuple[VerdictCheck, ...]:
    """Return the checks up to the deciding reason; those without a value are left out."""
    counts = tuple(
        each
        for each in mention_verdicts
        if each.kind is RequirementKind.COUNT and each.mention_id in relation.ends
    )
    case = Case(relation=relation, verdict=verdict, evidence=evidence, scene=scene, counts=counts)
    checks = []
    for reason, (tip, tell) in _CHECKS.items():
        is_broken = reason is verdict.reason
        if text := tell(case, is_broken):
            checks.append(VerdictCheck(reason, text, tr(tip), _state(case, reason)))
        if is_broken:
            break
    return tuple(checks)


def _state(case: Case, reason: AbstentionReason) -> CheckState:
    if reason is case.verdict.reason:
        return CheckState.BROKEN
    if reason is AbstentionReason.NEAR_BOUNDARY and case.verdict.outcome is Outcome.FAIL:
        return CheckState.FAILED
    if reason is AbstentionReason.AMBIGUOUS_OBJECT and _leaves_count(case):
        return CheckState.NOT_CHECKED
    return CheckState.HELD


def lower_threshold(verdict: Verdict, evidence: Evidence) -> float | None:
    """Return the highest threshold that finds all missing objects; None if there is none."""
    if verdict.reason is not AbstentionReason.MISSING_OBJECT:
        return None
    best = {
        mention: max(
            (
                box.score
                for box in evidence.boxes
                if box.mention_id == mention and box.role is Role.TOO_UNSURE
            ),
            default=0.0,
        )
        for mention in verdict.about
    }
    return floor(min(best.values()) * STEPS_IN_ONE) / STEPS_IN_ONE or None


def _found(case: Case, is_broken: bool) -> str:
    if is_broken:
        return tr("not found: {things}").format(things=case.things())
    return tr("found {scores}").format(scores=" · ".join(case.scores(Role.CHOSEN)))


def _alone(case: Case, is_broken: bool) -> str:
    if is_broken:
        own = [box for box in case.evidence.boxes if box.mention_id in case.verdict.about]
        scores = [f"{b.score:.2f}" for b in own if b.role in (Role.CHOSEN, Role.RIVAL)]
        return f"{case.things()} {tr(' or ').join(scores)}"
    if case.scores(Role.RIVAL):
        return tr("all instances agree")
    if counts := [str(each.count) for each in case.counts]:
        return tr("counted {counts}").format(counts=" · ".join(counts))
    if _leaves_count(case):
        return tr("count not checked")
    return (
        tr("highest-scoring instance of each")
        if case.scores(Role.PASSED_OVER)
        else tr("one instance of each")
    )


def _leaves_count(case: Case) -> bool:
    """Return True if the prompt gives a count that no verdict tests or satisfies."""
    if any(each.outcome is not Outcome.PASS for each in case.counts):
        return not case.scores(Role.RIVAL)
    counted = any(each.kind is RequirementKind.COUNT for each in case.evidence.not_checked)
    return counted and not case.scores(Role.RIVAL)


def _depth(_: Case, is_broken: bool) -> str:
    return tr("no depth estimate") if is_broken else ""


def _overlap(case: Case, is_broken: bool) -> str:
    measured = case.verdict.measurement
    compares_x = any(claim.axis is Axis.X for claim in case.relation.type.claims)
    if measured is None or not (compares_x or is_broken):
        return ""
    return tr("overlap {overlap}").format(overlap=f"{measured.overlap:.2f}")


def _margin(case: Case, _: bool) -> str:
    measured = case.verdict.measurement
    if measured is None:
        return ""
    if measured.gap is not None:
        return tr("gap {gap}").format(gap=f"{measured.gap:.2f}")
    if measured.delta is None or case.relation.type.needs_depth:
        return "" if measured.pos is None else f"PoS {measured.pos:.2f}"
    return offset_in_words(case.relation.type, measured)


def offset_in_words(relation_type: RelationType, measured: Measurement) -> str:
    """Return the measured and the required offset, each with its side.

    Returns:
        "0.29 to the right; 0.10 left needed"; empty unless the type compares one image axis.
    """
    if measured.delta is None or relation_type.axis not in _SIDES:
        return ""
    sides = _SIDES[relation_type.axis]
    found = sides[measured.delta >= 0][0]
    needed = sides[not relation_type.claims[0].subject_first][1]
    return tr("{offset} {found}; {margin} {needed} needed").format(
        offset=f"{abs(measured.delta):.2f}",
        found=tr(found),
        margin=f"{measured.margin:.2f}",
        needed=tr(needed),
    )


_SIDES: Mapping[Axis | None, tuple[tuple[str, str], tuple[str, str]]] = {
    Axis.X: (("to the left", "left"), ("to the right", "right")),
    Axis.Y: (("above", "above"), ("below", "below")),
}
"""Words on the sides of each image axis, measured and required; lower coordinates first."""


def _stable(case: Case, _: bool) -> str:
    if not case.evidence.perturbed or case.verdict.measurement is None:
        return ""
    share = case.verdict.components.stability
    return tr("stability {share}").format(share=f"{share:.2f}")


def _agreed(case: Case, is_broken: bool) -> str:
    if not (is_broken or case.scores(Role.SECOND_OPINION)):
        return ""
    share = case.verdict.components.agreement
    return tr("agreement {share}").format(share=f"{share:.2f}")


def _confident(case: Case, is_broken: bool) -> str:
    if not is_broken:
        return ""
    return tr("confidence {share}").format(share=f"{case.verdict.confidence:.2f}")


Tell = Callable[[Case, bool], str]

_CHECKS: Mapping[AbstentionReason, tuple[str, Tell]] = {
    AbstentionReason.MISSING_OBJECT: (
        "Whether all objects were detected, and their scores.",
        _found,
    ),
    AbstentionReason.AMBIGUOUS_OBJECT: ("Whether each object has exactly one instance.", _alone),
    AbstentionReason.NO_DEPTH: ("Whether a depth estimate exists.", _depth),
    AbstentionReason.HIGH_OVERLAP: ("Overlap (IoU) of the two boxes.", _overlap),
    AbstentionReason.NEAR_BOUNDARY: ("Offset relative to the undecidable band.", _margin),
    AbstentionReason.UNSTABLE: ("Share of perturbed pictures with the same verdict.", _stable),
    AbstentionReason.DETECTORS_DISAGREE: ("Agreement of the second detector.", _agreed),
    AbstentionReason.LOW_CONFIDENCE: ("Whether the confidence reaches the threshold.", _confident),
}
"""The checks in the checker's order: question and description of each."""


def judged_relations(run: OpenRun, name: str = "") -> tuple[JudgedRelation, ...]:
    """Return the card contents of one run; empty if it is not evaluated.

    Args:
        run: The run.
        name: Label of its picture; empty when there is only one.
    """
    if run.evaluation is None:
        return ()
    by_id = {relation.id: relation for relation in run.scene.relations}
    attention = attention_at_the_end(run)
    return tuple(
        _judged(
            run,
            by_id[verdict.relation_id],
            evidence_of(verdict, run.scene, run.evaluation, attention.get(verdict.relation_id)),
            verdict,
            name,
        )
        for verdict in run.evaluation.verdicts
    )


def judged_mentions(run: OpenRun, name: str = "") -> tuple[JudgedMention, ...]:
    """Return the card contents of one run's counts and colours; see ``judged_relations``."""
    evaluation = run.evaluation
    if evaluation is None:
        return ()
    return tuple(
        JudgedMention(
            about=tr("{thing}: {kind}, {words}").format(
                thing=run.scene.detected_name(verdict.mention_id),
                kind=tr(verdict.kind.value),
                words=verdict.words,
            ),
            verdict=verdict,
            explanation=explain_mention(verdict, run.scene, evaluation),
            run=name,
        )
        for verdict in evaluation.mention_verdicts
    )


def _judged(
    run: OpenRun, relation: Relation, evidence: Evidence, verdict: Verdict, name: str
) -> JudgedRelation:
    lower = lower_threshold(verdict, evidence)
    mention_verdicts = run.evaluation.mention_verdicts if run.evaluation else ()
    return JudgedRelation(
        relation=run.scene.sentence(relation),
        verdict=verdict,
        explanation=evidence.sentence,
        run=name,
        checks=checks_of(relation, verdict, evidence, run.scene, mention_verdicts),
        threshold=tr("Lower the threshold to {score}").format(score=f"{lower:.2f}")
        if lower
        else "",
        adjusted=_adjusted(verdict, run),
    )


def _adjusted(verdict: Verdict, run: OpenRun) -> str:
    for kept in run.evaluation.adjusted if run.evaluation else ():
        if kept.verdict.relation_id == verdict.relation_id:
            outcome = kept.verdict.outcome.value
            return tr("Adjusted by hand: {outcome}").format(outcome=outcome)
    return ""
