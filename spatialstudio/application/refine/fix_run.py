"""Fix it: the plan for a picture that is not right, and its attempts one after another.

The reason of the verdict decides which remedies are tried, and ``resources/refine/remedies.toml``
in which order: that in which they repaired most pictures of development prompts. Where an attempt
fails for another reason, the remaining ones are planned for that reason. Each attempt is a run
whose parent is the picture to be fixed. The state is saved after each attempt, so that a fix that
ended for any reason is continued. It stops at the first picture that passes; the best one is never
worse than the start, which stays stored.
"""

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from itertools import chain, cycle, islice
from pathlib import Path
from uuid import uuid4

from spatialstudio.application.models.model_lists import choose_guidance
from spatialstudio.application.refine.refine_loop import (
    INTERRUPTED,
    NO_EVALUATION,
    FindPicture,
    no_picture,
    run_name,
    score_of,
)
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import hash_of_picture
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.fix import (
    BUDGET,
    MOST_BUDGET,
    Fix,
    FixAttempt,
    FixReason,
    FixStep,
    FoundReason,
    Remedy,
)
from spatialstudio.domain.generation import (
    LAYOUT,
    GenerationRequest,
    PlaceTarget,
    new_request_id,
)
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.repair import LocalRepair
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.run_settings import places_of, with_values
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.questions.da_score import assertions_of
from spatialstudio.science.refine.fix_reasons import reasons_of
from spatialstudio.science.refine.prompt_parts import in_prompt_order
from spatialstudio.science.refine.remedies import CANDIDATES, remedied, sketch_for
from spatialstudio.science.refine.repair_region import plan_repair

ORDER_FILE = "refine/remedies.toml"

ENOUGH_TRIALS = 5
"""Pictures on which a remedy that repaired none of them is given up."""

RemedyOrder = Mapping[FixReason, tuple[FixStep, ...]]
"""Measured remedies of each reason, in the order in which they are tried."""

DrawAttempt = Callable[[GenerationRequest], OpenRun]
"""Generates, evaluates and stores a picture; returns its run in its final state."""


@cache
def measured_order() -> RemedyOrder:
    """Read the measured order of remedies."""
    text = (resources_folder() / ORDER_FILE).read_text(encoding="utf-8")
    return {
        FixReason(reason): tuple(
            FixStep(
                remedy=Remedy(row["remedy"]),
                other_noise=row["other_noise"],
                tried=row["tried"],
                repaired=row["repaired"],
            )
            for row in rows
        )
        for reason, rows in tomllib.loads(text).items()
    }


def planned_steps(
    reason: FixReason, order: RemedyOrder, budget: int, *, can_redraw: bool = True
) -> tuple[FixStep, ...]:
    """Return the attempts for a reason, most promising first.

    Measured remedies come first. A remedy that was tried on ``ENOUGH_TRIALS`` pictures or more and
    repaired none is left out. The remedies with other noise are then repeated, each time with
    another seed. Without a measured remedy, the remedies of the reason are tried with the same
    noise, then with other noise.

    Args:
        reason: Why the picture is not right.
        order: The measured remedies.
        budget: Most attempts, >= 1.
        can_redraw: Whether a local repair is possible.
    """
    if reason is FixReason.STYLE:
        return (FixStep(remedy=Remedy.WEAKER),) * budget
    left_out = set() if can_redraw else {Remedy.REDRAW}
    measured = order.get(reason, ())
    promising = [step for step in measured if step.repaired or step.tried < ENOUGH_TRIALS]
    known = [step for step in promising if step.remedy not in left_out]
    known = known or [step for step in _unmeasured(reason) if step.remedy not in left_out]
    again = [step for step in known if step.other_noise]
    return tuple(islice(chain(known, cycle(again)), budget))


def _unmeasured(reason: FixReason) -> Iterator[FixStep]:
    for other_noise in (False, True):
        for remedy in CANDIDATES[reason]:
            if other_noise or remedy is not Remedy.NOISE:
                yield FixStep(remedy=remedy, other_noise=other_noise)


def reason_to_fix(run: OpenRun) -> FoundReason | None:
    """Return why a judged run is not right; None if it passes, was not judged or was imported."""
    if run.evaluation is None or run.request is None:
        return None
    return next(iter(reasons_of(run.scene, run.evaluation)), None)


