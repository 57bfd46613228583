"""The command benchmark."""

import csv
import json
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
PLAN = """\
name = "Two methods"
seeds = "0-1"

[[prompts]]
set = "list"
file = "own.txt"

[[methods]]
name = "plain"
guidance = "none"

[[methods]]
name = "psg"
guidance = "psg"
"""
PROMPTS = ("a dog to the left of a car", "a cat above a dog", "a unicorn above a dog")


def plan_in(folder):
    (folder / "own.txt").write_text("\n".join(PROMPTS))
    path = folder / "plan.toml"
    path.write_text(PLAN)
    return path


def test_a_plan_is_checked_and_counted(terminal, tmp_path):
    finished = terminal("benchmark", "plan", plan_in(tmp_path))

    assert finished.code == 0
    assert "3 prompts x 2 methods x 2 seeds = 12 pictures" in finished.out
    assert "4 pictures cannot be drawn" in finished.out
    assert "unicorn" in finished.out


def test_many_reasons_are_counted(terminal, tmp_path):
    path = plan_in(tmp_path)
    (tmp_path / "own.txt").write_text("\n".join(f"a unicorn{n} above a dog" for n in range(13)))
    finished = terminal("benchmark", "plan", path)

    assert "52 pictures cannot be drawn" in finished.out
    assert '"unicorn9"' in finished.out
    assert '"unicorn10"' not in finished.out
    assert "and 3 other reasons" in finished.out


def test_a_plan_is_estimated_in_json(terminal, tmp_path):
    finished = terminal("benchmark", "plan", plan_in(tmp_path), "--json")

    answer = json.loads(finished.out)
    assert (answer["pictures"], answer["unusable"], answer["methods"]) == (12, 4, ["plain", "psg"])
    assert answer["disk_bytes"] > 0
    assert answer["memory_bytes"] > 0


def test_a_new_plan_can_be_checked_at_once(terminal, tmp_path):
    path = tmp_path / "new.toml"

    first = terminal(
        "benchmark", "plan", path, "--new", "--methods", "none,psg", "--set", "spatialbench-uc"
    )
    again = terminal("benchmark", "plan", path, "--new")

    assert first.code == 0
    assert "200 prompts x 2 methods x 4 seeds = 1600 pictures" in first.out
    assert again.code != 0
    assert "already exists" in again.err


def test_a_new_plan_compares_refinement_and_counts_all_its_rounds(terminal, tmp_path):
    one, other = tmp_path / "plain.toml", tmp_path / "refine.toml"
    plain = terminal("benchmark", "plan", one, "--new", "--methods", "none", "--json")
    refined = terminal("benchmark", "plan", other, "--new", "--methods", "refine", "--json")
    wrong = terminal("benchmark", "plan", tmp_path / "x.toml", "--new", "--methods", "refin")

    assert 'refine = "recommended"' in other.read_text()
    assert json.loads(refined.out)["methods"] == ["refine"]
    sizes = [json.loads(each.out)["disk_bytes"] for each in (plain, refined)]
    assert sizes[1] == 5 * sizes[0]
    assert 'There is no method "refin"' in wrong.err


def test_a_new_plan_names_metrics_and_an_answerer_but_no_server(terminal, tmp_path, monkeypatch):
    monkeypatch.setenv("SPATIAL_STUDIO_LLM_SERVER", "http://localhost:9/v1")
    monkeypatch.setenv("SPATIAL_STUDIO_LLM_MODEL", "tiny")
    monkeypatch.setenv("SPATIAL_STUDIO_LLM_KEY", "secret")
    path, options = tmp_path / "new.toml", ("--metrics", "visor,choices")

    made = terminal("benchmark", "plan", path, "--new", *options, "--answerer", "vision-model")
    text = path.read_text()
    wrong = terminal(
        "benchmark", "plan", path, "--new", "--metrics", "visor", "--answerer", "x", "--overwrite"
    )

    assert made.code == 0
    assert 'metrics = ["visor", "choices"]\nanswerer = "vision-model"' in text
    assert not any(word in text for word in ("localhost", "tiny", "secret"))
    assert "asks no multiple-choice questions" in wrong.err


