"""Judge painted sticker scenes whose truth is known, and count the answers by that truth.

    python -m tests.performance.judge_rendered_scenes [COUNT]

Two stickers stand at a random offset; the claim is that one is left of, or above, the other. A row
of the table holds the scenes of one range of true offsets; a second table holds scenes with two
equal stickers, which nobody can tell apart.
"""

import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from spatialstudio.adapters.perturbations import PillowPerturber
from spatialstudio.adapters.stickers.backgrounds import Backdrop
from spatialstudio.adapters.stickers.depth import StickerDepth
from spatialstudio.adapters.stickers.scene_layout import FLAT_DEPTH, Placement, Scene
from spatialstudio.adapters.stickers.scenes import PaintedScene, paint
from spatialstudio.adapters.stickers.segmenter import StickerSegmenter, box_around
from spatialstudio.adapters.stickers.vocabulary import WORLD_FOLDER, sticker_objects
from spatialstudio.application.cancellation import CancelFlag
from spatialstudio.application.flow.evaluate_image import evaluate_image
from spatialstudio.application.flow.perceive_image import Judges
from spatialstudio.domain.relation import ABOVE, LEFT_OF, Axis, RelationType
from spatialstudio.domain.verdict import RECOMMENDED, REPRODUCE, CheckerSettings, Evaluation
from spatialstudio.science.superiority import projected_pos, pse_from_pos
from tests.fakes import scene_of

SIDE = 128
SIZE = 0.3
BINS = (-0.6, -0.3, -0.2, -0.12, -0.08, 0.0, 0.08, 0.12, 0.2, 0.3, 0.6)
MODELS = WORLD_FOLDER.parent


@dataclass(frozen=True)
class Case:
    """A painted scene, its claim, and what is true of it."""

    painted: PaintedScene
    relation_type: RelationType
    names: tuple[str, str]
    delta: float
    pse: float


def random_case(rng: np.random.Generator, *, with_twin: bool = False) -> Case:
    first, second = (int(n) for n in rng.choice(len(sticker_objects()), 2, replace=False))
    return painted_case(
        (LEFT_OF, ABOVE)[rng.integers(2)],
        (first, second),
        float(rng.uniform(-0.6, 0.6)),
        with_twin=with_twin,
        background_seed=int(rng.integers(2**31)),
    )


def painted_case(
    relation_type: RelationType,
    numbers: tuple[int, int],
    offset: float,
    *,
    with_twin: bool = False,
    background_seed: int = 1,
) -> Case:
    """Paint two stickers at an offset along the relation's axis, and a twin of the first."""
    places = [(0.5 + offset / 2, 0.65), (0.5 - offset / 2, 0.35)]
    painted_numbers = list(numbers)
    if with_twin:
        painted_numbers.append(numbers[0])
        places.append((0.5 - 1.5 * offset, 0.65))
    if relation_type is ABOVE:
        places = [(y, x) for x, y in places]
    placements = tuple(
        Placement(number=number, x=x, y=y, size=SIZE, depth=FLAT_DEPTH)
        for number, (x, y) in zip(painted_numbers, places, strict=True)
    )
    scene = Scene(placements=placements, backdrop=Backdrop(seed=background_seed))
    return case_of(paint(scene, SIDE), relation_type, numbers)


def case_of(painted: PaintedScene, relation_type: RelationType, numbers: tuple[int, int]) -> Case:
    subject, other = painted.masks[:2]
    axis = relation_type.axis or Axis.X
    place = 0 if axis is Axis.X else 1
    centers = [box_around(mask).center_xy[place] for mask in (subject, other)]
    return Case(
        painted=painted,
        relation_type=relation_type,
        names=tuple(sticker_objects()[number].name for number in numbers),
        delta=(centers[0] - centers[1]) / SIDE,
        pse=float(pse_from_pos(projected_pos(subject, other, axis))),
    )


def judged(case: Case, judges: Judges, settings: CheckerSettings) -> Evaluation:
    scene = scene_of(*case.names, case.relation_type)
    return evaluate_image(case.painted.pixels, scene, judges, CancelFlag(), settings)


def sticker_judges() -> Judges:
    return Judges(
        detector=StickerSegmenter(MODELS / "sticker-segmenter"),
        depth=StickerDepth(MODELS / "sticker-depth"),
        perturber=PillowPerturber(),
    )


def answer_of(evaluation: Evaluation) -> str:
    (verdict,) = evaluation.verdicts
    return verdict.reason.value if verdict.reason else verdict.outcome.value


def lines_of(settings: CheckerSettings, count: int) -> Iterator[str]:
    """Judge random scenes and tell the answers, range of truth by range of truth."""
    rng = np.random.default_rng(7)
    judges = sticker_judges()
    answers: dict[int, Counter[str]] = defaultdict(Counter)
    errors = []
    for _ in range(count):
        case = random_case(rng)
        evaluation = judged(case, judges, settings)
        answers[int(np.digitize(case.delta, BINS))][answer_of(evaluation)] += 1
        (verdict,) = evaluation.verdicts
        if verdict.measurement:
            errors.append(abs(verdict.measurement.pse - case.pse))
    yield f"{settings.preset}: mean error of PSE {np.mean(errors):.4f}"
    for number, counts in sorted(answers.items()):
        bounds = [f"{bound:+.2f}" for bound in BINS[max(number - 1, 0) : number + 1]]
        yield f"  {' .. '.join(bounds):16}{dict(counts)}"
    twins = (random_case(rng, with_twin=True) for _ in range(count // 4))
    twin_answers = Counter(answer_of(judged(twin, judges, settings)) for twin in twins)
    yield f"  with a twin     {dict(twin_answers)}"


def main(count: int) -> None:
    for settings in (REPRODUCE, RECOMMENDED):
        sys.stdout.writelines(f"{line}\n" for line in lines_of(settings, count))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 400)
