"""Library of runs: queries by filter line, marks, deletion and restoration.

Runs are identified by the paths of their images. Queries return ids, which is fast for a hundred
thousand runs; ``entries`` reads the details of the visible ones.
"""

import logging
import re
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

from spatialstudio.application.evaluate.recheck_run import VERDICT, recheck_run
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.derived_requests import is_baseline_of
from spatialstudio.domain.errors import SettingsError, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import UNGUIDED, GenerationRequest, RequestId
from spatialstudio.domain.library import (
    Condition,
    Deletion,
    EntryId,
    Fault,
    Field,
    Filter,
    Flag,
    LibraryChange,
    LibraryEntry,
    Listing,
    Marks,
    Reproduction,
    RunSummary,
    Sign,
    Wanted,
    Word,
)
from spatialstudio.domain.requirements import JUDGED_KINDS
from spatialstudio.domain.run_ports import (
    RunLibrary,
    RunStore,
    StateFiles,
)
from spatialstudio.domain.scene import relation_types
from spatialstudio.domain.verdict import Outcome

LONGEST = 2000
"""Longest filter line, in characters."""

_VALUE = r'"[^"]*"|[^\s",]+'
_PART = re.compile(
    rf"""\s*(?P<minus>-?)
    (?: (?P<field>[a-z]+) (?P<sign><=|>=|<|>|:) (?P<values>(?:{_VALUE})(?:,(?:{_VALUE}))*)?
      | (?P<word>"[^"]*"|[^\s"]+) | (?P<open>") )""",
    re.VERBOSE | re.IGNORECASE,
)
_SINGLE_VALUE = re.compile(_VALUE)
_DATE = re.compile(r"\d{4}(?:-\d{2}(?:-\d{2})?)?")
_FIRST_DAY = "0001-01-01"
"""Completes a partial date to a full one."""

_NUMBERS = frozenset(
    {Field.POS, Field.PSE, Field.CONFIDENCE, Field.SEED, Field.STEPS, Field.STRENGTH, Field.STARS}
)
_FIELDS = {field.value: field for field in Field}
_SIGNS = {sign.value: sign for sign in Sign}


def read_filter(line: str) -> Filter:
    """Parse a filter line; an empty one matches all runs.

    Raises:
        SettingsError: A field is unknown, or a value is invalid for its field.
    """
    if len(line) > LONGEST:
        raise SettingsError("The filter is too long.", hint="Use fewer terms.")
    conditions: list[Condition] = []
    words: list[Word] = []
    for part in _PART.finditer(_as_text(line).strip()):
        is_negated = bool(part["minus"])
        if part["field"]:
            conditions.append(_condition(part, is_negated=is_negated))
        elif part["open"]:
            raise SettingsError(
                "A quotation mark is not closed.",
                hint=('Add the closing quotation mark: "to the left".'),
            )
        elif text := part["word"].strip('"'):
            quoted = part["word"].startswith('"')
            words.append(Word(text=text, is_phrase=quoted, is_negated=is_negated))
    return Filter(conditions=tuple(conditions), words=tuple(words))


def _as_text(line: str) -> str:
    """Return text that the index accepts: no null characters, and "?" for lone surrogates."""
    return line.replace("\0", " ").encode("utf-8", "replace").decode("utf-8")


def _condition(part: re.Match[str], *, is_negated: bool) -> Condition:
    name = part["field"].lower()
    field, sign = _FIELDS.get(name), _SIGNS[part["sign"]]
    if field is None:
        raise SettingsError(
            f'"{name}" is not a filter field.',
            hint=f"Available: {', '.join(_FIELDS)}.",
        )
    if not part["values"]:
        raise SettingsError(f'"{name}{sign.value}" needs a value.', hint=_EXAMPLES[field])
    values = [value.strip('"').lower() for value in _SINGLE_VALUE.findall(part["values"])]
    if sign is not Sign.HAS and (field not in _NUMBERS | {Field.DATE} or len(values) > 1):
        raise SettingsError(f'"{name}" cannot be compared; use "{name}:".', hint=_EXAMPLES[field])
    reader = _READERS.get(field, _text if field not in _NUMBERS else _number)
    wanted = tuple(alternative for value in values for alternative in reader(field, value))
    return Condition(field=field, sign=sign, wanted=wanted, is_negated=is_negated)


def _text(_: Field, value: str) -> tuple[Wanted, ...]:
    return (value,)


def _number(field: Field, value: str) -> tuple[Wanted, ...]:
    try:
        return (float(value),)
    except ValueError as error:
        raise _unusable(field, value) from error


def _verdict(field: Field, value: str) -> tuple[Wanted, ...]:
    found = tuple(outcome for outcome in Outcome if outcome.value.lower().startswith(value))
    if not found:
        raise _unusable(field, value)
    return found


