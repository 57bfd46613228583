"""The command ``fix``: remedies for a stored picture that is not right."""

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spatialstudio.application.error_reports import EXIT_FAILURE
from spatialstudio.application.refine.fix_run import FixRun, run_fix, with_budget
from spatialstudio.application.refine.refine_loop import find_pictures
from spatialstudio.application.session import OpenRun
from spatialstudio.application.studio import EXTRACTOR_ID, Studio
from spatialstudio.cli.drawing import (
    continue_hint,
    draw_in_session,
    judge_in_session,
    open_to_draw,
    store_failure,
    working,
)
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_judge_options, one_of, words_of
from spatialstudio.cli.printing import complain, show_json, show_lines, show_progress
from spatialstudio.domain.errors import ErrorReport, StoreError
from spatialstudio.domain.fix import BUDGET, Fix, FixAttempt, FixReason, FixStep


def add_fix_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command ``fix``."""
    parser.epilog = (
        "Every attempt is stored as a run; the first that passes ends the fix, and the best is "
        "kept. A fix that was interrupted continues with the pictures so far."
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="picture of a stored run")
    parser.add_argument(
        "--budget",
        type=int,
        metavar="N",
        help=f"maximum number of pictures, those of an earlier start included (default: {BUDGET})",
    )
    parser.add_argument(
        "--reason",
        type=one_of(FixReason),
        metavar="REASON",
        help=f"what is wrong: {words_of(FixReason)} (default: as the verdicts say)",
    )
    parser.add_argument("--plan", action="store_true", help="print the plan and draw nothing")
    parser.add_argument(
        "--restart", action="store_true", help="begin again instead of continuing a fix"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for the run's files (default: the library)",
    )
    parser.add_argument(
        "--unmarked", action="store_true", help="do not label the picture as AI-generated"
    )
    add_judge_options(parser)
    parser.set_defaults(extractor=EXTRACTOR_ID)


def fix(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Draw a stored picture again with one remedy after another until it passes."""
    studio = open_to_draw(options, open_studio)
    if not studio.is_run(options.run):
        raise StoreError(
            f"{options.run} is not a stored run.", hint="Pass the picture of a stored run."
        )
    run = studio.open_run(options.run)
    planned = _fix_of(options, studio, run)
    find = find_pictures(studio.storage.picture_of_request, studio.storage.read_run)
    fix_run = FixRun(planned, studio.storage.fixes.save, find)
    if options.plan:
        return _show(options, planned, _plan_lines(planned, run))
    for line in _plan_lines(fix_run.fix, run):
        show_progress(line)
    studio.fixing.prepare(planned)
    _draw(options, studio, fix_run)
    code = _show(options, fix_run.fix, _lines(fix_run.fix))
    return code if fix_run.fix.is_fixed else EXIT_FAILURE


def _fix_of(options: argparse.Namespace, studio: Studio, run: OpenRun) -> Fix:
    """Return the fix of a run that was begun before, or a new one."""
    known = None if options.restart else studio.storage.fixes.of_run(run.id)
    if known is not None and (options.reason in (None, known.reason)):
        return known if options.budget is None else with_budget(known, options.budget)
    budget = BUDGET if options.budget is None else options.budget
    return studio.fixing.plan(run, budget, options.reason)


def _draw(options: argparse.Namespace, studio: Studio, fix_run: FixRun) -> None:
    failures: list[ErrorReport] = []
    studio.bus.subscribe(lambda event: failures.extend(store_failure(event)))

    def report(attempt: FixAttempt) -> None:
        number, steps = len(fix_run.fix.attempts), fix_run.fix.steps
        name = f" ({_name(attempt.step)})" if attempt.step else ""
        show_progress(f"Picture {number} of at most {len(steps)}{name}: {_found(attempt)}")

    with working(studio):
        run_fix(
            fix_run,
            lambda request: draw_in_session(studio, request),
            lambda picture: judge_in_session(studio, picture),
            report,
        )
        run = studio.session.run
    for problem in [*failures, *([run.failure] if run and run.failure else [])]:
        complain(problem, with_details=options.debug)
    if not fix_run.is_over:
        show_progress(continue_hint(options, "fix", fix_run.fix.start.picture))


