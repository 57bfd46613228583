import json

import pytest

from spatialstudio.application.paths import StudioPaths
from tests.cli.conftest import InterruptedBackend
from tests.cli.test_stored_runs import PROMPT

OTHER = "a cat to the left of a car"


@pytest.fixture
def sweep(terminal, tmp_path):
    """Draw a sweep into one folder and return the answer, and the number of its pictures."""

    def drawn(*words):
        folder = tmp_path / "study"
        done = terminal("sweep", *words, "--guidance", "psg", "--out", folder, "--json")
        assert done.code == 0, done.err
        return json.loads(done.out), len(list(folder.glob("*.png")))

    return drawn


def test_one_command_draws_prompts_at_strengths_and_seeds(sweep):
    answer, pictures = sweep(PROMPT, OTHER, "--strength", "0,5", "--seeds", "0-2")
    assert pictures == len(answer["runs"]) == 12
    assert [group["runs"] for group in answer["groups"]] == [6, 6]
    drawn = {tuple(run["settings"].values()) for run in answer["runs"]}
    assert len(drawn) == 12
    difference = answer["groups"][1]["differences"]["pse"]
    assert (difference["n"], difference["missing"]) == (6, 0)


def test_the_same_command_plots_the_study(terminal, tmp_path):
    plot = tmp_path / "study.svg"
    words = ("sweep", PROMPT, "--strength", "0,5", "--seeds", "0-1", "--guidance", "psg")
    words = (*words, "--out", tmp_path / "study", "--plot", plot)
    done = terminal(*words)
    assert done.code == 0, done.err
    assert "strength" in done.out
    assert ">Step size<" in plot.read_text()
    plot.write_text("mine")
    assert terminal(*words).code == 2
    assert plot.read_text() == "mine"
    assert terminal(*words, "--overwrite").code == 0
    assert plot.read_text() != "mine"


def test_the_plot_follows_the_numbers_and_the_groups(terminal, tmp_path):
    plot = tmp_path / "study.svg"
    words = ("sweep", PROMPT, "--strength", "0,5", "--seeds", "0-1", "--guidance", "psg")
    words = (*words, "--numbers", "pse,visor", "--by", "seed")
    assert terminal(*words, "--out", tmp_path / "study", "--plot", plot).code == 0
    text = plot.read_text()
    assert ">Seed<" in text
    assert ">PSE (share)<" in text
    assert ">VISOR (share)<" in text
    assert ">PoS (probability)<" not in text


def test_an_unknown_number_is_reported_before_anything_is_drawn(terminal, tmp_path):
    done = terminal("sweep", PROMPT, "--numbers", "zebra", "--out", tmp_path / "study")
    assert done.code == 2
    assert 'no number "zebra"' in done.err
    assert not (tmp_path / "study").exists()


def test_a_plot_is_a_figure(terminal, tmp_path, capsys):
    with pytest.raises(SystemExit):
        terminal("sweep", PROMPT, "--out", tmp_path / "study", "--plot", "study.csv")
    assert '"study.csv" does not end in .svg, .pdf, .png' in capsys.readouterr().err
    assert not (tmp_path / "study").exists()


def test_pictures_in_the_folder_are_not_drawn_again(sweep, tmp_path):
    sweep(PROMPT, "--strength", "0,5", "--seeds", "0,1")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "study").glob("*.png")}
    next(iter(before)).unlink()
    answer, pictures = sweep(PROMPT, "--strength", "0,5,10", "--seeds", "0-1")
    after = {path: path.stat().st_mtime_ns for path in (tmp_path / "study").glob("*.png")}
    kept = [path for path in before if path in after and before[path] == after[path]]
    assert len(kept) == len(before) - 1
    assert len(answer["runs"]) == 6
    assert pictures == 6


def test_the_window_keeps_its_own_prompt(terminal, tmp_path):
    drafts = StudioPaths.within(tmp_path).settings / "draft.json"
    for words in (("generate", PROMPT), ("sweep", PROMPT, "--seeds", "0-1")):
        assert terminal(*words, "--out", tmp_path / "other").code == 0
        assert not drafts.exists()


def test_a_stopped_sweep_says_how_many_pictures_there_are(terminal, registry, tmp_path):
    words = ("sweep", PROMPT, "--out", tmp_path / "study", "--seeds")
    assert terminal(*words, "0-1").code == 0
    usual, registry.backend_made = registry.backend_made, InterruptedBackend()
    done = terminal(*words, "0-4")
    assert done.code == 130
    message = "Stopped after 2 of 5 pictures; the same command continues."
    assert done.err.splitlines()[-1] == message
    registry.backend_made = usual
    assert "5 pictures, 3 to generate" in terminal(*words, "0-4").err


