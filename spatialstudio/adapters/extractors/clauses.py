"""Reads noun phrases and relation words as clauses: who stands where, against what.

From left to right, with little memory: whom the next relation speaks of (``_focus``), whom it
speaks of after "and" (``_clause``), what a thing hangs on in "a dog with a hat" (``_owner``), and
what "it" is in "a house with a tree behind it" (``_host``).
"""

from collections.abc import Sequence
from itertools import pairwise

from spatialstudio.adapters.extractors.findings import FLANKS, Findings
from spatialstudio.adapters.extractors.picture_frame import Framed, opposites
from spatialstudio.adapters.extractors.pieces import (
    JOINERS,
    VERBS,
    NounPhrase,
    Piece,
    Pieces,
    Thing,
)
from spatialstudio.adapters.extractors.references import Ends, References
from spatialstudio.adapters.extractors.words import PRONOUNS, Claim, Word, WordKind, claim_of
from spatialstudio.domain.prompt import Note, ObjectMention, TextSpan
from spatialstudio.domain.relation import (
    BETWEEN,
    Relation,
    Shape,
    relation_types,
)

ENDS = (WordKind.STOP, WordKind.COLON)
BEFORE_SUBJECT = (WordKind.COMMA, WordKind.COLON, WordKind.BE, *VERBS)
BEFORE_LIST = (*BEFORE_SUBJECT, WordKind.WITH, WordKind.THEM, WordKind.WORD, WordKind.PREPOSITION)

MANY = 99
OWN_SIDES = {"to the left", "to the right"}
TOWARDS = {"at", "to", "toward", "towards", "for", "after", "past"}


