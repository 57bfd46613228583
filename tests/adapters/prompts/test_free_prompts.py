"""The grammar on prompts of artists, on VISOR's templates, and on noise."""

import random
import string
from itertools import permutations, product
from time import thread_time

import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.compose.list_relations import list_relations
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.scene import (
    ABOVE,
    BELOW,
    LEFT_OF,
    MOST_CHARACTERS,
    RIGHT_OF,
    Prompt,
)
from tests.call_counts import calls_of
from tests.performance.score_extractor import SPLITS, read_rows, score

LONG = 2_000
"""Characters; more than any model reads."""

MOST_CALLS_A_CHARACTER = 200
MOST_CALLS_FOR_NOISE = 40_000
"""Function calls, about twice those of today."""

REPEATED = ["x ", "a cat, ", "on the ", "7 ", ".,;"]
REPEATED_IDS = ["x", "cat", "on", "7", "stops"]
LETTERS = string.ascii_letters + string.digits + " \n\t.,:;-'()äß中😀"
WORDS = [
    *(
        "a",
        "the",
        "it",
        "them",
        "cat",
        "dogs",
        "unicorn",
        "of",
        "to",
        "on",
        "by",
        "in",
        "side",
        "top",
    ),
    *("left", "right", "above", "between", "near", "front", "and", ",", ":", "with", "not", "is"),
]
COCO = (resources_folder() / "benchmarks" / "coco_names.txt").read_text().splitlines()

extractor = GrammarExtractor(resources_folder() / "prompts")


def read(text):
    return extractor.extract(Prompt(text=text))


def with_article(noun):
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def misread(relation_type, phrase):
    """List the pairs of COCO objects whose VISOR sentence is read as anything else."""
    return [
        (subject, thing)
        for subject, thing in permutations(COCO, 2)
        if [
            (each.subject, each.type, each.objects)
            for each in list_relations(
                read(f"{with_article(subject)} {phrase} {with_article(thing)}")
            )
        ]
        != [(subject, relation_type, (thing,))]
    ]


def noise(count, seed):
    rng = random.Random(seed)
    for number in range(count):
        source, joint = ((LETTERS, ""), (WORDS, " "))[number % 2]
        yield joint.join(rng.choices(source, k=rng.randint(1, 60))) + "."


def strange_words(count, seed):
    """Words that no vocabulary knows, no two of them equal."""
    syllables = [first + second for first in "bcdfghlmnprstvw" for second in "aeiou"]
    return random.Random(seed).sample(list(map("".join, product(syllables, repeat=3))), count)


def forget_words():
    """Make every word one that nobody has read before."""
    extractor._known.speller._mended_word.cache_clear()


def calls_to_read(text):
    """Count the function calls for a text whose words nobody has read before."""
    forget_words()
    return calls_of(lambda: read(text))


def milliseconds(text):
    """Time a text whose words nobody has read before."""
    forget_words()
    started = thread_time()
    read(text)
    return 1000 * (thread_time() - started)


def slowest_milliseconds(texts):
    """Time each text; what seems slowest is timed again, for the machine may have paused."""
    slowest = 0.0
    for text in texts:
        if milliseconds(text) > slowest:
            slowest = max(slowest, min(milliseconds(text) for _ in range(3)))
    return slowest


@pytest.mark.parametrize("split", SPLITS)
def test_free_prompts_are_read_well(split):
    scores = score(extractor, read_rows([split]))
    assert scores["all"].f1 >= 0.95
    assert scores["negation"].clean >= 0.95 * scores["negation"].prompts


@pytest.mark.parametrize(
    ("relation_type", "phrase"),
    [
        (LEFT_OF, "to the left of"),
        (RIGHT_OF, "to the right of"),
        (ABOVE, "above"),
        (BELOW, "below"),
    ],
    ids=lambda value: getattr(value, "id", ""),
)
@pytest.mark.slow
def test_every_visor_sentence_is_read(relation_type, phrase):
    assert not misread(relation_type, phrase)


def test_noise_needs_little_work():
    read("a cat")
    assert max(map(calls_to_read, noise(400, seed=1))) < MOST_CALLS_FOR_NOISE


@pytest.mark.parametrize("word", REPEATED, ids=REPEATED_IDS)
def test_long_prompts_need_little_work(word):
    read("a cat")
    assert calls_to_read((word * LONG)[:LONG]) < MOST_CALLS_A_CHARACTER * LONG


@pytest.mark.parametrize("word", ["a cat left of ", "x ", "on the ", "7 and "])
def test_the_work_of_the_longest_prompts_is_linear(word):
    read("a cat")
    text = word * (MOST_CHARACTERS // len(word))
    assert calls_to_read(text) / calls_to_read(text[: len(text) // 4]) < 5


def test_unknown_words_need_little_more_work_than_known_ones():
    read("a cat near a dog")
    strange = " ".join(f"a {word}" for word in strange_words(200, seed=1))
    known = " ".join("a zigzag" for _ in range(200))
    assert calls_to_read(strange) / calls_to_read(known) < 6


@pytest.mark.slow
@pytest.mark.parametrize("word", REPEATED, ids=REPEATED_IDS)
def test_long_prompts_are_read_quickly(word):
    read("a cat")
    assert slowest_milliseconds([(word * LONG)[:LONG]]) < 50


@pytest.mark.slow
@pytest.mark.parametrize("word", ["a cat left of ", "x ", "on the ", "7 and "])
def test_the_time_of_the_longest_prompts_is_linear(word):
    text = word * (MOST_CHARACTERS // len(word))
    ratios = [milliseconds(text) / milliseconds(text[: len(text) // 4]) for _ in range(5)]
    assert min(ratios) < 8


@pytest.mark.parametrize("seed", range(2, 12))
@pytest.mark.slow
def test_long_noise_is_read_quickly(seed):
    read("a cat")
    assert slowest_milliseconds(noise(10_000, seed=seed)) < 50
