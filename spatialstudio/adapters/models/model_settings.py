"""Bounded reading of the settings files of model folders and the headers of weight files.

Model folders are untrusted. Their settings decide how much a library allocates and which code it
imports, so they are checked before any library reads them: regular files of limited size,
plausible numbers, and no code from the folder.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any

from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    FileTooLarge,
    NotARegularFile,
    is_regular,
    open_regular,
    read_regular,
)

MAX_SETTINGS_BYTES = 4 * MEBIBYTE
"""Published settings, shard indexes included, take less than half of it."""

MAX_TABLE_BYTES = 16 * MEBIBYTE
MAX_TOKENIZER_BYTES = 40 * MEBIBYTE
"""Gemma's tokenizer takes 34 MB."""

MAX_HEADER_BYTES = 8 * MEBIBYTE
HEADER_LENGTH_BYTES = 8
METADATA = "__metadata__"
BITS = re.compile(r"(?<=[A-Z])\d+")
"""Bits of a number in the name of its format: 16 in "BF16", 8 in "F8_E4M3"."""

BYTE_BITS = 8

WHOLE_TOKENIZER = "tokenizer.json"
TABLES = ("vocab.json", "vocab.txt", "merges.txt", "spiece.model", "tokenizer.model")
TEXT_SUFFIXES = frozenset({".json", ".txt", ".model", ".jinja"})
"""Extensions of files that libraries read whole; weights are memory-mapped instead."""

NOT_PARSED = (WHOLE_TOKENIZER, *TABLES)
OF_TOKENIZERS = re.compile(r"tokenizer|token|vocab|chat_template|\.index\.")
"""Names of settings files whose numbers allocate nothing."""

MAX_DEPTH = 32
MAX_ITEMS = 50_000
"""Per list or mapping; ImageNet-21k names 21,843 classes."""

MAX_NUMBER = 2**24
UNLIMITED = re.compile(r"theta|param|flos|bytes")
"""Names of numbers that do not affect any size."""

LIMITS = (
    (re.compile(r"timesteps"), 100_000),
    (re.compile(r"layers|blocks|depths"), 1024),
    (re.compile(r"sample_size"), 8192),
)
"""Limits for numbers that set a repetition count, by name."""

MAX_NAME = 60
"""Maximum length of a setting's name in a message, characters."""

CODE_KEYS = frozenset({"auto_map", "custom_pipelines"})
ATTENTION_KEY = "attn_implementation"
"""Names a kernel on the hub, including code, if it contains a slash."""

SIGNS_OF_DAMAGE = (OSError, ValueError, LookupError, TypeError, OverflowError, RecursionError)


class ImplausibleSettings(ValueError):  # noqa: N818 - reads as a finding
    """A settings file has values that no real model has.

    Attributes:
        name: Name of the setting; empty for the file as a whole.
    """

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        self.name = name


class CustomCode(ValueError):  # noqa: N818 - reads as a finding
    """A model folder requires running Python code that it contains or names."""


class CutShort(ValueError):  # noqa: N818 - reads as a finding
    """A weight file ends before the data that its header lists."""


@frozen
class WeightsHeader:
    """The header of a safetensors file.

    Attributes:
        shapes: Shapes of its tensors, by name.
        dtypes: Their number formats, as the format names them: "F16", "F8_E4M3".
        metadata: Text entries such as "modelspec.architecture".
        size_bytes: Size of the file.
    """

    shapes: Mapping[str, tuple[int, ...]]
    dtypes: frozenset[str]
    metadata: Mapping[str, str]
    size_bytes: int


def read_settings(file: Path, max_bytes: int = MAX_SETTINGS_BYTES) -> dict[str, Any]:
    """Read and check a settings file in JSON.

    Raises:
        OSError: It cannot be read, is not a regular file, or is too large.
        ValueError, TypeError, RecursionError: It is damaged, implausible, or asks to run code.
    """
    settings = settings_of(read_regular(file, max_bytes))
    refuse_unsafe(settings, numbers=OF_TOKENIZERS.search(file.name) is None)
    return settings


def settings_of(content: bytes) -> dict[str, Any]:
    """Parse settings in JSON, by name.

    Raises:
        ValueError, TypeError, RecursionError: The content is not a JSON object.
    """
    settings = json.loads(content.decode())
    if not isinstance(settings, dict):
        raise TypeError(type(settings))
    return settings


def refuse_unsafe(settings: Mapping[str, Any], *, numbers: bool = True) -> None:
    """Reject settings that ask to run code or are implausible.

    Args:
        settings: By name.
        numbers: Whether the numbers affect the size of a model.

    Raises:
        CustomCode: Code would be run.
        ImplausibleSettings: A number, list or depth exceeds that of any real model.
    """
    waiting: list[tuple[str, Any, int]] = [("", settings, 0)]
    while waiting:
        name, value, depth = waiting.pop()
        if depth > MAX_DEPTH:
            raise ImplausibleSettings(name)
        if isinstance(value, dict):
            _refuse_code(value)
            waiting.extend((str(key), inner, depth + 1) for key, inner in value.items())
        elif isinstance(value, list):
            waiting.extend((name, inner, depth + 1) for inner in value)
        if numbers and not _is_plausible(name, value):
            raise ImplausibleSettings(name)


