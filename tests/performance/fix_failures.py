"""Draw pictures with the recommended settings, and fix those that do not pass.

    python -m tests.performance.fix_failures FOLDER remedies            every remedy, one by one
    python -m tests.performance.fix_failures FOLDER order               write resources/refine
    python -m tests.performance.fix_failures FOLDER fix --split held-out --second

``remedies`` tries each remedy of a failure's reason, with the same and with other noise, on
development prompts, and other noise alone beside them. ``order`` makes ``remedies.toml`` of its
rows: the next remedy is that which repairs most of the pictures that the earlier ones did not
repair. ``fix`` runs Fix it as the studio does, and best-of-N: pictures of further seeds with the
settings of the start, until one passes or they have cost as many passes as the fix.

Rows and pictures lie in FOLDER; a second start completes them, ``--table`` only prints. Starts are
drawn until ``--failures`` of them are taken, at most ``--quota`` for the same reason; the lists of
all relations of two to four objects take turns, so that the hard ones are not alone.
``--second`` adds what ``second_verifier`` says of the start, of the fix and of best-of-N. Intervals
are those of Wilson at 95 %.
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from statistics import mean

import numpy as np
import torch
from PIL import Image

from spatialstudio.application.refine.fix_run import (
    ORDER_FILE,
    FixRun,
    attempt_of,
    plan_fix,
    reason_to_fix,
)
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.domain.fix import Fix, FixReason, FixStep, Remedy
from spatialstudio.domain.generation import MAX_SEED, GenerationRequest
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.refine.remedies import CANDIDATES, remedied
from tests.performance.compare_layouts import second_values
from tests.performance.intervals import wilson
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

RELATION_LISTS = (
    *("pairs", "diag", "near", "far", "front", "between"),
    *("chain3", "front3", "chain4", "star4"),
)
COLUMNS = (
    *("reason", "pictures", "repaired, %", "mean pictures", "mean passes"),
    *("worse", "best of N at equal passes, %", "mean pictures"),
)
START, FIX, BEST = "start", "fix", "best of N"
APART = 5000  # the seeds of best-of-N, which share none with those of Fix it
PASSED = Outcome.PASS.value
ORDER_HEADER = """\
# Remedies of Fix it in the order in which they are tried, for each reason. Made by
#     python -m tests.performance.fix_failures FOLDER order
# from development prompts of the sticker model: of so many pictures that failed for the reason and
# on which the remedy was tried, so many then passed.
"""

Task = tuple[str, SeededPrompt]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """A drawn and judged request."""

    run: OpenRun
    passes: int
    processor_s: float

    def values(self) -> Values:
        outcome = attempt_of(self.run, None).outcome
        return {
            "outcome": outcome and outcome.value,
            "passes": self.passes,
            "processor_s": round(self.processor_s, 3),
        }


class Measurement:
    """Draws starts, remedies, fixes and best-of-N, and keeps the pictures that they end with."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._bench = Bench()
        self._second = SecondVerifier() if options.second else None
        self._pictures = options.folder / "pictures"
        self._pictures.mkdir(exist_ok=True)

    def draw(self, request: GenerationRequest, start: Drawn | None = None) -> Drawn:
        image = start.run.image if start and request.repair else None
        drawn = self._bench.draw(request, image)
        run = OpenRun(
            id=request.id,
            scene=request.scene,
            request=request,
            state=RunState.DONE,
            image=drawn.image,
            evaluation=self._bench.judge(drawn.image, request.scene),
            path=Path(f"{request.id}.png"),
        )
        return Drawn(run=run, passes=drawn.passes, processor_s=drawn.processor_s)

    def start(self, prompt: SeededPrompt) -> Drawn:
        return self.draw(self._bench.request(self._bench.scene(prompt.text), prompt.seed))

    def plan(self, start: Drawn) -> Fix:
        return plan_fix(start.run, self._bench.card)

    def fix(self, plan: Fix, start: Drawn) -> tuple[Values, OpenRun]:
        """Fix a picture as the studio does; return the row and the best run."""
        fix_run, drawn = FixRun(plan, lambda _: None), [start]
        while not fix_run.is_over:
            drawn.append(self.draw(fix_run.next_request(), start))
            fix_run.take(drawn[-1].run)
        fix = fix_run.fix
        rows = [
            {**names(step), **each.values()}
            for step, each in zip(fix.steps, drawn[1:], strict=False)
        ]
        best = next(each.run for each in drawn if each.run.id == fix.best.request_id)
        row = {
            "attempts": rows,
            "outcome": fix.best.outcome and fix.best.outcome.value,
            "is_worse": fix.best.rank < fix.start.rank,
            "passes": sum(each.passes for each in drawn[1:]),
        }
        return row, best

    def best(self, plan: Fix, start: Drawn, passes: int) -> tuple[Values, OpenRun]:
        """Draw further seeds at equal passes; return the row and the best run."""
        rows: list[Values] = []
        best, rank, spent = start.run, attempt_of(start.run, None).rank, 0
        while spent < passes and not (rows and rows[-1]["outcome"] == PASSED):
            seed = (plan.request.sampling.seed + APART * (len(rows) + 1)) % (MAX_SEED + 1)
            drawn = self.draw(with_values(plan.request, seed=seed))
            rows.append(drawn.values())
            attempt = attempt_of(drawn.run, None)
            if attempt.rank > rank:
                best, rank = drawn.run, attempt.rank
            spent += drawn.passes
        outcome = attempt_of(best, None).outcome
        return {"attempts": rows, "outcome": outcome and outcome.value}, best

    def keep(self, run: OpenRun, name: str) -> Values:
        """Keep a picture; return what the second verifier says of it."""
        assert run.image is not None
        Image.fromarray(run.image).save(self._pictures / f"{name}.png", compress_level=1)
        return second_values(run.scene, np.asarray(run.image), self._second) if self._second else {}


