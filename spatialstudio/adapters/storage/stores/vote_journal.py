"""Journals of audit sessions: a file each, one line for the session, then one per vote.

The first line holds the session and is written atomically with the file; every further line is an
entry that is flushed to disk before the next picture is shown. A program that is killed while it
writes leaves an incomplete last line, which is not a vote: the rater has not seen the next picture.
"""

import stat
from pathlib import Path
from typing import BinaryIO

from spatialstudio.adapters.durable_files import explained_writing, write_whole
from spatialstudio.adapters.storage.stores.append_file import append_synced, line_of, lock
from spatialstudio.adapters.storage.stores.json_codec import Json, decode, encode, parse_json
from spatialstudio.domain.audit_session import (
    MOST_SHOWINGS,
    AuditSession,
    JournalEntry,
    SessionState,
    state_of,
)
from spatialstudio.domain.errors import SettingsError, StoreError
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.safe_files import MEBIBYTE, is_path_component, read_regular

ENDING = ".votes"
FORMAT = "spatial-studio-votes"
VERSION = 1
LARGEST_BYTES = 64 * MEBIBYTE
MOST_ENTRIES = 4 * MOST_SHOWINGS


def build(_: Surroundings) -> "FileVoteJournals":
    """Create the reader and writer of journals."""
    return FileVoteJournals()


class FileVoteJournals:
    """Creates, opens and reads journals; implements ``VoteJournals``."""

    def create(self, session: AuditSession, folder: Path) -> "FileVoteJournal":
        """Create the journal of a new session in a folder; see ``VoteJournals``."""
        name = f"{session.id}{ENDING}"
        if not is_path_component(name):
            raise StoreError(
                f'"{session.id}" cannot be the name of a file.', hint="Choose another name."
            )
        with explained_writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
        header: Json = {"format": FORMAT, "version": VERSION, "session": encode(session, {})}
        write_whole(folder / name, line_of(header), overwrite=False)
        return self.open(folder / name)

    def open(self, path: Path) -> "FileVoteJournal":
        """Open a journal to continue its session; see ``VoteJournals``.

        Links are not followed, because a journal is written to.
        """
        with explained_writing(path.parent):
            if not stat.S_ISREG(path.lstat().st_mode):
                raise _damaged(path)
            file = path.open("r+b", buffering=0)
        try:
            _take(file, path)
            state = self.read(path)
            with explained_writing(path.parent):
                _cut_incomplete(file)
        except BaseException:
            file.close()
            raise
        return FileVoteJournal(path, file, state)

    def read(self, path: Path) -> SessionState:
        """Read a session and its votes, also while it is open elsewhere.

        Raises:
            StoreError: The file is damaged or too large.
        """
        try:
            return _state_in(read_regular(path, LARGEST_BYTES), path.name)
        except (OSError, ValueError, KeyError, TypeError, StoreError, SettingsError) as error:
            raise _damaged(path) from error

    def paths(self, folder: Path) -> tuple[Path, ...]:
        """Return the journals in a folder, the newest first."""
        found = [path for path in folder.glob(f"*{ENDING}") if path.is_file()]
        return tuple(sorted(found, key=lambda path: path.stat().st_mtime, reverse=True))


class FileVoteJournal:
    """An open journal; implements ``VoteJournal``.

    Attributes:
        session: The session.
        path: Its file.
    """

    def __init__(self, path: Path, file: BinaryIO, state: SessionState) -> None:
        self.session = state.session
        self.path = path
        self._file = file
        self._entries = list(state.entries)

    @property
    def entries(self) -> tuple[JournalEntry, ...]:
        """All entries on disk."""
        return tuple(self._entries)

    def append(self, entry: JournalEntry) -> None:
        """Write an entry; returns when it is on disk.

        Raises:
            StoreError: The disk is full, or the file cannot be written.
        """
        with explained_writing(self.path.parent):
            append_synced(self._file, line_of(encode(entry, {})))
        self._entries.append(entry)

    def close(self) -> None:
        """Release the file for other programs."""
        self._file.close()


def _state_in(content: bytes, name: str) -> SessionState:
    """Return the state in a file, without an incomplete last line.

    Raises:
        ValueError: The content is not a session, or too long.
        StoreError: A line is damaged.
    """
    if content.count(b"\n") > 1 + MOST_ENTRIES:
        raise ValueError("It is too long.")
    header, *lines, _incomplete = content.split(b"\n")
    plain = parse_json(header, name, LARGEST_BYTES)
    is_ours = isinstance(plain, dict) and plain.get("format") == FORMAT
    if not isinstance(plain, dict) or not is_ours or plain.get("version") != VERSION:
        raise ValueError("It is not a session of this version.")
    session = decode(AuditSession, _with_gold(plain["session"]), {})
    if len(session.showings) > MOST_SHOWINGS:
        raise ValueError("It is too long.")
    return state_of(session, [decode(JournalEntry, parse_json(line, name), {}) for line in lines])


def _with_gold(plain: Json) -> Json:
    """Return a session in the present form: older ones have gold verdicts by sample id."""
    gold = plain.get("gold") if isinstance(plain, dict) else None
    if not isinstance(plain, dict) or not isinstance(gold, dict):
        return plain
    items: list[Json] = [
        {"sample_ids": [each], "correct": {"verdict": verdict}} for each, verdict in gold.items()
    ]
    return {**plain, "gold": items}


def _take(file: BinaryIO, path: Path) -> None:
    if not lock(file):
        raise StoreError(
            f'The session "{path.stem}" is open in another window.',
            hint="Close it there, or start a session for another rater.",
        )


def _damaged(path: Path) -> StoreError:
    return StoreError(
        f'The session "{path.name}" is damaged or cannot be read.',
        hint="Choose a file of votes that Spatial Studio wrote.",
    )


def _cut_incomplete(file: BinaryIO) -> None:
    """Remove an incomplete last line, which a killed program left."""
    content = file.read()
    if (end := content.rfind(b"\n") + 1) < len(content):
        file.truncate(end)
