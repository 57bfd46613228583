"""Reports on benchmarks and recorded runs."""

import csv
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.records.spatialbench_uc import SpatialBenchRuns
from spatialstudio.application.benchmark.choose_method import choose_method
from spatialstudio.application.benchmark.gather import write_results
from spatialstudio.application.benchmark.report import (
    compare_methods,
    read_methods,
    relative_links,
    report_on_method,
)
from spatialstudio.application.benchmark.report_files import (
    report_answer,
    report_csv,
    report_html,
    report_latex,
)
from spatialstudio.domain.errors import SettingsError, StoreError
from spatialstudio.domain.resources import resources_folder

RELEASE_RUN = Path(__file__).parents[2] / "golden" / "spatialbench_run"
RECORDS = SpatialBenchRuns(resources_folder())


@pytest.fixture
def results(bench):
    items = bench.items()
    bench.runner(items).run()
    write_results(items)
    return items.store.folder


def test_a_recorded_run_is_reported_by_its_own_verdicts():
    (method,) = read_methods([RELEASE_RUN], RECORDS)
    report = report_on_method(method)

    lines = (RELEASE_RUN / "eval" / "per_sample.jsonl").read_text().splitlines()
    verdicts = [json.loads(line)["verdict_raw"] for line in lines]
    counts = report.all.counts
    assert (counts.passes, counts.fails, counts.undecidable) == tuple(
        map(verdicts.count, ("PASS", "FAIL", "UNDECIDABLE"))
    )
    assert report.report.mean_confidence == pytest.approx(
        sum(json.loads(line)["conf"] for line in lines) / len(lines), abs=1e-15
    )
    assert sum(report.reasons.values()) == counts.undecidable
    assert {"visor", "geneval", "hrs", "compbench"} <= report.metrics.keys()
    assert "pse" not in report.metrics  # boxes have no masks
    assert report.seconds is None


def test_a_benchmark_is_reported_with_all_its_metrics_and_cost(results):
    plain, psg = map(report_on_method, read_methods([results], RECORDS))

    assert (plain.name, psg.name) == ("plain", "psg")
    assert {"visor", "hrs", "pse", "checker"} <= plain.metrics.keys()
    assert plain.seconds == 0.5
    assert plain.passes == 4.0
    assert plain.flops == 4 * 16 * 16 * 1000
    assert plain.judging_seconds > 0
    assert plain.all.counts.total == 15
    assert set(plain.by_object) == {"dog", "cat", "car"}
    assert plain.order is not None


def test_every_two_methods_are_compared(results):
    methods = read_methods([results], RECORDS)

    values = [each.value for each in compare_methods(methods)]

    assert values == ["pass", "visor", "pse"]
    with pytest.raises(StoreError, match="two methods"):
        compare_methods(methods[:1])


def test_runs_with_one_name_are_not_compared(results):
    with pytest.raises(StoreError, match="same name"):
        read_methods([RELEASE_RUN, RELEASE_RUN], RECORDS)


def test_csv_json_and_latex_hold_the_same_rates(results):
    reports = [report_on_method(each) for each in read_methods([results], RECORDS)]

    lines = list(csv.DictReader(StringIO(report_csv(reports))))
    (rate,) = [
        line
        for line in lines
        if (line["method"], line["group"], line["figure"]) == ("plain", "all", "pass_all")
    ]
    figures = report_answer(reports, ())["figures"]
    json.dumps(figures, allow_nan=False)
    assert float(rate["value"]) == pytest.approx(reports[0].all.pass_all.value)
    assert float(rate["low"]) < float(rate["value"]) < float(rate["high"])
    assert len(figures) == len(lines)
    assert f"plain & {100 * reports[0].all.pass_all.value:.1f} [" in report_latex(reports)


def test_counterfactual_pairs_that_do_not_exist_have_no_outcomes(results):
    whole = read_methods([results], RECORDS)[0]
    one = replace(whole, samples=whole.samples[:1])

    lines = list(csv.DictReader(StringIO(report_csv([report_on_method(one)]))))
    pairs = {
        line["figure"]: (line["value"], line["n"])
        for line in lines
        if (line["group"], line["name"]) == ("counterfactual", "by_seed")
    }

    assert pairs["pairs"] == ("0", "")
    assert pairs["both_pass"] == pairs["both_fail"] == ("", "")
    assert pairs["both_pass_rate"] == ("", "0")
    assert "none ($n = 0$)" in report_latex([report_on_method(one)])


def test_html_is_one_file_that_links_existing_pictures(results, tmp_path):
    methods = read_methods([results], RECORDS)
    linked = relative_links(methods, [results], tmp_path / "reports")
    reports = [report_on_method(each) for each in methods]

    text = report_html("<Report>", linked, reports, compare_methods(methods))
    assert "<th>Best of K</th>" in text
    assert "<th>Rounds</th>" not in text  # no method has them

    assert "&lt;Report&gt;" in text
    assert "<script" not in text
    link = text.partition('<a href="')[2].partition('"')[0]
    (tmp_path / "reports").mkdir()
    assert (tmp_path / "reports" / link).is_file()
    assert text.count('<a href="') == 36


def test_names_and_prompts_are_escaped_in_html_and_latex(bench):
    bench.write(plan=PLAN_WITH_MARKUP)
    items = bench.items()
    bench.runner(items).run()
    write_results(items)
    methods = read_methods([items.store.folder], RECORDS)
    reports = [report_on_method(each) for each in methods]

    assert "<b>" not in report_html("t", methods, reports, ())
    assert r"\_x\%" in report_latex(reports)


PLAN_WITH_MARKUP = """\
seeds = "{seeds}"
[[prompts]]
set = "list"
file = "prompts.txt"
[[methods]]
name = "<b>_x%"
guidance = "none"
"""


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[1]",
        '{"verdicts": 3}',
        "{}",
        "[" * 100_000,
        '{"verdicts": [], "seed": "first"}',
        '{"verdicts": [], "assertions": 7}',
        '{"verdicts": [], "round_scores": ["high"]}',
    ],
    ids=["cut", "list", "number", "empty", "nested", "seed", "assertions", "rounds"],
)
def test_damaged_rows_are_named(results, line):
    (results / "results" / "plain" / "rows.jsonl").write_text(line)

    with pytest.raises(StoreError, match=r"rows\.jsonl"):
        read_methods([results], RECORDS)


def test_a_picture_outside_the_benchmark_is_not_linked(results, tmp_path):
    (tmp_path / "secret.png").write_bytes(b"x")
    path = results / "results" / "plain" / "rows.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    lines = (json.dumps({**row, "picture": "../secret.png"}) for row in rows)
    path.write_text("\n".join(lines))

    linked = relative_links(read_methods([results], RECORDS), [results], tmp_path)

    assert {row["picture"] for row in linked[0].rows} == {None}


def test_the_best_method_is_chosen_from_stored_scores(results):
    methods = read_methods([results], RECORDS)

    chosen = choose_method(methods, "pse", 0.05)
    replayed = choose_method(methods, "pass", 0.05, is_published=True)

    assert chosen.names == ("plain", "psg")
    assert chosen.scores == 15
    assert max(chosen.choice.pulls) <= 15
    assert sum(replayed.choice.pulls) == 2 + 90
    with pytest.raises(SettingsError):
        choose_method(methods, "pse", 1.0)
    with pytest.raises(StoreError, match="two methods"):
        choose_method(methods[:1], "pse", 0.05)