def _flag(field: Field, value: str) -> tuple[Wanted, ...]:
    try:
        return (Flag(value),)
    except ValueError as error:
        raise _unusable(field, value) from error


def _date(field: Field, value: str) -> tuple[Wanted, ...]:
    if not _DATE.fullmatch(value):
        raise _unusable(field, value)
    try:
        date.fromisoformat(value + _FIRST_DAY[len(value) :])
    except ValueError as error:
        raise _unusable(field, value) from error
    return (value,)


def _relation(field: Field, value: str) -> tuple[Wanted, ...]:
    """Return the kinds that match a word: by id, prefix or part of the name."""
    spelled = value.replace(" ", "_").replace("-", "_")
    ids = [*(relation_type.id for relation_type in relation_types), *JUDGED_KINDS]
    found = (
        [type_id for type_id in ids if type_id == spelled]
        or [type_id for type_id in ids if type_id.startswith(spelled)]
        or [type_id for type_id in ids if spelled in type_id.split("_")]
    )
    if not found:
        raise _unusable(field, value)
    return tuple(found)


def _unusable(field: Field, value: str) -> SettingsError:
    return SettingsError(f'"{value}" is not a value of "{field.value}".', hint=_EXAMPLES[field])


_READERS: Mapping[Field, Callable[[Field, str], tuple[Wanted, ...]]] = {
    Field.VERDICT: _verdict,
    Field.RELATION: _relation,
    Field.IS: _flag,
    Field.DATE: _date,
}
_EXAMPLES: Mapping[Field, str] = {
    Field.VERDICT: "Use verdict:pass, verdict:fail or verdict:undecidable.",
    Field.RELATION: "For example relation:left, relation:count or relation:colour.",
    Field.IS: f"Use one of {', '.join('is:' + flag.value for flag in Flag)}.",
    Field.DATE: "For example date:2026-11 or date>=2026-11-20.",
    **{field: f"For example {field.value}:3 or {field.value}>=3." for field in _NUMBERS},
    **{
        field: f"For example {field.value}:name."
        for field in (
            *(Field.MODEL, Field.METHOD, Field.TAG, Field.SWEEP, Field.SUBJECT, Field.OBJECT),
        )
    },
}


log = logging.getLogger(__name__)

WATCH_EVERY_S = 5.0
TRASH_DAYS = 30
"""Time for which deleted runs can be restored."""


@frozen
class LibraryChanged:
    """Runs were added, changed, moved or removed, or the first scan has ended.

    Published by the library; may cross threads.
    """

    change: LibraryChange


@frozen
class Recheck:
    """Result of verifying and re-evaluating a run.

    Attributes:
        faults: Faults of its files, and verdicts that do not follow from the perception.
        is_judged: Whether the run has verdicts to compare.
    """

    faults: tuple[Fault, ...]
    is_judged: bool = False

    @property
    def has_differences(self) -> bool:
        """Whether a stored verdict or its values differ from those of the stored perception."""
        return any(fault.part == VERDICT for fault in self.faults)


def recheck_sentence(checks: Collection[Recheck]) -> str:
    """Return how many runs were judged again, and whether their verdicts are unchanged."""
    judged = sum(check.is_judged for check in checks)
    changed = sum(check.has_differences for check in checks)
    if not judged:
        return "There are no verdicts to judge again."
    runs, verdicts = ("1 run", "verdict") if judged == 1 else (f"{judged} runs", "verdicts")
    ended = f"{changed} with differences" if changed else f"{verdicts} unchanged"
    return f"{runs} judged again: {ended}."


