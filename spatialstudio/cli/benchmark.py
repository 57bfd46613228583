"""The command ``benchmark``: plan, run, status, resume, report, compare, choose."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import mean
from typing import Any

from spatialstudio.application.benchmark.benchmarks import OpenPlan, benchmarks_of
from spatialstudio.application.benchmark.choice_asking import choice_asking
from spatialstudio.application.benchmark.choose_method import check_error, choose_method
from spatialstudio.application.benchmark.executors import EnginePlan, Executor, open_workers
from spatialstudio.application.benchmark.export_report import (
    COMPARISON_SUFFIXES,
    REPORT_SUFFIXES,
    full_report,
    write_comparisons,
    write_report,
)
from spatialstudio.application.benchmark.gather import write_results
from spatialstudio.application.benchmark.method_race import MethodRace, score_reader
from spatialstudio.application.benchmark.open_items import FILES_ID, items_in, store_in
from spatialstudio.application.benchmark.picture_times import learn_times, with_times
from spatialstudio.application.benchmark.plan_file import PlanMeasures, write_plan
from spatialstudio.application.benchmark.report import (
    MethodReport,
    MethodResults,
    compare_methods,
    read_methods,
    read_pictures,
)
from spatialstudio.application.benchmark.report_figures import (
    ReportFigure,
    figure_drawer,
)
from spatialstudio.application.benchmark.report_files import (
    TERA,
    comparison_answer,
    report_answer,
)
from spatialstudio.application.benchmark.result_store import Failure, grouped
from spatialstudio.application.benchmark.runner import (
    DRAIN,
    PAUSE,
    BenchmarkProgress,
    BenchmarkRunner,
    EngineProgress,
    ItemFiles,
    failures_of,
)
from spatialstudio.application.benchmark.set_extents import (
    NO_LICENCE,
    set_extents,
    stored_extents,
)
from spatialstudio.application.error_reports import EXIT_FAILURE
from spatialstudio.application.evaluate.judging import RECORDS_ID
from spatialstudio.application.evaluate.recorded_runs import StudiedPicture
from spatialstudio.application.gallery.exports import check_targets
from spatialstudio.application.studio import Studio
from spatialstudio.cli.benchmark_options import GENERATED, NEW_METHODS
from spatialstudio.cli.interrupts import at_stop
from spatialstudio.cli.judging import OpenStudio, figures_in_words
from spatialstudio.cli.printing import show_json, show_lines, show_progress
from spatialstudio.cli.questions import cost_in_words
from spatialstudio.domain.benchmark_plan import (
    PlanEstimate,
    PromptSetPlan,
    PromptSource,
    new_method,
)
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.export import FIGURE_SUFFIXES
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.write_gate import FILE_GATE
from spatialstudio.science.benchmark.figures import Comparison

CLOSING_S = 5.0
"""Time that a cluster on this machine takes to end."""
GIGABYTE = 10**9
MINUTE_S, HOUR_S = 60, 3600
REVISION_LETTERS = 8
MOST_REASONS = 10
"""Reasons that are listed why pictures cannot be drawn."""


def benchmark(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Run an action of the command ``benchmark``."""
    studio = open_studio(None)
    try:
        return ACTIONS[options.action](options, studio)
    finally:
        studio.close()


def plan(options: argparse.Namespace, studio: Studio) -> int:
    """Write a new plan, or read one; print its size and its estimate."""
    if options.new:
        _write_new_plan(options)
    benchmarks = benchmarks_of(studio)
    opened = benchmarks.open_plan(options.plan)
    studio.bus.subscribe(studio.estimates.apply_event)
    studio.start()
    estimate = benchmarks.estimate(opened, options.plan.parent)
    estimate = with_times(estimate, opened, studio.paths.cache)
    extents = set_extents(opened.plan, studio.paths.resources)
    ids = dict.fromkeys(each.model.id for each in opened.examples.values())
    models = [studio.model(each) for each in ids]
    if options.json:
        answer = {
            "plan": str(options.plan),
            "methods": [each.name for each in opened.plan.methods],
            "prompt_sets": [asdict(each) for each in extents],
            "models": [_model_answer(each) for each in models],
        }
        show_json({**answer, **asdict(estimate)})
    else:
        show_lines(_plan_lines(opened, estimate))
        show_lines(f"  prompts of {each.text}" for each in extents)
        show_lines(map(_model_line, models))
    return 0


