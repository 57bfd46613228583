"""The prompts of SpatialBench-UC, reproduced to the byte, and the templates of VISOR.

SpatialBench-UC: fifty ordered pairs of objects are sampled; each gives "left of" and "above", and
for each of these the counterpart with the objects swapped and the same meaning. Articles
("a apple") are kept. Source: Rostane 2026, arXiv:2601.13462, and its release v1.0.1.

VISOR: each pair of objects, in both orders, with four relations and correct articles. Source:
Gokhale et al. 2022, arXiv:2212.10015.

Contrast: each relation with its objects in both orders, "a girl on the left of a horse" and "a
horse on the left of a girl". Source: the supplement of PSG-Bench, its example nouns and phrases;
the prompts themselves are ours, as its lists are not published.
"""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from spatialstudio.domain.benchmark_plan import BenchmarkPrompt, PromptSource, StatedRelation
from spatialstudio.domain.scene import (
    ABOVE,
    BELOW,
    LEFT_OF,
    RIGHT_OF,
    RelationType,
    relation_types,
)

RELEASE = "v1.0.1"
SEED = 1234
SAMPLED_PAIRS = 50
VISOR_RELATIONS = (LEFT_OF, RIGHT_OF, ABOVE, BELOW)
VOWELS = frozenset("aeiou")
CONTRAST_NOUNS = (
    *("man", "woman", "girl", "boy"),
    *("cat", "dog", "horse", "rabbit", "turtle"),
    *("table", "chair", "car", "cup", "computer"),
)
CONTRAST_PHRASES = {
    LEFT_OF: "on the left of",
    RIGHT_OF: "on the right of",
    ABOVE: "on the top of",
    BELOW: "on the bottom of",
}
MULTI_WORD = "multi_word_object"


def draw_prompts(
    objects: Sequence[str], seed: int = SEED, sampled_pairs: int = SAMPLED_PAIRS
) -> bytes:
    """Return the content of a ``prompts.jsonl``.

    Args:
        objects: Names to sample from; the order matters.
        seed: Seed of Python's random number generator.
        sampled_pairs: Ordered pairs of objects; each gives four prompts.
    """
    pairs = random.Random(seed).sample(list(permutations(objects, 2)), sampled_pairs)
    claims = [(relation_type, *pair) for pair in pairs for relation_type in (LEFT_OF, ABOVE)]
    lines = [
        json.dumps(line) + "\n"
        for number, claim in enumerate(claims)
        for line in _pair(number, *claim)
    ]
    return "".join(lines).encode()


def _pair(
    number: int, relation_type: RelationType, subject: str, other: str
) -> Iterator[dict[str, object]]:
    """Yield a prompt and its counterpart."""
    sides = (
        (f"v1_{2 * number:06d}", relation_type, subject, other),
        (f"v1_{2 * number + 1:06d}", relation_types.inverse(relation_type), other, subject),
    )
    for own, counterpart in (sides, sides[::-1]):
        prompt_id, kind, first, second = own
        yield {
            "prompt_id": prompt_id,
            "pair_id": f"pair_{number:06d}",
            "version": RELEASE,
            "language": "en",
            "relation": kind.id,
            "object_a": {"name": first, "coco_label": first},
            "object_b": {"name": second, "coco_label": second},
            "prompt": _text(kind, first, second),
            "counterfactual": {
                "prompt_id": counterpart[0],
                "relation": counterpart[1].id,
                "prompt": _text(*counterpart[1:]),
            },
            "template": "photo_simple_v1",
            "difficulty_tags": _tags(first, second),
        }


def _text(relation_type: RelationType, subject: str, other: str) -> str:
    return f"A photo of a {subject} {relation_type.phrase} a {other}."


def _tags(*objects: str) -> list[str]:
    many_words = any(" " in name for name in objects)
    return ["two_objects", "spatial", *(["multi_word_object"] if many_words else [])]


def visor_prompts(names: Sequence[str]) -> tuple[BenchmarkPrompt, ...]:
    """Generate the spatial prompts of VISOR: each pair of names, both orders, four relations.

    Its "and" prompts and single objects state no relation and are left out.

    Args:
        names: Object names; 80 give 25,280 prompts.
    """
    return tuple(
        prompt for first, second in combinations(names, 2) for prompt in _visor_pair(first, second)
    )


def _visor_pair(first: str, second: str) -> Iterator[BenchmarkPrompt]:
    for subject, other in ((first, second), (second, first)):
        for kind in VISOR_RELATIONS:
            inverse = relation_types.inverse(kind)
            yield BenchmarkPrompt(
                id=_visor_id(subject, kind.id, other),
                text=f"{_with_article(subject)} {kind.phrase} {_with_article(other)}",
                set_id=PromptSource.VISOR.value,
                counterpart_id=_visor_id(other, inverse.id, subject),
                tags=word_tags(subject, other),
                stated=StatedRelation(type=kind, subject=subject, object=other),
            )


def _visor_id(subject: str, relation: str, other: str) -> str:
    return f"visor_{subject}_{relation}_{other}".replace(" ", "-")


def contrast_prompts(names: Sequence[str] = CONTRAST_NOUNS) -> tuple[BenchmarkPrompt, ...]:
    """Generate pairs of prompts that differ only in the order of their objects.

    Args:
        names: Object names; the fourteen of the supplement give 728 prompts.
    """
    return tuple(
        BenchmarkPrompt(
            id=f"contrast_{subject}_{kind.id}_{other}".replace(" ", "-"),
            text=f"{_with_article(subject)} {phrase} {_with_article(other)}",
            set_id=PromptSource.CONTRAST.value,
            counterpart_id=f"contrast_{other}_{kind.id}_{subject}".replace(" ", "-"),
            tags=word_tags(subject, other),
            stated=StatedRelation(type=kind, subject=subject, object=other),
        )
        for pair in combinations(names, 2)
        for kind, phrase in CONTRAST_PHRASES.items()
        for subject, other in (pair, pair[::-1])
    )


def _with_article(name: str) -> str:
    return f"{'an' if name[0] in VOWELS else 'a'} {name}"


def word_tags(*names: str) -> tuple[str, ...]:
    """Return the difficulty tag of names with several words."""
    return (MULTI_WORD,) if any(" " in name for name in names) else ()
