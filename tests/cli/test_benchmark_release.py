"""Reports on the published release equal its tables; its scripts read the files of benchmarks."""

import csv
import importlib.util
import json
import os
import sys
from pathlib import Path

import pytest

from spatialstudio.application.benchmark.gather import write_results
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.safe_files import parse_limited
from spatialstudio.science.benchmark.prompts import draw_prompts
from tests.adapters.storage.records.generated_run import drawn, write_run
from tests.application.benchmark.conftest import bench  # noqa: F401 - a fixture
from tests.generated_release import AFTER, BEFORE, RUNS

RELEASE = os.environ.get("SPATIALBENCH_RELEASE", "")
"""Folder of a complete release v1.0.1 with its scripts."""
needs_release = pytest.mark.skipif(
    not RELEASE, reason="needs a complete release: SPATIALBENCH_RELEASE=FOLDER"
)
PUBLISHED = Path(__file__).parents[1] / "golden" / "spatialbench_release"
REPORTS = {AFTER: "v1_calibrated", BEFORE: "v1_finalfix"}
TABLES = ("main_results", "prompt_metrics", "by_relation", "counterfactual")
VERDICTS = {each[0]: each for each in ("PASS", "FAIL", "UNDECIDABLE")}
DATED = ("timestamp_utc", "manifest", "config", "code_version")
"""Fields of ``metrics.json`` that state when and where it was written."""


