"""Which detections of a mention count, which is chosen, and whether others rival it.

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, and its code. There, boxes too small to be
chosen still rival the chosen one, and so does a second box around the same thing; the settings can
mend both.
"""

from collections.abc import Sequence

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.perception import Detection, Perception
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.verdict import CheckerSettings
from spatialstudio.science.geometry import containment


@frozen
class Candidates:
    """What was found of one mention.

    Attributes:
        chosen: The surest that is large enough; None when there is none.
        rivals: All that are nearly as sure as the surest, itself included; best first.
    """

    chosen: Detection | None
    rivals: tuple[Detection, ...]

    @property
    def are_ambiguous(self) -> bool:
        """Whether there is more than one to choose from."""
        return len(self.rivals) > 1


def candidates_of(
    mention: MentionId, perception: Perception, settings: CheckerSettings
) -> Candidates:
    """Choose among the detections of a mention.

    Args:
        mention: The mention.
        perception: What was seen.
        settings: Thresholds; whether duplicates are merged.
    """
    sure = sure_detections(mention, perception, settings)
    least_area = settings.min_area_fraction * perception.width * perception.height
    large = [detection for detection in sure if detection.box.area >= least_area]
    if settings.merges_duplicates:
        sure = large = _without_duplicates(large, settings.duplicate_containment)
    return Candidates(
        chosen=large[0] if large else None,
        rivals=tuple(
            found for found in sure if sure[0].score - found.score < settings.ambiguity_delta
        ),
    )


def sure_detections(
    mention: MentionId, perception: Perception, settings: CheckerSettings
) -> list[Detection]:
    """Return the detections of a mention that are sure enough, best first."""
    found = perception.detections_of(mention)
    return [detection for detection in found if detection.score >= settings.detection_score]


def _without_duplicates(detections: Sequence[Detection], largest_share: float) -> list[Detection]:
    kept: list[Detection] = []
    for found in detections:
        if all(containment(found.box, other.box) <= largest_share for other in kept):
            kept.append(found)
    return kept
