"""The index of a library: SQLite tables derived entirely from the files.

It can be deleted at any time. Damaged rows are read from the files again.
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
from spatialstudio.adapters.storage.stores.json_codec import decode, encode, json_bytes, parse_json
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
    Reproduction,
    RunSummary,
)

VERSION = 11
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
  deleted TEXT, parent TEXT NOT NULL, is_imported INTEGER NOT NULL, listing BLOB NOT NULL
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
    """Open the index in a file or in memory; anything there that is not an index is recreated.

    Raises:
        OSError: The folder cannot be written.
        sqlite3.Error: The database cannot be written.
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
    """Replace an open index with an empty one; in memory if no file can be written.

    Other programs that have the file open see the empty index if it can be cleared in place.
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
    """Return True if the tables match this version and are undamaged."""
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (health,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        is_sound = (version, health) == (VERSION, "ok")
        return is_sound and _definitions(connection) == _own_definitions()
    except sqlite3.DatabaseError:
        return False


def is_about_writing(error: sqlite3.DatabaseError) -> bool:
    """Return True if the file could not be written, as on a full disk."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    return code & _PRIMARY_CODE in _UNWRITABLE


def _files_of(path: Path) -> tuple[Path, ...]:
    return tuple(path.with_name(path.name + ending) for ending in ("", "-wal", "-shm"))


