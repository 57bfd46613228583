"""Drafts, and the journal of unfinished requests in the queue.

Every program writes its own journal and holds a file lock, which the system releases when the
program ends in any way. A journal is lines of JSON, each flushed to disk before work continues; an
incomplete last line counts as not written.

    {"request": {...}}      a new request
    {"ended": "request id"} a finished request
"""

import os
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import Any, BinaryIO, TypeGuard, cast
from uuid import uuid4

from spatialstudio.adapters.durable_files import (
    explained_writing,
    sync_folder,
    write_whole,
)
from spatialstudio.adapters.storage.stores.append_file import append_synced, line_of, lock
from spatialstudio.adapters.storage.stores.json_codec import (
    Json,
    decode,
    encode,
    json_bytes,
    read_json,
)
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.fix import Fix
from spatialstudio.domain.foreign_text import shown
from spatialstudio.domain.generation import GenerationRequest, RequestId
from spatialstudio.domain.judge_choice import (
    JUDGE_SET_CUT,
    MAX_NAME,
    Candidates,
    JudgeSetCard,
    JudgeTask,
    is_judge_set_name,
)
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.refinement import Refinement
from spatialstudio.domain.run_settings import Draft, RunSettings
from spatialstudio.domain.safe_files import MEBIBYTE, NotARegularFile, parse_limited

ENDING = ".journal"
MAX_JUDGE_SETS = 100
"""Further judge sets in a file are ignored."""
MAX_JOURNAL_BYTES = 16 * MEBIBYTE
"""An entry takes about two kibibytes; a larger journal is not read."""


def build(_: Surroundings) -> "PlainStateFiles":
    """Create the store of drafts and journals."""
    return PlainStateFiles()


class PlainStateFiles:
    """Stores drafts and journals; implements ``StateFiles``."""

    id = "files"

    def open_journal(self, folder: Path) -> "FileJournal":
        """Open this program's journal; nothing is written before the first request."""
        return FileJournal(folder)

    def write(
        self, path: Path, state: Draft | RunSettings | Refinement | Fix | Mapping[str, str]
    ) -> None:
        """Write state atomically.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        with explained_writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json_bytes(encode(state, {})))

    def read_draft(self, path: Path) -> Draft | None:
        """Return the last draft; None if there is none or it cannot be read."""
        try:
            return decode(Draft, read_json(path), {})
        except (OSError, StoreError):
            return None

    def read_refinement(self, path: Path) -> Refinement | None:
        """Return a stored refinement; None if there is none or it cannot be read."""
        try:
            return decode(Refinement, read_json(path), {})
        except (OSError, StoreError):
            return None

    def read_fix(self, path: Path) -> Fix | None:
        """Return a stored fix; None if there is none or it cannot be read."""
        try:
            return decode(Fix, read_json(path), {})
        except (OSError, StoreError):
            return None

    def read_settings(self, path: Path) -> RunSettings:
        """Read run settings, which may come from other people.

        Raises:
            StoreError: The file cannot be read, or holds something else.
        """
        try:
            plain = read_json(path)
        except OSError as error:
            raise StoreError(
                f"The file {path.name} cannot be read.", hint="Choose another file."
            ) from error
        return decode(RunSettings, plain, {})

    def read_texts(self, path: Path) -> dict[str, str]:
        """Return texts by name; empty if there are none or they cannot be read."""
        try:
            plain = read_json(path)
        except (OSError, StoreError):
            return {}
        return {k: v for k, v in plain.items() if isinstance(v, str)} if type(plain) is dict else {}

    def read_judge_sets(self, path: Path) -> tuple[JudgeSetCard, ...]:
        """Return the user-defined judge sets; an invalid set has a ``fault``."""
        try:
            plain = read_json(path)
        except (OSError, StoreError):
            return ()
        items = plain.items() if isinstance(plain, dict) else ()
        named = [(name, tasks) for name, tasks in items if is_judge_set_name(name)]
        return tuple(_judge_set_of(name, tasks) for name, tasks in named[:MAX_JUDGE_SETS])

    def write_judge_set(self, path: Path, set_id: str, card: JudgeSetCard | None) -> None:
        """Replace or delete a stored judge set; see ``StateFiles``."""
        stored = {name: tasks for name, tasks in _stored_sets(path).items() if name != set_id}
        if card is not None:
            tasks: dict[str, Json] = {
                task.value: list(each.models) for task, each in card.tasks.items()
            }
            stored[card.id] = tasks | ({} if card.cut is None else {JUDGE_SET_CUT: card.cut})
        with explained_writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json_bytes(stored))


def _is_share(value: Json) -> TypeGuard[float]:
    """Return True for a number in [0, 1]."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1


