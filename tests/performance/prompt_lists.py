"""The prompts that the scripts of this folder draw."""

import json
from dataclasses import dataclass

import numpy as np

from spatialstudio.adapters.stickers.training.backgrounds import PLACES
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER, sticker_objects
from spatialstudio.adapters.storage.records.spatialbench_uc import draw_prompts, read_objects
from spatialstudio.domain.scene import (
    ABOVE,
    BEHIND,
    BELOW,
    IN_FRONT_OF,
    LEFT_OF,
    RIGHT_OF,
)

RESOURCES = WORLD_FOLDER.parents[1]
PAIR = 2
FLAT_RELATIONS = (LEFT_OF, RIGHT_OF, ABOVE, BELOW)
DEPTH_RELATIONS = (IN_FRONT_OF, BEHIND)


@dataclass(frozen=True, slots=True)
class ListedPrompt:
    """One prompt of a list."""

    id: str
    text: str


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


def _names(rng: np.random.Generator, count: int) -> list[str]:
    things = sticker_objects()
    return [things[number].name for number in rng.permutation(len(things))[:count]]
