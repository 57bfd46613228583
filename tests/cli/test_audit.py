import csv
import json
import shutil
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.records.audit_files import SpatialBenchAudits
from spatialstudio.adapters.storage.stores.vote_journal import FileVoteJournals
from spatialstudio.application.audit.sessions import AuditSessions, SessionPlan, plan_session
from spatialstudio.domain.audit_session import Answer, AuditTask, GoldItem
from spatialstudio.domain.verdict import Outcome

PASS, FAIL = Outcome.PASS, Outcome.FAIL
GOLDEN = Path(__file__).parents[1] / "golden"
AUDIT = GOLDEN / "spatialbench_audit"
LABELS, SAMPLE = AUDIT / "labels.csv", AUDIT / "sample.csv"
ANALYSIS = (LABELS, "--sample", SAMPLE)


def rows_of(path):
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def calibrated(tmp_path):
    """The sample with the verdicts of the calibrated checker."""
    verdicts = {row["sample_id"]: row for row in rows_of(AUDIT / "verdicts.csv")}
    rows = rows_of(SAMPLE)
    for row in rows:
        own = verdicts[row["sample_id"]]
        row |= {"checker_verdict_raw": own["verdict"], "conf": own["conf"]}
    path = tmp_path / "calibrated.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_the_confusion_of_the_calibrated_checker_equals_a_count(terminal, calibrated):
    done = terminal("audit", "agreement", LABELS, "--sample", calibrated, "--json")
    humans = {row["sample_id"]: row["human_verdict"] for row in rows_of(LABELS)}
    pairs = [(row["checker_verdict_raw"], humans[row["sample_id"]]) for row in rows_of(calibrated)]
    answer = json.loads(done.out)
    outcomes = ("PASS", "FAIL", "UNDECIDABLE")
    assert answer["confusion"] == {
        checker: {human: pairs.count((checker, human)) for human in outcomes}
        for checker in outcomes
    }
    assert answer["unlabelled"] == 0
    kappa = answer["checker_kappa"]
    assert kappa["low"] < kappa["value"] < kappa["high"]


@pytest.mark.parametrize("file", ["labels.csv", "labels.json"])
def test_the_curve_of_the_calibrated_checker_equals_a_script(file, terminal, calibrated):
    done = terminal("audit", "risk-coverage", AUDIT / file, "--sample", calibrated, "--json")
    humans = {row["sample_id"]: row["human_verdict"] for row in rows_of(LABELS)}
    decided = [row for row in rows_of(calibrated) if row["checker_verdict_raw"] != "UNDECIDABLE"]
    points = []
    for tau in sorted({0.0, 1.0, *(float(row["conf"]) for row in decided)}):
        covered = [row for row in decided if float(row["conf"]) >= tau]
        tested = [row for row in covered if humans[row["sample_id"]] != "UNDECIDABLE"]
        right = sum(row["checker_verdict_raw"] == humans[row["sample_id"]] for row in tested)
        accuracy = right / len(tested) if tested else float(not covered)
        points.append((tau, len(covered) / 66, 1 - accuracy, len(covered), len(tested)))
    columns = ("tau", "coverage", "risk", "n_covered", "n_evaluated")
    answer = json.loads(done.out)["points"]
    assert [tuple(point[name] for name in columns) for point in answer] == points


def test_human_undecidable_counted_as_errors_raises_the_risk(terminal, calibrated):
    arguments = ("audit", "risk-coverage", LABELS, "--sample", calibrated, "--grid", "--csv")
    excluded = list(csv.DictReader(terminal(*arguments).out.splitlines()))
    errors = terminal(*arguments, "--undecidable", "error").out.splitlines()
    counted = list(csv.DictReader(errors))
    assert len(excluded) == len(counted) == 21
    assert float(counted[0]["risk"]) > float(excluded[0]["risk"])
    assert counted[0]["n_evaluated"] == counted[0]["n_covered"]