def _is_missing_or_own(file: Path) -> bool:
    """Return True for a missing or regular file; SQLite blocks on pipes and follows links."""
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
    """Return the definitions of all tables, indexes and triggers."""
    return frozenset(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master"))


@cache
def _own_definitions() -> frozenset[tuple[object, ...]]:
    connection = open_tables(None)
    try:
        return _definitions(connection)
    finally:
        connection.close()


MOST_VALUES = 500
"""Values per statement; some SQLite builds allow no more."""

_INSERT = f"""INSERT INTO run (id, path, stamp, created, request, model, method, seed, steps,
  strength, stars, is_rejected, day, batch, is_guided, ratio, sweep, deleted,
  parent, is_imported, listing) VALUES ({", ".join("?" * 21)})"""
_LISTED = np.dtype(
    [("id", "i8"), ("day", "i8"), ("batch", "i8"), ("is_guided", "?"), ("ratio", "f8")]
)
_NEWEST_FIRST = "ORDER BY created DESC, path"
_BATCH_BYTES = 8
_WHOLE_NUMBERS = range(-(2**63), 2**63)


@frozen
class IndexedRun:
    """A run as the index stores it.

    Attributes:
        path: Picture path relative to the library, with forward slashes.
        stamp: Changes when one of the run's files does.
        summary: Fields that the run is listed and searched by.
        marks: The user's marks.
        repetition: Comparison with the run it repeats; None if not compared.
        deleted: Time of deletion, UTC; None for a run outside the trash.
        is_damaged: Whether files other than the picture could not be read.
        is_unsuited: Whether sticker models judged an image of another origin.
    """

    path: str
    stamp: str
    summary: RunSummary
    marks: Marks
    repetition: Reproduction | None = None
    deleted: datetime | None = None
    is_damaged: bool = False
    is_unsuited: bool = False


class LibraryIndex:
    """The tables of one library. Thread-safe.

    Args:
        path: Database file; None keeps it in memory.
        root: The library's folder.
        read: Reads the run at a path again if its row is damaged; returns None if it is gone.

    Raises:
        OSError: The folder of the database cannot be written.
        sqlite3.Error: The database cannot be written.
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
        """Close the database."""
        with self._lock:
            self._connection.close()

    def stamps(self) -> dict[str, str]:
        """Return path to stamp of all runs that are present."""
        return dict(self._rows("SELECT path, stamp FROM run WHERE is_missing = 0"))

    def put(self, runs: Iterable[IndexedRun]) -> None:
        """Insert runs or replace those with known paths, which keep their ids.

        An id is never reused for another run, not even after the tables are rebuilt.
        """
        with self._transaction() as connection:
            for run in runs:
                key = _key_of(connection, run.path)
                if key is None:
                    key = self._last = max(self._last, self._highest()) + 1
                _remove(connection, [run.path])
                _insert(connection, run, key)

    def remove(self, paths: Sequence[str]) -> None:
        """Delete runs from the index."""
        with self._transaction() as connection:
            _remove(connection, paths)

    def miss(self, paths: Sequence[str]) -> None:
        """Mark the pictures of runs as missing."""
        with self._transaction() as connection:
            connection.executemany(
                "UPDATE run SET is_missing = 1 WHERE path = ?", [(path,) for path in paths]
            )

    def clear(self) -> None:
        """Recreate the tables empty; in memory if they cannot be written."""
        with self._lock:
            self._last = max(self._last, self._highest())
            self._connection = open_empty(self._path, self._connection)

    def leave_file(self) -> None:
        """Continue with an empty index in memory once the file cannot be written."""
        with self._lock:
            self._last = max(self._last, self._highest())
            self._connection.close()
            self._path, self._connection = None, open_tables(None)

    def is_whole(self) -> bool:
        """Return True if the tables exist and are undamaged; rows are not checked."""
        with self._lock:
            return is_whole(self._connection)

    def find(self, wanted: Filter) -> tuple[EntryId, ...]:
        """Return the runs that match a filter, newest first."""
        clause, values = where(wanted)
        query = f"SELECT id FROM run WHERE {clause} {_NEWEST_FIRST}"
        return tuple(row[0] for row in self._rows(query, values))

    def listing(self, wanted: Filter) -> Listing:
        """Return the matching runs with the fields that a grid of thumbnails needs."""
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
        """Return runs by id, in the given order; unknown ids are left out."""
        found: dict[int, LibraryEntry] = {}
        for start in range(0, len(ids), MOST_VALUES):
            some = ids[start : start + MOST_VALUES]
            marks = ", ".join("?" * len(some))
            query = f"SELECT id, path, is_missing, listing FROM run WHERE id IN ({marks})"
            for key, *row in self._rows(query, some):
                found.update((key, entry) for entry in self._entries([row]))
        return tuple(found[entry_id] for entry_id in ids if entry_id in found)

    def entry_at(self, path: str) -> LibraryEntry | None:
        """Return the run of the picture at a path; None if there is none."""
        rows = self._rows("SELECT path, is_missing, listing FROM run WHERE path = ?", (path,))
        return next(self._entries(rows), None)

    def id_at(self, path: str) -> EntryId | None:
        """Return the id of the picture at a path; None if there is none."""
        rows = self._rows("SELECT id FROM run WHERE path = ?", (path,))
        return EntryId(rows[0][0]) if rows else None

    def of_request(self, request_id: RequestId) -> LibraryEntry | None:
        """Return the run of a request, a deleted one last; None if there is none."""
        query = """SELECT path, is_missing, listing FROM run WHERE request = ?
            ORDER BY deleted IS NOT NULL, is_missing"""
        return next(self._entries(self._rows(query, (request_id,))), None)

    def children(self, run_id: str) -> tuple[LibraryEntry, ...]:
        """Return the runs derived from a run and not deleted, newest first."""
        query = f"""SELECT path, is_missing, listing FROM run
            WHERE parent = ? AND deleted IS NULL {_NEWEST_FIRST}"""
        return tuple(self._entries(self._rows(query, (run_id,))))

    def missing(self) -> tuple[LibraryEntry, ...]:
        """Return the runs whose pictures are missing."""
        query = "SELECT path, is_missing, listing FROM run WHERE is_missing = 1"
        return tuple(self._entries(self._rows(query)))

    def missing_of(self, request_id: RequestId) -> tuple[str, ...]:
        """Return the last known paths of a request's runs whose pictures are missing."""
        query = "SELECT path FROM run WHERE request = ? AND is_missing = 1 ORDER BY path"
        return tuple(str(row[0]) for row in self._rows(query, (request_id,)))

    def tags(self) -> tuple[str, ...]:
        """Return all tags in use, most frequent first."""
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
                    is_unsuited=run.is_unsuited,
                )

    def _reread(self, path: str) -> IndexedRun | None:
        """Reindex a run whose row is damaged from its files; delete the row if they are gone."""
        run = self._read(path)
        if run is None:
            self.remove([path])
        else:
            self.put([run])
        return run

    def _highest(self) -> int:
        """Return the highest id in use; 0 if there is none or the table is damaged."""
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
                if self._connection.in_transaction:  # NOTE: a full disk ends the transaction early
                    self._connection.execute("ROLLBACK")
                raise


def _listed(listing: object, path: str) -> IndexedRun | None:
    """Decode the listing column of a row; None if it is damaged."""
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
        *(summary.parent_run_id, bool(summary.source), json_bytes(encode(run, {}))),
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
    """Return a hash shared by the runs of one prompt and model.

    The hash of a picture without known settings is unique to its id.
    """
    shared = summary.prompt if summary.has_settings else summary.id
    text = f"{summary.model_id}\n{shared}".encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=_BATCH_BYTES).digest(), signed=True)


def _ratio_of(summary: RunSummary) -> float:
    return summary.width / summary.height if summary.width and summary.height else 1.0


def _storable(value: object) -> object:
    """Return a value that SQLite can store.

    Lone surrogates become "?", and integers beyond 64 bits become decimal text.
    """
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    return float(value) if isinstance(value, int) and value not in _WHOLE_NUMBERS else value
