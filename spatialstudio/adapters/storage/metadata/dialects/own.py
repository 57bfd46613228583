"""Metadata dialect of Spatial Studio: JSON in ``spatial_studio``, or packed in XMP.

    {"version": 2, "app": "0.1.0", "request": {...}, "relations": [{"sentence": ...}], ...}

``stores.picture_record`` writes it; this reader uses only generic fields, so that records of later
versions remain readable.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from spatialstudio.adapters.storage.metadata.parse_values import (
    Dialect,
    parse_float,
    parse_int,
    parse_object,
    parse_text,
    with_options,
)
from spatialstudio.adapters.storage.metadata.picture_texts import (
    CREATOR,
    OWN_RECORD,
    XMP,
    read_record,
)
from spatialstudio.domain.generation import SAMPLING_OPTIONS
from spatialstudio.domain.options import Option
from spatialstudio.domain.picture_settings import (
    EmbeddedTexts,
    PictureSettings,
    claim_in_words,
    guidance_in_words,
    search_in_words,
)
from spatialstudio.science.guidance.methods import unusual_options

DIALECT = "spatial studio"


def texts_naming(model_id: str) -> EmbeddedTexts:
    """Return metadata that names only the model that generated a picture."""
    record = json.dumps({"request": {"model": {"id": model_id}}})
    return EmbeddedTexts(parameters="", record=record, creator=CREATOR)


def read(texts: Mapping[str, str]) -> PictureSettings | None:
    """Read the settings; None if the picture is from another program."""
    record = texts.get(OWN_RECORD) or read_record(texts.get(XMP, ""))
    fields = parse_object(record)
    request = _inside(fields, "request")
    if not request:
        return None
    scene = _inside(request, "scene")
    prompt = _inside(scene, "prompt")
    guidance, model = _inside(request, "guidance"), _inside(request, "model")
    capture = _inside(request, "capture")
    picture, setup = _inside(fields, "picture"), _inside(_inside(fields, "environment"), "setup")
    known = PictureSettings(
        dialect=DIALECT,
        prompt=parse_text(prompt.get("text")),
        negative=parse_text(prompt.get("negative")),
        width=parse_int(picture.get("width")),
        height=parse_int(picture.get("height")),
        model=parse_text(model.get("id")),
        relations=tuple(_claims(_rows(fields, "relations"), _rows(scene, "relations"))),
        record=record,
    )
    if _inside(fields, "origin"):  # an imported picture, whose request has no settings
        return known
    return replace(
        known,
        seed=parse_int(request.get("seed")),
        steps=parse_int(request.get("steps")),
        guidance_scale=parse_float(request.get("guidance_scale")),
        sampler=parse_text(request.get("scheduler_id")),
        model_hash=parse_text(setup.get("weights_sha256")),
        method=parse_text(guidance.get("method_id")),
        strength=parse_float(guidance.get("strength")),
        guidance=_numbers(guidance, _rows(scene, "mentions")),
        detail=parse_text(capture.get("detail")),
        preview_every=parse_int(capture.get("preview_every")),
        search=_search(_inside(request, "search")),
        savings=_texts(request.get("savings")),
        options={each.id: _option(each, request.get(each.id)) for each in SAMPLING_OPTIONS},
        device=parse_text(request.get("device")),
    )


def _inside(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def _rows(fields: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    rows = fields.get(name)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _option(option: Option, value: object) -> str:
    """Return a setting in words, a choice of a later version as well."""
    if isinstance(value, bool):
        return option.in_words(value)
    number = None if isinstance(value, str) else parse_float(value)
    return option.in_words(parse_text(value) or option.default if number is None else number)


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(parse_text, value)) if isinstance(value, list) else ()


def _search(search: Mapping[str, Any]) -> str:
    """Return the maximum number of pictures of a noise search; empty if it is one."""
    candidates = parse_int(search.get("candidates"))
    return search_in_words(candidates or 1, parse_float(search.get("enough")))


def _numbers(guidance: Mapping[str, Any], mentions: list[Mapping[str, Any]]) -> tuple[str, ...]:
    names = {str(row.get("id")): parse_text(row.get("phrase")) for row in mentions}
    try:
        found = with_options(guidance)
        options = _inside(found, "options")
        unusual = unusual_options(str(guidance.get("method_id")), options)
        return guidance_in_words(found, unusual, names)
    except RecursionError:
        return ()  # no valid record nests them this deep


def _claims(fields: list[Mapping[str, Any]], asked: list[Mapping[str, Any]]) -> Iterator[str]:
    """Return the requested relations as text, with their weights."""
    known = {str(row.get("id")): row for row in asked}
    for row in fields:
        wanted = known.get(str(row.get("id")), {})
        weight = parse_float(wanted.get("weight"))
        yield claim_in_words(
            parse_text(row.get("sentence")),
            1.0 if weight is None else weight,
            is_muted=wanted.get("is_muted") is True,
        )


DIALECTS = (Dialect(order=10, read=read),)
