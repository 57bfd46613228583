"""Select the checker records that the tests replay.

Takes the release's ``run_promptonly`` folder and writes ``spatialbench_records.jsonl`` beside this
script: of both evaluations, the first few records of every relation, verdict and kind of reason,
cut to what the checker needs. Numbers are kept as they are.

    python tests/golden/select_spatialbench_records.py RUN_PROMPTONLY_FOLDER
"""

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

PER_STRATUM = 3
EVALUATIONS = ("eval", "eval_precal")


def main(run_folder: Path) -> None:
    target = Path(__file__).with_name("spatialbench_records.jsonl")
    records = [
        json.dumps(compact(record, evaluation), separators=(",", ":"))
        for evaluation in EVALUATIONS
        for record in selected(run_folder / evaluation / "per_sample.jsonl")
    ]
    target.write_text("\n".join(records) + "\n", encoding="utf-8")


def selected(path: Path) -> list[dict[str, Any]]:
    taken: Counter[tuple[str, ...]] = Counter()
    chosen = []
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        stratum = stratum_of(record)
        taken[stratum] += 1
        if taken[stratum] <= PER_STRATUM:
            chosen.append(record)
    return chosen


def stratum_of(record: dict[str, Any]) -> tuple[str, ...]:
    reason = (record["verdict_reason"] or "").partition(":")[0].partition("(")[0]
    return record["relation"], record["verdict_raw"], reason


def compact(record: dict[str, Any], evaluation: str) -> dict[str, Any]:
    return {
        "evaluation": evaluation,
        "sample": record["sample_id"],
        "relation": record["relation"],
        "objects": [record["object_a"], record["object_b"]],
        "verdict": record["verdict_raw"],
        "reason": record["verdict_reason"],
        "confidence": record["conf"],
        "components": record["conf_components"],
        "delta": record["geometry"]["delta"],
        "iou": record["geometry"]["iou_ab"],
        "detections": detections_of(record, "primary"),
        "second": detections_of(record, "secondary"),
    }


def detections_of(record: dict[str, Any], detector: str) -> list[list[Any]] | None:
    if detector not in record["detectors"]:
        return None
    return [
        [found["label"], found["score"], *found["box_xyxy"]]
        for found in record["detectors"][detector]["detections"]
    ]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
