"""The nouns and adjectives that the grammar knows, and how plurals become singular."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LONGEST_NOUN = 4

# Ending of a plural, and what stands in its place; tried in this order.
PLURAL_ENDINGS = (("ies", "y"), ("es", ""), ("s", ""))

SINGULAR_ENDINGS = ("ss", "us", "is")

# Where dropping the "s" may be wrong: "zombies", "elves", "lynxes".
ODD_ENDINGS = ("ies", "ves", "oes", "ses", "xes", "zes", "ches", "shes")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Words by their part in a noun phrase, all in lower case.

    Attributes:
        nouns: Singular; of one to ``LONGEST_NOUN`` words.
        places: Nouns for what holds things, as "a kitchen with ..."; no things themselves there.
        adjectives: Words that may stand before a noun, numbers included.
        numbers: Words that make an article needless: "two", "several".
        plurals: Irregular plural to singular.
    """

    nouns: frozenset[str]
    places: frozenset[str]
    adjectives: frozenset[str]
    numbers: frozenset[str]
    plurals: Mapping[str, str]

    def noun(self, words: Sequence[str]) -> str | None:
        """Find the known noun, singular, that these words spell; None for a stranger."""
        *before, last = (word.lower() for word in words)
        singulars = [last, self.plurals.get(last, last)]
        singulars += [
            last.removesuffix(ending) + instead
            for ending, instead in PLURAL_ENDINGS
            if last.endswith(ending)
        ]
        spelled = (" ".join([*before, singular]) for singular in singulars)
        return next((noun for noun in spelled if noun in self.nouns), None)

    def singular(self, word: str) -> str:
        """Return the singular of a noun outside the vocabulary."""
        if not word.endswith("s") or word.endswith(SINGULAR_ENDINGS):
            return self.plurals.get(word, word)
        return _inflected_singular(word) if word.endswith(ODD_ENDINGS) else word.removesuffix("s")


def read_vocabulary(path: Path) -> Vocabulary:
    """Read a vocabulary from a TOML file of word lists."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    return Vocabulary(
        nouns=_words(table["nouns"].values()),
        places=_words(table["places"].values()),
        adjectives=_words(table["adjectives"].values()),
        numbers=_words([table["adjectives"]["numbers"]]),
        plurals=table["plurals"],
    )


def _words(lists: Sequence[str]) -> frozenset[str]:
    return frozenset(word.strip() for line in lists for word in line.split(","))


@cache
def _inflected_singular(word: str) -> str:
    import inflect  # takes half a second to import, and few prompts need it

    singular = inflect.engine().singular_noun(word)
    return str(singular) if singular else word