def _stored_sets(path: Path) -> dict[str, Json]:
    """Read the file of judge sets to change it; empty if there is none.

    Raises:
        StoreError: The file is damaged.
    """
    try:
        plain = read_json(path)
    except FileNotFoundError:
        return {}
    except (OSError, StoreError):
        plain = None
    if not isinstance(plain, dict):
        raise StoreError(
            f"The file {path.name} in the settings folder is damaged.",
            hint="Correct or delete it, then try again.",
        )
    return plain


def _judge_set_of(name: str, plain: Json) -> JudgeSetCard:
    """Return a judge set from its stored tasks, with a fault if anything in it is invalid."""
    if fault := _fault_in(plain):
        return JudgeSetCard(id=name, label=name, tasks={}, fault=fault)
    stored = cast("dict[str, Any]", plain)
    tasks = {
        task: Candidates(models=tuple(stored[task.value]))
        for task in JudgeTask
        if task.value in stored
    }
    return JudgeSetCard(id=name, label=name, tasks=tasks, cut=stored.get(JUDGE_SET_CUT))


def _fault_in(plain: Json) -> str:
    """Return what is invalid in a stored judge set, as a clause; empty if nothing is."""
    if not isinstance(plain, dict):
        return "it must list models by task"
    known = [task.value for task in JudgeTask]
    for key, value in plain.items():
        if key == JUDGE_SET_CUT:
            if value is not None and not _is_share(value):
                return f'"{JUDGE_SET_CUT}" must be a number from 0 to 1'
        elif key not in known:
            return f'"{shown(key)[:MAX_NAME]}" is not one of {", ".join((*known, JUDGE_SET_CUT))}'
        elif not isinstance(value, list) or not all(
            isinstance(model, str) and model for model in value
        ):
            return f'"{key}" must be a list of model names'
    return ""


class FileJournal:
    """The journal of this program, with access to the journals of ended programs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{uuid4().hex}{ENDING}"
        self._file: BinaryIO | None = None
        self._guard = threading.Lock()
        self._open: set[RequestId] = set()

    def note(self, request: GenerationRequest) -> None:
        """Record a request, once; returns when it is on disk.

        Raises:
            StoreError: The journal cannot be written.
        """
        if request.id not in self._open:
            self._write({"request": encode(request, {})})
            self._open.add(request.id)

    def end(self, request_id: RequestId) -> None:
        """Record that a request has ended; if the disk is full, it is only listed again later."""
        if request_id in self._open:
            self._open.discard(request_id)
            with suppress(StoreError):
                self._write({"ended": request_id})

    def interrupted(self) -> tuple[GenerationRequest, ...]:
        """Return the unfinished requests of interrupted programs, in order."""
        requests: list[GenerationRequest] = []
        for path in self._others():
            with _taken(path) as file:
                if file is not None:
                    requests += _open_requests(file.read(MAX_JOURNAL_BYTES))
        return tuple(requests)

    def forget(self, request_ids: Collection[RequestId]) -> None:
        """Drop interrupted requests; a journal without further entries is deleted."""
        for path in self._others():
            is_done = False
            with _taken(path) as file:
                if file is None:
                    continue
                found = _open_requests(file.read(MAX_JOURNAL_BYTES))
                left = [request for request in found if request.id not in request_ids]
                is_done = not left
                with suppress(OSError):  # a full disk only lists them again later
                    for request_id in () if is_done else request_ids:
                        append_synced(file, line_of({"ended": request_id}))
            if is_done:
                with suppress(OSError):
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """Close this program's journal; a journal without further entries is deleted."""
        with self._guard:
            if self._file is not None:
                with suppress(OSError):
                    self._file.close()
                    if not self._open:
                        self._path.unlink(missing_ok=True)
                self._file = None

    def _write(self, entry: Json) -> None:
        with explained_writing(self._folder), self._guard:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = self._path.open("ab", buffering=0)
                lock(self._file)
                sync_folder(self._folder)
            append_synced(self._file, line_of(entry))

    def _others(self) -> list[Path]:
        paths = sorted(self._folder.glob(f"*{ENDING}"), key=_age)
        return [path for path in paths if path != self._path]


def _open_requests(content: bytes) -> list[GenerationRequest]:
    requests: dict[str, GenerationRequest] = {}
    for line in content.splitlines():
        try:
            entry = parse_limited(line)
            if "ended" in entry:
                requests.pop(entry["ended"], None)
            else:
                request = decode(GenerationRequest, entry["request"], {})
                requests[request.id] = request
        except (ValueError, TypeError, KeyError, StoreError):
            continue  # incomplete, or from a version with other required fields
    return list(requests.values())


@contextmanager
def _taken(path: Path) -> Iterator[BinaryIO | None]:
    """Open the journal of a program that has ended; None while that program runs.

    Links are not followed because a journal is written to; files that are too large are skipped.
    """
    try:
        if not S_ISREG(path.lstat().st_mode) or path.lstat().st_size > MAX_JOURNAL_BYTES:
            raise NotARegularFile(path)
        file = path.open("r+b", buffering=0)
    except OSError:
        yield None
        return
    with file:
        yield file if lock(file) else None


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
