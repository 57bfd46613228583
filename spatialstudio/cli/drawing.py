"""Drawing from the terminal: options of a picture, its request, and the engine while it works."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from spatialstudio.application.compose.token_counter import unread_text
from spatialstudio.application.error_reports import exit_code_of
from spatialstudio.application.jobs.messages import TokensRead
from spatialstudio.application.plugins import adapter_ids
from spatialstudio.application.run.choose_settings import with_recommended_steering
from spatialstudio.application.session import OpenRun, RunState, StoreFailed
from spatialstudio.application.studio import EXTRACTOR_ID, Studio
from spatialstudio.cli.answers import run_answer, run_lines
from spatialstudio.cli.guidance_options import add_guidance_options, with_guidance
from spatialstudio.cli.interrupts import at_stop
from spatialstudio.cli.judging import OpenStudio, note_absent_models
from spatialstudio.cli.options import add_judge_options, judge_choice
from spatialstudio.cli.printing import ProgressBar, complain, show_json, show_lines, show_progress
from spatialstudio.domain.assertion import Assertions
from spatialstudio.domain.attention import removed_in_words
from spatialstudio.domain.derived_requests import is_search
from spatialstudio.domain.errors import Cancelled, ErrorReport, Obstacle
from spatialstudio.domain.generation import UNGUIDED, GenerationRequest, GenerationStarted
from spatialstudio.science.guidance.methods import has_work
from spatialstudio.science.scenes.consistency import contradictions_of

DEPTH_IS_LEFT_ALONE = (
    "This guidance method does not act on depth relations. Use --guidance layout, or --search 8 to "
    "generate several pictures and keep the best."
)


def add_drawing_options(
    parser: argparse.ArgumentParser, read_strength: Callable[[str], object] = float
) -> None:
    """Add the options of a picture, except its prompt and seed.

    Args:
        parser: Receives the options.
        read_strength: Reads the value of ``--strength``; a sweep takes several.
    """
    add_extractor(parser)
    parser.add_argument(
        "--model", metavar="ID", help="model, or a checkpoint file (default: the embedded one)"
    )
    parser.add_argument("--steps", type=int, help="denoising steps (default: the model's)")
    parser.add_argument("--width", type=int, help="in pixels (default: the model's)")
    parser.add_argument("--height", type=int, help="in pixels (default: the model's)")
    add_output_options(parser)
    add_guidance_options(parser, read_strength)
    add_judge_options(parser)


def add_output_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of where and how a picture is stored."""
    parser.add_argument(
        "--out",
        type=Path,
        metavar="DIR",
        help="folder for the run's files (default: the library)",
    )
    parser.add_argument(
        "--unmarked", action="store_true", help="do not label the picture as AI-generated"
    )


def add_extractor(parser: argparse.ArgumentParser) -> None:
    """Add the option of the relation extractor."""
    parser.add_argument(
        "--extractor",
        choices=adapter_ids("extractor"),
        default=EXTRACTOR_ID,
        help="relation extractor: grammar, language model, or a plugin's extractor (default: "
        "%(default)s)",
    )


def open_to_draw(options: argparse.Namespace, open_studio: OpenStudio) -> Studio:
    """Open a studio with the extractor, judge set and folder of the command line."""
    studio = open_studio(options.out)
    studio.extractor_id = options.extractor
    studio.storage.marks_pictures = not options.unmarked
    studio.judges = judge_choice(options)
    note_absent_models(studio, studio.judges)
    return studio


def drawn_request(studio: Studio, options: argparse.Namespace) -> GenerationRequest:
    """Return the request of the command line; its scene becomes the current one.

    Raises:
        PromptError: The prompt is empty, or names an object that the model cannot generate.
        RequestError: The method does not suit the model, or a place does not fit the prompt.
        ModelNotFound: The model, or one of the judge set, is not installed.
    """
    scene = studio.parse_for_model(options.prompt, options.model)
    studio.session.set_scene(scene, contradictions_of(scene))  # the window keeps its own draft
    plain = studio.new_request(
        model_id=options.model, seed=options.seed, steps=options.steps, guided=False
    )
    request = with_guidance(plain, studio.model(options.model), options)
    if options.particles is None and options.guidance != UNGUIDED and options.strength != 0:
        request = with_recommended_steering(request, studio.judge_defaults)
    studio.check_judges(request)
    is_asked = plain.scene.relations and options.guidance != UNGUIDED and not is_search(request)
    is_asked = is_asked and not request.steering.is_on
    if is_asked and not has_work(plain.scene, options.guidance):
        show_progress(DEPTH_IS_LEFT_ALONE)
    return replace(request, width=options.width, height=options.height)


