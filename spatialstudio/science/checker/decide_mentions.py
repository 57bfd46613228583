"""Verdicts on the counts and colours that a prompt requires, from measured instances.

A count passes if every possible number of instances satisfies it, and fails if none does. A colour
passes if as many instances have it as the prompt requires of the object: one of a singular, all
that are counted of a plural. An object that is not found is undecidable, as for relations. The
rules are ours; they leave the verdicts on relations, those of SpatialBench-UC, as they are.
"""

from collections.abc import Iterator, Sequence

from spatialstudio.domain.requirements import (
    Colour,
    Quantity,
    RequirementKind,
    Requirements,
    is_member,
    requirements_of,
)
from spatialstudio.domain.scene import MentionId, ObjectMention, SceneGraph
from spatialstudio.domain.verdict import (
    CheckerSettings,
    Instance,
    MentionDoubt,
    MentionVerdict,
    Outcome,
)
from spatialstudio.science.colours import colour_chance

HAS_COLOUR, LACKS_COLOUR = 0.6, 0.35
"""Predominance of a colour at which an instance has it, and below which it lacks it, [0, 1]."""
LEAST_PART = 0.15
"""Share of pixels that shows one of several required colours, as of "black and white"."""
LEAST_SECOND = 0.25
"""Share of pixels of a second colour that makes an object multicoloured."""
MOST_COUNTED = 12
"""Largest number of instances that detectors tell apart reliably."""


def decide_mentions(
    scene: SceneGraph, instances: Sequence[Instance], settings: CheckerSettings
) -> tuple[MentionVerdict, ...]:
    """Decide every required count and colour of a scene.

    Args:
        scene: The scene graph.
        instances: The measured instances of its mentions.
        settings: Thresholds of the detections.

    Returns:
        Counts and colours in the order of the mentions.
    """
    large = [each for each in instances if each.area >= settings.min_area_fraction]
    required = {each.id: requirements_of(scene, each.id) for each in scene.mentions}
    return tuple(
        verdict
        for mention in scene.mentions
        for verdict in _Mention(scene, mention, required, large, settings).verdicts()
    )


