"""Tells "a" from "an" by the sound that a name starts with."""

import re

_VOWEL_SOUND = re.compile(
    r"(?!u-|uni(?!n|d|m[^e])|us[eu]|uku|ut[eo]|eu|ewe|one\b|once\b)[aeiou]"
    r"|hour|honest|honou?r|heir|[fhlmnrsx]-|8|1[18]\b",
    re.IGNORECASE,
)
# Said letter by letter: "MP3", "SUV", "X-ray"; but "NASA" and "LEGO" are said as words.
_SPELLED_OUT = re.compile(r"[A-Z][A-Z\d]{1,2}s?\b|[A-Z][B-DF-HJ-NP-TV-Z\d]+s?\b")
_LETTERS_WITH_VOWEL_SOUND = "AEFHILMNORSX"


def indefinite_article(name: str, *, is_shouted: bool = False) -> str:
    """Return "a" or "an".

    Args:
        name: What it stands before.
        is_shouted: Whether all around is in capitals, which then make no abbreviation.
    """
    if _SPELLED_OUT.match(name) and not is_shouted:
        return "an" if name[0] in _LETTERS_WITH_VOWEL_SOUND else "a"
    return "an" if _VOWEL_SOUND.match(name) else "a"