def test_a_sample_of_a_run_is_drawn_and_analysed(terminal, tmp_path):
    run = GOLDEN / "spatialbench_run" / "eval_precal"
    target = tmp_path / "sample.csv"
    drawn = terminal(
        *("audit", "sample", run, "--size", "12", "--out", target),
        *("--allocation", "neyman", "--json"),
    )
    answer = json.loads(drawn.out)
    rows = rows_of(target)
    assert [row["sample_id"] for row in rows] == answer["samples"]
    assert sum(stratum["drawn"] for stratum in answer["strata"]) == 12
    sampled = sum(stratum["of"] for stratum in answer["strata"] if stratum["drawn"])
    assert sum(float(row["weight"]) for row in rows) == pytest.approx(sampled)
    labels = tmp_path / "ada.csv"
    lines = [f"{row['sample_id']},PASS,,\n" for row in rows]
    labels.write_text("sample_id,human_verdict,notes,timestamp\n" + "".join(lines))
    done = terminal(
        *("audit", "risk-coverage", labels, "--sample", target),
        *("--run", GOLDEN / "spatialbench_run", "--weighted", "--json"),
    )
    assert done.code == 0
    assert json.loads(done.out)["samples"] == 12


def test_an_existing_sample_is_not_replaced(terminal, tmp_path):
    target = tmp_path / "sample.csv"
    target.write_text("mine")
    run = GOLDEN / "spatialbench_run"
    assert terminal("audit", "sample", run, "--out", target).code == 2
    assert target.read_text() == "mine"
    assert terminal("audit", "sample", run, "--out", target, "--overwrite").code == 0


def test_two_raters_merge_in_any_order_and_clashes_are_listed(terminal, tmp_path):
    header = "sample_id,human_verdict,notes,timestamp,rater\n"
    (tmp_path / "a.csv").write_text(header + "one,PASS,,1,Ada\ntwo,FAIL,,1,Ada\n")
    (tmp_path / "b.csv").write_text(header + "one,FAIL,,2,Ada\none,PASS,,1,Bo\n")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    answers = []
    for name, order in (("ab.csv", files), ("ba.csv", files[::-1])):
        done = terminal("audit", "import", *order, "--out", tmp_path / name, "--json")
        answers.append(json.loads(done.out)["clashes"])
    assert (tmp_path / "ab.csv").read_bytes() == (tmp_path / "ba.csv").read_bytes()
    expected = {"sample_id": "one", "rater": "Ada", "kept": "FAIL", "dropped": "PASS"}
    assert answers == [[expected], [expected]]


def test_labels_pass_through_label_studio_unchanged(terminal, tmp_path):
    tasks, back = tmp_path / "tasks.json", tmp_path / "labels.csv"
    terminal("audit", "export", LABELS, "--format", "label-studio", "--out", tasks)
    done = terminal("audit", "import", tasks, "--out", back)
    assert done.out.startswith("Wrote 66 labels")
    columns = ("sample_id", "human_verdict", "notes", "timestamp")
    found = {tuple(row[name] for name in columns) for row in rows_of(back)}
    assert found == {tuple(row[name] for name in columns) for row in rows_of(LABELS)}


def test_calibration_shows_the_published_objective_and_held_out_folds(terminal, calibrated):
    done = terminal("audit", "calibrate", LABELS, "--sample", calibrated, "--json")
    answer = json.loads(done.out)
    assert [row["threshold"] for row in answer["rows"]] == [0.3, 0.5, 0.7]
    for row in answer["rows"]:
        expected = 10 * row["false_pass_rate"] + 2 * row["risk"] + 0.5 * (1 - row["coverage"])
        assert row["objective"] == pytest.approx(expected)
    assert answer["best"]["objective"] == min(row["objective"] for row in answer["rows"])
    assert sum(fold["size"] for fold in answer["folds"]) == 66


@pytest.mark.parametrize("action", ["agreement", "risk-coverage", "calibrate"])
def test_results_are_printed_as_lines_and_as_a_table(action, terminal):
    lines = terminal("audit", action, *ANALYSIS)
    table = terminal("audit", action, *ANALYSIS, "--csv")
    assert (lines.code, table.code) == (0, 0)
    assert "nan" not in lines.out.lower()
    assert len({line.count(",") for line in table.out.splitlines()}) == 1


def test_a_sample_that_the_runs_lack_is_named(terminal):
    done = terminal("audit", "agreement", *ANALYSIS, "--run", GOLDEN / "spatialbench_run")
    assert done.code == 2
    assert "do not contain the sample" in done.err


