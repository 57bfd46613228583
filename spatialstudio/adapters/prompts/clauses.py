"""Reading of noun phrases and relation words as clauses: what is placed relative to what."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise

from spatialstudio.adapters.prompts.discourse import BEFORE_SUBJECT, MANY, Discourse
from spatialstudio.adapters.prompts.pieces import (
    VERBS,
    NounPhrase,
    Piece,
    Thing,
)
from spatialstudio.adapters.prompts.references import Ends
from spatialstudio.adapters.prompts.words import (
    CLAUSE_BOUNDS,
    JOINERS,
    PRONOUNS,
    SENTENCE_ENDS,
    Claim,
    Word,
    WordKind,
    claim_of,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    BETWEEN,
    FLANKS,
    Axis,
    AxisClaim,
    Note,
    ObjectMention,
    Relation,
    RelationType,
    Shape,
    relation_types,
)

FIRST, MIDDLE, LAST = -1, 0, 1
WAYS_ACROSS = ([FIRST, MIDDLE, LAST], [LAST, MIDDLE, FIRST])


@frozen(kw_only=False)
class Framed:
    """Things at one place in the picture.

    Attributes:
        word: The word that names the place.
        ends: The things.
    """

    word: Word
    ends: Ends

    @property
    def place(self) -> Mapping[Axis, int]:
        """The place along each axis that the word refers to."""
        if self.word.relation_type is None:
            return {Axis.X: MIDDLE, Axis.Y: MIDDLE}
        return {
            claim.axis: FIRST if claim.subject_first else LAST
            for claim in self.word.relation_type.claims
        }

    def relation_to(self, other: "Framed") -> RelationType | None:
        """Return the relation of these things to others; None if their places imply none."""
        here, there = self.place, other.place
        claims = tuple(
            AxisClaim(axis, here[axis] < there[axis])
            for axis in Axis
            if axis in here and axis in there and here[axis] != there[axis]
        )
        return next((each for each in relation_types if claims and each.claims == claims), None)


def opposites(framed: Sequence[Framed]) -> Iterator[tuple[Framed, RelationType, Framed]]:
    """Yield pairs of things at different places in the picture, with their relation."""
    for first, second in combinations(framed, 2):
        relation_type = first.relation_to(second)
        is_parted = any(_is_between(other, first, second) for other in framed)
        if relation_type is not None and first.ends != second.ends and not is_parted:
            yield first, relation_type, second


def _is_between(middle: Framed, first: Framed, last: Framed) -> bool:
    """Return True if a thing separates two others: left, middle, right."""
    places = [each.place for each in (first, middle, last)]
    axes = set(places[0]) & set(places[2])
    return len(axes) == 1 and all(
        [places[0][axis], places[1].get(axis), places[2][axis]] in WAYS_ACROSS for axis in axes
    )


BEFORE_LIST = (*BEFORE_SUBJECT, WordKind.WITH, WordKind.THEM, WordKind.WORD, WordKind.PREPOSITION)
OWN_SIDES = {"to the left", "to the right"}


class ArrangementReader:
    """Reads words that arrange several things.

    Args:
        discourse: State of the prompt read so far.
    """

    def __init__(self, discourse: Discourse) -> None:
        self._discourse = discourse
        self._pieces = discourse.pieces
        self._references = discourse.references
        self._findings = discourse.scene_parts
        self._framed: list[Framed] = []

    def read_frame(self, word: Word) -> None:
        """Read a place in the picture: "a cat on the left", "on the right is a dog"."""
        is_owner_placed = any(framed.ends == self._discourse.owner for framed in self._framed)
        ends = (
            self._discourse.focus
            if is_owner_placed
            else self._discourse.owner or self._discourse.clause or self._discourse.focus
        )
        if self._side_refers_back(word):
            self._findings.relate(claim_of(word), self._discourse.focus, self._discourse.host)
            return
        opens_clause = self._pieces.is_behind_clause_start
        if opens_clause:
            self._pieces.skip(WordKind.WITH)
        is_placed = any(framed.ends == ends for framed in self._framed)
        is_late = is_placed and opens_clause and self._pieces.is_at_set_off_thing
        if is_late or not ends or self._pieces.is_subject_ahead(after_verb=opens_clause):
            ends = self._discourse.take_fronted_subject(word.text, word.span)
        if across := self._across(word, ends):
            self._findings.relate(claim_of(word), ends, across)
        else:
            self._framed.append(Framed(word, ends))
            self._references.place(ends)
        self._discourse.start_clause(ends)

    def read_row(self, word: Word) -> None:
        """Read an ordered list before or after the words that order it."""
        claim = claim_of(word)
        before = self._discourse.focus
        self._pieces.skip(*BEFORE_LIST)
        things = self._pieces.take_list()
        if len(things) == 1 and self._pieces.is_at(*VERBS):
            self._pieces.skip(*VERBS)
            things = self._pieces.take_list()
        row = self._discourse.resolve(things, ())
        if len(row) > 1 or len(before) <= 1:
            before = row
        if len(before) <= 1:
            self._findings.note_not_understood(claim.span)
        for first, second in pairwise(before):
            self._findings.relate(claim, (first,), (second,))
        self._discourse.start_clause(row or before)

    def read_flanking(self, word: Word) -> None:
        """Read two things on either side of a third, which implies that it is between them."""
        flanks = self._discourse.focus
        middle = self._discourse.resolve(self._pieces.take_objects(1), ()) or self._discourse.host
        if not middle and self._pieces.is_subject_ahead(after_verb=True):
            middle = self._discourse.take_fronted_subject(word.text, word.span)
        if middle and len(flanks) != FLANKS and self._pieces.is_subject_ahead(after_verb=True):
            flanks = self._discourse.take_fronted_subject(word.text, word.span)
        if len(flanks) == 1:
            flanks *= FLANKS
        if len(flanks) == FLANKS:
            self._findings.relate(Claim(BETWEEN, word.text, word.span), middle, flanks)
        else:
            self._findings.note_not_understood(word.span)

    def _side_refers_back(self, word: Word) -> bool:
        """Return True if a side refers to the preceding thing: "a plate with a cup to the left"."""
        is_apart = self._discourse.host and not set(self._discourse.host) & set(
            self._discourse.focus
        )
        is_side = word.relation_type is not None and word.text.lower() in OWN_SIDES
        return bool(is_apart and is_side and not self._framed)

    def _across(self, word: Word, ends: Ends) -> Ends:
        """Return what a side is the opposite of: "a cat left of a dog and a bird to the right"."""
        is_frame_open = any(framed.word.relation_type for framed in self._framed)
        if is_frame_open or not self._findings.relations or word.relation_type is None:
            return ()
        latest = self._findings.relations[-1]
        is_opposite = latest.type == relation_types.inverse(word.relation_type)
        return (latest.object,) if is_opposite and not {*ends} & {*latest.ends} else ()

    def pair_frames(self) -> None:
        """Relate the things at different places in the picture."""
        lonely = list(self._framed)
        for first, relation_type, second in opposites(self._framed):
            claim = Claim(relation_type, first.word.text, first.word.span)
            self._findings.relate(claim, first.ends, second.ends)
            lonely = [each for each in lonely if each not in (first, second)]
        for each in lonely:
            self._findings.note(f'There is nothing opposite to "{each.word.text}".', each.word.span)


SAYING_OF = (WordKind.RELATION, WordKind.BE, WordKind.NOT)
TOWARDS = {"at", "to", "toward", "towards", "for", "after", "past"}


class ClauseReader:
    """Reads the pieces of one prompt; create a new one for each prompt."""

    def __init__(self, text: str, pieces: Sequence[Piece]) -> None:
        self._discourse = Discourse(text, pieces)
        self._arrangements = ArrangementReader(self._discourse)
        self._pieces = self._discourse.pieces
        self._references = self._discourse.references
        self._findings = self._discourse.scene_parts
        self._waiting: list[tuple[Claim, Ends]] = []

    @property
    def mentions(self) -> tuple[ObjectMention, ...]:
        """The mentions, in text order."""
        return self._references.mentioned

    @property
    def relations(self) -> Sequence[Relation]:
        """The relations, in text order."""
        return self._findings.relations

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes on words that were guessed or not understood."""
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
        """Read a word that changes the current subject: "and", a full stop, "which", "with"."""
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
        """Enter a relative clause: "a cup that is ...", "a cup that a man put on ..."."""
        self._discourse.enter_relative(self._references.latest)
        if word.text.lower() != "whose" and self._pieces.is_at_placed_by_another:
            self._discourse.resolve(self._pieces.take_subjects(), ())
            self._pieces.skip(*VERBS)

    def _turns_back(self, word: Word) -> bool:
        """Return True if a word returns to the clause's subject: "and", "from behind"."""
        leads = word.kind is WordKind.PREPOSITION and self._pieces.is_at(WordKind.RELATION)
        return leads or word.kind in {*JOINERS, WordKind.BE}

    def _stands_apart(self, word: Word) -> bool:
        """Return True if a phrase is independent, after a comma, a place or "puts"."""
        if word.kind is WordKind.WITH:
            is_behind_place = (
                word.text.lower() == "with" and self._discourse.focus != self._discourse.clause
            )
            return is_behind_place or self._pieces.is_behind_clause_start
        return word.kind in {WordKind.PLACING, WordKind.WATCHING}

    def _read_dependents(self, word: Word, things: Sequence[Thing], *, is_apart: bool) -> None:
        """Read the dependents of the preceding thing: "a dog with a hat".

        An independent one has its own relations: "a dog by a tree, with a hat on the tree". So has
        a watched thing that acts: "looking at a cat sitting on a chair".
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
        """Return True if an actor depends on a thing that cannot act: "a stage with a band"."""
        acts = self._references.acts
        return acts(self._discourse.focus) and not acts(self._discourse.owner)

    def _apart_from(self, objects: Ends, subjects: Ends) -> Ends:
        """Return the subjects of a relation, excluding its objects."""
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
        """Return the implied object of a thing named alone: "a cat, a dog behind"."""
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
        """Skip a negation up to the end of the clause, and note it.

        A misplaced thing is still present, like the dog in "a cat not left of a dog"; a negated one
        is not, like the lamp in "a table without a lamp".
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
    """Return True for mere places, after which the sentence continues with its subject."""
    return any(isinstance(thing, NounPhrase) and thing.is_surface for thing in things)
