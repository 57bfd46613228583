"""Marks of a verdict's evidence, as plain data in picture pixels without colours."""

from enum import Enum, auto

from spatialstudio.domain.evidence import GapLine, MarginBand
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Box


class BoxStyle(Enum):
    """What a box on the picture stands for."""

    CHOSEN = auto()
    """The box used for the verdict."""
    GHOST = auto()
    """A candidate that can be selected."""
    SECOND = auto()
    """Detected by the second detector."""
    TRACE = auto()
    """Position of an object in a perturbed picture."""
    EMPTY = auto()
    """Frame of a missing object."""


@frozen
class BoxMark:
    """A box and its label.

    Attributes:
        box: Pixels.
        hue: Hue of its word.
        style: What it stands for.
        label: Its label; empty for none.
        key: Id emitted on a click; None for a box that cannot be selected.
        opacity: [0, 1].
    """

    box: Box
    hue: int
    style: BoxStyle
    label: str = ""
    key: object = None
    opacity: float = 1.0


@frozen
class BandMark:
    """The undecidable band of the subject's centre.

    Attributes:
        band: Position and width.
        centre_xy: The subject's centre.
        hue: Hue of the subject.
        label: Offset of the centre and the limit: "0.06 of 0.10"; empty if unknown.
        glows: Whether it decided the verdict.
        opacity: [0, 1].
        tint: A hue for the band; None for the default of an undecidable band.
    """

    band: MarginBand
    centre_xy: tuple[float, float]
    hue: int
    label: str = ""
    glows: bool = False
    opacity: float = 1.0
    tint: int | None = None


@frozen
class GapMark:
    """The shortest connection of two boxes, with its length as text."""

    gap: GapLine
    label: str


@frozen
class EvidenceScene:
    """All marks on one picture.

    Attributes:
        height: Height of the picture, pixels.
        width: Width of the picture, pixels.
        boxes: The last one on top.
        bands: Under the boxes.
        gap: For near and far only.
        hatched: Labelled areas.
        differing: Pairs of boxes whose difference is hatched.
        is_lit: Whether everything except the marks is dimmed.
        words: Description of the marks.
    """

    height: int = 1
    width: int = 1
    boxes: tuple[BoxMark, ...] = ()
    bands: tuple[BandMark, ...] = ()
    gap: GapMark | None = None
    hatched: tuple[tuple[Box, str], ...] = ()
    differing: tuple[tuple[Box, Box], ...] = ()
    is_lit: bool = False
    words: str = ""


NOTHING = EvidenceScene()
