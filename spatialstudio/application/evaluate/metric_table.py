"""Metric against metric over stored runs, results of ``evaluate`` and benchmark folders."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from spatialstudio.application.evaluate.metrics import ChosenMetrics, metric_row
from spatialstudio.application.jobs.background_jobs import Progress
from spatialstudio.domain.errors import SettingsError, StoreError
from spatialstudio.domain.metric import Row
from spatialstudio.domain.metric_table import (
    QUESTIONS,
    QUESTIONS_LABEL,
    Disagreement,
    MetricTable,
    PictureScores,
)
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.safe_files import (
    MEBIBYTE,
    is_inside,
    is_regular,
    open_regular,
    parse_limited,
    read_regular,
)
from spatialstudio.science.statistics.metric_agreement import between, compare_metrics
from spatialstudio.science.statistics.study import (
    each_recipe_once,
    prompt_notes,
    repeats_in_words,
    study_run,
    unguided_notes,
)

JUDGED, ITEMS = "judged", "items"
"""Folders of a benchmark; see ``application/benchmark/result_store.py``."""
ANSWERS = "answers.jsonl"
LARGEST_RECORD_BYTES = 4 * MEBIBYTE
FEWEST = 3
"""Fewest pictures that are compared."""

Source = Callable[[ChosenMetrics], PictureScores | None]
"""Reads the scores of one picture; returns None for one that is not judged."""


def compare_pictures(
    paths: Sequence[Path],
    store: RunStore,
    metrics: ChosenMetrics,
    answers: Iterable[PictureScores] = (),
    progress: Progress = lambda _done, _total: None,
) -> MetricTable:
    """Compare metrics over pictures.

    Args:
        paths: Each a run file, a folder of runs, a benchmark, or the results of ``evaluate``.
        store: Reads stored runs; their metrics are computed from the stored perception.
        metrics: The metrics; results of others are not read.
        answers: Shares of right answers to questions; joined by the files of the pictures.
        progress: Receives the number of pictures read and in total; may raise ``Cancelled``.

    Raises:
        SettingsError: There are fewer than three judged pictures, or fewer than two metrics.
        StoreError: A file is damaged.
    """
    sources = [source for path in paths for source in _sources(path, store)]
    found: list[PictureScores] = []
    for done, source in enumerate(sources):
        progress(done, len(sources))
        if (scores := source(metrics)) is not None:
            found.append(scores)
    joined = _joined([*found, *answers])
    counted = each_recipe_once(joined, lambda each: len(each.scores))
    left_out = (*_left_out(len(sources), len(found), len(joined) - len(counted)),)
    if len(counted) < FEWEST:
        raise SettingsError(
            " ".join((f"Too few judged pictures to compare: {len(counted)}.", *left_out)),
            hint=f"Choose at least {FEWEST} judged pictures.",
        )
    asked = {name.partition(":")[0] for name in metrics.names}
    labels = {each.id: each.label for each in metrics.chosen if each.id in asked}
    table = compare_metrics(counted, {**labels, QUESTIONS: QUESTIONS_LABEL})
    if not table.pairs:
        raise SettingsError(
            "Fewer than two metrics score these pictures.", hint="Choose other metrics."
        )
    unguided = unguided_notes([each.is_left_unguided for each in counted])
    prompts = prompt_notes(pair.spearman for pair in table.pairs)
    return replace(table, notes=(*left_out, *unguided, *prompts))


def _left_out(total: int, read: int, repeats: int) -> Iterator[str]:
    """Yield how many pictures are not judged, and how many are not counted."""
    if read < total:
        yield f"{total - read} of {total} pictures are not judged."
    if repeats:
        yield repeats_in_words(repeats)


def disagreements(table: MetricTable, pair: tuple[str, str] | None) -> tuple[Disagreement, ...]:
    """Return the pictures that two metrics, or any, rank differently, the largest spread first."""
    return table.disagreements if pair is None else between(table, *pair)


def _joined(found: Iterable[PictureScores]) -> list[PictureScores]:
    """Return one entry for each picture, with the scores of all entries of its file."""
    joined: dict[object, PictureScores] = {}
    for number, each in enumerate(found):
        file = each.source or each.path
        key = number if file is None else file.absolute()
        known = joined.get(key)
        scores = {**known.scores, **each.scores} if known else each.scores
        joined[key] = replace(known or each, scores=scores)
    return list(joined.values())


def row_scores(row: Row, metrics: ChosenMetrics) -> Mapping[str, float]:
    """Return the scores of a picture by metric id; metrics that do not cover it are left out."""
    scores = ((metric.id, metric.score_of(row)) for metric in metrics.chosen)
    return {name: score for name, score in scores if score is not None}


def _sources(path: Path, store: RunStore) -> Iterator[Source]:
    """Yield what reads each picture of a path, in order."""
    if (path / JUDGED).is_dir():
        for file in sorted((path / JUDGED).glob("*.json")):
            yield partial(_of_benchmark, path, file)
        return
    answers = path / ANSWERS if path.is_dir() else path
    if answers.suffix == ".jsonl" and is_regular(answers):
        for row in _lines_of(answers):
            yield partial(_of_row, row, _named(row))
        return
    for run in store.runs_in(path) or (path,):
        yield partial(_of_run, run, store)


def _of_run(path: Path, store: RunStore, metrics: ChosenMetrics) -> PictureScores | None:
    record, _ = store.load(path)
    if record.evaluation is None:
        return None
    scene = record.request.scene
    row = metric_row(scene, record.evaluation, metrics)
    scores = _of_row(row, store.picture_of(path), metrics)
    if scores is None:
        return None
    run = study_run(record, ())
    return replace(scores, recipe=run.recipe, is_left_unguided=run.is_left_unguided)


def _of_benchmark(folder: Path, file: Path, metrics: ChosenMetrics) -> PictureScores | None:
    key = file.name.partition(".")[0]
    item = _record_of(folder / ITEMS / f"{key}.json")
    picture = folder / str(item.get("picture") or "")
    known = picture if item.get("picture") and is_inside(picture, folder) else None
    return _of_row(_record_of(file).get("row") or {}, known, metrics, key)


def _of_row(
    row: Row, picture: Path | None, metrics: ChosenMetrics, name: str = ""
) -> PictureScores | None:
    if row.get("error") or not isinstance(row.get("verdicts"), list):
        return None
    try:
        scores = row_scores(row, metrics)
    except (AttributeError, TypeError) as error:
        raise StoreError("A row of the results is damaged.", hint="Judge again.") from error
    return PictureScores(
        name=picture.stem if picture is not None else name,
        prompt=str(row.get("prompt") or ""),
        scores=scores,
        path=picture,
        source=Path(str(row["picture"])) if row.get("picture") and not name else None,
    )


def _named(row: Row) -> Path | None:
    """Return the run of a row, else its picture."""
    name = row.get("run") or row.get("picture")
    return Path(str(name)) if name else None


def _record_of(path: Path) -> Mapping[str, Any]:
    try:
        record = parse_limited(read_regular(path, LARGEST_RECORD_BYTES))
    except (OSError, ValueError) as error:
        raise StoreError(f'The file "{path.name}" is damaged or missing.') from error
    return record if isinstance(record, dict) else {}


def _lines_of(path: Path) -> Iterator[Row]:
    try:
        with open_regular(path) as file:
            for line in iter(lambda: file.readline(LARGEST_RECORD_BYTES), b""):
                row = parse_limited(line)
                if isinstance(row, dict):
                    yield row
    except (OSError, ValueError) as error:
        raise StoreError(f'The file "{path.name}" is damaged.') from error
