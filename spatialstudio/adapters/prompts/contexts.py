"""Settles what pieces mean by what stands around them, before clauses are read.

Style is dropped, "on" and "by" become relations or not, "both" a pronoun or nothing, and what names
light or a place becomes a setting, which nothing can be placed against.
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
from spatialstudio.domain.prompt import TextSpan
from spatialstudio.domain.relation import (
    BETWEEN,
    FLANKS,
    IN_FRONT_OF,
    NEAR,
    Axis,
    RelationType,
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
        pieces: Without style; settings are a gap.
        settings: Where the settings stand: "in a park".
        strange: Where unknown words stand among things.
    """

    pieces: tuple[Piece, ...]
    settings: tuple[TextSpan, ...]
    strange: tuple[TextSpan, ...]


def settle(text: str, pieces: Sequence[Piece], vocabulary: Vocabulary) -> SettledPieces:
    """Settle the pieces of one prompt, whose text is given as typed."""
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
    """Tell whether a clause ends at a piece."""
    return piece is None or (isinstance(piece, Word) and piece.kind in CLAUSE_BOUNDS)


def _with_contents(pieces: Sequence[Piece], text: str, vocabulary: Vocabulary) -> list[Piece]:
    """Make one thing of two: "a glass of orange juice" is a glass, "a man in red" a man."""
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
    """Make one of things that "or" joins, and a denial of places: "left of or behind a dog"."""
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
    """Read "it is left of a cat that a dog sits" as "left of a cat a dog sits"."""
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
    """Return what a word stands for that may be a pronoun; None where it is none."""
    if piece.kind is WordKind.BOTH and _is_pronoun(before, after):
        return WordKind.THEM
    if piece.kind is WordKind.ITSELF and is_word(before, WordKind.COMMA):
        return WordKind.RELATIVE
    if piece.kind is WordKind.RELATIVE and _is_claim(before):
        return WordKind.IT
    return None


def _starts_subordinate(piece: Word, before: Piece | None, after: Sequence[Piece]) -> bool:
    """Tell whether a clause with a verb of its own follows: "until a girl stands ..."."""
    is_fronted = piece.text.lower() == "before" and is_word(before, *CLAUSE_BOUNDS)
    is_conjunction = piece.text.lower() in SUBORDINATING and not is_fronted
    match after:
        case [NounPhrase() | Word(kind=WordKind.IT | WordKind.THEM), Word() as verb]:
            is_finite = verb.kind is WordKind.BE or verb.text.lower().endswith("s")
            return is_conjunction and is_finite and verb.kind in {WordKind.BE, *VERBS}
    return False


def _tells_how(before: Sequence[Piece], after: Piece | None, vocabulary: Vocabulary) -> bool:
    """Tell whether "by" tells who or what did it, rather than where."""
    is_by_maker = _is_agent(before, after, made=_is_made(before, vocabulary))
    return is_by_maker or _is_means(before, after, vocabulary)


def _is_of_verb(piece: Word, before: Piece | None, vocabulary: Vocabulary) -> bool:
    """Tell whether a verb takes the preposition along: "argue over"."""
    verbs = vocabulary.particles.get(piece.text.lower(), ())
    return isinstance(before, Word) and before.text.lower() in verbs


def _joins_parties(piece: Word, before: Piece | None) -> bool:
    """Tell whether "between" and "over" speak of what cannot be seen: "a duel between ..."."""
    is_joining = piece.relation_type is BETWEEN or piece.text.lower() == "over"
    return is_joining and isinstance(before, NounPhrase) and before.is_abstract


def _is_set_off(before: Sequence[Piece], after: Piece | None) -> bool:
    """Tell whether a comma only sets off a relation: "balloon, above, cactus"."""
    match before:
        case [*_, Word(kind=WordKind.COMMA), Word(kind=WordKind.RELATION)]:
            return isinstance(after, NounPhrase)
    return False


def _is_emphasis(piece: Word, before: Piece | None) -> bool:
    """Tell whether "itself" places nothing: "the tent itself", "plants herself"."""
    is_object = isinstance(before, Word) and before.kind in {*RELATIONS, WordKind.PREPOSITION}
    return piece.kind is WordKind.ITSELF and not is_object


def _is_pronoun(before: Piece | None, after: Piece | None) -> bool:
    """Tell whether "both" stands for things: ", both behind a fence", "a lamp above both"."""
    starts_clause = before is None or (isinstance(before, Word) and before.kind in CLAUSE_BOUNDS)
    claims = isinstance(after, Word) and after.kind in {WordKind.RELATION, WordKind.BE}
    is_object = isinstance(before, Word) and before.kind is WordKind.RELATION
    return (starts_clause and claims) or (is_object and not isinstance(after, NounPhrase))


def _settled_kind(
    piece: Word, before: Piece | None, after: Piece | None, vocabulary: Vocabulary
) -> WordKind:
    """Let "on" claim a relation where a thing or a pronoun follows, but no place.

    What does something is no place either: "led by a horse".
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
    """Tell whether something can be "on" or "by" a thing: known, or at least "a ..."."""
    may_be_strange = phrase.is_marked and piece.relation_type is not IN_FRONT_OF
    takes_room = not (phrase.is_occasion or phrase.is_abstract)
    return takes_room and (phrase.is_known or may_be_strange)


def _is_agent(before: Sequence[Piece], after: Piece | None, *, made: bool) -> bool:
    """Tell whether "by" names who did it: "a cup was put on the table by a man"."""
    if not isinstance(after, NounPhrase) or not after.is_person:
        return False
    if made or _is_behind_comma(before):
        return True
    return any(
        isinstance(be, Word) and be.kind is WordKind.BE and _is_act(act, WordKind.PLACING)
        for be, act in pairwise(_clause_at_end(before))
    )


def _is_made(before: Sequence[Piece], vocabulary: Vocabulary) -> bool:
    """Tell whether a maker may follow: "a portrait by ...", "a cake baked at home by ..."."""
    if before and isinstance(before[-1], NounPhrase) and is_depiction(before[-1], vocabulary):
        return True
    return any(piece.text.lower() in vocabulary.making_verbs for piece in _clause_at_end(before))


def _is_means(before: Sequence[Piece], after: Piece | None, vocabulary: Vocabulary) -> bool:
    """Tell whether "by" says how someone travels: "he left the village by train"."""
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
    """Tell whether "which" behind it stands for a thing: "a lake, behind which ..."."""
    return isinstance(piece, Word) and piece.kind in RELATIONS


def _is_act(piece: Piece | None, *others: WordKind) -> bool:
    """Tell whether a piece is what was done, such as "led", or of another kind that will do."""
    if not isinstance(piece, Word):
        return False
    is_verb = piece.kind in {WordKind.VERB, WordKind.WATCHING}
    return piece.kind in others or (is_verb and piece.text.lower().endswith(PARTICIPLE_ENDINGS))


def _is_setting(
    before: Piece | None, phrase: NounPhrase, after: Piece | None, vocabulary: Vocabulary
) -> bool:
    """Tell whether a phrase says where or in what light all is, behind "in" or "under"."""
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
