"""The command that composes figures for papers from stored runs."""

import argparse
from dataclasses import replace
from pathlib import Path

from spatialstudio.application.gallery.exports import ExportOrder
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.options import add_overwrite, one_of, out_path, words_of
from spatialstudio.cli.printing import show_json, show_lines, show_progress
from spatialstudio.domain.attention import MapScale
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.export import FIGURE
from spatialstudio.domain.figure_template import (
    DEFAULT_TEMPLATE,
    TEMPLATES,
    FigureTemplate,
    template_of,
)
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited, read_regular

FIELDS = ("words", "steps", "scale", "width", "type_size", "dpi")
"""Fields of the template that an option of the same name replaces."""


def add_figure_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command ``figure``."""
    parser.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="picture files of runs, top to bottom"
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
        help=f"{', '.join(TEMPLATES)}, or a JSON file (default: %(default)s)",
    )
    parser.add_argument("--words", nargs="+", metavar="WORD", help="words of the prompt")
    parser.add_argument("--steps", nargs="+", type=int, metavar="N", help="steps, from 1")
    parser.add_argument(
        "--scale",
        type=one_of(MapScale),
        metavar="SCALE",
        help=f"normalisation of the maps: {words_of(MapScale)}",
    )
    parser.add_argument("--width", type=float, metavar="INCHES", help="width of the figure")
    parser.add_argument("--type-size", type=float, metavar="POINTS", help="size of the labels")
    parser.add_argument("--dpi", type=int, help="resolution of PNG files")
    parser.add_argument("--no-curves", action="store_true", help="omit the PoS curves")
    parser.add_argument(
        "--footer", action="store_true", help="print prompt and settings below the figure"
    )
    parser.add_argument("--theme", default="light", help="colour theme (default: %(default)s)")
    parser.add_argument(
        "--unmarked", action="store_true", help="do not label the figure as AI-generated"
    )
    add_overwrite(parser)


def figure(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Compose a figure from stored runs."""
    template = _with_options(_template_named(options.template), options)
    studio = open_studio(None)
    try:
        look = replace(
            studio.exports.look(options.theme), is_marked=not options.unmarked, template=template
        )
        order = ExportOrder(
            into_folder=options.out.is_folder, overwrite=options.overwrite, note=show_progress
        )
        files = studio.exports.export(
            options.runs, EXPORT_KINDS[FIGURE], options.out.path, look, order
        )
    finally:
        studio.close()
    if options.json:
        show_json({"files": [str(path) for path in files]})
    else:
        show_lines(str(path) for path in files)
    return 0


def _template_named(name: str) -> FigureTemplate:
    """Return a built-in template, or read one from a file.

    Raises:
        SettingsError: There is no such template, or the file is not a valid one.
    """
    if name in TEMPLATES:
        return TEMPLATES[name]
    try:
        plain = parse_limited(read_regular(Path(name), MEBIBYTE))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f'The template "{name}" cannot be read.',
            hint=f"Pass a JSON file, or one of {', '.join(TEMPLATES)}.",
        ) from error
    return template_of(plain)


def _with_options(template: FigureTemplate, options: argparse.Namespace) -> FigureTemplate:
    given = {name: value for name in FIELDS if (value := getattr(options, name)) is not None}
    for name in {"words", "steps"} & set(given):
        given[name] = tuple(given[name])
    if options.no_curves:
        given["has_curves"] = False
    if options.footer:
        given["has_footer"] = True
    return replace(template, **given)
