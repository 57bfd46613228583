"""JSON as bytes, in files that people can read as well."""

import hashlib
import json

from spatialstudio.adapters.stores.json_codec import Json
from spatialstudio.domain.errors import StoreError

COPY_HINT = "Restore the run from a copy; its picture may still be good."
RESTORE_HINT = "Restore the run from a copy; its other files may still be good."


def json_bytes(plain: Json) -> bytes:
    """Return JSON as bytes that people can read as well."""
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1)
    return text.encode("utf-8", "surrogatepass")


def hash_of_json(plain: Json) -> str:
    """Return the sha256 of what JSON says, however it is laid out."""
    text = json.dumps(plain, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def parse_json(content: bytes, name: str) -> Json:
    """Return what the bytes of a JSON file say.

    Raises:
        StoreError: They are no JSON.
    """
    try:
        text = content.decode("utf-8", "surrogatepass")
        plain: Json = json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        raise StoreError(f'The file "{name}" is damaged.', hint=COPY_HINT) from error
    return plain


def _refused(name: str) -> float:
    raise ValueError(f"{name} is no number of JSON")
