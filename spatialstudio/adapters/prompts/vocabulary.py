"""The words that the grammar knows, and what may be told from a word's ending."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from spatialstudio.domain.relation import RelationType, relation_types

LONGEST_NOUN = 4
SHORTEST_STEM = 3
QUALITIES = ("colours", "sizes", "numbers")

# Ending of a plural, and what stands in its place; tried in this order.
PLURAL_ENDINGS = (("ies", "y"), ("s", ""), ("es", ""), ("men", "man"))
# The same for words outside the vocabulary, where only the first that fits counts.
STRANGERS_ENDINGS = (("men", "man"), ("xes", "x"), ("shes", "sh"), ("ies", "y"), ("s", ""))
# Plurals that these endings do not settle (knives, potatoes, buses, caches); the first that fits.
DOUBTFUL_PLURALS = ("ves", "oes", "ses", "ches", "zzes")
DOUBTFUL_ENDINGS = (
    *(("deaves", "deave"), ("eaves", "eaf"), ("elves", "elf"), ("alves", "alf"), ("olves", "olf")),
    *(("arves", "arf"), ("nives", "nife"), ("lives", "life"), ("wives", "wife")),
    *(("houses", "house"), ("itises", "itis"), ("sses", "ss"), ("uses", "us")),
    *(("shoes", "shoe"), ("oes", "o"), ("ches", "ch"), ("zzes", "z"), ("s", "")),
)
SINGULARS_IN_S = ("ss", "us", "is")

VERB_ENDINGS = ("ing", "ed", "ly")
NOUN_ENDINGS = ("ey", "ry", "ity", "ety", "phy")
PERSON_ENDINGS = ("ist", "keeper", "man", "woman", "worker", "smith", "er", "or", "ian")
ADJECTIVE_ENDINGS = (
    *(
        "ing",
        "ed",
        "y",
        "ish",
        "ful",
        "less",
        "ous",
        "ic",
        "ive",
        "able",
        "ible",
        "al",
        "en",
        "est",
    ),
)


@dataclass(frozen=True, kw_only=True)
class Vocabulary:
    """Words by what they do, all in lower case.

    Attributes:
        nouns: Singular; of one to ``LONGEST_NOUN`` words.
        persons: Nouns that "he" and "she" stand for, rather than "it".
        animals: Nouns that act by themselves, like persons.
        vehicles: Nouns that one travels by.
        adjectives: Words that may stand before a noun, numbers included.
        qualities: Those that are never a thing themselves: colours, sizes and numbers.
        numbers: Words that make an article needless: "two", "several".
        verbs: In every form.
        base_verbs: In the form that may be a noun, too: "cover", "stop".
        placing_verbs: Verbs whose object has the place, not their subject: "she puts a cup on ...".
        watching_verbs: The same of what is elsewhere: "a boy watches a bird on ...".
        staying_verbs: What is not done to anything: "waited by a gate" tells where.
        making_verbs: How a thing is made: "by" behind them names its maker.
        trailing: What may follow its noun: "asleep".
        depictions: What a clause of style hangs on: "a painting of ...".
        styles: What ends a tag of style and is seldom a thing: "soft light", "35mm lens".
        collectives: Nouns that name several persons or animals by one word: "couple".
        places: Where a thing is, not what it is placed against: "in a park".
        surfaces: Places that something stands on all the same: "a boat on a lake".
        occasions: What takes time rather than room, so that nothing is on it: "a mission".
        abstractions: What cannot be seen, so that nothing stands against it: "tax".
        containers: Places that are no things where something that they hold is named.
        pairs: Nouns that are plural in form: "scissors".
        purposes: Gerunds that say what a thing is for: "knitting" in "a knitting basket".
        ambience: Light and weather, never what a thing is placed against.
        plurals: Irregular plural to singular.
        doubtful_plurals: The same of strangers that ``DOUBTFUL_ENDINGS`` would read wrongly.
        typo_targets: Words of the layout that a slip of one letter may hide.
        everyday: Nouns so short that a slip is mended only where it is likely to mean these.
        lookalikes: Real words that look like such a slip.
        idioms: By the preposition that starts them, what makes it tell of no place.
        particles: By preposition, the verbs that take it along: "argue" by "over".
    """

    nouns: frozenset[str]
    persons: frozenset[str]
    animals: frozenset[str]
    vehicles: frozenset[str]
    adjectives: frozenset[str]
    qualities: frozenset[str]
    numbers: frozenset[str]
    verbs: frozenset[str]
    base_verbs: frozenset[str]
    placing_verbs: frozenset[str]
    watching_verbs: frozenset[str]
    staying_verbs: frozenset[str]
    making_verbs: frozenset[str]
    trailing: frozenset[str]
    depictions: frozenset[str]
    styles: frozenset[str]
    collectives: frozenset[str]
    places: frozenset[str]
    surfaces: frozenset[str]
    occasions: frozenset[str]
    abstractions: frozenset[str]
    containers: frozenset[str]
    pairs: frozenset[str]
    purposes: frozenset[str]
    ambience: frozenset[str]
    plurals: Mapping[str, str]
    doubtful_plurals: Mapping[str, str]
    typo_targets: frozenset[str]
    everyday: frozenset[str]
    lookalikes: frozenset[str]
    idioms: Mapping[str, frozenset[str]]
    particles: Mapping[str, frozenset[str]]

    def noun(self, words: Sequence[str], *, counted: bool = False) -> str | None:
        """Find the known noun, singular, that these words spell; None for a stranger.

        Args:
            words: In any case.
            counted: Whether a number stands before them, so that "glasses" are two of "glass".
        """
        *before, last = (word.lower() for word in words)
        singulars = self._singulars(last)
        forms = [*singulars, last] if counted else [last, *singulars]
        spelled = [" ".join([*before, form]) for form in forms]
        known = (name for name in spelled if not self.nouns.isdisjoint(_spellings(name)))
        return next(known, None)

    def _singulars(self, word: str) -> list[str]:
        """List what a word may be the plural of."""
        singulars = [self.plurals[word]] if word in self.plurals else []
        if word.endswith("ss"):
            return singulars
        return singulars + [
            word.removesuffix(ending) + instead
            for ending, instead in PLURAL_ENDINGS
            if word.endswith(ending)
        ]

    def singular(self, word: str) -> str:
        """Return the singular of a noun outside the vocabulary."""
        if word in self.plurals:
            return self.plurals[word]
        if word.endswith(SINGULARS_IN_S) or len(word) < SHORTEST_STEM:
            return word
        if word in self.doubtful_plurals:
            return self.doubtful_plurals[word]
        is_doubtful = word.endswith(DOUBTFUL_PLURALS)
        fitting = (
            word.removesuffix(ending) + instead
            for ending, instead in (DOUBTFUL_ENDINGS if is_doubtful else STRANGERS_ENDINGS)
            if word.endswith(ending) and (is_doubtful or word != ending)
        )
        return next(fitting, word)

    def is_adjective(self, word: str) -> bool:
        """Tell whether a word before a noun tells of it, rather than being part of its name."""
        lower = word.lower()
        if lower in self.adjectives or lower[0].isdigit():
            return True
        if lower in self.nouns or lower.endswith(NOUN_ENDINGS):
            return False
        return "-" in lower or _has_ending(lower, ADJECTIVE_ENDINGS)

    def is_plain_adjective(self, word: str) -> bool:
        """Tell whether a word is listed as an adjective and is no thing, as "rainbow" may be."""
        return word in self.adjectives and self.noun([word]) is None

    def is_person(self, noun: str) -> bool:
        """Tell whether a noun names a person, listed or, of a stranger, by its ending."""
        is_stranger = noun not in self.nouns
        return noun in self.persons or (is_stranger and _has_ending(noun, PERSON_ENDINGS))

    def is_actor(self, noun: str) -> bool:
        """Tell whether a noun names who acts by themselves: persons, animals, or several."""
        return self.is_person(noun) or noun in self.animals or noun in self.collectives

    def is_verb(self, word: str) -> bool:
        """Tell whether a word may be a verb or adverb, listed or by its ending."""
        lower = word.lower()
        is_noun = lower in self.occasions or lower in self.abstractions
        return lower in self.verbs or (not is_noun and _has_ending(lower, VERB_ENDINGS))

    def knows(self, word: str) -> bool:
        """Tell whether a word is listed, in any form and part."""
        lower = word.lower()
        return not self._listed.isdisjoint((lower, self.singular(lower), *self._singulars(lower)))

    @cached_property
    def actors(self) -> frozenset[str]:
        """Nouns that do something by themselves: persons and animals."""
        return self.persons | self.animals

    @cached_property
    def acting_verbs(self) -> frozenset[str]:
        """Verbs in the forms that cannot be nouns: "sits", "swam"."""
        return self.verbs - self.base_verbs

    @cached_property
    def _listed(self) -> frozenset[str]:
        lists = (self.adjectives, self.verbs, self.trailing, self.lookalikes, self.places)
        parts = (part for noun in self.nouns for part in noun.split())
        return frozenset[str]().union(*lists, self.depictions, self.ambience, parts)


def registered_phrases(known: frozenset[str] = frozenset()) -> Mapping[str, RelationType]:
    """Return the phrases of relation types as they are registered now, the longest first.

    Args:
        known: Ids of the types whose own phrase has a terminal in the grammar; only their further
            words are listed.

    Returns:
        Types by phrase, in lower case and with single spaces; the first type where two share one.
    """
    return _registered_phrases(relation_types.version, known)


@lru_cache(maxsize=8)
def _registered_phrases(_version: int, known: frozenset[str]) -> Mapping[str, RelationType]:
    found: dict[str, RelationType] = {}
    for each in relation_types:
        for phrase in each.words if each.id in known else each.phrases:
            found.setdefault(plain_phrase(phrase), each)
    return dict(sorted(found.items(), key=lambda item: (-len(item[0]), item[0])))


def registered_words() -> frozenset[str]:
    """Return the words of all phrases of relation types, which are never misspellings."""
    return _registered_words(relation_types.version)


@lru_cache(maxsize=1)
def _registered_words(_version: int) -> frozenset[str]:
    return frozenset(word for phrase in registered_phrases() for word in phrase.split())


def plain_phrase(phrase: str) -> str:
    """Write a phrase in lower case, with single spaces for spaces and hyphens."""
    return " ".join(phrase.lower().replace("-", " ").split())


def read_vocabulary(folder: Path, own_nouns: Iterable[str] = ()) -> Vocabulary:
    """Read a vocabulary from TOML files of word lists.

    Args:
        folder: Holds ``vocabulary.toml`` and ``idioms.toml``.
        own_nouns: The user's own, singular.
    """
    table = tomllib.loads((folder / "vocabulary.toml").read_text(encoding="utf-8"))
    turns = tomllib.loads((folder / "idioms.toml").read_text(encoding="utf-8"))
    verbs, kinds, spelling = table["verbs"], table["kinds"], table["spelling"]
    placing = _verb_forms(_words(verbs["placing"])) | _words(verbs["placed"])
    activities = _words(verbs["activities"])
    watching = _verb_forms(_words(verbs["watching"]))
    return Vocabulary(
        nouns=_words(*table["nouns"].values(), *(noun.lower() for noun in own_nouns)),
        persons=_words(table["nouns"]["people"]),
        animals=_words(table["nouns"]["animals"]),
        vehicles=_words(table["nouns"]["vehicles"]),
        adjectives=_words(*table["adjectives"].values()),
        qualities=_words(*(table["adjectives"][kind] for kind in QUALITIES)),
        numbers=_words(table["adjectives"]["numbers"]),
        verbs=_verb_forms(_words(verbs["regular"]))
        | _words(verbs["irregular"])
        | placing
        | watching,
        base_verbs=_words(verbs["regular"], verbs["placing"], verbs["standing"]),
        placing_verbs=placing - activities,
        watching_verbs=watching,
        staying_verbs=_verb_forms(_words(verbs["staying"])),
        making_verbs=_words(verbs["making"]),
        trailing=_words(table["after"]["words"]),
        depictions=_words(kinds["depictions"]),
        styles=_words(kinds["styles"]),
        collectives=_words(kinds["collectives"]),
        places=_words(kinds["places"]),
        surfaces=_words(kinds["surfaces"]),
        occasions=_words(kinds["occasions"]),
        abstractions=_words(kinds["abstractions"]),
        containers=_words(kinds["containers"]),
        pairs=_words(kinds["pairs"]),
        purposes=_words(kinds["purposes"]),
        ambience=_words(kinds["ambience"]),
        plurals=table["plurals"],
        doubtful_plurals=_doubtful_plurals(table["doubtful_plurals"]),
        typo_targets=_words(spelling["targets"]),
        everyday=_words(spelling["everyday"]),
        lookalikes=_words(spelling["real"]),
        idioms={each: _words(line) for each, line in turns["idioms"].items()},
        particles={each: _verb_forms(_words(line)) for each, line in turns["particles"].items()},
    )


def _doubtful_plurals(table: Mapping[str, Any]) -> Mapping[str, str]:
    singulars: dict[str, str] = dict(table["others"])
    for name, ending in {"keep_e": "e", "drop_es": "", "es_to_is": "is"}.items():
        singulars |= {word: word.removesuffix("es") + ending for word in _words(table[name])}
    return singulars


def _words(*lists: str) -> frozenset[str]:
    return frozenset(
        " ".join(entry.split()) for line in lists for entry in line.split(",") if entry.strip()
    )


def _verb_forms(bases: Iterable[str]) -> frozenset[str]:
    """Make the regular forms: sit, sits, sitting; carry, carries, carried."""
    forms: set[str] = set()
    for base in bases:
        soft = base.removesuffix("e")
        doubled = base + base[-1]
        forms |= {base, base + "s", base + "es", base + "ing", base + "ed"}
        forms |= {soft + "ing", soft + "ed", doubled + "ing", doubled + "ed"}
        if base.endswith("y"):
            forms |= {base[:-1] + "ies", base[:-1] + "ied"}
        if base.endswith("ie"):
            forms.add(base[:-2] + "ying")
    return frozenset(forms)


def _spellings(name: str) -> tuple[str, str]:
    """Return a name with its hyphens and without."""
    return name, name.replace("-", " ")


def _has_ending(word: str, endings: Sequence[str]) -> bool:
    return any(
        word.endswith(ending) and len(word) >= len(ending) + SHORTEST_STEM for ending in endings
    )
