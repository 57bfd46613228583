"""Reference resolution: new mentions, earlier mentions and pronouns."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from spatialstudio.adapters.prompts.pieces import NounPhrase
from spatialstudio.adapters.prompts.words import Word, WordKind
from spatialstudio.domain.scene import (
    CARDINALS,
    NUMBERED,
    ORDINALS,
    MentionId,
    Note,
    ObjectMention,
    TextSpan,
)

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
    """Find the antecedents of a definite phrase; empty if it is a new mention.

    Args:
        phrase: "the cup".
        named: All earlier mentions, in text order.
        apart_from: Unlikely antecedents: the other end of the relation, or items of
            the same list: "between the cup and the cup".
        topic: The current topic, which "the other cup" excludes.
    """
    if phrase.is_member:
        return _same_member(phrase, named, apart_from)
    attributes = {each.lower() for each in phrase.attributes} - SAMENESS
    alike = _alike(phrase, attributes, named)
    if not alike and attributes & TELLING_APART:
        return _distinguished(phrase, attributes, named, topic)
    if phrase.is_plural and not any(each.is_plural for each in alike):
        return _taken_together(phrase, alike)
    free = [each for each in alike if each.id not in apart_from] or alike
    return free[-1:]


def _alike(phrase: NounPhrase, attributes: set[str], named: Mentions) -> Mentions:
    """Return the best matches of a name: a cup, else a red cup, two cups, or a coffee cup."""
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
    """Collect things named separately for "the two cups"; of more than two, the latest."""
    first = phrase.text.lower().split()[0]
    wanted = CARDINALS.index(first) + 1 if first in CARDINALS else len(alike)
    return alike[-wanted:] if wanted <= len(alike) else ()


def _distinguished(
    phrase: NounPhrase, attributes: set[str], named: Mentions, topic: Collection[MentionId]
) -> Mentions:
    """Resolve "the second cup" and "the other cup" if there are at least two."""
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


Ends = tuple[MentionId, ...]

ALTERNATIVE = "alternative "

PERSONAL = {"he", "she", "him", "her", "his"}


class References:
    """The mentions of one prompt.

    Attributes:
        mentions: In text order.
        notes: Notes on pronouns that were guessed or not resolved.
        alternatives: Things of which only one is meant, without saying which.
        passed_over: Things placed relative to a pronoun; unlikely antecedents of the next one.
    """

    def __init__(self) -> None:
        self.mentions: list[ObjectMention] = []
        self.notes: list[Note] = []
        self.passed_over: set[MentionId] = set()
        self.alternatives: list[TextSpan] = []
        self._named_again: dict[MentionId, list[TextSpan]] = {}
        self._plurals: set[MentionId] = set()
        self._persons: set[MentionId] = set()
        self._actors: set[MentionId] = set()
        self._places: set[MentionId] = set()
        self._placed: set[MentionId] = set()
        self._collectives: set[MentionId] = set()
        self._groups: list[Ends] = []
        self._pair: Ends = ()

    @property
    def mentioned(self) -> tuple[ObjectMention, ...]:
        """The mentions, each with all spans where it is named again."""
        return tuple(
            replace(each, named_again=tuple(dict.fromkeys(self._named_again[each.id])))
            for each in self.mentions
        )

    @property
    def latest(self) -> Ends:
        """The most recently added mention, if any."""
        return tuple(mention.id for mention in self.mentions[-1:])

    def refer(self, phrase: NounPhrase, apart_from: Ends = (), topic: Ends = ()) -> Ends:
        """Resolve a phrase with "the" or a bare name, or add a new mention.

        Args:
            phrase: "the cup"; "the two cups" may refer to several mentions.
            apart_from: Unlikely antecedents: the other end of the relation, or list items.
            topic: The current topic, which "the other cup" excludes.
        """
        if phrase.is_alternative:
            self.alternatives.append(phrase.span)
            alternative = MentionId(f"{ALTERNATIVE}{len(self.alternatives)}")
            self._actors.update([alternative] if phrase.is_actor else [])
            return (alternative,)
        earlier = (
            antecedents(phrase, self.mentions, apart_from, topic)
            if phrase.is_definite
            else self._by_name(phrase)
        )
        if not earlier:
            return (self._enter(phrase),)
        if len(earlier) == 1:
            self._named_again[earlier[0].id].append(phrase.span)
        return tuple(each.id for each in earlier)

    def place(self, ends: Ends) -> None:
        """Record placed things: the same name again, without an article, is the same thing."""
        self._placed.update(ends)

    def is_several(self, mention: MentionId) -> bool:
        """Return True if a mention names several things: "two cats"."""
        return mention in self._plurals or mention in self._collectives

    def is_place(self, mention: MentionId) -> bool:
        """Return True if a mention is a place rather than a thing: "a valley"."""
        return mention in self._places

    def acts(self, ends: Ends) -> bool:
        """Return True if all of these can act: persons and animals."""
        return self._actors.issuperset(ends)

    def suits(self, pronoun: Word, mention: MentionId) -> bool:
        """Return True if a pronoun may refer to a thing: "him" to a person, if there is one."""
        wanted = _is_personal(pronoun)
        others = {each.id in self._persons for each in self.mentions}
        is_one = not self.is_several(mention) or all(each.is_plural for each in self.mentions)
        return is_one and (wanted not in others or (mention in self._persons) is wanted)

    def group(self, ends: Ends) -> None:
        """Record things named together, for "them"; one mention may name several."""
        if len(ends) > 1 or any(map(self.is_several, ends)):
            self._groups.append(ends)

    def pass_over(self, placed: Ends) -> None:
        """Record things that were placed relative to a pronoun."""
        self.passed_over.update(placed)

    def stand_for(self, pronoun: Word, subjects: Ends, host: Ends = (), topic: Ends = ()) -> Ends:
        """Resolve a pronoun.

        Args:
            pronoun: "itself" is the subjects, "them" the latest group, "it" one other thing.
            subjects: Subjects of its clause, to which only "itself" can refer.
            host: Antecedent of "it" by syntax: the owner in "a house with a tree behind it".
            topic: Most likely antecedent of "it", such as the previous subject in "to its left".
        """
        if pronoun.kind is WordKind.ITSELF:
            return subjects
        others = [mention for mention in self.mentions if mention.id not in subjects]
        if pronoun.kind is WordKind.FORMER:
            self._pair = self._latest_pair(others)
            ends = self._pair[:1]
        elif pronoun.kind is WordKind.LATTER:
            ends, self._pair = (self._pair or self._latest_pair(others))[-1:], ()
        elif pronoun.kind is WordKind.THEM:
            ends = self._latest_group(subjects) or tuple(mention.id for mention in others)
        else:
            ends = host or self._likely(pronoun, others, topic)
        if not ends:
            self._note(f'I do not know what "{pronoun.text}" stands for.', pronoun)
        return ends

    def _enter(self, phrase: NounPhrase) -> MentionId:
        """Add a new mention."""
        mention = ObjectMention(
            id=MentionId(f"{NUMBERED}{len(self.mentions) + 1}"),
            phrase=phrase.text,
            head=phrase.head,
            attributes=phrase.attributes,
            is_plural=phrase.is_plural,
            span=phrase.span,
        )
        self.mentions.append(mention)
        self._named_again[mention.id] = []
        if mention.is_plural:
            self._plurals.add(mention.id)
        if phrase.is_person:
            self._persons.add(mention.id)
        if phrase.is_actor:
            self._actors.add(mention.id)
        if phrase.is_collective:
            self._collectives.add(mention.id)
        if phrase.is_place:
            self._places.add(mention.id)
        return mention.id

    def _latest_group(self, apart_from: Ends) -> Ends:
        groups = (g for g in reversed(self._groups) if not set(g) & set(apart_from))
        return next(groups, ())

    def _latest_pair(self, others: Sequence[ObjectMention]) -> Ends:
        return self._latest_group(()) or tuple(mention.id for mention in others[-2:])

    def _likely(self, pronoun: Word, others: Sequence[ObjectMention], topic: Ends) -> Ends:
        """Return the topic, else the latest mention that was not itself placed by a pronoun."""
        free = [each for each in others if each.id not in self.passed_over] or others
        fitting = [each for each in free if self.suits(pronoun, each.id)] or free
        chosen = [each for each in others if each.id in topic] or fitting[-1:]
        if len(fitting) > 1:
            self._note(f'I read "{pronoun.text}" as "{chosen[0].phrase}".', pronoun)
        return tuple(mention.id for mention in chosen)

    def _by_name(self, phrase: NounPhrase) -> Sequence[ObjectMention]:
        """Find the dog in "cat left of dog, dog left of bird"."""
        if phrase.is_marked:
            return ()
        name = (phrase.head, phrase.attributes, phrase.is_plural)
        alike = [
            earlier
            for earlier in self.mentions
            if (earlier.head, earlier.attributes, earlier.is_plural) == name
            and earlier.id in self._placed
        ]
        return alike[-1:]

    def _note(self, message: str, word: Word) -> None:
        self.notes.append(Note(message=message, span=word.span))


def _is_personal(pronoun: Word) -> bool:
    return bool(PERSONAL & set(pronoun.text.lower().split()))
