"""Spelling correction of layout words, nouns and their adjectives.

Known words are never changed, and a short word is corrected only if few others are spelled alike.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from functools import lru_cache

from spatialstudio.adapters.prompts.vocabulary import Vocabulary, registered_words
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import TextSpan

ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
PLACE_ON_KEYBOARD = {
    letter: (x + y / 2, y) for y, row in enumerate(ROWS) for x, letter in enumerate(row)
}
SOUNDING_ALIKE = frozenset(
    map(
        frozenset,
        ("uw", "ck", "sz", "iy", "cs", "kq", "gj", "ie", "ae", "ao", "ou", "ai", "eo"),
    )
)
"""Letters confused with each other: "howse", "tabal"."""
SPELLINGS_OF_SOUNDS = (
    (re.compile("(?:ee|ey)$"), "y"),
    (re.compile("(?<=[^aeiou])e$"), ""),
    (re.compile(r"(.)\1"), r"\1"),
    (re.compile("ph"), "f"),
    (re.compile("ck|c(?![eiyh])"), "k"),
    (re.compile("(?<=[td])[aeo]r$"), "er"),
    (re.compile("z"), "s"),
    (re.compile("(?<=.)y"), "i"),
)
"""Spellings of a sound with their variants: "elefant", "trakter"."""

VOWEL = re.compile("[aeiou]")
MANY_CONSONANTS = 3
STAYING = ((0, 3), (1, 5))
"""Letters that a typo leaves intact at either end, and the word length up to which they apply."""
LONGEST_END = 2


class TypoKind(IntEnum):
    """A typo of one or two letters, most likely first."""

    DOUBLED = 0
    """A letter doubled, or a double letter written once."""
    SWAPPED = 1
    ALIKE = 2
    """A letter replaced by another that sounds like it."""
    MISSING = 3
    EXTRA = 4
    SOUND = 5
    """A phonetic spelling."""
    NEIGHBOUR = 6
    """An adjacent key: "tabke"."""
    WRONG = 7


class Lookalikes:
    """Words indexed by their ends; a typo changes at most three adjacent letters.

    Args:
        words: In lower case.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_end: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in words:
            for end in _ends(word, len(word)):
                self._by_end[end, len(word)].append(word)

    def of(self, word: str) -> list[str]:
        """List candidates that may have become a word by one typo, in order; some do not match."""
        alike = {
            target
            for length in (len(word) - 1, len(word), len(word) + 1)
            for end in _ends(word, length)
            for target in self._by_end.get((end, length), ())
        }
        return sorted(alike)


def typo_kind(word: str, target: str) -> TypoKind | None:
    """Return how one typo turns ``target`` into ``word``; None if it cannot.

    Args:
        word: As written, in lower case; not empty, and different from the target.
        target: The intended word.
    """
    if abs(len(word) - len(target)) > 1 or not {*word[:2]} & {*target[:2]}:
        return None
    if len(word) == len(target):
        return _kind_of_same_length(word, target)
    return _kind_of_other_length(word, target)


def is_clipped(word: str, target: str) -> bool:
    """Return True if vowels are missing: "btwn", "frm"."""
    is_shorter = MANY_CONSONANTS <= len(word) < len(target)
    return is_shorter and word[0] == target[0] and VOWEL.sub("", target) == VOWEL.sub("", word)


def sound(word: str) -> str:
    """Return a rough phonetic key; words that sound alike share it."""
    for spelling, instead in SPELLINGS_OF_SOUNDS:
        word = spelling.sub(instead, word)
    return word


def _ends(word: str, length: int) -> set[str]:
    """Return the first and last letters, one of which stays intact after a typo."""
    size = next((size for size, longest in STAYING if length <= longest), LONGEST_END)
    return {f"{word[:size]}-", f"-{word[len(word) - size :]}"}


def _kind_of_same_length(word: str, target: str) -> TypoKind | None:
    match [n for n, letter in enumerate(word) if letter != target[n]]:
        case [wrong]:
            return _kind_of_letter(word[wrong], target[wrong])
        case [first, second] if second - first <= 2:  # noqa: PLR2004 - neighbours, or one apart
            is_swap = word[first] == target[second] and word[second] == target[first]
            return TypoKind.SWAPPED if is_swap else None
    return None


