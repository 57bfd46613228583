"""Compare guided with unguided pictures of the same prompts and seeds, and print the table.

    python -m tests.performance.compare_guidance ROWS_FILE [--prompts N] [--seeds N] [--strength S]

Draws 40 two-object prompts of SpatialBench-UC with 4 seeds each, with and without PSG, and judges
them with the embedded segmenter, seed by seed. One line a picture goes to ROWS_FILE as soon as it
is judged; a second start goes on from there, and only prints the table when nothing is missing.

"Found" is a detection at the checker's threshold; "placed" compares centres as VISOR does. Shares
have Wilson intervals; mean PSE and the differences, intervals of a bootstrap over prompts, because
the seeds of one prompt are alike. All intervals are at 95 %.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import sqrt
from pathlib import Path

import numpy as np

from spatialstudio.application.engine.messages import JobFailed, PictureJudged
from spatialstudio.application.studio import Studio
from spatialstudio.domain.generation import CaptureSettings, GenerationFailed, GenerationFinished
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import Evaluation, Outcome
from spatialstudio.science.center_metrics import visor_picture

PROMPTS_FILE = Path(__file__).parents[1] / "golden" / "guidance_prompts.jsonl"
METHODS = ("none", "psg")
NORMAL_95 = 1.96
RESAMPLES = 2000
NOTHING_CAPTURED = CaptureSettings(attention_every=0, preview_every=0)

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One picture and what came of it."""

    prompt_id: str
    seed: int
    method: str
    both_found: bool
    placed: bool
    outcome: str
    pse: float
    seconds: float

    @property
    def key(self) -> tuple[str, int, str]:
        return self.prompt_id, self.seed, self.method


Measure = Callable[[Sequence[Row]], float]


class Listener:
    """Keeps what the studio says of the picture that is drawn now."""

    def __init__(self) -> None:
        self.finished: GenerationFinished | None = None
        self.evaluation: Evaluation | None = None
        self.failure = ""

    def hear(self, event: object) -> None:
        match event:
            case GenerationFinished():
                self.finished = event
            case PictureJudged(evaluation=evaluation):
                self.evaluation = evaluation
            case GenerationFailed(error=error) | JobFailed(error=error):
                self.failure = f"{error.message} {error.hint}"


