"""The command that draws a study: prompts over strengths, seeds and other settings."""

import argparse
import re
import uuid
from argparse import ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

from spatialstudio.application.benchmark.prompt_sets import read_prompt_sets
from spatialstudio.application.error_reports import EXIT_FAILURE, report_on
from spatialstudio.application.run.plan_sweep import MOST_PICTURES, read_axis
from spatialstudio.application.session import RunState
from spatialstudio.application.studio import Studio
from spatialstudio.cli.drawing import (
    add_drawing_options,
    drawn_request,
    open_to_draw,
    store_failure,
    warn_of_unread,
    working,
)
from spatialstudio.cli.interrupts import said_at_stop
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.printing import complain, show_progress
from spatialstudio.cli.studies import add_table_options, check_table, show_study
from spatialstudio.domain.benchmark_plan import PromptSetPlan, PromptSource
from spatialstudio.domain.derived_requests import drawn_settings, is_search
from spatialstudio.domain.errors import (
    Cancelled,
    ErrorReport,
    Obstacle,
    SettingsError,
    StudioError,
)
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.sweep import SweepCell, SweepField, SweepId, SweepPoint
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS

Values = tuple[float, ...]

ID_LETTERS = 8
"""Characters of a sweep's id that tell it from the others of a library."""
_LONG_NAME = re.compile(r"[a-z][a-z0-9-]*")


def add_sweep_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command ``sweep``."""
    parser.add_argument("prompts", nargs="+", metavar="PROMPT", help="prompts")
    add_seeds(parser, (0.0,))
    add_drawing_options(parser, _numbers_of(SweepField.STRENGTH))
    parser.add_argument(
        "--vary",
        type=varied,
        action="append",
        default=[],
        metavar="NAME=V1,V2",
        help='values of any other option of "generate" or of the guidance method, for example '
        "steps=10,25, sampler=DDIM,Euler or guidance=psg,boxdiff; may be repeated",
    )
    add_table_options(parser)


def add_seeds(parser: argparse._ActionsContainer, default: Values | None) -> None:
    """Add the option of several seeds."""
    parser.add_argument(
        "--seeds",
        type=_numbers_of(SweepField.SEED),
        default=default,
        metavar="SEEDS",
        help='seeds, for example "0-4" or "0,7,9"',
    )


def generate_many(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Generate the pictures of a list of prompts with several seeds, as a sweep.

    Raises:
        SettingsError: There is neither a prompt nor a list, or both.
        PromptError: The list cannot be read.
    """
    if (options.prompts is None) == (options.prompt is None):
        raise SettingsError("Pass a prompt or --prompts.", hint="A list replaces the prompt.")
    texts = [options.prompt]
    if options.prompts is not None:
        listed = PromptSetPlan(source=PromptSource.LIST, file=options.prompts)
        texts = [each.text for each in read_prompt_sets([listed], resources_folder())]
    table = argparse.ArgumentParser(add_help=False)
    add_table_options(table)
    usual = {
        **vars(table.parse_args([])),
        "vary": [],
        "seeds": options.seeds or (float(options.seed),),
        "strength": None if options.strength is None else (options.strength,),
        "prompts": list(dict.fromkeys(texts)),
    }
    return sweep(argparse.Namespace(**{**vars(options), **usual}), open_studio)


def _numbers_of(field: SweepField) -> Callable[[str], Values]:
    def read(text: str) -> Values:
        try:
            return read_axis(field, text).values
        except SettingsError as error:
            raise ArgumentTypeError(f"{error.message} {error.hint}") from error

    return read


def varied(text: str) -> tuple[str, tuple[str, ...]]:
    """Split "steps=10,25" into the name of an option and its values.

    Raises:
        ArgumentTypeError: The text has another form, or a value is repeated.
    """
    name, equals, values = text.partition("=")
    found = tuple(each.strip() for each in values.split(","))
    if not (name.strip() and equals and all(found)) or len(set(found)) < len(found):
        raise ArgumentTypeError(f'"{text}" is not of the form NAME=V1,V2 with different values')
    return name.strip(), found


