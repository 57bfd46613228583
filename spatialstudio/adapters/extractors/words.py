"""A prompt cut into the words that carry its layout, each with its place in the text."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from lark import Lark

from spatialstudio.domain.prompt import TextSpan
from spatialstudio.domain.relation import RelationType, relation_types

LOOSE, FRAME, WITH_OBJECT = "LOOSE_", "FRAME_", "_IT"


class WordKind(Enum):
    """What a word does in a sentence; the values are terminals of ``phrases.lark``."""

    RELATION = "RELATION"
    LOOSE_RELATION = "LOOSE"
    """Claims a relation only before a noun of the vocabulary: "on", "by"."""
    FRAME = "FRAME"
    """Places a thing in the picture: "on the left"."""
    STYLE = "STYLE"
    FALSE_FRIEND = "FALSE_FRIEND"
    INDEFINITE = "INDEFINITE"
    DEFINITE = "DEFINITE"
    MEASURE = "MEASURE"
    IT = "IT"
    THEM = "THEM"
    EACH_OTHER = "EACH_OTHER"
    ITSELF = "ITSELF"
    RELATIVE = "RELATIVE"
    AND = "AND"
    COMMA = "COMMA"
    STOP = "STOP"
    NOT = "NOT"
    BE = "BE"
    WITH = "WITH"
    """Hangs a thing on the one before: "with", "of"."""
    PREPOSITION = "PREPOSITION"
    WORD = "WORD"
    OTHER = "OTHER"


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """A word or phrase of one kind.

    Attributes:
        kind: What it does.
        text: As written.
        span: Where.
        relation_type: What it claims; None unless the kind is a relation or a frame.
    """

    kind: WordKind
    text: str
    span: TextSpan
    relation_type: RelationType | None = None


class WordCutter:
    """Cuts prompts by the terminals of a grammar file."""

    def __init__(self, grammar: Path) -> None:
        text = grammar.read_text(encoding="utf-8")
        self._lexer = Lark(text, parser="lalr", lexer="basic", g_regex_flags=re.IGNORECASE)

    def cut(self, text: str) -> Iterator[Word]:
        """Cut a prompt into words, in order; white space is dropped."""
        for token in self._lexer.lex(text):
            start = token.start_pos or 0
            span = TextSpan(start=start, stop=start + len(token))
            kind, relation_type = _meaning(token.type)
            yield Word(kind=kind, text=str(token), span=span, relation_type=relation_type)
            if token.type.endswith(WITH_OBJECT):
                yield Word(kind=WordKind.IT, text=str(token), span=span)


def _meaning(terminal: str) -> tuple[WordKind, RelationType | None]:
    relation_id = terminal.removeprefix(LOOSE).removeprefix(FRAME).removesuffix(WITH_OBJECT).lower()
    if relation_id not in relation_types:
        return WordKind(terminal), None
    kind = WordKind.RELATION
    if terminal.startswith(LOOSE):
        kind = WordKind.LOOSE_RELATION
    elif terminal.startswith(FRAME):
        kind = WordKind.FRAME
    return kind, relation_types[relation_id]
