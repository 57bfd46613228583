"""Measure the scene-graph score: rendered scenes against swapped prompts, and large graphs.

    python -m tests.performance.measure_scene_graph [COUNT]

COUNT scenes each of left, above and in front are painted where the relation holds plainly, judged
by the shipped models, and scored for their own prompt and with the relation reversed.
"""

import sys
from dataclasses import replace
from time import perf_counter

import numpy as np

from spatialstudio.domain.graph_match import ObjectGraph
from spatialstudio.domain.scene import ABOVE, IN_FRONT_OF, LEFT_OF, RelationType, relation_types
from spatialstudio.domain.verdict import REPRODUCE
from spatialstudio.science.scene_graph.score import match_graphs, score_picture
from tests.performance.judge_rendered_scenes import judged, sticker_judges
from tests.performance.rendered_cases import Case, ground_case, painted_case
from tests.science.scene_graph.graphs import HELD, PREDICATES, random_graph

TYPES = (LEFT_OF, ABOVE, IN_FRONT_OF)
CLASSES = 30
LARGE, RELATIONS = 100, 250


def plain_case(relation_type: RelationType, rng: np.random.Generator) -> Case:
    numbers = rng.choice(CLASSES, 2, replace=False).tolist()
    seed = int(rng.integers(2**31))
    if relation_type is IN_FRONT_OF:
        return ground_case(numbers, float(rng.uniform(0.3, 0.7)), seed)
    return painted_case(relation_type, numbers, -float(rng.uniform(0.3, 0.6)), seed=seed)


def separated(count: int) -> tuple[int, int]:
    """Return how many scenes score higher for their own prompt, and of how many."""
    judges, rng, higher = sticker_judges(), np.random.default_rng(5), 0
    for _ in range(count):
        for relation_type in TYPES:
            case = plain_case(relation_type, rng)
            evaluation = judged(case, judges, REPRODUCE)
            (relation,) = case.scene.relations
            reverse = replace(relation, type=relation_types.inverse(relation.type))
            own = score_picture(case.scene, evaluation)
            other = score_picture(replace(case.scene, relations=(reverse,)), evaluation)
            higher += own is not None and other is not None and own.score > other.score
    return higher, count * len(TYPES)


def large_seconds() -> float:
    """Return the longest time of three pairs of graphs of 100 objects of ten classes."""
    kinds, times = [f"kind{number}" for number in range(10)], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        target = random_graph(rng, LARGE, PREDICATES, kinds)
        target = ObjectGraph(objects=target.objects, relations=target.relations[:RELATIONS])
        picture = random_graph(rng, LARGE, HELD, kinds, is_picture=True)
        start = perf_counter()
        match_graphs(target, picture)
        times.append(perf_counter() - start)
    return max(times)


def main(count: int) -> None:
    higher, total = separated(count)
    sys.stdout.write(f"{higher} of {total} scenes score higher for their own prompt\n")
    sys.stdout.write(f"{LARGE} objects: {large_seconds():.2f} s\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
