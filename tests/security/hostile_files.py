"""Files that are no files, or claim more than they hold, and what writes them.

Those of single surfaces are in ``hostile_pictures``, ``hostile_archives`` and ``hostile_texts``.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

MEGABYTE = 1024**2
FAR = 20 * 1024**3
"""Where a sparse file ends."""


@dataclass(frozen=True)
class Hostile:
    """A hostile file.

    Attributes:
        make: Writes it into a folder.
        open: Opens it as the program does; raises StudioError, or returns what was read.
        opens: Whether it is opened all the same, what is too much left out.
    """

    make: Callable[[Path], Path]
    open: Callable[[Path], object]
    opens: bool = False


def written(name, content):
    def make(folder):
        path = folder / name
        path.write_bytes(content() if callable(content) else content)
        return path

    return make


def sparse(name, size=FAR):
    def make(folder):
        path = folder / name
        with path.open("wb") as file:
            file.truncate(size)
        return path

    return make


def fifo(name):
    def make(folder):
        os.mkfifo(folder / name)
        return folder / name

    return make


def link(name, target="/dev/zero"):
    def make(folder):
        (folder / name).symlink_to(target)
        return folder / name

    return make
