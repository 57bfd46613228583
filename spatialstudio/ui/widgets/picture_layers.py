"""What lies on a picture: maps, masks, boxes and the profiles beside it. Plain data, no colours."""

from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import BoolMask, FloatMap, RgbImage
from spatialstudio.domain.perception import Box


class Layer(Enum):
    """What can be shown on the stage; the value is its name for people."""

    PICTURE = "Picture"
    MAPS = "Attention maps"
    MASKS = "Masks"
    BOXES = "Boxes"
    MARGINALS = "Marginals"


@dataclass(frozen=True, slots=True, eq=False)
class MapLayer:
    """An attention map: (h, w), not negative; drawn in its hue, stretched over the picture."""

    hue: int
    weights: FloatMap


@dataclass(frozen=True, slots=True, eq=False)
class MaskLayer:
    """The pixels of one object: (H, W) bool."""

    hue: int
    pixels: BoolMask


@dataclass(frozen=True, slots=True)
class BoxLayer:
    """A box in picture pixels, with what to write on it; a rival of the best one is dashed."""

    hue: int
    box: Box
    label: str
    is_rival: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The marginals of one object: (w,) along x and (h,) along y, each summing to 1."""

    hue: int
    along_x: npt.NDArray[np.float32]
    along_y: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class PictureScene:
    """All that one picture view shows.

    Attributes:
        title: Over the picture.
        remark: Over the picture, at the right.
        picture: (H, W, 3) uint8; None while there is nothing to see.
        waiting: What to say instead of a picture.
        maps: Attention maps, blended.
        masks: Drawn as tint and outline.
        boxes: Drawn as outline with a label.
        profiles: Drawn under and beside the picture, on its axes.
    """

    title: str = ""
    remark: str = ""
    picture: RgbImage | None = None
    waiting: str = ""
    maps: tuple[MapLayer, ...] = ()
    masks: tuple[MaskLayer, ...] = ()
    boxes: tuple[BoxLayer, ...] = ()
    profiles: tuple[Profile, ...] = ()
