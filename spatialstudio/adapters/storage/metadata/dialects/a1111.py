"""Metadata dialect of AUTOMATIC1111's web UI, also used by Forge, Civitai and others.

    a cat to the left of a dog
    Negative prompt: blurry
    Steps: 25, Sampler: DDIM, CFG scale: 4, Seed: 7, Size: 512x512, Model: stickers, Spatial: "{}"

The prompt may have several lines. A value with a comma or colon is quoted as a JSON string.
Template extensions append lines: "Template: a {cat|dog}", "Negative Template:".
"""

import json
import re
from collections.abc import Iterator, Mapping

from spatialstudio.adapters.storage.metadata.parse_values import (
    Dialect,
    parse_float,
    parse_int,
    parse_json_text,
    parse_text,
)
from spatialstudio.adapters.storage.metadata.picture_texts import PARAMETERS, USER_COMMENT
from spatialstudio.domain.picture_settings import PictureSettings

DIALECT = "a1111"
NEGATIVE = "Negative prompt:"
FEWEST_SETTINGS = 3
"""Minimum settings in the last line; with fewer, it is part of the prompt."""

_KNOWN = frozenset(
    {
        *("Steps", "Sampler", "Schedule type", "Scheduler", "CFG scale"),
        *("Seed", "Size", "Model", "Model hash"),
    }
)

_WITH_TEMPLATE = re.compile(r"^(?P<settings>Steps:[^\n]*)\n(?:Negative )?Template:", re.MULTILINE)


def write(
    prompt: str, negative: str, settings: Mapping[str, str | int | float], *, size: tuple[int, int]
) -> str:
    """Return the metadata text for other programs.

    Args:
        prompt: The prompt.
        negative: The negative prompt; may be empty.
        settings: Settings of the last line by name, in order.
        size: Width and height in pixels.
    """
    fields = {**settings, "Size": f"{size[0]}x{size[1]}"}
    last = ", ".join(f"{name}: {_quoted(str(value))}" for name, value in fields.items())
    return "\n".join([prompt, *([f"{NEGATIVE} {negative}"] if negative else []), last])


def read(texts: Mapping[str, str]) -> PictureSettings | None:
    """Read the settings; None if the picture has none in this dialect."""
    text = texts.get(PARAMETERS) or texts.get(USER_COMMENT) or ""
    body, _, last = _without_templates(text.replace("\r\n", "\n")).strip().rpartition("\n")
    fields = dict(_settings(last))
    if len(fields) < FEWEST_SETTINGS or "Steps" not in fields:
        return None
    width, _, height = fields.get("Size", "").partition("x")
    prompt, negative = _prompts(body)
    return PictureSettings(
        dialect=DIALECT,
        prompt=prompt,
        negative=negative,
        seed=parse_int(fields.get("Seed")),
        steps=parse_int(fields.get("Steps")),
        guidance_scale=parse_float(fields.get("CFG scale")),
        sampler=fields.get("Sampler", ""),
        scheduler=fields.get("Schedule type") or fields.get("Scheduler", ""),
        width=parse_int(width),
        height=parse_int(height),
        model=fields.get("Model", ""),
        model_hash=fields.get("Model hash", ""),
        extras={name: value for name, value in fields.items() if name not in _KNOWN},
    )


def _without_templates(text: str) -> str:
    """Return the text up to the settings line, without templates after it."""
    found = _WITH_TEMPLATE.search(text)
    return text[: found.end("settings")] if found else text


def _prompts(body: str) -> tuple[str, str]:
    if body.startswith(NEGATIVE):
        return "", body.removeprefix(NEGATIVE).strip()
    prompt, _, negative = body.partition(f"\n{NEGATIVE}")
    return prompt.strip(), negative.strip()


def _settings(line: str) -> Iterator[tuple[str, str]]:
    for part in _with_lists(_parts(line)):
        name, colon, value = part.partition(":")
        if colon and name.strip():
            yield name.strip(), _unquoted(value.strip())


def _with_lists(parts: Iterator[str]) -> Iterator[str]:
    """Rejoin JSON lists and objects split at commas: 'Civitai resources: [{"a": 1, ...}]'."""
    open_parts: list[str] = []
    depth = 0
    for part in parts:
        value = part.partition(":")[2].lstrip()
        if open_parts or value.startswith(("[", "{")):
            open_parts.append(part)
            depth += sum(map(part.count, "[{")) - sum(map(part.count, "]}"))
            if depth <= 0:
                yield ",".join(open_parts)
                open_parts, depth = [], 0
        else:
            yield part
    yield from open_parts  # never closed, so not a list


def _parts(line: str) -> Iterator[str]:
    """Split a line at unquoted commas, in linear time."""
    part: list[str] = []
    is_quoted = is_escaped = False
    for character in line:
        if character == "," and not is_quoted:
            yield "".join(part)
            part.clear()
            continue
        part.append(character)
        if is_escaped:
            is_escaped = False
        elif character == '"':
            is_quoted = not is_quoted
        else:
            is_escaped = is_quoted and character == "\\"
    yield "".join(part)


def _quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False) if any(c in value for c in ',:\n"') else value


def _unquoted(value: str) -> str:
    return parse_text(parse_json_text(value)) or value if value.startswith('"') else value


DIALECTS = (Dialect(order=60, read=read),)
