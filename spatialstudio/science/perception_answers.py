"""The perception itself answers what a prompt asserts, without another model. All of it is ours.

A thing is there as surely as its best instance was found. It has a colour with the probability that
it is there times the lead of that colour among its pixels. A relation holds with the probability
that its ends are there times the PoS of their masks. Other attributes, and things that the detector
has no class for, nobody can tell from what was seen.
"""

from math import prod

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import (
    DA_RECOMMENDED,
    Assertion,
    AssertionKind,
    Assertions,
    AssertionScore,
    DaScore,
    DaSettings,
)
from spatialstudio.domain.perception import Perception
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.science.colours import colour_chance, colour_named
from spatialstudio.science.da_score import assertions_of, da_score
from spatialstudio.science.pse import relation_pse

PERCEPTION_ID = "perception"


class CannotTellError(Exception):
    """The perception does not hold the answer; says why."""


def score_by_perception(
    scene: SceneGraph,
    perception: Perception,
    image: RgbImage | None = None,
    assertions: Assertions | None = None,
    settings: DaSettings = DA_RECOMMENDED,
) -> DaScore:
    """Score a picture by what was seen in it.

    Args:
        scene: What the prompt claims.
        perception: What was seen.
        image: (H, W, 3) uint8; None where it is not at hand, then no colour can be told.
        assertions: None for those of the scene.
        settings: How answers become a score.
    """
    assertions = assertions or assertions_of(scene)
    witness = _Witness(scene, perception, image)
    scores = [witness.answer(assertion) for assertion in assertions.items]
    return da_score(assertions, scores, PERCEPTION_ID, settings)


class _Witness:
    """Tells what one perception holds."""

    def __init__(self, scene: SceneGraph, perception: Perception, image: RgbImage | None) -> None:
        self._scene = scene
        self._perception = perception
        self._image = image

    def answer(self, assertion: Assertion) -> AssertionScore:
        try:
            chance = self._chance(assertion)
        except CannotTellError as reason:
            return AssertionScore(assertion=assertion, probability_yes=None, note=str(reason))
        return AssertionScore(assertion=assertion, probability_yes=chance)

    def _chance(self, assertion: Assertion) -> float:
        mention = assertion.mention_id
        if mention is None:
            raise CannotTellError("A detector cannot tell this.")
        match assertion.kind:
            case AssertionKind.RELATION:
                return self._relation(assertion)
            case AssertionKind.ATTRIBUTE:
                return self._attribute(mention, assertion.attribute)
            case _:
                return self._presence(mention)

    def _presence(self, mention: MentionId) -> float:
        head = self._scene.mention(mention).head
        if head in self._perception.missing_classes:
            raise CannotTellError(f'The detector has no class for "{head}".')
        found = self._perception.detections_of(mention)
        return max((detection.score for detection in found), default=0.0)

    def _attribute(self, mention: MentionId, attribute: str) -> float:
        colour = colour_named(attribute)
        if colour is None:
            raise CannotTellError(f'A detector cannot tell what is "{attribute}".')
        presence = self._presence(mention)
        if presence == 0:
            return 0.0
        masks = [mask for mask in self._perception.masks_of(mention) if mask.pixels.any()]
        if self._image is None or not masks:
            raise CannotTellError("Colours need the picture and a mask.")
        return presence * colour_chance(self._image, masks[0].pixels, colour)

    def _relation(self, assertion: Assertion) -> float:
        relation = next(r for r in self._scene.relations if r.id == assertion.relation_id)
        presences = [self._presence(end) for end in relation.ends]
        if not all(presences):
            return 0.0
        pos = relation_pse(relation, self._perception).pos
        if pos is None:
            raise CannotTellError("The relation needs masks, and depth where it is one of depth.")
        return prod(presences) * pos
