"""Files of audits: the release's samples and labels, and tasks of Label Studio.

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, release v1.0.1, and the JSON export of
Label Studio, https://labelstud.io/guide/export: a list of tasks with ``data`` and ``annotations``,
in which a choice is one of PASS, FAIL and UNDECIDABLE.
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import Any

from spatialstudio.adapters.durable_files import write_whole
from spatialstudio.adapters.storage.records.spatialbench_uc import (
    AMOUNTS,
    EVALUATION_FOLDER,
    FLAGS,
    MANIFEST_FILE,
    MEASURE,
    OWN_TABLE,
    RECORDS_FILE,
    SHARES,
    WEIGHTS,
    find_run,
    read_manifest,
    read_records,
)
from spatialstudio.domain.audit import (
    ITEM_FIELDS,
    AuditCandidate,
    AuditItem,
    HumanLabel,
    LabelFormat,
    Stratum,
)
from spatialstudio.domain.audit_figures import ObjectiveRow
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.foreign_text import table_text
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.safe_files import MEBIBYTE, parse_limited, read_regular
from spatialstudio.domain.verdict import CheckerSettings, Outcome, PerturbationKind
from spatialstudio.science.statistics.threshold_search import objective_of

LARGEST_BYTES = 4 * MEBIBYTE
SAMPLE_COLUMNS = (
    *("sample_id", "image_path", "overlay_path", "prompt", "relation", "object_a", "object_b"),
    *("checker_verdict_raw", "conf", "run_id", "run_path", "method"),
)
WEIGHT_COLUMN = "weight"
SAMPLE_ID = "sample_id"
LABEL_COLUMNS = (SAMPLE_ID, "human_verdict", "notes", "timestamp")
PAIR_COLUMNS = ("first", "second", "preferred")
RATER_COLUMN, FINAL_COLUMN = "rater", "final"
FINAL = "yes"
PLACES = ".4f"
ANSWER, NOTE = "verdict", "notes"
"""Names of the controls in Label Studio."""
CHOSEN, FIGURES = "best_parameters", "best_metrics"
CONFIDENCE_THRESHOLD = "confidence_threshold"
SEARCHED = ("false_pass_rate_high_conf", "risk", "coverage")
"""The release's names of the figures of a search."""
BEFORE_METHOD = ("smoke_", "exp_")

_BROKEN = (KeyError, TypeError, ValueError, AttributeError, IndexError, csv.Error)


def build(surroundings: Surroundings) -> "SpatialBenchAudits":
    """Create the reader and writer."""
    del surroundings
    return SpatialBenchAudits()


