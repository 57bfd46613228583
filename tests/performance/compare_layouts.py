"""Draw lists of prompts in several ways, judge the pictures, and print the tables.

    python -m tests.performance.compare_layouts FOLDER --lists pairs near --variants none psg ours

Prompts over all 72 objects, one seed each, the same for every variant; ``--split development`` for
choosing settings, ``held-out`` for figures. Rows and pictures lie in FOLDER; a second start
completes them, and ``--table`` only prints. ``guidance_variants`` explains the variants and the
number of passes, ``prompt_lists`` the lists.

PASS: the checker, as published, passes every relation of the picture, seen by the segmenter.
Missing or merged: an object has no detection at the checker's threshold. Placed: the centres of
boxes are in the stated order, as VISOR has it. Twice: an object has more than one detection.
Harmed: the picture of the same prompt and seed passes without guidance, and this one does not.
Recognised: a classifier held out names the object that the segmenter is sure of. ``--second`` adds
the verdicts of ``second_verifier``, also to pictures drawn without it. Intervals are those of
Wilson, of differences those of a bootstrap, at 95 %.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np
import torch
from PIL import Image

from spatialstudio.adapters.stickers.vocabulary import object_number
from spatialstudio.application.refine.refine_loop import RefineLoop, new_refinement
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import DA_RECOMMENDED
from spatialstudio.domain.generation import UNGUIDED, GenerationRequest
from spatialstudio.domain.refinement import RefineRules
from spatialstudio.domain.scene import Relation, SceneGraph
from spatialstudio.domain.verdict import RECOMMENDED, REPRODUCE, Evaluation, Outcome
from spatialstudio.science.checker.decide import decide_again
from spatialstudio.science.guidance.noise_search import ranked, score_candidate
from spatialstudio.science.guidance.steering import planned_passes
from spatialstudio.science.metrics.visor import visor_picture
from spatialstudio.science.pos.pse import pse_of
from spatialstudio.science.questions.da_score import assertions_of
from spatialstudio.science.refine.prompt_parts import in_prompt_order
from tests.performance.guidance_variants import Variant, all_variants, register_ablations
from tests.performance.intervals import bootstrap, difference, wilson
from tests.performance.object_classifier import class_chances, read_classifier
from tests.performance.prompt_lists import LIST_NAMES, SeededPrompt, Split, seeded_prompts
from tests.performance.second_verifier import SecondVerifier
from tests.performance.shared_rows import (
    KEY,
    Values,
    add_sharing_options,
    grouped,
    key_of,
    make_rows,
    read_rows,
)
from tests.performance.studio_pictures import Bench, DrawnRequest, show

SURE_SCORE = 0.5
PASSED = Outcome.PASS.value
COLUMNS = (
    *("pictures", "PASS", "recommended PASS", "missing or merged", "placed", "twice"),
    *("PSE", "recognised", "passes", "CPU s"),
)
OVERALL_COLUMNS = (
    *("pictures", "PASS", "second PASS", "missing or merged", "twice", "empty masks"),
    *("recognised", "lost", "passes", "CPU s"),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedRequest:
    """A picture with its verdicts, and the cost of all pictures that competed with it."""

    image: RgbImage
    evaluation: Evaluation
    passes: int
    processor_s: float


def main() -> int:
    options = parse_arguments()
    prompts = [
        (name, prompt)
        for name in options.lists
        for prompt in seeded_prompts(name, options.split, options.count)
    ]
    if not options.table:
        make_rows(
            options, "tests.performance.compare_layouts", prompts, lambda own: rows_of(own, options)
        )
    if options.worker is None:
        ids = {prompt.id for _, prompt in prompts}
        rows = [row for row in read_rows(options.folder) if row["id"] in ids]
        lines = [*table(rows), "", *harm_table(rows), "", *table_over_lists(rows)]
        if any("second" in row for row in rows):
            lines += ["", *second_table(rows)]
        show("\n".join(lines))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_sharing_options(parser)
    parser.add_argument("--lists", nargs="+", choices=LIST_NAMES, default=["pairs"])
    parser.add_argument("--variants", nargs="+", default=[UNGUIDED, "ours"])
    parser.add_argument("--variants-file", type=Path, help="Python file with further VARIANTS")
    parser.add_argument("--split", type=Split, choices=Split, default=Split.DEVELOPMENT)
    parser.add_argument("--count", type=int, default=100, help="prompts of each list")
    parser.add_argument("--second", action="store_true", help="also run the second verifier")
    parser.add_argument("--passes", type=int, default=30, help="of a picture; 20 is a plain one")
    return parser.parse_args()


def rows_of(
    prompts: Iterable[tuple[str, SeededPrompt]], options: argparse.Namespace
) -> Iterator[Values]:
    """Draw and judge what has no row yet."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    register_ablations()
    variants = all_variants(options.variants_file)
    done = {key_of(row): row for row in read_rows(options.folder)}
    bench = Bench()
    classifier = read_classifier()
    second = SecondVerifier() if options.second else None
    pictures = options.folder / "pictures"
    pictures.mkdir(exist_ok=True)
    for list_name, prompt in prompts:
        scene = bench.scene(prompt.text)
        for name in options.variants:
            path = pictures / f"{prompt.id}-{name}.png"
            row: Values = {"id": prompt.id, "variant": name}
            known = done.get((prompt.id, name))
            if known is None:
                request = bench.request(scene, prompt.seed)
                judged = draw_variant(bench, variants[name], request, options.passes)
                Image.fromarray(judged.image).save(path, compress_level=1)
                row |= {
                    "list": list_name,
                    "seed": prompt.seed,
                    "text": prompt.text,
                    **verdict_values(scene, judged.evaluation),
                    **quality_values(scene, judged.image, judged.evaluation, classifier),
                    "passes": judged.passes,
                    "processor_s": round(judged.processor_s, 3),
                }
            if second is not None and (known is None or "second" not in known):
                row |= second_values(scene, np.array(Image.open(path)), second)
            if len(row) > len(KEY):
                yield row


