"""What "the cup", "the second cup" and "the two cups" point back to."""

from collections.abc import Collection, Sequence

from spatialstudio.adapters.extractors.pieces import NounPhrase
from spatialstudio.domain.ordinals import CARDINALS, ORDINALS
from spatialstudio.domain.prompt import MentionId, ObjectMention

Mentions = Sequence[ObjectMention]

SAMENESS = {"same", "very", "said", "aforementioned"}
LAST, OTHER = "last", "other"
PLACES = {**{word: place for place, word in enumerate(ORDINALS)}, LAST: -1}
TELLING_APART = {*PLACES, OTHER}


def antecedents(
    phrase: NounPhrase,
    named: Mentions,
    apart_from: Collection[MentionId],
    topic: Collection[MentionId],
) -> Mentions:
    """Find what a definite phrase points back to; nothing where it is new.

    Args:
        phrase: "the cup".
        named: All mentions before, in order of the text.
        apart_from: What it hardly means, since that stands on the other side of the relation, or
            in the same list: "between the cup and the cup".
        topic: What was spoken of before; "the other cup" is not among that.
    """
    if phrase.is_member:
        return _same_member(phrase, named, apart_from)
    attributes = {each.lower() for each in phrase.attributes} - SAMENESS
    alike = _alike(phrase, attributes, named)
    if not alike and attributes & TELLING_APART:
        return _told_apart(phrase, attributes, named, topic)
    if phrase.is_plural and not any(each.is_plural for each in alike):
        return _taken_together(phrase, alike)
    free = [each for each in alike if each.id not in apart_from] or alike
    return free[-1:]


def _alike(phrase: NounPhrase, attributes: set[str], named: Mentions) -> Mentions:
    """List what a name fits best: a cup, or else a red cup, two cups, or a coffee cup."""
    fitting = [each for each in named if attributes <= _attributes(each)]
    same = [each for each in fitting if each.head == phrase.head]
    of_number = [each for each in same if each.is_plural == phrase.is_plural]
    exact = [each for each in of_number if attributes == _attributes(each)]
    longer = [each for each in fitting if each.head.endswith(f" {phrase.head}")]
    return exact or of_number or same or longer


def _same_member(
    phrase: NounPhrase, named: Mentions, apart_from: Collection[MentionId]
) -> Mentions:
    """Find "the first" of the same several: "two cups, the first near a jar, ... the first"."""
    alike = [each for each in named if each.head == phrase.head]
    start = max((n for n, each in enumerate(alike) if each.is_plural), default=0)
    name = _member_name(phrase.text)
    return [
        each
        for each in alike[start:]
        if _member_name(each.phrase) == name and each.id not in apart_from
    ]


def _member_name(text: str) -> str:
    return text.lower().removesuffix(" one")


def _taken_together(phrase: NounPhrase, alike: Mentions) -> Mentions:
    """Take things named one by one for "the two cups"; of more than two the latest."""
    first = phrase.text.lower().split()[0]
    wanted = CARDINALS.index(first) + 1 if first in CARDINALS else len(alike)
    return alike[-wanted:] if wanted <= len(alike) else ()


def _told_apart(
    phrase: NounPhrase, attributes: set[str], named: Mentions, topic: Collection[MentionId]
) -> Mentions:
    """Find "the second cup" and "the other cup", where there are at least two."""
    alike = [
        each
        for each in _alike(phrase, attributes - TELLING_APART, named)
        if each.is_plural == phrase.is_plural and not _attributes(each) & TELLING_APART
    ]
    if len(alike) == 1:
        return ()
    if OTHER in attributes:
        others = [each for each in alike if each.id not in topic]
        return others if len(others) == 1 else ()
    place = next(PLACES[word] for word in attributes if word in PLACES)
    return alike[place:][:1]


def _attributes(mention: ObjectMention) -> set[str]:
    return {each.lower() for each in mention.attributes}
