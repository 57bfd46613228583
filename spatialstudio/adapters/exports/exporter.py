"""Makes every kind of export from stored runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from spatialstudio.adapters.durable_files import written_together
from spatialstudio.adapters.exports.annotated_picture import annotated_picture
from spatialstudio.adapters.exports.board import board_bytes, board_sheet
from spatialstudio.adapters.exports.bundle import bundle_bytes, open_bundle
from spatialstudio.adapters.exports.film import film_bytes, film_frames
from spatialstudio.adapters.exports.lettering import missing_letters
from spatialstudio.adapters.exports.report import report_bytes
from spatialstudio.adapters.exports.sheets import (
    attention_sheet,
    curves,
    storyboard,
)
from spatialstudio.adapters.exports.sweep_sheet import sweep_sheet
from spatialstudio.adapters.exports.tables import (
    coco_bytes,
    csv_bytes,
    jsonl_bytes,
    npz_arrays,
)
from spatialstudio.adapters.exports.write_pdf import pdf_bytes
from spatialstudio.adapters.exports.write_png import png_of
from spatialstudio.adapters.exports.write_svg import svg_bytes
from spatialstudio.adapters.storage.metadata.picture_texts import picture_bytes
from spatialstudio.adapters.storage.stores.array_file import pack_arrays
from spatialstudio.adapters.storage.stores.picture_record import texts_of
from spatialstudio.domain.drawing import (
    Drawing,
    Raster,
    Text,
)
from spatialstudio.domain.export import (
    BoardFrame,
    ExportedRun,
    ExportFile,
    ExportKind,
    ExportLook,
)
from spatialstudio.domain.ports import Surroundings

PICTURE_KINDS = {"png": "PNG", "jpg": "JPEG", "webp": "WEBP"}
FONTLESS = frozenset({"svg", "npz", "csv"})
"""Forms that keep letters as they are."""
FIGURES: Mapping[ExportKind, Callable[[ExportedRun, ExportLook], Drawing]] = {
    ExportKind.ANNOTATED: annotated_picture,
    ExportKind.ATTENTION: attention_sheet,
    ExportKind.STORYBOARD: storyboard,
    ExportKind.CURVES: curves,
}


def build(surroundings: Surroundings) -> "FileExporter":
    """Make the exporter."""
    return FileExporter(surroundings.resources)


class FileExporter:
    """Writes exports as files; implements ``Exporter``.

    Args:
        resources: The folder of shipped data.
    """

    id = "files"

    def __init__(self, resources: Path) -> None:
        self._resources = resources
        self._fonts = resources / "fonts"

    def make(
        self, runs: Sequence[ExportedRun], kind: ExportKind, look: ExportLook, ending: str
    ) -> ExportFile:
        """Make a file of runs; its ending says in which form.

        Args:
            runs: One run, or many for the kinds that take many.
            kind: What of them.
            look: How figures look.
            ending: One of those that the kind can have.

        Raises:
            ExportError: The runs lack what the kind shows.
            StoreError: A file of a run cannot be read.
        """
        if kind is ExportKind.FILM:
            (run,) = runs
            drawings = [_marked(frame, look) for frame in film_frames(run, look)]
            return self._drawn(film_bytes(drawings, ending, self._fonts), drawings, ending)
        drawing = _drawing(runs, kind, look)
        if drawing is None:
            return ExportFile(content=self._content(runs, kind, look, ending))
        return self._drawn(self._figure(_marked(drawing, look), ending), [drawing], ending)

    def make_board(self, frames: Sequence[BoardFrame], look: ExportLook, ending: str) -> ExportFile:
        """Make a file of a storyboard; its ending says in which form.

        Raises:
            ExportError: There is no frame, or the part that writes MP4 is not installed.
        """
        content = board_bytes(frames, ending, look, self._fonts)
        return self._drawn(content, [board_sheet(frames, look)], ending)

    def write(self, file: ExportFile, target: Path, *, overwrite: bool = False) -> None:
        """Write what was made, whole.

        Raises:
            TargetExists: The file is already there, and it is not to be replaced.
            StoreError: The file cannot be written.
        """
        self.write_all(target.parent, [(target.name, file)], overwrite=overwrite)

    def write_all(
        self, folder: Path, files: Iterable[tuple[str, ExportFile]], *, overwrite: bool = False
    ) -> None:
        """Write what is made into a folder, by name; all files appear together, or none.

        Raises:
            TargetExists: A name is taken, and it is not to be replaced.
            StoreError: The folder cannot be written.
        """
        with written_together(folder, overwrite=overwrite) as write:
            for name, file in files:
                write(name, file.content)

    def open_bundle(self, path: Path, root: Path) -> tuple[Path, ...]:
        """Put the runs of a bundle into a library, and return their pictures.

        Raises:
            StoreError: It is no bundle, damaged, or the library cannot be written.
        """
        return open_bundle(path, root)

    def _content(
        self, runs: Sequence[ExportedRun], kind: ExportKind, look: ExportLook, ending: str
    ) -> bytes:
        match kind:
            case ExportKind.TABLE:
                return csv_bytes(runs) if ending == "csv" else jsonl_bytes(runs)
            case ExportKind.MASKS:
                return coco_bytes(runs)
            case ExportKind.BUNDLE:
                return bundle_bytes(runs)
            case ExportKind.REPORT:
                return report_bytes(runs, look, self._resources)
        (run,) = runs
        if kind is ExportKind.ARRAYS:
            return pack_arrays(npz_arrays(run))
        return _picture(run, kind, look, PICTURE_KINDS[ending])

    def _drawn(self, content: bytes, drawings: Sequence[Drawing], ending: str) -> ExportFile:
        """Return what was drawn, with the letters that no font has where its form needs one."""
        if ending in FONTLESS:
            return ExportFile(content=content)
        items = (item for drawing in drawings for item in drawing.items)
        texts = "".join(item.text for item in items if isinstance(item, Text))
        return ExportFile(content=content, missing=missing_letters(texts, self._fonts))

    def _figure(self, drawing: Drawing, ending: str) -> bytes:
        if ending == "svg":
            return svg_bytes(drawing)
        if ending == "pdf":
            return pdf_bytes(drawing, self._fonts)
        return png_of(drawing, self._fonts)


def _drawing(runs: Sequence[ExportedRun], kind: ExportKind, look: ExportLook) -> Drawing | None:
    """Return the figure of some runs; None for a kind that is none."""
    if kind is ExportKind.SWEEP:
        return sweep_sheet(runs, look)
    if kind not in FIGURES:
        return None
    (run,) = runs
    return FIGURES[kind](run, look)


def _marked(drawing: Drawing, look: ExportLook) -> Drawing:
    """Have a figure that shows a picture say that a model drew it."""
    shows = any(isinstance(item, Raster) for item in drawing.items)
    return replace(drawing, is_marked=look.is_marked and shows)


def _picture(run: ExportedRun, kind: ExportKind, look: ExportLook, form: str) -> bytes:
    height, width, _ = run.image.shape
    texts = texts_of(run.record, run.record.evaluation, (height, width), is_marked=look.is_marked)
    return picture_bytes(run.image, form, None if kind is ExportKind.CLEAN else texts)