def second_values(scene: SceneGraph, image: RgbImage, verifier: SecondVerifier) -> Values:
    """Return what the second verifier finds."""
    outcomes, counts = verifier.outcomes(image, scene)
    return {"second": [outcome.value for outcome in outcomes], "second_found": counts}


def draw_variant(
    bench: Bench, variant: Variant, request: GenerationRequest, passes: int
) -> JudgedRequest:
    """Draw the competing pictures of a variant and keep the best."""
    scene, requests = request.scene, variant.requests(request, passes)
    if variant.rules is not None:
        drawn, number = draw_rounds(bench, requests[0], variant.rules, passes)
    else:
        pictures = [bench.draw(each) for each in requests]
        drawn = [(each, bench.judge(each.image, scene)) for each in pictures]
        number = best_number(scene, [evaluation for _, evaluation in drawn])
    best, evaluation = drawn[number]
    return JudgedRequest(
        image=best.image,
        evaluation=evaluation,
        passes=sum(each.passes for each, _ in drawn),
        processor_s=sum(each.processor_s for each, _ in drawn),
    )


def draw_rounds(
    bench: Bench, request: GenerationRequest, rules: RefineRules, passes: int
) -> tuple[list[tuple[DrawnRequest, Evaluation]], int]:
    """Refine a request while the passes allow another round; return the rounds and the best."""
    scene = request.scene
    asserted = in_prompt_order(assertions_of(scene), scene)
    refinement = new_refinement(request, bench.card, asserted, rules)
    loop = RefineLoop(refinement, lambda _: None, DA_RECOMMENDED)
    drawn: list[tuple[DrawnRequest, Evaluation]] = []
    while not loop.is_over:
        asked, weights = loop.next_request()
        spent = sum(each.passes for each, _ in drawn)
        if drawn and spent + sum(planned_passes(scene, asked.sampling)) > passes:
            break
        picture = bench.draw(asked)
        drawn.append((picture, bench.judge(picture.image, scene)))
        run = OpenRun(
            id=asked.id, scene=scene, image=picture.image, evaluation=drawn[-1][1], request=asked
        )
        loop.take(asked.id, weights, run)
    return drawn, loop.decisions.best or 0


