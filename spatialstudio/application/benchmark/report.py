"""Reports on benchmarks and on recorded runs of SpatialBench-UC, method by method."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from os.path import relpath
from pathlib import Path
from statistics import fmean
from typing import Any

from spatialstudio.application.benchmark.gather import ROWS_FILE, scored_sample
from spatialstudio.application.benchmark.item_records import ROUND_SCORES
from spatialstudio.application.benchmark.result_store import RESULTS_FOLDER
from spatialstudio.application.evaluate.metrics import choose_metrics, metric_figures, metric_values
from spatialstudio.application.evaluate.recorded_runs import (
    CorruptionRow,
    StudiedPicture,
    evaluation_of,
    report_on_samples,
    study_corruption,
)
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.benchmark import RecordedRun, RunReport, ScoredSample
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.metric import Figures, Row
from spatialstudio.domain.ports import RecordedRuns
from spatialstudio.domain.safe_files import MEBIBYTE, is_inside, parse_limited, read_regular
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.benchmark.figures import (
    Comparison,
    Key,
    OrderBias,
    Rates,
    best_by_round,
    compare,
    mean_by_prompt,
    order_bias,
    pass_rate_by_prompt,
    rates_by,
    rates_of,
    reasons_of,
    scaling_curve,
)
from spatialstudio.science.metrics.choice_questions import check_choices
from spatialstudio.science.metrics.visor import ends_found

LARGEST_ROWS_BYTES = 256 * MEBIBYTE
BOX_METRICS = ("visor", "compbench", "hrs", "geneval")
"""Metrics that recorded boxes suffice for; PSE needs masks."""
RELATION_VALUES = ("visor", "pse")
"""Values of relations that methods are compared by, beside the verdicts."""
ONE_RELATION = {"relations": 1, "objects": 2}
MANIFEST_FILE = "manifest.jsonl"
DEPTHS = range(1, 4)
"""Where run folders lie below the folder of a release."""
MULTI_WORD = "multi_word_object"


@frozen(eq=False)
class MethodResults:
    """What a method produced.

    Attributes:
        name: Name of the run.
        run: Its records.
        samples: The outcome of each record, as recorded.
        rows: A row of the metrics per picture; for a run of the release, computed from its boxes.
    """

    name: str
    run: RecordedRun
    samples: tuple[ScoredSample, ...]
    rows: tuple[Row, ...]


@frozen(eq=False)
class MethodReport:
    """The figures of a method.

    Attributes:
        name: Name of the run.
        report: Counts over pictures, prompts and counterfactual pairs.
        all: Rates over all records.
        by_prompt: Pass rate over all, with a bootstrap interval over prompts.
        by_relation: Rates by relation type.
        by_object: Rates by each object that the relation names.
        by_tag: Rates by difficulty tag.
        reasons: Number of abstentions by reason.
        order: Order bias; None without counterfactual pairs.
        scaling: Best of N pictures by N, for each value that the pictures have.
        metrics: Figures of the metrics by name.
        seconds: Mean drawing time of a picture; None if not recorded.
        passes: Mean denoiser passes of a picture; None if not recorded.
        judging_seconds: Mean judging time of a picture; None if not recorded.
        flops: Mean floating-point operations of a picture's passes; None if not recorded.
        rounds: Mean number of pictures drawn for one, by Evaluate-and-Refine; None for others.
        by_round: Mean DA-score of the best picture after each round of Evaluate-and-Refine; empty
            for others.
        by_assertions: Mean DA-score by the number of assertions of the prompt.
        robustness: PSE on corrupted masks; empty if it was not measured.
    """

    name: str
    report: RunReport
    all: Rates
    by_prompt: Interval
    by_relation: Mapping[str, Rates]
    by_object: Mapping[str, Rates]
    by_tag: Mapping[str, Rates]
    reasons: Mapping[str, int]
    order: OrderBias | None
    scaling: Mapping[str, Mapping[int, Interval]]
    metrics: Mapping[str, Figures]
    robustness: tuple[CorruptionRow, ...] = ()
    seconds: float | None = None
    passes: float | None = None
    judging_seconds: float | None = None
    flops: float | None = None
    rounds: float | None = None
    by_round: Mapping[int, Interval] = field(default_factory=dict)
    by_assertions: Mapping[int, Interval] = field(default_factory=dict)


def read_methods(
    folders: Sequence[Path], records: RecordedRuns, evaluation: str = ""
) -> tuple[MethodResults, ...]:
    """Read the results of benchmarks and run folders of the release.

    Args:
        folders: Each a benchmark, or a run folder.
        records: Reads run folders.
        evaluation: Folder of the verdicts in each run; empty for the usual one.

    Raises:
        StoreError: A folder contains no results, or they are damaged.
        SettingsError: The checker settings of a run are invalid.
    """
    found = [run / evaluation for folder in folders for run in _run_folders(folder)]
    methods = [_method(folder, records) for folder in found]
    names = [each.name for each in methods]
    if len(set(names)) < len(names):
        raise StoreError(
            "Two of the runs have the same name.", hint="Compare runs with different names."
        )
    return tuple(methods)


def _run_folders(folder: Path) -> list[Path]:
    """Return the run folders of a benchmark, of a release, or the folder of one run itself."""
    if (folder / MANIFEST_FILE).is_file():
        return [folder]
    results = folder / RESULTS_FOLDER
    home = results if results.is_dir() else folder
    found = (home.glob("/".join([*["*"] * depth, MANIFEST_FILE])) for depth in DEPTHS)
    return sorted(file.parent for files in found for file in files) or [folder]


def _method(folder: Path, records: RecordedRuns) -> MethodResults:
    run = records.read(folder)
    samples = tuple(scored_sample(each.item, each.seed, each.untouched) for each in run.samples)
    rows = tuple(_stored_rows(folder / ROWS_FILE)) or tuple(_rows_of(run))
    return MethodResults(name=run.id, run=run, samples=samples, rows=rows)


def _stored_rows(path: Path) -> Iterator[Row]:
    if not path.is_file():
        return
    try:
        for line in read_regular(path, LARGEST_ROWS_BYTES).splitlines():
            row = parse_limited(line)
            _check_row(row)
            yield row
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise StoreError(
            f'The file "{path.name}" is damaged.',
            hint='Write it again with "spatialstudio benchmark resume".',
        ) from error


def _check_row(row: Row) -> None:
    """Raise KeyError, TypeError or ValueError for damaged values that a report reads."""
    iter(row["verdicts"])
    int(row.get("seed") or 0)
    len(row.get("assertions") or ())
    sum(each or 0.0 for each in row.get(ROUND_SCORES) or ())
    check_choices(row)


def _rows_of(run: RecordedRun) -> Iterator[Row]:
    """Yield the rows of the metrics that need boxes only, from recorded detections."""
    metrics = choose_metrics(BOX_METRICS)
    for sample in run.samples:
        base = {"prompt": sample.item.prompt, "prompt_id": sample.item.id, "seed": sample.seed}
        evaluated = evaluation_of(sample, run.settings)
        if evaluated is None or sample.perception is None:
            yield {**base, "error": "no usable record", **ONE_RELATION, "verdicts": []}
            continue
        scene, evaluation = evaluated
        (verdict,) = evaluation.verdicts
        scores, values = metric_values(metrics, scene, evaluation)
        yield {
            **base,
            "error": None,
            **ONE_RELATION,
            **values,
            "verdicts": [
                {
                    "outcome": verdict.outcome.value,
                    "confidence": verdict.confidence,
                    "found": ends_found(sample.relation, sample.perception),
                    **{name: own[sample.relation.id] for name, own in scores.items()},
                }
            ],
        }


def report_on_method(
    method: MethodResults, pictures: Sequence[StudiedPicture] = ()
) -> MethodReport:
    """Return the figures of a method.

    Args:
        method: Its results.
        pictures: Its pictures with their masks, to measure PSE on corrupted ones; may be empty.
    """
    samples, settings = method.samples, method.run.settings
    tags = {str(row.get("prompt_id")): row.get("tags") for row in method.rows}
    metrics = [
        name
        for name in (*BOX_METRICS, "pse", "da", "scene_graph", "choices")
        if _has(method.rows, name)
    ]
    return MethodReport(
        name=method.name,
        report=report_on_samples(samples, settings),
        all=rates_of(each.outcome for each in samples),
        by_prompt=pass_rate_by_prompt(samples),
        by_relation=rates_by(samples, lambda each: (each.item.relation_type.id,)),
        by_object=rates_by(samples, lambda each: (each.item.subject, each.item.object)),
        by_tag=rates_by(samples, lambda each: tags.get(each.item.id) or _tags_of(each)),
        reasons=reasons_of(samples),
        order=order_bias(samples),
        scaling=_scaling(method),
        robustness=study_corruption(pictures, settings.detection_score) if pictures else (),
        metrics=metric_figures(method.rows, choose_metrics(metrics)),
        seconds=_mean(method.rows, "seconds"),
        passes=_mean(method.rows, "passes"),
        judging_seconds=_mean(method.rows, "judging_seconds"),
        flops=_mean(method.rows, "flops"),
        rounds=_mean(method.rows, "rounds"),
        by_round=best_by_round(_round_scores(method.rows)),
        by_assertions=_by_assertions(method.rows),
    )


def _round_scores(rows: Sequence[Row]) -> Mapping[Key, tuple[float, ...]]:
    """Return the DA-scores of the rounds by prompt and seed; rounds without an answer are 0."""
    return {
        _key_of(row): tuple(each or 0.0 for each in row[ROUND_SCORES])
        for row in rows
        if row.get(ROUND_SCORES)
    }


def _by_assertions(rows: Sequence[Row]) -> Mapping[int, Interval]:
    scores = defaultdict[int, dict[Key, float]](dict)
    for row in rows:
        if isinstance(row.get("da_score"), float) and row.get("assertions"):
            scores[len(row["assertions"])][_key_of(row)] = row["da_score"]
    return {count: mean_by_prompt(own) for count, own in sorted(scores.items())}


def _key_of(row: Row) -> Key:
    return str(row.get("prompt_id")), int(row.get("seed") or 0)


def _scaling(method: MethodResults) -> Mapping[str, Mapping[int, Interval]]:
    values = {name: metric_means(method.rows, name) for name in RELATION_VALUES}
    known = {"pass": pass_values(method), **{name: own for name, own in values.items() if own}}
    return {name: scaling_curve(own) for name, own in known.items()}


def read_pictures(
    method: MethodResults, folders: Sequence[Path], read_run: Callable[[Path], OpenRun]
) -> tuple[StudiedPicture, ...]:
    """Return the judged pictures of a method with their masks; none for a run of the release.

    Args:
        method: The method.
        folders: The benchmarks that hold the pictures.
        read_run: Reads a stored run.

    Raises:
        StoreError: A run is damaged.
    """
    runs = (read_run(path) for row in method.rows if (path := _picture_of(row, folders)))
    return tuple(
        StudiedPicture(scene=run.scene, perception=run.evaluation.perception)
        for run in runs
        if run.evaluation is not None and run.scene.relations
    )


def _picture_of(row: Row, folders: Sequence[Path]) -> Path | None:
    """Return the file of a row's picture, which lies inside one of the folders."""
    name = str(row.get("picture") or "")
    found = (folder / name for folder in folders if name and is_inside(folder / name, folder))
    return next((each for each in found if each.is_file()), None)