def sweep(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Generate the pictures of a study that its folder lacks, and print their table."""
    items = tuple(items_of(options))
    if len(items) > MOST_PICTURES:
        raise SettingsError(
            f"A sweep of {len(items)} pictures is too large.",
            hint=f"The maximum is {MOST_PICTURES}.",
        )
    check_table(options)
    studio = open_to_draw(options, open_studio)
    stored = _stored(studio, studio.runs_folder)
    requests = _distinct([_request(studio, item) for item in items])
    known = [_path_of(request, stored) for request in requests]
    failures: list[ErrorReport] = []
    studio.bus.subscribe(lambda event: failures.extend(store_failure(event)))
    studio.bus.subscribe(warn_of_unread)
    show_progress(f"{len(requests)} pictures, {known.count(None)} to generate")
    paths = _drawn(studio, requests, known, failures)
    for line in dict.fromkeys(_filter_line(request) for request in requests):
        show_progress(line)
    if options.out is not None:
        show_progress(
            f'To see these grids, choose "{options.out}" as library folder in the settings.'
        )
    for failure in failures:
        complain(failure, with_details=options.debug)
    code = show_study(studio, paths, options)
    return EXIT_FAILURE if failures else code


def _drawn(
    studio: Studio,
    requests: Sequence[GenerationRequest],
    known: Sequence[Path | None],
    failures: list[ErrorReport],
) -> list[Path]:
    """Generate the pictures that are not stored yet; return the files of all in order.

    Raises:
        Cancelled: The user stopped; it says how many pictures there are.
    """
    paths, total = list(known), len(requests)

    def stopped() -> str:
        stored = total - paths.count(None)
        return f"Stopped after {stored} of {total} pictures; the same command continues."

    with said_at_stop(stopped), working(studio) as bar:
        wanted = [place for place, path in enumerate(known) if path is None]
        for number, place in enumerate(wanted, total - len(wanted) + 1):
            bar.begin_picture(number, total)
            paths[place] = _draw(studio, requests[place], failures)
            bar.end_picture(number, total)
    return [path for path in paths if path is not None]


def _draw(studio: Studio, request: GenerationRequest, failures: list[ErrorReport]) -> Path | None:
    """Generate one picture and return its file; a failure is noted, and the others are drawn."""
    try:
        studio.generate(request)
    except StudioError as error:
        failures.append(report_on(error, "Starting the run"))
        return None
    run = studio.session.run
    if run is None or run.state is RunState.CANCELLED:
        raise Cancelled
    if run.failure and (run.path is None or run.failure.obstacle is not Obstacle.DETECTOR):
        failures.append(run.failure)
    return run.path


def items_of(options: argparse.Namespace) -> Iterator[argparse.Namespace]:
    """Yield the options of each picture: prompts, settings, strengths, then seeds.

    Raises:
        SettingsError: A varied option does not exist.
    """
    others = [[_change(name, value) for value in values] for name, values in options.vary]
    strengths = options.strength or (None,)
    for prompt, *changes, strength, seed in product(
        options.prompts, *others, strengths, options.seeds
    ):
        item = argparse.Namespace(**vars(options))
        item.prompt, item.strength, item.seed = prompt, strength, int(seed)
        item.others = []
        for name, value, dest, parsed in changes:
            added = [*item.option, parsed] if dest == "option" else parsed
            setattr(item, dest, added)
            item.others.append(f"{name}={value}")
        yield item


def _change(name: str, value: str) -> tuple[str, str, str, object]:
    """Return a varied option, its value, the name of its attribute and the parsed value."""
    option_ids = {option.id for method in GUIDANCE_METHODS for option in method.options}
    if name in option_ids:
        return name, value, "option", (name, value)
    flag = name.replace("_", "-")
    if not _LONG_NAME.fullmatch(flag) or flag in {"out", "seed", "strength", "option"}:
        raise SettingsError(f'The option "{name}" cannot be varied.', hint=_HINT)
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    add_drawing_options(parser)
    unset = dict.fromkeys(vars(parser.parse_args([])))
    try:
        found, unknown = parser.parse_known_args([f"--{flag}={value}"], argparse.Namespace(**unset))
    except argparse.ArgumentError as error:
        raise SettingsError(f"{error}.".replace("..", "."), hint=_HINT) from error
    changed = [(dest, read) for dest, read in vars(found).items() if read is not None]
    if unknown or len(changed) != 1:
        raise SettingsError(f'There is no option "{name}" with values.', hint=_HINT)
    return name, value, *changed[0]


_HINT = 'Vary options of "spatialstudio generate" that take a value, or of the guidance method.'


def _request(studio: Studio, item: argparse.Namespace) -> GenerationRequest:
    request = drawn_request(studio, item)
    if is_search(request):
        raise SettingsError("A sweep cannot use --search.", hint="Omit --search.")
    grid = "\n".join((str(studio.runs_folder.resolve()), item.prompt, *item.others))
    column = SweepPoint(field=SweepField.SEED, value=float(item.seed))
    row = None
    if item.strength is not None:
        row = SweepPoint(field=SweepField.STRENGTH, value=item.strength)
    sweep_id = SweepId(uuid.uuid5(uuid.NAMESPACE_URL, grid).hex)
    return replace(request, sweep=SweepCell(sweep_id=sweep_id, column=column, row=row))


def _filter_line(request: GenerationRequest) -> str:
    """Return the filter that lists the grid of a request in the gallery."""
    assert request.sweep is not None
    name = request.sweep.sweep_id[:ID_LETTERS]
    return f'Grid of "{request.scene.prompt.text}": sweep:{name}'


def _stored(studio: Studio, folder: Path) -> list[tuple[GenerationRequest, Path]]:
    """Return the settings and picture of each readable run of a folder that has its picture."""
    store = studio.storage.store
    found = []
    for path in store.runs_in(folder) if folder.is_dir() else ():
        try:
            if not store.picture_of(path).is_file():
                continue
            record, _ = store.load(path)
        except StudioError as error:
            complain(report_on(error, "Reading a run"))
            continue
        found.append((drawn_settings(record.request), path))
    return found


def _distinct(requests: list[GenerationRequest]) -> list[GenerationRequest]:
    """Leave out repeated pictures: without guidance, those of all guidance methods are equal."""
    seen: list[GenerationRequest] = []
    kept = []
    for request in requests:
        if (settings := drawn_settings(request)) not in seen:
            seen.append(settings)
            kept.append(request)
    return kept


def _path_of(
    request: GenerationRequest, stored: list[tuple[GenerationRequest, Path]]
) -> Path | None:
    wanted = drawn_settings(request)
    return next((path for settings, path in stored if settings == wanted), None)