def step_name(remedy: str, adds_noise: bool) -> str:
    return f"{remedy} + noise" if adds_noise else remedy


def names(step: FixStep) -> Values:
    return {"remedy": step.remedy.value, "other_noise": step.other_noise}


def main() -> int:
    options = parse_arguments()
    prompts = list(in_turn(options.lists, options.split, options.count))
    if not options.table and options.command != "order":
        make_rows(
            options,
            "tests.performance.fix_failures",
            prompts,
            lambda own: rows_of(own, options),
        )
    rows = read_rows(options.folder)
    if options.command == "order":
        path = resources_folder() / ORDER_FILE
        path.write_text("\n".join([ORDER_HEADER, *order_lines(rows)]), encoding="utf-8")
    elif options.worker is None:
        table = remedy_table if options.command == "remedies" else fix_table
        show("\n".join(table(rows)))
    return 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_sharing_options(parser)
    parser.add_argument("command", choices=("remedies", "order", "fix"))
    parser.add_argument("--lists", nargs="+", choices=PROMPT_LISTS, default=list(RELATION_LISTS))
    parser.add_argument("--split", type=Split, choices=Split, default=Split.DEVELOPMENT)
    parser.add_argument("--count", type=int, default=200, help="prompts of each list, at most")
    parser.add_argument("--failures", type=int, default=200, help="starts that do not pass")
    parser.add_argument("--quota", type=int, default=60, help="failures of a reason, at most")
    parser.add_argument("--second", action="store_true", help="also run the second verifier")
    return parser.parse_args()


def in_turn(lists: Sequence[str], split: Split, count: int) -> Iterator[Task]:
    """Yield the prompts of lists that take turns; each round begins with another list."""
    drawn = ([(name, prompt) for prompt in seeded_prompts(name, split, count)] for name in lists)
    for number, tasks in enumerate(zip_longest(*drawn)):
        first = number % len(tasks)
        yield from (task for task in (*tasks[first:], *tasks[:first]) if task)


class Quota:
    """Says which failures are taken, so that frequent reasons leave room for the others."""

    def __init__(self, options: argparse.Namespace) -> None:
        _, of = options.worker or (0, 1)
        self._failures, self._most = (math.ceil(n / of) for n in (options.failures, options.quota))
        self._taken: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        return self._taken.total() >= self._failures

    def takes(self, reason: str) -> bool:
        """Take a failure, unless there are enough for its reason."""
        if self._taken[reason] >= self._most:
            return False
        self._taken[reason] += 1
        return True