def test_an_error_in_a_plan_names_its_line(terminal, tmp_path):
    path = plan_in(tmp_path)
    path.write_text(PLAN.replace('guidance = "psg"', 'guidence = "psg"'))

    finished = terminal("benchmark", "plan", path)

    assert finished.code != 0
    assert 'plan.toml, line 14: there is no field "guidence"' in finished.err


def test_a_benchmark_runs_continues_and_reports_its_state(terminal, tmp_path):
    plan, out = plan_in(tmp_path), tmp_path / "out"

    smoke = terminal("benchmark", "run", plan, "--out", out, "--smoke")
    resumed = terminal("benchmark", "resume", out)
    status = terminal("benchmark", "status", out, "--json")

    assert (smoke.code, resumed.code) == (0, 0)
    assert "2 of 8 pictures are done" in smoke.out
    assert "8 of 8 pictures are done" in resumed.out
    assert "8/8" in resumed.err
    answer = json.loads(status.out)
    assert (answer["pictures"], answer["done"], answer["causes"]) == (8, 8, {})
    assert answer["costs"]["plain"]["passes"] == 4.0  # two steps with and without the prompt
    assert answer["devices"]["cpu"]["pictures"] == 8
    assert 0 < answer["devices"]["cpu"]["per_hour"] <= 3600 / 0.5  # each took half a second
    assert (out / "results" / "psg" / "eval" / "per_sample.jsonl").exists()


def test_a_paused_benchmark_says_so(terminal, tmp_path):
    plan, out = plan_in(tmp_path), tmp_path / "out"
    terminal("benchmark", "run", plan, "--out", out, "--smoke")

    terminal("benchmark", "pause", out, "--drain")
    held = terminal("benchmark", "status", out)
    resumed = terminal("benchmark", "resume", out)

    assert "held: drain" in held.out
    assert "cpu: 2 pictures, " in held.out
    assert "time left: " in held.out
    assert "time left" not in resumed.out
    assert "8 of 8" in resumed.out


def test_a_folder_without_a_benchmark_is_named(terminal, tmp_path):
    finished = terminal("benchmark", "status", tmp_path)

    assert finished.code != 0
    assert "contains no benchmark" in finished.err


def test_a_benchmark_is_reported_compared_and_chosen_from(terminal, tmp_path):
    plan, out = plan_in(tmp_path), tmp_path / "out"
    terminal("benchmark", "run", plan, "--out", out)
    page, table = tmp_path / "report.html", tmp_path / "report.csv"

    report = terminal("benchmark", "report", out, "--out", page, "--out", table, "--corrupt-masks")
    again = terminal("benchmark", "report", out, "--out", page)
    compared = terminal("benchmark", "compare", out, "--json")
    chosen = terminal("benchmark", "choose", out, "--json")

    assert report.code == 0
    assert "PASS over all" in report.out
    assert page.read_text().startswith("<!doctype html>")
    assert "plain,all,,pass_all," in table.read_text()
    assert "plain,best_of_n,pse,n 2," in table.read_text()
    assert "plain,corrupted_masks,dropout,mean_pse" in table.read_text()
    assert again.code != 0
    assert json.loads(compared.out)["comparisons"][0]["first"] == "plain"
    assert json.loads(chosen.out)["scores"] == 4


def test_comparisons_are_written_as_csv_and_latex(terminal, tmp_path):
    out, table, tex = tmp_path / "out", tmp_path / "pairs.csv", tmp_path / "pairs.tex"
    terminal("benchmark", "run", plan_in(tmp_path), "--out", out)

    made = terminal("benchmark", "compare", out, "--out", table, "--out", tex, "--json")
    again = terminal("benchmark", "compare", out, "--out", table)
    wrong = terminal("benchmark", "compare", out, "--out", tmp_path / "pairs.html")

    stated = json.loads(made.out)["comparisons"]
    lines = list(csv.DictReader(table.read_text().splitlines()))
    assert [line["value"] for line in lines] == [each["value"] for each in stated]
    for line, each in zip(lines, stated, strict=True):
        assert float(line["difference"]) == each["difference"]
        assert line["holm_p"] == ("" if each["holm_p"] is None else str(each["holm_p"]))
    assert tex.read_text().count("plain & psg & ") == len(stated)
    assert "already exists" in again.err
    assert ".csv, .tex" in wrong.err


