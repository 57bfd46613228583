"""Reads values that options take: a word of a few, and where a result goes."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable
from enum import Enum
from pathlib import Path
from typing import TypeVar

from spatialstudio.domain.frozen import frozen

E = TypeVar("E", bound=Enum)


@frozen
class OutPath:
    """Where a result goes.

    Attributes:
        path: A file or folder.
        is_folder: Whether it is a folder, or was written as one: "results/".
    """

    path: Path
    is_folder: bool

    def file(self, name: str) -> Path:
        """Return the file; one of this name when a folder was meant."""
        return self.path / name if self.is_folder else self.path


def out_path(text: str) -> OutPath:
    """Read where a result goes, for argparse's ``type``."""
    separators = tuple(filter(None, (os.sep, os.altsep)))
    path = Path(text)
    return OutPath(path=path, is_folder=text.endswith(separators) or path.is_dir())


def add_overwrite(parser: ArgumentParser) -> None:
    """Let a command's user allow that earlier results are replaced."""
    parser.add_argument(
        "--overwrite", action="store_true", help="replace files that are there already"
    )


def one_of(kinds: type[E]) -> Callable[[str], E]:
    """Return what reads the value of an option, for argparse's ``type``.

    Args:
        kinds: Their values are the words that can be typed.
    """

    def read(text: str) -> E:
        try:
            return kinds(text)
        except ValueError as error:
            raise ArgumentTypeError(f'"{text}" is none of {words_of(kinds)}') from error

    return read


def words_of(kinds: Iterable[Enum]) -> str:
    """Name what can be typed; in quotes what the terminal would take for several words."""
    words = (str(kind.value) for kind in kinds)
    return ", ".join(f'"{word}"' if " " in word else word for word in words)
