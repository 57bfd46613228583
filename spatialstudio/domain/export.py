"""What can be taken out of the studio, and how it shall look."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import Protocol

from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.library import Marks
from spatialstudio.domain.palette import Palette
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.record import RunRecord

BOARD_FORMATS = ("png", "svg", "pdf", "gif", "apng", "mp4", "npz", "csv")
"""File endings that a storyboard can have, the usual one first."""


@frozen(eq=False)
class BoardFrame:
    """One step of a run as it was pinned. Made by ``application.storyboard`` only.

    Attributes:
        id: Unique among the frames of a board.
        step: From 0.
        caption: Which step of which run: "Step 5 of 20, seed 7".
        prompt: What the run was drawn from.
        picture: (H, W, 3) uint8, the preview or the finished picture.
        maps: Word and (h, w) attention, in the order of the prompt; may be empty.
        hues: Which of the mentions' colours each of these words has.
        pos: Relation in words and PoS in [0, 1].
    """

    id: str
    step: int
    caption: str
    prompt: str
    picture: RgbImage
    maps: tuple[tuple[str, FloatMap], ...]
    hues: tuple[int, ...]
    pos: tuple[tuple[str, float], ...]


class ExportLayer(Enum):
    """What may lie on an annotated picture."""

    MAPS = "maps"
    MASKS = "masks"
    BOXES = "boxes"
    MARGINALS = "marginals"


class LookOption(Enum):
    """What an export kind reads of ``ExportLook``; the dialog asks for that alone."""

    COLOURS = "colours"
    """The palette."""
    LAYERS = "layers"
    """The layers on the picture."""
    MARK = "mark"
    """Whether the file says that a model made its pictures."""


@frozen
class ExportLook:
    """How a figure looks.

    Attributes:
        palette: Its colours.
        layers: What lies on the picture.
        mention_ids: Whose layers; None for all.
        step: Which step's maps; None for the last that has some.
        columns: Steps shown on a sheet, at most.
        is_marked: Whether pictures say in their metadata that a model drew them.
    """

    palette: Palette
    layers: frozenset[ExportLayer] = frozenset(ExportLayer)
    mention_ids: frozenset[MentionId] | None = None
    step: int | None = None
    columns: int = 8
    is_marked: bool = True


@frozen
class ExportFile:
    """An export, made and not written yet. Made by exporters.

    Attributes:
        content: Of the file.
        missing: Letters that stand in it as boxes, as no font here has them.
    """

    content: bytes = field(repr=False)
    missing: str = ""


@frozen(eq=False)
class ExportedRun:
    """A run as exporters see it. Made by the application.

    Attributes:
        path: Of its picture.
        record: With its evaluation.
        steps: In order.
        image: (H, W, 3) uint8.
        marks: What the user says of it.
        evidence: Behind each verdict.
    """

    path: Path
    record: RunRecord
    steps: tuple[StepEvent, ...]
    image: RgbImage
    marks: Marks = field(default_factory=Marks)
    evidence: tuple[Evidence, ...] = ()


Write = Callable[[Sequence[ExportedRun], ExportLook, str, Path], ExportFile]
"""Makes a file of runs, given the look, the file's ending and the folder of shipped data.

Raises ``ExportError`` where the runs lack what the kind shows, ``StoreError`` where a file of a run
cannot be read.
"""

PICTURE, CLEAN, ANNOTATED, SWEEP = "picture", "clean", "annotated", "sweep"
"""Ids of the export kinds that commands of the window write."""


@frozen
class ExportKind:
    """A kind of export, as a module of ``adapters/exports/kinds`` or a plugin registers it.

    Attributes:
        id: Its name in the terminal, and in names of files.
        label: Its title in the export dialog.
        help: What the file shows, in a sentence.
        formats: File endings, the usual one first.
        write: Makes the file; imports what it needs when it is called.
        order: Its place in the dialog and in the terminal's help; lower numbers first.
        is_of_many: Whether all chosen runs go into one file; else ``write`` gets one run.
        is_anonymous: Whether files are not named after their runs, as those names hold the prompt.
        reads: What it reads of the look.
    """

    id: str
    label: str
    help: str
    formats: tuple[str, ...]
    write: Write
    order: int = 1000
    is_of_many: bool = False
    is_anonymous: bool = False
    reads: frozenset[LookOption] = frozenset()


class Exporter(Protocol):
    """Takes runs out of the studio as files, and bundles of them back in."""

    def make(
        self, runs: Sequence[ExportedRun], kind: ExportKind, look: ExportLook, ending: str
    ) -> ExportFile:
        """Make a file of runs; its ending says in which form.

        Raises:
            ExportError: The runs lack what the kind shows.
            StoreError: A file of a run cannot be read.
        """

    def make_board(self, frames: Sequence[BoardFrame], look: ExportLook, ending: str) -> ExportFile:
        """Make a file of a storyboard; its ending says in which form.

        Raises:
            ExportError: There is no frame, or it cannot be made in that form.
        """

    def write(self, file: ExportFile, target: Path, *, overwrite: bool = False) -> None:
        """Write what was made, whole.

        Raises:
            TargetExists: The file is already there, and it is not to be replaced.
            StoreError: The file cannot be written.
        """

    def write_all(
        self, folder: Path, files: Iterable[tuple[str, ExportFile]], *, overwrite: bool = False
    ) -> None:
        """Write what is made into a folder, by name; all files appear together, or none.

        Raises:
            TargetExists: A name is taken, and it is not to be replaced.
            StoreError: The folder cannot be written.
        """

    def open_bundle(self, path: Path, root: Path) -> tuple[Path, ...]:
        """Put the runs of a bundle into a library, and return their pictures.

        Raises:
            StoreError: It is no bundle, damaged, or the library cannot be written.
        """