def _kind_of_letter(written: str, meant: str) -> TypoKind:
    if frozenset((written, meant)) in SOUNDING_ALIKE:
        return TypoKind.ALIKE
    here, there = PLACE_ON_KEYBOARD.get(written), PLACE_ON_KEYBOARD.get(meant)
    is_near = here and there and max(abs(here[0] - there[0]), abs(here[1] - there[1])) <= 1
    return TypoKind.NEIGHBOUR if is_near else TypoKind.WRONG


def _kind_of_other_length(word: str, target: str) -> TypoKind | None:
    shorter, longer = sorted((word, target), key=len)
    at = next((n for n, letter in enumerate(shorter) if letter != longer[n]), len(shorter))
    if shorter[at:] != longer[at + 1 :]:
        return None
    if at > 0 and longer[at] == longer[at - 1]:
        return TypoKind.DOUBLED
    return TypoKind.MISSING if word is shorter else TypoKind.EXTRA


TOKEN = re.compile(r"\b\d+[a-z]{3,}\b|[^\W\d_]+(?![^\W\d_]|['\u2019]t\b)")
COUNTED = re.compile(r"(?P<number>\d+)(?P<thing>[a-z]+)")
JOINED_WORDS = re.compile(
    r"\b(?P<first>to|of|on|in|next|left|right|front|top|close|far|side)"
    r"(?P<second>the|of|to|from|top|front)\b",
    re.IGNORECASE,
)
SWAPPED_WORDS = {"ot": "to", "fo": "of"}
SMALL_WORDS = {
    "te": "the",
    "th": "the",
    "adn": "and",
    "nad": "and",
    "ona": "on a",
    "wiht": "with",
    "ofa": "of a",
}
MEANT_BETWEEN = {
    ("on", "of"): ("top",),
    ("in", "of"): ("front",),
    ("to the", "of"): ("left", "right"),
}
"""Intended words by their neighbours; a typo may be a real word, as in "in font of"."""
REAL_JOINED_WORDS = frozenset({"into", "onto"})

SHORTEST_WORD = 3
SHORTEST_NAME = 4
LENGTHS_OF_NAMES = {
    **dict.fromkeys(TypoKind, 5),
    TypoKind.DOUBLED: 3,
    TypoKind.SWAPPED: 3,
    TypoKind.WRONG: 7,
}
LENGTHS_OF_LAYOUT = {**LENGTHS_OF_NAMES, TypoKind.MISSING: 4, TypoKind.WRONG: 5}
LENGTHS_OF_EVERYDAY = {**dict.fromkeys(TypoKind, 3), TypoKind.WRONG: 4}
LENGTHS_OF_BEGINNINGS = dict.fromkeys(TypoKind, 3)
"""Minimum length of the intended word; shorter words are too ambiguous."""
FAMILIAR_ENDINGS = ("ing", "ed", "ly", "ness", "tion", "ish", "ous", "ful", "less")


@frozen
class Typo:
    """A corrected word with its place in the prompt."""

    span: TextSpan
    word: str


@frozen
class CorrectedText:
    """A prompt after spelling correction.

    Attributes:
        text: The text to read.
        origins: For every character of ``text``, its position in the prompt.
        typos: The corrected words.
    """

    text: str
    origins: tuple[int, ...]
    typos: tuple[Typo, ...]

    def span(self, start: int, stop: int) -> TextSpan:
        """Return the span in the prompt of ``text[start:stop]``."""
        return TextSpan(start=self.origins[start], stop=self.origins[stop - 1] + 1)


