"""Releases in the form of SpatialBench-UC: three runs in their folders."""

import csv
import random
from collections import Counter

import pytest

from spatialstudio.adapters.storage.records.benchmark_files import DurableBenchmarkFiles
from spatialstudio.adapters.storage.records.spatialbench_uc import SpatialBenchRuns
from spatialstudio.application.benchmark.report import (
    compare_methods,
    read_methods,
    report_on_method,
)
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.safe_files import parse_limited
from spatialstudio.science.benchmark.prompts import draw_prompts
from tests.adapters.storage.records.generated_run import drawn, found, selected_verdict, write_run

RATES = {"sd15_promptonly": (0.12, 0.12), "sd15_boxdiff": (0.40, 0.02), "sd14_gligen": (0.52, 0.01)}
"""Shares of PASS and FAIL, about those that the release has."""
SEEDS = range(4)


def prompts():
    names = (resources_folder() / "benchmarks" / "spatialbench-uc" / "objects.txt").read_text()
    content = draw_prompts(tuple(names.splitlines()))
    return [parse_limited(line) for line in content.splitlines()]


def write_release(home):
    """Write three runs; return their verdicts by run, prompt and seed."""
    chance, verdicts = random.Random(3), {}
    for run_id, (passes, fails) in RATES.items():
        lines, records = [], []
        for prompt in prompts():
            names = (prompt["object_a"]["name"], prompt["object_b"]["name"])
            for seed in SEEDS:
                line = drawn(prompt["prompt_id"], seed, *names, prompt["relation"])
                line |= {"run_id": run_id, "sample_id": f"{run_id}_{line['prompt_id']}_{seed}"}
                draw = chance.random()
                verdict = (
                    "PASS" if draw < passes else "FAIL" if draw < passes + fails else "UNDECIDABLE"
                )
                seen = (found(names[0], "left"), found(names[1], "right"))
                record = selected_verdict(line, *(seen if verdict != "UNDECIDABLE" else seen[:1]))
                reason = f"missing: {names[1]}" if verdict == "UNDECIDABLE" else None
                records.append({**record, "verdict_raw": verdict, "verdict_reason": reason})
                lines.append(line)
                verdicts[run_id, line["prompt_id"], seed] = verdict
        write_run(home / "runs" / "final" / run_id, lines, records)
    return verdicts


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    home = tmp_path_factory.mktemp("release")
    return home, write_release(home)


@pytest.fixture(scope="module")
def methods(release):
    return read_methods([release[0]], SpatialBenchRuns(resources_folder()))


def rows(path):
    return {row["run"]: row for row in csv.DictReader(path.read_text().splitlines())}


def test_the_folder_of_a_release_gives_the_published_tables_with_a_row_per_run(
    release, methods, tmp_path
):
    reports = {each.name: report_on_method(each).report for each in methods}
    DurableBenchmarkFiles().write_tables(reports, tmp_path)

    main, best = rows(tmp_path / "main_results.csv"), rows(tmp_path / "prompt_metrics.csv")
    pairs = rows(tmp_path / "counterfactual_by_seed.csv")
    assert set(main) == set(best) == set(RATES)
    for run_id in RATES:
        own = {key[1:]: verdict for key, verdict in release[1].items() if key[0] == run_id}
        counts = Counter(own.values())
        by_prompt = {prompt: [own[prompt, seed] for seed in SEEDS] for prompt, _ in own}
        assert main[run_id]["samples"] == "800"
        assert main[run_id]["pass_rate"] == f"{counts['PASS'] / 800:.4f}"
        decided = counts["PASS"] + counts["FAIL"]
        assert main[run_id]["coverage"] == f"{decided / 800:.4f}"
        assert main[run_id]["pass_rate_cond"] == f"{counts['PASS'] / decided:.4f}"
        any_pass = sum("PASS" in each for each in by_prompt.values()) / 200
        assert best[run_id]["best_of_k_pass_rate"] == f"{any_pass:.4f}"
        both = sum(
            own[prompt["prompt_id"], seed]
            == own[prompt["counterfactual"]["prompt_id"], seed]
            == "PASS"
            for prompt in prompts()
            for seed in SEEDS
        )
        assert pairs[run_id]["both_pass_rate"] == f"{both / 2 / 400:.4f}"


def test_the_runs_of_a_release_are_compared_pair_by_pair(release, methods):
    verdicts = release[1]
    (found,) = [
        each
        for each in compare_methods(methods)
        if each.value == "pass" and {each.first, each.second} == {"sd15_promptonly", "sd14_gligen"}
    ]

    keys = {key[1:] for key in verdicts}
    only_second = sum(
        verdicts[found.second, *key] == "PASS" != verdicts[found.first, *key] for key in keys
    )
    assert found.test.only_second == only_second
    assert found.difference.n == 800
    assert found.adjusted_p >= found.test.exact_p
