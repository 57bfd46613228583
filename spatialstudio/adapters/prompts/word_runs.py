"""Analysis of a run of words that may name a thing: its name and the words that form it.

A run is a noun phrase if it contains a known noun, starts with an article or a number, or is next
to a relation, where only a thing can be. Trailing verbs are removed.
"""

from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.adapters.prompts.pieces import NounPhrase, Piece
from spatialstudio.adapters.prompts.verb_readings import (
    WordsInPlace,
    is_singular,
    looks_plural,
)
from spatialstudio.adapters.prompts.vocabulary import LONGEST_NOUN, Vocabulary
from spatialstudio.adapters.prompts.words import (
    ARTICLES,
    DETERMINERS,
    POSSESSIVE_ENDINGS,
    RELATIONS,
    Word,
    WordKind,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import TextSpan

OPENERS = {WordKind.STYLE, WordKind.SHOWING, WordKind.STOP, WordKind.COMMA, WordKind.AND}
OWNERS = {"his", "her", "its", "their"}
LIST_JOINERS = {WordKind.ROW, WordKind.COLON, WordKind.COMMA, WordKind.AND, WordKind.BE}
CLAIMING = (*RELATIONS, WordKind.FLANKING)
PLACING = (WordKind.RELATION, WordKind.FRAME)
HOLDING = (WordKind.WITH, WordKind.SHOWING)
SIDES = ("left ", "right ")
ONE = {"one", "ones"}
ASKING = {
    "what",
    "if",
    "when",
    "since",
    "where",
    "here",
    "how",
    "who",
    "this",
    "that",
    "everything",
    "all",
    "do",
    "does",
}
SINGULAR_BE = {"is", "was"}


@frozen(kw_only=False)
class WordRun(WordsInPlace):
    """A run of words that may name a thing, with its context."""

    def pieces(self, vocabulary: Vocabulary, latest: NounPhrase | None) -> Sequence[Piece]:
        """Split into the noun phrase, if any, and the verb that follows it."""
        found = self._known(vocabulary)
        is_known = found is not None
        if found is None and self._may_be_open(vocabulary):
            found = self._open(vocabulary)
        if found is None:
            return self._verb(self.words, vocabulary) or [self._gap()]
        start, stop, head = found
        if head in vocabulary.containers and self._is_holding():
            return []
        if head in ONE and latest is not None:
            head = latest.head
        span = TextSpan(start=self.words[0].span.start, stop=self.words[stop - 1].span.stop)
        phrase = NounPhrase(
            text=span.of(self.text),
            span=span,
            head=head,
            attributes=tuple(
                word.text
                for word in self.words[:start]
                if word.text.lower() not in vocabulary.numbers
            ),
            is_marked=self.determiner is not None or self.is_counted(start, vocabulary),
            is_definite=self.determiner is not None and self.determiner.kind is WordKind.DEFINITE,
            is_owned=self.determiner is not None and self.determiner.text.lower() in OWNERS,
            is_plural=self._is_plural(start, stop, head, vocabulary),
            is_known=is_known,
            is_person=vocabulary.is_person(head),
            is_actor=vocabulary.is_actor(head),
            is_place=head in vocabulary.places,
            is_surface=head in vocabulary.surfaces,
            is_collective=head in vocabulary.collectives,
            is_occasion=not is_known and head.split()[-1] in vocabulary.occasions,
            is_abstract=not is_known and head.split()[-1] in vocabulary.abstractions,
        )
        return [phrase, *self._verb(self.words[stop:], vocabulary)]

    def _gap(self) -> Word:
        """Return the gap that replaces words that are neither a thing nor a verb."""
        span = TextSpan(start=self.words[0].span.start, stop=self.words[-1].span.stop)
        return replace(self.words[-1], span=span)

    def _is_holding(self) -> bool:
        """Return True if dependents follow: "a field with ...", but not "a field of clover"."""
        is_of = self.after is not None and self.after.text.lower() == "of"
        return self.is_followed_by(*HOLDING) and not is_of

    def _is_plural(self, start: int, stop: int, head: str, vocabulary: Vocabulary) -> bool:
        counted = self.is_counted(start, vocabulary)
        last = self.words[stop - 1].text.lower().split()[-1]
        is_changed = last not in {head.split()[-1], *ONE}
        return counted or is_changed or head in vocabulary.pairs

    def is_qualified_by_place(self, vocabulary: Vocabulary) -> bool:
        """Return True if an apparent place in the picture is an attribute: "on the right foot"."""
        if not isinstance(self.before, Word) or self.before.kind is not WordKind.FRAME:
            return False
        first = self.words[0].text.lower()
        goes_on = first in vocabulary.trailing or vocabulary.is_verb(first)
        return not goes_on and self._known(vocabulary) is None

    def _known(self, vocabulary: Vocabulary) -> tuple[int, int, str] | None:
        """Find the last known noun, if only verbs and similar words follow it."""
        for stop in range(len(self.words), 0, -1):
            start = self._start_of_noun(stop, vocabulary)
            if start is not None:
                return self._with_compound(start, stop, vocabulary)
            if not self._may_trail(stop - 1, vocabulary):
                return None
        return None

    def _start_of_noun(self, stop: int, vocabulary: Vocabulary) -> int | None:
        for start in range(max(0, stop - LONGEST_NOUN), stop):
            if self._noun(start, stop, vocabulary) is not None:
                is_verb = stop - start == 1 and self.is_verb_here(start, vocabulary)
                return None if is_verb else start
        return None

    def _noun(self, start: int, stop: int, vocabulary: Vocabulary) -> str | None:
        words = [_without_side(word) for word in self.words[start:stop]]
        counted = self.is_counted(start, vocabulary)
        return vocabulary.noun(words, counted=counted)

    def _with_compound(self, start: int, stop: int, vocabulary: Vocabulary) -> tuple[int, int, str]:
        """Extend the head by the nouns directly before it: "delivery van"."""
        head = self._noun(start, stop, vocabulary)
        first = start
        while first > 0 and (length := self._length_of_name(first, head, vocabulary)):
            first -= length
        before = [word.text.lower() for word in self.words[first:start]]
        return first, stop, " ".join([*before, head or ""])

    def _length_of_name(self, stop: int, head: str | None, vocabulary: Vocabulary) -> int:
        """Count the words directly before ``stop`` that are part of a name."""
        for length in range(min(stop, LONGEST_NOUN), 1, -1):
            if self._noun(stop - length, stop, vocabulary) is not None:
                return length
        before = self.words[stop - 1]
        is_purpose = before.text.lower() in vocabulary.purposes and head not in vocabulary.actors
        return int(is_purpose or self._names(before, head, vocabulary))

    def _names(self, word: Word, head: str | None, vocabulary: Vocabulary) -> bool:
        """Return True if a word before the head is part of its name, as in "delivery van"."""
        lower = word.text.lower()
        if word.kind is not WordKind.WORD or lower in vocabulary.adjectives:
            return False
        if lower.endswith(POSSESSIVE_ENDINGS):
            return False
        if self._is_proper(word):
            return True
        if lower.endswith("ing") and lower in vocabulary.verbs and head not in vocabulary.actors:
            return True
        others = (vocabulary.trailing, vocabulary.numbers, vocabulary.acting_verbs)
        return not vocabulary.is_adjective(lower) and not any(lower in words for words in others)

    def _is_proper(self, word: Word) -> bool:
        """Return True if a word is capitalised as a proper name: "Volkswagen"."""
        starts_prompt = word.span.start == 0
        return word.text.istitle() and not starts_prompt

    def _may_trail(self, place: int, vocabulary: Vocabulary) -> bool:
        """Return True if a word may follow its noun: "a dog jumps", "a cat asleep"."""
        word = self.words[place]
        lower = word.text.lower()
        if word.kind is WordKind.FALSE_FRIEND or lower in vocabulary.trailing:
            return True
        if place == 0:
            return self._acts(lower, vocabulary)
        if self._is_object_of_one(place, vocabulary):
            return False
        before = self.words[place - 1].text.lower()
        is_described = place + 1 == len(self.words) and self.is_followed_by(*CLAIMING)
        if lower in vocabulary.adjectives:
            return is_described or self._acts(before, vocabulary)
        is_bare_plural = self.determiner is None and vocabulary.noun([before]) not in {None, before}
        is_verb_of_several = is_bare_plural and is_described
        is_verb_of_one = looks_plural(lower) and not self._ends_name_of_several(place, vocabulary)
        return is_verb_of_several or is_verb_of_one or self._acts(lower, vocabulary)

    def _ends_name_of_several(self, place: int, vocabulary: Vocabulary) -> bool:
        """Return True if an unknown plural ends a name: "four candle snuffers", "feather boas"."""
        before, text = (word.text.lower() for word in self.words[place - 1 : place + 1])
        is_strange = text not in vocabulary.verbs and vocabulary.noun([before]) == before
        return is_strange and (self.determiner is None or self.is_counted(place, vocabulary))

    def _is_object_of_one(self, place: int, vocabulary: Vocabulary) -> bool:
        """Return True if a base form ends a name: "near the opera program"."""
        before = self.words[place - 1].text.lower()
        is_object = isinstance(self.before, Word) and self.before.kind in RELATIONS
        is_one = vocabulary.noun([before]) == before and not looks_plural(before)
        is_base = self.words[place].text.lower() in vocabulary.base_verbs
        ends = place + 1 == len(self.words) and not self.is_followed_by(*DETERMINERS)
        acts = before in vocabulary.actors or before in vocabulary.pairs
        return is_object and is_one and is_base and ends and not acts

    def _acts(self, word: str, vocabulary: Vocabulary) -> bool:
        """Return True if a word is a verb here; after "a" its base form is not: "a bus stop"."""
        has_verb = self._is_said_to_be_one()
        is_noun = word in vocabulary.base_verbs and (has_verb or self._has_base_noun(vocabulary))
        return vocabulary.is_verb(word) and not is_noun

    def _has_base_noun(self, vocabulary: Vocabulary) -> bool:
        """Return True if a verb's base form is a noun here: not in "would a cat look"."""
        return self.is_one(vocabulary) and is_singular(self.determiner, self.before)

    def _may_be_open(self, vocabulary: Vocabulary) -> bool:
        words = [word.text.lower() for word in self.words]
        may_act = (vocabulary.is_verb(word) or word in vocabulary.trailing for word in words)
        is_idiom = all(word.kind is WordKind.FALSE_FRIEND for word in self.words)
        if (is_idiom or all(may_act)) and not self._is_named(vocabulary):
            return False
        if all(word in vocabulary.adjectives for word in words):
            return self._is_named(vocabulary)
        if self.determiner or self.words[0].text.lower() in vocabulary.numbers:
            return True
        if vocabulary.is_verb(self.words[-1].text):
            return False
        before = self.before.kind if isinstance(self.before, Word) else None
        if before in {WordKind.RELATION, WordKind.NOT}:
            return True
        if self.is_listed and before in LIST_JOINERS:
            return True
        opens = self.before is None or before in OPENERS
        is_described = self.is_followed_by(*PLACING) or self._is_subject(words)
        return opens and is_described

    def _is_subject(self, words: Sequence[str]) -> bool:
        """Return True if a name opens the clause: "gramps is behind the bar"."""
        return self.is_followed_by(WordKind.BE) and words[-1] not in ASKING

    def _is_named(self, vocabulary: Vocabulary) -> bool:
        """Return True if an article makes any word a noun: "a newlywed", "a novel"."""
        last = self.words[-1].text.lower()
        is_quality = last in vocabulary.qualities or last in vocabulary.trailing
        goes_on = self.is_followed_by(WordKind.AND, WordKind.COMMA, WordKind.BE)
        is_article = self.determiner is not None and self.determiner.kind in ARTICLES
        is_base = vocabulary.singular(last) in vocabulary.base_verbs
        is_noun = is_base or last.endswith("ing") or not goes_on
        return is_article and not is_quality and is_noun

    def _open(self, vocabulary: Vocabulary) -> tuple[int, int, str]:
        """Take adjectives as attributes and all words between them and the verbs as the head."""
        texts = [word.text.lower() for word in self.words]
        stop = len(texts)
        while stop > 1 and self._may_be_cut(stop - 1, vocabulary):
            stop -= 1
        if self._lacks_noun(texts, stop, vocabulary):
            stop += 1
        owners = [n for n in range(stop - 1) if texts[n].endswith(POSSESSIVE_ENDINGS)]
        start = max(owners, default=-1) + 1
        while start < stop - 1 and vocabulary.is_adjective(texts[start]):
            start += 1
        *before, last = texts[start:stop]
        is_one = self.is_one(vocabulary) or self._is_said_to_be_one()
        singular = last if is_one else vocabulary.singular(last)
        return start, stop, " ".join([*before, singular])

    def _is_said_to_be_one(self) -> bool:
        return self.after is not None and self.after.text.lower() in SINGULAR_BE

    def _lacks_noun(self, texts: Sequence[str], stop: int, vocabulary: Vocabulary) -> bool:
        """Return True if an apparent verb is the noun: "an enormous bloodshed"."""
        is_verb = stop < len(texts) and texts[stop].endswith(("s", "ing"))
        is_bare = not vocabulary.adjectives.issuperset(texts[:stop])
        return stop < len(texts) and self.determiner is not None and not (is_verb or is_bare)

    def _may_be_cut(self, place: int, vocabulary: Vocabulary) -> bool:
        word = self.words[place]
        lower = word.text.lower()
        is_trailing = word.kind is WordKind.FALSE_FRIEND or lower in vocabulary.trailing
        is_act_on = self.is_one(vocabulary) and looks_plural(lower) and place + 1 == len(self.words)
        is_verb = is_act_on and self.is_followed_by(*ARTICLES)
        return is_trailing or is_verb or self._acts(lower, vocabulary)

    def _verb(self, words: Sequence[Word], vocabulary: Vocabulary) -> list[Piece]:
        """Keep the last verb: it decides whether the following thing is placed or held."""
        for word in reversed(words):
            lower = word.text.lower()
            if lower in vocabulary.watching_verbs:
                return [replace(word, kind=WordKind.WATCHING)]
            if lower in vocabulary.placing_verbs:
                return [replace(word, kind=WordKind.PLACING)]
            if vocabulary.is_verb(lower) or looks_plural(lower):
                return [replace(word, kind=WordKind.VERB)]
        return []


def _without_side(word: Word) -> str:
    """Take the hand as the head of "left hand", a single word that looks like a place."""
    is_sided = word.kind is WordKind.FALSE_FRIEND and word.text.lower().startswith(SIDES)
    return word.text.split()[-1] if is_sided else word.text