def rows_of(tasks: Iterable[Task], options: argparse.Namespace) -> Iterator[Values]:
    """Draw what has no row yet, until enough starts have failed."""
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    measurement = Measurement(options)
    known = {key_of(row): row for row in read_rows(options.folder)}
    make = fix_rows if options.command == "fix" else remedy_rows
    quota = Quota(options)
    for list_name, prompt in tasks:
        if quota.is_full:
            return
        found = known.get((prompt.id, START))
        if found and (found["reason"] is None or not quota.takes(found["reason"])):
            continue
        if (prompt.id, BEST) in known:
            continue
        start = measurement.start(prompt)
        found_reason = reason_to_fix(start.run)
        reason = found_reason and found_reason.reason.value
        base: Values = {"id": prompt.id, "list": list_name, "reason": reason}
        if found is None:
            kept = measurement.keep(start.run, f"{prompt.id}-start") if reason else {}
            text = {"variant": START, "text": prompt.text, "seed": prompt.seed}
            yield {**base, **text, **start.values(), **kept}
        if reason and (found or quota.takes(reason)):
            plan = measurement.plan(start)
            for row in make(measurement, plan, start, lambda name: (prompt.id, name) in known):  # noqa: B023
                yield base | row


def remedy_rows(
    measurement: Measurement, plan: Fix, start: Drawn, is_known: Callable[[str], bool]
) -> Iterator[Values]:
    """Try every remedy of the reason, with the same and with other noise."""
    for step in candidate_steps(plan.reason):
        if step.remedy is Remedy.REDRAW and plan.repair is None:
            continue
        name = step_name(step.remedy.value, step.adds_noise)
        if not is_known(name):
            drawn = measurement.draw(remedied(replace(plan, steps=(step,)), 0), start)
            yield {"variant": name, **names(step), **drawn.values()}


def candidate_steps(reason: FixReason) -> Iterator[FixStep]:
    for remedy in dict.fromkeys((*CANDIDATES[reason], Remedy.NOISE)):
        for other_noise in (False, True):
            if other_noise or remedy is not Remedy.NOISE:
                yield FixStep(remedy=remedy, other_noise=other_noise)


def fix_rows(
    measurement: Measurement, plan: Fix, start: Drawn, is_known: Callable[[str], bool]
) -> Iterator[Values]:
    """Fix a picture, and draw best-of-N."""
    if is_known(FIX) and is_known(BEST):
        return
    name = str(plan.request.sampling.seed)
    row, best = measurement.fix(plan, start)
    yield {"variant": FIX, **row, **measurement.keep(best, f"{name}-fix")}
    other, run = measurement.best(plan, start, row["passes"])
    yield {"variant": BEST, **other, **measurement.keep(run, f"{name}-best")}


def order_lines(rows: Sequence[Values]) -> Iterator[str]:
    """Yield the lines of ``remedies.toml``."""
    for (reason,), tried in grouped(complete(rows), "reason"):
        own = [row for row in tried if Remedy(row["remedy"]) in CANDIDATES[FixReason(reason)]]
        for variant in greedy_order(own):
            chosen = [row for row in own if row["variant"] == variant]
            yield f"[[{reason}]]"
            yield f'remedy = "{chosen[0]["remedy"]}"'
            yield f"other_noise = {str(chosen[0]['other_noise']).lower()}"
            yield f"tried = {len(chosen)}"
            yield f"repaired = {sum(row['outcome'] == PASSED for row in chosen)}\n"


def complete(rows: Sequence[Values]) -> list[Values]:
    """Return the rows of pictures on which every remedy was tried; some cannot be redrawn."""
    tried = [row for row in rows if "remedy" in row]
    counts = Counter(row["id"] for row in tried if row["remedy"] != Remedy.REDRAW.value)
    return [row for row in tried if counts[row["id"]] == _steps_without_redraw(row["reason"])]


def _steps_without_redraw(reason: str) -> int:
    steps = candidate_steps(FixReason(reason))
    return sum(step.remedy is not Remedy.REDRAW for step in steps)


def greedy_order(rows: Sequence[Values]) -> list[str]:
    """Return variants: next is that which repairs most of what the earlier ones did not repair."""
    repaired = {
        variant: {row["id"] for row in own if row["outcome"] == PASSED}
        for (variant,), own in grouped(rows, "variant")
    }
    order: list[str] = []
    done: set[str] = set()
    while len(order) < len(repaired):
        rest = [variant for variant in repaired if variant not in order]
        best = max(rest, key=lambda each: (len(repaired[each] - done), len(repaired[each])))
        order.append(best)
        done |= repaired[best]
    return order