def best_number(scene: SceneGraph, evaluations: Sequence[Evaluation]) -> int:
    """Choose as the studio's noise search does; the first where nothing is claimed."""
    if len(evaluations) == 1 or not scene.relations:
        return 0
    scores = [
        score_candidate(scene, number, evaluation.perception, REPRODUCE)
        for number, evaluation in enumerate(evaluations)
    ]
    return ranked(scores)[0].seed


def verdict_values(scene: SceneGraph, evaluation: Evaluation) -> Values:
    """Return what checker and segmenter find."""
    seen = evaluation.perception
    again = decide_again(evaluation, scene, RECOMMENDED)
    found = [
        [each for each in seen.detections_of(mention.id) if each.score >= REPRODUCE.detection_score]
        for mention in scene.mentions
    ]
    masks = [seen.masks_of(mention.id) for mention in scene.mentions]
    return {
        "outcomes": [verdict.outcome.value for verdict in evaluation.verdicts],
        "reasons": [verdict.reason and verdict.reason.value for verdict in evaluation.verdicts],
        "recommended": [verdict.outcome.value for verdict in again.verdicts],
        "found": [len(own) for own in found],
        "placed": [
            is_placed(relation, evaluation)
            for relation in scene.relations
            if relation.type.is_order_in_plane
        ],
        "areas": [round(float(own[0].pixels.mean()), 4) if own else 0.0 for own in masks],
        "pse": [round(pse_of(relation, evaluation), 4) for relation in scene.relations],
    }


def is_placed(relation: Relation, evaluation: Evaluation) -> bool:
    """Compare the centres of the found boxes as VISOR does."""
    subjects, others = (
        [
            found.box
            for found in evaluation.perception.detections_of(end)
            if found.score >= REPRODUCE.detection_score
        ]
        for end in relation.ends
    )
    return visor_picture("", relation.type, subjects, others).is_correct


def quality_values(
    scene: SceneGraph, image: RgbImage, evaluation: Evaluation, classifier: torch.nn.Module
) -> Values:
    """Return what a classifier held out says of the objects that the segmenter is sure of."""
    top_chances, recognised = [], 0
    for mention in scene.mentions:
        found = evaluation.perception.detections_of(mention.id)
        if found and found[0].score >= SURE_SCORE:
            chances = class_chances(classifier, image, found[0].box)
            top_chances.append(round(float(chances.max()), 3))
            recognised += int(chances.argmax()) == object_number(mention.head)
    return {"top_chances": top_chances, "recognised": recognised}


def has_passed(row: Values) -> bool:
    return all(outcome == PASSED for outcome in row["outcomes"])


def share(rows: Sequence[Values], holds: Iterable[bool]) -> str:
    return wilson(sum(holds), len(rows)).percent


def table(rows: Sequence[Values]) -> Iterator[str]:
    """Yield the lines of a Markdown table, 95 % intervals in brackets."""
    yield "Shares in % with 95 % intervals."
    yield ""
    yield f"| list | variant | {' | '.join(COLUMNS)} |"
    yield f"|---|---|{'--:|' * len(COLUMNS)}"
    for (list_name, variant), own in grouped(rows, "list", "variant"):
        sure = sum(len(row["top_chances"]) for row in own)
        placed = [row["placed"] for row in own]
        claims = [pse for row in own for pse in row["pse"]]
        cells = (
            list_name,
            variant,
            str(len(own)),
            share(own, (has_passed(row) for row in own)),
            share(own, (set(row["recommended"]) <= {PASSED} for row in own)),
            share(own, (min(row["found"]) == 0 for row in own)),
            share(own, map(all, placed)) if any(placed) else "",
            share(own, (max(row["found"]) > 1 for row in own)),
            f"{100 * mean(claims):.1f}" if claims else "",
            wilson(sum(row["recognised"] for row in own), sure).percent,
            f"{mean(row['passes'] for row in own):.1f}",
            f"{mean(row['processor_s'] for row in own):.2f}",
        )
        yield f"| {' | '.join(cells)} |"


