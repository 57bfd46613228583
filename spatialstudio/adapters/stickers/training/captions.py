"""Random captions for scenes that mention relations as rarely as captions on the web.

Most captions only list the objects, so that the plain model gets relations wrong; a share of them
states a relation, always a true one. Most captions of a scene in a place name it.
"""

from itertools import pairwise

import numpy as np

from spatialstudio.adapters.stickers.training.backgrounds import PLACES
from spatialstudio.adapters.stickers.training.scenes import Placement, Scene
from spatialstudio.adapters.stickers.vocabulary import sticker_objects
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    BELOW,
    BUILT_IN_TYPES,
    LEFT_OF,
    RIGHT_OF,
    Axis,
    RelationType,
    Shape,
)

OPENINGS = ("a photo of", "a photo of", "a photo of", "a picture of", "an image of")
OTHER_PHRASES = {
    LEFT_OF: ("left of", "on the left of", "on the left side of"),
    RIGHT_OF: ("right of", "on the right of", "on the right side of"),
    ABOVE: ("over", "higher than"),
    BELOW: ("under", "beneath", "underneath"),
    BEHIND: ("in back of",),
}
VOWELS = "aeiou"
JOINERS = ("and", ",", "with", ", and")


@frozen
class CaptionSettings:
    """Distribution of captions.

    Attributes:
        empty_share: Share of empty captions, for unconditional training.
        relation_share: Share of the others that state relations between the objects.
        place_share: Share of the captions of scenes in a place that name it.
        opening_share: Share that starts with "a photo of".
        full_stop_share: Share that ends with a full stop.
        other_word_share: Share of objects named by a synonym or in the plural.
        bare_share: Share of objects without an article.
        article_error_share: Share of "a" instead of "an" before vowels, as in templates.
        least_offset: Minimum distance along an axis for a relation, in picture sides.
    """

    empty_share: float = 0.1
    relation_share: float = 0.3
    place_share: float = 0.8
    opening_share: float = 0.5
    full_stop_share: float = 0.2
    other_word_share: float = 0.12
    bare_share: float = 0.1
    article_error_share: float = 0.2
    least_offset: float = 0.12


@frozen
class Caption:
    """A caption split into words.

    Attributes:
        words: Words and punctuation, lower case.
        owners: For each word the index of the placement it names, or None.
    """

    words: tuple[str, ...]
    owners: tuple[int | None, ...]

    @property
    def text(self) -> str:
        """The caption as plain text."""
        return " ".join(self.words).replace(" ,", ",").replace(" .", ".")


class CaptionWriter:
    """Collects the words of one caption."""

    def __init__(self, scene: Scene, rng: np.random.Generator, settings: CaptionSettings) -> None:
        self._scene = scene
        self._rng = rng
        self._settings = settings
        self._words: list[str] = []
        self._owners: list[int | None] = []

    def write(self) -> Caption:
        """Write a caption for the scene."""
        if self._happens(self._settings.empty_share):
            return Caption(words=(), owners=())
        if self._happens(self._settings.opening_share):
            self._add(str(self._rng.choice(OPENINGS)))
        order = self._rng.permutation(len(self._scene.placements)).tolist()
        relations = self._relations(order) if self._happens(self._settings.relation_share) else None
        self._add_object(order[0])
        for position, index in enumerate(order[1:]):
            if relations is None:
                self._add(str(self._rng.choice(JOINERS)))
            else:
                if position > 0:
                    self._add("and the")
                    self._add(self._name(order[position]), owner=order[position])
                self._add(relations[position])
            self._add_object(index)
        place = self._scene.backdrop.place
        if place is not None and self._happens(self._settings.place_share):
            self._add(str(self._rng.choice(PLACES[place].phrases)))
        if self._happens(self._settings.full_stop_share):
            self._add(".")
        return Caption(words=tuple(self._words), owners=tuple(self._owners))

    def _happens(self, share: float) -> bool:
        return bool(self._rng.random() < share)

    def _add(self, phrase: str, owner: int | None = None) -> None:
        for word in phrase.split():
            self._words.append(word)
            self._owners.append(owner)

    def _add_object(self, index: int) -> None:
        name = self._name(index)
        if not self._happens(self._settings.bare_share):
            vowel_first = name[0] in VOWELS and not self._happens(
                self._settings.article_error_share
            )
            article = "an" if vowel_first else "a"
            self._add(str(self._rng.choice((article, article, article, "the"))))
        self._add(name, owner=index)

    def _name(self, index: int) -> str:
        thing = sticker_objects()[self._scene.placements[index].number]
        other = self._happens(self._settings.other_word_share)
        return str(self._rng.choice(thing.words)) if other else thing.name

    def _relations(self, order: list[int]) -> list[str] | None:
        """Choose a true phrase between each object and the next; None if a pair has none."""
        phrases = []
        for first, second in pairwise(order):
            placements = self._scene.placements
            held = [
                relation
                for relation in BUILT_IN_TYPES
                if holds(relation, placements[first], placements[second], self._settings)
                and not (self._scene.backdrop.horizon is not None and _is_vertical(relation))
            ]
            if not held:
                return None
            chosen = held[self._rng.integers(len(held))]
            ways = (chosen.phrase, *OTHER_PHRASES.get(chosen, ()))
            phrases.append(str(self._rng.choice(ways)))
        return phrases


def write_caption(
    scene: Scene, rng: np.random.Generator, settings: CaptionSettings | None = None
) -> Caption:
    """Write a caption for a scene."""
    return CaptionWriter(scene, rng, settings or CaptionSettings()).write()


def holds(
    relation: RelationType, subject: Placement, other: Placement, settings: CaptionSettings
) -> bool:
    """Return True if an order relation clearly holds between two placements."""
    if relation.shape is not Shape.ORDER:
        return False
    for claim in relation.claims:
        offset = _coordinate(other, claim.axis) - _coordinate(subject, claim.axis)
        if (offset if claim.subject_first else -offset) < settings.least_offset:
            return False
    return True


def _is_vertical(relation: RelationType) -> bool:
    """Return True for vertical relations, unused on a ground, where higher means farther."""
    return any(claim.axis is Axis.Y for claim in relation.claims)


def _coordinate(placement: Placement, axis: Axis) -> float:
    return {Axis.X: placement.x, Axis.Y: placement.y, Axis.DEPTH: placement.depth}[axis]