def remedy_table(rows: Sequence[Values]) -> Iterator[str]:
    """Yield a table of what each remedy repairs, for each reason."""
    yield "| reason | remedy | tried | repaired, % | passes |"
    yield "|---|---|--:|--:|--:|"
    for (reason, variant), own in grouped(
        [row for row in rows if "remedy" in row], "reason", "variant"
    ):
        passed = sum(row["outcome"] == PASSED for row in own)
        passes = mean(row["passes"] for row in own)
        share = wilson(passed, len(own)).percent
        yield f"| {reason} | {variant} | {len(own)} | {share} | {passes:.1f} |"


def fix_table(rows: Sequence[Values]) -> Iterator[str]:
    """Yield the tables of Fix it and best-of-N."""
    by_id: dict[str, dict[str, Values]] = {}
    for row in rows:
        by_id.setdefault(row["id"], {})[row["variant"]] = row
    whole = [each for each in by_id.values() if {START, FIX, BEST} <= each.keys()]
    starts = [row for row in rows if row["variant"] == START]
    failed = sum(row["outcome"] != PASSED for row in starts)
    yield f"{len(starts)} starts, of which {failed} do not pass; {len(whole)} were fixed."
    yield ""
    yield f"| {' | '.join(COLUMNS)} |"
    yield f"|---|{'--:|' * len(COLUMNS[1:])}"
    reasons = Counter(each[START]["reason"] for each in whole)
    for reason in (*reasons, None):
        own = [each for each in whole if reason in (None, each[START]["reason"])]
        yield fix_line(reason or "all", own)
    yield ""
    used = Counter(remedy_used(each[FIX]) for each in whole if each[FIX]["outcome"] == PASSED)
    yield "Repaired by: " + ", ".join(f"{name} {count}" for name, count in used.most_common())
    if whole and "second" in whole[0][FIX]:
        yield ""
        yield from second_lines(whole)


def fix_line(reason: str, own: Sequence[Mapping[str, Values]]) -> str:
    fixes, others = ([each[name] for each in own] for name in (FIX, BEST))
    cells = (
        reason,
        str(len(own)),
        repaired(row["outcome"] == PASSED for row in fixes),
        f"{mean(len(row['attempts']) for row in fixes):.2f}",
        f"{mean(row['passes'] for row in fixes):.0f}",
        str(sum(row["is_worse"] for row in fixes)),
        repaired(row["outcome"] == PASSED for row in others),
        f"{mean(len(row['attempts']) for row in others):.2f}",
    )
    return f"| {' | '.join(cells)} |"


def repaired(holds: Iterable[bool]) -> str:
    found = list(holds)
    return wilson(sum(found), len(found)).percent


def remedy_used(row: Values) -> str:
    last = row["attempts"][-1]
    return step_name(last["remedy"], last["other_noise"] and last["remedy"] != Remedy.NOISE.value)


def second_lines(whole: Sequence[Mapping[str, Values]]) -> Iterator[str]:
    """Yield what the second verifier says of starts, fixes and best-of-N."""
    yield "| picture | second PASS, % | of those that the checker passes, % |"
    yield "|---|--:|--:|"
    for name in (START, FIX, BEST):
        own = [each[name] for each in whole]
        passed = [row for row in own if row["outcome"] == PASSED]
        of_passed = repaired(map(second_passes, passed)) if passed else ""
        yield f"| {name} | {repaired(map(second_passes, own))} | {of_passed} |"
    better = sum(second_share(each[FIX]) > second_share(each[START]) for each in whole)
    worse = sum(second_share(each[FIX]) < second_share(each[START]) for each in whole)
    yield ""
    yield f"By the second verifier, of {len(whole)}: {better} better, {worse} worse than the start."


def second_passes(row: Values) -> bool:
    return set(row["second"]) <= {PASSED}


def second_share(row: Values) -> float:
    return sum(outcome == PASSED for outcome in row["second"]) / max(len(row["second"]), 1)


if __name__ == "__main__":
    sys.exit(main())
