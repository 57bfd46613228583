"""How a word comes to be spelled wrong, from the likeliest way to the least likely."""

import re
from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum

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
"""Letters written for each other: "howse", "tabal"."""
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
"""What is written for a sound, and what may be written as well: "elefant", "trakter"."""

VOWEL = re.compile("[aeiou]")
MANY_CONSONANTS = 3
STAYING = ((0, 3), (1, 5))
"""How many letters a slip leaves before or behind it, in words up to which length."""
LONGEST_END = 2


class SlipKind(IntEnum):
    """What went wrong with one letter or two; the likelier, the lower."""

    DOUBLED = 0
    """Twice for once, or once for twice."""
    SWAPPED = 1
    ALIKE = 2
    """A letter for another that sounds like it."""
    MISSING = 3
    EXTRA = 4
    SOUND = 5
    """Written as it is heard."""
    NEIGHBOUR = 6
    """The key beside was hit: "tabke"."""
    WRONG = 7


class Lookalikes:
    """Words by their ends: a slip changes three letters in a row at most, others stay.

    Args:
        words: In lower case.
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._by_end: dict[tuple[str, int], list[str]] = defaultdict(list)
        for word in words:
            for end in _ends(word, len(word)):
                self._by_end[end, len(word)].append(word)

    def of(self, word: str) -> list[str]:
        """List all from which one slip may have made a word, and some others, in their order."""
        alike = {
            target
            for length in (len(word) - 1, len(word), len(word) + 1)
            for end in _ends(word, length)
            for target in self._by_end.get((end, length), ())
        }
        return sorted(alike)


def slip_kind(word: str, target: str) -> SlipKind | None:
    """Tell how ``word`` was made from ``target`` by one slip; None where one does not do.

    Args:
        word: As written, in lower case; not empty, and not the target itself.
        target: As meant.
    """
    if abs(len(word) - len(target)) > 1 or not {*word[:2]} & {*target[:2]}:
        return None
    if len(word) == len(target):
        return _kind_of_same_length(word, target)
    return _kind_of_other_length(word, target)


def is_clipped(word: str, target: str) -> bool:
    """Tell whether vowels were left out: "btwn", "frm"."""
    is_shorter = MANY_CONSONANTS <= len(word) < len(target)
    return is_shorter and word[0] == target[0] and VOWEL.sub("", target) == VOWEL.sub("", word)


def sound(word: str) -> str:
    """Spell a word by its sounds, roughly; what sounds alike is spelled alike."""
    for spelling, instead in SPELLINGS_OF_SOUNDS:
        word = spelling.sub(instead, word)
    return word


def _ends(word: str, length: int) -> set[str]:
    """Return the first and last letters, of which a slip leaves either in a word of some length."""
    size = next((size for size, longest in STAYING if length <= longest), LONGEST_END)
    return {f"{word[:size]}-", f"-{word[len(word) - size :]}"}


def _kind_of_same_length(word: str, target: str) -> SlipKind | None:
    match [n for n, letter in enumerate(word) if letter != target[n]]:
        case [wrong]:
            return _kind_of_letter(word[wrong], target[wrong])
        case [first, second] if second - first <= 2:  # noqa: PLR2004 - neighbours, or one apart
            is_swap = word[first] == target[second] and word[second] == target[first]
            return SlipKind.SWAPPED if is_swap else None
    return None


def _kind_of_letter(written: str, meant: str) -> SlipKind:
    if frozenset((written, meant)) in SOUNDING_ALIKE:
        return SlipKind.ALIKE
    here, there = PLACE_ON_KEYBOARD.get(written), PLACE_ON_KEYBOARD.get(meant)
    is_near = here and there and max(abs(here[0] - there[0]), abs(here[1] - there[1])) <= 1
    return SlipKind.NEIGHBOUR if is_near else SlipKind.WRONG


def _kind_of_other_length(word: str, target: str) -> SlipKind | None:
    shorter, longer = sorted((word, target), key=len)
    at = next((n for n, letter in enumerate(shorter) if letter != longer[n]), len(shorter))
    if shorter[at:] != longer[at + 1 :]:
        return None
    if at > 0 and longer[at] == longer[at - 1]:
        return SlipKind.DOUBLED
    return SlipKind.MISSING if word is shorter else SlipKind.EXTRA