def _model_answer(model: ModelCard) -> Mapping[str, str]:
    return {"id": model.id, "licence": model.licence, "revision": model.revision}


def _model_line(model: ModelCard) -> str:
    revision = model.revision[:REVISION_LETTERS]
    origin = f"revision {revision}" if revision else "local files"
    return f"  model {model.title}: licence {model.licence or NO_LICENCE}, {origin}"


def _write_new_plan(options: argparse.Namespace) -> None:
    methods = [name.strip() for name in options.methods.split(",") if name.strip()]
    if unknown := [name for name in methods if name not in NEW_METHODS]:
        raise SettingsError(
            f'There is no method "{unknown[0]}".', hint=f"Choose {', '.join(NEW_METHODS)}."
        )
    check_targets([options.plan] if options.plan.exists() else [], overwrite=options.overwrite)
    sets = [PromptSetPlan(source=PromptSource(each)) for each in options.set or GENERATED[:1]]
    metrics = tuple(name.strip() for name in options.metrics.split(",") if name.strip())
    measures = PlanMeasures(
        metrics=metrics, choice_answerer=options.answerer, protocol=options.protocol
    )
    made = list(map(new_method, methods))
    text = write_plan(options.plan.stem, sets, made, options.seeds, measures=measures)
    with FILE_GATE.passed():
        options.plan.write_text(text, encoding="utf-8")


def _plan_lines(opened: OpenPlan, estimate: PlanEstimate) -> Iterator[str]:
    plan = opened.plan
    yield (
        f"{plan.name}: {estimate.prompts} prompts x {len(plan.methods)} methods x "
        f"{len(plan.seeds)} seeds = {estimate.pictures} pictures, "
        f"{len(plan.judges)} judge {'set' if len(plan.judges) == 1 else 'sets'}"
    )
    if estimate.unusable:
        yield f"  {estimate.unusable} pictures cannot be drawn:"
        messages = dict.fromkeys(item.error.message for item in opened.items if item.error)
        yield from (f"    {message}" for message in list(messages)[:MOST_REASONS])
        if len(messages) > MOST_REASONS:
            yield f"    and {len(messages) - MOST_REASONS} other reasons"
    most = "at most " if any(each.refine for each in plan.methods) else ""
    time = "unknown until the first picture" if estimate.seconds is None else ""
    yield f"  time    {time or most + duration_in_words(estimate.seconds or 0)}"
    yield (
        f"  disk    {most}{estimate.disk_bytes / GIGABYTE:.2f} GB of "
        f"{estimate.free_bytes / GIGABYTE:.1f} GB free"
    )
    if estimate.memory_bytes is not None:
        yield f"  memory  {estimate.memory_bytes / GIGABYTE:.2f} GB"
    if estimate.answers is not None:
        yield f"  answers {cost_in_words(estimate.answers, None)}"
    if estimate.disk_bytes > estimate.free_bytes:
        yield "  The disk is too small for this plan."


def duration_in_words(seconds: float) -> str:
    """Return a duration as "2 h 05 min", "3 min" or "12 s"."""
    if seconds >= HOUR_S:
        return f"{seconds // HOUR_S:.0f} h {seconds % HOUR_S // MINUTE_S:02.0f} min"
    return f"{seconds / MINUTE_S:.0f} min" if seconds >= MINUTE_S else f"{seconds:.0f} s"


