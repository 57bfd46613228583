"""State of a prompt during reading: the current subject and candidates for "it"."""

from collections.abc import Sequence
from itertools import product

from spatialstudio.adapters.prompts.pieces import (
    VERBS,
    NounPhrase,
    Piece,
    Pieces,
    Thing,
)
from spatialstudio.adapters.prompts.references import (
    ALTERNATIVE,
    Ends,
    References,
)
from spatialstudio.adapters.prompts.words import (
    Claim,
    Word,
    WordKind,
)
from spatialstudio.domain.scene import (
    FLANKS,
    Note,
    Relation,
    RelationId,
    Shape,
    TextSpan,
    relation_types,
)


class SceneParts:
    """Collects the relations and notes of one prompt.

    Args:
        text: The prompt as typed.
        references: Its mentions.

    Attributes:
        relations: In text order.
        notes: Notes on words that were not understood.
    """

    def __init__(self, text: str, references: References) -> None:
        self.relations: list[Relation] = []
        self.notes: list[Note] = []
        self._text = text
        self._references = references

    def relate(self, claim: Claim, subjects: Ends, objects: Ends) -> None:
        """Add the claim for every pair of subject and object."""
        groups: list[Ends] = [(thing,) for thing in objects]
        if claim.type.shape is Shape.BETWEEN:
            flanks = self.as_pair(objects)
            groups = [flanks] if len(flanks) == FLANKS else []
            if objects and not groups:
                self.note(f'Name both objects after "{claim.text}".', claim.span)
        self._references.place((*subjects, *objects))
        for subject, (first, *second) in product(subjects, groups):
            if any(end.startswith(ALTERNATIVE) for end in (subject, first, *second)):
                continue
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

    def as_pair(self, ends: Ends) -> Ends:
        """Split one mention of several things into two: "between two cats"."""
        is_several = len(ends) == 1 and self._references.is_several(*ends)
        return ends * FLANKS if is_several else ends

    def note_alternatives(self) -> None:
        """Add a note on the alternatives joined by "or"."""
        for span in self._references.alternatives:
            self.note_not_understood(span)

    def note_unrelated(self) -> None:
        """Add a note on things without a relation, if there are at least two things."""
        related = {end for relation in self.relations for end in relation.ends}
        mentions = self._references.mentions
        lost = [f'"{mention.phrase}"' for mention in mentions if mention.id not in related]
        if not mentions:
            self.note("I found no object in this prompt.", None)
        elif lost and len(mentions) > 1:
            *first, last = lost
            where = "between them" if first else "for it"
            named = f"{', '.join(first)} and {last}" if first else last
            self.note(f"I found {named}, but no relation {where}.", None)

    def note_not_understood(self, first: TextSpan, last: TextSpan | None = None) -> None:
        """Add a note on words that were not understood, up to ``last`` if given."""
        span = TextSpan(start=first.start, stop=(last or first).stop)
        self.note(f'I do not understand "{span.of(self._text)}".', span)

    def note(self, message: str, span: TextSpan | None) -> None:
        """Add a note on some words, or on the whole prompt."""
        self.notes.append(Note(message=message, span=span))


MANY = 99
BEFORE_SUBJECT = (WordKind.COMMA, WordKind.COLON, WordKind.BE, *VERBS)


class Discourse:
    """State of a prompt that is read from left to right with little memory.

    Args:
        text: The prompt as typed.
        pieces: The pieces of the prompt.

    Attributes:
        pieces: The pieces, with a reading position.
        references: The mentions so far.
        scene_parts: The relations and notes so far.
        focus: Subject of the next relation.
        clause: Subject of the next relation after "and".
        main: Subject of the main clause while in a relative clause.
        owner: The thing with a dependent, as in "a dog with a hat".
        host: Antecedent of "it" in "a house with a tree behind it".
        topics: Subjects of the clauses so far, in order.
        said: Number of relations before this sentence.
    """

    def __init__(self, text: str, pieces: Sequence[Piece]) -> None:
        self.pieces = Pieces(pieces)
        self.references = References()
        self.scene_parts = SceneParts(text, self.references)
        self.focus: Ends = ()
        self.clause: Ends = ()
        self.main: Ends = ()
        self.owner: Ends = ()
        self.host: Ends = ()
        self.topics: list[Ends] = []
        self.said = 0

    def start_sentence(self) -> None:
        """Reset the subjects at the start of a sentence."""
        self.said = len(self.scene_parts.relations)
        self.focus = self.clause = self.owner = self.main = ()

    def enter_relative(self, thing: Ends) -> None:
        """Make the latest mention the subject of a relative clause: "a cup that is ..."."""
        self.main, self.focus, self.owner = self.clause, thing, ()

    def start_clause(self, subjects: Ends) -> None:
        """Start a clause with its subjects."""
        self.focus = self.clause = subjects
        self.topics += [subjects] if subjects else []
        self.references.group(subjects)
        self.owner = self.host = ()

    def resolve_subjects(self, things: Sequence[Thing]) -> Ends:
        """Resolve the subjects of a clause; "it" alone is the subject of the last clause."""
        match things:
            case [Word(kind=WordKind.IT)] if self.topics:
                return self.topics[-1][:1]
        return self.resolve(things, ())

    def resolve(self, things: Sequence[Thing], subjects: Ends, claim: Claim | None = None) -> Ends:
        """Resolve things to mentions, or add new ones; "it" is none of the subjects."""
        ends: Ends = ()
        for thing in things:
            if isinstance(thing, NounPhrase):
                topic = next(reversed(self.topics), ())
                ends += self.references.refer(thing, (*subjects, *ends), topic)
            else:
                host = self._host_of(thing, subjects)
                topic = self._topic_for(thing, subjects, claim)
                ends += self.references.stand_for(thing, subjects, host, topic)
        return tuple(dict.fromkeys(ends))

    def _host_of(self, pronoun: Word, subjects: Ends) -> Ends:
        host = [end for end in self.host[:1] if self.references.suits(pronoun, end)]
        return () if set(self.host) & set(subjects) else tuple(host)

    def _topic_for(self, pronoun: Word, subjects: Ends, claim: Claim | None) -> Ends:
        """Return the most likely antecedent of "it" after a relation."""
        if claim is None or pronoun.kind not in {WordKind.IT, WordKind.ITS}:
            return ()
        taken = {*subjects, *self.references.passed_over}
        topics = (ends[:1] for ends in reversed(self.topics) if not set(ends) & taken)
        topic = next((ends for ends in topics if self.references.suits(pronoun, *ends)), ())
        is_row = subjects or pronoun.kind is WordKind.ITS
        return (self._next_in_row(topic, claim) if is_row else ()) or topic

    def _next_in_row(self, topic: Ends, claim: Claim) -> Ends:
        """Find the table in "a lamp hangs above a table and a rug lies beneath it"."""
        if len(self.scene_parts.relations) == self.said:
            return ()
        latest = self.scene_parts.relations[-1]
        is_inverse = claim.type == relation_types.inverse(latest.type)
        goes_on = is_inverse and (latest.subject,) == topic
        return (latest.object,) if goes_on and not self.references.is_place(latest.object) else ()

    def take_fronted_subject(self, text: str, span: TextSpan) -> Ends:
        """Take the subject after a fronted place: "to the left of the car stands a horse"."""
        self.pieces.skip(*BEFORE_SUBJECT)
        things = self.pieces.take_objects(MANY)
        if not things:
            self.scene_parts.note(f'I do not see what is "{text}".', span)
        return self.resolve(things, ())