class Speller:
    """Corrects prompts with a vocabulary."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        names = _names_in(vocabulary)
        self._names = Lookalikes(names)
        self._by_sound = {sound(name): name for name in sorted(names, reverse=True)}
        self._beginnings: dict[str, list[str]] = defaultdict(list)
        for first, _, rest in (noun.partition(" ") for noun in sorted(vocabulary.nouns)):
            if rest:
                self._beginnings[rest].append(first)
        self._joined = {noun.replace(" ", ""): noun for noun in vocabulary.nouns if " " in noun}
        self._everyday = Lookalikes(vocabulary.everyday)
        self._layout = Lookalikes(vocabulary.typo_targets)
        self._clippable = [*sorted(vocabulary.typo_targets), "from", "over", "with"]
        self._mended_word = lru_cache(maxsize=4096)(self._correct_word)

    def correct(self, text: str) -> CorrectedText:
        """Correct every misspelled word."""
        typos = tuple(self._typos(text))
        parts: list[str] = []
        origins: list[int] = []
        position = 0
        for typo in typos:
            start, stop = typo.span.start, typo.span.stop
            parts += [text[position:start], typo.word]
            origins += range(position, start)
            origins += _stretched(start, stop, len(typo.word))
            position = stop
        parts.append(text[position:])
        origins += range(position, len(text))
        return CorrectedText(text="".join(parts), origins=tuple(origins), typos=typos)

    def _typos(self, text: str) -> Iterator[Typo]:
        tokens = list(TOKEN.finditer(text))
        registered = registered_words()
        words = ["", "", *(token.group().lower() for token in tokens), ""]
        for place, token in enumerate(tokens):
            _, _, word, after = neighbours = words[place : place + 4]
            mended = self._meant_between(*neighbours)
            is_open = word.isascii() and word not in registered and not _is_name(token)
            if mended is None and is_open:
                mended = self._mended_word(word, after)
            if mended is not None:
                yield Typo(span=TextSpan(start=token.start(), stop=token.end()), word=mended)

    def _meant_between(self, earlier: str, before: str, word: str, after: str) -> str | None:
        """Infer a word from its neighbours; None if they do not determine it."""
        if before in self._vocabulary.typo_targets and word in SWAPPED_WORDS:
            return SWAPPED_WORDS[word]
        before = f"{earlier} {before}" if before == "the" else before
        meant = MEANT_BETWEEN.get((before, after), ())
        kinds = {each: typo_kind(word, each) for each in meant if word != each}
        return next((each for each, kind in kinds.items() if kind is not None), None)

    def _correct_word(self, word: str, following: str) -> str | None:
        if word in SMALL_WORDS:
            return SMALL_WORDS[word]
        if (
            len(word) < SHORTEST_WORD
            or word in self._vocabulary.typo_targets
            or self._vocabulary.knows(word)
        ):
            return None
        counted = COUNTED.fullmatch(word)
        if counted:
            is_thing = self._vocabulary.noun([counted["thing"]]) is not None
            return f"{counted['number']} {counted['thing']}" if is_thing else None
        joined = JOINED_WORDS.fullmatch(word)
        if joined and word not in REAL_JOINED_WORDS:
            return f"{joined['first']} {joined['second']}"
        if word in self._joined:
            return self._joined[word]
        clipped = [each for each in self._clippable if is_clipped(word, each)]
        if clipped:
            return clipped[0]
        endings = self._beginnings.get(following, ())
        typos = _typos_from(self._layout.of(word), word, LENGTHS_OF_LAYOUT)
        typos += _typos_from(endings, word, LENGTHS_OF_BEGINNINGS)
        if not word.endswith(FAMILIAR_ENDINGS):
            forms = dict.fromkeys((word, word.removesuffix("s")))
            typos += next(filter(None, map(self._typos_of_names, forms)), [])
        return min(typos, key=lambda typo: typo[0])[1] if typos else None

    def _typos_of_names(self, word: str) -> list[tuple[TypoKind, str]]:
        if word[-1] == word[-2] and word[:-1] in self._vocabulary.nouns:
            return [(TypoKind.DOUBLED, word[:-1])]
        typos = _typos_from(self._names.of(word), word, LENGTHS_OF_NAMES)
        typos += _typos_from(self._everyday.of(word), word, LENGTHS_OF_EVERYDAY)
        if (pronounced := self._by_sound.get(sound(word))) is not None:
            typos.append((TypoKind.SOUND, pronounced))
        return typos


def _is_name(token: re.Match[str]) -> bool:
    """Return True if a word is capitalised as a name, except at the start."""
    word = token.group()
    return word[0].isupper() and not word.isupper() and token.start() > 0


def _stretched(start: int, stop: int, length: int) -> list[int]:
    """Distribute ``length`` characters over the positions from ``start`` to ``stop``."""
    last = stop - 1
    places = [min(start + n, last) for n in range(length)]
    places[-1] = last
    return places


def _names_in(vocabulary: Vocabulary) -> frozenset[str]:
    """Return the words that occur in names, and adjectives."""
    words = {word for noun in vocabulary.nouns for word in noun.split()} | vocabulary.adjectives
    return frozenset(word for word in words if len(word) >= SHORTEST_NAME and word.isalpha())


def _typos_from(
    candidates: Iterable[str], word: str, lengths: Mapping[TypoKind, int]
) -> list[tuple[TypoKind, str]]:
    """Return the candidates that may have been intended."""
    return [
        (kind, candidate)
        for candidate in candidates
        if (kind := typo_kind(word, candidate)) is not None and len(candidate) >= lengths[kind]
    ]