def show_run(
    studio: Studio, options: argparse.Namespace, failures: Sequence[ErrorReport] = ()
) -> int:
    """Print the result of the open run, then its errors; return the exit code."""
    run = studio.session.run
    if run is None or run.state is RunState.CANCELLED:
        raise Cancelled
    if run.folder is not None or run.evaluation is not None:
        if options.json:
            show_json(run_answer(run))
        else:
            show_lines(run_lines(run))
    problems = [*failures, *([run.failure] if run.failure else [])]
    if run.folder is not None:  # the image exists, so a failed evaluation is not an error
        unjudged = [each for each in problems if each.obstacle is Obstacle.DETECTOR]
        problems = [each for each in problems if each not in unjudged]
        for each in unjudged:
            show_progress(f"Note: {each.message} {each.hint}")
    for problem in problems:
        complain(problem, with_details=options.debug)
    return exit_code_of(problems[0]) if problems else 0


@contextmanager
def working(studio: Studio) -> Iterator[ProgressBar]:
    """Run the engine with the session updated and the progress shown; yield its bar."""
    bar = ProgressBar()

    def give_up() -> None:
        bar.clear()
        for picture in studio.storage.give_up():
            show_progress(f"The picture is stored without a verdict: {picture}")

    studio.bus.subscribe(studio.session.apply_event)
    studio.bus.subscribe(bar.apply_event)
    studio.bus.subscribe(warn_of_removed)
    studio.start()
    try:
        with at_stop(give_up):
            yield bar
    finally:
        bar.clear()
        studio.close()


def draw_in_session(studio: Studio, request: GenerationRequest) -> OpenRun:
    """Generate, evaluate and store a picture; return its run in its final state.

    Raises:
        Cancelled: The run was cancelled.
        StudioError: The picture cannot be requested.
    """
    studio.generate(request)
    run = studio.session.run
    if run is None or run.state is RunState.CANCELLED:
        raise Cancelled
    return run


def judge_in_session(
    studio: Studio, picture: Path, assertions: Assertions | None = None
) -> OpenRun:
    """Judge a stored picture and store the verdicts; return its run.

    Raises:
        StudioError: The picture cannot be read or judged.
    """
    evaluation = studio.judge_stored(picture, lambda: None, assertions)
    return replace(studio.read_run(picture), evaluation=evaluation)


def continue_hint(options: argparse.Namespace, command: str, picture: str) -> str:
    """Return the command line that continues a loop with its pictures so far."""
    folder = "" if options.out is None else f' --out "{options.out}"'
    return f'Continue with: spatialstudio {command} "{picture}"{folder}'


def store_failure(event: object) -> tuple[ErrorReport, ...]:
    """Return an error report for a run that was not stored, with the path of the recovery copy."""
    if not isinstance(event, StoreFailed):
        return ()
    if event.is_evaluation:
        return (event.error,)
    safe = f'The run was saved to "{event.recovered}".' if event.recovered else "The run is lost."
    return (replace(event.error, hint=f"{safe} {event.error.hint}".rstrip()),)


def warn_of_removed(event: object) -> None:
    """Print a note if recorded layers of older runs were removed to make room."""
    if isinstance(event, GenerationStarted) and event.removed_runs:
        show_progress(removed_in_words(event.removed_runs))


def warn_of_unread(event: object) -> None:
    """Print a note if a prompt is longer than the text encoder's limit."""
    if isinstance(event, TokensRead) and (unread := unread_text(event)):
        show_progress(
            f'The prompt is too long: "{unread}" is beyond the limit of the text encoder.'
        )
