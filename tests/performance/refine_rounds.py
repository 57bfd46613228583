"""Refine pictures of the embedded model, and print the tables of Evaluate-and-Refine.

    python -m tests.performance.refine_rounds FOLDER --lists pairs chain3 chain4 --count 20

Every prompt begins without guidance and has one seed. Variants: both parts (``refine``), only the
weights of the prompt (``weights``), only the control of the attention (``attention``), the authors'
code with its faults (``published``); at equal passes, pictures of further seeds of which that with
the highest DA-score counts (``best``), and other methods of guidance (``psg``, ``attend-excite``,
each one picture of as many passes as the refinement took, at most twice the steps).

The tables: DA-score by the number of assertions, by round (of the best picture so far), and PASS by
the checker, which the loop does not see, and by ``second_verifier``. Rows lie in FOLDER; a second
start completes them, ``--table`` only prints. Intervals are those of a bootstrap at 95 %.
"""

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import mean

import torch

from spatialstudio.application.refine.fix_run import attempt_of
from spatialstudio.application.refine.refine_loop import RefineLoop, new_refinement, run_loop
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.domain.assertion import DA_RECOMMENDED, Assertions
from spatialstudio.domain.generation import MAX_SEED, GenerationRequest
from spatialstudio.domain.refinement import REFINE_PUBLISHED, REFINE_RECOMMENDED, RefineRules
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.science.questions.da_score import assertions_of
from spatialstudio.science.refine.prompt_parts import in_prompt_order
from tests.performance.compare_layouts import second_values
from tests.performance.guidance_variants import APART, STEPS, VARIANTS
from tests.performance.intervals import bootstrap, difference, ratio, wilson
from tests.performance.prompt_lists import PROMPT_LISTS, SeededPrompt, Split, seeded_prompts
from tests.performance.second_verifier import SecondVerifier
from tests.performance.shared_rows import (
    Values,
    add_sharing_options,
    grouped,
    key_of,
    make_rows,
    read_rows,
)
from tests.performance.studio_pictures import Bench, show

PASSED = "PASS"
RULES: Mapping[str, RefineRules] = {
    "refine": REFINE_RECOMMENDED,
    "weights": replace(REFINE_RECOMMENDED, weighs_attention=False),
    "attention": replace(REFINE_RECOMMENDED, weighs_prompt=False),
    "published": REFINE_PUBLISHED,
}
BEST, OTHERS = "best", ("psg", "attend-excite")
Task = tuple[str, SeededPrompt]


class Pictures:
    """Draws the requests of one prompt, each once."""

    def __init__(self, bench: Bench, scene: SceneGraph, seed: int) -> None:
        self._bench = bench
        self.scene = scene
        self.plain = bench.request(scene, seed, guided=False)
        self.asserted = in_prompt_order(assertions_of(scene), scene)
        self._drawn: dict[str, tuple[OpenRun, int]] = {}

    def draw(self, request: GenerationRequest) -> tuple[OpenRun, int]:
        """Return the judged run of a request, and its passes."""
        prompt = request.scene.prompt
        key = repr((prompt.text, prompt.weights, request.sampling))
        if key not in self._drawn:
            drawn = self._bench.draw(request)
            run = OpenRun(
                id=request.id,
                scene=self.scene,
                request=request,
                state=RunState.DONE,
                image=drawn.image,
                evaluation=self._bench.judge(drawn.image, self.scene),
                path=Path(f"{request.id}.png"),
            )
            self._drawn[key] = run, drawn.passes
        run, passes = self._drawn[key]
        return replace(run, id=request.id, path=Path(f"{request.id}.png")), passes

    def refined(self, rules: RefineRules) -> Values:
        """Refine the prompt; the DA-score of each round, and the best picture."""
        refinement = new_refinement(self.plain, self._bench.card, self.asserted, rules)
        loop = RefineLoop(refinement, lambda _: None, DA_RECOMMENDED)
        runs: dict[str, OpenRun] = {}
        passes: list[int] = []

        def draw(request: GenerationRequest, _: Assertions) -> OpenRun:
            run, own = self.draw(request)
            runs[request.id] = run
            passes.append(own)
            return run

        run_loop(loop, draw, lambda path, _: runs[path.stem], lambda _: None)
        best = loop.best
        run = runs[best.request_id] if best else next(iter(runs.values()))
        scores = [each.value if each else None for each in loop.scores]
        return {"rounds": scores, "passes": sum(passes), **outcomes(run), "run": run}

    def best(self, passes: int) -> Values:
        """Keep the picture with the highest DA-score of as many as the passes allow."""
        found: list[tuple[float, int, OpenRun]] = []
        spent = 0
        while spent + STEPS <= passes or not found:
            seed = (self.plain.sampling.seed + APART * len(found)) % (MAX_SEED + 1)
            run, own = self.draw(with_values(self.plain, seed=seed))
            spent += own
            found.append((score_of(run), -len(found), run))
        _, _, run = max(found, key=lambda each: each[:2])
        return {"rounds": [each[0] for each in found], "passes": spent, **outcomes(run), "run": run}

    def other(self, name: str, passes: int) -> Values:
        """Draw one picture by another method of guidance."""
        used = min(max(passes, STEPS + 1), 2 * STEPS)
        (request,) = VARIANTS[name].requests(self.plain, used)
        run, own = self.draw(request)
        return {"rounds": [score_of(run)], "passes": own, **outcomes(run), "run": run}


