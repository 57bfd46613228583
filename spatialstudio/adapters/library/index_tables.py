"""The tables of the library's index, and the file that holds them.

A file whose tables are not those that this version makes is no index: it is made anew.
"""

import sqlite3
from contextlib import suppress
from functools import cache
from pathlib import Path
from stat import S_ISREG

VERSION = 8
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
_ANEW = f"""BEGIN IMMEDIATE;
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
        former.executescript(_ANEW)
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
            connection.executescript(_ANEW)
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
