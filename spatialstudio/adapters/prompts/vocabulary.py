"""The grammar's vocabulary, and guesses from word endings."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from spatialstudio.domain.scene import RelationType, relation_types

LONGEST_NOUN = 4
SHORTEST_STEM = 3
QUALITIES = ("colours", "sizes", "numbers")

# Plural endings with their singular, tried in this order.
PLURAL_ENDINGS = (("ies", "y"), ("s", ""), ("es", ""), ("men", "man"))
# The same for unknown words, where only the first match counts.
STRANGERS_ENDINGS = (("men", "man"), ("xes", "x"), ("shes", "sh"), ("ies", "y"), ("s", ""))
# Plurals that these endings get wrong (knives, potatoes, buses, caches); first match counts.
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
    """Words by function, all in lower case.

    Attributes:
        nouns: Singular; of one to ``LONGEST_NOUN`` words.
        persons: Nouns for "he" and "she" rather than "it".
        animals: Nouns that can act, like persons.
        vehicles: Means of transport.
        adjectives: Words that may precede a noun, numbers included.
        qualities: Adjectives that are never nouns: colours, sizes and numbers.
        numbers: Words that replace an article: "two", "several".
        verbs: In every form.
        base_verbs: Base forms that may be nouns, too: "cover", "stop".
        placing_verbs: Verbs that place their object, not their subject: "she puts a cup on ...".
        watching_verbs: The same with a distant object: "a boy watches a bird on ...".
        staying_verbs: Intransitive verbs after which "by" is a place: "waited by a gate".
        making_verbs: Verbs of creation, after which "by" names the creator.
        trailing: Words that may follow their noun: "asleep".
        depictions: Heads of a style phrase: "a painting of ...".
        styles: Last words of a style tag, seldom things: "soft light", "35mm lens".
        collectives: Singular nouns for several persons or animals: "couple".
        places: Places of things, not objects of relations: "in a park".
        surfaces: Places that things can still be on: "a boat on a lake".
        occasions: Events, which nothing can be on: "a mission".
        abstractions: Invisible things, which cannot be objects of relations: "tax".
        containers: Places that are not things if their contents are named.
        pairs: Nouns that are plural in form: "scissors".
        purposes: Gerunds for the purpose of a thing: "knitting" in "a knitting basket".
        ambience: Light and weather, never objects of relations.
        plurals: Irregular plural to singular.
        doubtful_plurals: The same for unknown words that ``DOUBTFUL_ENDINGS`` would get wrong.
        typo_targets: Layout words, which one-letter typos may hide.
        everyday: Nouns so short that only a likely typo of them is corrected.
        lookalikes: Real words that look like such a typo.
        idioms: By first preposition, the continuations that make it non-spatial.
        particles: By preposition, the verbs that it belongs to: "argue" by "over".
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
        """Return the known noun, singular, that these words spell; None if it is unknown.

        Args:
            words: In any case.
            counted: Whether a number precedes them, so that "glasses" is the plural of "glass".
        """
        *before, last = (word.lower() for word in words)
        singulars = self._singulars(last)
        forms = [*singulars, last] if counted else [last, *singulars]
        spelled = [" ".join([*before, form]) for form in forms]
        known = (name for name in spelled if not self.nouns.isdisjoint(_spellings(name)))
        return next(known, None)

    def _singulars(self, word: str) -> list[str]:
        """List the possible singulars of a word."""
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
        """Return True if a word before a noun is an attribute rather than part of its name."""
        lower = word.lower()
        if lower in self.adjectives or lower[0].isdigit():
            return True
        if lower in self.nouns or lower.endswith(NOUN_ENDINGS):
            return False
        return "-" in lower or _has_ending(lower, ADJECTIVE_ENDINGS)

    def is_plain_adjective(self, word: str) -> bool:
        """Return True if a word is listed as an adjective only, unlike "rainbow"."""
        return word in self.adjectives and self.noun([word]) is None

    def is_person(self, noun: str) -> bool:
        """Return True if a noun names a person, by list or, if unknown, by its ending."""
        is_stranger = noun not in self.nouns
        return noun in self.persons or (is_stranger and _has_ending(noun, PERSON_ENDINGS))

    def is_actor(self, noun: str) -> bool:
        """Return True if a noun names something that can act: persons, animals or groups."""
        return self.is_person(noun) or noun in self.animals or noun in self.collectives

    def is_verb(self, word: str) -> bool:
        """Return True if a word may be a verb or adverb, by list or by its ending."""
        lower = word.lower()
        is_noun = lower in self.occasions or lower in self.abstractions
        return lower in self.verbs or (not is_noun and _has_ending(lower, VERB_ENDINGS))

    def knows(self, word: str) -> bool:
        """Return True if a word is listed, in any form and part of speech."""
        lower = word.lower()
        return not self._listed.isdisjoint((lower, self.singular(lower), *self._singulars(lower)))

    @cached_property
    def actors(self) -> frozenset[str]:
        """Nouns that can act: persons and animals."""
        return self.persons | self.animals

    @cached_property
    def acting_verbs(self) -> frozenset[str]:
        """Verbs in forms that cannot be nouns: "sits", "swam"."""
        return self.verbs - self.base_verbs

    @cached_property
    def _listed(self) -> frozenset[str]:
        lists = (self.adjectives, self.verbs, self.trailing, self.lookalikes, self.places)
        parts = (part for noun in self.nouns for part in noun.split())
        return frozenset[str]().union(*lists, self.depictions, self.ambience, parts)


def registered_phrases(known: frozenset[str] = frozenset()) -> Mapping[str, RelationType]:
    """Return the phrases of the currently registered relation types, longest first.

    Args:
        known: Ids of the types whose own phrase has a terminal in the grammar; only their further
            words are listed.

    Returns:
        Types by phrase, in lower case and with single spaces; the first type if two share one.
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
    """Return the words of all relation phrases, which are never treated as misspellings."""
    return _registered_words(relation_types.version)


@lru_cache(maxsize=1)
def _registered_words(_version: int) -> frozenset[str]:
    return frozenset(word for phrase in registered_phrases() for word in phrase.split())


def plain_phrase(phrase: str) -> str:
    """Normalise a phrase to lower case, with single spaces for spaces and hyphens."""
    return " ".join(phrase.lower().replace("-", " ").split())


def read_vocabulary(folder: Path, own_nouns: Iterable[str] = ()) -> Vocabulary:
    """Read a vocabulary from TOML files of word lists.

    Args:
        folder: Holds ``vocabulary.toml`` and ``idioms.toml``.
        own_nouns: The user's own nouns, singular.
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
    """Return the regular forms: sit, sits, sitting; carry, carries, carried."""
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
    """Return a name with and without hyphens."""
    return name, name.replace("-", " ")


def _has_ending(word: str, endings: Sequence[str]) -> bool:
    return any(
        word.endswith(ending) and len(word) >= len(ending) + SHORTEST_STEM for ending in endings
    )
