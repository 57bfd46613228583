"""Content hashes of weight files, each read once."""

import hashlib
import re
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, cast

from spatialstudio.domain.safe_files import open_regular

if TYPE_CHECKING:
    from io import BufferedReader

HUB_BLOB = re.compile(r"[0-9a-f]{64}")
"""The hub's cache names a weight file by its sha256 and links to it."""


def hash_of_weights(files: Sequence[Path]) -> str:
    """Return the sha256 of one file, or of the hashes of several, in order.

    Raises:
        OSError: A file is missing or not a regular file.
    """
    hashes = [known_hash(file) or _hash_of_file(file, file.stat().st_mtime_ns) for file in files]
    if len(hashes) == 1:
        return hashes[0]
    return hashlib.sha256(" ".join(hashes).encode()).hexdigest()


def hash_in_background(files: Sequence[Path]) -> Future[str]:
    """Hash weights in a background thread; the result may be an ``OSError``."""
    result: Future[str] = Future()

    def work() -> None:
        try:
            result.set_result(hash_of_weights(files))
        except OSError as error:
            result.set_exception(error)

    threading.Thread(target=work, name="hash of weights", daemon=True).start()
    return result


def known_hash(file: Path) -> str:
    """Return the sha256 of a file that is named by it; else an empty string."""
    name = file.resolve().name
    return name if HUB_BLOB.fullmatch(name) else ""


@cache
def _hash_of_file(file: Path, _changed_ns: int) -> str:
    with open_regular(file) as content:
        return hashlib.file_digest(cast("BufferedReader", content), "sha256").hexdigest()
