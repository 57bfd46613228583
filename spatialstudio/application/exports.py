"""Stage 5: takes runs out of the studio as files, one or many at once, and bundles back in."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from spatialstudio.application.errands import Progress
from spatialstudio.application.inspection import evidence_of, last_attention
from spatialstudio.application.theme_file import load_theme
from spatialstudio.domain.errors import ExportError, SettingsError
from spatialstudio.domain.export import (
    FORMATS,
    OF_MANY,
    ExportedRun,
    ExportFile,
    ExportKind,
    ExportLook,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import GenerationEvent, GenerationFinished, StepEvent
from spatialstudio.domain.record import RunRecord
from spatialstudio.domain.run_ports import Exporter, RunStore
from spatialstudio.domain.storyboard import BOARD_FORMATS, BoardFrame

THEME = "light"
MOST_LETTERS = 12
"""So many are named that no font has."""
NEUTRAL_NAME = "picture"
"""What files are called that shall tell nothing of how they were made."""


@frozen
class ExportOrder:
    """How an export is carried out.

    Attributes:
        ending: Of files that get their names here; empty for the usual of their kind.
        progress: Told how many runs were read, of how many; may raise ``Cancelled``.
        note: Told in a sentence what is not in the files as it should be.
    """

    ending: str = ""
    progress: Progress = lambda _done, _total: None
    note: Callable[[str], None] = lambda _sentence: None


PLAIN_ORDER = ExportOrder()


@frozen
class Exports:
    """Writes exports of stored runs.

    Attributes:
        store: Reads the runs.
        exporter: Writes the files.
        themes: The folder of themes.
    """

    store: RunStore
    exporter: Exporter
    themes: Path

    def look(self, theme: str = THEME) -> ExportLook:
        """Return the usual look of figures, in a theme's colours.

        Raises:
            SettingsError: There is no such theme.
        """
        names = sorted(path.stem for path in self.themes.glob("*.toml"))
        if theme not in names:
            raise SettingsError(
                f'There is no theme "{theme}".', hint=f"Known are: {', '.join(names)}."
            )
        return ExportLook(palette=load_theme(self.themes / f"{theme}.toml"))

    def export(
        self,
        runs: Sequence[Path],
        kind: ExportKind,
        target: Path,
        look: ExportLook | None = None,
        order: ExportOrder = PLAIN_ORDER,
    ) -> tuple[Path, ...]:
        """Write runs as files.

        Args:
            runs: Any files of the runs.
            kind: What of them.
            target: A file; for many runs, and a kind that takes one, a folder.
            look: How figures look; None for the usual.
            order: In which form, and who is told how far it is.

        Returns:
            The files written.

        Raises:
            ExportError: The runs lack what the kind shows, or the file's ending does not fit.
            StoreError: A run is damaged, or a file cannot be written.
        """
        look = look or self.look()
        if kind in OF_MANY:
            single = check_ending(target, kind)
            read = list(self._read_all(runs, order))
            self._write(self.exporter.make(read, kind, look, _ending_of(single)), single, order)
            return (single,)
        return tuple(self._each(runs, kind, target, look, order))

    def read(self, path: Path) -> ExportedRun:
        """Read a run as exporters see it.

        Raises:
            StoreError: There is no run, or it is damaged.
        """
        record, events = self.store.load(path)
        picture, marks = self.store.picture_of(path), self.store.marks(path)
        return replace(_exported(record, events, picture), marks=marks)

    def save_picture(
        self, record: RunRecord, events: Sequence[GenerationEvent], target: Path
    ) -> None:
        """Write the picture of a run that is not stored; how it was made stands in it.

        Raises:
            ExportError: The file's ending is not that of a picture.
            StoreError: The file cannot be written.
        """
        target = check_ending(target, ExportKind.PICTURE)
        look = replace(self.look(), is_marked=record.is_marked)
        run = _exported(record, events, target)
        made = self.exporter.make([run], ExportKind.PICTURE, look, _ending_of(target))
        self.exporter.write(made, target)

    def export_board(
        self,
        frames: Sequence[BoardFrame],
        target: Path,
        order: ExportOrder = PLAIN_ORDER,
        *,
        is_marked: bool = True,
    ) -> Path:
        """Write a storyboard as a file, and return it; without an ending it becomes a PNG.

        Args:
            frames: In order.
            target: The file.
            order: Who is told what is not in the file as it should be.
            is_marked: Whether the file says that it shows what a model drew.

        Raises:
            ExportError: There is no frame, or the file's ending does not fit.
            StoreError: The file cannot be written.
        """
        target = target if target.suffix else target.with_suffix(f".{BOARD_FORMATS[0]}")
        ending = _ending_of(target)
        if ending not in BOARD_FORMATS:
            raise ExportError(
                f'A storyboard cannot be written as "{target.suffix}".',
                hint=f"It can be written as {', '.join(BOARD_FORMATS)}.",
            )
        look = replace(self.look(), is_marked=is_marked)
        self._write(self.exporter.make_board(frames, look, ending), target, order)
        return target

    def open_bundle(self, path: Path, root: Path) -> tuple[Path, ...]:
        """Put the runs of a bundle into a library, and return their pictures.

        Raises:
            StoreError: It is no bundle, damaged, or the library cannot be written.
        """
        return self.exporter.open_bundle(path, root)

    def _read_all(self, runs: Sequence[Path], order: ExportOrder) -> Iterator[ExportedRun]:
        for done, path in enumerate(runs):
            order.progress(done, len(runs))
            yield self.read(path)

    def _each(
        self,
        runs: Sequence[Path],
        kind: ExportKind,
        target: Path,
        look: ExportLook,
        order: ExportOrder,
    ) -> Iterator[Path]:
        is_file = _ending_of(target) in FORMATS[kind]
        if is_file and len(runs) > 1:
            raise ExportError("Many runs do not fit into one file.", hint="Name a folder instead.")
        if target.suffix and not is_file and not target.is_dir():
            check_ending(target, kind)
        ending = order.ending or FORMATS[kind][0]
        for run in self._read_all(runs, order):
            file = target if is_file else target / _file_name(run, kind, ending, target)
            self._write(self.exporter.make([run], kind, look, _ending_of(file)), file, order)
            yield file

    def _write(self, made: ExportFile, target: Path, order: ExportOrder) -> None:
        """Write a file and tell what is not in it as it should be."""
        self.exporter.write(made, target)
        if made.missing:
            order.note(_boxes_in(target, made.missing))


def _exported(record: RunRecord, events: Sequence[GenerationEvent], picture: Path) -> ExportedRun:
    scene, evaluation = record.request.scene, record.evaluation
    (image,) = (event.image for event in events if isinstance(event, GenerationFinished))
    verdicts = evaluation.verdicts if evaluation else ()
    steps = tuple(event for event in events if isinstance(event, StepEvent))
    attention = last_attention(steps, scene, scene)
    return ExportedRun(
        path=picture,
        record=record,
        steps=steps,
        image=image,
        evidence=tuple(
            evidence_of(verdict, scene, evaluation, attention.get(verdict.relation_id))
            for verdict in verdicts
            if evaluation
        ),
    )


def _ending_of(file: Path) -> str:
    return file.suffix.removeprefix(".")


def _boxes_in(file: Path, letters: str) -> str:
    shown = letters[:MOST_LETTERS] + "…" * (len(letters) > MOST_LETTERS)
    return (
        f'No font here has the letters "{shown}"; a box stands for each in {file.name}. '
        "Export as SVG, or install a font that has them."
    )


def _file_name(run: ExportedRun, kind: ExportKind, ending: str, folder: Path) -> str:
    """Name an export after its run; a clean copy by a number, as runs are named by their prompt."""
    if kind is not ExportKind.CLEAN:
        return f"{run.path.stem}_{kind.value}.{ending}"
    names = (f"{NEUTRAL_NAME}_{number}.{ending}" for number in count(1))
    return next(name for name in names if not (folder / name).exists())


def check_ending(target: Path, kind: ExportKind) -> Path:
    """Return a file whose ending fits the kind; without one it gets the usual.

    Raises:
        ExportError: The ending is that of something else.
    """
    endings = FORMATS[kind]
    if not target.suffix:
        return target.with_suffix(f".{endings[0]}")
    if _ending_of(target) not in endings:
        raise ExportError(
            f'A {kind.value} cannot be written as "{target.suffix}".',
            hint=f"It can be written as {', '.join(endings)}.",
        )
    return target
