import csv
import io
import json

import pytest

from tests.application.evaluate.test_metric_table import ROWS


@pytest.fixture
def results(tmp_path):
    """Results of evaluate over three pictures, one with escape sequences in its prompt."""
    rows = [{**row, "picture": f"/p/{n}.png"} for n, row in enumerate(ROWS)]
    rows[2]["prompt"] = "a \x1b[31mdog"
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_metrics_are_compared_with_correlations_and_disagreements(terminal, results):
    done = terminal("metrics", "compare", results)
    assert done.code == 0
    assert "scene_graph  3         0.633" in done.out
    assert "scene_graph, visor" in done.out
    assert "\x1b" not in done.out
    assert "0.75 2: a \\x1b[31mdog" in done.out


def test_a_correlation_without_a_value_is_undefined(terminal, results):
    rows = [
        {**row, "picture": f"/p/{n}.png", "scene_graph_score": 0.5} for n, row in enumerate(ROWS)
    ]
    results.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = terminal("metrics", "compare", results)
    assert "nan" not in done.out
    pair = next(line for line in done.out.splitlines() if line.startswith("scene_graph, visor"))
    assert pair.split()[2] == "undefined"
    known = next(line for line in done.out.splitlines() if line.startswith("checker, visor"))
    assert "1.00 (no interval: one prompt)" in known


def test_a_comparison_as_json_and_csv(terminal, results):
    answer = json.loads(terminal("metrics", "compare", results, "--json", "--top", "1").out)
    assert {each["id"] for each in answer["metrics"]} == {"checker", "scene_graph", "visor"}
    assert len(answer["pairs"]) == 3
    assert [each["picture"] for each in answer["disagreements"]] == ["2"]
    rows = list(csv.DictReader(io.StringIO(terminal("metrics", "compare", results, "--csv").out)))
    assert (rows[0]["picture"], rows[0]["checker"]) == ("2", "")


def test_two_metrics_can_be_chosen(terminal, results):
    words = ("--between", "checker,visor", "--json")
    answer = json.loads(terminal("metrics", "compare", results, *words).out)
    assert {each["picture"] for each in answer["disagreements"]} == {"0", "1"}
    done = terminal("metrics", "compare", results, "--between", "checker,clip")
    assert done.code != 0
    assert "does not name two of the metrics" in done.err
