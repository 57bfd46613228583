"""The command ``refine``: Evaluate-and-Refine of a prompt or a stored run."""

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from spatialstudio.application.error_reports import EXIT_FAILURE
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.refine.refine_loop import (
    RefineLoop,
    begun_with,
    find_pictures,
    new_refinement,
    run_loop,
)
from spatialstudio.application.session import OpenRun
from spatialstudio.application.studio import Studio
from spatialstudio.cli.drawing import (
    continue_hint,
    draw_in_session,
    judge_in_session,
    open_to_draw,
    store_failure,
    working,
)
from spatialstudio.cli.guidance_options import with_guidance
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.printing import complain, show_json, show_lines, show_progress
from spatialstudio.domain.assertion import DA_RECOMMENDED, Assertions, DaScore
from spatialstudio.domain.errors import ErrorReport, StoreError
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.refinement import (
    REFINE_PUBLISHED,
    REFINE_RECOMMENDED,
    RefineAttempt,
    Refinement,
    RefineRules,
)
from spatialstudio.science.scenes.consistency import contradictions_of


def refine(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Draw pictures of one seed with rising weights, and keep the best."""
    studio = open_to_draw(options, open_studio)
    settings = studio.judging.da_settings(DA_RECOMMENDED.preset, options.da_set)
    refinement = _refinement(options, studio)
    if options.replay:
        refinement = replace(refinement, rules=_rules(options, refinement.rules))
    storage = studio.storage
    find = find_pictures(storage.picture_of_request, storage.read_run)
    loop = RefineLoop(refinement, storage.refinements.save, settings, find)
    if not options.replay:
        _draw(options, studio, loop)
    if options.json:
        show_json(_answer(loop))
    else:
        show_lines(_lines(loop))
    return 0 if loop.is_over or options.replay else EXIT_FAILURE


def _refinement(options: argparse.Namespace, studio: Studio) -> Refinement:
    """Return the refinement of a stored run, begun before or now, or a new one of a prompt."""
    path = Path(options.prompt)
    if not (path.is_file() and studio.is_run(path)):
        if options.replay:
            raise StoreError(
                "Only a stored refinement is replayed.", hint="Pass the picture of one of its runs."
            )
        return _of_prompt(options, studio)
    run = studio.open_run(path)
    known = None if options.restart else studio.storage.refinements.of_run(run.id)
    if known is not None:
        show_progress(f"Continuing a refinement with {_pictures(len(known.attempts))}.")
        return known
    if options.replay or run.request is None:
        raise StoreError(
            "The run has no refinement.", hint="Refine it first, without --replay and --restart."
        )
    request = replace(run.request, parent_run_id=path.stem, sweep=None)
    return begun_with(_new(options, studio, request), run, studio.judges.answerer_id)


def _of_prompt(options: argparse.Namespace, studio: Studio) -> Refinement:
    scene = studio.parse_for_model(options.prompt, options.model)
    studio.session.set_scene(scene, contradictions_of(scene))  # the window keeps its own draft
    plain = studio.new_request(
        model_id=options.model, seed=options.seed, steps=options.steps, guided=False
    )
    request = with_guidance(plain, studio.model(options.model), options)
    request = replace(request, width=options.width, height=options.height)
    return _new(options, studio, request)


def _new(options: argparse.Namespace, studio: Studio, request: GenerationRequest) -> Refinement:
    studio.check_judges(request)
    rules = _rules(options, REFINE_PUBLISHED if options.published else REFINE_RECOMMENDED)
    assertions = studio.judging.decompose(request.scene, options.assertions, CancelFlag())
    for note in assertions.notes:
        show_progress(f"Note: {note}")
    return new_refinement(request, studio.model(request.model.id), assertions, rules)


def _rules(options: argparse.Namespace, rules: RefineRules) -> RefineRules:
    """Return rules with the changes of the command line."""
    return replace(
        rules,
        rounds=rules.rounds if options.rounds is None else options.rounds,
        order=options.rule or rules.order,
        weighs_prompt=rules.weighs_prompt and not options.no_weights,
        weighs_attention=rules.weighs_attention and not options.no_attention,
    )


def _draw(options: argparse.Namespace, studio: Studio, loop: RefineLoop) -> None:
    """Draw the remaining rounds; a failure ends the loop with the attempts so far."""
    failures: list[ErrorReport] = []
    studio.bus.subscribe(lambda event: failures.extend(store_failure(event)))

    def draw(request: GenerationRequest, assertions: Assertions) -> OpenRun:
        studio.assertions = assertions
        return draw_in_session(studio, request)

    def report(attempt: RefineAttempt) -> None:
        number = len(loop.refinement.attempts)
        found = attempt.problem if attempt.score is None else _score(attempt.score)
        show_progress(f"Picture {number} of at most {loop.refinement.rules.rounds}: {found}")

    with working(studio):
        run_loop(loop, draw, partial(judge_in_session, studio), report)
        run = studio.session.run
    for problem in [*failures, *([run.failure] if run and run.failure else [])]:
        complain(problem, with_details=options.debug)
    kept = [each.picture for each in loop.refinement.attempts if each.picture]
    if not loop.is_over and kept:
        show_progress(continue_hint(options, "refine", kept[0]))


def _answer(loop: RefineLoop) -> Mapping[str, Any]:
    """Return the attempts as plain data."""
    rules, best = loop.refinement.rules, loop.decisions.best
    return {
        "prompt": loop.refinement.request.scene.prompt.text,
        "preset": rules.preset,
        "rule": rules.order.value,
        "asserted_by": loop.refinement.assertions.source_id,
        "is_over": loop.is_over,
        "best": None if best is None else best + 1,
        "picture": loop.best.picture if loop.best else None,
        "rounds": [
            {
                "picture": attempt.picture or None,
                "problem": attempt.problem or None,
                "da_score": score.value if score else None,
                "answered_by": score.source_id if score else None,
                "assertions": _assertion_rows(attempt, score),
            }
            for attempt, score in zip(loop.refinement.attempts, loop.scores, strict=True)
        ],
    }


def _assertion_rows(attempt: RefineAttempt, score: DaScore | None) -> list[Mapping[str, Any]]:
    if score is None:
        return []
    return [
        {
            "text": each.assertion.text,
            "weight": weight,
            "probability_yes": each.probability_yes,
            "log_yes": each.chances.log_yes if each.chances else None,
            "log_no": each.chances.log_no if each.chances else None,
            "note": each.note or None,
        }
        for each, weight in zip(score.scores, attempt.weights, strict=True)
    ]


def _lines(loop: RefineLoop) -> Iterator[str]:
    best = loop.decisions.best
    rows = zip(loop.refinement.attempts, loop.scores, strict=True)
    for number, (attempt, score) in enumerate(rows, 1):
        mark = "  (best)" if best is not None and number == best + 1 else ""
        found = attempt.problem if score is None else _score(score)
        yield f"Picture {number}: {found}{mark}"
        for row in _assertion_rows(attempt, score):
            chance = row["probability_yes"]
            answer = row["note"] if chance is None else f"{chance:.2f}"
            yield f"  {answer}  weight {row['weight']:g}  {row['text']}"
        if attempt.picture:
            yield f"  {attempt.picture}"


def _score(score: DaScore) -> str:
    return "no assertion was answered" if score.value is None else f"DA-score {score.value:.2f}"


def _pictures(count: int) -> str:
    return "1 picture" if count == 1 else f"{count} pictures"
