"""Settings of a run as JSON, and the JSON schema of that file from the types of the domain."""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, NewType, Union, get_args, get_origin, get_type_hints

from spatialstudio.adapters.storage.stores.json_codec import Json, encode
from spatialstudio.domain.frozen import is_inline
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.library import Environment, RunRecord
from spatialstudio.domain.scene import RelationType
from spatialstudio.domain.sweep import SweepField

FORMAT, VERSION = "spatialstudio-settings", 1
SCHEMA_FILE = "settings.schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: Mapping[Any, str] = {bool: "boolean", int: "integer", str: "string"}
_PARTS = {"request": GenerationRequest, "environment": Environment}


def settings_of(record: RunRecord) -> dict[str, Json]:
    """Return everything that determines the picture of a run, as plain JSON."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "run": record.id,
        "created": record.created.isoformat(),
        "seconds": record.seconds,
        **{name: encode(getattr(record, name), {}) for name in _PARTS},
    }


def settings_bytes(record: RunRecord) -> bytes:
    """Return the settings of a run as a file that contains its schema."""
    return _bytes({**settings_of(record), "schema": settings_schema()})


def schema_bytes() -> bytes:
    """Return the schema as a file."""
    return _bytes(settings_schema())


def settings_schema() -> dict[str, Any]:
    """Return the JSON schema of ``settings_of``, draft 2020-12."""
    definitions: dict[str, Any] = {}
    parts = {name: _schema(kind, definitions) for name, kind in _PARTS.items()}
    properties = {
        "format": {"const": FORMAT},
        "version": {"const": VERSION},
        "run": {"type": "string"},
        "created": {"type": "string", "format": "date-time"},
        "seconds": {"type": "number"},
        **parts,
    }
    return {
        "$schema": _DIALECT,
        "title": "Settings of a run of Spatial Studio",
        "type": "object",
        "required": list(properties),
        "properties": properties,
        "$defs": dict(sorted(definitions.items())),
    }


def _schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type as ``encode`` writes it; dataclasses go to the definitions."""
    if isinstance(kind, NewType):
        return _schema(kind.__supertype__, definitions)
    if get_origin(kind) is not None:
        return _generic(kind, definitions)
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if kind is float:
        return {"anyOf": [{"type": "number"}, {"enum": ["nan", "inf", "-inf"]}]}
    if kind in {RelationType, SweepField} or not isinstance(kind, type):
        return {"type": "string"}
    if issubclass(kind, Enum):
        return {"enum": [each.value for each in kind]}
    if issubclass(kind, datetime):
        return {"type": "string", "format": "date-time"}
    if is_dataclass(kind):
        return _reference(kind, definitions)
    return {}


def _generic(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, parts = get_origin(kind), get_args(kind)
    if origin in {UnionType, Union}:
        options = [
            {"type": "null"} if part is NoneType else _schema(part, definitions) for part in parts
        ]
        return {"anyOf": options}
    if origin is tuple:
        if parts[-1] is Ellipsis:
            return {"type": "array", "items": _schema(parts[0], definitions)}
        items = [_schema(part, definitions) for part in parts]
        return {"type": "array", "prefixItems": items, "maxItems": len(items)}
    return {"type": "object", "additionalProperties": _schema(parts[-1], definitions)}


def _reference(kind: type[Any], definitions: dict[str, Any]) -> dict[str, Any]:
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}  # a type may contain itself
        definitions[kind.__name__] = _object(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _object(kind: type[Any], definitions: dict[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    required: list[str] = []
    hints = get_type_hints(kind)
    for each in fields(kind):
        if is_inline(each):
            inner = _object(hints[each.name], definitions)
            properties |= inner["properties"]
            required += inner["required"]
            continue
        properties[each.name] = _schema(hints[each.name], definitions)
        if each.default is MISSING and each.default_factory is MISSING:
            required.append(each.name)
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _bytes(plain: Any) -> bytes:
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1).encode(
        "utf-8", "replace"
    )
