"""Replays records of SpatialBench-UC; their origin and licence stand in tests/golden/README.md."""

import json
from pathlib import Path

import pytest

from spatialstudio.domain.scene import Relation, relation_types
from spatialstudio.domain.verdict import (
    AbstentionReason,
    Box,
    CheckerSettings,
    Detection,
    Looks,
    Perception,
)
from spatialstudio.science.checker.decide import decide_relation

GOLDEN = Path(__file__).parents[1] / "golden" / "spatialbench_records.jsonl"
RECORDS = [
    pytest.param(record, id=f"{record['evaluation']} {record['sample']}")
    for record in map(json.loads, GOLDEN.read_text(encoding="utf-8").splitlines())
]
SETTINGS = {
    "eval": CheckerSettings(),
    "eval_precal": CheckerSettings(margin=0.05, detection_score=0.3),
}
REASONS = {
    AbstentionReason.MISSING_OBJECT: lambda verdict, _: f"missing: {', '.join(verdict.about)}",
    AbstentionReason.AMBIGUOUS_OBJECT: lambda verdict, _: f"ambiguous: multiple {verdict.about[0]}",
    AbstentionReason.HIGH_OVERLAP: lambda verdict, settings: (
        f"high_overlap: IoU={verdict.measurement.overlap:.2f} > {settings.max_overlap_iou}"
    ),
    AbstentionReason.NEAR_BOUNDARY: lambda verdict, settings: (
        f"near_boundary (|delta|={abs(verdict.measurement.delta):.3f} <= margin={settings.margin})"
    ),
    None: lambda *_: None,
}


def perception(detections):
    """What a detector saw in a picture of the release."""
    found = tuple(
        Detection(
            mention_id=label,
            label=label,
            score=score,
            box=Box(left=left, top=top, right=right, bottom=bottom),
            detector_id="recorded",
        )
        for label, score, left, top, right, bottom in detections
    )
    return Perception(image_sha256="", height=512, width=512, detections=found, masks=())


def replayed(record):
    """Judge the recorded boxes of both detectors, given the recorded stability."""
    subject, other = record["objects"]
    second = record["second"]
    return decide_relation(
        Relation(id="r", type=relation_types[record["relation"]], subject=subject, object=other),
        perception(record["detections"]),
        SETTINGS[record["evaluation"]],
        Looks(
            second=None if second is None else perception(second),
            stability=record["components"]["stability"],
        ),
    )


@pytest.mark.parametrize("record", RECORDS)
def test_the_recorded_verdict_and_reason_are_reproduced(record):
    verdict = replayed(record)
    reason = REASONS[verdict.reason](verdict, SETTINGS[record["evaluation"]])
    assert (verdict.outcome.value, reason) == (record["verdict"], record["reason"])


@pytest.mark.parametrize("record", RECORDS)
def test_the_recorded_confidence_is_reproduced(record):
    verdict = replayed(record)
    components = record["components"]
    assert verdict.confidence == pytest.approx(record["confidence"], abs=1e-9)
    assert verdict.components.detection == pytest.approx(components["detection"], abs=1e-9)
    assert verdict.components.geometry == pytest.approx(components["geometry"], abs=1e-9)
    assert verdict.components.agreement == components["agreement"]


MEASURED = [record for record in RECORDS if record.values[0]["delta"] is not None]


@pytest.mark.parametrize("record", MEASURED)
def test_the_recorded_geometry_is_reproduced(record):
    measurement = replayed(record).measurement
    assert measurement.delta == pytest.approx(record["delta"], abs=1e-12)
    assert measurement.overlap == pytest.approx(record["iou"], abs=1e-12)
