"""Export kinds, the appearance of figures, and the protocol of exporters."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from pathlib import Path
from typing import BinaryIO, Protocol

from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.attention import AttentionFile, LayerValues
from spatialstudio.domain.evidence import Evidence
from spatialstudio.domain.figure_template import FigureTemplate
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationEvent, StepEvent
from spatialstudio.domain.graph_settings import GraphSettings
from spatialstudio.domain.library import Marks, RunRecord
from spatialstudio.domain.palette import Palette
from spatialstudio.domain.run_data import RunData
from spatialstudio.domain.scene import MentionId
from spatialstudio.domain.verdict import MentionVerdict

BOARD_FORMATS = ("png", "svg", "pdf", "gif", "apng", "mp4", "npz", "csv")
"""File extensions of storyboards, the default first."""

FIGURE_SUFFIXES = (".svg", ".pdf", ".png")
"""Suffixes of the files of figures made of a ``Drawing``."""


@frozen(eq=False)
class LoadedRun:
    """A stored run as it is read from its files.

    Attributes:
        record: Its record.
        events: Its events, in order.
        read_layer: Opens a recorded layer, (stored steps, heads, words, h, w); raises StoreError if
            it is missing or damaged.
    """

    record: RunRecord
    events: tuple[GenerationEvent, ...]
    read_layer: Callable[[AttentionFile], LayerValues]


@frozen(eq=False)
class BoardFrame:
    """One pinned step of a run. Created only by ``application.storyboard``.

    Attributes:
        id: Unique among the frames of a board.
        step: Denoising step, from 0.
        caption: Step and run in words: "Step 5 of 20, seed 7".
        prompt: The prompt of the run.
        picture: (H, W, 3) uint8, the preview or the finished image.
        maps: Word and (h, w) attention, in the order of the prompt; may be empty.
        hues: Index of the mention colour of each of these words.
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
    """Layers of an annotated image."""

    MAPS = "maps"
    MASKS = "masks"
    BOXES = "boxes"
    MARGINALS = "marginals"


class LookOption(Enum):
    """Parts of ``ExportLook`` that an export kind uses; the dialog shows only these."""

    COLOURS = "colours"
    """The palette."""
    LAYERS = "layers"
    """The layers on the image."""
    TEMPLATE = "template"
    """The template of figures for papers."""
    MARK = "mark"
    """The metadata mark for AI-generated images."""


@frozen
class StudyChoice:
    """What a study plot shows.

    Attributes:
        numbers: Titles of the numbers by name; empty for the usual numbers.
        by: Names of the grouping settings; empty for all that differ, except seed and prompt.
    """

    numbers: Mapping[str, str] = field(default_factory=dict)
    by: tuple[str, ...] = ()


@frozen
class ExportLook:
    """The appearance of a figure.

    Attributes:
        palette: Its colours.
        layers: Layers drawn on the image.
        mention_ids: Mentions whose layers are drawn; None for all.
        step: Step of the attention maps; None for the last captured step.
        columns: Maximum number of steps on a sheet.
        is_marked: Whether image metadata marks images as AI-generated.
        template: Content and size of figures for papers.
        graph: Settings of the scene-graph score.
        study: Numbers and groups of a study plot.
    """

    palette: Palette
    layers: frozenset[ExportLayer] = frozenset(ExportLayer)
    mention_ids: frozenset[MentionId] | None = None
    step: int | None = None
    columns: int = 8
    is_marked: bool = True
    template: FigureTemplate = field(default_factory=FigureTemplate)
    graph: GraphSettings = field(default_factory=GraphSettings)
    study: StudyChoice = field(default_factory=StudyChoice)


@frozen
class ExportFile:
    """The content of an export before it is written. Created by exporters.

    Attributes:
        content: Bytes of the file; empty where ``stream`` writes it.
        missing: Characters drawn as boxes because no installed font has them.
        stream: Writes a file that may be too large for the memory; None for ``content``.
        notes: Sentences about data that the file lacks.
        caption: Caption of a figure for a paper, with the settings; empty for other kinds.
    """

    content: bytes = field(default=b"", repr=False)
    missing: str = ""
    stream: Callable[[BinaryIO], None] | None = None
    notes: tuple[str, ...] = ()
    caption: str = ""