class Library:
    """Queries, marks and changes of the stored runs.

    Args:
        runs: Folder of runs with its index.
        store: Reads and marks single runs.
        state: Stores the saved searches.
        searches: File of the saved searches.
        publish: Receives ``LibraryChanged``, on the thread that found the change.

    Attributes:
        is_looked_through: Whether the folder has been compared with the index since the start.
    """

    def __init__(
        self,
        runs: RunLibrary,
        store: RunStore,
        state: StateFiles,
        searches: Path,
        publish: Callable[[object], None],
    ) -> None:
        self._runs = runs
        self._store = store
        self._state = state
        self._searches = searches
        self._publish = publish
        self.is_looked_through = False
        self._stop = threading.Event()
        self._watcher: threading.Thread | None = None

    @property
    def root(self) -> Path:
        """The folder of all runs."""
        return self._runs.root

    def close(self) -> None:
        """Stop watching and release the index."""
        self._stop.set()
        if self._watcher is not None:
            self._watcher.join()
            self._watcher = None
        self._runs.close()

    def watch(self, every_s: float = WATCH_EVERY_S) -> None:
        """Scan for changes periodically in a background thread, until ``close``.

        Runs that have been in the trash for ``TRASH_DAYS`` are first deleted permanently.
        """
        if self._watcher is None:
            self._watcher = threading.Thread(
                target=self._look_again, args=(every_s,), name="library", daemon=True
            )
            self._watcher.start()

    def refresh(self) -> LibraryChange:
        """Scan for changes now, and publish them."""
        change = self._runs.refresh()
        self.is_looked_through = True
        return self._published(change)

    def reindex(self) -> int:
        """Rebuild the index from the files; return the number of runs."""
        return self._runs.reindex()

    def list(self, line: str = "") -> tuple[EntryId, ...]:
        """Return the runs that match a filter line, newest first.

        Raises:
            SettingsError: The line is invalid.
        """
        return self._runs.find(read_filter(line))

    def listing(self, line: str = "") -> Listing:
        """Return the runs that match a filter line, with the columns that the grid needs.

        Raises:
            SettingsError: The line is invalid.
        """
        return self._runs.listing(read_filter(line))

    def entries(self, ids: Sequence[EntryId]) -> tuple[LibraryEntry, ...]:
        """Return entries by id, in the given order, without runs that no longer exist."""
        return self._runs.entries(ids)

    def entry(self, picture: Path) -> LibraryEntry | None:
        """Return the entry of an image; None if it is not in the library."""
        return self._runs.entry_at(picture)

    def id_of(self, picture: Path) -> EntryId | None:
        """Return the id of an image; None if it is not in the library."""
        return self._runs.id_at(picture)

    def thumbnail(self, picture: Path) -> RgbImage | None:
        """Return a thumbnail, (h, w, 3) uint8; None if the file is not readable."""
        return self._runs.thumbnail(picture)

    def picture(self, path: Path) -> RgbImage | None:
        """Return an image, (H, W, 3) uint8; None if the file is not readable."""
        return self._runs.picture(path)

    def marks(self, picture: Path) -> Marks:
        """Return the marks of a run.

        Raises:
            StoreError: The file of marks is damaged.
        """
        return self._store.marks(picture)

    def mark(self, picture: Path, marks: Marks) -> None:
        """Store the marks of a run.

        Raises:
            StoreError: The run does not exist, or is not writable.
        """
        self._runs.mark(picture, marks)

    def rate(self, pictures: Iterable[Path], stars: int) -> None:
        """Rate runs with 0 to ``MOST_STARS`` stars; a starred run is no longer rejected.

        Raises:
            StoreError: A run is not writable.
        """
        self._mark_all(pictures, lambda marks: replace(marks, stars=stars, is_rejected=False))

    def reject(self, pictures: Iterable[Path], *, is_rejected: bool = True) -> None:
        """Mark runs as rejected, or undo that.

        Raises:
            StoreError: A run is not writable.
        """
        self._mark_all(pictures, lambda marks: replace(marks, is_rejected=is_rejected))

    def tag(self, pictures: Iterable[Path], add: Sequence[str], drop: Sequence[str] = ()) -> None:
        """Add tags to runs and remove others.

        Raises:
            StoreError: A run is not writable.
        """

        def changed(marks: Marks) -> Marks:
            kept = [tag for tag in (*marks.tags, *add) if tag not in drop]
            return replace(marks, tags=tuple(dict.fromkeys(kept)))

        self._mark_all(pictures, changed)

    def note(self, picture: Path, text: str) -> None:
        """Set the note of a run.

        Raises:
            StoreError: The run is not writable.
        """
        self._mark_all([picture], lambda marks: replace(marks, note=text))

    def tags(self) -> tuple[str, ...]:
        """Return all tags in use, most used first."""
        return self._runs.tags()

    def trash(self, pictures: Sequence[Path]) -> Deletion:
        """Move runs to the trash; ``restore`` returns them within ``TRASH_DAYS``.

        Raises:
            StoreError: The library is not writable.
        """
        deletion = self._runs.throw(pictures)
        self._published(LibraryChange(missing=deletion.paths))
        return deletion

    def restore(self, inside: Sequence[Path]) -> tuple[Path, ...]:
        """Restore runs to their previous folders, and return their images.

        Args:
            inside: Images of the runs in the trash.

        Raises:
            StoreError: A run is no longer there, or the library is not writable.
        """
        pictures = self._runs.restore(inside)
        self._published(LibraryChange(added=pictures))
        return pictures

    def deletions(self) -> tuple[Deletion, ...]:
        """List the deletions that can be undone, newest first."""
        return self._runs.deletions()

    def empty_trash(self, days: int = TRASH_DAYS) -> int:
        """Delete runs permanently after this time in the trash; return their number."""
        count = self._runs.empty_trash(timedelta(days=days))
        if count:
            self._publish(LibraryChanged(change=LibraryChange()))
        return count

    def forget(self, pictures: Sequence[Path]) -> None:
        """Remove runs with missing images from the index; ``recall`` undoes it."""
        self._runs.forget(pictures)
        self._published(LibraryChange(missing=tuple(pictures)))

    def recall(self, missing: Sequence[LibraryEntry]) -> None:
        """Add runs with missing images to the index again."""
        self._runs.recall(missing)
        self._published(LibraryChange(missing=tuple(entry.path for entry in missing)))

    def note_repetition(self, picture: Path, repetition: Reproduction) -> None:
        """Store the comparison of a run with the run that it repeats.

        Raises:
            StoreError: The run does not exist, or is not writable.
        """
        self._store.note_repetition(picture, repetition)
        self._runs.add(picture)
        self._published(LibraryChange(changed=(picture,)))

    def repetitions(self, run: RunSummary) -> tuple[LibraryEntry, ...]:
        """Return the compared exact repetitions of a run, newest first."""
        return self._runs.repetitions(run)

    def move(self, picture: Path, folder: Path) -> Path:
        """Move a run to another folder, such as out of recovery; return the new path.

        Raises:
            StoreError: The folder is not writable.
        """
        return self._runs.move(picture, folder)

    def verify(self, picture: Path) -> tuple[Fault, ...]:
        """Compare the files of a run with their hashes; return the faults.

        A false verdict written through the store has a valid hash; see ``recheck``.
        """
        return self._store.verify(picture)

    def recheck(self, picture: Path) -> Recheck:
        """Verify a run, and re-evaluate it from its stored perception."""
        faults = self._store.verify(picture)
        try:
            record, _ = self._store.load(picture)
        except StudioError as error:
            return Recheck(faults=faults or (Fault(part="run", message=error.message),))
        return Recheck(
            faults=(*faults, *recheck_run(record)), is_judged=record.evaluation is not None
        )

    def has_drawn(self, request_id: RequestId) -> bool:
        """Return True if the library contains the image of a request."""
        return self._runs.of_request(request_id) is not None

    def baseline_of(self, request: GenerationRequest) -> Path | None:
        """Return the newest readable image of a request's baseline, outside the trash, or None.

        One whose attention was recorded with the same settings is preferred.
        """
        if not self.is_looked_through:
            self.refresh()
        seed = Condition(field=Field.SEED, sign=Sign.HAS, wanted=(float(request.sampling.seed),))
        prompt = Word(text=request.scene.prompt.text, is_phrase=True)
        found = self._runs.find(Filter(conditions=(seed,), words=(prompt,)))
        other: Path | None = None
        for entry in self._runs.entries(found):
            summary = entry.summary
            if entry.is_missing or not summary.has_settings or is_guided(summary):
                continue
            with suppress(StudioError):
                record, _ = self._store.load(entry.path)
                if is_baseline_of(record.request, request):
                    if record.request.capture == request.capture:
                        return entry.path
                    other = other or entry.path
        return other

    def derived_from(self, run_id: str) -> tuple[LibraryEntry, ...]:
        """Return the runs that were derived from a run, outside the trash, newest first."""
        if not self.is_looked_through:
            self.refresh()
        return self._runs.derived_from(run_id)

    def entry_of(self, request_id: RequestId) -> LibraryEntry | None:
        """Return the entry of a request's image; None if it is not in the library."""
        return self._runs.of_request(request_id)

    def add(self, picture: Path) -> None:
        """Add a newly stored run to the index."""
        self._runs.add(picture)
        self._published(LibraryChange(added=(picture,)))

    def searches(self) -> Mapping[str, str]:
        """Return the saved searches, filter lines by name."""
        return self._state.read_texts(self._searches)

    def save_search(self, name: str, line: str) -> None:
        """Save a filter line under a name; an empty line removes it.

        Raises:
            SettingsError: The line is invalid.
            StoreError: The file is not writable.
        """
        read_filter(line)
        kept = {key: value for key, value in self.searches().items() if key != name}
        self._state.write(self._searches, kept | ({name: line} if line else {}))

    def _mark_all(self, pictures: Iterable[Path], change: Callable[[Marks], Marks]) -> None:
        for picture in pictures:
            self.mark(picture, change(self.marks(picture)))

    def _published(self, change: LibraryChange) -> LibraryChange:
        if not change.is_nothing:
            self._publish(LibraryChanged(change=change))
        return change

    def _look_again(self, every_s: float) -> None:
        is_first = True
        while True:
            try:
                if is_first:
                    self.empty_trash()
                change = self.refresh()
                if is_first and change.is_nothing:
                    self._publish(LibraryChanged(change=change))
                is_first = False
            except StudioError as error:
                log.warning("The library could not be read: %s", error.message)
            if self._stop.wait(every_s):
                return


def is_guided(summary: RunSummary) -> bool:
    """Return whether guidance acted on a run."""
    return summary.method_id != UNGUIDED and summary.strength > 0
