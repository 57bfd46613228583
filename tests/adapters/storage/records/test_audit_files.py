import json
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.records.audit_files import SpatialBenchAudits
from spatialstudio.adapters.storage.records.spatialbench_uc import read_checker_config
from spatialstudio.domain.audit import HumanLabel, LabelFormat
from spatialstudio.domain.errors import StoreError, TargetExists
from spatialstudio.domain.verdict import Outcome

GOLDEN = Path(__file__).parents[3] / "golden"
AUDIT = GOLDEN / "spatialbench_audit"
FILES = SpatialBenchAudits()
LABELS = (
    HumanLabel(
        sample_id="one", verdict=Outcome.PASS, notes="a, b\nc", timestamp="2026-01-01", rater="Ada"
    ),
    HumanLabel(sample_id="one", verdict=Outcome.FAIL, notes="", timestamp="", rater="Bo"),
)


def test_the_sample_of_the_release_is_written_as_it_was_read(tmp_path):
    items = FILES.read_sample(AUDIT / "sample.csv")
    FILES.write_sample(items, tmp_path / "sample.csv", overwrite=False)
    written = (tmp_path / "sample.csv").read_text(encoding="utf-8").splitlines()
    published = (AUDIT / "sample.csv").read_text(encoding="utf-8").splitlines()
    assert [line.rsplit(",", 1)[0] for line in written] == published
    assert FILES.read_sample(tmp_path / "sample.csv") == items


def test_weights_are_stored_exactly(tmp_path):
    first, *_ = FILES.read_sample(AUDIT / "sample.csv")
    item = type(first)(candidate=first.candidate, weight=10 / 3, fields=first.fields)
    FILES.write_sample([item], tmp_path / "sample.csv", overwrite=False)
    assert FILES.read_sample(tmp_path / "sample.csv")[0].weight == 10 / 3


def test_both_label_files_of_the_release_say_the_same():
    by_format = [FILES.read_labels(AUDIT / name) for name in ("labels.csv", "labels.json")]
    assert by_format[0] == by_format[1]
    assert len(by_format[0]) == 66
    assert {label.rater for label in by_format[0]} == {"labels"}


@pytest.mark.parametrize("label_format", list(LabelFormat))
def test_labels_survive_each_format(label_format, tmp_path):
    FILES.write_labels(LABELS, tmp_path / "labels", label_format, overwrite=False)
    assert FILES.read_labels(tmp_path / "labels") == LABELS


def test_a_task_of_label_studio_yields_a_label_per_annotation(tmp_path):
    answer = {"from_name": "verdict", "value": {"choices": ["FAIL"]}}
    task = {
        "data": {"sample_id": "one"},
        "annotations": [
            {"result": [answer], "completed_by": {"email": "ada"}, "created_at": "2026"},
            {"result": [], "completed_by": 2},
            {"result": [answer], "was_cancelled": True},
        ],
    }
    (tmp_path / "export.json").write_text(json.dumps([task]), encoding="utf-8")
    (label,) = FILES.read_labels(tmp_path / "export.json")
    assert (label.sample_id, label.verdict, label.rater) == ("one", Outcome.FAIL, "ada")


def test_the_population_of_a_run_has_its_recorded_verdicts():
    items = FILES.read_population(GOLDEN / "spatialbench_run" / "eval_precal")
    lines = (GOLDEN / "spatialbench_run" / "eval_precal" / "per_sample.jsonl").read_text()
    records = [json.loads(line) for line in lines.splitlines()]
    assert [
        (one.candidate.id, one.candidate.stratum.verdict.value, one.candidate.confidence)
        for one in items
    ] == [(each["sample_id"], each["verdict_raw"], each["conf"]) for each in records]


def test_an_existing_file_is_kept(tmp_path):
    (tmp_path / "labels.csv").write_text("mine")
    with pytest.raises(TargetExists):
        FILES.write_labels(LABELS, tmp_path / "labels.csv", LabelFormat.CSV, overwrite=False)
    assert (tmp_path / "labels.csv").read_text() == "mine"


@pytest.mark.parametrize(
    "content",
    [
        b"[1]",
        b'[{"sample_id": "one", "human_verdict": "MAYBE"}]',
        b'[{"annotations": [{"result": [{"from_name": "verdict", "value": 3}]}], "data": {}}]',
        b"[" * 100_000,
        b'[{"sample_id": 1e999}]',
        b"sample_id,human_verdict\none\n",
        b"sample_id,human_verdict\none,PASS,3,4\n",
        b'sample_id,human_verdict\n"one',
        b"\xff\xfe",
        b"other\n1\n",
    ],
    ids=[
        *("no object", "another answer", "a wrong value", "nested", "infinite"),
        *("short row", "long row", "open quote", "no text", "other columns"),
    ],
)
def test_a_damaged_label_file_is_refused(content, tmp_path):
    (tmp_path / "labels").write_bytes(content)
    with pytest.raises(StoreError, match="labels"):
        FILES.read_labels(tmp_path / "labels")


@pytest.mark.parametrize("cell", ["nan", "inf", "-1", "2", "x", ""])
def test_a_sample_with_a_confidence_out_of_range_is_refused(cell, tmp_path):
    text = (AUDIT / "sample.csv").read_text(encoding="utf-8")
    (tmp_path / "sample.csv").write_text(text.replace(",0.0010,", f",{cell},", 1))
    with pytest.raises(StoreError, match=r"sample\.csv"):
        FILES.read_sample(tmp_path / "sample.csv")


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: None])
def test_what_is_no_file_is_refused(make, tmp_path):
    make(tmp_path / "labels.csv")
    with pytest.raises(StoreError):
        FILES.read_labels(tmp_path / "labels.csv")


@pytest.mark.parametrize("evaluation", ["eval", "eval_precal"])
def test_written_settings_read_the_same(evaluation, tmp_path):
    settings = read_checker_config(GOLDEN / "spatialbench_run" / evaluation / "checker_config.yaml")
    FILES.write_settings(settings, {"J": 0.4}, tmp_path / "checker.yaml", overwrite=False)
    assert read_checker_config(tmp_path / "checker.yaml") == settings
