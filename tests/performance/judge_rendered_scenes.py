"""Judge painted sticker scenes whose truth is known, and count the answers by that truth.

    python -m tests.performance.judge_rendered_scenes [COUNT]

For each relation and preset COUNT scenes are painted at random places between plainly true and
plainly false. The same checker judges them twice: with the renderer's own boxes, masks and depth,
and with what the shipped models see. A row of the table holds the scenes of one true answer; those
that truly lie within a hair of a margin are counted apart, as either answer is right there. Then
come scenes with two equal stickers on either side, which nobody can tell apart.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np

from spatialstudio.adapters.perturbations import PillowPerturber
from spatialstudio.adapters.stickers.depth import StickerDepth
from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.application.cancellation import CancelFlag
from spatialstudio.application.flow.evaluate_image import evaluate_image
from spatialstudio.application.flow.perceive_image import Judges
from spatialstudio.domain.relation import LEFT_OF, RelationType
from spatialstudio.domain.verdict import (
    RECOMMENDED,
    REPRODUCE,
    CheckerSettings,
    Evaluation,
    Outcome,
    Verdict,
)
from spatialstudio.science.checker import decide
from spatialstudio.science.glance import glance_at
from tests.performance.rendered_cases import MODELS, TYPES, Case, random_case

HAIR = 0.03
DECIDED = {Outcome.PASS.value, Outcome.FAIL.value}
AT_MARGIN = "at a margin"


def sticker_judges() -> Judges:
    return Judges(
        detector=StickerSegmenter(MODELS / "sticker-segmenter"),
        depth=StickerDepth(MODELS / "sticker-depth"),
        perturber=PillowPerturber(),
    )


def judged(case: Case, judges: Judges, settings: CheckerSettings) -> Evaluation:
    return evaluate_image(case.painted.pixels, case.scene, judges, CancelFlag(), settings)


def true_verdict(case: Case, settings: CheckerSettings) -> Verdict:
    (verdict,) = decide(case.scene, case.truth, settings)
    return verdict


def answer_of(verdict: Verdict) -> str:
    return verdict.reason.value if verdict.reason else verdict.outcome.value


def true_answer(case: Case, settings: CheckerSettings) -> str:
    (relation,) = case.scene.relations
    glance = glance_at(relation, case.truth, settings)
    answer = answer_of(true_verdict(case, settings))
    if glance and answer in {*DECIDED, "near_boundary"}:
        distance = abs(abs(glance.reading.offset) - glance.reading.margin)
        return AT_MARGIN if distance < HAIR else answer
    return answer


def lines_of(
    relation_type: RelationType, settings: CheckerSettings, judges: Judges, count: int
) -> Iterator[str]:
    """Judge random scenes and tell the answers by the true ones."""
    rng = np.random.default_rng(7)
    table: dict[str, Counter[str]] = defaultdict(Counter)
    errors = []
    for case in (random_case(relation_type, rng) for _ in range(count)):
        (verdict,) = judged(case, judges, settings).verdicts
        table[true_answer(case, settings)][answer_of(verdict)] += 1
        measured, true = verdict.measurement, true_verdict(case, settings).measurement
        if measured and true:
            errors.append(abs(measured.pse - true.pse))
    yield f"{relation_type.id}, {settings.preset}: PSE off by {np.mean(errors):.4f} on average, "
    yield f"  by at most 0.05 in {np.mean(np.array(errors) <= 0.05):.3f} of {len(errors)} scenes"
    yield from _rows(table)


def _rows(table: dict[str, Counter[str]]) -> Iterator[str]:
    for truth, counts in sorted(table.items()):
        yield f"  {truth:15}{dict(counts.most_common())}"
    clear = {truth: counts for truth, counts in table.items() if truth != AT_MARGIN}
    total = sum(counts.total() for counts in clear.values())
    equal = sum(counts[truth] for truth, counts in clear.items())
    abstained = sum(
        counts.total() - sum(counts[answer] for answer in DECIDED)
        for truth, counts in clear.items()
        if truth in DECIDED
    )
    wrong = sum(counts[answer] for truth, counts in clear.items() for answer in DECIDED - {truth})
    yield (
        f"  away from margins: {equal} of {total} as the truth, {wrong} decided otherwise, "
        f"{abstained} abstentions where the truth is plain"
    )


def twin_lines(settings: CheckerSettings, judges: Judges, count: int) -> Iterator[str]:
    rng = np.random.default_rng(8)
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for case in (random_case(LEFT_OF, rng, with_twin=True) for _ in range(count)):
        (verdict,) = judged(case, judges, settings).verdicts
        table[true_answer(case, settings)][answer_of(verdict)] += 1
    yield f"two equal stickers, {settings.preset}"
    yield from _rows(table)


def main(count: int) -> None:
    judges = sticker_judges()
    for settings in (REPRODUCE, RECOMMENDED):
        for relation_type in TYPES:
            for line in lines_of(relation_type, settings, judges, count):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()
        sys.stdout.writelines(f"{line}\n" for line in twin_lines(settings, judges, count))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
