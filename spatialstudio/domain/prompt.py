"""What the user typed, and where in it the things are named."""

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import count
from typing import NewType

from spatialstudio.domain.frozen import frozen

ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth"),
    *("seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
)
CARDINALS = (
    *("one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
OTHER_COUNTS = frozenset(
    {
        *("single", "sole", "lone", "twin", "both", "couple", "pair", "dozen"),
        *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
        *("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"),
        *("hundred", "thousand", "few", "several", "many", "multiple", "numerous", "countless"),
    }
)


def is_count(word: str) -> bool:
    """Whether a word says how many: "three", "12", "several", "twenty-one"."""
    parts = re.split(r"[-,.]", word.lower())
    return all(part.isdecimal() or part in CARDINALS or part in OTHER_COUNTS for part in parts)


MentionId = NewType("MentionId", str)

NUMBERED = "m"
"""Begins the ids of mentions: "m1" has the first of the mentions' colours."""

MOST_CHARACTERS = 20_000
"""Of a prompt; no text encoder reads nearly as much, what it leaves out is told elsewhere."""


@frozen
class Prompt:
    """The text to draw from.

    Attributes:
        text: What the picture shall show.
        negative: What it shall not show; empty for nothing.
        language: BCP 47 code of ``text``.
    """

    text: str
    negative: str = ""
    language: str = "en"


@frozen
class TextSpan:
    """A stretch of characters, half-open: ``text[start:stop]``."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise ValueError(f"A span needs 0 <= start < stop, not {self.start}, {self.stop}.")

    def of(self, text: str) -> str:
        """Return the characters that the span covers in ``text``."""
        return text[self.start : self.stop]

    def overlaps(self, other: "TextSpan") -> bool:
        """Whether both spans share a character."""
        return self.start < other.stop and other.start < self.stop


@frozen
class ObjectMention:
    """One place where a prompt names a thing.

    Attributes:
        id: Unique in its scene.
        phrase: As written, without the article: "red cup".
        head: The noun a detector is asked for, singular: "cup".
        attributes: Words before the head: ("red",).
        is_plural: Whether it names several: "two cats", "sheep" behind "three".
        span: The phrase in the prompt.
        named_again: Where later words point back to it: "the cup", the second time.
    """

    id: MentionId
    phrase: str
    head: str
    attributes: tuple[str, ...] = ()
    is_plural: bool = False
    span: TextSpan
    named_again: tuple[TextSpan, ...] = ()

    @property
    def count(self) -> str:
        """How many are asked for, as written: "three", "12"; empty where no number stands."""
        own = self.head.split()
        words = (word for word in self.phrase.split()[:-1] if word not in own)
        return " ".join(word for word in words if is_count(word))


def is_text(text: str) -> bool:
    """Say whether a string can be written as UTF-8; bytes that a terminal passed on cannot."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def free_mention_id(taken: Collection[MentionId]) -> MentionId:
    """Return the first id that no mention has yet."""
    return next(name for n in count(1) if (name := MentionId(f"{NUMBERED}{n}")) not in taken)


def hues_of(mentions: Iterable[ObjectMention]) -> Mapping[MentionId, int]:
    """Return which of the mentions' colours each has, from 0.

    The number of its id decides, so that a thing keeps its colour where the order changes; ids of
    other kinds have the colours that are left.
    """
    names = [mention.id for mention in mentions]
    hues = {name: int(name[1:]) - 1 for name in names if _is_numbered(name)}
    taken = set(hues.values())
    left = (hue for hue in count() if hue not in taken)
    return {name: hues[name] if name in hues else next(left) for name in names}


def _is_numbered(name: MentionId) -> bool:
    return name.startswith(NUMBERED) and name[1:].isdecimal() and int(name[1:]) > 0


@frozen
class TokenSpan:
    """Where a text encoder's sequence holds a mention. Made by a backend from its own tokenizer.

    Attributes:
        mention_id: The mention.
        encoder_id: Which text encoder, "text_encoder" or "text_encoder_2".
        indices: Positions in the sequence, start token counted; never empty.
    """

    mention_id: MentionId
    encoder_id: str
    indices: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.indices:
            raise ValueError("A token span holds at least one position.")


@frozen
class TokenReading:
    """How one text encoder takes a prompt apart. Made by a backend; may cross threads.

    Attributes:
        encoder_id: Which text encoder.
        tokens: The characters of each of the prompt's own tokens, in order.
        read: How many of them it reads; those behind are cut off.
        limit: How many it could read, start and end not counted.
    """

    encoder_id: str
    tokens: tuple[TextSpan, ...]
    read: int
    limit: int


@frozen
class Note:
    """What an extractor did not understand or wants the user to know: told, never guessed over.

    Attributes:
        message: One sentence for the user.
        span: The words concerned; None for the whole prompt.
    """

    message: str
    span: TextSpan | None = None