def test_a_file_gets_the_number_of_pictures(terminal, tmp_path):
    words = ("sweep", PROMPT, "--out", tmp_path / "study", "--seeds")
    assert "10 of 11 pictures" in terminal(*words, "0-10").err
    assert "of 12 pictures" not in terminal(*words, "0-11").err


def test_any_option_with_a_value_can_be_varied(sweep):
    answer, _ = sweep(PROMPT, "--vary", "steps=2,3", "--vary", "inner-updates=1,2")
    found = {(run["settings"]["steps"], run["settings"]["inner_updates"]) for run in answer["runs"]}
    assert found == {(2, 1), (2, 2), (3, 1), (3, 2)}


def test_options_of_the_guidance_method_can_be_varied(sweep):
    answer, _ = sweep(PROMPT, "--vary", "paper_loss=false,true")
    found = {run["settings"]["paper_loss"] for run in answer["runs"]}
    assert found == {False, True}


def test_unguided_pictures_are_drawn_once_for_all_methods(sweep):
    words = ("--strength", "0,5", "--vary", "guidance=psg,layout")
    assert sweep(PROMPT, *words)[1] == 3


def test_the_filter_of_each_prompt_s_grid_is_printed(terminal, tmp_path):
    folder = tmp_path / "study"
    words = ("sweep", PROMPT, OTHER, "--strength", "0,5", "--seeds", "0-1", "--guidance", "psg")
    printed = terminal(*words, "--out", folder).err.splitlines()
    assert f'choose "{folder}" as library folder' in printed[-1]
    for prompt in (PROMPT, OTHER):
        (line,) = (each for each in printed if each.startswith(f'Grid of "{prompt}": '))
        grid = line.split()[-1]
        done = terminal("runs", "list", grid, "--library", folder, "--json")
        found = json.loads(done.out)
        assert found["found"] == 4
        assert {run["prompt"] for run in found["runs"]} == {prompt}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--vary", "colour=1,2"), 'no option "colour"'),
        (("--vary", "steps=2,many"), "invalid int value"),
        (("--vary", "out=a,b"), "cannot be varied"),
        (("--search", "2"), "--search"),
        (("--seeds", "0-299", "--strength", "0,5"), "too large"),
    ],
    ids=["unknown", "no number", "folder", "search", "many"],
)
def test_sweeps_that_cannot_be_drawn_say_why(terminal, tmp_path, words, message):
    done = terminal("sweep", PROMPT, *words, "--out", tmp_path / "study")
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "study").exists()


def test_a_sweep_without_a_folder_continues_in_the_library(terminal, tmp_path):
    first, again = (terminal("sweep", PROMPT, "--seeds", "0-1", "--json") for _ in range(2))
    assert first.code == again.code == 0, first.err
    assert len(list(StudioPaths.within(tmp_path).runs.rglob("*.png"))) == 2
    assert "2 pictures, 0 to generate" in again.err


def test_generate_draws_a_list_of_prompts_with_several_seeds(terminal, tmp_path):
    prompts, folder = tmp_path / "own.txt", tmp_path / "study"
    prompts.write_text(f"{PROMPT}\n{OTHER}\n")
    words = ("generate", "--prompts", prompts, "--seeds", "0-2", "--out", folder, "--json")

    first, again = terminal(*words), terminal(*words)

    assert first.code == again.code == 0, first.err
    assert len(json.loads(first.out)["runs"]) == len(list(folder.glob("*.png"))) == 6
    assert "6 pictures, 0 to generate" in again.err


def test_generate_draws_a_list_of_prompts_into_the_library(terminal, tmp_path):
    prompts = tmp_path / "own.txt"
    prompts.write_text(f"{PROMPT}\n{OTHER}\n")
    done = terminal("generate", "--prompts", prompts)
    assert done.code == 0, done.err
    assert len(list(StudioPaths.within(tmp_path).runs.rglob("*.png"))) == 2


def test_generate_takes_one_prompt_or_a_list(terminal, tmp_path):
    (tmp_path / "own.txt").write_text(f"{PROMPT}\n")
    both = terminal("generate", PROMPT, "--prompts", tmp_path / "own.txt")

    assert "Pass a prompt or --prompts" in both.err
    assert "Pass a prompt or --prompts" in terminal("generate").err
    assert (
        "No prompts can be read"
        in terminal("generate", "--prompts", tmp_path / "x.txt", "--out", tmp_path / "o").err
    )
