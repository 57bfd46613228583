"""Generation settings in image metadata of any program, and their comparison."""

from collections.abc import Mapping
from dataclasses import asdict, field, fields
from enum import Enum

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    SAMPLING_OPTIONS,
    UNGUIDED,
    GuidanceSettings,
    PlaceTarget,
)

_SHOWN_SEPARATELY = ("method_id", "strength")
"""Fields of the guidance that have separate rows."""


@frozen
class PictureSettings:
    """Generation settings read from an image file. Created by the metadata readers.

    ``relations`` and the fields from ``method`` to ``device`` are written by Spatial Studio only.

    Attributes:
        dialect: Metadata format: "a1111", "comfyui", ...
        prompt: The prompt.
        relations: The relations in words.
        negative: Negative prompt; empty for none.
        seed: None if not recorded, like the other numbers.
        steps: Denoising steps.
        guidance_scale: Classifier-free guidance scale.
        sampler: Name of the sampler in the program.
        scheduler: Noise schedule, where it is recorded separately.
        width: Pixels.
        height: Pixels.
        model: The program's name for the model.
        model_hash: As recorded in the picture.
        method: Guidance method; recorded by this program only, like the following fields.
        strength: Step size of the method.
        guidance: Its other settings that differ from the defaults, in words.
        detail: Recorded attention.
        preview_every: Steps between previews.
        search: Number of seeds in a noise search, in words; empty for one.
        savings: Memory savings in use.
        options: Of ``SAMPLING_OPTIONS``, by id, in words; empty for the usual; likewise.
        device: Where to draw, where it was asked for; likewise.
        extras: All else, by its name there.
        left_out: Names of fields that are too long to be used.
        record: This program's own record, as JSON; empty in other programs' pictures.
        is_marked_as_generated: Whether its XMP says that a model drew it.
    """

    dialect: str
    prompt: str = ""
    relations: tuple[str, ...] = ()
    negative: str = ""
    seed: int | None = None
    steps: int | None = None
    guidance_scale: float | None = None
    sampler: str = ""
    scheduler: str = ""
    width: int | None = None
    height: int | None = None
    model: str = ""
    model_hash: str = ""
    method: str = ""
    strength: float | None = None
    guidance: tuple[str, ...] = ()
    detail: str = ""
    preview_every: int | None = None
    search: str = ""
    savings: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    device: str = ""
    extras: Mapping[str, str] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    record: str = ""
    is_marked_as_generated: bool = False


def claim_in_words(sentence: str, weight: float = 1.0, *, is_muted: bool = False) -> str:
    """Return a relation with its weight and muting in words: "cat above dog (weighs 2)"."""
    added = [f"weighs {weight:g}"] * (weight != 1) + ["muted"] * is_muted
    return f"{sentence} ({', '.join(added)})" if added else sentence


