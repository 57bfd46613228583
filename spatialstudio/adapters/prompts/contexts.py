"""Disambiguation of pieces by their neighbours, before clauses are read.

Style is dropped, "on" and "by" become relations or not, "both" becomes a pronoun or is dropped, and
phrases for light or places become settings, which cannot be the object of a relation.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest

from spatialstudio.adapters.prompts.pieces import (
    VERBS,
    NounPhrase,
    Piece,
    is_word,
)
from spatialstudio.adapters.prompts.styles import is_depiction, without_opening
from spatialstudio.adapters.prompts.vocabulary import Vocabulary
from spatialstudio.adapters.prompts.words import (
    CLAUSE_BOUNDS,
    PRONOUNS,
    RELATIONS,
    Word,
    WordKind,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    BETWEEN,
    FLANKS,
    IN_FRONT_OF,
    NEAR,
    Axis,
    RelationType,
    TextSpan,
)

PLACING_KINDS = {*RELATIONS, WordKind.FRAME}
SUBORDINATING = {"until", "till", "since", "before"}
SILENT = {WordKind.SHOWING, WordKind.BOTH}
PARTICIPLE_ENDINGS = (
    "ed",
    "en",
    "wn",
    "led",
    "struck",
    "built",
    "held",
    "made",
    "lit",
    "hit",
    "shot",
)


@frozen
class SettledPieces:
    """Pieces ready to be read as clauses.

    Attributes:
        pieces: Without style; settings are replaced by a gap.
        settings: Spans of the settings: "in a park".
        strange: Spans of unknown words among things.
    """

    pieces: tuple[Piece, ...]
    settings: tuple[TextSpan, ...]
    strange: tuple[TextSpan, ...]


def settle(text: str, pieces: Sequence[Piece], vocabulary: Vocabulary) -> SettledPieces:
    """Disambiguate the pieces of one prompt, given its original text."""
    kept = _with_contents(without_opening(list(pieces), vocabulary), text, vocabulary)
    kept = _with_alternatives(_without_cleft(_with_answers(_with_flanks(kept))), text)
    kept = list(_with_settled_words(kept, vocabulary))
    settled: list[Piece] = []
    settings: list[TextSpan] = []
    for piece, after in zip_longest(kept, kept[1:]):
        before = settled[-1] if settled else None
        if isinstance(piece, NounPhrase) and _is_setting(before, piece, after, vocabulary):
            assert isinstance(before, Word)
            span = TextSpan(start=before.span.start, stop=piece.span.stop)
            settled[-1] = replace(before, kind=WordKind.WORD, relation_type=None, span=span)
            settings.append(span)
        else:
            settled.append(piece)
    return SettledPieces(
        pieces=tuple(settled),
        settings=tuple(settings),
        strange=tuple(_strange_words(kept, vocabulary)),
    )


def _strange_words(pieces: Sequence[Piece], vocabulary: Vocabulary) -> Iterator[TextSpan]:
    """Find unknown words in a clause; "mucha" alone or "by Mucha" is style."""
    bounds = (None, *pieces, None)
    for before, piece, after in zip(bounds, pieces, bounds[2:], strict=False):
        is_gap = isinstance(piece, Word) and piece.kind is WordKind.WORD
        is_strange = is_gap and piece.text.isalpha() and not vocabulary.knows(piece.text)
        is_style = _is_bound(after) and (_is_bound(before) or is_word(before, WordKind.PREPOSITION))
        if is_strange and not is_style:
            yield piece.span


def _is_bound(piece: Piece | None) -> bool:
    """Return True if a piece ends a clause."""
    return piece is None or (isinstance(piece, Word) and piece.kind in CLAUSE_BOUNDS)


def _with_contents(pieces: Sequence[Piece], text: str, vocabulary: Vocabulary) -> list[Piece]:
    """Merge a thing with its contents or clothes: "a glass of orange juice", "a man in red"."""
    joined: list[Piece] = []
    for piece in pieces:
        match joined:
            case [*_, NounPhrase() as whole, Word(kind=WordKind.WITH, text="of")] if isinstance(
                piece, NounPhrase
            ):
                span = TextSpan(start=whole.span.start, stop=piece.span.stop)
                joined[-2:] = [replace(whole, text=span.of(text), span=span)]
            case [*_, NounPhrase(), Word(kind=WordKind.PREPOSITION, text="in")] if _is_colour(
                piece, vocabulary
            ):
                joined.pop()
            case _:
                joined.append(piece)
    return joined


def _with_alternatives(pieces: Sequence[Piece], text: str) -> list[Piece]:
    """Merge things joined by "or", and negate alternative places: "left of or behind a dog"."""
    joined: list[Piece] = []
    for piece in pieces:
        match joined, piece:
            case [*_, NounPhrase() as first, Word(kind=WordKind.OR)], NounPhrase():
                span = TextSpan(start=first.span.start, stop=piece.span.stop)
                joined[-2:] = [replace(first, text=span.of(text), span=span, is_alternative=True)]
            case [*_, Word(kind=WordKind.COMMA)], Word(kind=WordKind.OR):
                joined[-1] = piece
            case [*_, Word() as first, Word(kind=WordKind.OR)], Word() if {
                *(first.kind, piece.kind)
            } <= PLACING_KINDS:
                joined[-2:] = [replace(first, kind=WordKind.NOT, relation_type=None), piece]
            case _:
                joined.append(piece)
    return joined


def _with_flanks(pieces: Sequence[Piece]) -> list[Piece]:
    """Read "with a cat on one side and a dog on the other" as both on either side."""
    halves = [place for place, piece in enumerate(pieces) if is_word(piece, WordKind.ONE_SIDE)]
    flanking = {halves[1]} if len(halves) == FLANKS else set()
    return [
        replace(piece, kind=WordKind.FLANKING)
        if isinstance(piece, Word) and place in flanking
        else piece
        for place, piece in enumerate(pieces)
        if place in flanking or place not in halves
    ]


def _without_cleft(pieces: Sequence[Piece]) -> list[Piece]:
    """Undo a cleft: "it is left of a cat that a dog sits" becomes "left of a cat a dog sits"."""
    match pieces:
        case [
            Word(kind=WordKind.IT),
            Word(kind=WordKind.BE),
            Word(kind=WordKind.RELATION) as relation,
            NounPhrase() as thing,
            Word(kind=WordKind.RELATIVE),
            NounPhrase() as subject,
            *rest,
        ]:
            return [relation, thing, subject, *rest]
    return list(pieces)


def _with_answers(pieces: Sequence[Piece]) -> list[Piece]:
    """Join a question to its answer: "What is under the bed? A cat."."""
    asked = next((n for n, piece in enumerate(pieces) if is_word(piece, WordKind.QUESTION)), None)
    if asked is None:
        return list(pieces)
    rest = list(pieces[asked + 1 :])
    ends = (n for n, piece in enumerate(rest) if is_word(piece, WordKind.STOP))
    stop = next(ends, len(rest))
    return [*pieces[:asked], *rest[:stop], *rest[stop + 1 :]]


def _is_colour(piece: Piece, vocabulary: Vocabulary) -> bool:
    is_word = isinstance(piece, Word) and piece.kind is WordKind.WORD
    return is_word and piece.text.lower() in vocabulary.adjectives


def _with_settled_words(pieces: Sequence[Piece], vocabulary: Vocabulary) -> Iterator[Piece]:
    for place, piece in enumerate(pieces):
        before = pieces[place - 1] if place else None
        after = pieces[place + 1] if place + 1 < len(pieces) else None
        if isinstance(piece, NounPhrase):
            is_both = is_word(before, WordKind.BOTH) and piece.is_plural
            yield replace(piece, is_definite=True) if is_both else piece
        elif piece.kind is WordKind.COMMA and _is_set_off(pieces[:place], after):
            continue
        elif kind := _kind_of_pronoun(piece, before, after):
            yield replace(piece, kind=kind)
        elif place and _starts_subordinate(piece, before, pieces[place + 1 : place + 3]):
            yield replace(piece, kind=WordKind.COMMA, relation_type=None)
        elif piece.kind in RELATIONS and (
            _is_of_verb(piece, before, vocabulary) or _joins_parties(piece, before)
        ):
            yield replace(piece, kind=WordKind.PREPOSITION)
        elif piece.kind is WordKind.LOOSE_RELATION:
            is_how = piece.relation_type is NEAR and _tells_how(pieces[:place], after, vocabulary)
            kind = _settled_kind(piece, before, after, vocabulary)
            yield replace(piece, kind=WordKind.PREPOSITION if is_how else kind)
        elif piece.kind not in SILENT and not _is_emphasis(piece, before):
            yield piece


def _kind_of_pronoun(piece: Word, before: Piece | None, after: Piece | None) -> WordKind | None:
    """Return the kind of a possible pronoun; None if it is not a pronoun."""
    if piece.kind is WordKind.BOTH and _is_pronoun(before, after):
        return WordKind.THEM
    if piece.kind is WordKind.ITSELF and is_word(before, WordKind.COMMA):
        return WordKind.RELATIVE
    if piece.kind is WordKind.RELATIVE and _is_claim(before):
        return WordKind.IT
    return None


def _starts_subordinate(piece: Word, before: Piece | None, after: Sequence[Piece]) -> bool:
    """Return True if a clause with its own verb follows: "until a girl stands ..."."""
    is_fronted = piece.text.lower() == "before" and is_word(before, *CLAUSE_BOUNDS)
    is_conjunction = piece.text.lower() in SUBORDINATING and not is_fronted
    match after:
        case [NounPhrase() | Word(kind=WordKind.IT | WordKind.THEM), Word() as verb]:
            is_finite = verb.kind is WordKind.BE or verb.text.lower().endswith("s")
            return is_conjunction and is_finite and verb.kind in {WordKind.BE, *VERBS}
    return False


def _tells_how(before: Sequence[Piece], after: Piece | None, vocabulary: Vocabulary) -> bool:
    """Return True if "by" names a means or an agent, not a place."""
    is_by_maker = _is_agent(before, after, made=_is_made(before, vocabulary))
    return is_by_maker or _is_means(before, after, vocabulary)


def _is_of_verb(piece: Word, before: Piece | None, vocabulary: Vocabulary) -> bool:
    """Return True if a preposition belongs to its verb: "argue over"."""
    verbs = vocabulary.particles.get(piece.text.lower(), ())
    return isinstance(before, Word) and before.text.lower() in verbs


def _joins_parties(piece: Word, before: Piece | None) -> bool:
    """Return True if "between" or "over" is not spatial: "a duel between ..."."""
    is_joining = piece.relation_type is BETWEEN or piece.text.lower() == "over"
    return is_joining and isinstance(before, NounPhrase) and before.is_abstract


def _is_set_off(before: Sequence[Piece], after: Piece | None) -> bool:
    """Return True if a comma only sets off a relation: "balloon, above, cactus"."""
    match before:
        case [*_, Word(kind=WordKind.COMMA), Word(kind=WordKind.RELATION)]:
            return isinstance(after, NounPhrase)
    return False


def _is_emphasis(piece: Word, before: Piece | None) -> bool:
    """Return True if "itself" is not an object: "the tent itself", "plants herself"."""
    is_object = isinstance(before, Word) and before.kind in {*RELATIONS, WordKind.PREPOSITION}
    return piece.kind is WordKind.ITSELF and not is_object


def _is_pronoun(before: Piece | None, after: Piece | None) -> bool:
    """Return True if "both" is a pronoun: ", both behind a fence", "a lamp above both"."""
    starts_clause = before is None or (isinstance(before, Word) and before.kind in CLAUSE_BOUNDS)
    claims = isinstance(after, Word) and after.kind in {WordKind.RELATION, WordKind.BE}
    is_object = isinstance(before, Word) and before.kind is WordKind.RELATION
    return (starts_clause and claims) or (is_object and not isinstance(after, NounPhrase))


def _settled_kind(
    piece: Word, before: Piece | None, after: Piece | None, vocabulary: Vocabulary
) -> WordKind:
    """Read "on" as a relation if a thing or a pronoun follows, but not a place or an agent.

    An agent is not a place either: "led by a horse".
    """
    stays = before is not None and before.text.lower() in vocabulary.staying_verbs
    if piece.relation_type is NEAR and _is_act(before) and not stays:
        return WordKind.PREPOSITION
    if isinstance(after, NounPhrase):
        is_thing = piece.relation_type is NEAR or not after.is_place or after.is_surface
        counts = is_thing and _is_solid(piece, after)
    else:
        counts = after is not None and after.kind in {*PRONOUNS, WordKind.RELATIVE}
    return WordKind.RELATION if counts else WordKind.PREPOSITION


def _is_solid(piece: Word, phrase: NounPhrase) -> bool:
    """Return True if something can be "on" or "by" a thing: a known noun, or at least "a ..."."""
    may_be_strange = phrase.is_marked and piece.relation_type is not IN_FRONT_OF
    takes_room = not (phrase.is_occasion or phrase.is_abstract)
    return takes_room and (phrase.is_known or may_be_strange)


def _is_agent(before: Sequence[Piece], after: Piece | None, *, made: bool) -> bool:
    """Return True if "by" names the agent: "a cup was put on the table by a man"."""
    if not isinstance(after, NounPhrase) or not after.is_person:
        return False
    if made or _is_behind_comma(before):
        return True
    return any(
        isinstance(be, Word) and be.kind is WordKind.BE and _is_act(act, WordKind.PLACING)
        for be, act in pairwise(_clause_at_end(before))
    )


def _is_made(before: Sequence[Piece], vocabulary: Vocabulary) -> bool:
    """Return True if a creator may follow: "a portrait by ...", "a cake baked at home by ..."."""
    if before and isinstance(before[-1], NounPhrase) and is_depiction(before[-1], vocabulary):
        return True
    return any(piece.text.lower() in vocabulary.making_verbs for piece in _clause_at_end(before))


def _is_means(before: Sequence[Piece], after: Piece | None, vocabulary: Vocabulary) -> bool:
    """Return True if "by" names a means of transport: "he left the village by train"."""
    if not isinstance(after, NounPhrase) or after.is_marked or after.is_plural:
        return False
    acts = any(
        isinstance(piece, Word) and piece.kind in {WordKind.VERB, WordKind.PLACING}
        for piece in _clause_at_end(before)
    )
    return acts and after.head in vocabulary.vehicles


def _clause_at_end(pieces: Sequence[Piece]) -> Sequence[Piece]:
    starts = [
        n
        for n, piece in enumerate(pieces)
        if isinstance(piece, Word) and piece.kind in CLAUSE_BOUNDS
    ]
    return pieces[max(starts, default=-1) + 1 :]


def _is_behind_comma(before: Sequence[Piece]) -> bool:
    return bool(before) and isinstance(before[-1], Word) and before[-1].kind is WordKind.COMMA


def _is_claim(piece: Piece | None) -> bool:
    """Return True if a following "which" is a pronoun: "a lake, behind which ..."."""
    return isinstance(piece, Word) and piece.kind in RELATIONS


def _is_act(piece: Piece | None, *others: WordKind) -> bool:
    """Return True if a piece is a participle such as "led", or of one of the other kinds."""
    if not isinstance(piece, Word):
        return False
    is_verb = piece.kind in {WordKind.VERB, WordKind.WATCHING}
    return piece.kind in others or (is_verb and piece.text.lower().endswith(PARTICIPLE_ENDINGS))


def _is_setting(
    before: Piece | None, phrase: NounPhrase, after: Piece | None, vocabulary: Vocabulary
) -> bool:
    """Return True if a phrase names the place or the light of the scene, after "in" or "under"."""
    if not isinstance(before, Word):
        return False
    if before.kind is WordKind.PREPOSITION:
        is_described = isinstance(after, Word) and after.kind is WordKind.RELATIVE
        return phrase.is_place or not (phrase.is_known or is_described)
    if before.kind is not WordKind.RELATION:
        return False
    in_light = _orders_space(before.relation_type) and _is_ambience(phrase, vocabulary)
    return in_light or phrase.is_abstract


def _is_ambience(phrase: NounPhrase, vocabulary: Vocabulary) -> bool:
    last = phrase.head.split()[-1]
    return phrase.head in vocabulary.ambience or (
        not phrase.is_known and last in vocabulary.ambience
    )


def _orders_space(relation_type: RelationType | None) -> bool:
    return relation_type is not None and relation_type.axis in {Axis.Y, Axis.DEPTH}