@pytest.fixture
def small_audit(terminal, tmp_path):
    """A sample of the small run, with labels that repeat the recorded relation of its objects."""
    sample, labels = tmp_path / "sample.csv", tmp_path / "ada.csv"
    terminal("audit", "sample", GOLDEN / "spatialbench_run", "--size", "30", "--out", sample)
    lines = [f"{row['sample_id']},{row['checker_verdict_raw']},,\n" for row in rows_of(sample)]
    labels.write_text("sample_id,human_verdict,notes,timestamp\n" + "".join(lines))
    return labels, "--sample", sample


def test_a_calibrated_margin_is_saved_with_its_evidence_and_judges_runs(
    terminal, small_audit, tmp_path
):
    run, target = GOLDEN / "spatialbench_run", tmp_path / "checker.yaml"
    margins = ("--margin", "0.03", "--margin", "0.1")
    search = ("audit", "calibrate", *small_audit, "--run", run, "--folds", "2", *margins)
    done = terminal(*search, "--out", target, "--json")
    answer = json.loads(done.out)
    assert [row["settings"]["margin"] for row in answer["rows"]] == [0.03] * 3 + [0.1] * 3
    saved = json.loads(target.read_text())
    assert saved["evidence"]["chosen"] == answer["best"]
    assert saved["geometry"]["margin"] == answer["best"]["settings"]["margin"]
    assert saved["spatial_studio"]["min_confidence"] == answer["best"]["threshold"]
    judged = terminal("judge-records", run, "--checker", target, "--out", tmp_path / "judged")
    assert judged.code == 0
    records = (tmp_path / "judged" / "per_sample.jsonl").read_text().splitlines()
    used = {json.loads(line)["geometry"]["margin"] for line in records}
    assert used == {saved["geometry"]["margin"]}


def test_the_recorded_margin_gives_the_recorded_verdicts(terminal, small_audit):
    run = ("--run", GOLDEN / "spatialbench_run", "--folds", "2", "--json")
    plain = json.loads(terminal("audit", "calibrate", *small_audit, *run).out)
    searched = terminal("audit", "calibrate", *small_audit, *run, "--margin", "0.1")
    found = [row["objective"] for row in json.loads(searched.out)["rows"]]
    assert found == pytest.approx([row["objective"] for row in plain["rows"]])


@pytest.fixture
def released(tmp_path):
    """A copy of the small run; only its evaluation before the calibration is kept."""
    run = tmp_path / "sd15_promptonly"
    shutil.copytree(GOLDEN / "spatialbench_run", run)
    shutil.rmtree(run / "eval")
    return run


def test_the_evaluation_of_every_action_can_be_chosen(terminal, released, tmp_path):
    sample, labels, saved = (tmp_path / name for name in ("s.csv", "ada.csv", "checker.yaml"))
    chosen = ("--evaluation", "eval_precal")
    drawn = terminal("audit", "sample", released, *chosen, "--size", "30", "--out", sample)
    assert drawn.code == 0, drawn.err
    lines = [f"{row['sample_id']},{row['checker_verdict_raw']},,\n" for row in rows_of(sample)]
    labels.write_text("sample_id,human_verdict,notes,timestamp\n" + "".join(lines))
    known = (labels, "--sample", sample, "--run", released, *chosen, "--json")
    for action in ("agreement", "risk-coverage"):
        assert terminal("audit", action, *known).code == 0
    assert terminal("audit", "correlate", *known, "--metrics", "visor").code == 0
    plain = json.loads(terminal("audit", "calibrate", *known, "--folds", "2").out)
    search = ("--folds", "2", "--margin", "0.05", "--out", saved)
    searched = json.loads(terminal("audit", "calibrate", *known, *search).out)
    assert [row["objective"] for row in searched["rows"]] == pytest.approx(
        [row["objective"] for row in plain["rows"]]
    )  # the margin before the calibration
    assert json.loads(saved.read_text())["geometry"]["margin"] == 0.05


