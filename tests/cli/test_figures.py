import json
from pathlib import Path

import pytest

from tests.cli.test_stored_runs import PROMPT


@pytest.fixture
def runs(terminal, tmp_path):
    """A guided run and its baseline."""

    def drawn(*options):
        done = terminal("generate", PROMPT, "--out", tmp_path / "runs", "--json", *options)
        return json.loads(done.out)["picture"]

    return drawn(), drawn("--guidance", "none")


def test_one_command_composes_a_figure(terminal, runs, tmp_path):
    target = tmp_path / "figure.pdf"
    done = terminal("figure", *runs, "--out", target, "--steps", "1", "2", "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {"files": [str(target)]}
    assert target.read_bytes().startswith(b"%PDF")


def test_steps_beyond_the_last_are_named(terminal, runs, tmp_path):
    target = tmp_path / "figure.svg"
    done = terminal("figure", *runs, "--out", target, "--steps", "1", "400")
    assert done.code == 0
    assert "Step 400 is not shown: the last step is " in done.err


@pytest.mark.parametrize("moment", ["before", "after"])
def test_the_moment_of_guided_steps_is_chosen(terminal, runs, tmp_path, moment):
    target = tmp_path / "figure.svg"
    done = terminal("figure", *runs, "--out", target, "--steps", "1", "--moment", moment)
    assert (done.code, done.err, target.exists()) == (0, "", True)


def test_a_template_is_read_from_a_file_and_options_replace_its_fields(terminal, runs, tmp_path):
    template, target = tmp_path / "own.json", tmp_path / "figure.svg"
    template.write_text('{"width": 2, "steps": [99], "has_curves": false}')
    options = ("--out", target, "--template", template, "--steps", "1", "--footer")
    done = terminal("figure", *runs, *options)
    assert done.code == 0, done.err
    assert '<svg xmlns="http://www.w3.org/2000/svg" width="144pt"' in target.read_text()
    assert "Denoising step" not in target.read_text()


def test_runs_are_named_by_id_and_the_caption_goes_into_latex(terminal, runs, tmp_path):
    ids, target = [Path(run).stem for run in runs], tmp_path / "figure.pdf"
    options = ("--library", tmp_path / "runs", "--steps", "1", "--latex", "--json")
    done = terminal("figure", *ids, "--out", target, *options)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {"files": [str(target), str(target.with_suffix(".tex"))]}
    assert "Baseline: ``" in target.with_suffix(".tex").read_text()
    unknown = terminal("figure", "nothing", "--out", target, *options)
    assert unknown.code != 0
    assert 'no file or run "nothing"' in unknown.err


@pytest.mark.parametrize("content", ["", "[", '{"width": 1e999}', '{"colour": 1}', "[" * 5000])
def test_an_invalid_template_is_an_error_with_a_hint(terminal, tmp_path, content):
    template = tmp_path / "own.json"
    template.write_text(content)
    done = terminal("figure", "run.png", "--out", tmp_path / "x.pdf", "--template", template)
    assert done.code != 0
    assert "template" in done.err
    assert "Traceback" not in done.err
