"""Drafts, and the journal of the queue: what a program that ended suddenly had not done.

Every program writes a journal of its own and holds a lock on it while it lives, which the system
takes away when it ends, however it ends. A journal is lines of JSON, each with the disk before
work goes on; a last line that is torn counts as not written.

    {"request": {...}}      was asked
    {"ended": "request id"} needs no more remembering
"""

import json
import os
import sys
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO
from uuid import uuid4

from spatialstudio.adapters.durable_files import (
    explained_writing,
    sync_folder,
    write_whole,
)
from spatialstudio.adapters.storage.stores.json_codec import (
    Json,
    decode,
    encode,
)
from spatialstudio.adapters.storage.stores.json_text import json_bytes, read_json
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import GenerationRequest, RequestId
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.run_settings import Draft, RunSettings
from spatialstudio.domain.safe_files import MEBIBYTE, NotARegularFile
from spatialstudio.domain.safe_json import parse_limited

ENDING = ".journal"
MAX_JOURNAL_BYTES = 16 * MEBIBYTE
"""An entry takes some two kibibytes; a larger journal is not read."""


def build(_: Surroundings) -> "PlainStateFiles":
    """Make the keeper of what is not finished."""
    return PlainStateFiles()


class PlainStateFiles:
    """Keeps drafts and journals; implements ``StateFiles``."""

    id = "files"

    def open_journal(self, folder: Path) -> "FileJournal":
        """Open this program's journal; nothing is written before the first request."""
        return FileJournal(folder)

    def write_draft(self, path: Path, draft: Draft) -> None:
        """Write what was typed, whole.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        with explained_writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json_bytes(encode(draft, {})))

    def read_draft(self, path: Path) -> Draft | None:
        """Return what was typed last; None when nothing was, or it cannot be read."""
        try:
            return decode(Draft, read_json(path), {})
        except (OSError, StoreError):
            return None

    def write_settings(self, path: Path, settings: RunSettings) -> None:
        """Write settings of runs, whole.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        with explained_writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json_bytes(encode(settings, {})))

    def read_settings(self, path: Path) -> RunSettings:
        """Read settings of runs, which may come from other people.

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

    def write_searches(self, path: Path, searches: Mapping[str, str]) -> None:
        """Write saved searches, by name.

        Raises:
            StoreError: The folder cannot be written or is full.
        """
        with explained_writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json_bytes(dict(searches)))

    def read_searches(self, path: Path) -> dict[str, str]:
        """Return saved searches by name; none when there are none, or they cannot be read."""
        try:
            plain = read_json(path)
        except (OSError, StoreError):
            return {}
        return {k: v for k, v in plain.items() if isinstance(v, str)} if type(plain) is dict else {}

    def write_library_folder(self, path: Path, folder: Path | None) -> None:
        """Write where the user wants runs to be kept; None for the usual folder.

        Raises:
            StoreError: The file cannot be written.
        """
        with explained_writing(path.parent):
            path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json_bytes({"folder": str(folder) if folder else ""}))

    def read_library_folder(self, path: Path) -> Path | None:
        """Return where the user wants runs to be kept; None when nothing says so."""
        try:
            plain = read_json(path)
        except (OSError, StoreError):
            return None
        folder = plain.get("folder") if type(plain) is dict else None
        return Path(folder) if isinstance(folder, str) and folder else None


class FileJournal:
    """One program's journal, and sight of those of programs that have ended."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / f"{os.getpid()}-{uuid4().hex}{ENDING}"
        self._file: BinaryIO | None = None
        self._guard = threading.Lock()
        self._open: set[RequestId] = set()

    def note(self, request: GenerationRequest) -> None:
        """Remember a request, once; returns when the disk has it.

        Raises:
            StoreError: The journal cannot be written.
        """
        if request.id not in self._open:
            self._write({"request": encode(request, {})})
            self._open.add(request.id)

    def end(self, request_id: RequestId) -> None:
        """Note that a request needs no more remembering; a full disk only makes it listed again."""
        if request_id in self._open:
            self._open.discard(request_id)
            with suppress(StoreError):
                self._write({"ended": request_id})

    def interrupted(self) -> tuple[GenerationRequest, ...]:
        """Return what programs that ended suddenly had not done, in order."""
        requests: list[GenerationRequest] = []
        for path in self._others():
            with _taken(path) as file:
                if file is not None:
                    requests += _open_requests(file.read(MAX_JOURNAL_BYTES))
        return tuple(requests)

    def forget(self, request_ids: Collection[RequestId]) -> None:
        """Drop interrupted requests; a journal in which nothing is left is deleted."""
        for path in self._others():
            is_done = False
            with _taken(path) as file:
                if file is None:
                    continue
                found = _open_requests(file.read(MAX_JOURNAL_BYTES))
                left = [request for request in found if request.id not in request_ids]
                is_done = not left
                with suppress(OSError):  # a full disk only makes them listed again
                    for request_id in () if is_done else request_ids:
                        _append(file, _line({"ended": request_id}))
            if is_done:
                with suppress(OSError):
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """End this program's part; a journal in which nothing is left is deleted."""
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
                _lock(self._file)
                sync_folder(self._folder)
            _append(self._file, _line(entry))

    def _others(self) -> list[Path]:
        paths = sorted(self._folder.glob(f"*{ENDING}"), key=_age)
        return [path for path in paths if path != self._path]


def _append(file: BinaryIO, line: bytes) -> None:
    """Write a line to an unbuffered file, whole or not at all, and wait until the disk has it.

    Raises:
        OSError: The disk is full, or gone.
    """
    end = file.seek(0, os.SEEK_END)
    try:
        left = line
        while left:
            left = left[file.write(left) :]
        os.fsync(file.fileno())
    except OSError:
        with suppress(OSError):
            file.truncate(end)
        raise


def _line(entry: Json) -> bytes:
    return json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n"


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
            continue  # torn, or from a version that asked for more
    return list(requests.values())


@contextmanager
def _taken(path: Path) -> Iterator[BinaryIO | None]:
    """Open a journal of a program that has ended; None while its program lives.

    Links are not followed, as a journal is written to; what is too large is no journal of ours.
    """
    try:
        if not S_ISREG(path.lstat().st_mode) or path.lstat().st_size > MAX_JOURNAL_BYTES:
            raise NotARegularFile(path)
        file = path.open("r+b", buffering=0)
    except OSError:
        yield None
        return
    with file:
        yield file if _lock(file) else None


def _age(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


if sys.platform == "win32":
    import msvcrt

    _FAR = 2**30

    def _lock(file: BinaryIO) -> bool:
        """Take the lock of a file, a byte far behind its end; False when another has it."""
        place = file.tell()
        file.seek(_FAR)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        finally:
            file.seek(place)
        return True
else:
    import fcntl

    def _lock(file: BinaryIO) -> bool:
        """Take the lock of a file; False when another program has it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
