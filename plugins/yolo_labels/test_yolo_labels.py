"""Tests of the YOLO labels."""

from types import SimpleNamespace

import pytest
from yolo_labels_plugin import write

from spatialstudio.plugin_api import (
    Box,
    Detection,
    Evaluation,
    ExportError,
    MentionId,
    ObjectMention,
    Perception,
    Prompt,
    SceneGraph,
    TextSpan,
)


def mention(name, head):
    span = TextSpan(start=0, stop=1)
    return ObjectMention(id=MentionId(name), phrase=head, head=head, span=span)


def found(name, left, top, score=0.9):
    box = Box(left=left, top=top, right=left + 20, bottom=top + 10)
    return Detection(
        mention_id=MentionId(name), label=name, score=score, box=box, detector_id="test"
    )


def run_of(evaluation):
    scene = SceneGraph(
        prompt=Prompt(text="two dogs and a car"),
        mentions=(mention("m1", "dog"), mention("m2", "car"), mention("m3", "dog")),
        relations=(),
        extractor_id="test",
    )
    request = SimpleNamespace(scene=scene)
    return SimpleNamespace(record=SimpleNamespace(request=request, evaluation=evaluation))


def test_each_counted_detection_is_a_line():
    detections = found("m1", 0, 0), found("m2", 80, 40), found("m3", 40, 20, score=0.1)
    seen = Perception(
        image_sha256="", height=50, width=100, detections=detections, masks=(), cut=0.5
    )
    file = write([run_of(Evaluation(perception=seen, verdicts=()))], None, "txt", None)
    assert file.content.decode().splitlines() == [
        "0 0.100000 0.100000 0.200000 0.200000",
        "1 0.900000 0.900000 0.200000 0.200000",
    ]


def test_a_run_that_is_not_evaluated_has_no_labels():
    with pytest.raises(ExportError):
        write([run_of(None)], None, "txt", None)
