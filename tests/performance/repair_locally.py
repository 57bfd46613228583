"""Repair failed pictures locally, and see what is kept and what appears.

    python -m tests.performance.repair_locally FOLDER --cases 100

Unguided pictures of pairs and chains of three and four objects, one seed each, are judged until
enough of them fail or cannot be decided. Each is repaired once at its own seed, with the region and
the place that ``plan_repair`` chooses. Rows and pictures (start, repair) lie in FOLDER; a second
start completes them, and ``--table`` only prints.

Kept: no channel of a pixel outside the regions differs by more than 1 of 255. Found: the checker
detects the object with its centre in the region of its new place. Others: every other object that
was found is found again. PASS: all relations pass, as published. Intervals are those of Wilson at
95 %.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from PIL import Image

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.repair import LocalRepair
from spatialstudio.domain.verdict import REPRODUCE, Evaluation, Outcome
from spatialstudio.science.refine.repair_mask import redrawn_share
from spatialstudio.science.refine.repair_region import RepairPlan
from tests.performance.intervals import wilson
from tests.performance.prompt_lists import SeededPrompt, Split, seeded_prompts
from tests.performance.shared_rows import Values, add_sharing_options, key_of, make_rows, read_rows
from tests.performance.studio_pictures import NOTHING_CAPTURED, Bench, show

LISTS = ("pairs", "chain3", "chain4")
CASES_PER_PROMPT = 10
"""Prompts that are tried for one failed picture, at most."""
MOST_DIFFERENCE = 1


def main() -> int:
    options = parse_arguments()
    count = options.cases * CASES_PER_PROMPT // len(LISTS) + 1
    drawn = [seeded_prompts(name, options.split, count) for name in LISTS]
    in_turn = [prompt for prompts in zip(*drawn, strict=True) for prompt in prompts]
    if not options.table:
        make_rows(
            options, "tests.performance.repair_locally", in_turn, lambda own: rows_of(own, options)
        )
    if options.worker is None:
        show("\n".join(table([row for row in read_rows(options.folder) if row["failed"]])))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_sharing_options(parser)
    parser.add_argument("--cases", type=int, default=100, help="failed pictures to repair")
    parser.add_argument("--split", type=Split, choices=Split, default=Split.DEVELOPMENT)
    return parser.parse_args()


def rows_of(prompts: Iterable[SeededPrompt], options: argparse.Namespace) -> Iterator[Values]:
    """Draw, judge and repair until the cases of this process are complete."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    done = {key_of(row): row for row in read_rows(options.folder)}
    wanted = -(-options.cases // options.workers)
    bench, cases = Bench(), 0
    for prompt in prompts:
        if cases >= wanted:
            return
        row = done.get((prompt.id, "repair"))
        if row is None:
            row = _row(bench, prompt, options.folder)
            yield row
        cases += row["failed"]


def _row(bench: Bench, prompt: SeededPrompt, folder: Path) -> Values:
    scene = bench.scene(prompt.text)
    request = bench.request(scene, prompt.seed, guided=False)
    start = bench.draw(request).image
    before = bench.judge(start, scene)
    row: Values = {"id": prompt.id, "variant": "repair", "failed": not _passes(before)}
    if not row["failed"]:
        return row
    run = OpenRun(id=request.id, scene=scene, request=request, image=start, evaluation=before)
    repairs = bench.studio.storage.repairs
    plan = repairs.plan(run)
    asked = repairs.request(run, plan, bench.card)
    drawn = bench.draw(replace(asked, capture=NOTHING_CAPTURED), start)
    Image.fromarray(np.concatenate([start, drawn.image], 1)).save(folder / f"{prompt.id}.png")
    after = bench.judge(drawn.image, scene)
    assert asked.repair is not None
    return row | {
        "text": prompt.text,
        "objects": len(scene.mentions),
        "difference": outside_difference(start, drawn.image, asked.repair),
        "found": is_found(plan, after),
        "others": _keeps_others(plan, before, after),
        "passes": _passes(after),
        "redrawn": float(redrawn_share(asked.repair, *start.shape[:2]).mean()),
        "denoiser_passes": drawn.passes,
        "processor_s": round(drawn.processor_s, 3),
    }


def _passes(evaluation: Evaluation) -> bool:
    return all(verdict.outcome is Outcome.PASS for verdict in evaluation.verdicts)


def outside_difference(start: RgbImage, repaired: RgbImage, repair: LocalRepair) -> int:
    """Return the largest difference of a channel outside the regions, of 255."""
    outside = redrawn_share(repair, *start.shape[:2]) == 0
    differences = np.abs(start.astype(int) - repaired.astype(int))[outside]
    return int(differences.max()) if differences.size else 0


def is_found(plan: RepairPlan, after: Evaluation) -> bool:
    """Return whether a detection of the object has its centre in the first region."""
    seen, region = after.perception, plan.regions[0]
    boxes = seen.boxes_above(plan.mention_id, REPRODUCE.detection_score)
    centres = (box.center_xy for box in boxes)
    return any(region.contains(x / seen.width, y / seen.height) for x, y in centres)


def _keeps_others(plan: RepairPlan, before: Evaluation, after: Evaluation) -> bool:
    found, again = (
        {
            each.mention_id
            for each in evaluation.perception.detections
            if each.score > REPRODUCE.detection_score
        }
        for evaluation in (before, after)
    )
    return found - {plan.mention_id} <= again


def table(cases: Sequence[Values]) -> list[str]:
    """Return the figures as lines."""
    count = len(cases)
    lines = [f"{count} pictures that failed or were undecidable, repaired once each"]
    largest = max((row["difference"] for row in cases), default=0)
    shares = {
        f"outside the regions within {MOST_DIFFERENCE}/255": sum(
            row["difference"] <= MOST_DIFFERENCE for row in cases
        ),
        "object found in its region": sum(row["found"] for row in cases),
        "other objects still found": sum(row["others"] for row in cases),
        "all relations PASS": sum(row["passes"] for row in cases),
    }
    lines += [f"{name}: {wilson(value, count).percent} %" for name, value in shares.items()]
    lines.append(f"largest difference outside the regions: {largest} of 255")
    means = {
        "redrawn share of the picture": "redrawn",
        "denoiser passes (20 is a plain picture)": "denoiser_passes",
        "processor seconds": "processor_s",
    }
    lines += [
        f"mean {name}: {np.mean([row[key] for row in cases]):.2f}"
        for name, key in means.items()
        if cases
    ]
    return lines


if __name__ == "__main__":
    sys.exit(main())
