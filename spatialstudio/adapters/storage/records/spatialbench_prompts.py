"""Byte-exact reproduction of the SpatialBench-UC prompts.

Fifty ordered pairs of objects are sampled; each gives "left of" and "above", and for each of these
the counterpart with the objects swapped and the same meaning.

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, and its release v1.0.1, articles ("a
apple") included.
"""

import json
import random
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.scene import (
    ABOVE,
    LEFT_OF,
    RelationType,
    relation_types,
)

RELEASE = "v1.0.1"
SEED = 1234
SAMPLED_PAIRS = 50
OBJECTS_FILE = Path("benchmarks") / "spatialbench-uc" / "objects.txt"


def read_objects(resources: Path) -> tuple[str, ...]:
    """Read the object names of the release, in its order.

    Raises:
        StoreError: The file is missing.
    """
    try:
        return tuple((resources / OBJECTS_FILE).read_text(encoding="utf-8").splitlines())
    except OSError as error:
        raise StoreError(
            f'The file "{OBJECTS_FILE.name}" is missing.', hint="Install Spatial Studio again."
        ) from error


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
