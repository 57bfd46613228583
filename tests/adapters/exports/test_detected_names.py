"""Exports name the detected classes, and the requirements of the prompt that were not checked."""

import csv
import io
from dataclasses import replace

from spatialstudio.adapters.exports.annotated_picture import annotated_picture
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.registry import EXPORT_KINDS
from tests.adapters.exports.conftest import SAMPLE


def test_exports_name_detected_classes_and_unchecked_requirements(exports, tmp_path):
    record, events = RunFiles().load(SAMPLE)
    scene = record.request.scene
    dog, car = scene.mentions
    dog = replace(dog, phrase="three dogs", is_plural=True)
    car = replace(car, phrase="blue car", attributes=("blue",))
    request = replace(record.request, scene=replace(scene, mentions=(dog, car)))
    counted = RunFiles().save(replace(record, request=request), events, tmp_path / "library")

    def export(kind, ending):
        (path,) = exports.export([counted], kind, tmp_path / f"out.{ending}")
        return path.read_text(encoding="utf-8")

    (row,) = csv.DictReader(io.StringIO(export(EXPORT_KINDS["table"], "csv")))
    assert row["not_checked"] == "count (three); colour (blue)"
    assert "Count (three) and colour (blue) were not checked." in export(
        EXPORT_KINDS["report"], "html"
    )
    run = exports.read(counted)
    texts = [getattr(each, "text", "") for each in annotated_picture(run, exports.look()).items]
    seen = run.record.evaluation.perception.detections_of(car.id)[0]
    assert f"car {seen.score:.2f}" in texts
