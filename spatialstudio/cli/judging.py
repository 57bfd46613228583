"""Commands that evaluate many images: files and folders, or recorded benchmark runs."""

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias

from spatialstudio.application.error_reports import EXIT_FAILURE
from spatialstudio.application.evaluate.evaluate_image import needs_depth
from spatialstudio.application.evaluate.judging import (
    DaModelChoice,
    JudgedPicture,
    PictureTask,
    list_tasks,
    read_prompts,
)
from spatialstudio.application.evaluate.metrics import (
    METRICS,
    ChosenMetrics,
    all_metrics,
    choose_metrics,
    metric_figures,
)
from spatialstudio.application.evaluate.recorded_runs import SweepRow
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.studio import Studio
from spatialstudio.cli.answer_file import AnswerFile, make_folder
from spatialstudio.cli.answers import Answer, answer_in_words, evaluation_answer
from spatialstudio.cli.options import judge_choice
from spatialstudio.cli.printing import (
    show_json,
    show_lines,
    show_progress,
    show_table,
)
from spatialstudio.domain.benchmark import RunReport
from spatialstudio.domain.errors import LibraryNotWritable, StudioError
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.safe_files import check_not_source
from spatialstudio.domain.verdict import REPRODUCE

OpenStudio: TypeAlias = Callable[[Path | None], Studio]
"""Opens a studio that stores its runs in a folder; None for the library."""

PROMPTS_FILE = "prompts.jsonl"
ANSWERS_FILE = "answers.jsonl"
"""File names of results in a chosen folder."""
ERROR = "ERROR"
NOT_STORED = "The pictures are not stored as runs: choose a --library, or use --no-store."
NO_MASKS = "PSE is 0 because there are no masks. Choose a --segmenter."
NO_DEPTH = "Depth relations are undecidable without a depth model. Choose a model with --depth."
PICTURE_COLUMNS = ("picture", "prompt")
FIRST_COLUMNS = (
    *("checker", "relation", "outcome", "reason"),
    *("confidence", "delta", "margin", "overlap", "gap", "pos", "pse", "found"),
)
LAST_COLUMNS = ("da_score", "why", "note")
"""Columns of the table; those of the other metrics come between."""


