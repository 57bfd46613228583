"""Templates of figures for papers: content, width and type, without runs."""

from collections.abc import Mapping
from dataclasses import fields, replace
from enum import Enum
from math import isfinite
from typing import Any

from spatialstudio.domain.attention import MapScale, Moment
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen

INCH = 72.0
"""Points per inch."""

LEAST_TYPE, MOST_TYPE = 6.0, 14.0
LEAST_WIDTH, MOST_WIDTH = 1.5, 12.0
LEAST_DPI, MOST_DPI = 72, 1200
MOST_STEPS, MOST_WORDS, MOST_LAYERS, MOST_LETTERS = 12, 12, 1000, 200
LAST_STEP = 100_000

INTER = "Inter"
"""The font that is shipped."""
SCHEMA_KEY = "$schema"
SCHEMA_FILE = "figure_template.schema.json"
_DIALECT = "https://json-schema.org/draft/2020-12/schema"


@frozen
class FigureTemplate:
    """The description of a figure; runs are given when it is drawn.

    Attributes:
        words: Words whose maps are shown, as in the prompt; empty for the relations' words.
        steps: Steps shown, from 1; empty for evenly spaced ones.
        layers: Recorded layers whose mean is shown; empty for the recorded maps.
        scale: Normalisation of the maps.
        moment: Preferred moment of maps and PoS in guided steps.
        has_curves: Whether PoS over the steps is plotted below the maps.
        has_footer: Whether prompt and settings of the runs are printed below.
        width: Inches, ``LEAST_WIDTH`` to ``MOST_WIDTH``.
        font: Name of the font; the shipped one, or one of this machine.
        type_size: Size of the labels in points, ``LEAST_TYPE`` to ``MOST_TYPE``.
        dpi: Resolution of PNG files, ``LEAST_DPI`` to ``MOST_DPI``.
    """

    words: tuple[str, ...] = ()
    steps: tuple[int, ...] = (1, 5, 10, 20)
    layers: tuple[str, ...] = ()
    scale: MapScale = MapScale.SHARED
    moment: Moment = Moment.AFTER
    has_curves: bool = True
    has_footer: bool = False
    width: float = 3.25
    font: str = INTER
    type_size: float = 7.0
    dpi: int = 300

    def __post_init__(self) -> None:
        _check_range("width", self.width, LEAST_WIDTH, MOST_WIDTH)
        _check_range("type_size", self.type_size, LEAST_TYPE, MOST_TYPE)
        _check_range("dpi", self.dpi, LEAST_DPI, MOST_DPI)
        _check_count("steps", self.steps, MOST_STEPS)
        _check_count("words", self.words, MOST_WORDS)
        _check_count("layers", self.layers, MOST_LAYERS)
        for step in self.steps:
            _check_range("step", step, 1, LAST_STEP)
        for name in (*self.words, *self.layers, self.font):
            if not 0 < len(name.strip()) <= MOST_LETTERS:
                raise SettingsError(
                    f"A word, layer or font of a figure has 1 to {MOST_LETTERS} letters.",
                    hint="Change the names.",
                )


def template_of(plain: Any) -> FigureTemplate:
    """Read a template from the values of a JSON object; missing fields have their defaults.

    Args:
        plain: Parsed JSON from an untrusted file. Enums are written by their value.

    Raises:
        SettingsError: It is not a template, or a value has the wrong type or range.
    """
    if not isinstance(plain, dict):
        raise SettingsError("The template is not a JSON object.", hint='Begin the file with "{".')
    known = {SCHEMA_KEY, *(each.name for each in fields(FigureTemplate))}
    if unknown := sorted(set(map(str, plain)) - known):
        raise SettingsError(
            f'A template has no field "{unknown[0][:MOST_LETTERS]}".',
            hint=f"Available: {', '.join(sorted(known - {SCHEMA_KEY}))}.",
        )
    plain = {name: value for name, value in plain.items() if name != SCHEMA_KEY}
    usual = FigureTemplate()
    return replace(
        usual, **{name: _read(name, value, getattr(usual, name)) for name, value in plain.items()}
    )


