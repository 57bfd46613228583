"""Figures for papers: previews, templates in files, LaTeX, and runs named by id."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path

from spatialstudio.application.gallery.exports import Exports
from spatialstudio.application.gallery.library import Library
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.errors import SettingsError, StoreError, StudioError
from spatialstudio.domain.export import FIGURE, ExportedRun, ExportFile, ExportLook
from spatialstudio.domain.figure_template import (
    LEAST_DPI,
    SCHEMA_FILE,
    TEMPLATES,
    FigureTemplate,
    plain_template,
    template_of,
    template_schema,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.run_data import LAYER_PREFIX
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited, read_regular

PREVIEW_WIDTH = 900
"""Pixels across a preview."""
MOST_KEPT = 12
"""Largest number of runs kept in memory for previews."""
_LATEX: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "“": "``",
    "”": "''",
    "…": r"\dots{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


@frozen
class FigurePreview:
    """A preview and what its runs offer.

    Attributes:
        content: PNG file; empty if the figure cannot be drawn.
        caption: Its caption.
        problem: Why it cannot be drawn; empty if it can.
        notes: Sentences about chosen steps that it does not show.
        words: Words of the prompts.
        steps: Steps with maps, from 1.
        layers: Recorded layers that all runs have.
    """

    content: bytes = field(default=b"", repr=False)
    caption: str = ""
    problem: str = ""
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    steps: tuple[int, ...] = ()
    layers: tuple[str, ...] = ()


class Figures:
    """Draws previews of figures, and reads and writes their templates.

    Previews are drawn on one background thread at a time.

    Args:
        exports: Reads the runs and draws.
        folder: Folder of the user's templates.
    """

    def __init__(self, exports: Exports, folder: Path) -> None:
        self._exports = exports
        self.folder = folder
        self._read: dict[Path, ExportedRun] = {}

    @property
    def fonts(self) -> tuple[str, ...]:
        """Fonts for figures on this machine, the shipped one first."""
        return self._exports.exporter.fonts

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the built-in templates, then the user's."""
        own = sorted(path.stem for path in self.folder.glob("*.json") if path.name != SCHEMA_FILE)
        return (*TEMPLATES, *(name for name in own if name not in TEMPLATES))

    def preview(self, runs: Sequence[Path], look: ExportLook) -> FigurePreview:
        """Draw a preview; problems of the template are part of the result.

        Raises:
            StoreError: A run is damaged.
        """
        read = [self._run(path) for path in runs]
        template = look.template
        dpi = max(round(PREVIEW_WIDTH / template.width), LEAST_DPI)
        look = replace(look, template=replace(template, dpi=dpi))
        file, problem = ExportFile(), ""
        try:
            file = self._exports.exporter.make(read, EXPORT_KINDS[FIGURE], look, "png")
        except StudioError as error:
            problem = f"{error.message} {error.hint}"
        layers = [_layers_of(run) for run in read]
        return FigurePreview(
            content=file.content,
            caption=file.caption,
            problem=problem,
            notes=file.notes,
            words=_unique(m.phrase for run in read for m in run.record.request.scene.mentions),
            steps=tuple(sorted({e.step + 1 for run in read for e in run.steps if e.attention})),
            layers=tuple(name for name in layers[0] if all(name in each for each in layers)),
        )

    def template(self, name: str) -> FigureTemplate:
        """Return a built-in template, one of the user's, or read a file.

        Raises:
            SettingsError: There is no such template, or the file is not a valid one.
        """
        if name in TEMPLATES:
            return TEMPLATES[name]
        own = self.folder / f"{name}.json"
        path = own if Path(name).name == name and own.is_file() else Path(name)
        try:
            plain = parse_limited(read_regular(path, MEBIBYTE))
        except (OSError, ValueError) as error:
            raise SettingsError(
                f'The template "{name}" cannot be read.',
                hint=f"Pass a JSON file, or one of {', '.join(self.names)}.",
            ) from error
        return template_of(plain)

    def save(self, template: FigureTemplate, path: Path) -> None:
        """Write a template and, beside it, its JSON schema; existing files are replaced.

        Raises:
            StoreError: The folder cannot be written.
        """
        if path.name == SCHEMA_FILE:
            raise StoreError("This name is that of the schema.", hint="Choose another name.")
        files = {path.name: plain_template(template), SCHEMA_FILE: template_schema()}
        made = ((name, ExportFile(content=_json(plain))) for name, plain in files.items())
        path.parent.mkdir(parents=True, exist_ok=True)
        self._exports.exporter.write_all(path.parent, made, overwrite=True)

    def save_latex(self, figure: Path, caption: str, width: float, *, overwrite: bool) -> Path:
        """Write the LaTeX snippet of a figure beside its file, and return the file.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The folder cannot be written.
        """
        target = figure.with_suffix(".tex")
        content = latex_figure(caption, figure.name, width).encode()
        self._exports.exporter.write(ExportFile(content=content), target, overwrite=overwrite)
        return target

    def _run(self, path: Path) -> ExportedRun:
        if path not in self._read:
            while len(self._read) >= MOST_KEPT:
                del self._read[next(iter(self._read))]
            self._read[path] = self._exports.read(path)
        return self._read[path]


def latex_figure(caption: str, name: str, width: float) -> str:
    r"""Return a LaTeX figure environment that includes a file.

    Args:
        caption: Plain text; special characters are escaped.
        name: Name of the file for ``\includegraphics``.
        width: Inches.
    """
    place = "figure" if width < WIDE else "figure*"
    label = re.sub(r"[^a-z0-9]+", "-", Path(name).stem.lower()).strip("-") or "figure"
    plain = "".join(_LATEX.get(letter, letter) for letter in caption)
    file = name.rpartition(".")[0] if name.endswith(".svg") else name
    include = "includesvg" if name.endswith(".svg") else "includegraphics"
    return (
        f"\\begin{{{place}}}[t]\n"
        "  \\centering\n"
        f"  \\{include}[width={width:g}in]{{\\detokenize{{{file}}}}}\n"
        f"  \\caption{{{plain}}}\n"
        f"  \\label{{fig:{label}}}\n"
        f"\\end{{{place}}}\n"
    )


WIDE = 6.0
"""Width from which a figure spans both columns of a page, inches."""


def pictures_named(names: Iterable[str], library: Callable[[], Library]) -> tuple[Path, ...]:
    """Return the pictures of runs given by file or by id; an unknown id stays as it is.

    Args:
        names: Files, folders or ids.
        library: Returns the library; called at most once, and only for ids.
    """
    open_library = cache(library)
    paths = [Path(name) for name in names]
    return tuple(_picture_of(path, open_library) if _is_id(path) else path for path in paths)


def _is_id(path: Path) -> bool:
    return path.name == str(path) and not path.suffix and not path.exists()


def _picture_of(path: Path, library: Callable[[], Library]) -> Path:
    asked = library().entry_of(RequestId(path.name))
    entries = (asked,) if asked else library().entries(library().list())
    return next((e.path for e in entries if asked or e.summary.id == path.name), path)


def _layers_of(run: ExportedRun) -> tuple[str, ...]:
    arrays = run.data.arrays if run.data else ()
    names = (each.name for each in arrays)
    return tuple(name.removeprefix(LAYER_PREFIX) for name in names if name.startswith(LAYER_PREFIX))


def _unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _json(plain: object) -> bytes:
    return json.dumps(plain, indent=2, ensure_ascii=False).encode() + b"\n"