class ClauseReader:
    """Reads the pieces of one prompt; made anew for each prompt."""

    def __init__(self, text: str, pieces: Sequence[Piece]) -> None:
        self._pieces = Pieces(pieces)
        self._references = References()
        self._findings = Findings(text, self._references)
        self._focus: Ends = ()
        self._clause: Ends = ()
        self._main: Ends = ()
        self._owner: Ends = ()
        self._host: Ends = ()
        self._topics: list[Ends] = []
        self._framed: list[Framed] = []
        self._waiting: list[tuple[Claim, Ends]] = []
        self._said = 0

    @property
    def mentions(self) -> tuple[ObjectMention, ...]:
        """Things named, in order of the text."""
        return tuple(self._references.mentions)

    @property
    def relations(self) -> Sequence[Relation]:
        """What is claimed, in order of the text."""
        return self._findings.relations

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was not understood, or guessed."""
        return (*self._findings.notes, *self._references.notes)

    def read(self) -> None:
        """Read all pieces."""
        while not self._pieces.is_done:
            if self._pieces.is_at_thing():
                self._start_clause(self._resolve_subjects(self._pieces.take_subjects()))
            elif self._pieces.is_at(WordKind.RELATION):
                self._read_relation()
            else:
                self._read_word(self._pieces.take_word())
        self._pair_frames()
        self._findings.note_alternatives()
        self._findings.note_unrelated()

    def _read_word(self, word: Word) -> None:
        match word.kind:
            case WordKind.FRAME | WordKind.CENTRE:
                self._read_frame(word)
            case WordKind.ROW:
                self._read_row(claim_of(word))
            case WordKind.FLANKING:
                self._read_flanking(word)
            case WordKind.NOT:
                self._read_negation(word)
            case WordKind.OR | WordKind.UNREAD:
                self._findings.note_not_understood(word.span)
                self._read_link(word)
            case _:
                self._read_link(word)

    def _read_link(self, word: Word) -> None:
        """Follow a word that turns attention: "and", a full stop, "which", "with"."""
        if word.kind is WordKind.COLON and self._pieces.is_at(WordKind.FRAME, WordKind.VERB):
            return
        if word.kind in ENDS:
            self._said = len(self.relations)
            self._waiting.clear()
            self._focus = self._clause = self._owner = self._main = ()
        elif word.kind is WordKind.RELATIVE:
            self._follow_relative(word)
        elif self._turns_back(word):
            if word.kind is WordKind.COMMA and self._pieces.is_at(*VERBS, WordKind.BE):
                self._clause = self._main or self._clause
            self._focus, self._owner = self._clause, ()
        elif word.kind is WordKind.PREPOSITION and self._pieces.is_at(*PRONOUNS):
            self._pieces.skip(*PRONOUNS)
            self._references.pass_over(self._focus)
        elif word.kind is WordKind.PREPOSITION and self._pieces.is_at_adverbial:
            self._resolve(self._pieces.take_subjects(), ())
        elif word.kind is not WordKind.WORD and self._pieces.is_at_thing():
            is_apart = self._stands_apart(word)
            if things := self._pieces.take_dependents():
                is_seen = word.text.lower() in TOWARDS and not self._pieces.is_at_thing()
                self._read_dependents(word, things, is_apart=is_apart or is_seen)

    def _follow_relative(self, word: Word) -> None:
        """Speak of the thing before: "a cup that is ...", "a cup that a man put on ..."."""
        self._main, self._focus, self._owner = self._clause, self._references.latest, ()
        if word.text.lower() != "whose" and self._pieces.is_at_placed_by_another:
            self._resolve(self._pieces.take_subjects(), ())
            self._pieces.skip(*VERBS)

    def _turns_back(self, word: Word) -> bool:
        """Tell whether a word speaks of the clause's subject again: "and", "from behind"."""
        leads = word.kind is WordKind.PREPOSITION and self._pieces.is_at(WordKind.RELATION)
        return leads or word.kind in {*JOINERS, WordKind.BE}

    def _stands_apart(self, word: Word) -> bool:
        """Tell whether what follows has a place of its own, behind a comma, a place or "puts"."""
        if word.kind is WordKind.WITH:
            is_behind_place = word.text.lower() == "with" and self._focus != self._clause
            return is_behind_place or self._pieces.is_behind_clause_start
        return word.kind in {WordKind.PLACING, WordKind.WATCHING}

    def _read_dependents(self, word: Word, things: Sequence[Thing], *, is_apart: bool) -> None:
        """Read what hangs on the thing before: "a dog with a hat".

        Apart from that it speaks for itself: "a dog by a tree, with a hat on the tree"; so it does
        where it is looked at and does something: "looking at a cat sitting on a chair".
        """
        self._owner = () if is_apart else self._focus
        self._host = self._focus if word.kind is WordKind.WITH else ()
        self._focus = self._resolve(things, ())
        self._clause = self._clause or self._focus

    def _read_relation(self) -> None:
        """Read one relation, or several with the same ends: "in front of and left of a dog"."""
        opens_clause = self._pieces.is_at_clause_start
        is_added = self._pieces.is_behind(WordKind.COMMA)
        claims = self._pieces.take_claims()
        if self._pieces.is_at(WordKind.EACH_OTHER):
            self._relate_to_each_other(claims[-1], self._pieces.take_word())
            return
        against_pronoun = self._pieces.is_at(*PRONOUNS)
        against_which = self._pieces.is_at_relative
        hangs = self._owner and not (against_pronoun or self._pieces.is_at_own_part)
        subjects = self._owner if hangs else self._focus
        things = self._take_objects(claims[-1])
        if not things:
            self._read_bare_relation(claims, subjects)
            return
        is_late = opens_clause and self._pieces.is_subject_ahead(after_verb=True)
        is_late = is_late or self._pieces.is_at_new_thing
        if is_added and against_pronoun and opens_clause and self._pieces.is_at_set_off_thing:
            self._pieces.skip(WordKind.COMMA)
            is_late = True
        is_fronted = not subjects or against_which or is_late
        topical = None if is_fronted and (is_added or against_which) else claims[-1]
        objects = self._resolve(things, () if is_fronted else subjects, topical)
        self._waiting += [(claim, objects) for claim in claims]
        if is_fronted and self._pieces.is_at_joined_relation():
            return
        if is_fronted:
            subjects = self._take_fronted_subject(claims[0].text, claims[0].span)
        if against_pronoun:
            self._references.pass_over(subjects)
        else:
            subjects = self._apart_from(objects, subjects)
        for claim, against in self._waiting:
            self._findings.relate(claim, subjects, against)
        self._waiting.clear()
        self._start_clause(subjects)
        ends = (*subjects, *objects)
        several = subjects if len(subjects) > 1 else filter(self._references.is_several, ends)
        self._references.group(tuple(several) or ends)
        if not (is_fronted or self._pieces.is_at_finite_verb or _is_surface(things)):
            self._focus = objects

    def _apart_from(self, objects: Ends, subjects: Ends) -> Ends:
        """Return who stands against the objects, rather than against themselves."""
        if len(subjects) > 1 and set(subjects) & set(objects):
            return subjects[-1:]
        return self._main if self._main and subjects == objects else subjects

    def _take_objects(self, claim: Claim) -> list[Thing]:
        if claim.type.shape is not Shape.BETWEEN:
            return self._pieces.take_objects(MANY)
        return self._pieces.take_objects(1 if self._pieces.is_at_several_set_off else FLANKS)

    def _read_bare_relation(self, claims: Sequence[Claim], subjects: Ends) -> None:
        """Read a relation without an object: "a house with a tree behind", "a bird above"."""
        if self._host and not set(self._host) & set(self._focus):
            for claim in claims:
                self._findings.relate(claim, self._focus, self._host)
            self._references.pass_over(self._focus)
            return
        if subjects == self._clause and (before := self._topic_before(subjects)):
            for claim in claims:
                self._findings.relate(claim, subjects, before)
            return
        self._findings.note_not_understood(claims[-1].span)
        self._start_clause(subjects)

    def _topic_before(self, subjects: Ends) -> Ends:
        """Return what a thing named alone is placed against: "a cat, a dog behind"."""
        is_placed = any(set(relation.ends) & set(subjects) for relation in self.relations)
        topics = [ends for ends in self._topics if ends != subjects]
        return () if is_placed or not topics else topics[-1]

    def _take_fronted_subject(self, text: str, span: TextSpan) -> Ends:
        """Take the subject that follows: "to the left of the car stands a horse"."""
        self._pieces.skip(*BEFORE_SUBJECT)
        things = self._pieces.take_objects(MANY)
        if not things:
            self._findings.note(f'I do not see what is "{text}".', span)
        return self._resolve(things, ())

    def _relate_to_each_other(self, claim: Claim, each_other: Word) -> None:
        several = self._findings.as_pair(self._focus)
        if claim.type.is_symmetric and len(several) > 1:
            for first, second in pairwise(several):
                self._findings.relate(claim, (first,), (second,))
        else:
            self._findings.note_not_understood(claim.span, each_other.span)

    def _read_flanking(self, word: Word) -> None:
        """Read two things on either side of a third, which is thereby between them."""
        flanks = self._focus
        middle = self._resolve(self._pieces.take_objects(1), ()) or self._host
        if not middle and self._pieces.is_subject_ahead(after_verb=True):
            middle = self._take_fronted_subject(word.text, word.span)
        if middle and len(flanks) != FLANKS and self._pieces.is_subject_ahead(after_verb=True):
            flanks = self._take_fronted_subject(word.text, word.span)
        if len(flanks) == 1:
            flanks *= FLANKS
        if len(flanks) == FLANKS:
            self._findings.relate(Claim(BETWEEN, word.text, word.span), middle, flanks)
        else:
            self._findings.note_not_understood(word.span)

    def _read_row(self, claim: Claim) -> None:
        """Read an ordered list, before or behind the words that order it."""
        before = self._focus
        self._pieces.skip(*BEFORE_LIST)
        things = self._pieces.take_list()
        if len(things) == 1 and self._pieces.is_at(*VERBS):
            self._pieces.skip(*VERBS)
            things = self._pieces.take_list()
        row = self._resolve(things, ())
        if len(row) > 1 or len(before) <= 1:
            before = row
        if len(before) <= 1:
            self._findings.note_not_understood(claim.span)
        for first, second in pairwise(before):
            self._findings.relate(claim, (first,), (second,))
        self._start_clause(row or before)

    def _read_frame(self, word: Word) -> None:
        """Read a place in the picture: "a cat on the left", "on the right is a dog"."""
        is_owner_placed = any(framed.ends == self._owner for framed in self._framed)
        ends = self._focus if is_owner_placed else self._owner or self._clause or self._focus
        if self._is_beside_host(word):
            self._findings.relate(claim_of(word), self._focus, self._host)
            return
        opens_clause = self._pieces.is_behind_clause_start
        if opens_clause:
            self._pieces.skip(WordKind.WITH)
        is_placed = any(framed.ends == ends for framed in self._framed)
        is_late = is_placed and opens_clause and self._pieces.is_at_set_off_thing
        if is_late or not ends or self._pieces.is_subject_ahead(after_verb=opens_clause):
            ends = self._take_fronted_subject(word.text, word.span)
        if across := self._across(word, ends):
            self._findings.relate(claim_of(word), ends, across)
        else:
            self._framed.append(Framed(word, ends))
            self._references.place(ends)
        self._start_clause(ends)

    def _is_beside_host(self, word: Word) -> bool:
        """Tell whether a side is that of the thing before: "a plate with a cup to the left"."""
        is_apart = self._host and not set(self._host) & set(self._focus)
        is_side = word.relation_type is not None and word.text.lower() in OWN_SIDES
        return bool(is_apart and is_side and not self._framed)

    def _across(self, word: Word, ends: Ends) -> Ends:
        """Return what a side is opposite of: "a cat left of a dog and a bird to the right"."""
        is_frame_open = any(framed.word.relation_type for framed in self._framed)
        if is_frame_open or not self.relations or word.relation_type is None:
            return ()
        latest = self.relations[-1]
        is_opposite = latest.type == relation_types.inverse(word.relation_type)
        return (latest.object,) if is_opposite and not {*ends} & {*latest.ends} else ()

    def _pair_frames(self) -> None:
        """Relate the things at different places of the picture."""
        lonely = list(self._framed)
        for first, relation_type, second in opposites(self._framed):
            claim = Claim(relation_type, first.word.text, first.word.span)
            self._findings.relate(claim, first.ends, second.ends)
            lonely = [each for each in lonely if each not in (first, second)]
        for each in lonely:
            self._findings.note(f'I find nothing opposite to "{each.word.text}".', each.word.span)

    def _read_negation(self, word: Word) -> None:
        """Skip what is denied, up to the end of the clause, and say so.

        A thing that is only misplaced is there: the dog in "a cat not left of a dog"; one that is
        denied itself is not: the lamp in "a table without a lamp".
        """
        stop = word.span
        is_misplaced = False
        while not self._pieces.is_done and not self._pieces.is_at(*JOINERS, *ENDS):
            if phrase := self._pieces.take_phrase():
                if is_misplaced:
                    self._references.pass_over((self._references.refer(phrase),))
                elif phrase.is_definite and self._pieces.is_at(WordKind.RELATION):
                    self._references.refer(phrase)
                else:
                    stop = phrase.span
            elif self._pieces.is_at_nearness and word.text.lower() == "without":
                break
            else:
                denied = self._pieces.take_word()
                if denied.kind is WordKind.RELATION:
                    is_misplaced, stop = True, denied.span
        self._findings.note_not_understood(word.span, stop)

    def _start_clause(self, subjects: Ends) -> None:
        self._focus = self._clause = subjects
        self._topics += [subjects] if subjects else []
        self._references.group(subjects)
        self._owner = self._host = ()

    def _resolve_subjects(self, things: Sequence[Thing]) -> Ends:
        """Resolve the subjects of a clause; "it" alone is what the last clause spoke of."""
        match things:
            case [Word(kind=WordKind.IT)] if self._topics:
                return self._topics[-1][:1]
        return self._resolve(things, ())

    def _resolve(self, things: Sequence[Thing], subjects: Ends, claim: Claim | None = None) -> Ends:
        ends: Ends = ()
        for thing in things:
            if isinstance(thing, NounPhrase):
                ends += (self._references.refer(thing),)
            else:
                host = self._host_of(thing, subjects)
                topic = self._topic_for(thing, subjects, claim)
                ends += self._references.stand_for(thing, subjects, host, topic)
        return tuple(dict.fromkeys(ends))

    def _host_of(self, pronoun: Word, subjects: Ends) -> Ends:
        host = [end for end in self._host[:1] if self._references.suits(pronoun, end)]
        return () if set(self._host) & set(subjects) else tuple(host)

    def _topic_for(self, pronoun: Word, subjects: Ends, claim: Claim | None) -> Ends:
        """Return what was spoken of before, which "it" behind a relation most likely means."""
        if claim is None or pronoun.kind not in {WordKind.IT, WordKind.ITS}:
            return ()
        taken = {*subjects, *self._references.passed_over}
        topics = (ends[:1] for ends in reversed(self._topics) if not set(ends) & taken)
        topic = next((ends for ends in topics if self._references.suits(pronoun, *ends)), ())
        is_row = subjects or pronoun.kind is WordKind.ITS
        return (self._next_in_row(topic, claim) if is_row else ()) or topic

    def _next_in_row(self, topic: Ends, claim: Claim) -> Ends:
        """Find the table in "a lamp hangs above a table and a rug lies beneath it"."""
        if len(self.relations) == self._said:
            return ()
        latest = self.relations[-1]
        is_inverse = claim.type == relation_types.inverse(latest.type)
        goes_on = is_inverse and (latest.subject,) == topic
        return (latest.object,) if goes_on and not self._references.is_place(latest.object) else ()


def _is_surface(things: Sequence[Thing]) -> bool:
    """Tell whether things are a mere place, beyond which the sentence speaks on of its subject."""
    return any(isinstance(thing, NounPhrase) and thing.is_surface for thing in things)