def table(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def prompts():
    names = (resources_folder() / "benchmarks" / "spatialbench-uc" / "objects.txt").read_text()
    lines = draw_prompts(tuple(names.splitlines())).splitlines()
    return {prompt["prompt_id"]: prompt for prompt in map(parse_limited, lines)}


@pytest.fixture
def published_runs(tmp_path):
    """Write run folders with the published verdicts and confidences; return them."""
    known = prompts()
    for evaluation, report in REPORTS.items():
        lines, records = {run: [] for run in RUNS}, {run: [] for run in RUNS}
        with (PUBLISHED / f"verdicts_{report}.csv").open(newline="") as file:
            rows = list(csv.reader(file))
        for run, prompt_id, verdicts, *confidences in rows:
            prompt = known[prompt_id]
            names = (prompt["object_a"]["name"], prompt["object_b"]["name"])
            for seed, (verdict, conf) in enumerate(zip(verdicts, confidences, strict=True)):
                line = drawn(prompt_id, seed, *names, prompt["relation"], run_id=run)
                lines[run].append(line)
                records[run].append(
                    {
                        "sample_id": line["sample_id"],
                        "verdict_raw": VERDICTS[verdict],
                        "conf": float(conf or 0),
                    }
                )
        for run in RUNS:
            write_run(tmp_path / "runs" / run, lines[run], records[run], evaluation)
    return [tmp_path / "runs" / run for run in RUNS]


@pytest.mark.parametrize("evaluation", REPORTS)
def test_the_tables_of_the_published_verdicts_are_the_published_tables(
    evaluation, terminal, published_runs, tmp_path
):
    own = tmp_path / "tables"
    words = [*published_runs, "--evaluation", evaluation, "--tables", own]
    assert terminal("benchmark", "report", *words).code == 0
    for name in TABLES:
        expected = table(PUBLISHED / REPORTS[evaluation] / f"{name}.csv")
        assert table(own / f"{name}.csv") == expected


def test_counterfactual_pairs_by_seed_are_those_counted_in_the_published_verdicts(
    terminal, published_runs
):
    answer = json.loads(terminal("benchmark", "report", *published_runs, "--json").out)
    counts = {
        (each["method"], each["figure"]): each["value"]
        for each in answer["figures"]
        if (each["group"], each["name"]) == ("counterfactual", "by_seed")
    }
    kinds = ("both_pass", "both_fail", "one_sided", "undecidable")
    found = [tuple(counts[run, kind] for kind in kinds) for run in RUNS]
    assert found == [(17, 22, 4, 357), (91, 2, 2, 305), (163, 0, 0, 237)]


def test_an_evaluation_that_a_run_lacks_is_refused(terminal, published_runs):
    finished = terminal("benchmark", "report", *published_runs, "--evaluation", "eval_other")
    assert finished.code != 0
    assert 'has no evaluation "eval_other"' in finished.err


@needs_release
@pytest.mark.parametrize("evaluation", REPORTS)
def test_a_complete_release_gives_its_own_tables_and_metrics(evaluation, terminal, tmp_path):
    home = next(Path(RELEASE).rglob("manifest.jsonl")).parents[1]
    own = tmp_path / "tables"
    words = ["--evaluation", evaluation, "--tables", own]
    assert terminal("benchmark", "report", home, *words).code == 0
    (tables,) = home.glob(f"reports/{REPORTS[evaluation]}_*/tables")
    for name in TABLES:
        found = {row["run"]: row for row in table(own / f"{name}.csv")}
        assert found == {row["run"]: row for row in table(tables / f"{name}.csv")}
    for run in RUNS:
        judged = tmp_path / run
        assert terminal("judge-records", home / run / evaluation, "--out", judged).code == 0
        metrics, published = (
            json.loads((each / "metrics.json").read_text())
            for each in (judged, home / run / evaluation)
        )
        mean = published.pop("mean_confidence")  # theirs is not summed exactly
        assert metrics.pop("mean_confidence") == pytest.approx(mean, abs=1e-12)
        assert undated(metrics) == undated(published)


def undated(metrics):
    return {name: value for name, value in metrics.items() if name not in DATED}


@pytest.fixture
def drawn_benchmark(bench):  # noqa: F811 - the fixture above
    """A benchmark of two methods that this program has drawn."""
    items = bench.items()
    bench.runner(items).run()
    write_results(items)
    return items.store.folder / "results"


def script(name):
    """Return a script of the release as a module."""
    spec = importlib.util.spec_from_file_location(Path(name).stem, Path(RELEASE) / name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its data classes look for it there
    spec.loader.exec_module(module)
    return module


@needs_release
def test_the_report_of_the_release_reads_a_benchmark(
    terminal, drawn_benchmark, tmp_path, monkeypatch
):
    runs = [str(drawn_benchmark / name) for name in ("plain", "psg")]
    words = ["--prompts", drawn_benchmark / "prompts.jsonl", "--out", tmp_path / "report"]
    words += ["--config", Path(RELEASE) / "configs" / "report_v1.yaml"]
    words += ["--runs", *runs, "--k", 3, "--no-plots"]
    monkeypatch.setattr(sys, "argv", ["report", *map(str, words)])
    assert script("src/spatialbench_uc/report.py").main() == 0
    terminal("benchmark", "report", *runs, "--tables", tmp_path / "own")
    for name in TABLES:
        theirs = table(tmp_path / "report" / "tables" / f"{name}.csv")
        assert table(tmp_path / "own" / f"{name}.csv") == theirs
    assert theirs[0]["pairs"] != "0"


@needs_release
def test_the_audit_script_of_the_release_reads_a_benchmark(
    terminal, drawn_benchmark, tmp_path, monkeypatch
):
    runs = [drawn_benchmark / name for name in ("plain", "psg")]
    sample, labels = tmp_path / "sample.csv", tmp_path / "labels.csv"
    terminal("audit", "sample", *runs, "--out", sample)
    rows = table(sample)
    assert all((tmp_path / row["image_path"]).is_file() for row in rows)
    votes = [f"{row['sample_id']},{('PASS', 'FAIL')[n % 2]}" for n, row in enumerate(rows)]
    labels.write_text("\n".join(["sample_id,human_verdict", *votes]) + "\n")
    words = ["--sample", sample, "--labels", labels, "--out", tmp_path / "audit"]
    monkeypatch.setattr(sys, "argv", ["recompute", *map(str, words)])
    module = script("scripts/recompute_audit_metrics_from_eval_jsonl.py")
    monkeypatch.setattr(module, "plot_risk_coverage", lambda *_: None)  # needs matplotlib
    assert module.main() == 0

    metrics = json.loads((tmp_path / "audit" / "audit_metrics.json").read_text())
    own = [labels, "--sample", sample, "--run", runs[0], "--run", runs[1], "--json"]
    agreement = json.loads(terminal("audit", "agreement", *own).out)
    theirs = metrics["confusion_matrix"]
    assert metrics["n_samples_with_eval_results"] == len(rows)
    for checker in ("PASS", "FAIL"):
        for human in ("PASS", "FAIL"):
            ours = agreement["confusion"][checker][human]
            assert ours == theirs["confusion_matrix"][checker][human]
    points = json.loads(terminal("audit", "risk-coverage", *own).out)["points"]
    assert [each["risk"] for each in points] == pytest.approx(
        [each["risk"] for each in metrics["risk_coverage_curve"]], abs=1e-12
    )
