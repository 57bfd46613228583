"""Files that grow by whole lines on disk, locked by the program that writes them."""

import json
import os
import sys
from contextlib import suppress
from typing import BinaryIO

from spatialstudio.adapters.storage.stores.json_codec import Json


def append_synced(file: BinaryIO, line: bytes) -> None:
    """Write a line to an unbuffered file atomically, and flush it to disk.

    Raises:
        OSError: The disk is full or unavailable.
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


def line_of(entry: Json) -> bytes:
    """Return an entry as a line of JSON."""
    return json.dumps(entry, separators=(",", ":")).encode("ascii") + b"\n"


if sys.platform == "win32":
    import msvcrt

    _FAR = 2**30

    def lock(file: BinaryIO) -> bool:
        """Lock one byte far beyond the end of a file; return False if it is already locked."""
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

    def lock(file: BinaryIO) -> bool:
        """Lock a file; return False if another program has locked it."""
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
