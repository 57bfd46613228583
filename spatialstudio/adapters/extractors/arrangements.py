"""Reads how several things are arranged: places in the picture, rows, and things on both sides."""

from itertools import pairwise

from spatialstudio.adapters.extractors.discourse import BEFORE_SUBJECT, Discourse
from spatialstudio.adapters.extractors.picture_frame import Framed, opposites
from spatialstudio.adapters.extractors.pieces import VERBS
from spatialstudio.adapters.extractors.references import Ends
from spatialstudio.adapters.extractors.words import Claim, Word, WordKind, claim_of
from spatialstudio.domain.relation import BETWEEN, FLANKS, relation_types

BEFORE_LIST = (*BEFORE_SUBJECT, WordKind.WITH, WordKind.THEM, WordKind.WORD, WordKind.PREPOSITION)
OWN_SIDES = {"to the left", "to the right"}


class ArrangementReader:
    """Reads the words that arrange things, and what they arrange.

    Args:
        discourse: The prompt as far as it was read.
    """

    def __init__(self, discourse: Discourse) -> None:
        self._discourse = discourse
        self._pieces = discourse.pieces
        self._references = discourse.references
        self._findings = discourse.findings
        self._framed: list[Framed] = []

    def read_frame(self, word: Word) -> None:
        """Read a place in the picture: "a cat on the left", "on the right is a dog"."""
        is_owner_placed = any(framed.ends == self._discourse.owner for framed in self._framed)
        ends = (
            self._discourse.focus
            if is_owner_placed
            else self._discourse.owner or self._discourse.clause or self._discourse.focus
        )
        if self._is_beside_host(word):
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
        """Read an ordered list, before or behind the words that order it."""
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
        """Read two things on either side of a third, which is thereby between them."""
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

    def _is_beside_host(self, word: Word) -> bool:
        """Tell whether a side is that of the thing before: "a plate with a cup to the left"."""
        is_apart = self._discourse.host and not set(self._discourse.host) & set(
            self._discourse.focus
        )
        is_side = word.relation_type is not None and word.text.lower() in OWN_SIDES
        return bool(is_apart and is_side and not self._framed)

    def _across(self, word: Word, ends: Ends) -> Ends:
        """Return what a side is opposite of: "a cat left of a dog and a bird to the right"."""
        is_frame_open = any(framed.word.relation_type for framed in self._framed)
        if is_frame_open or not self._findings.relations or word.relation_type is None:
            return ()
        latest = self._findings.relations[-1]
        is_opposite = latest.type == relation_types.inverse(word.relation_type)
        return (latest.object,) if is_opposite and not {*ends} & {*latest.ends} else ()

    def pair_frames(self) -> None:
        """Relate the things at different places of the picture."""
        lonely = list(self._framed)
        for first, relation_type, second in opposites(self._framed):
            claim = Claim(relation_type, first.word.text, first.word.span)
            self._findings.relate(claim, first.ends, second.ends)
            lonely = [each for each in lonely if each not in (first, second)]
        for each in lonely:
            self._findings.note(f'I find nothing opposite to "{each.word.text}".', each.word.span)
