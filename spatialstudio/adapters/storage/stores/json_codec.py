"""Strict codec between the domain's frozen dataclasses and plain JSON.

One codec serves every type, driven by the type hints: dataclasses by field, enums by value,
relation types by id, times as ISO 8601 in UTC. A field with a default may be missing, so that older
files remain readable after a field is added. Arrays are kept out of the JSON: they are collected
under the path of their field, and the JSON holds that path; they are packed as .npz without pickle.
JSON is written human-readable, and parsed with limits.
"""

import hashlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from functools import cache
from io import BytesIO
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Any,
    NewType,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
import numpy.typing as npt

from spatialstudio.adapters.storage.metadata.parse_values import with_options
from spatialstudio.adapters.zip_archive import (
    BROKEN,
    ArchiveLimits,
    ArchiveTooLarge,
    open_archive,
    read_array,
)
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen, is_inline, is_left_out
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.options import OptionValue
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    FileTooLarge,
    JsonTooLarge,
    parse_limited,
    read_regular,
)
from spatialstudio.domain.scene import RelationType, relation_types
from spatialstudio.domain.sweep import SweepField, sweep_field

AnyArray: TypeAlias = npt.NDArray[Any]

LARGEST_BYTES = 192 * MEBIBYTE
"""Limit for all arrays of a file."""
MOST_ARRAYS = 20_000

_ENDING = ".npy"


def pack_arrays(arrays: Mapping[str, AnyArray]) -> bytes:
    """Return the bytes of a compressed .npz; equal arrays give equal bytes."""
    buffer = BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def unpack_arrays(
    content: bytes, name: str, largest_bytes: int = LARGEST_BYTES
) -> dict[str, AnyArray]:
    """Return the arrays of an .npz, in the order in which they were packed.

    Args:
        content: The bytes of the file.
        name: File name for the error message.
        largest_bytes: Limit on the total size of the arrays.

    Raises:
        StoreError: The bytes are no array file, too large to open safely, or hold objects
            instead of numbers.
    """
    limits = ArchiveLimits(
        members=MOST_ARRAYS, member_bytes=largest_bytes, total_bytes=largest_bytes
    )
    try:
        with open_archive(content, limits) as archive:
            return {
                member.filename.removesuffix(_ENDING): read_array(archive.read(member))
                for member in archive.infolist()
            }
    except ArchiveTooLarge as error:
        raise StoreError(
            f'The arrays in "{name}" are too large to open safely.',
            hint="Restore the run from a backup.",
        ) from error
    except BROKEN as error:
        raise StoreError(
            f'The arrays in "{name}" cannot be read.', hint="Restore the run from a backup."
        ) from error


T = TypeVar("T")

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Reader: TypeAlias = "Callable[[Any, Json, Place], object]"

_DAMAGED = "The file was modified or is damaged. Restore it from a backup."
_NOT_FINITE = ("nan", "inf", "-inf")


def encode(value: object, arrays: MutableMapping[str, AnyArray], path: str = "") -> Json:
    """Convert a domain value to plain JSON.

    Args:
        value: A dataclass of the domain, or the value of one of its fields.
        arrays: Receives the arrays, by the path of their field.
        path: Path of ``value``; empty for the root.

    Raises:
        TypeError: The value contains a type that is not part of the domain.
    """
    match value:
        case RelationType() | SweepField():
            return value.id
        case np.ndarray():
            arrays[path] = value
            return path
        case Mapping():
            return {str(key): encode(value[key], arrays, _inside(path, key)) for key in value}
        case tuple():
            return [encode(item, arrays, _inside(path, i)) for i, item in enumerate(value)]
        case _ if is_dataclass(value):
            return dict(_encode_fields(value, arrays, path))
    return _encode_leaf(value)


def _encode_fields(
    value: Any, arrays: MutableMapping[str, AnyArray], path: str
) -> Iterator[tuple[str, Json]]:
    for each in fields(value):
        inner = getattr(value, each.name)
        if is_inline(each):
            yield from _encode_fields(inner, arrays, path)
        elif not is_left_out(each, inner):
            yield each.name, encode(inner, arrays, _inside(path, each.name))


