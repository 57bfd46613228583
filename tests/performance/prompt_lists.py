"""The prompts that the scripts of this folder draw."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count as count_from
from itertools import islice

import numpy as np

from spatialstudio.adapters.stickers.training.backgrounds import PLACES
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER, sticker_objects
from spatialstudio.adapters.storage.records.spatialbench_uc import read_objects
from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    ABOVE_RIGHT_OF,
    BEHIND,
    BELOW,
    BELOW_LEFT_OF,
    BELOW_RIGHT_OF,
    IN_FRONT_OF,
    LEFT_OF,
    RIGHT_OF,
)
from spatialstudio.science.benchmark.prompts import draw_prompts
from spatialstudio.science.guidance.noise_search import indefinite_article

RESOURCES = WORLD_FOLDER.parents[1]
PAIR = 2
FLAT_RELATIONS = (LEFT_OF, RIGHT_OF, ABOVE, BELOW)
DIAGONAL_RELATIONS = (ABOVE_LEFT_OF, ABOVE_RIGHT_OF, BELOW_LEFT_OF, BELOW_RIGHT_OF)
DEPTH_RELATIONS = (IN_FRONT_OF, BEHIND)
HALF_OF_SEEDS = 2**31
DEVELOPMENT_PROMPTS = 1000  # of each list, that no held-out prompt repeats


@dataclass(frozen=True, slots=True)
class ListedPrompt:
    """One prompt of a list."""

    id: str
    text: str


class Split(Enum):
    """Which prompts and seeds: those for choosing settings, or those for the figures.

    Both are drawn alike. They share no seed, and no prompt; lists of one object share no object.
    """

    DEVELOPMENT = "development"
    HELD_OUT = "held-out"


@dataclass(frozen=True, slots=True)
class SeededPrompt(ListedPrompt):
    """A prompt of a list with the seed of its picture."""

    seed: int


@dataclass(frozen=True, slots=True)
class PromptList:
    """How the prompts of a list are written.

    Attributes:
        objects: Different objects of each prompt.
        write: Takes their class numbers, a random direction for each, and the number of the prompt.
    """

    objects: int
    write: Callable[[Sequence[int], Sequence[str], int], str]


def spatialbench_prompts() -> list[ListedPrompt]:
    """List the 200 prompts of SpatialBench-UC."""
    lines = draw_prompts(read_objects(RESOURCES)).decode().splitlines()
    rows = [json.loads(line) for line in lines]
    return [ListedPrompt(row["prompt_id"], row["prompt"]) for row in rows]


def chain_prompts(objects: int, count: int) -> list[ListedPrompt]:
    """Write prompts of several objects, each related to the next by a relation in the picture."""
    rng = np.random.default_rng([17, objects])
    prompts = []
    for number in range(count):
        names = _names(rng, objects)
        phrases = [FLAT_RELATIONS[rng.integers(4)].phrase for _ in names[1:]]
        text = f"A photo of a {names[0]} {phrases[0]} a {names[1]}"
        for place in range(PAIR, objects):
            text += f" and the {names[place - 1]} {phrases[place - 1]} a {names[place]}"
        prompts.append(ListedPrompt(f"chain_{objects}_{number:04d}", f"{text}."))
    return prompts


def depth_prompts(count: int) -> list[ListedPrompt]:
    """Write prompts that put one object in front of or behind another."""
    rng = np.random.default_rng(18)
    prompts = []
    for number in range(count):
        first, second = _names(rng, PAIR)
        phrase = DEPTH_RELATIONS[number % PAIR].phrase
        text = f"A photo of a {first} {phrase} a {second}."
        prompts.append(ListedPrompt(f"depth_{number:04d}", text))
    return prompts


def single_prompts() -> list[ListedPrompt]:
    """Write a prompt for each object of the world."""
    return [ListedPrompt(thing.name, f"A photo of a {thing.name}.") for thing in sticker_objects()]


def mixed_prompts(count: int) -> list[ListedPrompt]:
    """Write prompts of one to four objects with relations or none, half of them in a place."""
    rng = np.random.default_rng(19)
    prompts = []
    for number in range(count):
        names = _names(rng, 1 + number % 4)
        joiner = (
            f" {FLAT_RELATIONS[rng.integers(4)].phrase} a " if rng.random() < 0.5 else " and a "
        )
        text = "A photo of a " + joiner.join(names[:PAIR])
        text += "".join(f" and a {name}" for name in names[PAIR:])
        places = [phrase for place in PLACES.values() for phrase in place.phrases[:1]]
        text += f" {rng.choice(places)}" if rng.random() < 0.5 else ""
        prompts.append(ListedPrompt(f"mixed_{number:04d}", f"{text}."))
    return prompts


def seeded_prompts(list_name: str, split: Split, count: int) -> list[SeededPrompt]:
    """Draw the first prompts of a list of ``LIST_NAMES``; fewer are the first of more."""
    if list_name == SPATIALBENCH:
        return _spatialbench_in_turn(split, count)
    if split is Split.DEVELOPMENT:
        return list(islice(_drawn_prompts(list_name, split), count))
    known = {
        prompt.text
        for prompt in islice(_drawn_prompts(list_name, Split.DEVELOPMENT), DEVELOPMENT_PROMPTS)
    }
    new = (prompt for prompt in _drawn_prompts(list_name, split) if prompt.text not in known)
    return list(islice(new, count))


def _spatialbench_in_turn(split: Split, count: int) -> list[SeededPrompt]:
    """Take every fifth prompt with two seeds, then the next ones, and then other seeds."""
    listed, first_seed = spatialbench_prompts(), HALF_OF_SEEDS * (split is Split.HELD_OUT)
    every, seeds = 5, 2
    taken = len(listed) // every
    prompts = []
    for number in range(count):
        prompt = listed[number % taken * every + number // (taken * seeds) % every]
        seed = number // taken % seeds + seeds * (number // (len(listed) * seeds))
        prompts.append(SeededPrompt(f"{prompt.id}-{seed}", prompt.text, first_seed + seed))
    return prompts


def _drawn_prompts(list_name: str, split: Split) -> Iterator[SeededPrompt]:
    prompts, is_held_out = PROMPT_LISTS[list_name], split is Split.HELD_OUT
    rng = np.random.default_rng([1000 + is_held_out, sum(map(ord, list_name))])
    things = np.arange(len(sticker_objects()))
    if prompts.objects == 1:  # too few prompts for all to be drawn in both splits
        things = things[int(is_held_out) :: PAIR]
    for number in count_from(0):
        chosen = rng.permutation(things)[: prompts.objects].tolist()
        directions = [FLAT_RELATIONS[rng.integers(4)].phrase for _ in chosen]
        text = prompts.write(chosen, directions, number)
        seed = int(rng.integers(HALF_OF_SEEDS)) + HALF_OF_SEEDS * is_held_out
        yield SeededPrompt(f"{list_name}-{split.value}-{number:04d}", text, seed)


def _related(phrases: Sequence[str]) -> PromptList:
    """List pairs of objects; the phrases between them take turns."""

    def write(numbers: Sequence[int], _directions: Sequence[str], number: int) -> str:
        first, second = map(with_article, numbers)
        return f"{first} {phrases[number % len(phrases)]} {second}"

    return PromptList(PAIR, write)


def _write_between(numbers: Sequence[int], _directions: Sequence[str], _number: int) -> str:
    middle, first, second = map(with_article, numbers)
    return f"{middle} between {first} and {second}"


def _write_chain(numbers: Sequence[int], directions: Sequence[str], _number: int) -> str:
    return chained(numbers, directions[:-1])


def _write_depth_chain(numbers: Sequence[int], directions: Sequence[str], number: int) -> str:
    """Relate the first pair in depth and the next one in the plane, or the other way round."""
    phrases = DEPTH_RELATIONS[number % PAIR].phrase, directions[0]
    return chained(numbers, phrases if number // PAIR % PAIR else phrases[::-1])


def _write_star(numbers: Sequence[int], _directions: Sequence[str], number: int) -> str:
    """Relate all objects to the first, each in another direction; the directions take turns."""
    middle, *others = numbers
    parts = [
        f"{with_article(other)} {FLAT_RELATIONS[(place + number) % 4].phrase} "
        + (f"the {_name(middle)}" if place else with_article(middle))
        for place, other in enumerate(others)
    ]
    return ", ".join(parts)


def listed(numbers: Sequence[int]) -> str:
    """Name objects without relating them."""
    *first, last = map(with_article, numbers)
    return f"{', '.join(first)} and {last}" if first else last


def chained(numbers: Sequence[int], phrases: Sequence[str]) -> str:
    """Relate each object to the next."""
    text = with_article(numbers[0])
    for place, phrase in enumerate(phrases):
        text += f", the {_name(numbers[place])}" if place else ""
        text += f" {phrase} {with_article(numbers[place + 1])}"
    return text


def _write_listed(numbers: Sequence[int], _directions: Sequence[str], _number: int) -> str:
    return listed(numbers)


def _counted(word: str) -> PromptList:
    return PromptList(1, lambda numbers, _d, _n: f"{word} {sticker_objects()[numbers[0]].plural}")


PROMPT_LISTS = {
    "pairs": _related([relation.phrase for relation in FLAT_RELATIONS]),
    "diag": _related([relation.phrase for relation in DIAGONAL_RELATIONS]),
    "near": _related(["next to"]),
    "far": _related(["far from"]),
    "front": _related([relation.phrase for relation in DEPTH_RELATIONS]),
    "front3": PromptList(3, _write_depth_chain),
    "between": PromptList(3, _write_between),
    "chain3": PromptList(3, _write_chain),
    "chain4": PromptList(4, _write_chain),
    "chain5": PromptList(5, _write_chain),
    "star4": PromptList(4, _write_star),
    "star5": PromptList(5, _write_star),
    "single": PromptList(1, _write_listed),
    "listed2": PromptList(2, _write_listed),
    "listed3": PromptList(3, _write_listed),
    "listed4": PromptList(4, _write_listed),
    "count2": _counted("two"),
    "count3": _counted("three"),
}
"""The lists of our own that show whether guidance holds a layout, by name."""

SPATIALBENCH = "spatialbench"
LIST_NAMES = (*PROMPT_LISTS, SPATIALBENCH)


def _name(number: int) -> str:
    return sticker_objects()[number].name


def with_article(number: int) -> str:
    return f"{indefinite_article(_name(number))} {_name(number)}"


def _names(rng: np.random.Generator, count: int) -> list[str]:
    things = sticker_objects()
    return [things[number].name for number in rng.permutation(len(things))[:count]]