def main() -> int:
    options = parse_arguments()
    done = read_rows(options.rows)
    prompts = [json.loads(line) for line in PROMPTS_FILE.read_text().splitlines()]
    step = max(len(prompts) // options.prompts, 1)
    wanted = [
        (prompt["id"], prompt["text"], seed, method)
        for seed in range(options.seeds)
        for prompt in prompts[::step][: options.prompts]
        for method in METHODS
    ]
    missing = [w for w in wanted if (w[0], w[2], w[3]) not in {row.key for row in done}]
    options.rows.parent.mkdir(parents=True, exist_ok=True)
    with options.rows.open("a", encoding="utf-8") as file:
        drawn = draw(missing, options.rows.parent / "runs", options.strength)
        for number, row in enumerate(drawn, 1):
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()
            done.append(row)
            show(f"{number} of {len(missing)}: {row.key} {row.outcome}")
    keys = {(prompt_id, seed, method) for prompt_id, _, seed, method in wanted}
    show("\n".join(table([row for row in done if row.key in keys])))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines, one a picture")
    parser.add_argument("--prompts", type=int, default=40)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--strength", type=float, help="of PSG; the model's own by default")
    return parser.parse_args()


def read_rows(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [Row(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def draw(
    wanted: Sequence[tuple[str, str, int, str]], runs_folder: Path, strength: float | None
) -> Iterator[Row]:
    studio = Studio.open("inline", runs_folder=runs_folder)
    studio.start()
    try:
        for prompt_id, text, seed, method in wanted:
            scene = studio.scene_of(text)
            studio.edit_scene(scene)
            request = studio.new_request(seed=seed, strength=strength, guided=method == "psg")
            listener = Listener()
            unsubscribe = studio.bus.subscribe(listener.hear)
            studio.generate(replace(request, capture=NOTHING_CAPTURED))
            unsubscribe()
            yield row_of(prompt_id, seed, method, scene, listener)
    finally:
        studio.close()


def row_of(prompt_id: str, seed: int, method: str, scene: SceneGraph, heard: Listener) -> Row:
    if heard.finished is None or heard.evaluation is None:
        sys.exit(f"{prompt_id} seed {seed} {method}: {heard.failure}")
    (relation,) = scene.relations
    (verdict,) = heard.evaluation.verdicts
    least_score = heard.evaluation.checker.detection_score
    subjects, others = (
        [
            found.box
            for found in heard.evaluation.perception.detections_of(end)
            if found.score >= least_score
        ]
        for end in relation.ends
    )
    picture = visor_picture(prompt_id, relation.type, subjects, others)
    return Row(
        prompt_id=prompt_id,
        seed=seed,
        method=method,
        both_found=picture.has_both,
        placed=picture.is_correct,
        outcome=verdict.outcome.value,
        pse=heard.evaluation.mean_pse or 0.0,
        seconds=heard.finished.seconds,
    )


def table(rows: Sequence[Row]) -> Iterator[str]:
    none, psg = ([row for row in rows if row.method == method] for method in METHODS)
    yield f"{len(none)} pictures without guidance, {len(psg)} with PSG, same prompts and seeds."
    yield f"{'':34}{'none':>24}{'PSG':>24}{'difference':>24}"
    for name, measure, is_share in MEASURES:
        cells = [cell(measure, some, is_share) for some in (none, psg)]
        change = measure(psg) - measure(none)
        cells.append(in_words(change, bootstrap(lambda a, b: b - a, measure, (none, psg))))
        yield f"{name:34}" + "".join(f"{text:>24}" for text in cells)
    for method, some in (("none", none), ("PSG", psg)):
        yield f"{method}: {np.mean([row.seconds for row in some]):.2f} seconds a picture (mean)"


def cell(measure: Measure, rows: Sequence[Row], is_share: bool) -> str:
    value = measure(rows)
    if is_share:
        count = sum(row.both_found for row in rows) if measure is conditional else len(rows)
        return in_words(value, wilson(value, count))
    return in_words(value, bootstrap(lambda only: only, measure, (rows,)))


def in_words(value: float, interval: Interval) -> str:
    return f"{100 * value:.1f} [{100 * interval[0]:.1f}, {100 * interval[1]:.1f}]"


def wilson(share: float, count: int) -> Interval:
    """Return the Wilson score interval of a share of ``count`` trials."""
    if count == 0:
        return 0.0, 1.0
    square = NORMAL_95**2 / count
    middle = (share + square / 2) / (1 + square)
    half = NORMAL_95 / (1 + square) * sqrt(share * (1 - share) / count + square / (4 * count))
    return max(middle - half, 0.0), min(middle + half, 1.0)


def bootstrap(
    combine: Callable[..., float], measure: Measure, samples: Sequence[Sequence[Row]]
) -> Interval:
    """Resample prompts, the same in every sample, and return the middle 95 % of the results."""
    prompt_ids = sorted({row.prompt_id for rows in samples for row in rows})
    grouped = [
        {p: [row for row in rows if row.prompt_id == p] for p in prompt_ids} for rows in samples
    ]
    rng = np.random.default_rng(0)
    results = []
    for _ in range(RESAMPLES):
        drawn = rng.choice(prompt_ids, len(prompt_ids))
        results.append(
            combine(*(measure([row for p in drawn for row in groups[p]]) for groups in grouped))
        )
    low, high = np.percentile(results, [2.5, 97.5])
    return float(low), float(high)


def both_found(rows: Sequence[Row]) -> float:
    return sum(row.both_found for row in rows) / len(rows)


def conditional(rows: Sequence[Row]) -> float:
    both = sum(row.both_found for row in rows)
    return sum(row.placed for row in rows) / both if both else 0.0


def unconditional(rows: Sequence[Row]) -> float:
    return sum(row.placed for row in rows) / len(rows)


def passed(rows: Sequence[Row]) -> float:
    return sum(row.outcome == Outcome.PASS.value for row in rows) / len(rows)


def undecided(rows: Sequence[Row]) -> float:
    return sum(row.outcome == Outcome.UNDECIDABLE.value for row in rows) / len(rows)


def mean_pse(rows: Sequence[Row]) -> float:
    return sum(row.pse for row in rows) / len(rows)


MEASURES: tuple[tuple[str, Measure, bool], ...] = (
    ("both objects found, %", both_found, True),
    ("placed, among both found, %", conditional, True),
    ("found and placed, of all, %", unconditional, True),
    ("checker says PASS, %", passed, True),
    ("checker abstains, %", undecided, True),
    ("mean PSE x 100", mean_pse, False),
)


def show(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