def judge_records(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Re-evaluate a recorded run, and write verdicts and metrics in its schema."""
    judging = open_studio(None).judging
    settings = judging.checker(options.checker) if options.checker else None
    report = judging.records(
        options.run, options.out, settings, options.set, overwrite=options.overwrite
    )
    if options.json:
        show_json(_report_answer(report, options.out))
    else:
        show_lines(_report_lines(report, options.out))
    return _reported_errors(report.all.errors)


def sweep_records(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Print a recorded run's results over a grid of thresholds."""
    rows = open_studio(None).judging.sweep(options.run)
    if options.json:
        show_json({"rows": [{**asdict(row), "coverage": row.coverage} for row in rows]})
    else:
        show_lines(_sweep_lines(rows))
    return _reported_errors(rows[0].errors)


def _reported_errors(count: int) -> int:
    """Print how many recorded images could not be evaluated; return the exit code."""
    if not count:
        return 0
    pictures = "1 picture has" if count == 1 else f"{count} pictures have"
    show_progress(f"{pictures} no readable record: the records file is damaged or truncated.")
    show_progress("Restore it from the release, then judge the run again.")
    return EXIT_FAILURE


def benchmark_prompts(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Write the prompts of SpatialBench-UC."""
    file = options.out.file(PROMPTS_FILE)
    open_studio(None).judging.write_prompts(file, overwrite=options.overwrite)
    if options.json:
        show_json({"file": str(file)})
    else:
        show_lines([f"Wrote the prompts to {file}"])
    return 0


def judge_pictures(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Evaluate files and folders; an image that fails yields a row with the error."""
    studio = open_to_evaluate(options, open_studio)
    judging = studio.judging
    settings = judging.checker(options.checker or REPRODUCE.preset, options.set)
    metrics = choose_metrics(options.metrics.split(",")) if options.metrics else all_metrics()
    da_models = DaModelChoice(
        reader_id=options.assertions,
        answerer_id=options.questions,
        settings=judging.da_settings(options.da, options.da_set),
        is_cached=not options.no_cache,
    )
    choice = judge_choice(options)
    prompts = read_prompts(options.prompts) if options.prompts else {}
    tasks = list_tasks(options.paths, options.prompt, prompts)
    kind = {
        "checker": settings.preset,
        "judges": list(metrics.names),
        "witnesses": da_models.name,
        "models": judging.models_of(choice),
    }
    kept = _answer_file(options, tasks)
    rows = list(_rows_kept(kept.rows if kept else (), tasks, kind))
    done = {row["picture"] for row in rows}
    waiting = [task for task in tasks if str(task.path) not in done]
    for judged in judging.pictures(waiting, settings, CancelFlag(), da_models, choice):
        row = _row(judged, kind, metrics) | _stored(judged, studio)
        rows.append(row)
        if kept:
            kept.add(row)
        show_progress(f"{len(rows)}/{len(tasks)} {judged.task.path}")
    if kept:
        kept.finish()
    _show(rows, options, metrics)
    return EXIT_FAILURE if any(map(_is_failed, rows)) else 0


def open_to_evaluate(options: argparse.Namespace, open_studio: OpenStudio) -> Studio:
    """Open a studio that stores evaluated pictures as the options say.

    Raises:
        LibraryNotWritable: The folder given by ``--library`` cannot be written.
    """
    studio = open_studio(options.library)
    note_absent_models(studio, judge_choice(options))
    studio.extractor_id = options.extractor
    studio.storage.stores_evaluations = not options.no_store
    try:
        if studio.storage.stores_evaluations:
            studio.storage.prepare()
    except LibraryNotWritable as error:
        if options.library is not None:
            raise
        show_progress(f"Note: {error.message} {NOT_STORED}")
        studio.storage.stores_evaluations = False
    return studio


def note_absent_models(studio: Studio, choice: JudgeSetChoice) -> None:
    """Print which models of a user-defined judge set are not installed."""
    for note in studio.judge_sets.notes(choice):
        show_progress(f"Note: {note}")


def _stored(judged: JudgedPicture, studio: Studio) -> dict[str, Any]:
    """Store an evaluated picture as a run; return its file, or the error, for its row."""
    image, scene, evaluation = judged.image, judged.scene, judged.evaluation
    if not studio.storage.stores_evaluations:
        return {}
    if image is None or scene is None or evaluation is None:
        return {"run": None}
    try:
        run = studio.pictures.evaluated(judged.task.path, image, scene, evaluation)
        return {"run": str(studio.storage.store_evaluated(run).resolve())}
    except StudioError as error:
        show_progress(f"{judged.task.path} is not stored: {error.message} {error.hint}".rstrip())
        return {"run": None, "store_error": error.message}


def _is_failed(row: Mapping[str, Any]) -> bool:
    return bool(row["error"] or row.get("failed_metrics") or row.get("store_error"))


def _row(judged: JudgedPicture, kind: Mapping[str, Any], metrics: ChosenMetrics) -> dict[str, Any]:
    row = {
        "picture": str(judged.task.path),
        "prompt": judged.task.prompt,
        **kind,
        "error": judged.error.message if judged.error else None,
        "hint": judged.error.hint if judged.error else None,
        "relations": len(judged.scene.relations) if judged.scene else None,
        "objects": len(judged.scene.mentions) if judged.scene else None,
    }
    if judged.evaluation is not None and judged.scene is not None:
        row |= evaluation_answer(judged.evaluation, judged.scene, metrics)
        seen, used = judged.evaluation.perception, judged.evaluation.judge_set
        row["judge_set"] = asdict(used) if used else None
        notes = [used.warning] if used and used.warning else []
        notes += [NO_MASKS] * bool(seen.detections and not seen.masks)
        notes += [NO_DEPTH] * (needs_depth(judged.scene) and seen.depth is None)
        row["note"] = " ".join([*notes, *row.get("failed_metrics", {}).values()]) or None
    return row


def _answer_file(options: argparse.Namespace, tasks: Sequence[PictureTask]) -> AnswerFile | None:
    """Open the result file; None without ``--out``.

    Raises:
        ExportError: The file is also an input, or has other contents.
        StoreError: The file is not writable.
    """
    if options.out is None:
        return None
    file = options.out.file(ANSWERS_FILE)
    read = [
        *(task.path for task in tasks),
        options.prompts,
        options.checker and Path(options.checker),
    ]
    check_not_source([file], [path for path in read if path])
    if options.out.is_folder:
        make_folder(file.parent)
    kept = AnswerFile(file, overwrite=options.overwrite)
    kept.begin()
    return kept


def _rows_kept(
    rows: Sequence[Mapping[str, Any]], tasks: Sequence[PictureTask], kind: Mapping[str, Any]
) -> Iterator[Mapping[str, Any]]:
    """Yield the stored rows that are complete and match the current tasks and settings."""
    wanted = {(str(task.path), task.prompt) for task in tasks}
    for row in rows:
        try:
            key = row["picture"], row["prompt"]
            is_whole = not _is_failed(row) and isinstance(row.get("verdicts"), list)
            is_kept = kind.items() <= row.items() and is_whole and key in wanted
        except TypeError:  # a field is not a string
            continue
        if is_kept:
            wanted.remove(key)
            yield row


def _show(
    rows: Sequence[Mapping[str, Any]], options: argparse.Namespace, metrics: ChosenMetrics
) -> None:
    figures = metric_figures(rows, metrics)
    if options.csv:
        show_table(verdict_table(rows))
    elif options.json:
        show_json({"pictures": rows, "summary": _summary(rows), "figures": figures})
    else:
        show_lines(_lines(rows))
        show_lines(f"{name}: {figures_in_words(own)}" for name, own in figures.items())


def _scene_graph_lines(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield a picture's scene-graph score and its differences from the prompt."""
    parts = row["scene_graph_parts"]
    kind = "approximate" if parts["is_approximate"] else "exact"
    distance = f"edit distance {parts['distance']:.2f} of {parts['of']:.2f}, {kind}"
    yield f"  scene graph {row['scene_graph_score']:.2f} ({distance})"
    for each in row["scene_graph_edits"]:
        if "wanted" not in each:
            yield f"    {each['state']} object {each['object']}"
            continue
        held = f"; found: {', '.join(each['found'])}" if each["found"] else ""
        stated = f"{each['subject']} {each['wanted']} {each['object']}"
        yield f"    {each['state']} relation {stated}{held}"


def figures_in_words(figures: Mapping[str, Any]) -> str:
    """Return the figures of a metric as one line: "score 0.2500, 2 objects 0.632"."""
    if "error" in figures:
        return f"{ERROR}: {figures['error']}"
    return ", ".join(_figure(name.replace("_", " "), value) for name, value in figures.items())


def _figure(name: str, value: object) -> str:
    if isinstance(value, Mapping):
        unit = f" {name.removeprefix('by ')}" if name.startswith("by ") else ""
        shares = ", ".join(f"{key}{unit} {share:.3f}" for key, share in value.items())
        return shares if unit else f"{name} ({shares})"
    return f"{name} {value:.4f}" if isinstance(value, float) else f"{name} {value}"


def _lines(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for row in rows:
        yield row["picture"]
        if row["error"]:
            yield f"  {ERROR}: {row['error']} {row.get('hint') or ''}".rstrip()
        if row.get("note"):
            yield f"  {row['note']}"
        for verdict in row.get("verdicts", ()):
            yield f"  {verdict['outcome']}: {verdict['why']}"
        for verdict in row.get("mention_verdicts", ()):
            yield f"  {verdict['outcome']}: {verdict['why']}"
        yield from _score_lines(row)
    counts = ", ".join(f"{count} {outcome}" for outcome, count in _summary(rows).items())
    yield f"Total: {counts}"
    sets = filter(None, (row.get("judge_set") for row in rows))
    judged = dict.fromkeys((used["id"], tuple(used["models"].values())) for used in sets)
    for set_id, models in judged:
        names = ", ".join(dict.fromkeys(name.split()[0] for name in models))
        yield f"Judged by {set_id or 'a chosen judge set'} ({names})"
    stored = [Path(row["run"]) for row in rows if row.get("run")]
    for folder in dict.fromkeys(path.parent for path in stored):
        count = sum(path.parent == folder for path in stored)
        yield f"Stored as {count} {'run' if count == 1 else 'runs'} in {folder}"


def _score_lines(row: Mapping[str, Any]) -> Iterator[str]:
    if row.get("da_score") is not None:
        yield f"  DA-score {row['da_score']:.2f}"
        for each in row["assertions"]:
            logs = each.get("log_yes"), each.get("log_no")
            answer = answer_in_words(each["probability_yes"], *logs)
            yield f"    {each['text']}: {answer or each['note']}"
    if row.get("scene_graph_score") is not None:
        yield from _scene_graph_lines(row)
    if row.get("choice_score") is not None:
        yield f"  multiple choice {row['choice_score']:.2f}"
        for each in row["choice_questions"]:
            outcome = "right" if each["letter"] == each["key"] else "not right"
            yield f"    {each['question']} {each['letter']}, {outcome}: {each['reason']}"


def _summary(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, int]:
    """Count all outcomes; a failed image counts once per relation, at least once."""
    counts: Counter[str] = Counter()
    for row in rows:
        if row["error"]:
            counts[ERROR] += row["relations"] or 1
        verdicts = (*row.get("verdicts", ()), *row.get("mention_verdicts", ()))
        counts.update(verdict["outcome"] for verdict in verdicts)
    return counts


def verdict_table(
    rows: Sequence[Mapping[str, Any]], settings: Sequence[str] = ()
) -> Iterator[Sequence[object]]:
    """Yield the header and one row per verdict, or per picture that failed.

    Args:
        rows: Evaluated pictures.
        settings: Names of further items of the rows, which follow the prompt.
    """
    judged = [metric.id for metric in METRICS if metric.of_relation is not None]
    columns = (*PICTURE_COLUMNS, *settings, *FIRST_COLUMNS, *judged, *LAST_COLUMNS)
    yield columns
    for row in rows:
        failed = {"outcome": ERROR, "reason": row["error"]}
        # NOTE: an image without relations still yields a row
        verdicts = [failed] if row["error"] else _judged_rows(row) or [{}]
        for verdict in verdicts:
            whole = {**row, **verdict}
            yield [whole.get(name) for name in columns]


def _judged_rows(row: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the verdicts of a row, those on counts and colours in the columns of relations."""
    mentions = (
        {**each, "relation": f"{each['object']}: {each['kind']}, {each['required']}"}
        for each in row.get("mention_verdicts", ())
    )
    return [*row["verdicts"], *mentions]


def _report_answer(report: RunReport, folder: Path) -> Answer:
    return {
        "checker": report.settings.preset,
        "samples": report.all.total,
        "pass": report.all.passes,
        "fail": report.all.fails,
        "undecidable": report.all.undecidable,
        "error": report.all.errors,
        "coverage": report.all.coverage,
        "mean_confidence": report.mean_confidence,
        "folder": str(folder),
    }


def _sweep_lines(rows: Sequence[SweepRow]) -> Iterator[str]:
    yield f"{'margin':>8}{'confidence':>12}{'PASS':>8}{'FAIL':>8}{'coverage':>10}"
    for row in rows:
        yield (
            f"{row.margin:8.2f}{row.least_confidence:12.2f}"
            f"{row.passes:8}{row.fails:8}{row.coverage:10.4f}"
        )


def _report_lines(report: RunReport, folder: Path) -> Iterator[str]:
    counts = report.all
    yield (
        f"{counts.total} pictures: {counts.passes} PASS, {counts.fails} FAIL, "
        f"{counts.undecidable} UNDECIDABLE, {counts.errors} {ERROR} "
        f"({report.settings.preset})"
    )
    yield f"Wrote verdicts and figures to {folder}"