def _has(rows: Sequence[Row], metric: str) -> bool:
    """Return True if rows hold values of a metric."""
    names = {
        "pse": "mean_pse",
        "da": "da_score",
        "scene_graph": "scene_graph_score",
        "choices": "choice_score",
    }
    verdicts = (verdict for row in rows for verdict in row["verdicts"])
    return any(names.get(metric, metric) in row for row in rows) or any(
        metric in verdict for verdict in verdicts if metric not in names
    )


def _tags_of(sample: ScoredSample) -> tuple[str, ...]:
    names = (sample.item.subject, sample.item.object)
    return (MULTI_WORD,) if any(" " in name for name in names) else ("single_word_objects",)


def _mean(rows: Sequence[Row], name: str) -> float | None:
    values = [row[name] for row in rows if isinstance(row.get(name), int | float)]
    return fmean(values) if values else None


def compare_methods(methods: Sequence[MethodResults]) -> tuple[Comparison, ...]:
    """Compare every two methods on the same prompts and seeds, by verdicts and by metrics.

    Raises:
        StoreError: There are fewer than two methods.
    """
    if len(methods) < 2:  # noqa: PLR2004 - a comparison has two sides
        raise StoreError(
            "A comparison needs two methods.", hint="Pass a benchmark, or two run folders."
        )
    passes = {each.name: pass_values(each) for each in methods}
    made = list(compare(passes, "pass", is_yes_no=True))
    for name in RELATION_VALUES:
        values = {each.name: metric_means(each.rows, name) for each in methods}
        if all(values.values()):
            made += compare(values, name, is_yes_no=name == "visor")
    return tuple(made)


def relative_links(
    methods: Sequence[MethodResults], folders: Sequence[Path], target: Path
) -> tuple[MethodResults, ...]:
    """Return methods whose rows name existing pictures relative to the folder of a report."""

    def linked(row: Row) -> Row:
        path = _picture_of(row, folders)
        where = None if path is None else relpath(path, target)
        return {**row, "picture": where and Path(where).as_posix()}

    return tuple(replace(each, rows=tuple(map(linked, each.rows))) for each in methods)


def pass_values(method: MethodResults) -> dict[tuple[str, int], float]:
    """Return 1 for a PASS and 0 for others, by prompt and seed."""
    return {(one.item.id, one.seed): float(one.outcome is Outcome.PASS) for one in method.samples}


def metric_means(rows: Sequence[Row], name: str) -> dict[tuple[str, int], float]:
    """Return the mean value of a picture's relations, by prompt and seed."""
    values = defaultdict[tuple[str, int], list[float]](list)
    for row in rows:
        for verdict in row["verdicts"]:
            value: Any = verdict.get(name)
            if isinstance(value, bool | int | float):
                values[_key_of(row)].append(float(value))
    return {key: fmean(own) for key, own in values.items()}
