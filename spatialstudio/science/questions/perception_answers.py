"""The DA-score from perception, without a question-answering model. The method is ours.

The probability that an object exists is the score of its best detection. The probability of a
colour is that of the object times the predominance of the colour among its pixels. The probability
of a relation is the product of those of its ends times the PoS of their masks. Other attributes,
and objects outside the detector's classes, have no answer.
"""

from collections.abc import Mapping
from math import prod

import numpy as np

from spatialstudio.domain.arrays import BoolMask, RgbImage
from spatialstudio.domain.assertion import (
    DA_RECOMMENDED,
    Assertion,
    AssertionKind,
    Assertions,
    AssertionScore,
    DaScore,
    DaSettings,
)
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.domain.verdict import Perception
from spatialstudio.science.arrays import FloatArray
from spatialstudio.science.pos.pse import relation_pse
from spatialstudio.science.questions.da_score import assertions_of, da_score

FOCAL_COLOURS: Mapping[str, tuple[tuple[float, float, float], ...]] = {
    "black": ((5, 0, 0), (15, 2, -2)),
    "white": ((98, 0, 0), (94, 0, 2)),
    "grey": ((35, 0, 0), (50, 0, 0), (65, 0, -2), (80, 0, 0)),
    "red": ((53, 80, 67), (45, 65, 40), (32, 52, 35), (52, 68, 35), (62, 58, 46)),
    "orange": ((67, 43, 74), (75, 24, 79), (62, 56, 62), (64, 34, 52)),
    "yellow": ((97, -21, 94), (88, -2, 86), (84, 2, 70), (90, -8, 50)),
    "green": (
        (88, -86, 83),
        (46, -52, 50),
        (60, -45, 35),
        (30, -25, 22),
        (76, -38, 40),
        (50, -8, 30),
    ),
    "blue": (
        (32, 79, -108),
        (45, 15, -55),
        (60, -8, -35),
        (78, -18, -22),
        (22, 20, -42),
        (13, 48, -65),
        (88, -35, -8),
    ),
    "purple": ((30, 58, -37), (45, 45, -45), (60, 40, -35), (40, 30, -25), (40, 76, -70)),
    "pink": ((76, 40, 2), (65, 62, -6), (84, 24, 4), (60, 75, 5), (60, 98, -61)),
    "brown": ((37, 26, 36), (45, 20, 30), (30, 15, 20), (55, 14, 26), (24, 12, 14)),
}
"""CIELAB (L*, a*, b*) of each colour term's focal colours."""

OTHER_WORDS = {
    "gray": "grey",
    "silver": "grey",
    "golden": "yellow",
    "gold": "yellow",
    "crimson": "red",
    "scarlet": "red",
    "violet": "purple",
    "lilac": "purple",
    "navy": "blue",
    "turquoise": "blue",
    "beige": "brown",
    "tan": "brown",
}

_NAMES = tuple(name for name, shades in FOCAL_COLOURS.items() for _ in shades)
_SHADES = np.array([shade for shades in FOCAL_COLOURS.values() for shade in shades], np.float64)

_TO_XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
_WHITE_XYZ = np.array([0.95047, 1.0, 1.08883])
_SRGB_KNEE = 0.04045
_LAB_KNEE = (6 / 29) ** 3


def colour_named(word: str) -> str | None:
    """Return the basic colour term of a word; None when it is not a colour."""
    plain = word.lower()
    plain = OTHER_WORDS.get(plain, plain)
    return plain if plain in FOCAL_COLOURS else None


def colour_chance(image: RgbImage, mask: BoolMask, colour: str) -> float:
    """Return the predominance of a colour in an object.

    Args:
        image: (H, W, 3) uint8.
        mask: (H, W) bool, not empty.
        colour: One of the eleven terms.

    Returns:
        [0, 1]: the term's share of pixels over the sum with the largest share of another term.
    """
    shares = colour_shares(image, mask)
    own = shares.pop(colour)
    strongest_other = max(shares.values())
    return own / (own + strongest_other)


def colour_shares(image: RgbImage, mask: BoolMask) -> dict[str, float]:
    """Return each term's share of an object's pixels; arguments as for ``colour_chance``."""
    shades, counts = np.unique(image[mask], axis=0, return_counts=True)
    lab = lab_of(shades.astype(np.float64) / 255)
    distances = np.linalg.norm(lab[:, None] - _SHADES, axis=-1)
    weights = np.bincount(distances.argmin(1), counts, len(_NAMES)) / counts.sum()
    shares = dict.fromkeys(FOCAL_COLOURS, 0.0)
    for name, weight in zip(_NAMES, weights, strict=True):
        shares[name] += float(weight)
    return shares


def lab_of(srgb: FloatArray) -> FloatArray:
    """Convert sRGB, (..., 3) in [0, 1], to CIELAB, (..., 3) L* a* b*, white point D65."""
    linear = np.where(srgb <= _SRGB_KNEE, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    ratios = linear @ _TO_XYZ.T / _WHITE_XYZ
    curved = np.where(ratios > _LAB_KNEE, np.cbrt(ratios), ratios * (29 / 6) ** 2 / 3 + 4 / 29)
    x, y, z = np.moveaxis(curved, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1)


PERCEPTION_ID = "perception"


class CannotTellError(Exception):
    """The perception gives no answer; the message states the reason."""


def score_by_perception(
    scene: SceneGraph,
    perception: Perception,
    image: RgbImage | None = None,
    assertions: Assertions | None = None,
    settings: DaSettings = DA_RECOMMENDED,
) -> DaScore:
    """Compute the DA-score of an image from its perception.

    Args:
        scene: The scene graph.
        perception: The perception of the image.
        image: (H, W, 3) uint8; without it colours have no answer.
        assertions: None for the assertions of the scene.
        settings: How answers are combined.
    """
    assertions = assertions or assertions_of(scene)
    answers = _PerceptionAnswers(scene, perception, image)
    scores = [answers.answer(assertion) for assertion in assertions.items]
    return da_score(assertions, scores, PERCEPTION_ID, settings)


class _PerceptionAnswers:
    """Answers assertions from one perception."""

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
            raise CannotTellError("A detector cannot answer this question.")
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
            raise CannotTellError(
                "The relation needs masks, and a depth relation also needs a depth map."
            )
        return prod(presences) * pos
