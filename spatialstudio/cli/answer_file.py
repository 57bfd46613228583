"""Result file of an evaluation of many images, resumable from its partial file."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from spatialstudio.domain.errors import StoreError, TargetExists
from spatialstudio.domain.safe_files import MEBIBYTE, open_regular, parse_limited
from spatialstudio.domain.write_gate import FILE_GATE

PART_ENDING = ".part"
MAX_ROW_BYTES = MEBIBYTE
"""Longest row; longer lines are not from this application."""
ROW_KEYS = frozenset({"picture", "prompt", "error"})

Row = Mapping[str, Any]


class AnswerFile:
    """JSON lines of results; an interrupted command leaves ``FILE.part``, which the next resumes.

    Rows of a finished file are kept: new rows are added to a copy, which then replaces the file.

    Args:
        path: Path of the finished file.
        overwrite: Whether to discard existing rows.

    Raises:
        TargetExists: The file has other contents, and is not to be replaced.
        StoreError: The file is not readable.
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
        """Write the existing rows to the partial file.

        Raises:
            StoreError: The file is not writable.
        """
        draft = self._path.with_name(f".{uuid4().hex}{PART_ENDING}")
        with _explained(self._path):
            try:
                with draft.open("x", encoding="utf-8") as file:
                    file.writelines(map(_line, self.rows))
                if self.rows:
                    draft.replace(self._part)  # replaces a link and does not follow it
                else:
                    self._part.unlink(missing_ok=True)  # without results there is no partial file
            finally:
                draft.unlink(missing_ok=True)

    def add(self, row: Row) -> None:
        """Append a row to the partial file.

        Raises:
            StoreError: The file is not writable.
        """
        with _explained(self._path), self._part.open("a", encoding="utf-8") as file:
            file.write(_line(row))

    def finish(self) -> None:
        """Move the partial file to its final name.

        Raises:
            StoreError: The file is not writable.
        """
        with _explained(self._path):
            with self._part.open("ab") as file:
                os.fsync(file.fileno())
            self._part.replace(self._path)


def make_folder(folder: Path) -> None:
    """Create the folder of a result file.

    Raises:
        StoreError: The folder cannot be created.
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
                continue  # NOTE: the last line may be truncated after a crash
            if isinstance(row, dict) and row.keys() >= ROW_KEYS:
                yield row


def _line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"