def test_plan_and_report_state_the_part_of_a_prompt_set_and_licences(terminal, tmp_path):
    path = tmp_path / "plan.toml"
    path.write_text(
        'seeds = "0"\n[[prompts]]\nset = "visor"\nsample = 3\n[[prompts]]\nset = "contrast"\n'
        '[[methods]]\nname = "plain"\nguidance = "none"\n'
    )
    sample = "visor: sample of 3 of 25,280 prompts, licence MIT"

    planned = terminal("benchmark", "plan", path)
    answer = json.loads(terminal("benchmark", "plan", path, "--json").out)

    assert f"prompts of {sample}" in planned.out
    assert "prompts of contrast: all 728 prompts, licence not stated" in planned.out
    assert "licence MIT, local files" in planned.out
    assert [each["size"] for each in answer["prompt_sets"]] == [25_280, 728]
    assert answer["models"][0]["licence"] == "MIT"


def test_a_report_states_the_part_of_a_prompt_set(terminal, tmp_path):
    plan, out, page = plan_in(tmp_path), tmp_path / "out", tmp_path / "report.html"
    plan.write_text(f'{plan.read_text()}\n[[prompts]]\nset = "visor"\nsample = 1\n')
    terminal("benchmark", "run", plan, "--out", out)
    (tmp_path / "own.txt").unlink()

    report = terminal("benchmark", "report", out, "--out", page)

    for text in (report.out, page.read_text()):
        assert "visor: sample of 1 of 25,280 prompts" in text
        assert "list own.txt: all prompts" in text


def test_figures_of_a_report_and_of_a_choice_are_written(terminal, tmp_path):
    plan, out = plan_in(tmp_path), tmp_path / "out"
    terminal("benchmark", "run", plan, "--out", out)
    rates, best, race = (tmp_path / name for name in ("rates.svg", "best.svg", "race.pdf"))

    terminal("benchmark", "report", out, "--out", rates)
    terminal("benchmark", "report", out, "--as", "best-of-n", "--out", best)
    chosen = terminal("benchmark", "choose", out, "--value", "pse", "--out", race)
    again = terminal("benchmark", "choose", out, "--out", race)

    assert "PASS over decided" in texts_of(rates)
    assert {"Mean of the best by pass", "plain", "psg"} <= texts_of(best)
    assert race.read_bytes().startswith(b"%PDF")
    assert f"Wrote {race}" in chosen.out
    assert again.code != 0


def test_a_method_without_a_relation_has_no_rate_for_it(terminal, tmp_path):
    out, figure = tmp_path / "out", tmp_path / "relations.svg"
    terminal("benchmark", "run", plan_in(tmp_path), "--out", out)
    manifest = out / "results" / "plain" / "manifest.jsonl"
    kept = [line for line in manifest.read_text().splitlines() if "above" not in line]
    manifest.write_text("".join(f"{line}\n" for line in kept))

    report = terminal("benchmark", "report", out, "--as", "relations", "--out", figure)

    assert report.code == 0
    assert {"above", "left of", "none (n = 0)"} <= texts_of(figure)


def texts_of(drawing):
    return {"".join(each.itertext()) for each in ElementTree.parse(drawing).iter(f"{SVG}text")}


def test_a_report_has_a_known_ending(terminal, tmp_path):
    finished = terminal("benchmark", "report", tmp_path, "--out", "report.doc")

    assert finished.code != 0
    assert ".csv, .tex, .html" in finished.err


def test_the_best_method_is_chosen_while_drawing(terminal, tmp_path):
    plan, out = plan_in(tmp_path), tmp_path / "out"

    chosen = terminal("benchmark", "run", plan, "--out", out, "--choose", "pse", "--json")
    wrong = terminal("benchmark", "resume", out, "--choose", "pse", "--error", "2")

    answer = json.loads(chosen.out)
    assert answer["best"] in answer["pulls"]
    assert answer["pulls"] == {"plain": 4, "psg": 4}
    assert not answer["is_certain"]
    assert "between 0 and 1" in wrong.err


def test_engines_that_exclude_each_other_are_named(terminal, tmp_path):
    plan, out = plan_in(tmp_path), tmp_path / "out"
    run = ("benchmark", "run", plan, "--out", out)

    assert "--executor ray" in terminal(*run, "--address", "auto").err
    assert "--devices" in terminal(*run, "--executor", "ray", "--devices", "cuda:0").err
    assert "--workers" in terminal(*run, "--workers", "2", "--devices", "cuda:0").err
