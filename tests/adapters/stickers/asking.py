"""How tests ask the segmenter, and which of its answers they take."""

from collections.abc import Sequence

from spatialstudio.domain.scene import (
    MentionId,
    ObjectMention,
    TextSpan,
)
from spatialstudio.domain.verdict import Mask

SURE_SCORE = 0.5


def mention_of(name: str) -> ObjectMention:
    """Ask for an object by its name alone; the name is the mention's id too."""
    return ObjectMention(
        id=MentionId(name), phrase=name, head=name, span=TextSpan(start=0, stop=len(name))
    )


def sure(masks: Sequence[Mask]) -> list[Mask]:
    """Keep the masks that the segmenter is sure of."""
    return [mask for mask in masks if mask.score >= SURE_SCORE]