def decode(kind: type[T], plain: Json, arrays: Mapping[str, AnyArray]) -> T:
    """Build a domain value from untrusted plain JSON.

    Args:
        kind: The dataclass to build.
        plain: The result of ``encode``.
        arrays: The arrays that ``encode`` collected.

    Raises:
        StoreError: A field is missing, unknown or of the wrong type; the message names it.
    """
    return cast("T", _read(kind, plain, Place(path="", arrays=arrays)))


@frozen(eq=False)
class Place:
    """The reader's position in a file.

    Attributes:
        path: Field names and indices from the root, joined by dots.
        arrays: The file's arrays.
    """

    path: str
    arrays: Mapping[str, AnyArray]

    def inside(self, name: object) -> "Place":
        """Return the place of a field or item."""
        return Place(path=_inside(self.path, name), arrays=self.arrays)

    def complaint(self, trouble: str) -> StoreError:
        """Return an error located at this place."""
        where = f'The field "{self.path}"' if self.path else "The file"
        return StoreError(f"{where} {trouble}.", hint=_DAMAGED)


def _inside(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)


def _encode_leaf(value: object) -> Json:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return float(value) if math.isfinite(value) else str(float(value))
        case Enum():
            return cast("Json", value.value)
        case datetime():
            return value.astimezone(UTC).isoformat()
        case np.generic():
            return _encode_leaf(value.item())
    raise TypeError(f"{type(value).__name__} cannot be stored.")


def _read(hint: Any, plain: Json, place: Place) -> object:
    return _reader_of(hint)(hint, plain, place)


@cache
def _reader_of(hint: Any) -> Reader:
    for applies, reader in _READERS:
        if applies(hint):
            return reader
    raise TypeError(f"{hint} cannot be stored.")


def _read_optional(hint: Any, plain: Json, place: Place) -> object:
    (kind,) = (option for option in get_args(hint) if option is not NoneType)
    return None if plain is None else _read(kind, plain, place)


def _read_tuple(hint: Any, plain: Json, place: Place) -> object:
    items = _expect(list, plain, place)
    kinds = get_args(hint)
    if kinds[-1] is Ellipsis:
        kinds = kinds[:1] * len(items)
    if len(kinds) != len(items):
        raise place.complaint(f"has {len(items)} items instead of {len(kinds)}")
    pairs = zip(kinds, items, strict=True)
    return tuple(_read(kind, item, place.inside(i)) for i, (kind, item) in enumerate(pairs))


def _read_mapping(hint: Any, plain: Json, place: Place) -> object:
    _, kind = get_args(hint)
    items = _expect(dict, plain, place)
    return {key: _read(kind, item, place.inside(key)) for key, item in items.items()}


def _read_array(hint: Any, plain: Json, place: Place) -> object:
    name = _expect(str, plain, place)
    wanted = get_args(get_args(hint)[1])[0]
    array = place.arrays.get(name)
    if array is None:
        raise place.complaint("refers to a missing array")
    if array.dtype != wanted:
        raise place.complaint(f"has an array of {array.dtype} instead of {np.dtype(wanted)}")
    return array


def _read_relation_type(_: Any, plain: Json, place: Place) -> object:
    type_id = _expect(str, plain, place)
    if type_id not in relation_types:
        raise place.complaint(f'has the unknown relation type "{type_id}"')
    return relation_types[type_id]


def _read_sweep_field(_: Any, plain: Json, place: Place) -> object:
    field_id = _expect(str, plain, place)
    if not field_id.isidentifier():
        raise place.complaint(f'has the unknown sweep field "{field_id}"')
    return sweep_field(field_id)


def _read_scalar(_: Any, plain: Json, place: Place) -> object:
    if not isinstance(plain, bool | int | float | str):
        raise place.complaint(f"is of the wrong type: {type(plain).__name__}")
    return _whole(plain, place) if isinstance(plain, int) else plain


def _read_dataclass(hint: Any, plain: Json, place: Place) -> object:
    items = _UPGRADES.get(hint, dict)(_expect(dict, plain, place))
    hints = _hints(hint)
    for name in hints.keys() - items.keys() - _optional(hint):
        raise place.inside(name).complaint("is missing")
    for name in items.keys() - hints.keys():
        raise place.inside(name).complaint("is not known")
    values = {name: _read(hints[name], items[name], place.inside(name)) for name in items}
    try:
        return _build(hint, values)
    except ValueError as error:
        raise place.complaint(f"contradicts itself: {str(error).rstrip('.')}") from error