def guidance_in_words(
    numbers: Mapping[str, object], options: Mapping[str, object], names: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the guidance settings that differ from the defaults, in fixed order: "every 2".

    Args:
        numbers: Fields of ``GuidanceSettings``, as Python values or as stored in a file.
        options: The method's options that differ from the defaults, by id.
        names: Names of the objects, by id.
    """
    stated: dict[str, object] = {}
    for name, usual in asdict(GuidanceSettings()).items():
        if name == "options":
            stated |= options
        elif name == "targets" and numbers.get(name):
            stated["places"] = _targets_in_words(numbers[name], names)
        elif name not in _SHOWN_SEPARATELY and _plain(numbers.get(name, usual)) != _plain(usual):
            stated[name] = numbers[name]
    return tuple(f"{name.replace('_', ' ')} {_plain(value)}" for name, value in stated.items())


def place_in_words(target: PlaceTarget) -> str:
    """Return a target in words: "30 % across, 50 % down, size 25 %"."""
    size = "" if target.size is None else f", size {target.size * 100:.3g} %"
    return f"{target.x * 100:.3g} % across, {target.y * 100:.3g} % down{size}"


def search_in_words(candidates: int, enough: float | None) -> str:
    """Return the settings of a noise search in words: "best of 4"; empty without a search."""
    if candidates <= 1:
        return ""
    return f"best of {candidates}" + (f", enough at {enough:g}" if enough is not None else "")


def _targets_in_words(targets: object, names: Mapping[str, str]) -> str:
    """Return targets of ``GuidanceSettings``, or of a file: "cat at 0.3, 0.5 (size 0.25)"."""
    stored = _plain(targets)
    rows = (
        [each for each in stored if isinstance(each, Mapping)] if isinstance(stored, list) else []
    )
    words = [
        f"{_name_in(row, names)} at {row.get('x')}, {row.get('y')}"
        + (f" (size {row['size']})" if row.get("size") is not None else "")
        for row in rows
    ]
    return "; ".join(words)


def _name_in(row: Mapping[str, object], names: Mapping[str, str]) -> str:
    mention_id = str(row.get("mention_id"))
    return names.get(mention_id) or mention_id


def _plain(value: object) -> object:
    """Convert a value to its JSON form, for comparison with values from files."""
    match value:
        case Enum():
            return value.value
        case tuple() | list():
            return [_plain(item) for item in value]
        case Mapping():
            return {str(key): _plain(item) for key, item in value.items()}
        case float() if value.is_integer():
            return int(value)
    return value


@frozen
class FieldDifference:
    """One field in the comparison of the current settings with those of an image.

    Attributes:
        name: Name of the field in ``PictureSettings``.
        mine: Current value, in words; empty for none.
        theirs: Value in the image; empty when it is not recorded or recorded as empty.
        is_stated_empty: Whether an empty value in the image means the default.
        is_extra: Whether the field exists only in the image's program; ``name`` is its name there.
    """

    name: str
    mine: str
    theirs: str
    is_stated_empty: bool = False
    is_extra: bool = False

    @property
    def is_stated(self) -> bool:
        """Whether the image records a value for the field."""
        return bool(self.theirs) or self.is_stated_empty

    @property
    def is_same(self) -> bool:
        """Whether both values are equal."""
        return self.mine == self.theirs


_NOT_COMPARED = frozenset({"dialect", "extras", "left_out", "record", "is_marked_as_generated"})
_MAY_BE_EMPTY = frozenset(
    {"negative", "sampler", "guidance", "search", "savings", "device"}
    | {option.id for option in SAMPLING_OPTIONS}
)
"""Fields that Spatial Studio leaves empty in its images for the default."""


def compare_settings(mine: PictureSettings, theirs: PictureSettings) -> tuple[FieldDifference, ...]:
    """Compare the current settings with those of an image, field by field, in fixed order.

    Fields that only the other program has come last.
    """
    names = [name for f in fields(PictureSettings) for name in _rows_of(f.name)]
    extras = (
        FieldDifference(name=name, mine="", theirs=value, is_extra=True)
        for name, value in theirs.extras.items()
    )
    return (*(_difference(name, mine, theirs) for name in names), *extras)


def _rows_of(field_name: str) -> tuple[str, ...]:
    """Return what is compared of a field: itself, each of the options, or nothing."""
    if field_name == "options":
        return tuple(option.id for option in SAMPLING_OPTIONS)
    return () if field_name in _NOT_COMPARED else (field_name,)


def _value_of(settings: PictureSettings, name: str) -> object:
    if any(option.id == name for option in SAMPLING_OPTIONS):
        return settings.options.get(name, "")
    return getattr(settings, name)


def _difference(name: str, mine: PictureSettings, theirs: PictureSettings) -> FieldDifference:
    set_now, stated = _in_words(_value_of(mine, name)), _in_words(_value_of(theirs, name))
    has_meaning = name != "guidance" or theirs.method != UNGUIDED
    is_usual = bool(theirs.record) and name in _MAY_BE_EMPTY and has_meaning
    return FieldDifference(
        name=name, mine=set_now, theirs=stated, is_stated_empty=is_usual and bool(set_now)
    )


def _in_words(value: object) -> str:
    match value:
        case None:
            return ""
        case tuple():
            return "; ".join(map(str, value))
        case float():
            return f"{value:g}"
    return str(value)


@frozen
class EmbeddedTexts:
    """Metadata texts written into an image file.

    Attributes:
        parameters: Settings in the format of AUTOMATIC1111's web UI, which other programs read.
        record: Spatial Studio's record, as JSON in ASCII.
        creator: Name and version of the program.
        is_marked_as_generated: Whether to add an XMP mark for AI-generated images.
    """

    parameters: str
    record: str
    creator: str
    is_marked_as_generated: bool = True