def second_table(rows: Sequence[Values]) -> Iterator[str]:
    """Yield a table of both verifiers on the pictures that both have judged."""
    yield "| list | variant | pictures | PASS | second PASS | difference | found | second found |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|"
    judged = [row for row in rows if "second" in row]
    for (list_name, variant), own in grouped(judged, "list", "variant"):
        first = [has_passed(row) for row in own]
        second = [set(row["second"]) <= {PASSED} for row in own]
        sums = [(a, 1, b, 1) for a, b in zip(first, second, strict=True)]
        cells = (
            list_name,
            variant,
            str(len(own)),
            share(own, first),
            share(own, second),
            bootstrap(difference, sums).percent,
            share(own, (min(row["found"]) > 0 for row in own)),
            share(own, (min(row["second_found"]) > 0 for row in own)),
        )
        yield f"| {' | '.join(cells)} |"


def harm_table(rows: Sequence[Values]) -> Iterator[str]:
    """Yield a table of the pictures that pass without guidance, over all relations."""
    plain = {row["id"]: row for row in rows if row["variant"] == UNGUIDED}
    yield "| variant | pass unguided | of these fail guided | FAIL | abstains | an object missing |"
    yield "|---|--:|--:|--:|--:|--:|"
    for (variant,), own in grouped(rows, "variant"):
        if variant == UNGUIDED:
            continue
        both = [row for row in own if row["outcomes"] and passes_unguided(row, plain)]
        harmed = [row for row in both if not has_passed(row)]
        failed = [row for row in harmed if Outcome.FAIL.value in row["outcomes"]]
        missing = [row for row in harmed if min(row["found"]) == 0]
        cells = (
            variant,
            str(len(both)),
            f"{len(harmed)}: {wilson(len(harmed), len(both)).percent}",
            str(len(failed)),
            str(len(harmed) - len(failed)),
            str(len(missing)),
        )
        yield f"| {' | '.join(cells)} |"


def table_over_lists(rows: Sequence[Values]) -> Iterator[str]:
    """Yield a table with one line for each variant: PASS in each list, and quality over all."""
    lists = [name for (name,), _ in grouped(rows, "list")]
    columns = (*lists, *OVERALL_COLUMNS)
    yield f"| variant | {' | '.join(columns)} |"
    yield f"|---|{'--:|' * len(columns)}"
    plain = {row["id"]: row for row in rows if row["variant"] == UNGUIDED}
    for (variant,), own in grouped(rows, "variant"):
        passed = {name: [has_passed(row) for row in each] for (name,), each in grouped(own, "list")}
        judged = [row for row in own if "second" in row]
        areas = [area for row in own for area in row["areas"]]
        harmed = [not has_passed(row) for row in own if passes_unguided(row, plain)]
        cells = (
            variant,
            *(f"{100 * mean(passed[name]):.0f}" if name in passed else "" for name in lists),
            str(len(own)),
            share(own, map(has_passed, own)),
            share(judged, (set(row["second"]) <= {PASSED} for row in judged)) if judged else "",
            share(own, (min(row["found"]) == 0 for row in own)),
            share(own, (max(row["found"]) > 1 for row in own)),
            wilson(sum(area == 0 for area in areas), len(areas)).percent,
            wilson(
                sum(row["recognised"] for row in own), sum(len(row["top_chances"]) for row in own)
            ).percent,
            f"{sum(harmed)} of {len(harmed)}",
            f"{mean(row['passes'] for row in own):.1f}",
            f"{mean(row['processor_s'] for row in own):.2f}",
        )
        yield f"| {' | '.join(cells)} |"


def passes_unguided(row: Values, plain: Mapping[str, Values]) -> bool:
    return row["id"] in plain and has_passed(plain[row["id"]])


if __name__ == "__main__":
    sys.exit(main())
