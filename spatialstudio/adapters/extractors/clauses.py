"""Reads noun phrases and relation words as clauses: who stands where, against what."""

from collections.abc import Sequence
from itertools import pairwise

from spatialstudio.adapters.extractors.arrangements import ArrangementReader
from spatialstudio.adapters.extractors.discourse import MANY, Discourse
from spatialstudio.adapters.extractors.pieces import VERBS, NounPhrase, Piece, Thing
from spatialstudio.adapters.extractors.references import Ends
from spatialstudio.adapters.extractors.words import (
    CLAUSE_BOUNDS,
    JOINERS,
    PRONOUNS,
    SENTENCE_ENDS,
    Claim,
    Word,
    WordKind,
)
from spatialstudio.domain.prompt import Note, ObjectMention
from spatialstudio.domain.relation import FLANKS, Relation, Shape

SAYING_OF = (WordKind.RELATION, WordKind.BE, WordKind.NOT)
TOWARDS = {"at", "to", "toward", "towards", "for", "after", "past"}


class ClauseReader:
    """Reads the pieces of one prompt; made anew for each prompt."""

    def __init__(self, text: str, pieces: Sequence[Piece]) -> None:
        self._discourse = Discourse(text, pieces)
        self._arrangements = ArrangementReader(self._discourse)
        self._pieces = self._discourse.pieces
        self._references = self._discourse.references
        self._findings = self._discourse.findings
        self._waiting: list[tuple[Claim, Ends]] = []

    @property
    def mentions(self) -> tuple[ObjectMention, ...]:
        """Things named, in order of the text."""
        return self._references.told

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
                self._discourse.start_clause(
                    self._discourse.resolve_subjects(self._pieces.take_subjects())
                )
            elif self._pieces.is_at(WordKind.RELATION):
                self._read_relation()
            else:
                self._read_word(self._pieces.take_word())
        self._arrangements.pair_frames()
        self._findings.note_alternatives()
        self._findings.note_unrelated()

    def _read_word(self, word: Word) -> None:
        match word.kind:
            case WordKind.FRAME | WordKind.CENTRE:
                self._arrangements.read_frame(word)
            case WordKind.ROW:
                self._arrangements.read_row(word)
            case WordKind.FLANKING:
                self._arrangements.read_flanking(word)
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
        if word.kind in SENTENCE_ENDS:
            self._waiting.clear()
            self._discourse.start_sentence()
        elif word.kind is WordKind.RELATIVE:
            self._follow_relative(word)
        elif self._turns_back(word):
            if word.kind is WordKind.COMMA and self._pieces.is_at(*VERBS, WordKind.BE):
                self._discourse.clause = self._discourse.main or self._discourse.clause
            self._discourse.focus, self._discourse.owner = self._discourse.clause, ()
        elif word.kind is WordKind.PREPOSITION and self._pieces.is_at(*PRONOUNS):
            self._pieces.skip(*PRONOUNS)
            self._references.pass_over(self._discourse.focus)
        elif word.kind is WordKind.PREPOSITION and self._pieces.is_at_adverbial:
            self._discourse.resolve(self._pieces.take_subjects(), ())
        elif word.kind is not WordKind.WORD and self._pieces.is_at_thing():
            is_apart = self._stands_apart(word)
            if things := self._pieces.take_dependents():
                is_seen = word.text.lower() in TOWARDS and not self._pieces.is_at_thing()
                self._read_dependents(word, things, is_apart=is_apart or is_seen)

    def _follow_relative(self, word: Word) -> None:
        """Speak of the thing before: "a cup that is ...", "a cup that a man put on ..."."""
        self._discourse.enter_relative(self._references.latest)
        if word.text.lower() != "whose" and self._pieces.is_at_placed_by_another:
            self._discourse.resolve(self._pieces.take_subjects(), ())
            self._pieces.skip(*VERBS)

    def _turns_back(self, word: Word) -> bool:
        """Tell whether a word speaks of the clause's subject again: "and", "from behind"."""
        leads = word.kind is WordKind.PREPOSITION and self._pieces.is_at(WordKind.RELATION)
        return leads or word.kind in {*JOINERS, WordKind.BE}

    def _stands_apart(self, word: Word) -> bool:
        """Tell whether what follows has a place of its own, behind a comma, a place or "puts"."""
        if word.kind is WordKind.WITH:
            is_behind_place = (
                word.text.lower() == "with" and self._discourse.focus != self._discourse.clause
            )
            return is_behind_place or self._pieces.is_behind_clause_start
        return word.kind in {WordKind.PLACING, WordKind.WATCHING}

    def _read_dependents(self, word: Word, things: Sequence[Thing], *, is_apart: bool) -> None:
        """Read what hangs on the thing before: "a dog with a hat".

        Apart from that it speaks for itself: "a dog by a tree, with a hat on the tree"; so it does
        where it is looked at and does something: "looking at a cat sitting on a chair".
        """
        self._discourse.owner = () if is_apart else self._discourse.focus
        self._discourse.host = self._discourse.focus if word.kind is WordKind.WITH else ()
        self._discourse.focus = self._discourse.resolve(things, ())
        self._discourse.clause = self._discourse.clause or self._discourse.focus

    def _read_relation(self) -> None:
        """Read one relation, or several with the same ends: "in front of and left of a dog"."""
        opens_clause = self._pieces.is_at_clause_start
        is_added = self._pieces.is_behind(WordKind.COMMA)
        acts_alone = self._pieces.is_behind_posture and self._is_inhabited
        claims = self._pieces.take_claims()
        if self._pieces.is_at(WordKind.EACH_OTHER):
            self._relate_to_each_other(claims[-1], self._pieces.take_word())
            return
        against_pronoun = self._pieces.is_at(*PRONOUNS)
        against_which = self._pieces.is_at_relative
        hangs = self._discourse.owner and not (
            against_pronoun or acts_alone or self._pieces.is_at_own_part
        )
        subjects = self._discourse.owner if hangs else self._discourse.focus
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
        objects = self._discourse.resolve(things, () if is_fronted else subjects, topical)
        self._waiting += [(claim, objects) for claim in claims]
        if is_fronted and self._pieces.is_at_joined_relation():
            return
        if is_fronted:
            subjects = self._discourse.take_fronted_subject(claims[0].text, claims[0].span)
        if against_pronoun:
            self._references.pass_over(subjects)
        else:
            subjects = self._apart_from(objects, subjects)
        for claim, against in self._waiting:
            self._findings.relate(claim, subjects, against)
        self._waiting.clear()
        self._discourse.start_clause(subjects)
        ends = (*subjects, *objects)
        several = subjects if len(subjects) > 1 else filter(self._references.is_several, ends)
        self._references.group(tuple(several) or ends)
        if not (is_fronted or self._pieces.is_at_finite_verb or _is_surface(things)):
            self._discourse.focus = objects

    @property
    def _is_inhabited(self) -> bool:
        """Whether someone acts with what does not: "a stage with a band standing ..."."""
        acts = self._references.acts
        return acts(self._discourse.focus) and not acts(self._discourse.owner)

    def _apart_from(self, objects: Ends, subjects: Ends) -> Ends:
        """Return who stands against the objects, rather than against themselves."""
        if len(subjects) > 1 and set(subjects) & set(objects):
            return subjects[-1:]
        return self._discourse.main if self._discourse.main and subjects == objects else subjects

    def _take_objects(self, claim: Claim) -> list[Thing]:
        if claim.type.shape is not Shape.BETWEEN:
            return self._pieces.take_objects(MANY)
        return self._pieces.take_objects(1 if self._pieces.is_at_several_set_off else FLANKS)

    def _read_bare_relation(self, claims: Sequence[Claim], subjects: Ends) -> None:
        """Read a relation without an object: "a house with a tree behind", "a bird above"."""
        if self._discourse.host and not set(self._discourse.host) & set(self._discourse.focus):
            for claim in claims:
                self._findings.relate(claim, self._discourse.focus, self._discourse.host)
            self._references.pass_over(self._discourse.focus)
            return
        if subjects == self._discourse.clause and (before := self._topic_before(subjects)):
            for claim in claims:
                self._findings.relate(claim, subjects, before)
            return
        self._findings.note_not_understood(claims[-1].span)
        self._discourse.start_clause(subjects)

    def _topic_before(self, subjects: Ends) -> Ends:
        """Return what a thing named alone is placed against: "a cat, a dog behind"."""
        is_placed = any(set(relation.ends) & set(subjects) for relation in self.relations)
        topics = [ends for ends in self._discourse.topics if ends != subjects]
        return () if is_placed or not topics else topics[-1]

    def _relate_to_each_other(self, claim: Claim, each_other: Word) -> None:
        several = self._findings.as_pair(self._discourse.focus)
        if claim.type.is_symmetric and len(several) > 1:
            for first, second in pairwise(several):
                self._findings.relate(claim, (first,), (second,))
        else:
            self._findings.note_not_understood(claim.span, each_other.span)

    def _read_negation(self, word: Word) -> None:
        """Skip what is denied, up to the end of the clause, and say so.

        A thing that is only misplaced is there: the dog in "a cat not left of a dog"; one that is
        denied itself is not: the lamp in "a table without a lamp".
        """
        stop = word.span
        is_misplaced = False
        while not self._pieces.is_done and not self._pieces.is_at(*CLAUSE_BOUNDS):
            if phrase := self._pieces.take_phrase():
                if is_misplaced:
                    self._references.pass_over(self._references.refer(phrase))
                elif phrase.is_definite and self._pieces.is_at(*SAYING_OF):
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


def _is_surface(things: Sequence[Thing]) -> bool:
    """Tell whether things are a mere place, beyond which the sentence speaks on of its subject."""
    return any(isinstance(thing, NounPhrase) and thing.is_surface for thing in things)
