"""Encoding of JSON as human-readable bytes, and safe parsing."""

import hashlib
import json
from pathlib import Path

from spatialstudio.adapters.storage.stores.json_codec import Json
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    FileTooLarge,
    JsonTooLarge,
    parse_limited,
    read_regular,
)

COPY_HINT = "Restore the run from a copy; its picture may still be good."
RESTORE_HINT = "Restore the run from a copy; its other files may still be good."
MAX_RECORD_BYTES = 16 * MEBIBYTE
"""Limit for JSON without arrays; the record of a run of a thousand steps takes half a mebibyte."""


def json_bytes(plain: Json) -> bytes:
    """Return JSON as human-readable bytes.

    Long text is written in ASCII: one wide character would quadruple the memory of reading it.
    """
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1)
    if len(text) > MAX_RECORD_BYTES and not text.isascii():
        text = json.dumps(plain, allow_nan=False, indent=1)
    return text.encode("utf-8", "surrogatepass")


def hash_of_json(plain: Json) -> str:
    """Return the sha256 of JSON values, independent of formatting."""
    text = json.dumps(plain, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def parse_json(content: bytes, name: str, max_bytes: int = MAX_RECORD_BYTES) -> Json:
    """Parse the content of a JSON file, within the limits of ``parse_limited``.

    Args:
        content: Content of the file.
        name: File name for messages.
        max_bytes: The largest size that is parsed.

    Raises:
        StoreError: The content is not JSON, or too large or too deeply nested to open safely.
    """
    try:
        plain: Json = parse_limited(content, max_bytes)
    except JsonTooLarge as error:
        raise _unsafe(name, str(error)) from error
    except ValueError as error:
        raise StoreError(f'The file "{name}" is damaged.', hint=COPY_HINT) from error
    return plain


def read_json(path: Path) -> Json:
    """Read a JSON file without arrays; see ``parse_json``.

    Raises:
        StoreError: It is not JSON, or too large or too deeply nested to open safely.
        OSError: It cannot be read, or is not a regular file.
    """
    try:
        content = read_regular(path, MAX_RECORD_BYTES)
    except FileTooLarge as error:
        raise _unsafe(path.name, "too large") from error
    return parse_json(content, path.name)


def _unsafe(name: str, finding: str) -> StoreError:
    return StoreError(f'The file "{name}" is {finding} to open safely.', hint=COPY_HINT)
