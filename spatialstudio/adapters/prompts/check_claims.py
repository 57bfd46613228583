"""Comparison of a language model's claims with the prompt's own words.

A claim is confirmed if it follows from the grammar's reading, or if the words that the model quotes
name its direction. It is disputed if the reading excludes it, or if the words name another
direction or negate it. Words that the grammar does not know, such as those of other languages, are
ignored.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum

from spatialstudio.adapters.prompts.words import (
    CLAUSE_BOUNDS,
    RELATIONS,
    Word,
    WordKind,
)
from spatialstudio.domain.scene import (
    FLANKS,
    MentionId,
    ObjectMention,
    Relation,
    RelationType,
    SceneGraph,
    Shape,
    TextSpan,
    relation_types,
)
from spatialstudio.science.scenes.consistency import contradictions_of, redundancies_of


class Agreement(Enum):
    """Result of comparing a claim with the words of the prompt."""

    CONFIRMED = "confirmed"
    DISPUTED = "disputed"
    UNKNOWN = "unknown"
    """No word that the grammar knows confirms or disputes it."""


class _Said(Enum):
    """What a direction word states about a claim."""

    SAME = "same"
    REVERSED = "reversed"
    OTHER = "other"
    """Another kind of relation: "next to" for a claim of "left of"."""
    UNCLEAR = "unclear"
    """The thing that it places is ambiguous."""


class ClaimChecker:
    """Checks claims about one prompt.

    Args:
        read: The grammar's reading.
        words: The prompt as the grammar tokenizes it.
    """

    def __init__(self, read: SceneGraph, words: Sequence[Word]) -> None:
        self._read = read
        self._words = words
        self._read_spans = [each.span for each in read.relations if each.span]

    def check(self, claim: Relation, mentions: Sequence[ObjectMention]) -> Agreement:
        """Compare a claim with the words at its span and with the grammar's reading.

        Args:
            claim: A relation whose id is not used by the reading.
            mentions: The mentions of the prompt, including mentions that only the model found.
        """
        both = replace(
            self._read, mentions=tuple(mentions), relations=(*self._read.relations, claim)
        )
        if any(found.relation_id == claim.id for found in redundancies_of(both)):
            return Agreement.CONFIRMED
        if _is_excluded(claim, both):
            return Agreement.DISPUTED
        if claim.span is None:
            return Agreement.UNKNOWN
        return self._by_words(claim, {mention.id: mention for mention in mentions})

    def _by_words(self, claim: Relation, mentions: Mapping[MentionId, ObjectMention]) -> Agreement:
        assert claim.span is not None
        said = list(self._said(claim, claim.span, mentions))
        if any(one is _Said.SAME for one in said):
            return Agreement.CONFIRMED
        if any(one is _Said.REVERSED for one in said):
            return Agreement.DISPUTED
        is_read = any(claim.span.overlaps(span) for span in self._read_spans)
        if not claim.is_implied and (is_read or any(one is _Said.OTHER for one in said)):
            return Agreement.DISPUTED
        return Agreement.UNKNOWN

    def _said(
        self, claim: Relation, span: TextSpan, mentions: Mapping[MentionId, ObjectMention]
    ) -> Iterator[_Said]:
        """Compare a claim with each direction word in a span that the grammar has not read."""
        for place, word in enumerate(self._words):
            if word.relation_type is None or not word.span.overlaps(span):
                continue
            if any(word.span.overlaps(other) for other in self._read_spans):
                continue
            said = _compared(claim, word, mentions)
            if self._is_denied(place):
                yield _Said.REVERSED if said is _Said.SAME else _Said.UNCLEAR
            elif said is _Said.OTHER and word.kind is WordKind.LOOSE_RELATION:
                yield _Said.UNCLEAR
            else:
                yield said

    def _is_denied(self, place: int) -> bool:
        """Return True if the clause negates a word: "not above", "no cat is above a dog"."""
        for word in reversed(self._words[:place]):
            if word.kind in CLAUSE_BOUNDS:
                return False
            if word.kind is WordKind.NOT:
                return True
        return False


def _is_excluded(claim: Relation, both: SceneGraph) -> bool:
    """Return True if a claim contradicts the reading or flanks a different thing."""
    if any(claim.id in found.relation_ids for found in contradictions_of(both)):
        return True
    return claim.type.shape is Shape.BETWEEN and any(
        other.type.shape is Shape.BETWEEN
        and other.subject != claim.subject
        and set(other.ends) == set(claim.ends)
        for other in both.relations
    )


def _compared(claim: Relation, word: Word, mentions: Mapping[MentionId, ObjectMention]) -> _Said:
    assert word.relation_type is not None
    shapes = {claim.type.shape, word.relation_type.shape}
    if shapes == {Shape.ORDER}:
        return _compared_order(claim, word, word.relation_type, mentions)
    if shapes == {Shape.NEAR, Shape.FAR}:
        return _Said.REVERSED
    if len(shapes) > 1:
        return _Said.OTHER
    if shapes == {Shape.BETWEEN}:
        return _compared_flanks(claim, word, mentions)
    return _Said.SAME


def _compared_order(
    claim: Relation,
    word: Word,
    said_type: RelationType,
    mentions: Mapping[MentionId, ObjectMention],
) -> _Said:
    """Compare directions; the thing after the word is the reference of the other one."""
    ours = set(claim.type.claims)
    if {each.axis for each in ours}.isdisjoint(each.axis for each in said_type.claims):
        return _Said.OTHER
    landmark = _landmark(claim, word, mentions)
    if landmark is None:
        return _Said.UNCLEAR
    is_direct = landmark == claim.object
    said = set((said_type if is_direct else relation_types.inverse(said_type)).claims)
    if ours <= said:
        return _Said.SAME
    opposite = {replace(each, subject_first=not each.subject_first) for each in said}
    return _Said.REVERSED if ours & opposite else _Said.OTHER


def _landmark(
    claim: Relation, word: Word, mentions: Mapping[MentionId, ObjectMention]
) -> MentionId | None:
    """Return the end that a word uses as its reference; None if it is ambiguous."""
    if word.kind is WordKind.FRAME:
        nearest = min(claim.ends, key=lambda end: _distance(mentions[end].span, word.span))
        return claim.object if nearest == claim.subject else claim.subject
    if word.kind not in RELATIONS:
        return None
    return next(iter(_behind(claim, word, mentions)), None)


def _compared_flanks(
    claim: Relation, word: Word, mentions: Mapping[MentionId, ObjectMention]
) -> _Said:
    flanks = _behind(claim, word, mentions)[:FLANKS]
    if claim.subject in flanks:
        return _Said.REVERSED
    return _Said.SAME if len(flanks) == FLANKS else _Said.UNCLEAR


def _behind(
    claim: Relation, word: Word, mentions: Mapping[MentionId, ObjectMention]
) -> list[MentionId]:
    """List the ends that follow a word in the text, nearest first."""
    later = {end for end in claim.ends if mentions[end].span.start >= word.span.stop}
    return sorted(later, key=lambda end: mentions[end].span.start)


def _distance(first: TextSpan, second: TextSpan) -> int:
    return max(first.start - second.stop, second.start - first.stop)