def plan_fix(
    run: OpenRun,
    model: ModelCard,
    *,
    budget: int = BUDGET,
    reason: FixReason | None = None,
    order: RemedyOrder | None = None,
) -> Fix:
    """Plan the attempts for a judged, stored run; nothing is drawn.

    Args:
        run: The picture to be fixed.
        model: Its model.
        budget: Most pictures, 1 to ``MOST_BUDGET``.
        reason: Why it is not right, as the user says; None to take it from the verdicts.
        order: The measured remedies; None for the shipped ones.

    Raises:
        RequestError: The picture passes, was not judged or was imported, or the budget is out of
            range.
    """
    _check_budget(budget)
    request, evaluation = _judged(run)
    found = _found_reason(run, request, reason)
    repair, target = _local_repair(run, request, evaluation)
    can_redraw = repair is not None
    return Fix(
        id=uuid4().hex,
        start=attempt_of(run, None),
        request=replace(request, sweep=None, repair=None),
        reason=found.reason,
        about=found.about,
        steps=planned_steps(found.reason, order or measured_order(), budget, can_redraw=can_redraw),
        layout=choose_guidance(LAYOUT, model, request.sampling.steps),
        places=sketch_for(request.scene, evaluation.perception),
        repair=repair,
        redrawn=target,
    )


def with_budget(fix: Fix, budget: int) -> Fix:
    """Return a fix with another budget; further attempts repeat its remedies with other noise.

    Args:
        fix: A fix; its attempts stay.
        budget: Most pictures, 1 to ``MOST_BUDGET``.

    Raises:
        RequestError: The budget is out of range.
    """
    _check_budget(budget)
    again = [step for step in fix.steps if step.other_noise] or list(fix.steps)
    steps = tuple(islice(chain(fix.steps, cycle(again)), max(budget, len(fix.attempts))))
    return replace(fix, steps=steps)


def _check_budget(budget: int) -> None:
    if not 1 <= budget <= MOST_BUDGET:
        raise RequestError(
            "The number of pictures is out of range.", hint=f"Choose 1 to {MOST_BUDGET}."
        )


def _found_reason(
    run: OpenRun, request: GenerationRequest, reason: FixReason | None
) -> FoundReason:
    """Return the reason that the user states, or that of the verdicts."""
    found = reason_to_fix(run)
    if reason is not None and (found is None or found.reason is not reason):
        found = FoundReason(reason=reason, about=())
    if found is None:
        raise RequestError(
            "There is nothing to fix: the picture passes, or its verdict needs a model that is "
            "not installed.",
            hint="Choose a picture with a failed or undecidable verdict.",
        )
    if found.reason is FixReason.STYLE and not request.sampling.guidance.is_on:
        raise RequestError(
            "The picture was drawn without guidance.", hint="Only a guided picture can lose style."
        )
    return found


def _local_repair(
    run: OpenRun, request: GenerationRequest, evaluation: Evaluation
) -> tuple[LocalRepair | None, PlaceTarget | None]:
    """Return what a local repair redraws and where the object should appear, if one can be."""
    plan = plan_repair(request.scene, evaluation, places_of(request).targets)
    if plan is None or run.image is None:
        return None, None
    sha256 = hash_of_picture(run.image)
    return LocalRepair(start=run.id, sha256=sha256, regions=plan.regions), plan.target


def _judged(run: OpenRun) -> tuple[GenerationRequest, Evaluation]:
    if run.request is None or run.path is None:
        raise RequestError(
            "Only a generated picture that is stored can be fixed.", hint="Generate one first."
        )
    if run.evaluation is None:
        raise RequestError("The picture was not judged.", hint="Evaluate it first.")
    return run.request, run.evaluation


def attempt_of(run: OpenRun, step: FixStep | None) -> FixAttempt:
    """Return the attempt that a run in its final state is."""
    evaluation, failure = run.evaluation, run.failure
    problem = "" if evaluation else failure.message if failure else NO_EVALUATION
    return FixAttempt(
        request_id=run.id,
        step=step,
        outcomes=evaluation.outcomes if evaluation else (),
        score=score_of(run, in_prompt_order(assertions_of(run.scene), run.scene)),
        picture="" if run.path is None else str(run.path.resolve()),
        problem=problem,
    )