class SpatialBenchAudits:
    """Reads and writes audits in the release's files; implements ``AuditFiles``."""

    def read_population(self, folder: Path) -> tuple[AuditItem, ...]:
        """Read the judged pictures of a run folder, with weight 1, in the order of its records.

        Raises:
            StoreError: The folder holds no such run, or it is damaged.
        """
        run_folder, evaluation = find_run(folder)
        manifest = {str(one["sample_id"]): one for one in read_manifest(run_folder / MANIFEST_FILE)}
        records = dict(read_records(evaluation / RECORDS_FILE))
        try:
            return tuple(
                _item_of(sample_id, record, manifest[sample_id], (run_folder, evaluation))
                for sample_id, record in records.items()
            )
        except _BROKEN as error:
            raise _damaged(evaluation / RECORDS_FILE) from error

    def read_sample(self, path: Path) -> tuple[AuditItem, ...]:
        """Read a sample file; without a column of weights, every weight is 1.

        Raises:
            StoreError: The file is damaged or too large.
        """
        try:
            return tuple(_item_of_row(row) for row in _rows(_content(path)))
        except _BROKEN as error:
            raise _damaged(path) from error

    def write_sample(self, items: Sequence[AuditItem], path: Path, *, overwrite: bool) -> None:
        """Write a sample file in the release's columns, and the weight as the last.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """
        rows = [(*_cells(item), repr(item.weight)) for item in items]
        _write_table([(*SAMPLE_COLUMNS, WEIGHT_COLUMN), *rows], path, overwrite=overwrite)

    def read_labels(self, path: Path) -> tuple[HumanLabel, ...]:
        """Read labels: the release's CSV or JSON, or an export of Label Studio.

        Labels without a rater have the name of the file.

        Raises:
            StoreError: The file is damaged or too large.
        """
        content = _content(path)
        try:
            if not content.lstrip().startswith(b"["):
                return tuple(_label(row, path.stem) for row in _rows(content))
            entries = parse_limited(content)
            return tuple(label for entry in entries for label in _labels_of(entry, path.stem))
        except _BROKEN as error:
            raise _damaged(path) from error

    def write_labels(
        self,
        labels: Sequence[HumanLabel],
        path: Path,
        label_format: LabelFormat,
        *,
        overwrite: bool,
    ) -> None:
        """Write labels.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """
        if label_format is LabelFormat.CSV:
            rows = [tuple(_fields(label).values()) for label in labels]
            _write_table(
                [(*LABEL_COLUMNS, RATER_COLUMN, FINAL_COLUMN), *rows], path, overwrite=overwrite
            )
            return
        is_plain = label_format is LabelFormat.JSON
        values = [_fields(one) for one in labels] if is_plain else list(_tasks(labels))
        text = json.dumps(values, indent=1, ensure_ascii=False) + "\n"
        write_whole(path, text.encode(), overwrite=overwrite)

    def read_scores(self, path: Path) -> Mapping[str, Mapping[str, float]]:
        """Read a table of metrics; see ``AuditFiles``.

        Raises:
            StoreError: The file is damaged or too large.
        """
        scores: dict[str, dict[str, float]] = {}
        try:
            for row in _rows(_content(path)):
                sample_id = row.pop(SAMPLE_ID)
                for name, cell in row.items():
                    if cell:
                        scores.setdefault(name, {})[sample_id] = _finite(cell)
        except _BROKEN as error:
            raise _damaged(path) from error
        return scores

    def read_pairs(self, path: Path) -> tuple[tuple[str, str, str], ...]:
        """Read a table of compared pairs; see ``AuditFiles``.

        Raises:
            StoreError: The file is damaged or too large.
        """
        try:
            rows = [tuple(row[name] for name in PAIR_COLUMNS) for row in _rows(_content(path))]
        except _BROKEN as error:
            raise _damaged(path) from error
        return tuple((first, second, preferred) for first, second, preferred in rows)

    def read_search(self, path: Path) -> ObjectiveRow:
        """Read what a threshold search of the release chose; see ``AuditFiles``.

        Raises:
            StoreError: The file records no search, or it is damaged or too large.
        """
        content = _content(path)
        try:
            search = parse_limited(content)["calibration"]
            settings = {str(name): _number(each) for name, each in search[CHOSEN].items()}
            threshold = settings.pop(CONFIDENCE_THRESHOLD)
            rate, risk, coverage = (_number(search[FIGURES][name], 1.0) for name in SEARCHED)
        except _BROKEN as error:
            raise StoreError(
                f'The file "{path}" records no threshold search.',
                hint="Choose the audit_metrics.json of a calibration in the release's form.",
            ) from error
        return ObjectiveRow(
            settings=settings,
            threshold=threshold,
            false_pass_rate=rate,
            risk=risk,
            coverage=coverage,
            objective=objective_of(rate, risk, coverage),
        )

    def write(self, path: Path, content: bytes, *, overwrite: bool) -> None:
        """Write an exported table or figure; see ``AuditFiles``."""
        write_whole(path, content, overwrite=overwrite)

    def write_settings(
        self,
        settings: CheckerSettings,
        evidence: Mapping[str, object],
        path: Path,
        *,
        overwrite: bool,
    ) -> None:
        """Write a checker configuration of the release, with the evidence for it.

        The file is JSON, which is also YAML.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """
        text = json.dumps({**_tables(settings), "evidence": evidence}, indent=2) + "\n"
        write_whole(path, text.encode(), overwrite=overwrite)


def _content(path: Path) -> bytes:
    try:
        return read_regular(path, LARGEST_BYTES)
    except OSError as error:
        raise _damaged(path) from error


def _rows(content: bytes) -> Iterator[dict[str, str]]:
    text = io.StringIO(content.decode("utf-8-sig"), newline="")
    for row in csv.DictReader(text, strict=True):
        if None in row or None in row.values():
            raise ValueError("A row has another number of cells than the header.")
        yield row


def _write_table(rows: Sequence[Sequence[object]], path: Path, *, overwrite: bool) -> None:
    write_whole(path, table_text(rows, line_end="\n").encode(), overwrite=overwrite)


def _item_of(
    sample_id: str,
    record: Mapping[str, Any],
    line: Mapping[str, Any],
    folders: tuple[Path, Path],
) -> AuditItem:
    run_folder, evaluation = folders
    method = _method_of(run_folder.resolve().name)
    is_usual = evaluation == run_folder / EVALUATION_FOLDER
    picture, overlay = line.get("image_path"), record.get("overlay_path")
    return AuditItem(
        candidate=AuditCandidate(
            id=sample_id,
            stratum=Stratum(
                method=method,
                relation=str(record["relation"]),
                verdict=Outcome(record["verdict_raw"]),
            ),
            confidence=_number(record["conf"], most=1.0),
        ),
        weight=1.0,
        fields={
            "image_path": str(run_folder / str(picture)) if picture else "",
            "overlay_path": str(evaluation / str(overlay)) if overlay else "",
            "prompt": str(line["prompt"]),
            "object_a": str(record["object_a"]),
            "object_b": str(record["object_b"]),
            "run_id": str(line["run_id"]),
            "run_path": str(run_folder if is_usual else evaluation),
        },
    )


def _method_of(folder_name: str) -> str:
    """Return the method in a folder name of the release: "smoke_sd15_boxdiff_2" gives "boxdiff"."""
    for start in BEFORE_METHOD:
        folder_name = folder_name.removeprefix(start)
    first, _, rest = folder_name.partition("_")
    is_model = first.startswith("sd") and first[2:].isdigit()
    return (rest if is_model and rest else folder_name).split("_")[0]


