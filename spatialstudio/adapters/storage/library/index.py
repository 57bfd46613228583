"""The index of a library: SQLite tables that say nothing that the files do not say.

It can be deleted at any time. What is damaged in it is read from the files again.
"""

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from hashlib import blake2b
from pathlib import Path
from stat import S_ISREG
from typing import Any

import numpy as np

from spatialstudio.adapters.storage.library.filter_query import where
from spatialstudio.adapters.storage.stores.json_codec import decode, encode
from spatialstudio.adapters.storage.stores.json_text import json_bytes, parse_json
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import UNGUIDED, RequestId
from spatialstudio.domain.library import (
    ClaimSummary,
    EntryId,
    Filter,
    LibraryEntry,
    Listing,
    Marks,
    RunSummary,
)
from spatialstudio.domain.record import Reproduction

VERSION = 9
IN_MEMORY = ":memory:"
BUSY_S = 10.0

_UNWRITABLE = frozenset(
    {
        *(sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR),
        *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_BUSY),
    }
)
_PRIMARY_CODE = 0xFF

_SCHEMA = """
CREATE TABLE run (
  id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, stamp TEXT NOT NULL,
  created TEXT NOT NULL, request TEXT NOT NULL, model TEXT NOT NULL, method TEXT NOT NULL,
  seed INTEGER NOT NULL, steps INTEGER NOT NULL, strength REAL, stars INTEGER NOT NULL,
  is_rejected INTEGER NOT NULL, is_missing INTEGER NOT NULL DEFAULT 0, day INTEGER NOT NULL,
  batch INTEGER NOT NULL, is_guided INTEGER NOT NULL, ratio REAL NOT NULL, sweep TEXT,
  deleted TEXT, parent TEXT NOT NULL, listing BLOB NOT NULL
);
CREATE INDEX run_by_time ON run (deleted, created DESC, path, day, batch, is_guided, ratio);
CREATE INDEX run_by_request ON run (request);
CREATE INDEX run_by_parent ON run (parent);
CREATE INDEX run_by_sweep ON run (sweep) WHERE sweep IS NOT NULL;
CREATE TABLE claim (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, type TEXT NOT NULL,
  subject TEXT NOT NULL, object TEXT NOT NULL, pos REAL, outcome TEXT, pse REAL, confidence REAL
);
CREATE INDEX claim_by_run ON claim (run);
CREATE INDEX claim_by_outcome ON claim (outcome, type, pos, run);
CREATE TABLE tag (
  run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE, name TEXT NOT NULL COLLATE NOCASE
);
CREATE INDEX tag_by_run ON tag (run);
CREATE INDEX tag_by_name ON tag (name, run);
CREATE VIRTUAL TABLE words USING fts5 (text, tokenize = "unicode61 remove_diacritics 2");
"""
_REBUILD = f"""BEGIN IMMEDIATE;
{"".join(f"DROP TABLE IF EXISTS {name};" for name in ("words", "tag", "claim", "run"))}
{_SCHEMA}
PRAGMA user_version = {VERSION};
COMMIT;
"""


