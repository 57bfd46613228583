"""The file that keeps every picture's answer: complete under its name, in part while it grows."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from spatialstudio.domain.errors import StoreError, TargetExists
from spatialstudio.domain.safe_files import MEBIBYTE, open_regular
from spatialstudio.domain.safe_json import parse_limited
from spatialstudio.domain.write_gate import FILE_GATE

PART_ENDING = ".part"
MAX_ROW_BYTES = MEBIBYTE
"""A longer line was not written by this program."""
ROW_KEYS = frozenset({"picture", "prompt", "error"})

Row = Mapping[str, Any]


class AnswerFile:
    """Rows of JSON, one a line; a stopped call leaves ``FILE.part``, from which the next goes on.

    The rows of a finished file are kept, and new ones are added to a copy that takes its place.

    Args:
        path: Of the finished file.
        overwrite: Whether to begin anew, whatever is there.

    Raises:
        TargetExists: The file holds something else than answers, and is not to be replaced.
        StoreError: It cannot be read.
    """

    def __init__(self, path: Path, *, overwrite: bool = False) -> None:
        self._path = path
        self._part = path.with_name(path.name + PART_ENDING)
        begun = self._part if os.path.lexists(self._part) else path
        with _explained(path):
            is_there = os.path.lexists(begun) and not overwrite
            self.rows: tuple[Row, ...] = tuple(_rows(begun)) if is_there else ()
            is_foreign = is_there and not self.rows and begun.stat().st_size > 0
        if is_foreign:
            raise TargetExists([begun])

    def begin(self) -> None:
        """Write the rows that are there already into the growing file.

        Raises:
            StoreError: It cannot be written.
        """
        draft = self._path.with_name(f".{uuid4().hex}{PART_ENDING}")
        with _explained(self._path):
            try:
                with draft.open("x", encoding="utf-8") as file:
                    file.writelines(map(_line, self.rows))
                if self.rows:
                    draft.replace(self._part)  # a link is replaced, never followed
                else:
                    self._part.unlink(missing_ok=True)  # a call without an answer leaves nothing
            finally:
                draft.unlink(missing_ok=True)

    def add(self, row: Row) -> None:
        """Add a row to the growing file.

        Raises:
            StoreError: It cannot be written.
        """
        with _explained(self._path), self._part.open("a", encoding="utf-8") as file:
            file.write(_line(row))

    def finish(self) -> None:
        """Give the file its name, with all rows.

        Raises:
            StoreError: It cannot be written.
        """
        with _explained(self._path):
            with self._part.open("ab") as file:
                os.fsync(file.fileno())
            self._part.replace(self._path)


def make_folder(folder: Path) -> None:
    """Make the folder of a file of answers.

    Raises:
        StoreError: It cannot be made.
    """
    with _explained(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        with FILE_GATE.passed():
            yield
    except OSError as error:
        raise StoreError(
            f'The file "{path}" cannot be written.', hint="Choose another file for --out."
        ) from error


def _rows(path: Path) -> Iterator[Row]:
    with open_regular(path) as file:
        while line := file.readline(MAX_ROW_BYTES):
            try:
                row = parse_limited(line)
            except ValueError:
                continue  # NOTE: the last line of a call that was killed may be cut
            if isinstance(row, dict) and row.keys() >= ROW_KEYS:
                yield row


def _line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