def run(options: argparse.Namespace, studio: Studio) -> int:
    """Begin a benchmark, or go on with it, and write its results."""
    benchmarks, store = benchmarks_of(studio), store_in(studio, options.out)
    opened = benchmarks.open_plan(options.plan)
    store.begin(opened.plan.text, opened.prompts, overwrite=options.overwrite)
    items = ItemFiles(opened, store, benchmarks.drawing)
    return _work(options, studio, items, ())


def resume(options: argparse.Namespace, studio: Studio) -> int:
    """Go on with a benchmark; the process that runs a paused one continues by itself."""
    items = items_in(studio, options.folder)
    was_paused = items.store.held == PAUSE
    items.store.release()
    if was_paused and options.retry is None:
        show_progress("The pause has ended; a process that waits for it goes on.")
    failures = failures_of(items) if options.retry is not None else ()
    retry = [each.key for each in failures if (options.retry or "") in each.cause]
    return _work(options, studio, items, retry)


def status(options: argparse.Namespace, studio: Studio) -> int:
    """Show progress and failures of a benchmark."""
    items = items_in(studio, options.folder)
    done = sum(items.is_done(item) for item in items.opened.drawable)
    failures = failures_of(items)
    if options.json:
        costs, devices = _costs_and_devices(items)
        show_json(
            {
                "pictures": len(items.opened.drawable),
                "done": done,
                "failed": len(failures),
                "held": items.store.held,
                "causes": {cause: len(own) for cause, own in grouped(failures).items()},
                "costs": costs,
                "devices": devices,
            }
        )
    else:
        show_lines(_status_lines(items, done, failures))
    return 0


def pause(options: argparse.Namespace, studio: Studio) -> int:
    """Pause a benchmark, or let it end after the pictures in progress."""
    items = items_in(studio, options.folder)
    items.store.hold(DRAIN if options.drain else PAUSE)
    show_progress(f'Continue with "spatialstudio benchmark resume {options.folder}".')
    return 0


def report(options: argparse.Namespace, studio: Studio) -> int:
    """Report on methods; write the report to files."""
    _check_out(options, "A report", (*REPORT_SUFFIXES, *FIGURE_SUFFIXES))
    methods = _methods(options, studio)
    extents = stored_extents(options.folders, studio.paths.resources)
    made = full_report(methods, lambda each: _pictures(each, options, studio), extents)
    reports, comparisons = made.reports, made.comparisons
    files = studio.registry.benchmark_files(FILES_ID)
    if options.tables is not None:
        tables = {each.name: each.report for each in reports}
        files.write_tables(tables, options.tables, overwrite=options.overwrite)
    figure, title = ReportFigure(options.figure), _title(options)
    for path in options.out:
        if path.suffix in FIGURE_SUFFIXES:
            drawer = figure_drawer(studio)
            drawn = drawer.report(figure, reports, title, path.suffix[1:])
            files.write(path, drawn.content)
        else:
            write_report(made, options.folders, path, files)
    if options.json:
        show_json(report_answer(reports, comparisons, extents))
    else:
        show_lines(f"Prompts of {each.text}" for each in extents)
        show_lines(line for each in reports for line in _report_lines(each))
        show_lines(_comparison_lines(comparisons))
        show_lines(f"Wrote {path}" for path in options.out)
    return 0


def _check_out(options: argparse.Namespace, what: str, suffixes: Sequence[str]) -> None:
    """Check the files to write.

    Raises:
        SettingsError: A suffix is unknown.
        TargetExists: A file exists and may not be replaced.
    """
    if wrong := [path for path in options.out if path.suffix not in suffixes]:
        raise SettingsError(
            f'{what} cannot be written as "{wrong[0].name}".',
            hint=f"Choose {', '.join(suffixes)}.",
        )
    check_targets([path for path in options.out if path.exists()], overwrite=options.overwrite)


