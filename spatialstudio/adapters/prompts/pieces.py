"""Pieces of a prompt, and a reader over them with lookahead."""

from collections.abc import Sequence

from spatialstudio.adapters.prompts.words import (
    CLAUSE_BOUNDS,
    JOINERS,
    PRONOUNS,
    Claim,
    Word,
    WordKind,
    claim_of,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import NEAR, TextSpan

CLAIMS = (WordKind.RELATION, WordKind.UNREAD, WordKind.FRAME, WordKind.BE, WordKind.NOT)
VERBS = (WordKind.VERB, WordKind.PLACING, WordKind.WATCHING)
NEUTER = "it"
NOMINATIVE = {"he", "she", "they"}


@frozen
class NounPhrase:
    """A run of words that names a thing.

    Attributes:
        text: As written, without the article.
        span: Place in the prompt.
        head: The head noun, singular, lower case.
        attributes: The words before the head.
        is_marked: Whether it starts with a determiner.
        is_definite: Whether it may refer back: "the dog".
        is_owned: Whether it belongs to an earlier mention: "her hat".
        is_plural: Whether it names several: "two sheep", "dogs".
        is_member: Whether it is one of several named before: "the other", "the first one".
        is_known: Whether the head is in the vocabulary.
        is_person: Whether "he" or "she" may refer to it.
        is_actor: Whether it can act: a person, an animal, or a group of them.
        is_place: Whether it names a place when a preposition precedes it: "in a park".
        is_occasion: Whether it names an event: "a mission".
        is_abstract: Whether it names something invisible: "tax".
        is_surface: Whether things can be on that place: "on a lake".
        is_collective: Whether one word names several, so "them" may refer to it: "a couple".
        is_alternative: Whether it is one of several alternatives: "a cat or a dog".
    """

    text: str
    span: TextSpan
    head: str
    attributes: tuple[str, ...]
    is_marked: bool
    is_definite: bool
    is_owned: bool
    is_plural: bool
    is_known: bool
    is_person: bool
    is_actor: bool
    is_place: bool
    is_surface: bool
    is_occasion: bool
    is_abstract: bool
    is_member: bool = False
    is_collective: bool = False
    is_alternative: bool = False


Piece = Word | NounPhrase
Thing = NounPhrase | Word
"""A noun phrase, or a pronoun in its place."""


def is_word(piece: Piece | None, *kinds: WordKind) -> bool:
    """Return True if a piece is a word of one of these kinds."""
    return isinstance(piece, Word) and piece.kind in kinds


class Pieces:
    """The pieces of one prompt with a reading position."""

    def __init__(self, pieces: Sequence[Piece]) -> None:
        self._pieces = pieces
        self._position = 0

    @property
    def is_done(self) -> bool:
        """Whether all pieces were consumed."""
        return self._position >= len(self._pieces)

    def take_word(self) -> Word:
        """Consume the next word."""
        word = self._pieces[self._position]
        assert isinstance(word, Word)
        self._position += 1
        return word

    def take_phrase(self) -> NounPhrase | None:
        """Consume the next noun phrase; None if the next piece is something else."""
        if self.is_done or not isinstance(phrase := self._pieces[self._position], NounPhrase):
            return None
        self._position += 1
        return phrase

    def take_dependents(self) -> list[Thing]:
        """Consume the dependents of a thing: the whole list before "it", else the first.

        So in "a fire with a man and a dog beside it" both, in "a man with a hat and a dog" the hat.
        """
        places = self._one_list(self._joined_things())
        behind = places[-1] + 1 if places else self._position
        shares_it = self._is_against_it(behind) or self._is_at(behind, WordKind.FLANKING)
        return self._take(places if shares_it else places[:1])

    def take_subjects(self) -> list[Thing]:
        """Consume things joined by "and" or commas.

        A comma alone starts a clause: in "a cat and a dog, a bird above them" the bird is left, but
        not in "a cat, a dog, a bird from left to right".
        """
        places = self._one_list(self._joined_things())
        if len(places) > 1 and self._is_row_at(places[-1] + 1):
            return self._take(places)
        if len(places) > 1 and (
            self._is_at(places[-1] - 1, WordKind.COMMA) or self._starts_sentence(places[-1])
        ):
            places.pop()
        return self._take(places)

    def take_list(self) -> list[Thing]:
        """Consume the things of an ordered list, which may be joined by commas only."""
        return self._take(self._one_list(self._joined_things()))

    def take_objects(self, at_most: int) -> list[Thing]:
        """Consume the objects of one relation.

        "left of a dog and a lamp" has two objects, but in "left of a dog and a lamp above a car"
        the lamp starts a clause; a comma alone joins no objects.
        """
        places = self._joined_things()
        if not places:
            return []
        starts_clause = self._claims_at(places[-1] + 1) or self._is_subject_pronoun(places[-1])
        joined_by_and = [
            n for n, place in enumerate(places) if self._is_at(place - 1, WordKind.AND)
        ]
        if starts_clause and joined_by_and[-1:] == [len(places) - 1]:
            joined_by_and.pop()
        count = 1 + max(joined_by_and, default=0)
        return self._take(places[:count][:at_most])

    def take_claims(self) -> list[Claim]:
        """Consume relations with the same ends: "in front of and left of", "left of, behind"."""
        claims = [claim_of(self.take_word())]
        while self.is_at_joined_relation():
            self.skip(*JOINERS)
            claims.append(claim_of(self.take_word()))
        if len(claims) > 1 and self.is_at_set_off_thing:
            self.skip(WordKind.COMMA)
        return claims

    def skip(self, *kinds: WordKind) -> None:
        """Skip words of these kinds."""
        while self.is_at(*kinds):
            self._position += 1

    def is_at(self, *kinds: WordKind) -> bool:
        """Return True if the next piece is a word of one of these kinds."""
        return self._is_at(self._position, *kinds)

    def is_behind(self, *kinds: WordKind) -> bool:
        """Return True if the previous piece is a word of one of these kinds."""
        return self._position > 0 and self._is_at(self._position - 1, *kinds)

    def is_at_thing(self) -> bool:
        """Return True if the next piece is a noun phrase or a pronoun."""
        return self._is_thing_at(self._position)

    @property
    def is_at_relative(self) -> bool:
        """Whether "which" is next: "a bridge under which ..."."""
        if not self.is_at(WordKind.IT, WordKind.ITS):
            return False
        words = self._pieces[self._position].text.lower().split()
        return any(word.startswith("wh") for word in words)

    @property
    def is_at_nearness(self) -> bool:
        """Whether a word such as "next to" is next, which places the subject of a clause."""
        piece = None if self.is_done else self._pieces[self._position]
        return isinstance(piece, Word) and piece.relation_type is NEAR

    @property
    def is_at_set_off_thing(self) -> bool:
        """Whether a comma and a thing are next: "left of it, a dog"."""
        return self.is_at(WordKind.COMMA) and self._is_thing_at(self._position + 1)

    @property
    def is_at_several_set_off(self) -> bool:
        """Whether several things and a comma are next: "two hills, and a bird ..."."""
        piece = None if self.is_done else self._pieces[self._position]
        is_several = isinstance(piece, NounPhrase) and piece.is_plural
        return is_several and self._is_at(self._position + 1, WordKind.COMMA)

    @property
    def is_behind_posture(self) -> bool:
        """Whether the previous piece is a posture or activity: "people waiting"."""
        return self.is_behind(*VERBS) and self._pieces[self._position - 1].text.endswith("ing")

    @property
    def is_at_placed_by_another(self) -> bool:
        """Whether the agent who placed the preceding thing is next: "that a man put on ..."."""
        return (
            self.is_at_thing()
            and self._is_at(self._position + 1, WordKind.PLACING)
            and not self._is_thing_at(self._position + 2)
        )

    @property
    def is_at_new_thing(self) -> bool:
        """Whether "there is" and a thing are next."""
        if not self.is_at(WordKind.BE):
            return False
        is_there = self._pieces[self._position].text.lower().startswith("there")
        return is_there and self._is_thing_at(self._position + 1)

    @property
    def is_at_adverbial(self) -> bool:
        """Whether a thing and a comma follow a single word: "in a barn, ..."."""
        is_set_off = self._is_at(self._position + 1, WordKind.COMMA)
        return self.is_behind_clause_start and self.is_at_thing() and is_set_off

    @property
    def is_at_own_part(self) -> bool:
        """Whether a body part of an earlier mention is next: "his shoulder"."""
        piece = None if self.is_done else self._pieces[self._position]
        return isinstance(piece, NounPhrase) and piece.is_owned and piece.is_place

    @property
    def is_at_finite_verb(self) -> bool:
        """Whether a finite verb such as "barks" is next, which has its own subject."""
        return self.is_at(*VERBS) and self._pieces[self._position].text.lower().endswith("s")

    def is_at_joined_relation(self) -> bool:
        """Return True if "and" and a relation are next: "... and left of"."""
        return self._is_at(self._behind_joiners, WordKind.RELATION) and self.is_at(*JOINERS)

    @property
    def is_at_clause_start(self) -> bool:
        """Whether nothing of the current clause was consumed yet."""
        return self._starts_clause_at(self._position)

    @property
    def is_behind_clause_start(self) -> bool:
        """Whether one word of the current clause was consumed."""
        return self._starts_clause_at(self._position - 1)

    def is_subject_ahead(self, *, after_verb: bool) -> bool:
        """Return True if a subject follows its place: "... stands a horse", "... a horse".

        Args:
            after_verb: Whether any verb or a colon may precede it, or only forms of "be".
        """
        place = self._position
        if (
            after_verb
            and self._is_at(place, WordKind.COMMA)
            and self._is_at(place + 1, WordKind.BE)
        ):
            place += 1
        while after_verb and self._is_at(place, *VERBS, WordKind.COLON, WordKind.BE):
            place += 1
        return self._is_inverted_at(place)

    def _starts_clause_at(self, place: int) -> bool:
        return place < 1 or self._is_at(place - 1, *CLAUSE_BOUNDS)

    def _one_list(self, places: list[int]) -> list[int]:
        """Truncate a list after the thing joined by "and"; a further one starts a clause."""
        ends = [n for n, place in enumerate(places) if self._is_joined_at(place)]
        is_new_clause = ends[1:] and self._is_at(places[ends[1]] - 2, WordKind.COMMA)
        if is_new_clause:
            return places[: ends[1]]
        return places[: ends[-1] + 1] if ends else places

    def _is_joined_at(self, place: int) -> bool:
        """Return True if "and" joins a thing, unlike "and then", which continues a list."""
        is_joined = self._is_at(place - 1, WordKind.AND)
        return is_joined and self._pieces[place - 1].text.lower() != "then"

    def _claims_at(self, place: int) -> bool:
        """Return True if a claim about the preceding thing follows: "... a lamp shining above"."""
        after = place
        while self._is_at(after, *VERBS):
            after += 1
        acts = after > place and self._is_thing_at(after)
        return acts or (self._is_at(after, *CLAIMS) and not self._is_inverted_at(after))

    def _starts_sentence(self, place: int) -> bool:
        """Return True if a thing after "and" has its own verb: "..., and a dog sits"."""
        is_set_off = self._is_at(place - 2, WordKind.COMMA)
        is_behind_be = self._is_at(self._position - 1, WordKind.BE)
        has_verb = (is_set_off or is_behind_be) and self._is_singular_verb_at(place + 1)
        return has_verb or (self._position == 0 and self._is_against_it(place + 1))

    def _is_against_it(self, place: int) -> bool:
        """Return True if "behind it" follows, where "it" can only be the latest mention."""
        return self._is_at(place, WordKind.RELATION) and self._is_neuter_at(place + 1)

    def _is_singular_verb_at(self, place: int) -> bool:
        is_verb = self._is_at(place, *VERBS, WordKind.BE)
        return is_verb and self._pieces[place].text.lower().endswith("s")

    def _is_row_at(self, place: int) -> bool:
        """Return True if words that order a list follow, such as "lined up from left to right"."""
        while self._is_at(place, *VERBS, WordKind.WORD, WordKind.COMMA):
            place += 1
        return self._is_at(place, WordKind.ROW)

    @property
    def _behind_joiners(self) -> int:
        place = self._position
        while self._is_at(place, *JOINERS):
            place += 1
        return place

    def _is_subject_pronoun(self, place: int) -> bool:
        """Return True if a pronoun starts a clause: "..., and it smiles", "... and they smile"."""
        if not self._is_at(place, WordKind.IT, WordKind.THEM):
            return False
        is_set_off = self._is_at(place - 2, WordKind.COMMA)
        return is_set_off or self._pieces[place].text.lower() in NOMINATIVE

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
        return is_word(self._pieces[place], *kinds)

    def _is_thing_at(self, place: int) -> bool:
        if place >= len(self._pieces):
            return False
        return isinstance(self._pieces[place], NounPhrase) or self._is_at(place, *PRONOUNS)

    def _is_neuter_at(self, place: int) -> bool:
        return self._is_at(place, WordKind.IT) and self._pieces[place].text.lower() == NEUTER

    def _is_inverted_at(self, place: int) -> bool:
        return self._is_thing_at(place + 1 if self._is_at(place, WordKind.BE) else place)
