"""What lies on a picture: maps, masks, boxes and the profiles beside it. Plain data, no colours."""

from enum import Enum

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import (
    BoolMask,
    FloatMap,
    RgbImage,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import Box
from spatialstudio.domain.relation import Axis


class Layer(Enum):
    """What can be shown on the stage; the value is its name for people."""

    PICTURE = "Picture"
    MAPS = "Attention maps"
    MASKS = "Masks"
    BOXES = "Boxes"
    MARGINALS = "Marginals"
    DEPTH = "Depth"
    BAND = "Margin band"
    CANDIDATES = "Candidates"
    SECOND = "Second detector"


PLAIN_LAYERS = frozenset({Layer.PICTURE, Layer.MAPS, Layer.MASKS, Layer.BOXES, Layer.MARGINALS})
"""Those that are in sight unless a workspace wants more."""


@frozen(kw_only=False)
class LayerLook:
    """How a layer is drawn.

    Attributes:
        opacity: [0, 1].
        hue: One of the hues of the words for all of it; None for each word's own.
    """

    opacity: float = 1.0
    hue: int | None = None


PLAIN_LOOK = LayerLook()


MAP_OPACITY = 0.82


@frozen(eq=False, kw_only=False)
class IsolineLayer:
    """The line around a share of a map's mass: (n, 2, 2) from and to, shares of the picture."""

    share: float
    pieces: npt.NDArray[np.float32]


@frozen(eq=False, kw_only=False)
class MapLayer:
    """An attention map, drawn in its hue, stretched over the picture.

    Attributes:
        hue: Of its word.
        weights: (h, w), not negative.
        top: The value in full colour; None for the map's own peak.
        opacity: There, [0, 1].
        isolines: Drawn over all maps.
    """

    hue: int
    weights: FloatMap
    top: float | None = None
    opacity: float = MAP_OPACITY
    isolines: tuple[IsolineLayer, ...] = ()


@frozen(eq=False, kw_only=False)
class MaskLayer:
    """The pixels of one object: (H, W) bool."""

    hue: int
    pixels: BoolMask
    opacity: float = 1.0


@frozen(eq=False, kw_only=False)
class DepthLayer:
    """How near each pixel is: (H, W), [0, 1], 1 is nearest; drawn as heat over the picture."""

    nearness: FloatMap
    opacity: float = 1.0


@frozen(kw_only=False)
class BoxLayer:
    """A box in picture pixels, with what to write on it; a rival of the best one is dashed."""

    hue: int
    box: Box
    label: str
    is_rival: bool = False
    opacity: float = 1.0


@frozen(eq=False, kw_only=False)
class Profile:
    """The marginals of one object: (w,) along x and (h,) along y, each summing to 1."""

    hue: int
    along_x: npt.NDArray[np.float32]
    along_y: npt.NDArray[np.float32]
    opacity: float = 1.0
    name: str = ""


@frozen(eq=False, kw_only=False)
class Crossing:
    """Two cumulative curves along an axis of the picture, and the line on which they cross.

    Attributes:
        axis: X or Y.
        hues: Of the word that should come first, and of the other.
        rising: (n,) share of the first before places that are spread evenly from side to side.
        falling: (n,) share of the second behind these.
        place: Of the crossing, share of the axis.
        share: That both curves have there.
    """

    axis: Axis
    hues: tuple[int, int]
    rising: npt.NDArray[np.float32]
    falling: npt.NDArray[np.float32]
    place: float
    share: float


@frozen(eq=False)
class PictureScene:
    """All that one picture view shows.

    Attributes:
        title: Over the picture.
        remark: Over the picture, at the right.
        brief_remark: Stands there where the remark has no room.
        picture: (H, W, 3) uint8; None while there is nothing to see.
        waiting: What to say instead of a picture.
        depth: Under all else that lies on the picture; None for none.
        maps: Attention maps, blended.
        masks: Drawn as tint and outline.
        boxes: Drawn as outline with a label.
        profiles: Drawn under and beside the picture, on its axes.
        crossings: Drawn over the profiles, and as lines through the picture.
        words: All of it in words, for who cannot see it.
    """

    title: str = ""
    remark: str = ""
    brief_remark: str = ""
    picture: RgbImage | None = None
    waiting: str = ""
    depth: DepthLayer | None = None
    maps: tuple[MapLayer, ...] = ()
    masks: tuple[MaskLayer, ...] = ()
    boxes: tuple[BoxLayer, ...] = ()
    profiles: tuple[Profile, ...] = ()
    crossings: tuple[Crossing, ...] = ()
    words: str = ""
