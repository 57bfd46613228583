"""The DA-score from perception, without a question-answering model. The method is ours.

The probability that an object exists is the score of its best detection. The probability of a count
is that of so many of its instances, each of which exists with the probability of its score. The
probability of a colour is that of the object times the predominance of the colour among the pixels
of its best mask. The probability of a relation is the product of those of its ends times the PoS
of their masks. Other attributes, and objects outside the detector's classes, have no answer.
"""

from collections.abc import Sequence
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
from spatialstudio.domain.requirements import COLOUR_TERMS, Colour, requirements_of
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.domain.verdict import Instance, Perception
from spatialstudio.science.checker.instances import measure_instances
from spatialstudio.science.colours import colour_chance, colour_shares
from spatialstudio.science.pos.pse import relation_pse
from spatialstudio.science.questions.da_score import assertions_of, da_score

PERCEPTION_ID = "perception"


class CannotTellError(Exception):
    """The perception gives no answer; the message states the reason."""


def score_by_perception(
    scene: SceneGraph,
    perception: Perception,
    image: RgbImage | None = None,
    assertions: Assertions | None = None,
    settings: DaSettings = DA_RECOMMENDED,
    instances: Sequence[Instance] | None = None,
) -> DaScore:
    """Compute the DA-score of an image from its perception.

    Args:
        scene: The scene graph.
        perception: The perception of the image.
        image: (H, W, 3) uint8; without it colours have no answer.
        assertions: None for the assertions of the scene.
        settings: How answers are combined.
        instances: The measured instances of the mentions; None to measure them.
    """
    assertions = assertions or assertions_of(scene)
    if instances is None:
        instances = measure_instances(scene, perception, image)
    answers = _PerceptionAnswers(scene, perception, image, instances)
    scores = [answers.answer(assertion) for assertion in assertions.items]
    return da_score(assertions, scores, PERCEPTION_ID, settings)


class _PerceptionAnswers:
    """Answers assertions from one perception."""

    def __init__(
        self,
        scene: SceneGraph,
        perception: Perception,
        image: RgbImage | None,
        instances: Sequence[Instance],
    ) -> None:
        self._scene = scene
        self._perception = perception
        self._image = image
        self._instances = instances

    def answer(self, assertion: Assertion) -> AssertionScore:
        try:
            chance = self._chance(assertion)
        except CannotTellError as reason:
            return AssertionScore(assertion=assertion, probability_yes=None, note=str(reason))
        return AssertionScore(assertion=assertion, probability_yes=chance)

    def _chance(self, assertion: Assertion) -> float:
        mention = assertion.mention_id
        if mention is None:
            raise CannotTellError("A detector cannot answer this question.")
        match assertion.kind:
            case AssertionKind.RELATION:
                return self._relation(assertion)
            case AssertionKind.COUNT:
                return self._count(mention)
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

    def _count(self, mention: MentionId) -> float:
        quantity = requirements_of(self._scene, mention).quantity
        self._presence(mention)
        if quantity is None:
            raise CannotTellError("A detector cannot answer this question.")
        own = [each for each in self._instances if each.mention_id == mention]
        chances = [1.0]
        for instance in own:  # the Poisson binomial distribution of the number of instances
            without = [(1 - instance.score) * chance for chance in (*chances, 0.0)]
            chances = [
                missing + instance.score * found
                for missing, found in zip(without, (0.0, *chances), strict=True)
            ]
        return sum(chance for number, chance in enumerate(chances) if quantity.allows(number))

    def _attribute(self, mention: MentionId, attribute: str) -> float:
        colours = (*requirements_of(self._scene, mention).colours, *_colours_named(attribute))
        colour = next((each for each in colours if each.words == attribute.lower()), None)
        if colour is None:
            raise CannotTellError(f'A detector cannot tell what is "{attribute}".')
        presence = self._presence(mention)
        if presence == 0:
            return 0.0
        masks = [mask for mask in self._perception.masks_of(mention) if mask.pixels.any()]
        if self._image is None or not masks:
            raise CannotTellError("Colours need the picture and a mask.")
        shares = colour_shares(self._image, masks[0].pixels)
        return presence * colour_chance(shares, colour.terms)

    def _relation(self, assertion: Assertion) -> float:
        relation = next(r for r in self._scene.relations if r.id == assertion.relation_id)
        presences = [self._presence(end) for end in relation.ends]
        if not all(presences):
            return 0.0
        pos = relation_pse(relation, self._perception).pos
        if pos is None:
            raise CannotTellError(
                "The relation needs masks, and a depth relation also needs a depth map."
            )
        return prod(presences) * pos


def _colours_named(attribute: str) -> tuple[Colour, ...]:
    word = attribute.lower()
    return (Colour(words=word, terms=COLOUR_TERMS[word]),) if word in COLOUR_TERMS else ()
