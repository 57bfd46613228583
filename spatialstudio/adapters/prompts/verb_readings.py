"""Disambiguation of verbs and nouns by context: "a hunter watches", "two watches"."""

from spatialstudio.adapters.prompts.pieces import Piece
from spatialstudio.adapters.prompts.vocabulary import Vocabulary
from spatialstudio.adapters.prompts.words import (
    ARTICLES,
    CLAUSE_BOUNDS,
    DETERMINERS,
    PRONOUNS,
    RELATIONS,
    Word,
    WordKind,
)
from spatialstudio.domain.frozen import frozen

SINGULAR_ARTICLES = {"a", "an"}
SUBJECT_PRONOUNS = {WordKind.IT, WordKind.THEM}
MODALS = {"would", "could", "can", "should", "will", "do", "does", "did", "let"}


@frozen(kw_only=False)
class WordsInPlace:
    """A run of words with its context.

    Attributes:
        text: The prompt.
        words: The run.
        determiner: The determiner that opens it.
        before: The piece before that.
        after: The word that follows.
        is_listed: Whether words that order a list precede it.
    """

    text: str
    words: tuple[Word, ...]
    determiner: Word | None
    before: Piece | None
    after: Word | None
    is_listed: bool = False

    def is_verb_here(self, place: int, vocabulary: Vocabulary) -> bool:
        """Return True if a possible noun is a verb: "a hunter watches", "watches a dog"."""
        text = self.words[place].text.lower()
        if place == 0 and (self._is_imperative(vocabulary) or self._is_doing(vocabulary)):
            return True
        if self._is_second_act(vocabulary) or self._is_seen(place, vocabulary):
            return True
        if self._agrees(place, vocabulary):
            return True
        if text not in vocabulary.verbs or text in vocabulary.nouns:
            return False
        if self._tells(place):
            return True
        if place == 0:
            return self.determiner is None and self.is_followed_by(*ARTICLES)
        before = self.words[place - 1].text.lower()
        ends = place + 1 == len(self.words) and (
            self.after is None or self.is_followed_by(*CLAUSE_BOUNDS)
        )
        is_actor = before in vocabulary.actors or vocabulary.is_person(before)
        return is_actor or (not ends and vocabulary.noun([before]) is not None)

    def _is_seen(self, place: int, vocabulary: Vocabulary) -> bool:
        """Return True if a relative clause makes a word a verb: "that the hunters saw was"."""
        is_behind = isinstance(self.before, Word) and self.before.kind is WordKind.RELATIVE
        is_behind = is_behind or (self.before is None and self.is_followed_by(*DETERMINERS))
        acts = place > 0 and vocabulary.noun([self.words[place - 1].text]) in vocabulary.actors
        return is_behind and acts and self.words[place].text.lower() in vocabulary.verbs

    def _agrees(self, place: int, vocabulary: Vocabulary) -> bool:
        """Return True if agreement makes a word a verb: "a bidder sails", "a few lambs rest"."""
        if place == 0:
            return False
        text, before = (self.words[n].text.lower() for n in (place, place - 1))
        if self.is_one(vocabulary):
            return text in vocabulary.verbs and looks_plural(text) and text not in vocabulary.nouns
        is_fronted = isinstance(self.before, Word) and self.before.kind is WordKind.RELATION
        if is_fronted and self.is_followed_by(*ARTICLES) and text in vocabulary.verbs:
            return True
        is_base = text in vocabulary.base_verbs and text in vocabulary.nouns
        is_plural = vocabulary.noun([before]) not in {None, before}
        return is_base and is_plural and self.is_followed_by(*RELATIONS, *ARTICLES, *PRONOUNS)

    def is_one(self, vocabulary: Vocabulary) -> bool:
        """Return True if the phrase is singular: "a cat", but not "a few cats"."""
        counted = self.is_counted(len(self.words), vocabulary)
        return is_singular(self.determiner, None) and not counted

    def _tells(self, place: int) -> bool:
        """Return True if a verb is expected at a position: "that towers", "partly blocks"."""
        if place > 0:
            return self.words[place - 1].text.lower().endswith("ly")
        is_behind = isinstance(self.before, Word) and self.before.kind is WordKind.RELATIVE
        return is_behind and self.determiner is None

    def _is_imperative(self, vocabulary: Vocabulary) -> bool:
        """Return True if a word is an imperative or a title: "Picture a cat", "Painting a cat"."""
        before = self.before
        opens = before is None or (isinstance(before, Word) and before.kind is WordKind.STOP)
        is_bare = self.determiner is None and len(self.words) == 1
        first = self.words[0].text.lower()
        orders = first in vocabulary.base_verbs or (
            first.endswith("ing") and first in vocabulary.verbs
        )
        is_thing_next = self.is_followed_by(*DETERMINERS) or (
            self.after is not None and self.after.text.lower() in vocabulary.numbers
        )
        return opens and is_bare and orders and is_thing_next

    def _is_second_act(self, vocabulary: Vocabulary) -> bool:
        """Return True if a bare word after "and" is a verb: "... and cook like a pro"."""
        is_joined = isinstance(self.before, Word) and self.before.kind is WordKind.AND
        is_bare = self.determiner is None and len(self.words) == 1
        acts = self.words[0].text.lower() in vocabulary.base_verbs
        goes_on = self.is_followed_by(*ARTICLES, *PRONOUNS) or (
            self.after is not None and self.after.text.lower() == "like"
        )
        return is_joined and is_bare and acts and goes_on

    def _is_doing(self, vocabulary: Vocabulary) -> bool:
        """Return True if the first word is an action: "is painting a", "he saw a"."""
        is_after_be = isinstance(self.before, Word) and self.before.kind is WordKind.BE
        is_behind_one = isinstance(self.before, Word) and self.before.kind in SUBJECT_PRONOUNS
        first = self.words[0].text.lower()
        is_verb = (is_after_be and first.endswith("ing")) or (
            is_behind_one and first in vocabulary.verbs
        )
        return is_verb and self.determiner is None and self.is_followed_by(*ARTICLES)

    def is_followed_by(self, *kinds: WordKind) -> bool:
        """Return True if a word of one of these kinds follows."""
        return self.after is not None and self.after.kind in kinds

    def is_counted(self, stop: int, vocabulary: Vocabulary) -> bool:
        """Return True if a number precedes a word."""
        return any(word.text.lower() in vocabulary.numbers for word in self.words[:stop])


def looks_plural(word: str) -> bool:
    """Return True if a word may be a plural, or a verb in the third person singular."""
    return word.endswith("s") and not word.endswith(("ss", "us", "is"))


def is_singular(determiner: Word | None, before: Piece | None) -> bool:
    """Return True if the phrase is singular, so that its verb ends in "s".

    After "and" it may be the last of several, and after "would" its verb has no ending.
    """
    is_article = determiner is not None and determiner.text.lower() in SINGULAR_ARTICLES
    if not isinstance(before, Word):
        return is_article
    is_asked = before.text.lower() in MODALS
    return is_article and before.kind is not WordKind.AND and not is_asked