@frozen
class FigureCaption:
    """The caption of a figure.

    Attributes:
        title: For screen readers and the file's metadata.
        lines: What it shows, with numbers of samples and settings.
    """

    title: str
    lines: tuple[str, ...]


@frozen(eq=False)
class ExportedRun:
    """The input of exporters for one run. Created by the application.

    Attributes:
        path: Path of its image.
        record: Its record, with the evaluation.
        steps: Its steps, in order.
        image: (H, W, 3) uint8.
        marks: The user's stars, tags and note.
        evidence: Evidence for each verdict.
        data: Its arrays and numbers; None where the application did not collect them.
        scores: Computes its scores by metric id; empty without an evaluation.
    """

    path: Path
    record: RunRecord
    steps: tuple[StepEvent, ...]
    image: RgbImage
    marks: Marks = field(default_factory=Marks)
    evidence: tuple[Evidence, ...] = ()
    data: RunData | None = None
    scores: Callable[[], Mapping[str, float]] = dict

    @property
    def mention_verdicts(self) -> tuple[MentionVerdict, ...]:
        """Verdicts on counts and colours; empty without an evaluation."""
        return self.record.evaluation.mention_verdicts if self.record.evaluation else ()


Write = Callable[[Sequence[ExportedRun], ExportLook, str, Path], ExportFile]
"""Function that exports runs, given the look, the file extension and the folder of shipped data.

Raises ``ExportError`` if the runs lack data that the kind shows, ``StoreError`` if a file of a run
cannot be read.
"""

PICTURE, CLEAN, ANNOTATED, SWEEP, FIGURE = "picture", "clean", "annotated", "sweep", "figure"
GRAPH, STUDY = "graph", "study"
"""Ids of the export kinds that have commands in the window or the terminal."""


@frozen
class ExportKind:
    """A kind of export, registered by a module of ``adapters/exports/kinds`` or a plugin.

    Attributes:
        id: Name in the terminal and in file names.
        label: Title in the export dialog.
        help: What the file shows, in one sentence.
        formats: File extensions, the default first.
        write: Creates the file; imports its dependencies when called.
        order: Position in the dialog and in the terminal's help; lower numbers first.
        is_of_many: Whether all selected runs go into one file; else ``write`` gets one run.
        is_anonymous: Whether file names omit the names of the runs, which contain the prompt.
        reads: The parts of the look that it uses.
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
    """Exports runs and storyboards to files, and imports bundles of runs."""

    @property
    def fonts(self) -> tuple[str, ...]:
        """Fonts for figures on this machine, the shipped one first."""

    def make(
        self, runs: Sequence[ExportedRun], kind: ExportKind, look: ExportLook, ending: str
    ) -> ExportFile:
        """Export runs in the format of a file extension.

        Raises:
            ExportError: The runs lack data that the kind shows.
            StoreError: A file of a run cannot be read.
        """

    def make_board(self, frames: Sequence[BoardFrame], look: ExportLook, ending: str) -> ExportFile:
        """Export a storyboard in the format of a file extension.

        Raises:
            ExportError: There is no frame, or the format is not supported.
        """

    def write(self, file: ExportFile, target: Path, *, overwrite: bool = False) -> None:
        """Write an export atomically.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """

    def write_all(
        self, folder: Path, files: Iterable[tuple[str, ExportFile]], *, overwrite: bool = False
    ) -> None:
        """Write exports into a folder by name; either all files appear, or none.

        Raises:
            TargetExists: A file exists and ``overwrite`` is False.
            StoreError: The folder cannot be written.
        """

    def open_bundle(
        self, path: Path, root: Path, note: Callable[[str], object]
    ) -> tuple[Path, ...]:
        """Import the runs of a bundle into a library, and return their image paths.

        Args:
            path: The bundle.
            root: The library.
            note: Receives sentences on recorded layers that made room for those of the bundle.

        Raises:
            StoreError: The file is not a bundle, is damaged, or the library cannot be written.
        """

    def load_bundled(self, path: Path, name: str = "") -> LoadedRun:
        """Load a run of a bundle without importing it; its layers are read from the bundle.

        Args:
            path: The bundle.
            name: Name of the run's files, without extension; empty for the newest run.

        Raises:
            StoreError: The file is not a bundle, is damaged, or has no such run.
        """