def _title(options: argparse.Namespace) -> str:
    return ", ".join(folder.resolve().name for folder in options.folders)


def _methods(options: argparse.Namespace, studio: Studio) -> tuple[MethodResults, ...]:
    records = studio.registry.records(RECORDS_ID)
    return read_methods(options.folders, records, options.evaluation)


def _pictures(
    method: MethodResults, options: argparse.Namespace, studio: Studio
) -> Sequence[StudiedPicture]:
    if not options.corrupt_masks:
        return ()
    return read_pictures(method, options.folders, studio.read_run)


def compare(options: argparse.Namespace, studio: Studio) -> int:
    """Compare every two methods on the same prompts and seeds."""
    _check_out(options, "A comparison", COMPARISON_SUFFIXES)
    comparisons = compare_methods(_methods(options, studio))
    for path in options.out:
        write_comparisons(comparisons, path, studio.registry.benchmark_files(FILES_ID))
    if options.json:
        show_json({"comparisons": [comparison_answer(each) for each in comparisons]})
    else:
        show_lines(_comparison_lines(comparisons))
        show_lines(f"Wrote {path}" for path in options.out)
    return 0


def choose(options: argparse.Namespace, studio: Studio) -> int:
    """Choose the best method from stored scores."""
    _check_out(options, "A choice", FIGURE_SUFFIXES)
    methods = _methods(options, studio)
    chosen = choose_method(
        methods, options.value, options.error, options.seed, is_published=options.published
    )
    drawer, files = figure_drawer(studio), studio.registry.benchmark_files(FILES_ID)
    for path in options.out:
        drawn = drawer.race(chosen, options.value, options.error, _title(options), path.suffix[1:])
        files.write(path, drawn.content)
    pulls = dict(zip(chosen.names, chosen.choice.pulls, strict=True))
    name = chosen.names[chosen.choice.best]
    if options.json:
        certain = chosen.choice.is_certain
        show_json({"best": name, "is_certain": certain, "pulls": pulls, "scores": chosen.scores})
        return 0
    show_lines([f"Best: {name}"])
    unit = "pulls of 5 scores" if options.published else f"of {chosen.scores} scores read"
    show_lines(f"  {each}: {count} {unit}" for each, count in pulls.items())
    if not (options.published or chosen.choice.is_certain):
        show_lines([f"  The scores do not decide with an error of {options.error:g}."])
    show_lines(f"Wrote {path}" for path in options.out)
    return 0


def _report_lines(report: MethodReport) -> Iterator[str]:
    counts = report.all.counts
    yield (
        f"{report.name}: {counts.total} judged, {counts.passes} PASS, {counts.fails} FAIL, "
        f"{counts.undecidable} UNDECIDABLE, {counts.errors} ERROR"
    )
    yield f"  PASS over all      {report.all.pass_all.text}; by prompt {report.by_prompt.text}"
    yield f"  PASS over decided  {report.all.pass_decided.text}"
    yield f"  coverage           {report.all.coverage.text}"
    prompts, pairs = report.report, report.report.pairs_by_seed
    yield (
        f"  best of K {prompts.best_of.pass_rate_all:.3f}, all of K "
        f"{prompts.all_of.pass_rate_all:.3f}"
    )
    if pairs.pairs:
        yield (
            f"  counterfactual pairs by seed: {pairs.both_pass} both pass, {pairs.one_sided} one "
            f"sided, {pairs.both_fail} both fail, {pairs.undecidable} undecidable"
        )
    else:
        yield "  counterfactual pairs by seed: none"
    if report.order is not None:
        yield f"  order bias {report.order.difference.text}, p {report.order.test.exact_p:.3g}"
    for name, own in report.by_relation.items():
        yield f"  {name}: {own.pass_all.text}"
    for name, curve in report.scaling.items():
        best = ", ".join(f"{n}: {interval.value:.3f}" for n, interval in curve.items())
        yield f"  best of N by {name}: {best}"
    for row in report.robustness:
        yield f"  PSE on masks ({row.name} {row.level:g}): {row.mean_pse:.3f}"
    for name, figures in report.metrics.items():
        yield f"  {name}: {figures_in_words(figures)}"
    reasons = ", ".join(f"{reason} {count}" for reason, count in report.reasons.items())
    if reasons:
        yield f"  abstentions: {reasons}"
    if report.seconds is not None:
        flops = "" if report.flops is None else f" ({report.flops / TERA:.3g} TFLOP)"
        rounds = "" if report.rounds is None else f" for {report.rounds:.2f} rounds"
        cost = f"{report.seconds:.2f} s and {report.passes:.1f} denoiser passes{flops}"
        yield f"  cost: {cost} each{rounds}"


