"""The command that composes figures for papers from stored runs."""

import argparse
from dataclasses import replace
from pathlib import Path

from spatialstudio.application.gallery.exports import ExportOrder
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_overwrite, one_of, out_path, words_of
from spatialstudio.cli.printing import show_json, show_lines, show_progress
from spatialstudio.cli.studies import runs_named
from spatialstudio.domain.attention import MapScale, Moment
from spatialstudio.domain.export import FIGURE
from spatialstudio.domain.figure_template import (
    DEFAULT_TEMPLATE,
    TEMPLATES,
    FigureTemplate,
)
from spatialstudio.domain.run_data import MOMENT_NAMES

FIELDS = ("words", "steps", "layers", "scale", "width", "font", "type_size", "dpi")
"""Fields of the template that an option of the same name replaces."""


def add_figure_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command ``figure``."""
    parser.add_argument(
        "runs",
        type=Path,
        nargs="+",
        metavar="RUN",
        help="picture files or ids of runs, top to bottom",
    )
    parser.add_argument(
        "--out",
        type=out_path,
        metavar="FILE",
        required=True,
        help="output file: .pdf, .svg or .png",
    )
    parser.add_argument(
        "--template",
        default=DEFAULT_TEMPLATE,
        metavar="NAME",
        help=f"{', '.join(TEMPLATES)}, a template saved in the window, or a JSON file "
        "(default: %(default)s)",
    )
    _add_content_options(parser)
    parser.add_argument("--theme", default="light", help="colour theme (default: %(default)s)")
    parser.add_argument(
        "--unmarked", action="store_true", help="do not label the figure as AI-generated"
    )
    parser.add_argument(
        "--latex", action="store_true", help="write a LaTeX snippet with the caption beside it"
    )
    parser.add_argument(
        "--library",
        type=Path,
        metavar="DIR",
        help="library folder in which ids are found (default: the configured library)",
    )
    add_overwrite(parser)


def _add_content_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that replace fields of the template."""
    parser.add_argument("--words", nargs="+", metavar="WORD", help="words of the prompt")
    parser.add_argument("--steps", nargs="+", type=int, metavar="N", help="steps, from 1")
    parser.add_argument(
        "--layers", nargs="+", metavar="LAYER", help="show the mean of these recorded layers"
    )
    parser.add_argument(
        "--moment",
        choices=tuple(MOMENT_NAMES.values()),
        help="reading of guided steps, before or after their updates (default: after)",
    )
    parser.add_argument(
        "--scale",
        type=one_of(MapScale),
        metavar="SCALE",
        help=f"normalisation of the maps: {words_of(MapScale)}",
    )
    parser.add_argument("--width", type=float, metavar="INCHES", help="width of the figure")
    parser.add_argument("--font", metavar="NAME", help="font of the labels (default: Inter)")
    parser.add_argument("--type-size", type=float, metavar="POINTS", help="size of the labels")
    parser.add_argument("--dpi", type=int, help="resolution of PNG files")
    parser.add_argument("--no-curves", action="store_true", help="omit the PoS curves")
    parser.add_argument(
        "--footer", action="store_true", help="print prompt and settings below the figure"
    )


def figure(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Compose a figure from stored runs."""
    studio = open_studio(options.library)
    try:
        figures = studio.storage.figures
        template = _with_options(figures.template(options.template), options)
        runs = runs_named(studio, options.runs)
        look = replace(
            studio.exports.look(options.theme), is_marked=not options.unmarked, template=template
        )
        order = ExportOrder(
            into_folder=options.out.is_folder, overwrite=options.overwrite, note=show_progress
        )
        files = studio.exports.export(runs, EXPORT_KINDS[FIGURE], options.out.path, look, order)
        if options.latex:
            caption = figures.preview(runs, look).caption
            tex = figures.save_latex(files[0], caption, template.width, overwrite=options.overwrite)
            files = (*files, tex)
    finally:
        studio.close()
    if options.json:
        show_json({"files": [str(path) for path in files]})
    else:
        show_lines(str(path) for path in files)
    return 0


def _with_options(template: FigureTemplate, options: argparse.Namespace) -> FigureTemplate:
    given = {name: value for name in FIELDS if (value := getattr(options, name)) is not None}
    for name in {"words", "steps", "layers"} & set(given):
        given[name] = tuple(given[name])
    if options.moment is not None:
        given["moment"] = Moment[options.moment.upper()]
    if options.no_curves:
        given["has_curves"] = False
    if options.footer:
        given["has_footer"] = True
    return replace(template, **given)
