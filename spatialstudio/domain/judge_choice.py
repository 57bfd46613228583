"""The choice of the judge set."""

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen

STICKER_DETECTOR_ID = "sticker-segmenter"


STICKER_DEPTH_ID = "sticker-depth"


@frozen
class JudgeSetChoice:
    """The chosen models of a judge set: adapter ids, names of local models, or model folders.

    Attributes:
        detector_id: Detector; None for the default by the image's origin.
        second_id: Second detector; None for none.
        segmenter_id: Segmenter for detectors without masks; None for no masks.
        depth_id: Depth model; None for the sticker depth model with the sticker detector, else for
            none, as the sticker depth model does not generalise to other images.
        cut: Score threshold for detections, [0, 1]; None for the threshold of its authors.
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
        """The depth model, with the default for sticker images; None for none."""
        return self.depth_id or (STICKER_DEPTH_ID if self.knows_stickers_only else None)

    @property
    def knows_stickers_only(self) -> bool:
        """Whether only prompts about sticker objects can be evaluated."""
        return self.detector_id == STICKER_DETECTOR_ID


DEFAULT_JUDGE_SET = JudgeSetChoice()


STICKER_JUDGES = JudgeSetChoice(detector_id=STICKER_DETECTOR_ID)