def _comparison_lines(comparisons: Sequence[Comparison]) -> Iterator[str]:
    for each in comparisons:
        difference = each.difference
        test = ""
        if each.test is not None:
            test = f", McNemar p {each.test.exact_p:.3g}, Holm {each.adjusted_p:.3g}"
        yield (
            f"{each.value}: {each.second} - {each.first} = {difference.text} over "
            f"{difference.n} pictures{test}"
        )


def _engines(options: argparse.Namespace, items: ItemFiles) -> EnginePlan:
    """Return the engines that are asked for.

    Raises:
        SettingsError: The options exclude each other.
    """
    devices = tuple(each.strip() for each in options.devices.split(",") if each.strip())
    executor = Executor(options.executor)
    if options.workers < 0 or (devices and options.workers not in {0, len(devices)}):
        raise SettingsError("--workers does not fit.", hint="Pass --devices or --workers.")
    if executor is Executor.LOCAL and options.address:
        raise SettingsError("--address needs a cluster.", hint="Pass --executor ray.")
    if executor is Executor.RAY and devices:
        raise SettingsError("A cluster chooses its devices.", hint="Leave out --devices.")
    return EnginePlan(
        executor=executor,
        workers=options.workers,
        devices=devices,
        address=options.address,
        threads=items.opened.plan.threads,
    )


def _work(
    options: argparse.Namespace, studio: Studio, items: ItemFiles, retry: Sequence[str]
) -> int:
    is_smoke = getattr(options, "smoke", False)
    race = _race(options, items) if options.choose else None
    asking = choice_asking(studio, items)
    with (
        open_workers(studio, _engines(options, items), studio.engine) as workers,
        at_stop(workers.close, CLOSING_S),
    ):
        runner = BenchmarkRunner(
            items, studio.storage.store, workers.all, _show_progress_of, asking
        )
        progress = runner.run(retry=retry, only_smoke=is_smoke, race=race)
    names = write_results(items)
    learn_times(items, studio.paths.cache)
    failures = failures_of(items)
    if options.json:
        answer = {"done": progress.done, "failed": progress.failed, "total": progress.total}
        show_json({**answer, **(_race_answer(race) if race else {})})
    else:
        show_lines(_status_lines(items, progress.done, failures))
        show_lines(_race_lines(race) if race else ())
        show_lines(f"Wrote {items.store.results(name)}" for name in names)
    return EXIT_FAILURE if failures else 0


def _race(options: argparse.Namespace, items: ItemFiles) -> MethodRace:
    check_error(options.error)
    return MethodRace(items.opened.items, score_reader(items, options.choose), options.error)


def _race_answer(race: MethodRace) -> Mapping[str, Any]:
    return {
        "best": race.names[race.race.best],
        "is_certain": race.race.is_decided,
        "pulls": dict(zip(race.names, map(int, race.race.pulls), strict=True)),
    }


def _race_lines(race: MethodRace) -> Iterator[str]:
    answer = _race_answer(race)
    yield f"Best: {answer['best']}"
    yield from (f"  {name}: {count} pictures compared" for name, count in answer["pulls"].items())
    if not answer["is_certain"]:
        yield "  The pictures do not decide with this error."


