"""Stage 5: takes runs out of the studio as files, one or many at once, and bundles back in."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

from spatialstudio.application.inspect.inspection import evidence_of, last_attention
from spatialstudio.application.jobs.background_jobs import Progress
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.application.themes import load_theme
from spatialstudio.domain.errors import (
    ExportError,
    SettingsError,
    TargetExists,
)
from spatialstudio.domain.export import (
    BOARD_FORMATS,
    PICTURE,
    BoardFrame,
    ExportedRun,
    Exporter,
    ExportFile,
    ExportKind,
    ExportLook,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationFinished,
    StepEvent,
)
from spatialstudio.domain.record import RunRecord
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.safe_files import check_not_source

THEME = "light"
MOST_LETTERS = 12
"""So many are named that no font has."""
MANY_RUNS = "runs"
"""What a file of many runs is named after."""
NEUTRAL_NAME = "picture"
"""What files are called that shall tell nothing of how they were made."""


@frozen
class ExportOrder:
    """How an export is carried out.

    Attributes:
        ending: Of files that get their names here; empty for the usual of their kind.
        into_folder: Whether the target is a folder, though nothing is there yet.
        overwrite: Whether files are replaced; those of the exported runs never are.
        progress: Told how many runs were read, of how many; may raise ``Cancelled``.
        note: Told in a sentence what is not in the files as it should be.
    """

    ending: str = ""
    into_folder: bool = False
    overwrite: bool = False
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
            target: A file; or a folder, in which files are named after their runs.
            look: How figures look; None for the usual.
            order: In which form, and who is told how far it is.

        Returns:
            The files written.

        Raises:
            ExportError: The runs lack what the kind shows, the file's ending does not fit, or a
                file is one of the runs' own.
            TargetExists: A file is already there, and it is not to be replaced.
            StoreError: A run is damaged, or a file cannot be written.
        """
        look = look or self.look()
        targets = self.targets(runs, kind, target, order)
        self._check(targets, runs, order)
        files = self._made(runs, kind, targets, look, order)
        if targets:
            self.exporter.write_all(targets[0].parent, files, overwrite=order.overwrite)
        return targets

    def targets(
        self,
        runs: Sequence[Path],
        kind: ExportKind,
        target: Path,
        order: ExportOrder = PLAIN_ORDER,
    ) -> tuple[Path, ...]:
        """Name the files that an export writes, all in one folder.

        Raises:
            ExportError: The file's ending does not fit, or there are many files and no folder.
            StoreError: A run is not there.
        """
        is_folder = order.into_folder or target.is_dir()
        if not is_folder and (kind.is_of_many or _ending_of(target) in kind.formats):
            if not kind.is_of_many and len(runs) > 1:
                raise ExportError(
                    "Several runs cannot be written to one file.", hint="Choose a folder instead."
                )
            return (check_ending(target, kind),)
        if target.suffix and not is_folder:
            check_ending(target, kind)
        ending = order.ending or kind.formats[0]
        stems = [self.store.picture_of(path).stem for path in runs]
        if kind.is_of_many:
            stems = stems if len(stems) == 1 else [MANY_RUNS]
        return tuple(_file_names(stems, kind, ending, target))

    def read(self, path: Path) -> ExportedRun:
        """Read a run as exporters see it.

        Raises:
            StoreError: There is no run, or it is damaged.
        """
        record, events = self.store.load(path)
        picture, marks = self.store.picture_of(path), self.store.marks(path)
        return replace(_exported(record, events, picture), marks=marks)

    def save_picture(
        self,
        record: RunRecord,
        events: Sequence[GenerationEvent],
        target: Path,
        *,
        overwrite: bool = False,
    ) -> None:
        """Write the picture of a run that is not stored; how it was made stands in it.

        Raises:
            ExportError: The file's ending is not that of a picture.
            TargetExists: The file is already there, and it is not to be replaced.
            StoreError: The file cannot be written.
        """
        kind = EXPORT_KINDS[PICTURE]
        target = check_ending(target, kind)
        check_targets([target], overwrite=overwrite)
        look = replace(self.look(), is_marked=record.is_marked)
        run = _exported(record, events, target)
        made = self.exporter.make([run], kind, look, _ending_of(target))
        self.exporter.write(made, target, overwrite=overwrite)

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
            TargetExists: The file is already there, and it is not to be replaced.
            StoreError: The file cannot be written.
        """
        target = target if target.suffix else target.with_suffix(f".{BOARD_FORMATS[0]}")
        ending = _ending_of(target)
        if ending not in BOARD_FORMATS:
            raise ExportError(
                f'A storyboard cannot be written as "{target.suffix}".',
                hint=f"It can be written as {', '.join(BOARD_FORMATS)}.",
            )
        check_targets([target], overwrite=order.overwrite)
        look = replace(self.look(), is_marked=is_marked)
        made = self.exporter.make_board(frames, look, ending)
        self.exporter.write(made, target, overwrite=order.overwrite)
        _note_missing(made, target, order)
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

    def _made(
        self,
        runs: Sequence[Path],
        kind: ExportKind,
        targets: Sequence[Path],
        look: ExportLook,
        order: ExportOrder,
    ) -> Iterator[tuple[str, ExportFile]]:
        read = self._read_all(runs, order)
        groups = [list(read)] if kind.is_of_many else ([run] for run in read)
        for group, file in zip(groups, targets, strict=True):
            made = self.exporter.make(group, kind, look, _ending_of(file))
            _note_missing(made, file, order)
            yield file.name, made

    def _check(self, targets: Sequence[Path], runs: Sequence[Path], order: ExportOrder) -> None:
        own = [file for path in runs for file in self.store.files_of(path)]
        check_not_source(targets, (*runs, *own))
        check_targets(targets, overwrite=order.overwrite)


def check_targets(targets: Sequence[Path], *, overwrite: bool) -> None:
    """Refuse targets that are taken before anything is made for them.

    Raises:
        TargetExists: One is already there, and it is not to be replaced.
    """
    taken = [target for target in targets if os.path.lexists(target)]
    if taken and not overwrite:
        raise TargetExists(taken)


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


def _note_missing(made: ExportFile, target: Path, order: ExportOrder) -> None:
    """Tell what is not in a file as it should be."""
    if made.missing:
        order.note(_boxes_in(target, made.missing))


def _file_names(
    stems: Iterable[str], kind: ExportKind, ending: str, folder: Path
) -> Iterator[Path]:
    """Name exports after their runs, each once; anonymous kinds by number."""
    used: set[str] = set()
    for stem in stems:
        own = f"{stem}_{kind.id}"
        names = chain([own], (f"{own}_{number}" for number in count(2)))
        if kind.is_anonymous:
            free = (f"{NEUTRAL_NAME}_{number}" for number in count(1))
            names = chain(name for name in free if not _is_taken(folder, name, ending))
        name = next(name for name in names if name not in used)
        used.add(name)
        yield folder / f"{name}.{ending}"


def _is_taken(folder: Path, name: str, ending: str) -> bool:
    return os.path.lexists(folder / f"{name}.{ending}")


def check_ending(target: Path, kind: ExportKind) -> Path:
    """Return a file whose ending fits the kind; without one it gets the usual.

    Raises:
        ExportError: The ending is that of something else.
    """
    endings = kind.formats
    if not target.suffix:
        return target.with_suffix(f".{endings[0]}")
    if _ending_of(target) not in endings:
        raise ExportError(
            f'A {kind.id} cannot be written as "{target.suffix}".',
            hint=f"It can be written as {', '.join(endings)}.",
        )
    return target
