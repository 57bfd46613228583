"""Frames of runs that the user pinned side by side, to be taken along as one figure."""

from spatialstudio.domain.arrays import FloatMap, RgbImage
from spatialstudio.domain.frozen import frozen

BOARD_FORMATS = ("png", "svg", "pdf", "gif", "apng", "mp4", "npz", "csv")
"""File endings that a storyboard can have, the usual one first."""


@frozen(eq=False)
class BoardFrame:
    """One step of a run as it was pinned. Made by ``application.storyboard`` only.

    Attributes:
        id: Unique among the frames of a board.
        step: From 0.
        caption: Which step of which run: "Step 5 of 20, seed 7".
        prompt: What the run was drawn from.
        picture: (H, W, 3) uint8, the preview or the finished picture.
        maps: Word and (h, w) attention, in the order of the prompt; may be empty.
        hues: Which of the mentions' colours each of these words has.
        pos: Relation in words and PoS in [0, 1].
    """

    id: str
    step: int
    caption: str
    prompt: str
    picture: RgbImage
    maps: tuple[tuple[str, FloatMap], ...]
    hues: tuple[int, ...]
    pos: tuple[tuple[str, float], ...]
