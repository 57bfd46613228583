"""Words that count things: "two", and those that tell alike things apart: "the second"."""

import re

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