class FixRun:
    """Continues a fix, one picture at a time.

    Args:
        fix: The fix; an attempt that was not judged is judged again, or drawn again without a
            whole picture.
        save: Stores the fix before and after each attempt.
        find: Finds the picture of an attempt that was not judged.
        order: The measured remedies; None for the shipped ones.

    Attributes:
        fix: The fix with its judged attempts.
        unjudged: Stored picture of the next attempt, which was drawn and not judged; else None.
    """

    def __init__(
        self,
        fix: Fix,
        save: Callable[[Fix], None],
        find: FindPicture = no_picture,
        order: RemedyOrder | None = None,
    ) -> None:
        self.fix = replace(fix, attempts=fix.judged_attempts)
        lost = [each for each in fix.attempts if not each.outcomes]
        self.unjudged = find(lost[-1].request_id, lost[-1].picture) if lost else None
        self._save, self._order = save, order

    @property
    def is_over(self) -> bool:
        """Whether an attempt passes, or the budget is spent."""
        return self.fix.is_over

    def next_request(self) -> GenerationRequest:
        """Return the request of the next attempt, with a new id; the start is its parent."""
        return self._request(len(self.fix.attempts))

    def remaining_requests(self) -> tuple[GenerationRequest, ...]:
        """Return the requests of all attempts that may still be drawn, for an estimate."""
        first = len(self.fix.attempts) + (self.unjudged is not None)
        return tuple(self._request(place) for place in range(first, len(self.fix.steps)))

    def _request(self, place: int) -> GenerationRequest:
        parent = run_name(self.fix.start.picture)
        request = remedied(self.fix, place)
        return with_values(request, id=new_request_id(), parent_run_id=parent)

    def begin(self, request: GenerationRequest) -> None:
        """Save that the next attempt is drawn, so that its picture is found if the program ends.

        Raises:
            StoreError: The state cannot be written.
        """
        step = self.fix.steps[len(self.fix.attempts)]
        begun = FixAttempt(request_id=request.id, step=step, problem=INTERRUPTED)
        self._save(replace(self.fix, attempts=(*self.fix.attempts, begun)))

    def take(self, run: OpenRun) -> FixAttempt:
        """Add the picture of the next attempt, and save the fix.

        Raises:
            StoreError: The state cannot be written.
        """
        self.unjudged = None
        attempt = attempt_of(run, self.fix.steps[len(self.fix.attempts)])
        fix = replace(self.fix, attempts=(*self.fix.attempts, attempt))
        self.fix = _replanned(fix, run, self._order or measured_order())
        self._save(self.fix)
        return attempt


def _replanned(fix: Fix, run: OpenRun, order: RemedyOrder) -> Fix:
    """Return a fix whose remaining steps are for the reason why its last attempt failed."""
    count = len(fix.attempts)
    done, left = fix.steps[:count], len(fix.steps) - count
    found = reason_to_fix(run)
    if found is None or FixReason.STYLE in (fix.reason, found.reason):
        return fix
    if not left or found.reason is (done[-1].reason or fix.reason):
        return fix
    tried = {step.remedy for step in done if not step.other_noise}
    can_redraw = fix.repair is not None
    planned = planned_steps(found.reason, order, left + len(tried), can_redraw=can_redraw)
    fresh = [step for step in planned if step.other_noise or step.remedy not in tried]
    steps = (replace(step, reason=found.reason, about=found.about) for step in fresh[:left])
    return replace(fix, steps=(*done, *steps))


def run_fix(
    fix_run: FixRun,
    draw: DrawAttempt,
    judge: Callable[[Path], OpenRun],
    report: Callable[[FixAttempt], None],
) -> None:
    """Draw attempts until one passes, the budget is spent or a picture fails; attempts are kept.

    Args:
        fix_run: The fix.
        draw: Draws an attempt.
        judge: Judges a stored picture, and returns its run.
        report: Receives each attempt once it is saved.

    Raises:
        StudioError: A picture cannot be requested or judged, or the state cannot be written.
    """
    while not fix_run.is_over:
        if fix_run.unjudged is None:
            request = fix_run.next_request()
            fix_run.begin(request)
            run = draw(request)
        else:
            run = judge(fix_run.unjudged)
        attempt = fix_run.take(run)
        report(attempt)
        if not attempt.outcomes:
            return
