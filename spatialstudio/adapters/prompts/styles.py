"""Separation of a prompt's style from its content.

Style is an opening, "an oil painting of a cat", or tags between commas or dashes, "a cat, 35mm
lens, oil painting"; a painting above a sofa is a thing.
"""

from collections.abc import Iterator, Sequence

from spatialstudio.adapters.prompts.pieces import NounPhrase, Piece
from spatialstudio.adapters.prompts.vocabulary import Vocabulary
from spatialstudio.adapters.prompts.words import (
    ARTICLES,
    RELATIONS,
    Word,
    WordKind,
)

OPENING_ENDS = {WordKind.SHOWING, WordKind.WITH, WordKind.COLON, WordKind.COMMA, WordKind.STYLE}
OF_DEPICTION = {
    "shows",
    "depicting",
    "depicts",
    "portraying",
    "portrays",
    "featuring",
    "illustrating",
}
TAG_BOUNDS = {WordKind.COMMA, WordKind.STOP, WordKind.OTHER}
IN_TAG = {WordKind.WORD, WordKind.FALSE_FRIEND, WordKind.AND, WordKind.WITH}
TELLING = {*RELATIONS, *ARTICLES, WordKind.FRAME}


def without_tags(words: Sequence[Word], vocabulary: Vocabulary) -> list[Word]:
    """Drop style tags: "a cat left of a dog, oil painting, soft light"."""
    kept: list[Word] = []
    tells = False
    for start, stop in _parts(words):
        part = words[start:stop]
        is_joined = stop + 1 < len(words) and words[stop + 1].kind is WordKind.AND
        if is_joined or not _is_tag(part, vocabulary, may_be_thing=not tells):
            kept += part
            tells = tells or any(word.kind in TELLING for word in part)
        kept += words[stop : stop + 1]
    return kept


def _parts(words: Sequence[Word]) -> Iterator[tuple[int, int]]:
    """Split at commas, stops and dashes."""
    bounds = [n for n, word in enumerate(words) if word.kind in TAG_BOUNDS]
    yield from zip((0, *(bound + 1 for bound in bounds)), (*bounds, len(words)), strict=True)


def _is_tag(part: Sequence[Word], vocabulary: Vocabulary, *, may_be_thing: bool) -> bool:
    """Return True if a part without article names a style: "depth of field", "oil painting"."""
    if not part or not all(word.kind in IN_TAG for word in part):
        return False
    texts = [word.text.lower() for word in part]
    whole = texts.index("of") if "of" in texts else len(texts)
    names = {*texts[max(whole - 1, 0) : whole], texts[-1], " ".join(texts[-2:])}
    if names & vocabulary.styles:
        return True
    return not may_be_thing and not names.isdisjoint(vocabulary.depictions | vocabulary.ambience)


def without_opening(pieces: list[Piece], vocabulary: Vocabulary) -> list[Piece]:
    """Drop the style before the content: "an oil painting of", "a scene in which"."""
    depicts = False
    for place, piece in enumerate(pieces):
        if isinstance(piece, NounPhrase):
            depicted = is_depiction(piece, vocabulary)
            if not depicted and not depicts and not _is_depicting(pieces, place + 1):
                return pieces
            depicts = depicts or depicted
        elif piece.kind is WordKind.ROW and place == 0:
            return [piece, *without_opening(pieces[1:], vocabulary)]
        elif piece.kind in {WordKind.RELATION, WordKind.FRAME, WordKind.ROW}:
            return pieces
        follows = isinstance(pieces[place - 1], NounPhrase) if place else False
        if isinstance(piece, Word) and depicts and follows and piece.kind in OPENING_ENDS:
            rest = without_opening(pieces[place + 1 :], vocabulary)
            return [piece, *rest] if piece.kind is WordKind.COMMA else rest
        if isinstance(piece, Word) and _is_depicting(pieces, place):
            return pieces[place + 1 :]
    return pieces


def is_depiction(phrase: NounPhrase, vocabulary: Vocabulary) -> bool:
    """Return True if a phrase names a kind of picture: "a watercolour", "a book cover"."""
    last = phrase.head.split()[-1]
    return phrase.head in vocabulary.depictions or last in vocabulary.depictions


def _is_depicting(pieces: Sequence[Piece], place: int) -> bool:
    if place >= len(pieces):
        return False
    piece = pieces[place]
    is_showing = isinstance(piece, Word) and piece.kind is WordKind.SHOWING
    return is_showing and piece.text.lower() in OF_DEPICTION
