"""Writer of verdicts and metrics in the SpatialBench-UC schema: JSON lines, JSON and CSV."""

import json
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from spatialstudio.adapters.durable_files import written_together
from spatialstudio.domain.benchmark import (
    JudgedSample,
    OutcomeCounts,
    PairCounts,
    RecordedRun,
    RunReport,
)
from spatialstudio.domain.foreign_text import table_text
from spatialstudio.domain.scene import RelationType
from spatialstudio.domain.verdict import (
    AbstentionReason,
    CheckerSettings,
    ConfidenceComponents,
    Detection,
    Verdict,
)

ERROR_VERDICT = "ERROR"
ERROR_REASON = "error: no usable record of this picture"
NO_CONFIDENCE = ConfidenceComponents(detection=0, geometry=0, stability=0, agreement=0)
PLACES = ".4f"

Row = Mapping[str, object]
NO_INPUTS: Row = {}

REASON_TEXTS: Mapping[AbstentionReason, Callable[[Verdict, CheckerSettings], str]] = {
    AbstentionReason.MISSING_OBJECT: lambda verdict, _: f"missing: {', '.join(verdict.about)}",
    AbstentionReason.AMBIGUOUS_OBJECT: lambda verdict, _: f"ambiguous: multiple {verdict.about[0]}",
    AbstentionReason.HIGH_OVERLAP: lambda verdict, settings: (
        f"high_overlap: IoU={_overlap(verdict):.2f} > {settings.max_overlap_iou}"
    ),
    AbstentionReason.NEAR_BOUNDARY: lambda verdict, settings: (
        f"near_boundary (|delta|={abs(_delta(verdict) or 0.0):.3f} <= margin={settings.margin})"
    ),
    AbstentionReason.UNSTABLE: lambda verdict, settings: (
        f"unstable: stability={verdict.components.stability:.2f} < {settings.min_stability}"
    ),
    AbstentionReason.DETECTORS_DISAGREE: lambda verdict, settings: (
        f"detectors_disagree: agreement={verdict.components.agreement:.2f}"
        f" < {settings.min_agreement}"
    ),
    AbstentionReason.NO_DEPTH: lambda *_: "no_depth",
    AbstentionReason.LOW_CONFIDENCE: lambda verdict, settings: (
        f"low_confidence: conf={verdict.confidence:.2f} < {settings.min_confidence}"
    ),
}
"""Reason texts of the release; the last three are ours."""


def write_report(
    run: RecordedRun,
    judged: Sequence[JudgedSample],
    report: RunReport,
    folder: Path,
    *,
    overwrite: bool = False,
) -> None:
    """Write all files of a judged run, or none.

    Raises:
        TargetExists: A file already exists and ``overwrite`` is False.
        StoreError: The folder cannot be written or is full.
    """
    records = [record_of(one, report.settings) for one in judged]
    files = report_files(run.id, records, report, in_full=run.counts_full_reasons)
    with written_together(folder, overwrite=overwrite) as write:
        for name, text in files.items():
            write(name, text.encode())


def report_files(
    run_id: str,
    records: Sequence[Mapping[str, Any]],
    report: RunReport,
    inputs: Row = NO_INPUTS,
    *,
    in_full: bool = False,
) -> Mapping[str, str]:
    """Return the files of an evaluation by name.

    Args:
        run_id: Name of the run.
        records: A record per picture.
        report: The figures.
        inputs: Fields of the provenance about what the run was made from.
        in_full: Whether reasons are counted by their full text, as before the calibration.
    """
    now = datetime.now(UTC).isoformat()
    return {
        "per_sample.jsonl": "".join(json.dumps(record) + "\n" for record in records),
        "metrics.json": _json(_metrics(records, report, now, in_full=in_full)),
        "provenance.json": _json({**_provenance(report, now), **inputs}),
        **table_files({run_id: report}),
    }


def table_files(reports: Mapping[str, RunReport]) -> Mapping[str, str]:
    """Return the tables of the release by file name, with a row per run.

    Args:
        reports: At least one report, by the name of its run.
    """
    runs = reports.items()
    kinds = sorted({kind.id: kind for _, each in runs for kind in each.by_relation}.items())
    return {
        "main_results.csv": _csv([_main_results(*run) for run in runs]),
        "prompt_metrics.csv": _csv([_prompt_metrics(*run) for run in runs]),
        "by_relation.csv": _csv(
            [_by_relation(name, each.by_relation, dict(kinds).values()) for name, each in runs]
        ),
        "counterfactual.csv": _csv([_counterfactual(name, each.pairs) for name, each in runs]),
        "counterfactual_by_seed.csv": _csv(
            [_counterfactual(name, each.pairs_by_seed) for name, each in runs]
        ),
    }


def reason_text(verdict: Verdict, settings: CheckerSettings) -> str | None:
    """Return a verdict's reason in the release's wording; None if it was decided."""
    return REASON_TEXTS[verdict.reason](verdict, settings) if verdict.reason else None


