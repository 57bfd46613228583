"""Score a reader of prompts on free prompts with known relations, and print the table.

    python -m tests.performance.score_extractor [--split SPLIT] [--misses]

Precision, recall and F1 are micro averages over relations. "Near", "far from" and the two flanks of
"between" count in either order. A prompt is clean when nothing is claimed that is not there.
"""

import argparse
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.application.compose.list_relations import list_relations
from spatialstudio.application.paths import resources_folder
from spatialstudio.domain.ports import RelationExtractor
from spatialstudio.domain.scene import Prompt, relation_types

GOLDEN = Path(__file__).parents[1] / "golden"
PROMPTS_FILES = (
    *(
        GOLDEN / f"{name}.jsonl"
        for name in ("free_prompts", "more_free_prompts", "later_free_prompts")
    ),
    *sorted((GOLDEN / "fresh_prompts").glob("round_*.jsonl")),
)
SPLITS = (
    *("tuning", "held_out", "second", "third", "fourth", "fifth", "sixth", "seventh"),
    *("eighth", "ninth", "tenth", "eleventh", "twelfth", "thirteenth", "fourteenth"),
)

Claim = tuple[str, str, tuple[str, ...]]


@dataclass(slots=True)
class Score:
    """Counts of one category.

    Attributes:
        misses: Prompts that were read differently, with what is missing and what is too much.
    """

    prompts: int = 0
    clean: int = 0
    right: int = 0
    claimed: int = 0
    expected: int = 0
    misses: list[tuple[str, Counter[Claim], Counter[Claim]]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.claimed if self.claimed else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.expected if self.expected else 1.0

    @property
    def f1(self) -> float:
        total = self.claimed + self.expected
        return 2 * self.right / total if total else 1.0

    def add(self, prompt: str, expected: Counter[Claim], claimed: Counter[Claim]) -> None:
        self.prompts += 1
        self.right += (expected & claimed).total()
        self.claimed += claimed.total()
        self.expected += expected.total()
        self.clean += not claimed - expected
        if expected != claimed:
            self.misses.append((prompt, expected - claimed, claimed - expected))


def main() -> None:
    options = parse_arguments()
    rows = read_rows(SPLITS if options.split == "all" else (options.split,))
    extractor = GrammarExtractor(resources_folder() / "prompts")
    extractor.extract(Prompt(text="a cat"))
    started = process_time()
    scores = score(extractor, rows)
    milliseconds = 1000 * (process_time() - started) / len(rows)
    lines = [*table(scores), f"{milliseconds:.2f} ms of processor time a prompt"]
    if options.misses:
        lines += misses(scores)
    sys.stdout.write("\n".join(lines) + "\n")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--split", choices=(*SPLITS, "all"), default="all")
    parser.add_argument("--misses", action="store_true")
    return parser.parse_args()


def read_rows(splits: Sequence[str]) -> list[dict[str, Any]]:
    lines = [line for file in PROMPTS_FILES for line in file.read_text("utf-8").splitlines()]
    return [row for line in lines if (row := json.loads(line))["split"] in splits]


def score(extractor: RelationExtractor, rows: Iterable[dict[str, Any]]) -> dict[str, Score]:
    """Score each category; "all" comes last."""
    scores: dict[str, Score] = defaultdict(Score)
    total = Score()
    for row in rows:
        claimed = claims_of(
            relation.as_fields()
            for relation in list_relations(extractor.extract(Prompt(text=row["prompt"])))
        )
        expected = claims_of(row["relations"])
        scores[row["category"]].add(row["prompt"], expected, claimed)
        total.add(row["prompt"], expected, claimed)
    return {**scores, "all": total}


def claims_of(relations: Iterable[Mapping[str, Any]]) -> Counter[Claim]:
    return Counter(comparable(**relation) for relation in relations)


def comparable(subject: str, relation: str, object: str | list[str]) -> Claim:  # noqa: A002
    objects = [object] if isinstance(object, str) else sorted(object)
    is_symmetric = relation_types[relation].is_symmetric
    if is_symmetric and len(objects) == 1:
        subject, *objects = sorted([subject, *objects])
    return subject, relation, tuple(objects)


def table(scores: Mapping[str, Score]) -> Iterator[str]:
    yield f"{'category':<16}{'prompts':>8}{'exact':>7}{'clean':>7}{'P':>7}{'R':>7}{'F1':>7}"
    for name, each in scores.items():
        exact = each.prompts - len(each.misses)
        figures = f"{each.precision:>7.3f}{each.recall:>7.3f}{each.f1:>7.3f}"
        yield f"{name:<16}{each.prompts:>8}{exact:>7}{each.clean:>7}{figures}"


def misses(scores: Mapping[str, Score]) -> Iterator[str]:
    for name, each in list(scores.items())[:-1]:
        for prompt, missing, too_much in each.misses:
            yield f"\n{name}: {prompt}"
            yield f"  missing {list(missing)}"
            yield f"  too much {list(too_much)}"


if __name__ == "__main__":
    main()
