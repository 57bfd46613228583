"""Export of stored runs to files, and import of bundles."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from spatialstudio.adapters.durable_files import written_together
from spatialstudio.domain.attention import ATTENTION_FOLDER
from spatialstudio.domain.export import (
    BoardFrame,
    ExportedRun,
    ExportFile,
    ExportKind,
    ExportLook,
    LoadedRun,
)
from spatialstudio.domain.ports import Surroundings


def build(surroundings: Surroundings) -> "FileExporter":
    """Create the exporter."""
    cache = surroundings.cache
    return FileExporter(surroundings.resources, None if cache is None else cache / ATTENTION_FOLDER)


class FileExporter:
    """Writes exports as files; implements ``Exporter``.

    Args:
        resources: The folder of shipped data.
        layers: Cache of recorded layers; None to import none.
    """

    id = "files"

    def __init__(self, resources: Path, layers: Path | None = None) -> None:
        self._resources = resources
        self._layers = layers

    @property
    def fonts(self) -> tuple[str, ...]:
        """Fonts for figures on this machine, the shipped one first."""
        from spatialstudio.adapters.exports.lettering import font_families

        return font_families()

    def make(
        self, runs: Sequence[ExportedRun], kind: ExportKind, look: ExportLook, ending: str
    ) -> ExportFile:
        """Build the export file of runs.

        Args:
            runs: One run, or several for kinds that accept them.
            kind: The export kind.
            look: Colours and layers of figures.
            ending: One of the kind's formats.

        Raises:
            ExportError: The runs lack data for this kind.
            StoreError: A file of a run cannot be read.
        """
        return kind.write(runs, look, ending, self._resources)

    def make_board(self, frames: Sequence[BoardFrame], look: ExportLook, ending: str) -> ExportFile:
        """Build the export file of a storyboard; the extension selects the format.

        Raises:
            ExportError: There is no frame, or the MP4 extra is not installed.
        """
        from spatialstudio.adapters.exports.board import board_bytes, board_sheet
        from spatialstudio.adapters.exports.write_figure import drawn_file

        fonts = self._resources / "fonts"
        content = board_bytes(frames, ending, look, fonts)
        return drawn_file(content, [board_sheet(frames, look)], ending, fonts)

    def write(self, file: ExportFile, target: Path, *, overwrite: bool = False) -> None:
        """Write a file atomically.

        Raises:
            TargetExists: The file already exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """
        self.write_all(target.parent, [(target.name, file)], overwrite=overwrite)

    def write_all(
        self, folder: Path, files: Iterable[tuple[str, ExportFile]], *, overwrite: bool = False
    ) -> None:
        """Write files into a folder, by name; all of them appear together, or none.

        Raises:
            TargetExists: A name is taken and ``overwrite`` is False.
            StoreError: The folder cannot be written.
        """
        with written_together(folder, overwrite=overwrite) as write:
            for name, file in files:
                write(name, file.stream or file.content)

    def open_bundle(
        self, path: Path, root: Path, note: Callable[[str], object]
    ) -> tuple[Path, ...]:
        """Import the runs of a bundle into a library, and return their pictures.

        Args:
            path: The bundle.
            root: The library.
            note: Receives sentences on recorded layers that made room for those of the bundle.

        Raises:
            StoreError: It is not a bundle, damaged, or the library cannot be written.
        """
        from spatialstudio.adapters.exports.bundle import open_bundle

        return open_bundle(path, root, self._layers, note)

    def load_bundled(self, path: Path, name: str = "") -> LoadedRun:
        """Load a run of a bundle without importing it; an empty name is that of the newest run.

        Raises:
            StoreError: It is not a bundle, damaged, or has no such run.
        """
        from spatialstudio.adapters.exports.bundle import load_bundled

        return load_bundled(path, name)
