"""What a fix shows: its reason and remedies in words, its pictures as a strip."""

from collections.abc import Mapping

from PySide6.QtGui import QImage

from spatialstudio.domain.assertion import DaScore
from spatialstudio.domain.fix import Fix, FixAttempt, FixStep, FoundReason
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.ui.run.presenters import time_in_words
from spatialstudio.ui.run.widgets.result_strip import Result
from spatialstudio.ui.widgets.texts import tr


def heading_of(fix: Fix, found: FoundReason | None, *, is_running: bool) -> str:
    """Return why the open picture is not right; while a fix runs, what the attempt is to repair.

    Args:
        fix: The fix.
        found: What the verdicts of the open picture say; None if it passes.
        is_running: Whether an attempt is waiting or being drawn.
    """
    if is_running and len(fix.attempts) < len(fix.steps):
        step = fix.steps[len(fix.attempts)]
        is_new = step.reason is not None
        found = FoundReason(
            reason=step.reason or fix.reason, about=step.about if is_new else fix.about
        )
    return reason_in_words(found, fix.request.scene) if found else ""


def reason_in_words(found: FoundReason, scene: SceneGraph) -> str:
    """Return why a picture is not right, with the objects: "An object is missing: dog."."""
    sentence = tr(found.reason.sentence)
    names = ", ".join(scene.mention(each).phrase for each in found.about)
    return f"{sentence.rstrip('.')}: {names}." if names else sentence


def step_in_words(step: FixStep) -> str:
    """Return the name of an attempt: "Separation, other noise"."""
    label = tr(step.remedy.label)
    return tr("{remedy}, other noise").format(remedy=label) if step.adds_noise else label


def success_in_words(step: FixStep) -> str:
    """Return the measured success of a step: "repaired 25 of 30"."""
    if not step.tried:
        return tr("not measured")
    return tr("repaired {repaired} of {tried}").format(repaired=step.repaired, tried=step.tried)


def budget_in_words(seconds: float | None) -> str:
    """Return the most time of a fix, in seconds; None if unknown."""
    if seconds is None:
        return tr("Time not yet known")
    return tr("at most {time}").format(time=time_in_words(seconds))


def strip_of(fix: Fix, pictures: Mapping[RequestId, QImage]) -> tuple[Result, ...]:
    """Return the start and the attempts whose pictures are known, in order."""
    return tuple(
        Result(
            key=each.request_id,
            pictures=(pictures[each.request_id],),
            outcomes=(each.outcome,),
            caption=caption_of(each),
            words=f"{caption_of(each)}: {outcome_in_words(each)}",
        )
        for each in fix.pictures
        if each.request_id in pictures
    )


def caption_of(attempt: FixAttempt) -> str:
    """Return the name of a picture of a fix."""
    return tr("Start") if attempt.step is None else step_in_words(attempt.step)


def outcome_in_words(attempt: FixAttempt) -> str:
    """Return the joint verdict of an attempt, or why there is none."""
    return attempt.problem if attempt.outcome is None else attempt.outcome.value


def assertion_facts(score: DaScore) -> tuple[tuple[str, str], ...]:
    """Return what each assertion says: its probability and its text."""
    return tuple(
        (
            "?" if each.probability_yes is None else f"{each.probability_yes:.2f}",
            each.assertion.text,
        )
        for each in score.scores
    )


def state_of(fix: Fix, *, is_running: bool) -> str:
    """Return one line on the progress or the end of a fix."""
    done, budget = len(fix.attempts), len(fix.steps)
    if is_running and done < budget:
        step = step_in_words(fix.steps[done])
        words = tr("Drawing attempt {number} of at most {budget}: {step}")
        return words.format(number=done + 1, budget=budget, step=step)
    if fix.is_fixed:
        words = tr("Fixed by attempt {number}: {step}")
        return words.format(number=done, step=caption_of(fix.best))
    if fix.is_over:
        return tr("Not fixed within {budget} pictures; the best one is shown.").format(
            budget=budget
        )
    return tr("Stopped after {count} of {budget} attempts.").format(count=done, budget=budget)
