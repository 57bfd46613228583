"""Prompts, object mentions, and their positions in text and token sequences."""

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
    """Return True if a word is a quantity: "three", "12", "several", "twenty-one"."""
    parts = re.split(r"[-,.]", word.lower())
    return all(part.isdecimal() or part in CARDINALS or part in OTHER_COUNTS for part in parts)


MentionId = NewType("MentionId", str)

NUMBERED = "m"
"""Prefix of mention ids: "m1" has the first mention colour."""

MOST_CHARACTERS = 20_000
"""Maximum length of a prompt; far beyond the limit of any text encoder."""


@frozen
class Prompt:
    """A text prompt.

    Attributes:
        text: The prompt.
        negative: The negative prompt; empty for none.
        language: BCP 47 code of ``text``.
    """

    text: str
    negative: str = ""
    language: str = "en"


@frozen
class TextSpan:
    """A range of characters, half-open: ``text[start:stop]``."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise ValueError(f"A span needs 0 <= start < stop, not {self.start}, {self.stop}.")

    def of(self, text: str) -> str:
        """Return the characters of ``text`` in the span."""
        return text[self.start : self.stop]

    def overlaps(self, other: "TextSpan") -> bool:
        """Return True if both spans share a character."""
        return self.start < other.stop and other.start < self.stop


@frozen
class ObjectMention:
    """An object named in a prompt.

    Attributes:
        id: Unique in its scene.
        phrase: As written, without the article: "red cup".
        head: The singular noun passed to detectors: "cup".
        attributes: Words before the head: ("red",).
        is_plural: Whether it is plural: "two cats", "sheep" after "three".
        span: Position of the phrase in the prompt.
        named_again: Positions of later references to it: the second "the cup".
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
        """The quantity as written: "three", "12"; empty without one."""
        own = self.head.split()
        words = (word for word in self.phrase.split()[:-1] if word not in own)
        return " ".join(word for word in words if is_count(word))


def is_text(text: str) -> bool:
    """Return True if a string can be encoded as UTF-8, that is, contains no lone surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def free_mention_id(taken: Collection[MentionId]) -> MentionId:
    """Return the first unused mention id."""
    return next(name for n in count(1) if (name := MentionId(f"{NUMBERED}{n}")) not in taken)


def hues_of(mentions: Iterable[ObjectMention]) -> Mapping[MentionId, int]:
    """Return the index of each mention's colour, from 0.

    The index follows from the number in the id, so that an object keeps its colour when the order
    changes; ids without a number get the unused indices.
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
    """Token positions of a mention. Created by a backend with the model's tokenizer.

    Attributes:
        mention_id: The mention.
        encoder_id: The text encoder, "text_encoder" or "text_encoder_2".
        indices: Positions in the sequence, start token included; never empty.
    """

    mention_id: MentionId
    encoder_id: str
    indices: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.indices:
            raise ValueError("A token span holds at least one position.")


@frozen
class TokenReading:
    """Tokenization of a prompt by one text encoder. Created by a backend; may cross threads.

    Attributes:
        encoder_id: The text encoder.
        tokens: Characters of each token of the prompt, without special tokens, in order.
        read: Number of tokens that are encoded; the rest are truncated.
        limit: Maximum number of tokens, start and end tokens not included.
    """

    encoder_id: str
    tokens: tuple[TextSpan, ...]
    read: int
    limit: int


@frozen
class Note:
    """A message of an extractor about text that it did not understand.

    Attributes:
        message: One sentence for the user.
        span: The words concerned; None for the whole prompt.
    """

    message: str
    span: TextSpan | None = None
