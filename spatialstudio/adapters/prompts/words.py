"""Tokenization of a prompt into words that describe its layout, each with its span.

The terminals of ``phrases.lark`` are the words of the built-in relation types and all other layout
words. Phrases of registered relation types are matched in addition: of two matches the longer one
wins on both sides, and the registered one if they are equal.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from functools import lru_cache
from pathlib import Path

from lark import Lark

from spatialstudio.adapters.prompts.spelling import CorrectedText
from spatialstudio.adapters.prompts.vocabulary import plain_phrase, registered_phrases
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    BUILT_IN_TYPES,
    LEFT_OF,
    RIGHT_OF,
    RelationType,
    TextSpan,
)

PLAIN, PHRASE, IDIOM = "PLAIN_", "(?!PHRASE)", "IDIOM"
ADVERBS = re.compile(r"^HOW: /(.+)/$", re.MULTILINE)
"""The terminal of adverbs that may precede a relation."""
LOOSE, FRAME, ROW, ITS, EACH_OTHER = "LOOSE_", "FRAME_", "ROW_", "_ITS", "_EACH_OTHER"


class WordKind(Enum):
    """The function of a word in a sentence; the values are terminals of ``phrases.lark``."""

    RELATION = "RELATION"
    LOOSE_RELATION = "LOOSE"
    """A relation only before a known noun: "on", "by"."""
    FRAME = "FRAME"
    """Places a thing in the picture: "on the left"."""
    CENTRE = "CENTRE"
    ROW = "ROW"
    """Orders a list: "from left to right"."""
    ONE_SIDE = "ONE_SIDE"
    """Half of a row: "on one side", "on the other"."""
    QUESTION = "QUESTION"
    """Asks for the subject of a place: "what is", followed by an answer."""
    UNREAD = "UNREAD"
    """Words for places without a relation type: "opposite"."""
    FLANKING = "FLANKING"
    """Puts its object between two subjects: "on either side of"."""
    STYLE = "STYLE"
    STYLE_OF = "STYLE_OF"
    SHOWING = "SHOWING"
    """Separates style from content: "depicting", "in which"."""
    REQUEST = "REQUEST"
    """Asks for the picture: "could you please"."""
    FALSE_FRIEND = "FALSE_FRIEND"
    INDEFINITE = "INDEFINITE"
    DEFINITE = "DEFINITE"
    MEASURE = "MEASURE"
    IT = "IT"
    ITS = "ITS"
    """The possessor of a side: "to its left"."""
    THEM = "THEM"
    FORMER = "FORMER"
    LATTER = "LATTER"
    EACH_OTHER = "EACH_OTHER"
    ITSELF = "ITSELF"
    RELATIVE = "RELATIVE"
    BOTH = "BOTH"
    AND = "AND"
    OR = "OR"
    COMMA = "COMMA"
    COLON = "COLON"
    STOP = "STOP"
    NOT = "NOT"
    BE = "BE"
    WITH = "WITH"
    """Attaches a thing to the preceding one: "with", "of"."""
    VERB = "VERB"
    """Recognised among other words: "wearing", "kneels"."""
    PLACING = "PLACING"
    """A verb that places its object: "she puts a cup on ..."."""
    WATCHING = "WATCHING"
    """A verb whose object has its own place: "watches a bird on ..."."""
    PREPOSITION = "PREPOSITION"
    WORD = "WORD"
    OTHER = "OTHER"


RELATIONS = {WordKind.RELATION, WordKind.LOOSE_RELATION}
ARTICLES = {WordKind.INDEFINITE, WordKind.DEFINITE}
DETERMINERS = {*ARTICLES, WordKind.MEASURE}
PRONOUNS = {
    *(WordKind.IT, WordKind.ITS, WordKind.THEM, WordKind.ITSELF, WordKind.EACH_OTHER),
    *(WordKind.FORMER, WordKind.LATTER),
}
JOINERS = {WordKind.AND, WordKind.COMMA}
SENTENCE_ENDS = {WordKind.STOP, WordKind.COLON}
CLAUSE_BOUNDS = JOINERS | SENTENCE_ENDS
POSSESSIVE_ENDINGS = ("'s", "\u2019s")
SIDES = {"left": LEFT_OF, "right": RIGHT_OF}
LONGEST_OWNER = 6
Cut = tuple[int, int, str | RelationType]
"""Start, stop, and a terminal or the relation type of a registered phrase."""
LEADING_ON = {*RELATIONS, WordKind.INDEFINITE, WordKind.DEFINITE, WordKind.WITH, WordKind.AND}
"""No sentence ends after these."""


@frozen
class Word:
    """A word or phrase of one kind.

    Attributes:
        kind: Its function.
        text: As written.
        span: Place in the prompt.
        relation_type: The relation it states; None unless the kind is a relation or a frame.
    """

    kind: WordKind
    text: str
    span: TextSpan
    relation_type: RelationType | None = None


@frozen(kw_only=False)
class Claim:
    """Words that state a relation: its type and their span."""

    type: RelationType
    text: str
    span: TextSpan


def claim_of(word: Word) -> Claim:
    """Return the claim of a relation or frame word."""
    assert word.relation_type is not None
    return Claim(word.relation_type, word.text, word.span)


class WordCutter:
    """Tokenizes prompts by the terminals of a grammar file.

    Args:
        grammar: The file.
        idioms: By first preposition, the continuations.
    """

    def __init__(self, grammar: Path, idioms: Mapping[str, Collection[str]]) -> None:
        text = grammar.read_text(encoding="utf-8").replace(f"/{IDIOM}/", _idiom(idioms))
        text = text.replace(PHRASE, _no_phrase(text))
        self._lexer = Lark(text, parser="lalr", lexer="basic")
        self._lexer.lexer = self._lexer.parser.lexer  # Lark.lex creates one for each text otherwise
        names = {terminal.name.lower() for terminal in self._lexer.terminals}
        self._types = {each.id: each for each in BUILT_IN_TYPES if each.id in names}
        self._known = frozenset(self._types)
        self._adverbs = next(iter(ADVERBS.findall(text)), "")

    def cut(self, mended: CorrectedText) -> Iterator[Word]:
        """Tokenize a prompt, in order; white space is dropped."""
        return _with_owned_sides(_without_wrapping(tuple(self._words(mended))))

    def _words(self, mended: CorrectedText) -> Iterator[Word]:
        lower = "".join(letter.lower()[0] for letter in mended.text)
        for start, stop, cut in self._with_registered(lower, self._cuts(lower)):
            text, span = mended.text[start:stop], mended.span(start, stop)
            if isinstance(cut, RelationType):
                yield Word(kind=WordKind.RELATION, text=text, span=span, relation_type=cut)
                continue
            kind, relation_type = _meaning(cut, self._types)
            yield Word(kind=kind, text=text, span=span, relation_type=relation_type)
            if kind is WordKind.RELATION and cut.endswith(ITS):
                yield Word(kind=WordKind.ITS, text=text, span=span)
            elif kind is WordKind.RELATION and cut.endswith(EACH_OTHER):
                yield Word(kind=WordKind.EACH_OTHER, text=text, span=span)

    def _cuts(self, lower: str) -> Iterator[Cut]:
        for token in self._lexer.lex(lower):
            start = token.start_pos or 0
            yield start, start + len(token), token.type

    def _with_registered(self, lower: str, cuts: Iterable[Cut]) -> Iterable[Cut]:
        """Replace terminals by the phrases of registered types that cover them."""
        phrases = registered_phrases(self._known)
        if not phrases:
            return cuts
        row = list(cuts)
        for match in _phrase_pattern(self._adverbs, tuple(phrases)).finditer(lower):
            start, stop = match.span()
            touched = [n for n, cut in enumerate(row) if cut[0] < stop and start < cut[1]]
            if touched and start <= row[touched[0]][0] and row[touched[-1]][1] <= stop:
                claimed = phrases[plain_phrase(match["phrase"])]
                row[touched[0] : touched[-1] + 1] = [(start, stop, claimed)]
        return row


@lru_cache(maxsize=8)
def _phrase_pattern(adverbs: str, phrases: tuple[str, ...]) -> re.Pattern[str]:
    choices = "|".join(re.escape(phrase).replace(r"\ ", r"[\s-]+") for phrase in phrases)
    return re.compile(rf"(?<![\w-]){adverbs}(?P<phrase>{choices})(?![\w-]|['\u2019]\w)")


def _idiom(idioms: Mapping[str, Collection[str]]) -> str:
    """Return the pattern of a terminal for idioms; "|" separates alternative words."""
    patterns = []
    for preposition, endings in sorted(idioms.items()):
        choices = (
            re.sub(r"[\w|]*\|[\w|]*", r"(?:\g<0>)", each)
            for each in sorted(endings, key=_longest_first)
        )
        patterns.append(f"{preposition} (?:{'|'.join(choices)})")
    return f"/(?:{'|'.join(patterns)})/".replace(" ", r"\s+")


def _longest_first(text: str) -> tuple[int, str]:
    return -len(text), text


def _no_phrase(grammar: str) -> str:
    """Return a lookahead that skips the many words no phrase of the grammar starts with.

    Any part of a phrase may start it: "sides?" gives "side" and "sides", which also match
    "sideboard".
    """
    phrases = re.sub(r"//.*|\\\w", " ", grammar)
    stems = re.findall(r"[a-z]+", phrases)
    stems += [cut[:-1] for cut in re.findall(r"[a-z]{2,}(?=\?)", phrases)]
    several = sorted({stem for stem in stems if len(stem) > 1})
    single = "".join(sorted({stem for stem in stems if len(stem) == 1}))
    return rf"(?!\A)(?!{'|'.join(several)}|[{single}](?![\w'\u2019-]))"


def _without_wrapping(words: Sequence[Word]) -> Iterator[Word]:
    """Drop line breaks within a clause; the others end it."""
    for i, word in enumerate(words):
        leads_on = i > 0 and words[i - 1].kind in LEADING_ON
        goes_on = any(
            after.kind in RELATIONS and after.text.islower() for after in words[i + 1 : i + 2]
        )
        if not (word.text.isspace() and (leads_on or goes_on)):
            yield word


def _with_owned_sides(words: Iterable[Word]) -> Iterator[Word]:
    """Read "on the patient's right" as "right of the patient"."""
    row = list(words)
    for place, side in enumerate(row):
        sided = SIDES.get(side.text.lower())
        owner = row[place - 1] if place > 1 else side
        if sided is None or not owner.text.lower().endswith(POSSESSIVE_ENDINGS):
            continue
        starts = (n for n in range(place - 1, max(place - LONGEST_OWNER, -1), -1))
        start = next((n for n in starts if row[n].text.lower() in {"on", "to", "at"}), None)
        if start is not None:
            stop = owner.span.stop - len("'s")
            span = TextSpan(start=owner.span.start, stop=stop)
            row[place - 1] = replace(owner, text=owner.text[: -len("'s")], span=span)
            row[start] = replace(side, kind=WordKind.RELATION, relation_type=sided)
            row[place] = replace(side, kind=WordKind.OTHER, relation_type=None)
    return iter(row)


def _meaning(
    terminal: str, types: Mapping[str, RelationType]
) -> tuple[WordKind, RelationType | None]:
    name = terminal
    for prefix in (LOOSE, FRAME, ROW):
        name = name.removeprefix(prefix)
    relation_id = name.removesuffix(ITS).removesuffix(EACH_OTHER).lower()
    if relation_id not in types:
        return WordKind(terminal.removeprefix(PLAIN)), None
    return _kind_of_relation(terminal), types[relation_id]


def _kind_of_relation(terminal: str) -> WordKind:
    kinds = {LOOSE: WordKind.LOOSE_RELATION, FRAME: WordKind.FRAME, ROW: WordKind.ROW}
    by_prefix = (kind for prefix, kind in kinds.items() if terminal.startswith(prefix))
    return next(by_prefix, WordKind.RELATION)