class _Mention:
    """The instances and requirements of one mention."""

    def __init__(
        self,
        scene: SceneGraph,
        mention: ObjectMention,
        required: dict[MentionId, Requirements],
        instances: Sequence[Instance],
        settings: CheckerSettings,
    ) -> None:
        own = [each for each in instances if each.mention_id == mention.id]
        least = settings.detection_score
        self._mention = mention
        self._required = required[mention.id]
        self._found = [each for each in own if each.score >= least]
        self._unsure = max((each.score for each in own if each.score < least), default=0.0)
        self._others = [
            required[other.id]
            for other in scene.mentions
            if other.head == mention.head and other.id != mention.id and not is_member(other)
        ]

    def verdicts(self) -> Iterator[MentionVerdict]:
        if self._required.quantity is not None:
            yield self._count(self._required.quantity)
        if self._required.colours:
            yield self._colour(self._required.colours)

    def _count(self, quantity: Quantity) -> MentionVerdict:
        counted, unclear = self._counted()
        low, high = len(counted), sum(each.most for each in counted) + unclear
        wanted = quantity if self._is_distinct else self._joint(quantity)
        possible = {wanted.allows(number) for number in range(low, high + 1)}
        doubt = None
        if not self._found:
            doubt = MentionDoubt.MISSING_OBJECT
        elif len(possible) > 1:
            doubt = MentionDoubt.CLOSE_COLOURS if unclear else MentionDoubt.UNSEPARATED
        elif high >= MOST_COUNTED and (quantity.most or quantity.least) > MOST_COUNTED:
            doubt = MentionDoubt.TOO_MANY
        elif not self._is_distinct and low > wanted.least and possible == {False}:
            doubt = MentionDoubt.INDISTINCT
        outcome = Outcome.PASS if possible == {True} else Outcome.FAIL
        sure = min((each.score for each in counted), default=1.0)
        confidence = min(sure, 1 - self._unsure)
        shown = counted, doubt
        return self._verdict(RequirementKind.COUNT, quantity.words, outcome, confidence, shown)

    @property
    def _is_distinct(self) -> bool:
        """Whether no other mention names the same kind of object, or colours distinguish them."""
        own = {each.terms for each in self._required.colours}
        return all(
            own and other.colours and own.isdisjoint(each.terms for each in other.colours)
            for other in self._others
        )

    def _counted(self) -> tuple[list[Instance], int]:
        """Return the instances that count, and the number of those that may count.

        Of several mentions of one kind of object, each counts the instances of its colours.
        """
        if not self._others or not self._is_distinct:
            return self._found, 0
        chances = [_chance(each, self._required.colours) for each in self._found]
        counted = [e for e, c in zip(self._found, chances, strict=True) if c >= HAS_COLOUR]
        return counted, sum(LACKS_COLOUR < chance < HAS_COLOUR for chance in chances)

    def _joint(self, quantity: Quantity) -> Quantity:
        """Return the number of instances of all mentions of this kind of object."""
        others = sum(each.quantity.least if each.quantity else 1 for each in self._others)
        most = None if quantity.most is None else quantity.most + others
        return Quantity(words=quantity.words, least=quantity.least + others, most=most)

    def _colour(self, colours: Sequence[Colour]) -> MentionVerdict:
        words = " and ".join(each.words for each in colours)
        chances = [_chance(each, colours) for each in self._found]
        has = [each for each, c in zip(self._found, chances, strict=True) if c >= HAS_COLOUR]
        unclear = [
            each
            for each, c in zip(self._found, chances, strict=True)
            if LACKS_COLOUR < c < HAS_COLOUR
        ]
        quantity = self._required.quantity
        wanted = quantity.least if quantity else 1
        doubt = None
        if not self._found:
            doubt = MentionDoubt.MISSING_OBJECT
        elif not any(each.colours for each in self._found):
            doubt = MentionDoubt.NO_MASK
        elif len(has) < min(wanted, len(self._found)) and unclear:
            is_several = any(_is_multicoloured(each) for each in unclear)
            doubt = MentionDoubt.MULTICOLOURED if is_several else MentionDoubt.CLOSE_COLOURS
        outcome = Outcome.PASS if len(has) >= min(wanted, len(self._found)) else Outcome.FAIL
        best = sorted(chances, reverse=True)[:wanted]
        sure = min(best, default=0.0) if outcome is Outcome.PASS else 1 - max(best, default=0.0)
        shown = has if outcome is Outcome.PASS else self._found
        return self._verdict(RequirementKind.COLOUR, words, outcome, sure, (shown, doubt))

    def _verdict(
        self,
        kind: RequirementKind,
        words: str,
        outcome: Outcome,
        confidence: float,
        measured: tuple[Sequence[Instance], MentionDoubt | None],
    ) -> MentionVerdict:
        shown, doubt = measured
        return MentionVerdict(
            mention_id=self._mention.id,
            kind=kind,
            words=words,
            outcome=Outcome.UNDECIDABLE if doubt else outcome,
            confidence=0.0 if doubt else confidence,
            count=len(shown),
            instances=tuple(shown),
            doubt=doubt,
        )


def _chance(instance: Instance, colours: Sequence[Colour]) -> float:
    """Return how clearly an instance has all required colours, [0, 1]."""
    shares = {each.term: each.share for each in instance.colours}
    if len(colours) == 1:
        return colour_chance(shares, colours[0].terms)
    parts = [sum(shares[term] for term in each.terms if term in shares) for each in colours]
    return min(min(parts) / LEAST_PART * HAS_COLOUR, 1.0)


def _is_multicoloured(instance: Instance) -> bool:
    return len(instance.colours) > 1 and instance.colours[1].share >= LEAST_SECOND
