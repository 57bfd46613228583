"""Stage 5: export of runs to files, and import of run bundles."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import TypeAlias

from spatialstudio.application.evaluate.metrics import all_metrics, picture_scores
from spatialstudio.application.inspect.inspection import evidence_of, last_attention
from spatialstudio.application.inspect.run_data import run_data
from spatialstudio.application.jobs.background_jobs import Progress
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.application.themes import load_theme
from spatialstudio.domain.attention import AttentionFile, LayerValues
from spatialstudio.domain.errors import (
    ExportError,
    SettingsError,
    StoreError,
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
    LoadedRun,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationFinished,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.library import RunRecord
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.safe_files import check_not_source, is_folder, is_path_component

THEME = "light"
BUNDLE_ENDING, TRACE_ENDING = ".zip", ".strace"
MOST_LETTERS = 12
"""Largest number of characters without a glyph that a note lists."""
MANY_RUNS = "runs"
"""File name stem of exports with several runs."""
NEUTRAL_NAME = "picture"
"""File name stem of anonymous exports."""


@frozen
class ExportOrder:
    """Options of an export.

    Attributes:
        ending: Extension of generated file names; empty for the default of the kind.
        into_folder: Whether the target is a folder, even if it does not exist.
        overwrite: Whether to replace files; files of the exported runs are never replaced.
        progress: Receives the number of runs read and in total; may raise ``Cancelled``.
        note: Receives a sentence about content that is missing or incorrect in the files.
    """

    ending: str = ""
    into_folder: bool = False
    overwrite: bool = False
    progress: Progress = lambda _done, _total: None
    note: Callable[[str], None] = lambda _sentence: None


PLAIN_ORDER = ExportOrder()


def no_layer(_request_id: RequestId, _file: AttentionFile) -> LayerValues:
    """Report that recorded layers cannot be read.

    Raises:
        StoreError: Always.
    """
    raise StoreError("The recorded layers are not available.")


ReadLayer: TypeAlias = Callable[[RequestId, AttentionFile], LayerValues]
"""Opens a recorded layer of a request; raises StoreError."""


@frozen
class Exports:
    """Writes exports of stored runs.

    Attributes:
        store: Reads the runs.
        exporter: Writes export files.
        themes: Folder of themes.
        read_layer: Opens a recorded layer of a request; raises StoreError if it is missing.
    """

    store: RunStore
    exporter: Exporter
    themes: Path
    read_layer: ReadLayer = no_layer

    def look(self, theme: str = THEME) -> ExportLook:
        """Return the default figure style, with a theme's colours.

        Raises:
            SettingsError: There is no such theme.
        """
        names = sorted(path.stem for path in self.themes.glob("*.toml"))
        if theme not in names:
            raise SettingsError(
                f'There is no theme "{theme}".', hint=f"Available: {', '.join(names)}."
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
        """Export runs to files.

        Args:
            runs: Any file of each run.
            kind: Kind of export.
            target: A file; or a folder, in which files are named after their runs.
            look: Figure style; None for the default.
            order: Options of the export.

        Returns:
            The written files.

        Raises:
            ExportError: The runs lack data for this kind, the extension does not match, or a
                target is a file of the runs.
            TargetExists: A file exists and is not to be replaced.
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
        """Return the files that an export writes, all in one folder.

        Raises:
            ExportError: The extension does not match, or several files have no target folder.
            StoreError: A run does not exist.
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

    def read(self, path: Path, tick: Callable[[], object] = lambda: None) -> ExportedRun:
        """Read a run in the form that exporters take.

        Args:
            path: Any file of the run.
            tick: Called while large arrays are written; may raise ``Cancelled``.

        Raises:
            StoreError: The run does not exist or is damaged.
        """
        record, events = self.store.load(path)
        picture, marks = self.store.picture_of(path), self.store.marks(path)
        run = _exported(record, events, picture)
        read_layer = partial(self.read_layer, record.request.id)
        data = run_data(record, run.steps, run.image, read_layer, tick)
        return replace(run, marks=marks, data=data)

    def save_picture(
        self,
        record: RunRecord,
        events: Sequence[GenerationEvent],
        target: Path,
        *,
        overwrite: bool = False,
    ) -> None:
        """Write the image of a run that is not stored, with the run in its metadata.

        Raises:
            ExportError: The extension is not that of an image format.
            TargetExists: The file exists and is not to be replaced.
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
        """Write a storyboard and return the file; without an extension it is a PNG.

        Args:
            frames: Frames, in order.
            target: The file.
            order: Options of the export.
            is_marked: Whether to declare in the metadata that a model generated the content.

        Raises:
            ExportError: There is no frame, or the extension does not match.
            TargetExists: The file exists and is not to be replaced.
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

    def open_bundle(
        self, path: Path, root: Path, note: Callable[[str], object] = lambda _sentence: None
    ) -> tuple[Path, ...]:
        """Import the runs of a bundle into a library, and return their image files.

        Args:
            path: The bundle.
            root: The library.
            note: Receives sentences on recorded layers that made room for those of the bundle.

        Raises:
            StoreError: The file is not a bundle or is damaged, or the library is not writable.
        """
        return self.exporter.open_bundle(path, root, note)

    def load(self, path: Path, name: str = "", read_layer: ReadLayer | None = None) -> LoadedRun:
        """Load a run from any of its files, from a folder, or from a bundle.

        Args:
            path: The file or folder.
            name: Name of a run in a folder or bundle, without extension; empty for the newest.
            read_layer: Opens the recorded layers of a run outside a bundle; None for the cache.

        Raises:
            StoreError: There is no run, or it is damaged.
        """
        if path.suffix.lower() == BUNDLE_ENDING and not is_folder(path):
            return self.exporter.load_bundled(path, name)
        if name and not is_path_component(name):
            raise StoreError(f'"{name}" is not the name of a run.', hint="Pass a file name.")
        record, events = self.store.load(path / f"{name}{TRACE_ENDING}" if name else path)
        read = partial(read_layer or self.read_layer, record.request.id)
        return LoadedRun(record=record, events=events, read_layer=read)

    def _read_all(self, runs: Sequence[Path], order: ExportOrder) -> Iterator[ExportedRun]:
        for done, path in enumerate(runs):
            tick = partial(order.progress, done, len(runs))
            tick()
            yield self.read(path, tick)

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
            with EXPORT_KINDS.failures_named(kind.id, ExportError):
                made = self.exporter.make(group, kind, look, _ending_of(file))
            _note_missing(made, file, order)
            yield file.name, made

    def _check(self, targets: Sequence[Path], runs: Sequence[Path], order: ExportOrder) -> None:
        own = [file for path in runs for file in self.store.files_of(path)]
        check_not_source(targets, (*runs, *own))
        check_targets(targets, overwrite=order.overwrite)


def check_targets(targets: Sequence[Path], *, overwrite: bool) -> None:
    """Raise an error for existing targets before any work is done.

    Raises:
        TargetExists: A target exists and ``overwrite`` is False.
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
    scores = partial(picture_scores, scene, evaluation, all_metrics()) if evaluation else dict
    return ExportedRun(
        path=picture,
        scores=scores,
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
        f'No installed font contains the characters "{shown}"; {file.name} shows boxes '
        "instead. Export as SVG, or install a suitable font."
    )


def _note_missing(made: ExportFile, target: Path, order: ExportOrder) -> None:
    """Report content that is missing in an exported file."""
    if made.missing:
        order.note(_boxes_in(target, made.missing))
    for note in made.notes:
        order.note(note)


def _file_names(
    stems: Iterable[str], kind: ExportKind, ending: str, folder: Path
) -> Iterator[Path]:
    """Yield unique file names: the runs' names, or numbers for anonymous kinds."""
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
    """Return a file whose extension matches the kind; add the default one if missing.

    Raises:
        ExportError: The extension belongs to another format.
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