def _build(kind: Any, values: Mapping[str, object]) -> object:
    """Create a dataclass from the values of its fields and of its inline fields."""
    own = {}
    for each in fields(kind):
        if is_inline(each):
            own[each.name] = _build(each.type, values)
        elif each.name in values:
            own[each.name] = values[each.name]
    return kind(**own)


def _read_enum(hint: Any, plain: Json, place: Place) -> object:
    try:
        return hint(plain)
    except ValueError as error:
        raise place.complaint(
            f'has the value "{plain}", which is not a valid {hint.__name__}'
        ) from error


def _read_time(_: Any, plain: Json, place: Place) -> object:
    text = _expect(str, plain, place)
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            raise place.complaint("contains a time without a time zone")
        return moment.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise place.complaint(f'has the value "{text}", which is not a valid time') from error


def _read_float(_: Any, plain: Json, place: Place) -> object:
    if plain in _NOT_FINITE:
        return float(plain)
    if isinstance(plain, int) and not isinstance(plain, bool):
        return _whole(plain, place)
    return _expect(float, plain, place)


def _read_leaf(hint: Any, plain: Json, place: Place) -> object:
    value: object = _expect(hint, plain, place)
    return _whole(value, place) if isinstance(value, int) else value


def _whole(number: int, place: Place) -> int:
    if abs(number) > sys.float_info.max:
        raise place.complaint("contains a number that is too large")
    return number


def _expect(kind: type[T], plain: Json, place: Place) -> T:
    if type(plain) is not kind:
        raise place.complaint(f"is of the wrong type: {type(plain).__name__}, not {kind.__name__}")
    return plain


@cache
def _hints(kind: type[object]) -> dict[str, Any]:
    return {
        each.name: get_type_hints(owner)[each.name]
        for owner in _owners(kind)
        for each in fields(owner)
        if not is_inline(each)
    }


def _optional(kind: type[object]) -> set[str]:
    """Return the names of the fields that have a default."""
    return {
        each.name
        for owner in _owners(kind)
        for each in fields(cast("Any", owner))
        if each.default is not MISSING or each.default_factory is not MISSING
    }


def _owners(kind: Any) -> Iterator[Any]:
    """Yield a dataclass and the dataclasses of its inline fields, stored at the same level."""
    yield kind
    for each in fields(kind):
        if is_inline(each):
            yield from _owners(each.type)


def _is_kind_of(base: type[object]) -> Callable[[Any], bool]:
    return lambda hint: isinstance(hint, type) and issubclass(hint, base)


def _has_origin(origin: object) -> Callable[[Any], bool]:
    return lambda hint: get_origin(hint) is origin


_UPGRADES: Mapping[Any, Callable[[dict[str, Json]], Mapping[str, Json]]] = {
    GuidanceSettings: with_options
}
"""Converters from the JSON objects of older files to the current form, by dataclass."""

_READERS: tuple[tuple[Callable[[Any], bool], Reader], ...] = (
    (lambda hint: isinstance(hint, NewType), lambda h, p, at: _read(h.__supertype__, p, at)),
    (lambda hint: hint == OptionValue, _read_scalar),
    (_has_origin(UnionType), _read_optional),
    (_has_origin(Union), _read_optional),  # NOTE: Python 3.11 represents NewType | None this way
    (_has_origin(tuple), _read_tuple),
    (_has_origin(Mapping), _read_mapping),
    (_has_origin(np.ndarray), _read_array),
    (_is_kind_of(RelationType), _read_relation_type),
    (_is_kind_of(SweepField), _read_sweep_field),
    (is_dataclass, _read_dataclass),
    (_is_kind_of(Enum), _read_enum),
    (_is_kind_of(datetime), _read_time),
    (_is_kind_of(float), _read_float),
    (lambda hint: hint in {bool, int, str}, _read_leaf),
)


COPY_HINT = "Restore the run from a backup. Its picture may be intact."
RESTORE_HINT = "Restore the run from a backup. Its other files may be intact."
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
