"""Metadata dialect of InvokeAI: JSON in ``invokeai_metadata`` or ``sd-metadata``, or a command.

    Dream: "a cat on a mat [blurry]" -s 50 -S 1234 -W 512 -H 512 -C 7.5 -A k_lms

The earliest versions stored this command; the negative prompt is in brackets.
"""

import re
from collections.abc import Mapping
from typing import Any

from spatialstudio.adapters.storage.metadata.parse_values import (
    Dialect,
    parse_extras,
    parse_float,
    parse_int,
    parse_object,
    parse_text,
)
from spatialstudio.domain.picture_settings import PictureSettings

DIALECT = "invokeai"
NAME = "invokeai_metadata"
OLD_NAME = "sd-metadata"
COMMAND_NAME = "Dream"
LONGEST_COMMAND = 100_000

_KNOWN = frozenset(
    {
        *("positive_prompt", "negative_prompt", "seed", "steps", "cfg_scale"),
        *("scheduler", "width", "height", "model"),
    }
)

_COMMAND = re.compile(r'\s*"(?P<prompt>(?:[^"\\]|\\.)*)"(?P<options>.*)', re.DOTALL)
_OPTION = re.compile(r"(?<!\S)-(?P<name>[A-Za-z])\s*(?P<value>[^\s-]\S*)")
_UNWANTED = re.compile(r"\[([^\[\]]*)\]")


def read(texts: Mapping[str, str]) -> PictureSettings | None:
    """Read the settings; None if the picture has none in this dialect."""
    if fields := parse_object(texts.get(NAME, "")):
        return _read_new(fields)
    old = parse_object(texts.get(OLD_NAME, ""))
    image = old.get("image")
    if isinstance(image, dict):
        return _read_old(old, image)
    command = _COMMAND.match(texts.get(COMMAND_NAME, "")[:LONGEST_COMMAND])
    return _read_command(command) if command else None


def _read_new(fields: Mapping[str, Any]) -> PictureSettings:
    model = fields.get("model")
    model = model if isinstance(model, dict) else {"name": model}
    return PictureSettings(
        dialect=DIALECT,
        prompt=parse_text(fields.get("positive_prompt")),
        negative=parse_text(fields.get("negative_prompt")),
        seed=parse_int(fields.get("seed")),
        steps=parse_int(fields.get("steps")),
        guidance_scale=parse_float(fields.get("cfg_scale")),
        sampler=parse_text(fields.get("scheduler")),
        width=parse_int(fields.get("width")),
        height=parse_int(fields.get("height")),
        model=parse_text(model.get("name")) or parse_text(model.get("model_name")),
        model_hash=parse_text(model.get("hash")),
        extras=parse_extras(fields, _KNOWN),
    )


def _read_old(fields: Mapping[str, Any], image: Mapping[str, Any]) -> PictureSettings:
    prompts = image.get("prompt")
    parts = prompts if isinstance(prompts, list) else [{"prompt": prompts}]
    texts = [parse_text(part.get("prompt")) for part in parts if isinstance(part, dict)]
    return PictureSettings(
        dialect=DIALECT,
        prompt=" ".join(filter(None, texts)),
        seed=parse_int(image.get("seed")),
        steps=parse_int(image.get("steps")),
        guidance_scale=parse_float(image.get("cfg_scale")),
        sampler=parse_text(image.get("sampler")),
        width=parse_int(image.get("width")),
        height=parse_int(image.get("height")),
        model=parse_text(fields.get("model_weights")),
        model_hash=parse_text(fields.get("model_hash")),
    )


def _read_command(command: re.Match[str]) -> PictureSettings:
    options = {option["name"]: option["value"] for option in _OPTION.finditer(command["options"])}
    text = command["prompt"].replace('\\"', '"')
    return PictureSettings(
        dialect=DIALECT,
        prompt=" ".join(_UNWANTED.sub(" ", text).split()),
        negative=", ".join(_UNWANTED.findall(text)),
        seed=parse_int(options.get("S")),
        steps=parse_int(options.get("s")),
        guidance_scale=parse_float(options.get("C")),
        sampler=parse_text(options.get("A")),
        width=parse_int(options.get("W")),
        height=parse_int(options.get("H")),
    )


DIALECTS = (Dialect(order=20, read=read),)