@pytest.mark.parametrize(
    ("chosen", "name"),
    [((), "eval"), (("--evaluation", "eval_later"), "eval_later")],
    ids=["usual", "another"],
)
def test_a_missing_evaluation_is_stated_with_the_ones_there_are(chosen, name, terminal, released):
    done = terminal("audit", "sample", released, *chosen, "--out", released / "sample.csv")
    assert done.code != 0
    assert f'has no evaluation "{name}"' in done.err
    assert "these evaluations: eval_precal" in done.err


@pytest.mark.parametrize("action", ["agreement", "risk-coverage", "correlate", "calibrate"])
def test_an_evaluation_needs_a_run(action, terminal):
    done = terminal("audit", action, *ANALYSIS, "--evaluation", "eval_precal")
    assert done.code == 2
    assert "Pass it with --run" in done.err


def test_an_evaluation_needs_a_metric_to_compute(terminal, released):
    chosen = ("--run", released, "--evaluation", "eval_precal")
    done = terminal("audit", "correlate", *ANALYSIS, *chosen)
    assert done.code == 2
    assert "Pass it with --metrics" in done.err


def test_a_margin_needs_a_run(terminal, small_audit):
    done = terminal("audit", "calibrate", *small_audit, "--margin", "0.1", "--folds", "2")
    assert done.code == 2
    assert "--run" in done.err


@pytest.fixture
def session(terminal, tmp_path):
    """Return a function that votes on a sample of the small run, with gold items and repeats."""
    sample = tmp_path / "sample.csv"
    terminal("audit", "sample", GOLDEN / "spatialbench_run", "--size", "30", "--out", sample)

    def vote(task, right, wrong, votes=None, **more):
        population = SpatialBenchAudits().read_sample(sample)
        known = [GoldItem(sample_ids=(one.candidate.id,), correct=right) for one in population]
        numbers = {"size": 20, "gold": 4, "repeats": 3, "tolerance": 5.0, **more}
        plan = SessionPlan(rater="Ada", task=task, **numbers)
        voting = AuditSessions(tmp_path, FileVoteJournals()).start(
            plan_session(population, plan, known)
        )
        seen = set()
        while voting.items and len(voting.state.votes) != votes:
            name = voting.items[0].candidate.id
            voting.vote(right if name in seen or len(seen) % 2 else wrong)
            seen.add(name)
        voting.close()
        ((path, state),) = AuditSessions(tmp_path, FileVoteJournals()).list()
        return path, state

    return vote


@pytest.mark.parametrize(
    ("action", "task", "right", "wrong"),
    [
        ("agreement", AuditTask.VERDICT, {"verdict": PASS}, {"verdict": FAIL}),
        ("correlate", AuditTask.SCORE, {"score": 60.0}, {"score": 54.9}),
    ],
)
def test_the_consistency_of_a_session_is_printed(action, task, right, wrong, terminal, session):
    path, state = session(task, Answer(**right), Answer(**wrong))
    command = ("audit", action, path, "--sample", path)
    (found,) = json.loads(terminal(*command, "--json").out)["consistency"]
    gold = sum(given == Answer(**right) for _, given in state.gold_answers)
    equal = sum(first == again for first, again in state.repeats)
    assert (found["rater"], found["gold"], found["right_gold"]) == ("Ada", 4, gold)
    assert (found["repeats"], found["equal_repeats"]) == (3, equal)
    limit = " (± 5)" if task is AuditTask.SCORE else ""
    lines = terminal(*command).out.splitlines()
    assert f"Ada: {gold} of 4 gold items correct{limit}" in lines
    assert f"Ada: {equal} of 3 repeated pictures with the same answer" in lines


@pytest.mark.parametrize("is_blind", [True, False])
def test_the_consistency_of_a_blind_session_waits_for_its_end(is_blind, terminal, session):
    right = Answer(verdict=PASS)
    path, _ = session(AuditTask.VERDICT, right, right, votes=20, is_blind=is_blind)
    command = ("audit", "agreement", path, "--sample", path)
    assert bool(json.loads(terminal(*command, "--json").out)["consistency"]) != is_blind
    assert ("gold items correct" in terminal(*command).out) != is_blind


