import csv
import io
import json

import pytest

from spatialstudio.application.gallery.study import read_study_run
from spatialstudio.cli.studies import study_lines
from spatialstudio.science.statistics.study import StudyRun, make_study
from tests.cli.test_stored_runs import PROMPT


@pytest.fixture
def folder(terminal, tmp_path):
    """Two seeds, with and without guidance."""
    for seed in (0, 1):
        for strength in (0, 5):
            words = ("--seed", seed, "--strength", strength, "--guidance", "psg")
            assert terminal("generate", PROMPT, *words, "--out", tmp_path / "study").code == 0
    return tmp_path / "study"


def test_a_study_lists_groups_with_intervals_and_differences(terminal, folder):
    done = terminal("study", folder, "--numbers", "pos,pse,passes")
    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0] == "4 runs; settings that differ: seed, strength"
    assert lines[2].split() == ["strength", "runs", "pos", "pse", "passes"]
    assert lines[3].split()[:2] == ["0", "2"]
    assert "(no interval: equal values) (n=2)" in done.out
    assert "pairs of the same seed" in done.out
    assert "passes: McNemar p" in done.out


def test_a_study_as_json_has_every_run_and_group(terminal, folder):
    answer = json.loads(terminal("study", folder, "--json").out)
    assert answer["reference"] == {"strength": 0.0}
    assert [group["settings"]["strength"] for group in answer["groups"]] == [0.0, 5.0]
    assert answer["groups"][0]["figures"]["pse"]["n"] == 2
    difference = answer["groups"][1]["differences"]["pse"]
    assert (difference["n"], difference["missing"]) == (2, 0)
    shown = json.loads(terminal("runs", "show", *sorted(folder.glob("*.png")), "--json").out)
    assert {run["settings"]["seed"] for run in answer["runs"]} == {
        run["seed"] for run in shown["runs"]
    }


def test_metrics_of_judged_runs_are_numbers_of_a_study(terminal, folder):
    text = terminal("study", folder, "--csv", "--each-run", "--numbers", "visor,geneval").out
    rows = list(csv.DictReader(io.StringIO(text)))
    compared = json.loads(terminal("metrics", "compare", folder, "--json").out)
    means = {each["id"]: each["mean"] for each in compared["metrics"]}
    assert len(rows) == 4
    for name in ("visor", "geneval"):
        assert sum(float(row[name]) for row in rows) / 4 == pytest.approx(means[name])
    unknown = terminal("study", folder, "--numbers", "zebra")
    assert unknown.code != 0
    assert "visor" in unknown.err


def test_a_reproduced_run_is_counted_once(terminal, registry, folder):
    again = json.loads(terminal("runs", "again", next(folder.glob("*.png")), "--json").out)
    done = terminal("study", folder, again["picture"])
    lines = done.out.splitlines()
    assert lines[0].startswith("4 runs;")
    assert lines[1] == "Not counted: 1 run repeats the prompt, seed and settings of another."
    table = terminal("study", folder, again["picture"], "--csv", "--each-run")
    assert len(list(csv.DictReader(io.StringIO(table.out)))) == 4
    assert "Not counted: 1 run" in table.err
    answer = json.loads(terminal("study", folder, again["picture"], "--json").out)
    assert answer["repeats_left_out"] == 1


def test_only_the_metrics_asked_for_are_computed(registry, folder):
    run = read_study_run(registry._get("store", ""), next(folder.glob("*.png")), ("visor",))
    assert "visor" in run.values
    assert not {"geneval", "hrs", "compbench"} & run.values.keys()


def test_a_study_as_csv_has_a_row_per_group_and_number(terminal, folder):
    text = terminal("study", folder, "--csv", "--numbers", "pse,passes").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [(row["strength"], row["number"]) for row in rows] == [
        ("0.0", "pse"),
        ("0.0", "passes"),
        ("5.0", "pse"),
        ("5.0", "passes"),
    ]
    assert [row["difference"] != "" for row in rows] == [False, False, True, True]


def test_each_run_can_be_listed(terminal, folder):
    text = terminal("study", folder, "--csv", "--each-run").out
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 4
    assert sorted((row["seed"], row["strength"]) for row in rows) == [
        ("0", "0.0"),
        ("0", "5.0"),
        ("1", "0.0"),
        ("1", "5.0"),
    ]


def test_the_reference_group_is_named_by_a_setting(terminal, folder):
    done = terminal("study", folder, "--against", "strength=5", "--json")
    assert json.loads(done.out)["reference"] == {"strength": 5.0}


def test_differences_are_to_the_group_with_otherwise_the_same_settings(terminal, folder):
    words = ("study", folder, "--by", "strength,seed", "--against", "strength=0")
    assert "Differences to strength 0, pairs of the same seed;" in terminal(*words).out
    answer = json.loads(terminal(*words, "--json").out)
    assert answer["reference"] == {"strength": 0.0}
    pairs = [group["differences"].get("pse", {}).get("n") for group in answer["groups"]]
    assert pairs == [None, None, 1, 1]


def test_a_table_names_its_methods_and_notes_few_prompts():
    runs = [
        StudyRun(
            run=f"{strength}{prompt}{seed}",
            settings={"strength": strength, "prompt": prompt, "seed": seed},
            values={"pos": (seed + len(prompt)) / 10},
        )
        for strength, prompts in ((0.0, ("a", "ab")), (5.0, ("a",)))
        for prompt in prompts
        for seed in range(2)
    ]
    lines = [*study_lines(make_study(runs, measures=("pos",)))]
    assert lines[1] == "Some intervals are over 2 prompts: below 10 they are too narrow."
    words = "cluster bootstrap by prompt (0); Student's t (5)"
    assert lines[2] == f"95 % intervals: pos: {words}"


def test_runs_of_the_library_are_chosen_by_a_filter(terminal, folder):
    done = terminal("study", "--filter", "strength>0", "--library", folder, "--json")
    assert len(json.loads(done.out)["runs"]) == 2


def test_a_file_that_is_no_run_is_reported_and_left_out(terminal, folder):
    done = terminal("study", folder, folder / "missing.png", "--json")
    assert done.code == 1
    assert "missing.png" in done.err
    assert len(json.loads(done.out)["runs"]) == 4


@pytest.mark.parametrize("words", [("--against", "strength"), ("--against", "=5")])
def test_a_reference_without_a_value_is_a_usage_error(terminal, folder, words):
    with pytest.raises(SystemExit) as stopped:
        terminal("study", folder, *words)
    assert stopped.value.code == 2
