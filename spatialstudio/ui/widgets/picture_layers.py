"""Layers of a picture (maps, masks, boxes, profiles) as plain data without colours."""

from enum import Enum

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import (
    BoolMask,
    FloatMap,
    RgbImage,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import Axis
from spatialstudio.domain.verdict import Box


class Layer(Enum):
    """A layer of the stage; the value is its label."""

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
"""Layers enabled by default."""


@frozen(kw_only=False)
class LayerLook:
    """How a layer is drawn.

    Attributes:
        opacity: [0, 1].
        hue: A mention hue for the whole layer; None for a hue per word.
    """

    opacity: float = 1.0
    hue: int | None = None


PLAIN_LOOK = LayerLook()


MAP_OPACITY = 0.82


@frozen(eq=False, kw_only=False)
class IsolineLayer:
    """An isoline of a map's mass: (n, 2, 2) from and to, fractions of the picture."""

    share: float
    pieces: npt.NDArray[np.float32]


@frozen(eq=False, kw_only=False)
class MapLayer:
    """An attention map, drawn in its hue, stretched over the picture.

    Attributes:
        hue: Hue of its word.
        weights: (h, w), not negative.
        top: The value that maps to full colour; None for the map's own peak.
        opacity: Opacity at ``top``, [0, 1].
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
    """Nearness of each pixel: (H, W), [0, 1], 1 is nearest; drawn as a heat map."""

    nearness: FloatMap
    opacity: float = 1.0


@frozen(kw_only=False)
class BoxLayer:
    """A box in picture pixels with its label; a rival of the best one is dashed."""

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
        hues: Hue of the word that should come first, and of the other.
        rising: (n,) share of the first word before evenly spaced positions along the axis.
        falling: (n,) share of the second word behind these positions.
        place: Position of the crossing, as a fraction of the axis.
        share: Value of both curves there.
    """

    axis: Axis
    hues: tuple[int, int]
    rising: npt.NDArray[np.float32]
    falling: npt.NDArray[np.float32]
    place: float
    share: float


@frozen(eq=False)
class PictureScene:
    """Content of a picture view.

    Attributes:
        title: Above the picture.
        remark: Above the picture, at the right.
        brief_remark: Replaces a remark that does not fit.
        picture: (H, W, 3) uint8; None if there is none yet.
        waiting: Text shown without a picture.
        depth: Below all other layers; None for none.
        maps: Attention maps, blended.
        masks: Drawn as tint and outline.
        boxes: Drawn as outline with a label.
        profiles: Drawn below and next to the picture, on its axes.
        crossings: Drawn over the profiles, and as lines through the picture.
        words: Accessible description of the scene.
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