def plain_template(template: FigureTemplate) -> dict[str, Any]:
    """Return the values that ``template_of`` reads, with the name of the schema file."""
    values = {each.name: getattr(template, each.name) for each in fields(template)}
    plain = {
        name: value.value if isinstance(value, Enum) else value for name, value in values.items()
    }
    return {SCHEMA_KEY: f"./{SCHEMA_FILE}", **plain}


def template_schema() -> dict[str, Any]:
    """Return the JSON schema of template files, draft 2020-12."""
    usual = FigureTemplate()
    properties: dict[str, Any] = {SCHEMA_KEY: {"type": "string"}}
    for each in fields(FigureTemplate):
        properties[each.name] = _schema_of(each.name, getattr(usual, each.name))
    return {
        "$schema": _DIALECT,
        "title": "Template of a figure for a paper of Spatial Studio",
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
    }


_RANGES: Mapping[str, tuple[float, float]] = {
    "width": (LEAST_WIDTH, MOST_WIDTH),
    "type_size": (LEAST_TYPE, MOST_TYPE),
    "dpi": (LEAST_DPI, MOST_DPI),
}
_COUNTS: Mapping[str, int] = {"words": MOST_WORDS, "steps": MOST_STEPS, "layers": MOST_LAYERS}


def _schema_of(name: str, usual: object) -> dict[str, Any]:
    """Return the schema of a field by its name and default value."""
    name_of = {"type": "string", "minLength": 1, "maxLength": MOST_LETTERS}
    match usual:
        case Enum():
            return {"enum": [each.value for each in type(usual)], "default": usual.value}
        case bool():
            return {"type": "boolean", "default": usual}
        case tuple():
            step = {"type": "integer", "minimum": 1, "maximum": LAST_STEP}
            items = step if name == "steps" else name_of
            most = _COUNTS[name]
            return {"type": "array", "items": items, "maxItems": most, "default": list(usual)}
        case str():
            return {**name_of, "default": usual}
    low, high = _RANGES[name]
    kind = "integer" if isinstance(usual, int) else "number"
    return {"type": kind, "minimum": low, "maximum": high, "default": usual}


def _read(name: str, value: Any, usual: object) -> Any:
    """Convert a JSON value to the type of a field's default value."""
    if isinstance(usual, (MapScale, Moment)):
        found = [each for each in type(usual) if each.value == value]
        if found:
            return found[0]
    elif isinstance(usual, tuple):
        kind = int if name == "steps" else str
        if isinstance(value, list) and all(type(each) is kind for each in value):
            return tuple(value)
    elif isinstance(usual, float):
        if type(value) in {int, float}:
            return float(value)
    elif type(value) is type(usual):
        return value
    raise SettingsError(
        f'The field "{name}" of the template has an invalid value.', hint="Correct the file."
    )


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not (isfinite(value) and low <= value <= high):
        raise SettingsError(
            f"The {name.replace('_', ' ')} of a figure is between {low:g} and {high:g}.",
            hint="Choose a value in this range.",
        )


def _check_count(name: str, values: tuple[object, ...], most: int) -> None:
    if len(values) > most:
        raise SettingsError(f"A figure shows at most {most} {name}.", hint=f"Choose fewer {name}.")


DEFAULT_TEMPLATE = "cvpr"

TEMPLATES: Mapping[str, FigureTemplate] = {
    DEFAULT_TEMPLATE: FigureTemplate(),
    "cvpr-page": FigureTemplate(width=6.875, steps=(1, 3, 5, 8, 10, 15, 20), type_size=8),
    "iclr": FigureTemplate(width=5.5, type_size=8),
    "neurips": FigureTemplate(width=5.5, type_size=8),
    "nature": FigureTemplate(width=3.5, type_size=7),
    "nature-page": FigureTemplate(width=7.2, steps=(1, 3, 5, 8, 10, 15, 20), type_size=7),
}
"""The built-in templates by name: the text widths of the venues' columns and pages."""

TITLES: Mapping[str, str] = {
    DEFAULT_TEMPLATE: "CVPR column",
    "cvpr-page": "CVPR page",
    "iclr": "ICLR page",
    "neurips": "NeurIPS page",
    "nature": "Nature column",
    "nature-page": "Nature page",
}
"""The untranslated titles of the built-in templates."""