def check_folder(folder: Path) -> None:
    """Check all files of a folder that a library may read whole.

    Args:
        folder: The folder of a model, or of one of its parts.

    Raises:
        OSError: A file is not a regular file, is too large, or cannot be read.
        ValueError, TypeError, RecursionError: A file is damaged, implausible, or asks to run code.
    """
    for file in sorted(folder.iterdir()):
        if file.is_dir():
            continue
        if file.is_symlink() and not file.exists():
            continue
        if not is_regular(file):
            raise NotARegularFile(file)
        if file.suffix in TEXT_SUFFIXES and file.stat().st_size > _most_bytes(file.name):
            raise FileTooLarge(file)
        if file.suffix == ".json" and file.name not in NOT_PARSED:
            _check_json(file)


def read_header(file: Path) -> WeightsHeader:
    """Read the header of a safetensors file; no weights are read.

    Raises:
        OSError: It cannot be read, or is not a regular file.
        CutShort: The file is shorter than its header says.
        ValueError, LookupError, TypeError, RecursionError: It is damaged.
    """
    with open_regular(file) as content:
        size = file.stat().st_size
        length = int.from_bytes(content.read(HEADER_LENGTH_BYTES), "little")
        if length > MAX_HEADER_BYTES:
            raise ValueError(length)
        if length > size - HEADER_LENGTH_BYTES:
            raise CutShort(length)
        entries = settings_of(content.read(length))
    metadata = entries.pop(METADATA, None) or {}
    ends = [int(entry["data_offsets"][1]) for entry in entries.values()]
    if HEADER_LENGTH_BYTES + length + max(ends, default=0) > size:
        raise CutShort(size)
    _check_places(entries)
    return WeightsHeader(
        shapes={name: tuple(map(int, entry["shape"])) for name, entry in entries.items()},
        dtypes=frozenset(str(entry["dtype"]) for entry in entries.values()),
        metadata={str(name): str(text) for name, text in dict(metadata).items()},
        size_bytes=size,
    )


def _check_places(entries: Mapping[str, Any]) -> None:
    """Check that shapes are sizes, and that the bytes of tensors follow each other.

    Raises:
        ValueError, LookupError, TypeError: They do not.
    """
    end = 0
    for entry in sorted(entries.values(), key=lambda entry: entry["data_offsets"]):
        shape, (start, stop) = entry["shape"], entry["data_offsets"]
        if not all(type(number) is int and number >= 0 for number in (*shape, start, stop)):
            raise ValueError(shape)
        bits = BITS.search(entry["dtype"])
        is_sized = bits is None or prod(shape) * int(bits[0]) == BYTE_BITS * (stop - start)
        if start != end or not is_sized:
            raise ValueError(start)
        end = stop


def unusable(what: str, error: Exception) -> ModelNotFound:
    """Return an error that explains why a model cannot be used.

    Args:
        what: The model, in words: 'model folder "x"'.
        error: The exception raised while reading it.
    """
    match error:
        case ModelNotFound():
            return error
        case PermissionError():
            return ModelNotFound(
                f"You do not have permission to read the {what}.",
                hint="Grant yourself read permission for it and its contents.",
            )
        case CustomCode():
            return ModelNotFound(
                f"The {what} requires custom code, which is never run.",
                hint=(
                    "Choose a model that diffusers or transformers supports without custom code."
                ),
            )
        case ImplausibleSettings(name=name) if name:
            return ModelNotFound(
                f'The {what} is damaged: its setting "{name[:MAX_NAME]}" is out of range.',
                hint="Download it again from a trusted source.",
            )
        case CutShort():
            return ModelNotFound(
                f"The {what} is damaged: it was cut short.", hint="Download it again."
            )
        case FileTooLarge(filename=path):
            return ModelNotFound(
                f'The {what} is damaged: "{Path(path).name}" is too large.',
                hint="Download it again from a trusted source.",
            )
        case NotARegularFile(filename=path):
            return ModelNotFound(
                f'The {what} is damaged: "{Path(path).name}" is not a regular file.',
                hint="Download it again from a trusted source.",
            )
    return ModelNotFound(f"The {what} is damaged.", hint="Install or download it again.")


def is_explained(error: Exception) -> bool:
    """Return True if ``unusable`` has a specific explanation for an error."""
    known = (CustomCode, ImplausibleSettings, CutShort, FileTooLarge, NotARegularFile)
    return isinstance(error, known)


def header_totals(files: Iterable[Path]) -> tuple[int, int]:
    """Return the total tensor count and size in bytes of weight files; see ``read_header``."""
    headers = [read_header(file) for file in files]
    return sum(len(each.shapes) for each in headers), sum(each.size_bytes for each in headers)


def _check_json(file: Path) -> None:
    """Check a JSON file; top-level lists are accepted, since they allocate nothing."""
    content = json.loads(read_regular(file, MAX_SETTINGS_BYTES).decode())
    refuse_unsafe({"": content}, numbers=OF_TOKENIZERS.search(file.name) is None)


def _most_bytes(name: str) -> int:
    if name == WHOLE_TOKENIZER:
        return MAX_TOKENIZER_BYTES
    return MAX_TABLE_BYTES if name in TABLES else MAX_SETTINGS_BYTES


def _refuse_code(settings: Mapping[str, Any]) -> None:
    names_code = any(settings.get(key) for key in CODE_KEYS)
    names_kernel = any(
        name.endswith(ATTENTION_KEY) and "/" in str(value) for name, value in settings.items()
    )
    if names_code or names_kernel:
        raise CustomCode


def _is_plausible(name: str, value: object) -> bool:
    match value:
        case bool():
            return True
        case int() | float():
            limits: Iterator[int] = (most for names, most in LIMITS if names.search(name))
            most = next(limits, None if UNLIMITED.search(name) else MAX_NUMBER)
            return most is None or not value > most
        case list() | dict():
            return len(value) <= MAX_ITEMS
    return True
