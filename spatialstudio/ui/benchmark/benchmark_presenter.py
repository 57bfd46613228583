"""Words of the benchmark workspace: cells, counts, durations and filter terms."""

from collections.abc import Iterator

import numpy as np

from spatialstudio.application.benchmark.check_plan import CheckedPlan
from spatialstudio.application.benchmark.filter_cells import FIELDS, FLAGS
from spatialstudio.application.benchmark.monitor import BenchmarkView
from spatialstudio.application.benchmark.runner import BenchmarkProgress, EngineProgress
from spatialstudio.application.run.estimates import RunEstimates
from spatialstudio.domain.benchmark_cells import CellState, CellTable
from spatialstudio.domain.devices import size_in_words
from spatialstudio.domain.library import Field
from spatialstudio.domain.multiple_choice import AnswerCost
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.benchmark.widgets.state_marks import state_words
from spatialstudio.ui.gallery.gallery_presenter import quoted
from spatialstudio.ui.widgets.texts import tr

MINUTE_S, HOUR_S = 60, 3600
REVISION_LETTERS = 8
MOST_WORDS = 200
"""Methods, tags and reasons that the filter line completes."""


def cell_in_words(table: CellTable, cell: int) -> str:
    """Return what a cell shows, a line each: prompt, method and seed, state and numbers."""
    method, prompt, seed = table.grid.place(cell)
    grid = table.grid
    place = tr("{method}, seed {seed}").format(method=grid.methods[method], seed=grid.seeds[seed])
    lines = [grid.prompts[prompt].text, place, state_words()[table.state_of(cell)]]
    if reasons := table.reasons_of(cell):
        lines[-1] += f": {', '.join(reasons)}"
    if cause := table.causes.get(cell):
        lines.append(cause)
    numbers = (("PSE", table.pse[cell]), (tr("confidence"), table.confidence[cell]))
    measured = [f"{name} {np.nanmin(own):.2f}" for name, own in numbers if np.isfinite(own).any()]
    return "\n".join([*lines, *([", ".join(measured)] if measured else [])])


def progress_in_words(table: CellTable) -> str:
    """Return how many pictures are done, failed and left: "120 of 3,200 judged, 2 failed"."""
    judged = int(table.is_judged.sum())
    parts = [tr("{done} of {all} judged").format(done=f"{judged:,}", all=f"{len(table.grid):,}")]
    for state in (CellState.DRAWN, CellState.FAILED, CellState.UNUSABLE):
        if count := table.count(state):
            parts.append(f"{count:,} {state_words()[state]}")
    return ", ".join(parts)


def matches_in_words(matches: int, table: CellTable) -> str:
    """Return how many cells a filter finds."""
    if matches == len(table.grid):
        return tr("{count} cells").format(count=f"{matches:,}")
    return tr("{count} of {all} cells").format(count=f"{matches:,}", all=f"{len(table.grid):,}")


def plan_in_words(checked: CheckedPlan, estimates: RunEstimates) -> str:
    """Return the size and cost of a plan, a line each, with what may go wrong."""
    plan, estimate = checked.plan, checked.estimate
    size = tr("{prompts} prompts x {methods} methods x {seeds} seeds = {pictures} pictures")
    lines = [
        size.format(
            prompts=f"{estimate.prompts:,}",
            methods=len(plan.methods),
            seeds=len(plan.seeds),
            pictures=f"{estimate.pictures:,}",
        )
    ]
    known = [estimates.estimate([each.request]) for each in checked.costs]
    times = [each.seconds for each in known]
    memory = [each.memory_bytes for each in known if each.memory_bytes is not None]
    if all(each is not None for each in times):
        costs = zip(times, checked.costs, strict=True)
        seconds = sum((time or 0.0) * each.pictures for time, each in costs)
        words = tr("Time: {time} with one worker")
        if any(each.refine for each in plan.methods):
            words = tr("Time: at most {time} with one worker")
        time = words.format(time=duration_in_words(seconds))
    elif estimate.seconds is not None:
        time = tr("Time: {time} with one worker, as in earlier benchmarks").format(
            time=duration_in_words(estimate.seconds)
        )
    else:
        time = tr("Time: unknown until the first picture")
    disk = tr("disk: {size} of {free} free").format(
        size=size_in_words(estimate.disk_bytes), free=size_in_words(estimate.free_bytes)
    )
    peak = tr("memory: {size}").format(size=size_in_words(max(memory))) if memory else ""
    lines.append("; ".join(filter(None, (time, disk, peak))))
    lines += [tr("Prompts of {extent}").format(extent=each.text) for each in checked.extents]
    if estimate.answers is not None:
        lines.append(_answers_in_words(estimate.answers))
    models = {each.model.id: each.model for each in checked.costs}
    for model in models.values():
        revision = model.revision[:REVISION_LETTERS]
        origin = tr("revision {name}").format(name=revision) if revision else tr("local files")
        words = tr("{model}: licence {licence}, {origin}")
        lines.append(words.format(model=model.title, licence=model.licence, origin=origin))
    if estimate.disk_bytes > estimate.free_bytes:
        lines.append(tr("The disk is too small for this plan."))
    if estimate.unusable:
        words = tr("{count} pictures cannot be drawn: {reason}")
        lines.append(words.format(count=estimate.unusable, reason=checked.problems[0]))
    return "\n".join(lines)


