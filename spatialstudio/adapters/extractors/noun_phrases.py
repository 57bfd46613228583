"""Noun phrases: which runs of words name a thing, and which of them is the head.

A run is a noun phrase when it holds a noun of the vocabulary, when an article or a number opens it,
or when it stands where only a thing can stand: beside a relation. Verbs at its end are cut off.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from spatialstudio.adapters.extractors.vocabulary import LONGEST_NOUN, Vocabulary
from spatialstudio.adapters.extractors.words import Word, WordKind
from spatialstudio.domain.prompt import TextSpan

DETERMINERS = {WordKind.INDEFINITE, WordKind.DEFINITE, WordKind.MEASURE}
RUN_KINDS = {WordKind.WORD, WordKind.FALSE_FRIEND}
OPENERS = {WordKind.STYLE, WordKind.STOP, WordKind.COMMA, WordKind.AND}
PRONOUNS = {WordKind.IT, WordKind.THEM, WordKind.ITSELF, WordKind.EACH_OTHER}
VERB_ENDINGS = ("ing", "ed", "ly")


@dataclass(frozen=True, slots=True, kw_only=True)
class NounPhrase:
    """A run of words that names a thing.

    Attributes:
        text: As written, without the article.
        span: Where.
        head: The noun, singular, lower case.
        attributes: The words before the head.
        is_definite: Whether it may point back: "the dog".
        is_known: Whether the head is in the vocabulary.
    """

    text: str
    span: TextSpan
    head: str
    attributes: tuple[str, ...]
    is_definite: bool
    is_known: bool


Piece = Word | NounPhrase


def find_noun_phrases(text: str, words: Sequence[Word], vocabulary: Vocabulary) -> list[Piece]:
    """Replace runs of words by the noun phrases they are; of the others one word stays as a gap."""
    pieces: list[Piece] = []
    position = 0
    while position < len(words):
        word = words[position]
        if word.kind not in DETERMINERS | RUN_KINDS:
            pieces += [word] if word.kind is not WordKind.OTHER else []
            position += 1
            continue
        determiner = word if word.kind in DETERMINERS else None
        start = position + 1 if determiner else position
        position = _end_of_run(words, start)
        run = _Run(
            text=text,
            words=tuple(words[start:position]),
            determiner=determiner,
            before=pieces[-1] if pieces else None,
            after=words[position] if position < len(words) else None,
        )
        pieces += run.pieces(vocabulary) or run.words[-1:]
    return _settle_loose_relations(pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """Words in a row that may name a thing, with what stands around them."""

    text: str
    words: tuple[Word, ...]
    determiner: Word | None
    before: Piece | None
    after: Word | None

    def pieces(self, vocabulary: Vocabulary) -> list[Piece]:
        """Split into the noun phrase, if there is one, and the verb that follows it."""
        found = self._known(vocabulary)
        is_known = found is not None
        if found is None:
            found = self._open(vocabulary) if self._may_be_open(vocabulary) else None
        if found is None:
            return []
        start, stop, head = found
        if head in vocabulary.places and self.after and self.after.kind is WordKind.WITH:
            return []
        span = TextSpan(start=self.words[0].span.start, stop=self.words[stop - 1].span.stop)
        phrase = NounPhrase(
            text=span.of(self.text),
            span=span,
            head=head,
            attributes=tuple(word.text for word in self.words[:start]),
            is_definite=self.determiner is not None and self.determiner.kind is WordKind.DEFINITE,
            is_known=is_known,
        )
        return [phrase, *(_as_link(word) for word in self.words[stop:][-1:])]

    def _known(self, vocabulary: Vocabulary) -> tuple[int, int, str] | None:
        """Find the last known noun, if nothing but verbs follows it."""
        for stop in range(len(self.words), 0, -1):
            for start in range(max(0, stop - LONGEST_NOUN), stop):
                head = vocabulary.noun([word.text for word in self.words[start:stop]])
                if head is not None:
                    return (start, stop, head)
            if not _is_verb(self.words[stop - 1].text, after_noun=stop > 1):
                return None
        return None

    def _may_be_open(self, vocabulary: Vocabulary) -> bool:
        if not self.words:
            return False
        if self.determiner or self.words[0].text.lower() in vocabulary.numbers:
            return True
        if _is_verb(self.words[-1].text):
            return False
        before = self.before.kind if isinstance(self.before, Word) else None
        if before in {WordKind.RELATION, WordKind.NOT}:
            return True
        opens = self.before is None or before in OPENERS
        return opens and self.after is not None and self.after.kind is WordKind.RELATION

    def _open(self, vocabulary: Vocabulary) -> tuple[int, int, str]:
        """Take adjectives for attributes and all between them and the verbs for the head."""
        texts = [word.text.lower() for word in self.words]
        stop = len(texts)
        start = 0
        while start < stop - 1 and texts[start] in vocabulary.adjectives:
            start += 1
        while stop > start + 1 and _is_verb(texts[stop - 1]):
            stop -= 1
        *before, last = texts[start:stop]
        return start, stop, " ".join([*before, vocabulary.singular(last)])


def _settle_loose_relations(pieces: Sequence[Piece]) -> list[Piece]:
    """Make "on" and "by" relations where a known thing or a pronoun follows, else prepositions."""
    settled = list(pieces)
    for position, piece in enumerate(pieces):
        if isinstance(piece, Word) and piece.kind is WordKind.LOOSE_RELATION:
            following = next(iter(pieces[position + 1 : position + 2]), None)
            counts = following is not None and _is_certain_thing(following)
            kind = WordKind.RELATION if counts else WordKind.PREPOSITION
            settled[position] = replace(piece, kind=kind)
    return settled


def _is_certain_thing(piece: Piece) -> bool:
    return piece.is_known if isinstance(piece, NounPhrase) else piece.kind in PRONOUNS


def _end_of_run(words: Sequence[Word], start: int) -> int:
    stop = start
    while stop < len(words) and words[stop].kind in RUN_KINDS:
        stop += 1
    return stop


def _is_verb(text: str, *, after_noun: bool = False) -> bool:
    """Guess from the ending; behind a noun a lone "s" makes a verb too: "a dog jumps"."""
    lower = text.lower()
    return lower.endswith(VERB_ENDINGS) or (after_noun and lower.endswith("s"))


def _as_link(verb: Word) -> Word:
    """Let what follows a verb hang on its subject: "a dog wearing a hat"."""
    return Word(kind=WordKind.WITH, text=verb.text, span=verb.span)