def open_tables(path: Path | None) -> sqlite3.Connection:
    """Open the index in a file, or one in memory; what is there and no index is made anew.

    Raises:
        OSError: The folder cannot be written.
        sqlite3.Error: Likewise.
    """
    if path is None:
        return _connected(IN_MEMORY, is_new=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not all(map(_is_missing_or_own, _files_of(path))):
        return _on_clean_ground(path)
    with suppress(sqlite3.DatabaseError):
        connection = _connected(str(path))
        if is_whole(connection):
            return connection
        connection.close()
    return _on_clean_ground(path)


def open_empty(path: Path | None, former: sqlite3.Connection) -> sqlite3.Connection:
    """Return an index without runs in place of one that is open; in memory where no file can be.

    Other programs that have the file open see it empty, where it can be emptied in its place.
    """
    try:
        former.executescript(_REBUILD)
        if is_whole(former):
            return former
    except sqlite3.DatabaseError:
        pass
    former.close()
    try:
        return open_tables(None) if path is None else _on_clean_ground(path)
    except (OSError, sqlite3.Error):
        return open_tables(None)


def is_whole(connection: sqlite3.Connection) -> bool:
    """Say whether these are the tables of this version, undamaged."""
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (health,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        is_sound = (version, health) == (VERSION, "ok")
        return is_sound and _definitions(connection) == _own_definitions()
    except sqlite3.DatabaseError:
        return False


def is_about_writing(error: sqlite3.DatabaseError) -> bool:
    """Say whether an error means that the file cannot be written, as on a full disk."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & _PRIMARY_CODE in _UNWRITABLE


def _files_of(path: Path) -> tuple[Path, ...]:
    return tuple(path.with_name(path.name + ending) for ending in ("", "-wal", "-shm"))


def _is_missing_or_own(file: Path) -> bool:
    """Say whether a file can be left to SQLite, which waits for pipes and writes through links."""
    try:
        return S_ISREG(file.lstat().st_mode)
    except FileNotFoundError:
        return True


def _on_clean_ground(path: Path) -> sqlite3.Connection:
    for file in _files_of(path):
        file.unlink(missing_ok=True)
    return _connected(str(path), is_new=True)


def _connected(name: str, *, is_new: bool = False) -> sqlite3.Connection:
    connection = sqlite3.connect(
        name, timeout=BUSY_S, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        if is_new:
            connection.executescript(_REBUILD)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def _definitions(connection: sqlite3.Connection) -> frozenset[tuple[object, ...]]:
    """Return how all tables, indexes and triggers were defined."""
    return frozenset(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


@cache
def _own_definitions() -> frozenset[tuple[object, ...]]:
    connection = open_tables(None)
    try:
        return _definitions(connection)
    finally:
        connection.close()


MOST_VALUES = 500
"""Values in one statement; SQLite allows more, but not everywhere."""

_INSERT = """INSERT INTO run (id, path, stamp, created, request, model, method, seed, steps,
  strength, stars, is_rejected, day, batch, is_guided, ratio, sweep, deleted,
  parent, listing) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_LISTED = np.dtype(
    [("id", "i8"), ("day", "i8"), ("batch", "i8"), ("is_guided", "?"), ("ratio", "f8")]
)
_NEWEST_FIRST = "ORDER BY created DESC, path"
_BATCH_BYTES = 8
_WHOLE_NUMBERS = range(-(2**63), 2**63)


@frozen
class IndexedRun:
    """What the index takes in.

    Attributes:
        path: Of the picture, relative to the library, forward slashes.
        stamp: Changes when one of the run's files does.
        summary: What it is listed by.
        marks: What the user says of it.
        repetition: How near it came to the run that it repeats; None when nobody compared.
        deleted: When it went into the trash, UTC; None for a run that is not there.
        is_damaged: Whether its files could not be read, apart from the picture.
    """

    path: str
    stamp: str
    summary: RunSummary
    marks: Marks
    repetition: Reproduction | None = None
    deleted: datetime | None = None
    is_damaged: bool = False


class LibraryIndex:
    """The tables of one library. Safe to use from any thread.

    Args:
        path: Of the database; None keeps it in memory.
        root: The library's folder.
        read: Reads the run of a path anew, where its row is damaged; None when it is gone.

    Raises:
        OSError: The folder of the database cannot be written.
        sqlite3.Error: Likewise.
    """

    def __init__(
        self, path: Path | None, root: Path, read: Callable[[str], IndexedRun | None]
    ) -> None:
        self._path = path
        self._root = root
        self._read = read
        self._lock = threading.RLock()
        self._connection = open_tables(path)
        self._last = self._highest()

    def close(self) -> None:
        """Give the database back."""
        with self._lock:
            self._connection.close()

    def stamps(self) -> dict[str, str]:
        """Return path to stamp of all runs that are there."""
        return dict(self._rows("SELECT path, stamp FROM run WHERE is_missing = 0"))

    def put(self, runs: Iterable[IndexedRun]) -> None:
        """Take runs in, in place of what was known of their paths; known paths keep their ids.

        An id is never given to another run, so that nobody who knows one from before the tables
        were made anew takes one run for another.
        """
        with self._transaction() as connection:
            for run in runs:
                key = _key_of(connection, run.path)
                if key is None:
                    key = self._last = max(self._last, self._highest()) + 1
                _remove(connection, [run.path])
                _insert(connection, run, key)

    def remove(self, paths: Sequence[str]) -> None:
        """Forget runs."""
        with self._transaction() as connection:
            _remove(connection, paths)

    def miss(self, paths: Sequence[str]) -> None:
        """Note that pictures are gone."""
        with self._transaction() as connection:
            connection.executemany(
                "UPDATE run SET is_missing = 1 WHERE path = ?", [(path,) for path in paths]
            )

    def clear(self) -> None:
        """Forget everything, in new tables; in memory where they cannot be written."""
        with self._lock:
            self._last = max(self._last, self._highest())
            self._connection = open_empty(self._path, self._connection)

    def leave_file(self) -> None:
        """Go on in memory, empty, as the file cannot be written any more."""
        with self._lock:
            self._last = max(self._last, self._highest())
            self._connection.close()
            self._path, self._connection = None, open_tables(None)

    def is_whole(self) -> bool:
        """Say whether the tables are there and undamaged; rows are not looked at."""
        with self._lock:
            return is_whole(self._connection)

    def find(self, wanted: Filter) -> tuple[EntryId, ...]:
        """Return the runs that a filter asks for, newest first."""
        clause, values = where(wanted)
        query = f"SELECT id FROM run WHERE {clause} {_NEWEST_FIRST}"
        return tuple(row[0] for row in self._rows(query, values))

    def listing(self, wanted: Filter) -> Listing:
        """Return the same runs with as much as a grid of them needs."""
        clause, values = where(wanted)
        query = f"SELECT {', '.join(_LISTED.names or ())} FROM run WHERE {clause} {_NEWEST_FIRST}"
        with self._lock:
            rows = np.fromiter(self._connection.execute(query, values), _LISTED)
        return Listing(
            ids=rows["id"],
            days=rows["day"],
            batches=rows["batch"],
            is_guided=rows["is_guided"],
            ratios=rows["ratio"],
        )

    def entries(self, ids: Sequence[EntryId]) -> tuple[LibraryEntry, ...]:
        """Return runs by their ids, in that order; those that are gone are left out."""
        found: dict[int, LibraryEntry] = {}
        for start in range(0, len(ids), MOST_VALUES):
            some = ids[start : start + MOST_VALUES]
            marks = ", ".join("?" * len(some))
            query = f"SELECT id, path, is_missing, listing FROM run WHERE id IN ({marks})"
            for key, *row in self._rows(query, some):
                found.update((key, entry) for entry in self._entries([row]))
        return tuple(found[entry_id] for entry_id in ids if entry_id in found)

    def entry_at(self, path: str) -> LibraryEntry | None:
        """Return the run whose picture lies somewhere; None when there is none."""
        rows = self._rows("SELECT path, is_missing, listing FROM run WHERE path = ?", (path,))
        return next(self._entries(rows), None)

    def of_request(self, request_id: RequestId) -> LibraryEntry | None:
        """Return the run that a request has drawn; None when there is none."""
        query = "SELECT path, is_missing, listing FROM run WHERE request = ?"
        return next(self._entries(self._rows(query, (request_id,))), None)

    def children(self, run_id: str) -> tuple[LibraryEntry, ...]:
        """Return the runs that were made from one and are not deleted, newest first."""
        query = f"""SELECT path, is_missing, listing FROM run
            WHERE parent = ? AND deleted IS NULL {_NEWEST_FIRST}"""
        return tuple(self._entries(self._rows(query, (run_id,))))

    def missing(self) -> tuple[LibraryEntry, ...]:
        """Return the runs whose pictures are gone."""
        query = "SELECT path, is_missing, listing FROM run WHERE is_missing = 1"
        return tuple(self._entries(self._rows(query)))

    def missing_of(self, request_id: RequestId) -> tuple[str, ...]:
        """Return the last known paths of the runs of a request whose pictures are gone."""
        query = "SELECT path FROM run WHERE request = ? AND is_missing = 1 ORDER BY path"
        return tuple(str(row[0]) for row in self._rows(query, (request_id,)))

    def tags(self) -> tuple[str, ...]:
        """Return all tags in use, the most used first."""
        query = "SELECT name FROM tag GROUP BY name ORDER BY count(*) DESC, name"
        return tuple(row[0] for row in self._rows(query))

    def _entries(self, rows: Iterable[Sequence[Any]]) -> Iterator[LibraryEntry]:
        for path, is_missing, listing in rows:
            run = _listed(listing, path) or self._reread(path)
            if run is not None:
                yield LibraryEntry(
                    path=self._root / path,
                    summary=run.summary,
                    marks=run.marks,
                    is_missing=bool(is_missing),
                    repetition=run.repetition,
                    deleted=run.deleted,
                    is_damaged=run.is_damaged,
                )

    def _reread(self, path: str) -> IndexedRun | None:
        """Take a run in from its files, as its row is damaged; without them the row goes."""
        run = self._read(path)
        if run is None:
            self.remove([path])
        else:
            self.put([run])
        return run

    def _highest(self) -> int:
        """Return the highest id in use; 0 where none is, or the table is damaged."""
        try:
            (last,) = self._connection.execute("SELECT max(id) FROM run").fetchone()
        except sqlite3.DatabaseError:
            return 0
        return last or 0

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[Any]:
        with self._lock:
            return self._connection.execute(query, tuple(map(_storable, values))).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:  # NOTE: a full disk has ended it already
                    self._connection.execute("ROLLBACK")
                raise


def _listed(listing: object, path: str) -> IndexedRun | None:
    """Read what a row keeps of a run; None when it is damaged."""
    if not isinstance(listing, bytes):
        return None
    try:
        return decode(IndexedRun, parse_json(listing, path), {})
    except StoreError:
        return None


def _insert(connection: sqlite3.Connection, run: IndexedRun, key: int) -> None:
    summary, marks = run.summary, run.marks
    row = (
        *(
            key,
            run.path,
            run.stamp,
            summary.created.isoformat(),
            summary.request_id,
            summary.model_id,
        ),
        *(summary.method_id, summary.seed, summary.steps, summary.strength, marks.stars),
        *(marks.is_rejected, summary.created.date().toordinal(), _batch_of(summary)),
        *(summary.method_id != UNGUIDED, _ratio_of(summary)),
        *(summary.sweep and summary.sweep.sweep_id, run.deleted and run.deleted.isoformat()),
        *(summary.parent_run_id, json_bytes(encode(run, {}))),
    )
    connection.execute(_INSERT, [_storable(value) for value in row])
    connection.executemany(
        "INSERT INTO claim VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        [[_storable(value) for value in (key, *_columns_of(claim))] for claim in summary.claims],
    )
    tags = [_storable(tag) for tag in marks.tags]
    connection.executemany("INSERT INTO tag VALUES (?, ?)", [(key, tag) for tag in tags])
    text = _storable("\n".join([summary.prompt, *marks.tags, marks.note]))
    connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (key, text))


def _columns_of(claim: ClaimSummary) -> tuple[object, ...]:
    outcome = claim.outcome and claim.outcome.value
    return (
        *(claim.type_id, claim.subject, claim.object),
        *(claim.pos, outcome, claim.pse, claim.confidence),
    )


def _remove(connection: sqlite3.Connection, paths: Sequence[str]) -> None:
    for path in paths:
        key = _key_of(connection, path)
        if key is not None:
            connection.execute("DELETE FROM words WHERE rowid = ?", (key,))
            connection.execute("DELETE FROM run WHERE id = ?", (key,))


def _key_of(connection: sqlite3.Connection, path: str) -> int | None:
    row = connection.execute("SELECT id FROM run WHERE path = ?", (path,)).fetchone()
    return None if row is None else int(row[0])


def _batch_of(summary: RunSummary) -> int:
    """Return a number that runs of one prompt and model share, and no others in all likelihood.

    A picture of which nobody knows how it was made is alone.
    """
    shared = summary.prompt if summary.has_settings else summary.id
    text = f"{summary.model_id}\n{shared}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=_BATCH_BYTES).digest(), signed=True)


def _ratio_of(summary: RunSummary) -> float:
    return summary.width / summary.height if summary.width and summary.height else 1.0


def _storable(value: object) -> object:
    """Return what SQLite takes of a value.

    Halves of characters, which are no text, become "?", and whole numbers beyond 64 bits decimal.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and value not in _WHOLE_NUMBERS:
        return float(value)
    return value