def record_of(one: JudgedSample, settings: CheckerSettings) -> dict[str, Any]:
    """Return the record of a picture; fields that judging does not change are kept."""
    item = one.sample.item
    verdict = one.verdict
    components = verdict.components if verdict else NO_CONFIDENCE
    own = {
        "sample_id": one.sample.id,
        "prompt_id": item.id,
        "relation": item.relation_type.id,
        "object_a": item.subject,
        "object_b": item.object,
        "verdict_raw": verdict.outcome.value if verdict else ERROR_VERDICT,
        "verdict_reason": reason_text(verdict, settings) if verdict else ERROR_REASON,
        "conf": one.confidence,
        "conf_components": {name: float(part) for name, part in asdict(components).items()},
        "detectors": one.sample.untouched.get("detectors"),
        "selected": _selected(one.chosen),
        "geometry": {
            "delta": _delta(verdict),
            "margin": settings.margin,
            "iou_ab": _overlap(verdict),
        },
        "overlay_path": one.sample.untouched.get("overlay_path"),
    }
    return {**one.sample.untouched, **own}


def _selected(chosen: Sequence[Detection | None]) -> dict[str, object]:
    found = [detection for detection in chosen if detection is not None]
    if not found or len(found) < len(chosen):
        return dict.fromkeys(("box_a_xyxy", "box_b_xyxy", "score_a", "score_b"))
    subject, other = found
    return {
        "box_a_xyxy": _edges(subject),
        "box_b_xyxy": _edges(other),
        "score_a": subject.score,
        "score_b": other.score,
    }


def _edges(detection: Detection) -> list[float]:
    box = detection.box
    return [box.left, box.top, box.right, box.bottom]


def _delta(verdict: Verdict | None) -> float | None:
    return verdict.measurement.delta if verdict and verdict.measurement else None


def _overlap(verdict: Verdict | None) -> float | None:
    return verdict.measurement.overlap if verdict and verdict.measurement else None


def _metrics(
    records: Sequence[Mapping[str, Any]], report: RunReport, now: str, *, in_full: bool
) -> Row:
    undecidable = [record for record in records if record["verdict_raw"] != ERROR_VERDICT]
    reasons = [record["verdict_reason"] for record in undecidable if record["verdict_reason"]]
    counts = report.all
    return {
        "total_samples": counts.total,
        **_rates(counts),
        "undecidable_rate": counts.undecidable / counts.total,
        "mean_confidence": report.mean_confidence,
        "by_relation": {
            kind.id: {"count": own.total, **_rates(own)} for kind, own in report.by_relation.items()
        },
        "undecidable_reasons": dict(
            Counter(_bucket(reason, in_full=in_full) for reason in reasons)
        ),
        "timestamp_utc": now,
        "manifest": "manifest.jsonl",
        "config": f"{report.settings.preset} preset",
        "code_version": _versions(),
    }


def _rates(counts: OutcomeCounts) -> dict[str, object]:
    errors = {"error_count": counts.errors} if counts.errors else {}
    return {
        "pass_count": counts.passes,
        "fail_count": counts.fails,
        "undecidable_count": counts.undecidable,
        **errors,
        "coverage": counts.coverage,
        "pass_rate_overall": counts.pass_rate_all,
        "pass_rate_conditional": counts.pass_rate_decided or 0.0,
    }


def _bucket(reason: str, *, in_full: bool) -> str:
    kind = reason.partition(":")[0]
    return kind if in_full else kind.partition("(")[0].strip()


def _provenance(report: RunReport, now: str) -> Row:
    return {
        "timestamp_utc": now,
        "python_version": platform.python_version(),
        "platform": platform.platform(),
        "device_info": {"machine": platform.machine(), "processor": platform.processor()},
        "git_commit": None,
        "checker_preset": report.settings.preset,
        "library_versions": _versions(),
    }


def _versions() -> dict[str, str]:
    try:
        return {"spatialstudio": metadata.version("spatialstudio")}
    except metadata.PackageNotFoundError:
        return {}


def _main_results(run_id: str, report: RunReport) -> Row:
    return {
        "run": run_id,
        "samples": report.all.total,
        "pass_rate": report.all.pass_rate_all,
        "coverage": report.all.coverage,
        "pass_rate_cond": report.all.pass_rate_decided or 0.0,
        "prompt_pass_rate": report.best_of.pass_rate_all,
        "mean_conf": report.mean_confidence,
    }


def _prompt_metrics(run_id: str, report: RunReport) -> Row:
    return {
        "run": run_id,
        "total_prompts": report.best_of.total,
        "best_of_k_pass_rate": report.best_of.pass_rate_all,
        "all_of_k_pass_rate": report.all_of.pass_rate_all,
    }


def _by_relation(
    run_id: str,
    by_relation: Mapping[RelationType, OutcomeCounts],
    kinds: Iterable[RelationType],
) -> Row:
    known = {kind: counts.pass_rate_all for kind, counts in by_relation.items()}
    return {"run": run_id, **{f"{kind.id}_pass_rate": known.get(kind) for kind in kinds}}


def _counterfactual(run_id: str, counts: PairCounts) -> Row:
    pairs = counts.pairs or 1  # NOTE: without pairs every rate is 0
    return {
        "run": run_id,
        "pairs": counts.pairs,
        "both_pass_rate": counts.both_pass / pairs,
        "one_sided_rate": counts.one_sided / pairs,
        "both_fail_rate": counts.both_fail / pairs,
        "undecidable_rate": counts.undecidable / pairs,
        "undecidable_count": counts.undecidable,
    }


def _json(value: Row) -> str:
    return json.dumps(value, indent=2) + "\n"


def _csv(rows: Sequence[Row]) -> str:
    cells = [tuple(row.values()) for row in rows]
    return table_text([tuple(rows[0]), *cells], line_end="\n", number_format=PLACES)
