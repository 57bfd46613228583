"""What lies behind a verdict, as marks on the picture. Plain data in picture pixels, no colours."""

from enum import Enum, auto

from spatialstudio.domain.evidence import GapLine, MarginBand
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import Box


class BoxStyle(Enum):
    """What a box on the picture stands for."""

    CHOSEN = auto()
    """Judged by."""
    GHOST = auto()
    """Could have been chosen."""
    SECOND = auto()
    """What a second detector saw."""
    TRACE = auto()
    """Where a thing was after a small change of the picture."""
    EMPTY = auto()
    """Where nothing was found."""


@frozen
class BoxMark:
    """A box and its name.

    Attributes:
        box: Pixels.
        hue: Of its word.
        style: What it stands for.
        label: Its name; empty for none.
        key: Told when it is clicked; None for a box that cannot be chosen.
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
    """The band in which the subject's centre decides nothing.

    Attributes:
        band: Where.
        centre_xy: The subject's centre.
        hue: Of the subject.
        label: How far off the centre is, of how much: "0.06 of 0.10"; empty when nobody knows.
        glows: Whether it is what decided.
        opacity: [0, 1].
        tint: A hue for the band; None for that of indecision.
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
    """The shortest way between two boxes, and its length in words."""

    gap: GapLine
    label: str


@frozen
class EvidenceScene:
    """All marks on one picture.

    Attributes:
        height: Of the picture, pixels.
        width: Likewise.
        boxes: The last one on top.
        bands: Under the boxes.
        gap: Near and far only.
        hatched: Areas with a name each.
        differing: Pairs of boxes whose difference is hatched.
        is_lit: Whether all but the marks is dimmed.
        words: The marks in words.
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
