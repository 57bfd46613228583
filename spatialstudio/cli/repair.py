"""The command ``repair``: redraw regions of a stored run and keep the rest of its picture."""

import argparse
from argparse import ArgumentTypeError
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from spatialstudio.application.compose.layouts import mention_named
from spatialstudio.application.refine.local_repair import unjudged_picture
from spatialstudio.application.session import OpenRun
from spatialstudio.application.studio import EXTRACTOR_ID, Studio
from spatialstudio.cli.drawing import (
    add_output_options,
    judge_in_session,
    open_to_draw,
    show_run,
    store_failure,
    working,
)
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_judge_options
from spatialstudio.cli.printing import show_progress
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.repair import MOST_FEATHER, LocalRepair, Region
from spatialstudio.science.refine.repair_region import RepairPlan

if TYPE_CHECKING:
    from spatialstudio.domain.errors import ErrorReport

SIDES = 4


def add_repair_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.epilog = (
        "Without --region, the region follows from the verdicts: where the relations of the failed "
        "object hold and no other object is. Outside the regions the picture stays as it is. A "
        "repair that was interrupted after its picture was drawn only judges it."
    )
    parser.add_argument("run", type=Path, metavar="RUN", help="picture file of the run")
    parser.add_argument(
        "--object",
        metavar="NAME",
        help="object of the prompt to redraw (default: the one that failed)",
    )
    parser.add_argument(
        "--region",
        type=region,
        action="append",
        default=[],
        metavar="X,Y,W,H",
        help="region to redraw: left, top, width and height as fractions of the sides; may be "
        "repeated; the object should appear in the first",
    )
    parser.add_argument(
        "--feather",
        type=float,
        metavar="SHARE",
        help="width of the fade inside the edges of the regions, as a fraction of the shorter "
        f"side, 0 to {MOST_FEATHER:g} (default: 0.05)",
    )
    parser.add_argument(
        "--seed", type=int, help="seed of the noise in the regions (default: the run's)"
    )
    add_output_options(parser)
    add_judge_options(parser)
    parser.set_defaults(extractor=EXTRACTOR_ID)


def region(text: str) -> Region:
    """Parse "0.1,0.2,0.4,0.4", as argparse's ``type``.

    Raises:
        ArgumentTypeError: The text is not four numbers.
    """
    try:
        numbers = [float(each) for each in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) != SIDES:
        raise ArgumentTypeError(f'"{text}" is not of the form X,Y,W,H')
    x, y, width, height = numbers
    return Region(x=x, y=y, width=width, height=height)


def repair(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Redraw regions of a stored run, judge the picture and store it as a run."""
    studio = open_to_draw(options, open_studio)
    run = studio.open_run(options.run)
    plan = _plan(studio, run, options)
    request = _request(studio, run, plan, options)
    studio.check_judges(request)
    name = run.scene.mention(plan.mention_id).phrase
    places = ", ".join(_in_words(each) for each in plan.regions)
    show_progress(f"Redrawing {name} in {places}.")
    failures: list[ErrorReport] = []
    studio.bus.subscribe(lambda event: failures.extend(store_failure(event)))
    derived = studio.library.derived_from(request.parent_run_id)
    unjudged = unjudged_picture(request, derived, studio.read_run)
    with working(studio):
        if unjudged is None:
            studio.generate(request)
        else:
            show_progress(f"The picture is drawn and is judged now: {unjudged}")
            studio.session.open(judge_in_session(studio, unjudged))
    return show_run(studio, options, failures)


def _plan(studio: Studio, run: OpenRun, options: argparse.Namespace) -> RepairPlan:
    wanted = None if options.object is None else mention_named(run.scene, options.object).id
    if options.region:
        return studio.storage.repairs.plan_in(run, options.region, wanted)
    return studio.storage.repairs.plan(run, wanted)


def _request(
    studio: Studio, run: OpenRun, plan: RepairPlan, options: argparse.Namespace
) -> GenerationRequest:
    model = studio.model(run.model_id)
    request = studio.storage.repairs.request(run, plan, model, seed=options.seed)
    if options.feather is None or request.repair is None:
        return request
    feathered: LocalRepair = replace(request.repair, feather=options.feather)
    return replace(request, repair=feathered)


def _in_words(found: Region) -> str:
    return f"{found.x:.2f},{found.y:.2f},{found.width:.2f},{found.height:.2f}"