def test_metrics_are_compared_with_people(terminal, tmp_path):
    scores = tmp_path / "scores.csv"
    humans = rows_of(LABELS)
    rank = {"PASS": "3", "UNDECIDABLE": "2", "FAIL": "-1"}
    lines = [f"{row['sample_id']},{rank[row['human_verdict']]}," for row in humans]
    scores.write_text("sample_id,perfect,empty\n" + "\n".join(lines) + "\n")
    done = terminal("audit", "correlate", *ANALYSIS, "--scores", scores, "--json")
    checker, perfect = json.loads(done.out)["metrics"]
    assert (checker["metric"], checker["n"]) == ("checker", 66)
    for name in ("kendall", "spearman", "pairwise", "auc"):
        assert perfect[name]["value"] == pytest.approx(1)
        assert checker[name]["low"] < checker[name]["value"] < checker[name]["high"] < 1
    assert perfect["best"]["threshold"] == 3
    assert perfect["best"]["accuracy"] == 1


@pytest.mark.parametrize(
    ("content", "code"), [("sample_id,a\nx,nan\n", 3), ("id,a\nx,1\n", 3)], ids=["NaN", "no ids"]
)
def test_a_damaged_table_of_scores_is_named(content, code, terminal, tmp_path):
    scores = tmp_path / "scores.csv"
    scores.write_text(content)
    done = terminal("audit", "correlate", *ANALYSIS, "--scores", scores)
    assert done.code != 0
    assert "scores.csv" in done.err


@pytest.mark.parametrize("ending", ["csv", "tex", "svg", "pdf", "png"])
def test_the_curve_is_exported_as_table_or_figure(ending, terminal, tmp_path):
    target = tmp_path / f"curve.{ending}"
    first = terminal("audit", "risk-coverage", *ANALYSIS, "--export", target)
    begins = {"csv": b"tau", "tex": rb"\begin{tabular}", "pdf": b"%PDF", "png": b"\x89PNG"}
    assert target.read_bytes().startswith(begins.get(ending, b"<"))
    again = terminal("audit", "risk-coverage", *ANALYSIS, "--export", target)
    assert first.code == 0
    assert again.code != 0


@pytest.mark.parametrize(
    ("action", "texts"),
    [("agreement", ("PASS", "Cohen")), ("correlate", ("AUC", "Checker"))],
)
def test_agreement_and_metrics_are_exported_as_figures(action, texts, terminal, tmp_path):
    target = tmp_path / "a.svg"
    done = terminal("audit", action, *ANALYSIS, "--export", target)
    assert done.code == 0, done.err
    assert all(text in target.read_text() for text in texts)


def test_an_unknown_ending_is_refused(terminal, tmp_path):
    done = terminal("audit", "agreement", *ANALYSIS, "--export", tmp_path / "a.docx")
    assert ".csv, .tex, .svg" in done.err


def test_a_calibration_is_saved_as_a_preset_that_judges_runs(terminal, small_audit, tmp_path):
    run = GOLDEN / "spatialbench_run"
    search = ("audit", "calibrate", *small_audit, "--run", run, "--folds", "2", "--json")
    best = json.loads(terminal(*search, "--save", "team").out)["best"]
    judged = terminal("judge-records", run, "--checker", "team", "--out", tmp_path / "judged")
    assert judged.code == 0
    lines = (tmp_path / "judged" / "per_sample.jsonl").read_text().splitlines()
    records = [json.loads(line) for line in lines]
    decided = [row["conf"] for row in records if row["verdict_raw"] != "UNDECIDABLE"]
    assert min(decided) >= best["threshold"]


def test_the_scene_graph_is_compared_with_people_over_recorded_boxes(terminal):
    metrics = ("--metrics", "visor", "scene_graph:wrong_relation=0.5", "--json")
    run = ("--run", GOLDEN / "spatialbench_run")
    done = terminal("audit", "correlate", *ANALYSIS, *run, *metrics)
    assert done.code == 0, done.err
    figures = {each["metric"]: each for each in json.loads(done.out)["metrics"]}
    assert {"visor", "scene_graph"} <= set(figures)
    assert figures["scene_graph"]["n"] == 2  # the labelled pictures of this run


def test_a_metric_that_needs_masks_is_refused_over_recorded_boxes(terminal):
    run = ("--run", GOLDEN / "spatialbench_run")
    done = terminal("audit", "correlate", *ANALYSIS, *run, "--metrics", "pse")
    assert done.code != 0
    assert "scene_graph" in done.err