def _item_of_row(row: Mapping[str, str]) -> AuditItem:
    return AuditItem(
        candidate=AuditCandidate(
            id=row["sample_id"],
            stratum=Stratum(
                method=row["method"],
                relation=row["relation"],
                verdict=Outcome(row["checker_verdict_raw"]),
            ),
            confidence=_number(row["conf"], most=1.0),
        ),
        weight=_weight(row.get(WEIGHT_COLUMN)),
        fields={name: row[name] for name in ITEM_FIELDS},
    )


def _cells(item: AuditItem) -> tuple[str, ...]:
    one = item.candidate
    own = {
        "sample_id": one.id,
        "relation": one.stratum.relation,
        "checker_verdict_raw": one.stratum.verdict.value,
        "conf": format(one.confidence, PLACES),
        "method": one.stratum.method,
    }
    values = {**item.fields, **own}
    return tuple(values[name] for name in SAMPLE_COLUMNS)


def _weight(text: str | None) -> float:
    weight = _number(text) if text else 1.0
    if not weight:
        raise ValueError("A weight is 0.")
    return weight


def _finite(cell: str) -> float:
    number = float(cell)
    if not isfinite(number):
        raise ValueError(f"{number} is not finite.")
    return number


def _number(value: Any, most: float = float("inf")) -> float:
    number = float(value)
    if not (isfinite(number) and 0 <= number <= most):
        raise ValueError(f"{number} is out of range.")
    return number


def _label(row: Mapping[str, Any], rater: str) -> HumanLabel:
    return HumanLabel(
        sample_id=str(row["sample_id"]),
        verdict=Outcome(row["human_verdict"]),
        notes=str(row.get("notes") or ""),
        timestamp=str(row.get("timestamp") or ""),
        rater=str(row.get(RATER_COLUMN) or rater),
        is_final=row.get(FINAL_COLUMN) == FINAL,
    )


def _fields(label: HumanLabel) -> dict[str, str]:
    return {
        "sample_id": label.sample_id,
        "human_verdict": label.verdict.value,
        "notes": label.notes,
        "timestamp": label.timestamp,
        RATER_COLUMN: label.rater,
        FINAL_COLUMN: FINAL if label.is_final else "",
    }


def _labels_of(entry: Mapping[str, Any], rater: str) -> Iterator[HumanLabel]:
    """Yield the label of an entry of the release, or the labels of a task of Label Studio."""
    if "annotations" not in entry:
        yield _label(entry, rater)
        return
    for annotation in entry["annotations"]:
        values = {one["from_name"]: one["value"] for one in annotation["result"]}
        if annotation.get("was_cancelled") or ANSWER not in values:
            continue
        by = annotation.get("completed_by")
        yield HumanLabel(
            sample_id=str(entry["data"]["sample_id"]),
            verdict=Outcome(values[ANSWER]["choices"][0]),
            notes=" ".join(values[NOTE]["text"]) if NOTE in values else "",
            timestamp=str(annotation.get("created_at") or ""),
            rater=str(by.get("email") if isinstance(by, dict) else by or rater),
            is_final=annotation.get("ground_truth") is True,
        )


def _tasks(labels: Sequence[HumanLabel]) -> Iterator[dict[str, object]]:
    for sample_id in dict.fromkeys(label.sample_id for label in labels):
        own = [label for label in labels if label.sample_id == sample_id]
        yield {"data": {"sample_id": sample_id}, "annotations": [_annotation(one) for one in own]}


def _annotation(label: HumanLabel) -> dict[str, object]:
    choice = {"from_name": ANSWER, "to_name": "image", "type": "choices"}
    result = [{**choice, "value": {"choices": [label.verdict.value]}}]
    if label.notes:
        note = {"from_name": NOTE, "to_name": "image", "type": "textarea"}
        result.append({**note, "value": {"text": [label.notes]}})
    return {
        "result": result,
        "completed_by": label.rater,
        "created_at": label.timestamp,
        "ground_truth": label.is_final,
    }


def _tables(settings: CheckerSettings) -> dict[str, dict[str, object]]:
    tables: dict[str, dict[str, object]] = {
        OWN_TABLE: {name: getattr(settings, name) for name in FLAGS}
        | {MEASURE: settings.stability_measure.value}
    }
    for name, (table, key) in SHARES.items():
        tables.setdefault(table, {})[key] = getattr(settings, name)
    tables["confidence"]["weights"] = dict(zip(WEIGHTS, settings.weights, strict=True))
    tables["stability"]["perturbations"] = [
        {"type": each.kind.value, AMOUNT_KEYS[each.kind]: each.amount}
        for each in settings.perturbations
    ]
    return tables


AMOUNT_KEYS = dict(zip(PerturbationKind, AMOUNTS, strict=True))


def _damaged(path: Path) -> StoreError:
    return StoreError(
        f'The audit file "{path.name}" is damaged, too large, or cannot be read.',
        hint="Choose a sample or labels of SpatialBench-UC, or a JSON export of Label Studio.",
    )
