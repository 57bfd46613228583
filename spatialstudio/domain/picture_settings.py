"""How a picture says that it was made, whoever made it; and how two such sayings differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureSettings:
    """What is told in a picture file about its making. Made by the readers of metadata.

    Attributes:
        dialect: Which program's way of telling it is: "a1111", "comfyui", ...
        prompt: What was drawn.
        negative: What was not wanted; empty for nothing.
        seed: None when it is not told; so are the other numbers.
        steps: Denoising steps.
        guidance_scale: Of classifier-free guidance.
        sampler: By the program's own name.
        scheduler: Of the noise levels, where it is told apart.
        width: Pixels.
        height: Pixels.
        model: By the program's own name.
        model_hash: As told.
        method: Of holding the layout; told by this program only.
        strength: Of that method.
        relations: In words; told by this program only.
        extras: All else, by its name there.
        record: This program's own record, as JSON; empty in other programs' pictures.
        is_marked_as_generated: Whether its XMP says that a model drew it.
    """

    dialect: str
    prompt: str = ""
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
    relations: tuple[str, ...] = ()
    extras: Mapping[str, str] = field(default_factory=dict)
    record: str = ""
    is_marked_as_generated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDifference:
    """One field of a comparison, to be taken over or not.

    Attributes:
        name: Of the field in ``PictureSettings``.
        mine: What is set now, in words; empty for nothing.
        theirs: What the picture tells; empty when it tells nothing.
    """

    name: str
    mine: str
    theirs: str

    @property
    def is_told(self) -> bool:
        """Whether the picture says something here."""
        return bool(self.theirs)

    @property
    def is_same(self) -> bool:
        """Whether taking it over would change nothing."""
        return self.mine == self.theirs


_NOT_COMPARED = frozenset({"dialect", "extras", "record", "is_marked_as_generated"})


def compare_settings(mine: PictureSettings, theirs: PictureSettings) -> tuple[FieldDifference, ...]:
    """Set what is set now beside what a picture tells, field by field, in a fixed order."""
    return tuple(
        FieldDifference(
            name=f.name,
            mine=_in_words(getattr(mine, f.name)),
            theirs=_in_words(getattr(theirs, f.name)),
        )
        for f in fields(PictureSettings)
        if f.name not in _NOT_COMPARED
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


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedTexts:
    """What is written into a picture file.

    Attributes:
        parameters: In the form that AUTOMATIC1111's web interface writes, which others read.
        record: This program's record, as JSON in ASCII.
        creator: Name and version of the program.
        is_marked_as_generated: Whether an XMP mark shall say that a model drew it.
    """

    parameters: str
    record: str
    creator: str
    is_marked_as_generated: bool = True