def _show_progress_of(progress: BenchmarkProgress) -> None:
    rate, left = progress.per_hour, progress.seconds_left
    pace = "" if rate is None else f", {rate:.0f} pictures/h"
    rest = "" if left is None else f", {duration_in_words(left)} left"
    state = " (paused)" if progress.is_paused else ""
    failed = f", {progress.failed} failed" if progress.failed else ""
    engines = ", ".join(
        _engine_words(name, each, progress.left_for(name))
        for name, each in progress.engines.items()
    )
    devices = f" [{engines}]" if len(progress.engines) > 1 else ""
    show_progress(f"{progress.done}/{progress.total}{failed}{pace}{rest}{devices}{state}")


def _engine_words(name: str, engine: EngineProgress, left: float | None) -> str:
    pace = ""
    if engine.per_hour is not None and left is not None:
        rest = duration_in_words(HOUR_S * left / engine.per_hour)
        pace = f" ({engine.per_hour:.0f}/h, about {left:.0f} left in {rest})"
    lost = f", lost {engine.lost}" if engine.lost else ""
    return f"{name}: {engine.items}{pace}{lost}"


def _status_lines(items: ItemFiles, done: int, failures: Sequence[Failure]) -> Iterator[str]:
    opened = items.opened
    unusable = sum(item.request is None for item in opened.items)
    yield f"{opened.plan.name}: {done} of {len(opened.drawable)} pictures are done"
    if unusable:
        yield f"  {unusable} items of the plan cannot be drawn"
    if items.store.held:
        yield f"  held: {items.store.held}"
    for cause, own in grouped(failures).items():
        yield f"  {len(own)} failed: {cause}"
    costs, devices = _costs_and_devices(items)
    for name, cost in costs.items():
        yield (
            f"  {name}: {cost['pictures']} pictures, {cost['seconds']:.2f} s and "
            f"{cost['passes']:.1f} denoiser passes each"
        )
    left = len(opened.drawable) - done - len(failures)
    for name, each in devices.items():
        pace = f"{each['per_hour']:.0f} per hour with one engine"
        yield f"  {name}: {each['pictures']} pictures, {pace}"
    if left and devices:
        time = HOUR_S * left / sum(each["per_hour"] for each in devices.values())
        yield f"  time left: {duration_in_words(time)} with one engine on each of these devices"


def _costs_and_devices(
    items: ItemFiles,
) -> tuple[Mapping[str, Mapping[str, float]], Mapping[str, Mapping[str, float]]]:
    """Return the mean cost of a picture by method; and pictures and throughput by device.

    The throughput is that of one engine, judging and answers to questions included.
    """
    costs: dict[str, list[Mapping[str, Any]]] = {}
    times: dict[str, dict[str, float]] = {}
    for item in items.opened.items:
        record = items.store.item(item.key)
        if record is not None:
            costs.setdefault(item.method.name, []).append(record)
            judging = (record.get("judging_seconds") or 0.0) + items.asking_seconds(item)
            own = times.setdefault(str(record["device"]), {})
            own[item.key] = record["seconds"] + judging  # methods may share a picture
    by_method = {
        name: {
            "pictures": len(own),
            "seconds": mean(each["seconds"] for each in own),
            "passes": mean(each["passes"] for each in own),
        }
        for name, own in costs.items()
    }
    by_device = {
        name: {"pictures": len(own), "per_hour": HOUR_S / mean(own.values())}
        for name, own in times.items()
        if any(own.values())
    }
    return by_method, by_device


ACTIONS: Mapping[str, Callable[[argparse.Namespace, Studio], int]] = {
    "plan": plan,
    "run": run,
    "resume": resume,
    "status": status,
    "pause": pause,
    "report": report,
    "compare": compare,
    "choose": choose,
}
