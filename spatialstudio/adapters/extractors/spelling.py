"""Mends slips of one letter in the words that matter: those of the layout, and known nouns.

A slip is one letter missing, doubled or too many, two letters swapped, or one letter wrong. Words
that are known are never touched, and a short word is mended only when little else is spelled alike.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from spatialstudio.adapters.extractors.vocabulary import Vocabulary
from spatialstudio.domain.prompt import TextSpan

TOKEN = re.compile(r"[A-Za-z]+")
JOINED_WORDS = re.compile(
    r"\b(?P<first>to|of|on|in|next|left|right|front|top|close|far|side)"
    r"(?P<second>the|of|to|from|top|front)\b",
    re.IGNORECASE,
)
SWAPPED_WORDS = {"ot": "to", "fo": "of"}
REAL_JOINED_WORDS = frozenset({"into", "onto"})

SHORTEST_WORD = 3
SHORTEST_NOUN = 5
SHORTEST_FOR_ANY_SLIP = 5
SHORTEST_NOUN_FOR_WRONG_LETTER = 7
SOUNDING_ALIKE = frozenset(
    map(frozenset, ("uw", "ck", "sz", "iy", "cs", "kq", "gj", "ie", "ae", "ao", "ou", "ai"))
)
"""Letters written for each other: "howse", "tabal"; these count in nouns of any length."""
FAMILIAR_ENDINGS = ("ing", "ed", "ly", "ness", "tion", "ish", "ous", "ful", "less")


@dataclass(frozen=True, slots=True, kw_only=True)
class Slip:
    """A word that was mended: where it stands in the prompt, and what it is read as."""

    span: TextSpan
    word: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MendedText:
    """A prompt with its slips mended.

    Attributes:
        text: To be read.
        origins: For every character of ``text``, its place in the prompt.
        slips: What was mended.
    """

    text: str
    origins: tuple[int, ...]
    slips: tuple[Slip, ...]

    def span(self, start: int, stop: int) -> TextSpan:
        """Return the place in the prompt of ``text[start:stop]``."""
        return TextSpan(start=self.origins[start], stop=self.origins[stop - 1] + 1)


class Speller:
    """Mends prompts by one vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._nouns: dict[tuple[str, int], list[str]] = defaultdict(list)
        for noun in sorted(vocabulary.nouns):
            if len(noun) >= SHORTEST_NOUN and " " not in noun:
                for letter in sorted(set(noun[:2])):
                    self._nouns[letter, len(noun)].append(noun)
        self._short_nouns = {noun for noun in vocabulary.nouns if len(noun) < SHORTEST_NOUN}
        self._beginnings: dict[str, list[str]] = defaultdict(list)
        for first, _, rest in (noun.partition(" ") for noun in sorted(vocabulary.nouns)):
            if rest:
                self._beginnings[rest].append(first)
        self._targets = sorted(vocabulary.slip_targets)
        self._mended_word = lru_cache(maxsize=4096)(self._mend_word)

    def mend(self, text: str) -> MendedText:
        """Mend every word that is spelled wrong."""
        slips = tuple(self._slips(text))
        parts: list[str] = []
        origins: list[int] = []
        position = 0
        for slip in slips:
            start, stop = slip.span.start, slip.span.stop
            parts += [text[position:start], slip.word]
            origins += range(position, start)
            origins += _stretched(start, stop, len(slip.word))
            position = stop
        parts.append(text[position:])
        origins += range(position, len(text))
        return MendedText(text="".join(parts), origins=tuple(origins), slips=slips)

    def _slips(self, text: str) -> Iterator[Slip]:
        tokens = list(TOKEN.finditer(text))
        words = ["", *(token.group().lower() for token in tokens), ""]
        for token, before, lower, after in zip(tokens, words, words[1:], words[2:], strict=False):
            word = token.group()
            is_name = word[0].isupper() and not word.isupper() and token.start() > 0
            mended = None if is_name else self._mended_word(lower, after)
            if before in self._vocabulary.slip_targets:
                mended = SWAPPED_WORDS.get(lower, mended)
            if mended is not None:
                yield Slip(span=TextSpan(start=token.start(), stop=token.end()), word=mended)

    def _mend_word(self, word: str, following: str) -> str | None:
        if len(word) < SHORTEST_WORD or word in self._targets or self._vocabulary.knows(word):
            return None
        joined = JOINED_WORDS.fullmatch(word)
        if joined and word not in REAL_JOINED_WORDS:
            return f"{joined['first']} {joined['second']}"
        for target in self._targets:
            if _may_be_slip_of(word, target, shortest=SHORTEST_FOR_ANY_SLIP):
                return target
        for beginning in self._beginnings.get(following, ()):
            if _may_be_slip_of(word, beginning, shortest=SHORTEST_FOR_ANY_SLIP):
                return beginning
        if word.endswith(FAMILIAR_ENDINGS):
            return None
        forms = (word, word[:-1]) if word.endswith("s") else (word,)
        return next((noun for form in forms if (noun := self._noun_hidden_by(form))), None)

    def _noun_hidden_by(self, word: str) -> str | None:
        if word[-1] == word[-2] and word[:-1] in self._short_nouns:
            return word[:-1]
        if len(word) < SHORTEST_NOUN:
            return None
        candidates = (
            noun
            for letter in sorted(set(word[:2]))
            for length in (len(word), len(word) - 1, len(word) + 1)
            for noun in self._nouns.get((letter, length), ())
        )
        shortest = SHORTEST_NOUN_FOR_WRONG_LETTER
        hidden = (noun for noun in candidates if _may_be_slip_of(word, noun, shortest=shortest))
        return next(hidden, None)


def _stretched(start: int, stop: int, length: int) -> list[int]:
    """Spread ``length`` characters over the places from ``start`` to ``stop``."""
    last = stop - 1
    places = [min(start + n, last) for n in range(length)]
    places[-1] = last
    return places


def _may_be_slip_of(word: str, target: str, *, shortest: int) -> bool:
    """Tell whether one slip makes ``word`` from ``target``.

    Args:
        word: As written.
        target: As meant.
        shortest: Length from which a wrong letter counts, too; in shorter words too much is alike.
    """
    if abs(len(word) - len(target)) > 1 or not {*word[:2]} & {*target[:2]}:
        return False
    if len(word) == len(target):
        wrong = [n for n, letter in enumerate(word) if letter != target[n]]
        if len(wrong) == 1:
            return len(target) >= shortest or _sound_alike(word, target, wrong[0])
        return _is_swap(word, target, wrong)
    shorter, longer = sorted((word, target), key=len)
    at = next((n for n, letter in enumerate(shorter) if letter != longer[n]), len(shorter))
    if shorter[at:] != longer[at + 1 :]:
        return False
    is_doubled = at > 0 and longer[at] == longer[at - 1]
    return len(target) >= SHORTEST_FOR_ANY_SLIP or is_doubled or _lacks_a_letter(word, target)


def _lacks_a_letter(word: str, target: str) -> bool:
    return len(word) < len(target) and len(word) >= SHORTEST_WORD


def _sound_alike(word: str, target: str, place: int) -> bool:
    is_long = len(target) >= SHORTEST_NOUN
    return is_long and frozenset((word[place], target[place])) in SOUNDING_ALIKE


def _is_swap(word: str, target: str, wrong: list[int]) -> bool:
    match wrong:
        case [first, second] if second - first <= 2:  # noqa: PLR2004 - neighbours, or one apart
            return word[first] == target[second] and word[second] == target[first]
    return False
