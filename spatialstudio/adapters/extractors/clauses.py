"""Reads noun phrases and relation words as clauses: who stands where, against what.

From left to right, with little memory: whom the next relation speaks of (``_focus``), whom it
speaks of after "and" (``_clause``), and what a thing hangs on in "a dog with a hat" (``_owner``).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from spatialstudio.adapters.extractors.noun_phrases import PRONOUNS, NounPhrase, Piece
from spatialstudio.adapters.extractors.pieces import JOINERS, Pieces, Thing
from spatialstudio.adapters.extractors.references import Ends, References
from spatialstudio.adapters.extractors.words import Word, WordKind
from spatialstudio.domain.prompt import Note, ObjectMention, TextSpan
from spatialstudio.domain.relation import Relation, RelationId, RelationType, Shape, relation_types

FLANKS = 2
MANY = 99


@dataclass(frozen=True, slots=True)
class Claim:
    """Words that claim a relation: its kind and where they stand."""

    type: RelationType
    text: str
    span: TextSpan


class ClauseReader:
    """Reads the pieces of one prompt; made anew for each prompt.

    Attributes:
        relations: In order of the text.
    """

    def __init__(self, text: str, pieces: Sequence[Piece]) -> None:
        self.relations: list[Relation] = []
        self._notes: list[Note] = []
        self._text = text
        self._pieces = Pieces(pieces)
        self._references = References()
        self._focus: Ends = ()
        self._clause: Ends = ()
        self._owner: Ends = ()
        self._topic: Ends = ()
        self._framed: list[tuple[Claim, Ends]] = []

    @property
    def mentions(self) -> tuple[ObjectMention, ...]:
        """Things named, in order of the text."""
        return tuple(self._references.mentions)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was not understood, or guessed; in order of the text."""
        end = len(self._text)
        notes = [*self._notes, *self._references.notes]
        return tuple(sorted(notes, key=lambda note: note.span.start if note.span else end))

    def read(self) -> None:
        """Read all pieces."""
        while not self._pieces.is_done:
            if self._pieces.is_at_thing():
                self._start_clause(self._resolve_subjects(self._pieces.take_subjects()))
            elif self._pieces.is_at(WordKind.RELATION):
                self._read_relation()
            elif self._pieces.is_at(WordKind.FRAME):
                self._read_frame()
            elif self._pieces.is_at(WordKind.NOT):
                self._read_negation(self._pieces.take_word())
            else:
                self._read_link(self._pieces.take_word())
        self._pair_frames()
        self._note_unrelated()

    def _read_link(self, word: Word) -> None:
        """Follow a word that turns attention: "and", a full stop, "which", "with"."""
        if word.kind is WordKind.STOP:
            self._focus = self._clause = self._owner = ()
        elif word.kind is WordKind.RELATIVE:
            self._focus = self._references.latest
        elif word.kind in JOINERS or word.kind is WordKind.BE:
            self._focus, self._owner = self._clause, ()
        elif phrase := self._pieces.take_phrase():
            self._read_dependent(word, phrase)

    def _read_dependent(self, word: Word, phrase: NounPhrase) -> None:
        """Read a thing behind a preposition: it hangs on the thing before, or is a mere setting."""
        if word.kind is WordKind.PREPOSITION and not phrase.is_known:
            span = TextSpan(start=word.span.start, stop=phrase.span.stop)
            self._note(f'I read "{span.of(self._text)}" as a setting, not as an object.', span)
            return
        self._owner = self._focus
        self._focus = (self._references.refer(phrase),)
        self._clause = self._clause or self._focus

    def _read_relation(self) -> None:
        """Read one relation, or several with the same ends: "in front of and left of a dog"."""
        claims = [_claim(self._pieces.take_word())]
        while self._pieces.is_at_joined_relation():
            self._pieces.skip(*JOINERS)
            claims.append(_claim(self._pieces.take_word()))
        if self._pieces.is_at(WordKind.EACH_OTHER):
            self._relate_to_each_other(claims[-1], self._pieces.take_word())
            return
        hangs = self._owner and not self._pieces.is_at(*PRONOUNS)
        subjects = self._owner if hangs else self._focus
        objects = self._take_objects(subjects, claims[-1])
        is_fronted = not subjects or self._pieces.is_inverted()
        if objects and is_fronted:
            subjects = self._take_fronted_subject(claims[0])
        for claim in claims:
            self._relate(claim, subjects, objects)
        self._start_clause(subjects)
        if not is_fronted:
            self._focus = objects

    def _take_objects(self, subjects: Ends, claim: Claim) -> Ends:
        at_most = FLANKS if claim.type.shape is Shape.BETWEEN else MANY
        things = self._pieces.take_objects(at_most)
        if not things:
            self._note_not_understood(claim.span)
        return self._resolve(things, subjects)

    def _take_fronted_subject(self, claim: Claim) -> Ends:
        """Take the subject that follows: "to the left of the car stands a horse"."""
        self._pieces.skip(WordKind.COMMA, WordKind.BE)
        things = self._pieces.take_objects(MANY)
        if not things:
            self._note(f'I do not see what is "{claim.text}".', claim.span)
        return self._resolve(things, ())

    def _relate_to_each_other(self, claim: Claim, each_other: Word) -> None:
        if claim.type.is_symmetric and len(self._focus) > 1:
            for first, second in pairwise(self._focus):
                self._relate(claim, (first,), (second,))
        else:
            self._note_not_understood(claim.span, each_other.span)

    def _relate(self, claim: Claim, subjects: Ends, objects: Ends) -> None:
        """Add the claim for every subject with every object."""
        groups: list[Ends] = [(thing,) for thing in objects]
        if claim.type.shape is Shape.BETWEEN:
            groups = [objects] if len(objects) == FLANKS else []
            if objects and not groups:
                self._note(f'Name both things after "{claim.text}".', claim.span)
        for subject, (first, *second) in product(subjects, groups):
            self.relations.append(
                Relation(
                    id=RelationId(f"r{len(self.relations) + 1}"),
                    type=claim.type,
                    subject=subject,
                    object=first,
                    second_object=second[0] if second else None,
                    span=claim.span,
                )
            )

    def _read_frame(self) -> None:
        """Read a place in the picture: "a cat on the left", "on the right is a dog"."""
        claim = _claim(self._pieces.take_word())
        ends = self._owner or self._focus
        if not ends or self._pieces.is_at_thing() or self._pieces.is_inverted():
            ends = self._take_fronted_subject(claim)
        self._framed.append((claim, ends))
        self._start_clause(ends)

    def _pair_frames(self) -> None:
        """Relate the things at opposite sides of the picture."""
        waiting: list[tuple[Claim, Ends]] = []
        for claim, ends in self._framed:
            inverse = relation_types.inverse(claim.type)
            opposite = next((other for other in waiting if other[0].type == inverse), None)
            if opposite is None:
                waiting.append((claim, ends))
                continue
            waiting.remove(opposite)
            self._relate(*opposite, ends)
        for claim, _ in waiting:
            self._note(f'I find nothing opposite to "{claim.text}".', claim.span)

    def _read_negation(self, word: Word) -> None:
        """Skip what is denied, and say so; a thing that is only misplaced stays."""
        stop = word
        if self._pieces.is_at(WordKind.RELATION):
            stop = self._pieces.take_word()
            self._resolve(self._pieces.take_objects(at_most=1), self._focus)
        elif phrase := self._pieces.take_phrase():
            self._note_not_understood(word.span, phrase.span)
            return
        self._note_not_understood(word.span, stop.span)

    def _start_clause(self, subjects: Ends) -> None:
        self._focus = self._clause = subjects
        self._topic = subjects or self._topic
        self._owner = ()

    def _resolve_subjects(self, things: Sequence[Thing]) -> Ends:
        """Resolve the subjects of a clause; "it" alone is what the last clause spoke of."""
        match things:
            case [Word(kind=WordKind.IT)] if self._topic:
                return self._topic[:1]
        return self._resolve(things, ())

    def _resolve(self, things: Sequence[Thing], subjects: Ends) -> Ends:
        ends: Ends = ()
        for thing in things:
            if isinstance(thing, NounPhrase):
                ends += (self._references.refer(thing),)
            else:
                ends += self._references.stand_for(thing, subjects)
        return ends

    def _note_unrelated(self) -> None:
        """Name the things that no relation places, when there are things to place."""
        related = {end for relation in self.relations for end in relation.ends}
        lost = [f'"{mention.phrase}"' for mention in self.mentions if mention.id not in related]
        if not self.mentions:
            self._note("I found no object in this prompt.", None)
        elif lost and len(self.mentions) > 1:
            *first, last = lost
            where = "between them" if first else "for it"
            named = f"{', '.join(first)} and {last}" if first else last
            self._note(f"I found {named}, but no relation {where}.", None)

    def _note_not_understood(self, first: TextSpan, last: TextSpan | None = None) -> None:
        span = TextSpan(start=first.start, stop=(last or first).stop)
        self._note(f'I do not understand "{span.of(self._text)}".', span)

    def _note(self, message: str, span: TextSpan | None) -> None:
        self._notes.append(Note(message=message, span=span))


def _claim(word: Word) -> Claim:
    assert word.relation_type is not None
    return Claim(word.relation_type, word.text, word.span)