def _answers_in_words(cost: AnswerCost) -> str:
    return tr("Answers: {replies} replies, {tokens_in} + {tokens_out} tokens").format(
        replies=f"{cost.replies:,}",
        tokens_in=f"{cost.tokens_in:,}",
        tokens_out=f"{cost.tokens_out:,}",
    )


def run_in_words(
    view: BenchmarkView | None, *, is_own: bool, progress: BenchmarkProgress | None
) -> str:
    """Return the state of the process that draws the open benchmark."""
    if view is None:
        return tr("No benchmark is open.")
    if not is_own:
        if view.held:
            paused, drained = tr("Paused. Start continues."), tr("Drained. Start continues.")
            return drained if view.held == "drain" else paused
        if not has_work(view):
            return tr("All pictures are done.")
        if not view.table.is_left.any():
            left = tr("{count} pictures are left to judge.")
            return left.format(count=f"{view.unjudged:,}")
        return f"{tr('Not running in this window.')} {_expected_in_words(view)}"
    if view.held == "pause":
        return tr("Paused.")
    if progress is None:
        starting = tr("Starting: reading the plan and loading the model…")
        return f"{starting} {_expected_in_words(view)}"
    words = [tr("Draining.") if view.held == "drain" else tr("Drawing.")]
    if progress.per_hour is not None:
        words.append(tr("{rate} pictures per hour,").format(rate=f"{progress.per_hour:,.0f}"))
    if progress.seconds_left is not None:
        words.append(tr("{time} left.").format(time=duration_in_words(progress.seconds_left)))
    return " ".join(words)


def has_work(view: BenchmarkView) -> bool:
    """Return True if pictures are left to draw, or to judge by any judge set."""
    return bool(view.table.is_left.any()) or view.unjudged > 0


def seconds_left(view: BenchmarkView) -> float | None:
    """Return the expected time of what is left with one worker, before any picture of this run.

    The time of a picture is the mean of its method in this benchmark, else in earlier ones; None
    if a method with pictures left has neither.
    """
    table, total = view.table, 0.0
    method, _, _ = table.grid.places()
    for number, name in enumerate(table.grid.methods):
        is_own = method == number
        left = int((table.is_left & is_own).sum())
        known = table.seconds[is_own & np.isfinite(table.seconds)]
        each = float(known.mean()) if len(known) else view.expected.get(name)
        if left and each is None:
            return None
        total += left * (each or 0.0)
    return total


def _expected_in_words(view: BenchmarkView) -> str:
    seconds = seconds_left(view)
    if seconds is None:
        return tr("Time left: unknown until the first picture.")
    time = duration_in_words(seconds)
    return tr("About {time} left with one worker, as before.").format(time=time)


def device_facts(progress: BenchmarkProgress) -> tuple[tuple[str, str], ...]:
    """Return what each engine has done, its throughput, and its share of the rest."""
    return tuple(
        (name, _engine_in_words(each, progress.left_for(name)))
        for name, each in progress.engines.items()
    )


def _engine_in_words(engine: EngineProgress, left: float | None) -> str:
    one, many = tr("1 picture"), tr("{count} pictures").format(count=f"{engine.items:,}")
    words = [one if engine.items == 1 else many]
    if engine.per_hour is not None:
        words.append(tr("{rate} per hour").format(rate=f"{engine.per_hour:,.0f}"))
        if left is not None:
            time = duration_in_words(HOUR_S * left / engine.per_hour)
            words.append(tr("about {count} left in {time}").format(count=f"{left:,.0f}", time=time))
    if engine.lost:
        words.append(tr("lost {count} times").format(count=engine.lost))
    return ", ".join(words)


def duration_in_words(seconds: float) -> str:
    """Return a duration as "2 h 05 min", "3 min" or "12 s"."""
    if seconds >= HOUR_S:
        hours, rest = divmod(seconds, HOUR_S)
        return tr("{hours} h {minutes} min").format(
            hours=f"{hours:,.0f}", minutes=f"{rest // MINUTE_S:02.0f}"
        )
    if seconds >= MINUTE_S:
        return tr("{minutes} min").format(minutes=f"{seconds / MINUTE_S:.0f}")
    return tr("{seconds} s").format(seconds=f"{seconds:.0f}")


def filter_terms(table: CellTable) -> list[str]:
    """Return the completions of the filter line."""
    return [*_terms(table)][:MOST_WORDS]


def _terms(table: CellTable) -> Iterator[str]:
    yield from (f"verdict:{each.value.lower()}" for each in Outcome)
    yield from (f"is:{flag.value}" for flag in FLAGS)
    yield from (f"method:{quoted(each)}" for each in table.grid.methods)
    kinds = dict.fromkeys(kind.id for each in table.grid.relations for kind, _, _ in each)
    yield from (f"relation:{kind}" for kind in kinds)
    yield from map(quoted, table.reasons)
    yield from (
        f"tag:{each}" for each in dict.fromkeys(t for p in table.grid.prompts for t in p.tags)
    )
    yield from (f"{each.value}:" for each in FIELDS if each is not Field.IS)
