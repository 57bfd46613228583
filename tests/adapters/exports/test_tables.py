import csv
import io
import json
from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.requirements import RequirementKind
from spatialstudio.domain.verdict import MentionVerdict, Outcome


@pytest.fixture
def read_twice(picture, tmp_path):
    """The sample run with a second reading of each guided step."""
    record, events = RunFiles().load(picture)

    def with_second(event):
        if not isinstance(event, StepEvent) or not event.is_guided or event.attention is None:
            return event
        maps = {name: 1 - weights for name, weights in event.attention.maps.items()}
        after = AttentionSnapshot(maps=maps, layers=event.attention.layers)
        return replace(event, attention_after=after, pos_after={"r1": 1 - event.pos["r1"] / 2})

    events = tuple(map(with_second, events))
    steps = [event for event in events if isinstance(event, StepEvent)]
    trace = tuple(
        replace(summary, pos_after=event.pos_after)
        for summary, event in zip(record.trace, steps, strict=True)
    )
    return RunFiles().save(replace(record, trace=trace), events, tmp_path / "twice")


def test_both_readings_of_a_guided_step_are_exported_apart(exports, read_twice, tmp_path):
    run = exports.read(read_twice)
    first = run.steps[0]
    assert first.is_guided
    exports.export([read_twice], EXPORT_KINDS["arrays"], tmp_path / "twice.npz")
    arrays = np.load(tmp_path / "twice.npz")
    assert arrays["guided_steps"].tolist() == [e.step for e in run.steps if e.is_guided]
    for name, reading in (("before", first.attention), ("after", first.attention_after)):
        assert np.array_equal(arrays[f"map_{name}/m1"][0], reading.maps["m1"])
    assert arrays["pos_after/r1"][0] == pytest.approx(first.pos_after["r1"])
    exports.export([read_twice], EXPORT_KINDS["table"], tmp_path / "twice.csv")
    (row,) = csv.DictReader(io.StringIO((tmp_path / "twice.csv").read_text(encoding="utf-8")))
    assert float(row["pos_first_before_updates"]) == pytest.approx(first.pos["r1"])
    assert float(row["pos_first_after_updates"]) == pytest.approx(first.pos_after["r1"])


def test_a_run_without_a_second_reading_has_no_number_for_it(exports, picture, tmp_path):
    (guided, *_) = (e for e in exports.read(picture).steps if e.is_guided)
    exports.export([picture], EXPORT_KINDS["arrays"], tmp_path / "once.npz")
    arrays = np.load(tmp_path / "once.npz")
    place = arrays["captured_steps"].tolist().index(guided.step)
    assert np.isnan(arrays["map_after/m1"][place]).all()


def test_counts_and_colours_are_rows_of_the_table_and_the_report(exports, picture, tmp_path):
    record, events = RunFiles().load(picture)
    mention = record.request.scene.mentions[0]
    verdict = MentionVerdict(
        mention_id=mention.id,
        kind=RequirementKind.COUNT,
        words="three",
        outcome=Outcome.FAIL,
        confidence=0.8,
        count=1,
    )
    judged = replace(record.evaluation, mention_verdicts=(verdict,))
    path = RunFiles().save(replace(record, evaluation=judged), events, tmp_path / "counted")
    exports.export([path], EXPORT_KINDS["table"], tmp_path / "counts.csv")
    text = (tmp_path / "counts.csv").read_text(encoding="utf-8")
    row = list(csv.DictReader(io.StringIO(text)))[-1]
    assert (row["relation"], row["subject"], row["object"]) == ("count", mention.head, "three")
    assert row["outcome"] == "FAIL"
    exports.export([path], EXPORT_KINDS["report"], tmp_path / "counts.html")
    page = (tmp_path / "counts.html").read_text(encoding="utf-8")
    assert "the prompt requires three" in page


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_metrics_of_the_whole_picture_follow(exports, picture, tmp_path, ending):
    record, events = RunFiles().load(picture)
    (verdict,) = record.verdicts
    passed = replace(verdict, outcome=Outcome.PASS, reason=None)
    judged = replace(record.evaluation, verdicts=(passed,))
    path = RunFiles().save(replace(record, evaluation=judged), events, tmp_path / "judged")
    target = tmp_path / f"runs.{ending}"
    exports.export([path, picture], EXPORT_KINDS["table"], target)
    text = target.read_text(encoding="utf-8")
    is_csv = ending == "csv"
    rows = list(csv.DictReader(io.StringIO(text))) if is_csv else map(json.loads, text.splitlines())
    decided, undecided = rows
    assert float(decided["metric_checker"]) == 1
    assert not undecided.get("metric_checker")
    assert decided["metric_visor"] == undecided["metric_visor"] != ""
