"""Scores of pictures from runs, results of evaluate, and benchmark folders."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.evaluate.metric_table import compare_pictures, disagreements
from spatialstudio.application.evaluate.metrics import all_metrics, choose_metrics
from spatialstudio.application.questions.question_report import question_scores
from spatialstudio.domain.errors import SettingsError, StoreError
from tests.application.questions.answerers import FakeAnswerer, always_right
from tests.application.questions.folders import asked_folder
from tests.science.seen_things import masked
from tests.ui.judged_runs import CAR, DOG, judged_run

SAMPLE = Path(__file__).parents[2] / "golden" / "run_of_schema_1"
STORE = RunFiles()


def row(outcome, visor, score):
    return {
        "prompt": "a dog to the left of a car",
        "error": None,
        "scene_graph_score": score,
        "verdicts": [{"outcome": outcome, "visor": visor}],
    }


ROWS = (row("PASS", True, 1.0), row("FAIL", False, 0.7), row("UNDECIDABLE", True, 0.2))


@pytest.fixture
def benchmark(tmp_path):
    """A benchmark folder of three judged items, one of which names a picture outside of it."""
    for folder in ("judged", "items"):
        (tmp_path / folder).mkdir()
    pictures = ("runs/0.png", "runs/1.png", "../../etc/passwd")
    for number, (each, name) in enumerate(zip(ROWS, pictures, strict=True)):
        judged = tmp_path / "judged" / f"{number:032x}.abc.json"
        judged.write_text(json.dumps({"records": [], "row": each}))
        (tmp_path / "items" / f"{number:032x}.json").write_text(json.dumps({"picture": name}))
    return tmp_path


def columns(table):
    return {each.id: each.pictures for each in table.columns}


def test_a_benchmark_is_read_from_its_judged_items(benchmark):
    table = compare_pictures([benchmark], STORE, all_metrics())
    assert columns(table) == {"checker": 2, "scene_graph": 3, "visor": 3}
    first = table.disagreements[0]
    assert first.picture.scores == {"scene_graph": 0.2, "visor": 1.0}
    assert first.spread == 0.75  # lowest of the scene graph; two of three tie at the top of VISOR
    assert len(disagreements(table, ("checker", "visor"))) == 2


def test_a_picture_outside_the_benchmark_is_not_linked(benchmark):
    table = compare_pictures([benchmark], STORE, all_metrics())
    paths = {each.picture.path for each in table.disagreements}
    assert paths == {benchmark / "runs/0.png", benchmark / "runs/1.png", None}


def test_results_of_evaluate_are_read(tmp_path):
    lines = [{**each, "picture": f"/pictures/{n}.png"} for n, each in enumerate(ROWS)]
    lines.append({"picture": "/pictures/3.png", "prompt": "", "error": "No such file."})
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    for path in (tmp_path, file):
        table = compare_pictures([path], STORE, all_metrics())
        assert columns(table)["scene_graph"] == 3
        assert table.notes == ("1 of 4 pictures are not judged.",)


def test_runs_are_scored_from_their_stored_perception(tmp_path):
    record, events = STORE.load(SAMPLE)
    for x in (20, 50, 80, 80):
        judged = judged_run(DOG, CAR, masks=(masked("m1", x, 50), masked("m2", 50, 50)))
        prompt = replace(judged.scene.prompt, text=f"{judged.scene.prompt.text}, {x}")
        request = replace(record.request, scene=replace(judged.scene, prompt=prompt))
        STORE.save(replace(record, request=request, evaluation=judged.evaluation), events, tmp_path)
    table = compare_pictures([tmp_path], STORE, choose_metrics(["pse", "scene_graph"]))
    assert columns(table) == {"pse": 3, "scene_graph": 3}
    assert table.notes == (
        "Not counted: 1 run repeats the prompt, seed and settings of another.",
        "Some intervals are over 3 prompts: below 10 they are too narrow.",
    )
    assert all(each.picture.path.is_file() for each in table.disagreements)


def test_repeated_runs_are_no_comparison(tmp_path):
    record, events = STORE.load(SAMPLE)
    for _ in range(3):
        STORE.save(record, events, tmp_path)
    with pytest.raises(SettingsError, match=r"to compare: 1\. Not counted: 2 runs repeat"):
        compare_pictures([tmp_path], STORE, all_metrics())


def test_too_few_pictures_or_metrics_are_an_error(benchmark):
    with pytest.raises(SettingsError, match="Fewer than two metrics"):
        compare_pictures([benchmark], STORE, choose_metrics(["pse"]))
    with pytest.raises(SettingsError, match=r"^Too few judged pictures to compare: 0\."):
        compare_pictures([], STORE, all_metrics())


@pytest.mark.parametrize(
    "content",
    ["{", '{"row": {"verdicts": [3]}}', "[" * 2000, '{"row": {"verdicts": [{"visor": 1}]}}' * 2],
    ids=["cut", "not an object", "deep", "two values"],
)
def test_a_damaged_file_is_an_error(benchmark, content):
    next((benchmark / "judged").iterdir()).write_text(content)
    with pytest.raises(StoreError):
        compare_pictures([benchmark], STORE, all_metrics())


def test_right_answers_to_questions_are_joined_by_the_file_of_the_picture(tmp_path):
    folder = asked_folder(tmp_path, FakeAnswerer(always_right), count=3)
    pictures = sorted((tmp_path / "pictures").iterdir())
    lines = [
        {**each, "picture": str(path), "run": f"/library/{path.name}"}
        for each, path in zip(ROWS, pictures, strict=True)
    ]
    results = tmp_path / "results.jsonl"
    results.write_text("".join(json.dumps(line) + "\n" for line in lines))
    table = compare_pictures([results], STORE, all_metrics(), question_scores([folder]))
    assert columns(table)["spatialgeneval"] == 3
    assert len(table.disagreements) == 3
    assert {each.picture.path.parent.name for each in table.disagreements} == {"library"}


def test_answers_about_other_pictures_are_further_pictures(benchmark, tmp_path_factory):
    folder = asked_folder(tmp_path_factory.mktemp("asked"), FakeAnswerer(always_right), count=2)
    table = compare_pictures([benchmark], STORE, all_metrics(), question_scores([folder]))
    assert columns(table)["spatialgeneval"] == 2
    assert np.isnan(table.pairs[-1].spearman.value)  # no picture has both