def score_of(run: OpenRun) -> float:
    score = attempt_of(run, None).score
    return (score.value if score else None) or 0.0


def outcomes(run: OpenRun) -> Values:
    return {"outcomes": [each.value for each in run.evaluation.outcomes] if run.evaluation else []}


def main() -> int:
    options = parse_arguments()
    tasks = [
        (name, prompt)
        for prompts in zip(
            *(
                [(name, prompt) for prompt in seeded_prompts(name, options.split, options.count)]
                for name in options.lists
            ),
            strict=True,
        )
        for name, prompt in prompts
    ]
    if not options.table:
        make_rows(
            options, "tests.performance.refine_rounds", tasks, lambda own: rows_of(own, options)
        )
    if options.worker is None:
        rows = read_rows(options.folder)
        show("\n".join([*by_assertions(rows), "", *by_round(rows), "", *by_checker(rows)]))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_sharing_options(parser)
    parser.add_argument("--lists", nargs="+", choices=PROMPT_LISTS, default=["pairs", "chain3"])
    parser.add_argument("--split", type=Split, choices=Split, default=Split.DEVELOPMENT)
    parser.add_argument("--count", type=int, default=20, help="prompts of each list")
    return parser.parse_args()


def rows_of(tasks: Iterable[Task], options: argparse.Namespace) -> Iterator[Values]:
    """Refine what has no row yet."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    known = {key_of(row) for row in read_rows(options.folder)}
    bench, second = Bench(), SecondVerifier()
    for list_name, prompt in tasks:
        if {(prompt.id, name) for name in (*RULES, BEST, *OTHERS)} <= known:
            continue
        pictures = Pictures(bench, bench.scene(prompt.text), prompt.seed)
        rows = {name: pictures.refined(rules) for name, rules in RULES.items()}
        passes = rows["refine"]["passes"]
        rows[BEST] = pictures.best(passes)
        rows |= {name: pictures.other(name, passes) for name in OTHERS}
        for name, row in rows.items():
            run = row.pop("run")
            yield {
                "id": prompt.id,
                "variant": name,
                "list": list_name,
                "asserted": len(pictures.asserted.items),
                **row,
                **second_values(run.scene, run.image, second),
            }


def best_so_far(row: Values, rounds: int) -> float:
    """Return the highest DA-score of the first rounds."""
    return max(score or 0.0 for score in row["rounds"][:rounds])


def score_cell(rows: Sequence[Values]) -> str:
    sums = [(best_so_far(row, len(row["rounds"])), 1) for row in rows]
    return bootstrap(ratio, sums).percent


def by_assertions(rows: Sequence[Values]) -> Iterator[str]:
    """Yield DA-scores by the number of assertions."""
    counts = sorted({row["asserted"] for row in rows})
    yield f"| variant | {' | '.join(f'{count} assertions' for count in counts)} | all |"
    yield f"|---|{'--:|' * (len(counts) + 1)}"
    firsts = [{**row, "rounds": row["rounds"][:1]} for row in rows if row["variant"] == "refine"]
    for name, own in (("round 1", firsts), *((v, o) for (v,), o in grouped(rows, "variant"))):
        parts = [[row for row in own if row["asserted"] == count] for count in counts]
        cells = [score_cell(part) if part else "" for part in (*parts, own)]
        yield f"| {name} | {' | '.join(cells)} |"


def by_round(rows: Sequence[Values]) -> Iterator[str]:
    """Yield the mean DA-score of the best picture after each round."""
    rounds = range(1, REFINE_RECOMMENDED.rounds + 1)
    yield f"| variant | {' | '.join(f'round {number}' for number in rounds)} | mean pictures |"
    yield f"|---|{'--:|' * (len(rounds) + 1)}"
    for (name,), own in grouped(rows, "variant"):
        if name in (*RULES, BEST):
            cells = [
                f"{100 * mean(best_so_far(row, number) for row in own):.1f}" for number in rounds
            ]
            drawn = mean(len(row["rounds"]) for row in own)
            yield f"| {name} | {' | '.join(cells)} | {drawn:.1f} |"


def by_checker(rows: Sequence[Values]) -> Iterator[str]:
    """Yield what checker and second verifier say of the pictures that are kept."""
    yield "| variant | prompts | PASS, % | second PASS, % | refine minus it, PASS | mean passes |"
    yield "|---|--:|--:|--:|--:|--:|"
    refined = {row["id"]: row for row in rows if row["variant"] == "refine"}
    for (name,), own in grouped(rows, "variant"):
        first, second = (
            [set(row[key]) <= {PASSED} for row in own] for key in ("outcomes", "second")
        )
        both = [(row, refined[row["id"]]) for row in own if row["id"] in refined]
        sums = [
            (set(row["outcomes"]) <= {PASSED}, 1, set(other["outcomes"]) <= {PASSED}, 1)
            for row, other in both
        ]
        cells = (
            name,
            str(len(own)),
            wilson(sum(first), len(own)).percent,
            wilson(sum(second), len(own)).percent,
            bootstrap(difference, sums).percent if sums else "",
            f"{mean(row['passes'] for row in own):.0f}",
        )
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
