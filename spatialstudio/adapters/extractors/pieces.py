"""A place in a row of pieces, and what stands there and ahead."""

from collections.abc import Sequence

from spatialstudio.adapters.extractors.noun_phrases import PRONOUNS, NounPhrase, Piece
from spatialstudio.adapters.extractors.words import Word, WordKind

JOINERS = {WordKind.AND, WordKind.COMMA}
CLAUSE_STARTS = (WordKind.RELATION, WordKind.FRAME, WordKind.BE, WordKind.NOT)

Thing = NounPhrase | Word
"""A noun phrase, or a pronoun that stands for one."""


class Pieces:
    """The pieces of one prompt with a reading position."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._position = 0

    @property
    def is_done(self) -> bool:
        """Whether all pieces were taken."""
        return self._position >= len(self._pieces)

    def take_word(self) -> Word:
        """Take the word at hand."""
        word = self._pieces[self._position]
        assert isinstance(word, Word)
        self._position += 1
        return word

    def take_phrase(self) -> NounPhrase | None:
        """Take the noun phrase at hand; None when something else is."""
        if self.is_done or not isinstance(phrase := self._pieces[self._position], NounPhrase):
            return None
        self._position += 1
        return phrase

    def take_subjects(self) -> list[Thing]:
        """Take the things that "and" or commas join.

        A comma alone starts a clause: in "a cat and a dog, a bird above them" the bird waits.
        """
        places = self._joined_things()
        if len(places) > 1 and self._is_at(places[-1] - 1, WordKind.COMMA):
            places.pop()
        return self._take(places)

    def take_objects(self, at_most: int) -> list[Thing]:
        """Take the things that belong to one relation.

        "left of a dog and a lamp" has two objects, but in "left of a dog and a lamp above a car"
        the lamp starts a clause; a comma alone joins no objects.
        """
        places = self._joined_things()
        if not places:
            return []
        after = places[-1] + 1
        starts_clause = self._is_at(after, *CLAUSE_STARTS) and not self._is_inverted_at(after)
        joined_by_and = [
            n for n, place in enumerate(places) if self._is_at(place - 1, WordKind.AND)
        ]
        count = 1 + max(joined_by_and, default=0)
        if starts_clause and count == len(places):
            count = 1
        return self._take(places[: max(count, 1)][:at_most])

    def skip(self, *kinds: WordKind) -> None:
        """Pass over words of these kinds."""
        while self.is_at(*kinds):
            self._position += 1

    def is_at(self, *kinds: WordKind) -> bool:
        """Tell whether a word of one of these kinds is at hand."""
        return self._is_at(self._position, *kinds)

    def is_at_thing(self) -> bool:
        """Tell whether a noun phrase or a pronoun is at hand."""
        return self._is_thing_at(self._position)

    def is_at_joined_relation(self) -> bool:
        """Tell whether "and" and a relation are at hand: "... and left of"."""
        return self.is_at(*JOINERS) and self._is_at(self._position + 1, WordKind.RELATION)

    def is_inverted(self) -> bool:
        """Tell whether a subject follows its place: "... stands a horse", "... a horse"."""
        return self._is_inverted_at(self._position)

    def _joined_things(self) -> list[int]:
        places = []
        place = self._position
        while self._is_thing_at(place):
            places.append(place)
            place += 1
            while self._is_at(place, *JOINERS):
                place += 1
        return places

    def _take(self, places: Sequence[int]) -> list[Thing]:
        if places:
            self._position = places[-1] + 1
        return [self._pieces[place] for place in places]

    def _is_at(self, place: int, *kinds: WordKind) -> bool:
        if place >= len(self._pieces):
            return False
        piece = self._pieces[place]
        return isinstance(piece, Word) and piece.kind in kinds

    def _is_thing_at(self, place: int) -> bool:
        if place >= len(self._pieces):
            return False
        return isinstance(self._pieces[place], NounPhrase) or self._is_at(place, *PRONOUNS)

    def _is_inverted_at(self, place: int) -> bool:
        return self._is_thing_at(place + 1 if self._is_at(place, WordKind.BE) else place)