def _show(options: argparse.Namespace, fix: Fix, lines: Iterator[str]) -> int:
    if options.json:
        show_json(_answer(fix))
    else:
        show_lines(lines)
    return 0


def _plan_lines(fix: Fix, run: OpenRun) -> Iterator[str]:
    """Yield what is wrong, the budget and the remedies in order."""
    yield f"{fix.reason.sentence}{_names(fix)}"
    time = "" if run.seconds is None else f", about {run.seconds * len(fix.steps):.0f} s"
    yield f"At most {_pictures(len(fix.steps))}{time}; the first that passes ends it:"
    for number, step in enumerate(fix.steps, 1):
        yield f"  {number}. {_name(step)}{_measured(step)}: {step.remedy.sentence}"


def _names(fix: Fix) -> str:
    phrases = [fix.request.scene.mention(each).phrase for each in fix.about]
    return f" ({', '.join(phrases)})" if phrases else ""


def _name(step: FixStep) -> str:
    return step.remedy.label + (", other noise" if step.adds_noise else "")


def _measured(step: FixStep) -> str:
    return f", repaired {step.repaired} of {step.tried}" if step.tried else ""


def _lines(fix: Fix) -> Iterator[str]:
    for number, attempt in enumerate(fix.pictures):
        title = _name(attempt.step) if attempt.step else "Start"
        best = "  (best)" if attempt is fix.best else ""
        yield f"{number}. {title}: {_found(attempt)}{best}"
        for row in _assertions(attempt):
            chance = row["probability_yes"]
            yield f"     {row['note'] if chance is None else f'{chance:.2f}'}  {row['text']}"
        if attempt.picture:
            yield f"   {attempt.picture}"


def _found(attempt: FixAttempt) -> str:
    return attempt.outcome.value if attempt.outcome else attempt.problem


def _answer(fix: Fix) -> Mapping[str, Any]:
    """Return plan and attempts as plain data."""
    return {
        "prompt": fix.request.scene.prompt.text,
        "reason": fix.reason.value,
        "about": [fix.request.scene.mention(each).phrase for each in fix.about],
        "budget": len(fix.steps),
        "is_fixed": fix.is_fixed,
        "is_over": fix.is_over,
        "best": fix.best.picture or None,
        "plan": [_step_row(step) for step in fix.steps],
        "start": _attempt_row(fix.start),
        "attempts": [_attempt_row(attempt) for attempt in fix.attempts],
    }


def _step_row(step: FixStep) -> Mapping[str, Any]:
    return {
        "remedy": step.remedy.value,
        "other_noise": step.other_noise,
        "tried": step.tried,
        "repaired": step.repaired,
    }


def _attempt_row(attempt: FixAttempt) -> Mapping[str, Any]:
    return {
        "remedy": attempt.step.remedy.value if attempt.step else None,
        "other_noise": attempt.step.other_noise if attempt.step else None,
        "outcome": attempt.outcome.value if attempt.outcome else None,
        "problem": attempt.problem or None,
        "picture": attempt.picture or None,
        "assertions": _assertions(attempt),
    }


def _assertions(attempt: FixAttempt) -> list[Mapping[str, Any]]:
    return [
        {
            "text": each.assertion.text,
            "probability_yes": each.probability_yes,
            "log_yes": each.chances.log_yes if each.chances else None,
            "log_no": each.chances.log_no if each.chances else None,
            "note": each.note or None,
        }
        for each in (attempt.score.scores if attempt.score else ())
    ]


def _pictures(count: int) -> str:
    return "1 picture" if count == 1 else f"{count} pictures"
