"""Figures and videos: pictures with layers, sheets of steps, curves and sweep grids."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from spatialstudio.domain.export import (
    GRAPH,
    STUDY,
    ExportedRun,
    ExportFile,
    ExportKind,
    ExportLook,
    LookOption,
)

GRAPHML = "graphml"
_FIGURE_FORMATS = ("png", "svg", "pdf")
_COLOURS_AND_MARK = frozenset({LookOption.COLOURS, LookOption.MARK})


def _write_figure(
    kind: str, runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports import sheets
    from spatialstudio.adapters.exports.annotated_picture import annotated_picture
    from spatialstudio.adapters.exports.write_figure import figure_file

    draw = {
        "annotated": annotated_picture,
        "attention": sheets.attention_sheet,
        "storyboard": sheets.storyboard,
        "curves": sheets.curves,
    }[kind]
    (run,) = runs
    return figure_file(draw(run, look), look, ending, resources / "fonts")


def _write_graph(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.graph_file import graphml_bytes
    from spatialstudio.adapters.exports.scene_graph import scene_graph_figure
    from spatialstudio.adapters.exports.write_figure import figure_file

    (run,) = runs
    if ending == GRAPHML:
        return ExportFile(content=graphml_bytes(run, look))
    return figure_file(scene_graph_figure(run, look), look, ending, resources / "fonts")


def _write_sweep(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.sheets import sweep_sheet
    from spatialstudio.adapters.exports.write_figure import figure_file

    return figure_file(sweep_sheet(runs, look), look, ending, resources / "fonts")


def _write_study(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.study_plot import study_plot
    from spatialstudio.adapters.exports.write_figure import figure_file

    return figure_file(study_plot(runs, look), look, ending, resources / "fonts")


def _write_paper_figure(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.paper_figure import PaperFigure, caption_lines
    from spatialstudio.adapters.exports.write_figure import figure_file

    fonts = resources / "fonts"
    figure = PaperFigure(runs, look, fonts)
    made = figure_file(figure.draw(), look, ending, fonts, dpi=look.template.dpi)
    words = " ".join(caption_lines(runs, look.template))
    return replace(made, caption=words, notes=(*made.notes, *figure.notes))


def _write_film(
    runs: Sequence[ExportedRun], look: ExportLook, ending: str, resources: Path
) -> ExportFile:
    from spatialstudio.adapters.exports.film import film_bytes, film_frames
    from spatialstudio.adapters.exports.write_figure import drawn_file, marked

    (run,) = runs
    fonts = resources / "fonts"
    drawings = [marked(frame, look) for frame in film_frames(run, look)]
    return drawn_file(film_bytes(drawings, ending, fonts), drawings, ending, fonts)


KINDS = (
    ExportKind(
        id="annotated",
        label="Annotated picture",
        help="The picture with its layers, legend and scale.",
        formats=_FIGURE_FORMATS,
        write=partial(_write_figure, "annotated"),
        order=10,
        reads=frozenset({LookOption.COLOURS, LookOption.LAYERS, LookOption.MARK}),
    ),
    ExportKind(
        id="attention",
        label="Attention sheet",
        help="Attention maps of all words over the steps.",
        formats=_FIGURE_FORMATS,
        write=partial(_write_figure, "attention"),
        order=20,
        reads=_COLOURS_AND_MARK,
    ),
    ExportKind(
        id="storyboard",
        label="Storyboard",
        help="The previews over the steps.",
        formats=_FIGURE_FORMATS,
        write=partial(_write_figure, "storyboard"),
        order=30,
        reads=_COLOURS_AND_MARK,
    ),
    ExportKind(
        id="curves",
        label="Curves",
        help="PoS over the steps, one curve per relation.",
        formats=_FIGURE_FORMATS,
        write=partial(_write_figure, "curves"),
        order=40,
        reads=frozenset({LookOption.COLOURS}),
    ),
    ExportKind(
        id=GRAPH,
        label="Scene graph",
        help="The graphs of prompt and picture, matched, with the scene-graph score.",
        formats=("pdf", "svg", "png", GRAPHML),
        write=_write_graph,
        order=45,
        reads=frozenset({LookOption.COLOURS}),
    ),
    ExportKind(
        id="sweep",
        label="Sweep grid",
        help="The chosen runs of a sweep as a grid with labelled axes.",
        formats=_FIGURE_FORMATS,
        write=_write_sweep,
        order=50,
        is_of_many=True,
        reads=_COLOURS_AND_MARK,
    ),
    ExportKind(
        id=STUDY,
        label="Study plot",
        help="PoS, PSE, verdicts and map numbers by the settings that differ, with intervals.",
        formats=("pdf", "svg", "png"),
        write=_write_study,
        order=52,
        is_of_many=True,
        reads=_COLOURS_AND_MARK,
    ),
    ExportKind(
        id="figure",
        label="Figure for a paper",
        help="Attention maps and PoS curves of the chosen runs in the width of a paper's column.",
        formats=("pdf", "svg", "png"),
        write=_write_paper_figure,
        order=55,
        is_of_many=True,
        reads=frozenset({*_COLOURS_AND_MARK, LookOption.TEMPLATE}),
    ),
    ExportKind(
        id="film",
        label="Video",
        help="Picture, maps and PoS, one frame per step.",
        formats=("gif", "apng", "mp4"),
        write=_write_film,
        order=60,
        reads=_COLOURS_AND_MARK,
    ),
)
