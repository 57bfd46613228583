"""Judge painted sticker scenes whose truth is known, and count the answers by that truth.

    python -m tests.performance.judge_rendered_scenes [COUNT]

For each relation COUNT scenes are painted at random places between plainly true and
plainly false. The same checker judges them twice: with the renderer's own boxes, masks and depth,
and with what the shipped models see. A row of the table holds the scenes of one true answer; those
that truly lie within a hair of a margin are counted apart, as either answer is right there. Then
come scenes with two equal stickers on either side, which nobody can tell apart. They stand clear of
each other: equal stickers that touch are one to the shipped segmenter.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from spatialstudio.adapters.perturbations import PillowPerturber
from spatialstudio.adapters.stickers.depth import StickerDepth
from spatialstudio.adapters.stickers.segmenter import StickerSegmenter
from spatialstudio.application.evaluate.evaluate_image import JudgeSet, evaluate_image
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.scene import LEFT_OF, RelationType
from spatialstudio.domain.verdict import (
    RECOMMENDED,
    REPRODUCE,
    CheckerSettings,
    Evaluation,
    Outcome,
    Verdict,
)
from spatialstudio.science.checker.decide import decide, decide_again
from spatialstudio.science.checker.measurement import measure_relation
from tests.performance.rendered_cases import MODELS, TYPES, Case, random_case

HAIR = 0.03
DEPTH_HAIR = 0.1
"""Of the depth range: stickers are flat, so that true PoS turns from 0 to 1 at once."""
NEAR_PSE = 0.05
DECIDED = {Outcome.PASS.value, Outcome.FAIL.value}
AT_MARGIN = "at a margin"


def sticker_judges() -> JudgeSet:
    return JudgeSet(
        detector=StickerSegmenter(MODELS / "sticker-segmenter"),
        depth=StickerDepth(MODELS / "sticker-depth"),
        perturber=PillowPerturber(),
    )


def judged(case: Case, judges: JudgeSet, settings: CheckerSettings) -> Evaluation:
    return evaluate_image(case.painted.pixels, case.scene, judges, CancelFlag(), settings)


def true_verdict(case: Case, settings: CheckerSettings) -> Verdict:
    (verdict,) = decide(case.scene, case.truth, settings)
    return verdict


def answer_of(verdict: Verdict) -> str:
    return verdict.reason.value if verdict.reason else verdict.outcome.value


def true_answer(case: Case, settings: CheckerSettings) -> str:
    (relation,) = case.scene.relations
    measured_relation = measure_relation(relation, case.truth, settings)
    verdict = true_verdict(case, settings)
    answer = answer_of(verdict)
    if relation.type.needs_depth and verdict.measurement and verdict.measurement.delta is not None:
        return AT_MARGIN if abs(verdict.measurement.delta) < DEPTH_HAIR else answer
    if measured_relation and answer in {*DECIDED, "near_boundary"}:
        distance = abs(abs(measured_relation.reading.offset) - measured_relation.reading.margin)
        return AT_MARGIN if distance < HAIR else answer
    return answer


@dataclass
class Tally:
    """Answers by true answers, and how far PSE is off, of one relation by one preset."""

    settings: CheckerSettings
    answers: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    errors: list[float] = field(default_factory=list)

    def add(self, case: Case, evaluation: Evaluation) -> None:
        (verdict,) = decide_again(evaluation, case.scene, self.settings).verdicts
        self.answers[true_answer(case, self.settings)][answer_of(verdict)] += 1
        measured, true = verdict.measurement, true_verdict(case, self.settings).measurement
        if measured and true:
            self.errors.append(abs(measured.pse - true.pse))

    def lines(self) -> Iterator[str]:
        if self.errors:
            near = np.mean(np.array(self.errors) <= NEAR_PSE)
            yield (
                f"  PSE off by {np.mean(self.errors):.4f} on average, by at most {NEAR_PSE} in "
                f"{near:.3f} of {len(self.errors)} scenes"
            )
        for truth, counts in sorted(self.answers.items()):
            yield f"  {truth:15}{dict(counts.most_common())}"
        yield f"  away from margins: {self._agreement()}"

    def _agreement(self) -> str:
        clear = {truth: own for truth, own in self.answers.items() if truth != AT_MARGIN}
        total = sum(counts.total() for counts in clear.values())
        equal = sum(counts[truth] for truth, counts in clear.items())
        wrong = sum(
            counts[answer] for truth, counts in clear.items() for answer in DECIDED - {truth}
        )
        needless = sum(
            counts.total() - sum(counts[answer] for answer in DECIDED)
            for truth, counts in clear.items()
            if truth in DECIDED
        )
        return (
            f"{equal} of {total} as the truth, {wrong} decided otherwise, "
            f"{needless} abstentions where the truth is plain"
        )


def lines_of(
    relation_type: RelationType, judges: JudgeSet, count: int, *, with_twin: bool = False
) -> Iterator[str]:
    """Judge random scenes once, decide by every preset, and tell the answers by the true ones."""
    rng = np.random.default_rng(7)
    tallies = [Tally(settings) for settings in (REPRODUCE, RECOMMENDED)]
    for _ in range(count):
        case = random_case(relation_type, rng, with_twin=with_twin)
        evaluation = judged(case, judges, REPRODUCE)
        for tally in tallies:
            tally.add(case, evaluation)
    for tally in tallies:
        title = "two equal stickers" if with_twin else relation_type.id
        yield f"{title}, {tally.settings.preset}"
        yield from tally.lines()


def main(count: int) -> None:
    judges = sticker_judges()
    for relation_type in TYPES:
        _print(lines_of(relation_type, judges, count))
    _print(lines_of(LEFT_OF, judges, count, with_twin=True))


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
