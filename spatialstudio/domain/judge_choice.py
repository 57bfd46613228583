"""Which models look at a picture."""

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen

STICKER_DETECTOR_ID = "sticker-segmenter"


STICKER_DEPTH_ID = "sticker-depth"


@frozen
class JudgeSetChoice:
    """Who shall look; ids of adapters, names of models on this machine, or model folders.

    Attributes:
        detector_id: Finds things; None for the default by the picture's origin.
        second_id: Another detector, for its opinion; None for none.
        segmenter_id: Draws masks where the detector draws none; None for no masks there.
        depth_id: Says what is nearer; None for the sticker world's own beside its detector, else
            for nobody, as it knows nothing of other pictures.
        cut: Score from which the detector's finds count, [0, 1]; None for its makers' own.
    """

    detector_id: str | None = None
    second_id: str | None = None
    segmenter_id: str | None = None
    depth_id: str | None = None
    cut: float | None = None

    def __post_init__(self) -> None:
        if self.cut is not None and not 0 <= self.cut <= 1:
            raise SettingsError(
                "The cut of a detector lies between 0 and 1.", hint="Try 0.35, or leave it out."
            )

    @property
    def depth_or_sticker_id(self) -> str | None:
        """Who says what is nearer; None for nobody."""
        return self.depth_id or (STICKER_DEPTH_ID if self.knows_stickers_only else None)

    @property
    def knows_stickers_only(self) -> bool:
        """Whether prompts can only be judged that name things of the sticker world."""
        return self.detector_id == STICKER_DETECTOR_ID


DEFAULT_JUDGE_SET = JudgeSetChoice()


STICKER_JUDGES = JudgeSetChoice(detector_id=STICKER_DETECTOR_ID)
