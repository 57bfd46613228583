"""Compare guided with unguided pictures of the same prompts and seeds, and print the table.

    python -m tests.performance.compare_guidance ROWS_FILE [--objects N] [--prompts N] [--seeds N]

Draws the 200 two-object prompts of SpatialBench-UC with 4 seeds each, with and without PSG, and
judges them with the embedded segmenter, seed by seed; with ``--objects 3`` or ``4``, prompts that
relate each object to the next. One line a picture goes to ROWS_FILE as soon as it is judged; a
second start goes on from there, and only prints the table when nothing is missing.

"Found" is a detection of every object at the checker's threshold; "placed" compares centres as
VISOR does, for every relation. PSE is the mean over relations, as in Table 15 of Rezaei et al.
2025, arXiv:2506.23418. Shares have Wilson intervals; mean PSE and the comparisons, intervals of a
bootstrap over prompts, because the seeds of one prompt are alike. All intervals are at 95 %.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean

from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.scene import Relation
from spatialstudio.domain.verdict import Evaluation, Outcome
from spatialstudio.science.metrics.visor import visor_picture
from spatialstudio.science.pos.pse import pse_of
from tests.performance.intervals import Floats, bootstrap, difference, ratio, wilson
from tests.performance.prompt_lists import PAIR, ListedPrompt, chain_prompts, spatialbench_prompts
from tests.performance.studio_pictures import METHODS, Change, Drawn, Wanted, draw, show

MOST_OBJECTS = 4
MOST_PROMPTS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One picture and what came of it."""

    prompt_id: str
    seed: int
    method: str
    all_found: bool
    placed: bool
    outcome: str
    pse: float
    seconds: float

    @property
    def key(self) -> tuple[str, int, str]:
        return self.prompt_id, self.seed, self.method


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A figure of many rows: the mean of a value over the rows that count."""

    name: str
    value: Callable[[Row], float]
    counts: Callable[[Row], bool] = lambda _row: True
    is_share: bool = True

    def sums(self, rows: Sequence[Row]) -> tuple[float, float]:
        counted = [self.value(row) for row in rows if self.counts(row)]
        return sum(counted), len(counted)


def passed(row: Row) -> bool:
    return row.outcome == Outcome.PASS.value


def undecided(row: Row) -> bool:
    return row.outcome == Outcome.UNDECIDABLE.value


MEAN_PSE = Measure(name="mean PSE x 100", value=lambda row: row.pse, is_share=False)
CONDITIONAL = Measure(
    name="placed, among all found, %",
    value=lambda row: row.placed,
    counts=lambda row: row.all_found,
)
MEASURES = (
    Measure(name="all objects found, %", value=lambda row: row.all_found),
    CONDITIONAL,
    Measure(name="found and placed, of all, %", value=lambda row: row.placed),
    Measure(name="checker says PASS, %", value=passed),
    Measure(name="checker abstains, %", value=undecided),
    MEAN_PSE,
)


def main() -> int:
    options = parse_arguments()
    done = read_rows(options.rows)
    wanted = [
        Wanted(prompt=prompt, seed=seed, method=method)
        for seed in range(options.seeds)
        for prompt in prompts_of(options.objects, options.prompts)
        for method in METHODS
    ]
    missing = [picture for picture in wanted if picture.key not in {row.key for row in done}]
    options.rows.parent.mkdir(parents=True, exist_ok=True)
    with options.rows.open("a", encoding="utf-8") as file:
        drawn = draw(missing, options.rows.parent / "runs", change=change_of(options))
        for number, picture in enumerate(drawn, 1):
            row = row_of(picture)
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()
            done.append(row)
            show(f"{number} of {len(missing)}: {row.key} {row.outcome}")
    keys = {picture.key for picture in wanted}
    show("\n".join(table([row for row in done if row.key in keys])))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines, one a picture; one file a --objects")
    parser.add_argument("--objects", type=int, choices=range(PAIR, MOST_OBJECTS + 1), default=PAIR)
    parser.add_argument("--prompts", type=int, default=MOST_PROMPTS, help="spread over all")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--strength", type=float, help="of PSG; the model's own by default")
    parser.add_argument("--presence", type=float, help="weight of presence joined with PSG")
    return parser.parse_args()


def change_of(options: argparse.Namespace) -> Change:
    """Return what makes the wanted guidance of PSG as the model recommends it."""

    def change(guidance: GuidanceSettings) -> GuidanceSettings:
        if options.strength is not None:
            guidance = replace(guidance, strength=options.strength)
        if options.presence is None:
            return guidance
        return replace(
            guidance, method_id="psg-presence", options={"presence_weight": options.presence}
        )

    return change


def prompts_of(objects: int, count: int) -> list[ListedPrompt]:
    listed = spatialbench_prompts() if objects == PAIR else chain_prompts(objects, MOST_PROMPTS)
    return [listed[number * len(listed) // count] for number in range(count)]


def read_rows(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [Row(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def row_of(drawn: Drawn) -> Row:
    assert drawn.evaluation is not None
    relations = drawn.scene.relations
    all_found, all_placed = zip(
        *(found_and_placed(relation, drawn.evaluation) for relation in relations), strict=True
    )
    outcomes = {verdict.outcome for verdict in drawn.evaluation.verdicts}
    worst = next(o for o in (Outcome.FAIL, Outcome.UNDECIDABLE, Outcome.PASS) if o in outcomes)
    return Row(
        prompt_id=drawn.wanted.prompt.id,
        seed=drawn.wanted.seed,
        method=drawn.wanted.method,
        all_found=all(all_found),
        placed=all(all_placed),
        outcome=worst.value,
        pse=mean(pse_of(relation, drawn.evaluation) for relation in relations),
        seconds=drawn.seconds,
    )


def found_and_placed(relation: Relation, evaluation: Evaluation) -> tuple[bool, bool]:
    subjects, others = (
        [
            found.box
            for found in evaluation.perception.detections_of(end)
            if found.score >= evaluation.checker.detection_score
        ]
        for end in relation.ends
    )
    picture = visor_picture("", relation.type, subjects, others)
    return picture.has_both, picture.is_correct


def table(rows: Sequence[Row]) -> Iterator[str]:
    none, psg = ([row for row in rows if row.method == method] for method in METHODS)
    yield f"{len(none)} pictures without guidance, {len(psg)} with PSG, same prompts and seeds."
    yield f"{'':34}{'none':>24}{'PSG':>24}{'difference':>24}"
    for measure in MEASURES:
        cells = [cell(measure, some) for some in (none, psg)]
        cells.append(compared(measure, none, psg, difference))
        yield f"{measure.name:34}" + "".join(f"{text:>24}" for text in cells)
    yield f"mean PSE, PSG over none, %: {compared(MEAN_PSE, none, psg, quotient)}"
    for method, some in (("none", none), ("PSG", psg)):
        seconds = sorted(row.seconds for row in some)
        yield f"{method}: {seconds[len(seconds) // 2]:.2f} seconds a picture (median)"


def cell(measure: Measure, rows: Sequence[Row]) -> str:
    if measure.is_share:
        return wilson(*measure.sums(rows)).percent
    return bootstrap(ratio, sums_by_prompt(measure, rows)).percent


def compared(
    measure: Measure,
    none: Sequence[Row],
    psg: Sequence[Row],
    comparison: Callable[[Floats], float],
) -> str:
    before, after = sums_by_prompt(measure, none), sums_by_prompt(measure, psg)
    sums = [(*first, *second) for first, second in zip(before, after, strict=True)]
    return bootstrap(comparison, sums).percent


def quotient(sums: Floats) -> float:
    before = ratio(sums[:2])
    return ratio(sums[2:]) / before if before else 0.0


def sums_by_prompt(measure: Measure, rows: Sequence[Row]) -> list[tuple[float, float]]:
    prompt_ids = sorted({row.prompt_id for row in rows})
    return [measure.sums([row for row in rows if row.prompt_id == each]) for each in prompt_ids]


if __name__ == "__main__":
    sys.exit(main())
