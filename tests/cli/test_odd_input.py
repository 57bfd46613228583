"""Odd arguments, files and streams: each is answered in a sentence, never as a fault of ours."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spatialstudio.application.paths import HOME_VARIABLE
from tests.cli.conftest import Finished

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "spatialbench_run"
PROMPT = "a dog to the left of a car"
NO_TEXT = "a dog \udcff left of a car"
LONG = "n" * 5000
DEEP = b"[" * 100_000

FAILURE, MISTAKE = 1, 2


@pytest.fixture
def odd(tmp_path, monkeypatch):
    """A folder with files and folders that are not what a command asks for; the current one."""
    folder = tmp_path / "odd"
    folder.mkdir()
    contents = {
        "empty": b"",
        "nul": b"\0" * 64,
        "latin.jsonl": '{"id": 1, "prompt": "café"}'.encode("latin-1"),
        "latin.csv": "picture,prompt\ncafé.png,a dog\n".encode("latin-1"),
        "columns.csv": b"a,b\n1,2\n",
        "nul.csv": b"picture,prompt\n\0,\0\n",
        "deep.json": DEEP,
        "deep.yaml": b"[" * 3000,
        "bytes.yaml": bytes(range(256)),
        "tag.yaml": b"!!python/object/apply:os.system [ls]",
        "text.png": b"Dear diary",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    run = folder / "run"
    shutil.copytree(GOLDEN, run)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def typed(terminal, capsys):
    """Type a command, whether it or the reading of its words ends the program."""

    def type_in(*words):
        try:
            return terminal(*words)
        except SystemExit as ended:
            written = capsys.readouterr()
            return Finished(int(ended.code), written.out, written.err)

    return type_in


def is_sentence(done):
    """Say whether a complaint is words for people, with no sign of a fault of ours."""
    return done.err.strip() and "Unexpected error" not in done.err and "Trace" not in done.err


READING = {
    "prompts": ["evaluate", "text.png", "--prompts"],
    "checker": ["evaluate", "text.png", "--prompt", PROMPT, "--checker"],
    "picture": ["evaluate", "--prompt", PROMPT],
    "records": ["judge-records", "--out", "judged"],
    "sweep": ["sweep-records"],
    "again": ["judge-again"],
    "corruption": ["corruption-study"],
    "show": ["runs", "show"],
    "library": ["runs", "list", "--library"],
    "import": ["runs", "import"],
    "redraw": ["runs", "again"],
    "theme": ["runs", "export", "text.png", "--out", "o.png", "--theme"],
}
UNREADABLE = [
    *("missing", "empty", "nul", "deep.json", "loop", "dangling", LONG, f"folder/{LONG}"),
    *("empty/inside", "http://[::1", "/dev/null"),
]


@pytest.mark.parametrize("file", UNREADABLE, ids=lambda name: name[:12])
@pytest.mark.parametrize("words", READING.values(), ids=list(READING))
def test_an_unreadable_file_is_reported(typed, odd, words, file):
    done = typed(*words, file)
    assert done.code in {FAILURE, MISTAKE}
    assert is_sentence(done), done.err
    assert LONG not in done.err
    assert not (odd / "judged").exists()


@pytest.mark.parametrize("file", ["missing", "folder", "loop", LONG, "latin.jsonl", "empty/inside"])
def test_unreadable_prompts_are_reported(typed, odd, file):
    done = typed("parse", "--file", file)
    assert done.code == MISTAKE
    assert is_sentence(done), done.err


@pytest.mark.parametrize("file", ["nul", "deep.json", "columns.csv"])
def test_rows_without_a_prompt_are_rows_of_the_output(typed, odd, file):
    done = typed("parse", "--file", file)
    assert done.code == FAILURE
    assert '"error"' in done.out


@pytest.mark.parametrize("file", ["latin.csv", "columns.csv", "nul.csv"])
def test_an_invalid_table_of_prompts_is_reported(typed, odd, file):
    done = typed("evaluate", "text.png", "--prompts", file)
    assert done.code in {FAILURE, MISTAKE}
    assert "Unexpected error" not in done.err


@pytest.mark.parametrize("file", ["deep.yaml", "bytes.yaml", "tag.yaml"])
@pytest.mark.parametrize("name", ["judge-records", "evaluate"])
def test_unreadable_settings_are_reported(typed, odd, name, file):
    asked = {
        "judge-records": ["judge-records", "run", "--out", "judged"],
        "evaluate": ["evaluate", "text.png", "--prompt", PROMPT],
    }[name]
    done = typed(*asked, "--checker", file)
    assert done.code in {FAILURE, MISTAKE}
    assert is_sentence(done), done.err


WRITING = {
    "generate": ["generate", PROMPT, "--steps", "1"],
    "records": ["judge-records", "run"],
    "prompts": ["benchmark-prompts"],
    "export": ["runs", "export", "text.png"],
}
UNWRITABLE = ["empty/inside", "loop/inside", LONG, f"folder/{LONG}", "/dev/null/inside"]


@pytest.mark.parametrize("target", UNWRITABLE, ids=lambda name: name[:12])
@pytest.mark.parametrize("words", WRITING.values(), ids=list(WRITING))
def test_an_output_path_that_cannot_be_written_is_reported(typed, odd, words, target):
    done = typed(*words, "--out", target)
    assert done.code in {FAILURE, MISTAKE}
    assert is_sentence(done), done.err


def test_prompts_are_written_to_an_existing_folder(typed, odd):
    assert typed("benchmark-prompts", "--out", "folder").code == 0
    assert (odd / "folder" / "prompts.jsonl").read_bytes()


@pytest.mark.parametrize("target", ["/dev/null", "/dev/full"])
def test_prompts_are_written_to_regular_files_only(typed, odd, target):
    before = Path(target).stat().st_mode
    done = typed("benchmark-prompts", "--out", target)
    assert done.code in {FAILURE, MISTAKE}
    assert is_sentence(done), done.err
    assert Path(target).stat().st_mode == before


@pytest.mark.parametrize("target", ["text.png", LONG])
def test_results_are_appended_to_files_of_results_only(typed, odd, target):
    before = (odd / "text.png").read_bytes()
    done = typed("evaluate", "text.png", "--prompt", PROMPT, "--out", target)
    assert done.code in {FAILURE, MISTAKE}
    assert is_sentence(done), done.err
    assert (odd / "text.png").read_bytes() == before


@pytest.mark.parametrize(
    "words",
    [
        ["parse", NO_TEXT],
        ["parse", "--json", NO_TEXT],
        ["generate", NO_TEXT],
        ["generate", PROMPT, "--negative", NO_TEXT],
        ["generate", PROMPT, "--model", NO_TEXT],
        ["evaluate", "text.png", "--prompt", NO_TEXT, "--csv"],
        ["evaluate", "text.png", "--prompt", PROMPT, "--set", NO_TEXT],
        ["evaluate", "text.png", "--prompt", PROMPT, "--judges", NO_TEXT],
        ["runs", "list", "--library", NO_TEXT],
        [NO_TEXT],
    ],
    ids=lambda words: " ".join(words[::2])[:30].encode("ascii", "ignore").decode(),
)
def test_binary_input_is_a_user_error(typed, odd, words):
    done = typed(*words)
    assert done.code in {FAILURE, MISTAKE}
    assert "Unexpected error" not in done.err
    assert "Traceback" not in done.err


NUMBERS = ["nan", "inf", "-inf", "1e400", "-1", "9" * 5000, "x", "", "1_0x"]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:6] or "nothing")
@pytest.mark.parametrize(
    "option",
    [
        *("--seed", "--steps", "--width", "--height", "--strength", "--goal", "--guided-steps"),
        *("--every", "--inner-updates", "--guidance-scale", "--search", "--enough"),
    ],
)
def test_a_number_out_of_range_is_a_user_error(typed, odd, option, number):
    done = typed("generate", PROMPT, f"{option}={number}", "--out", "drawn")
    allowed = {("--guided-steps", "-1"), ("--enough", "-1"), ("--enough", "-inf")}
    assert done.code == MISTAKE or (option, number) in allowed, done.err
    assert "Unexpected error" not in done.err


@pytest.mark.parametrize("number", NUMBERS, ids=lambda text: text[:6] or "nothing")
def test_a_seed_of_the_study_out_of_range_is_a_user_error(typed, odd, number):
    done = typed("corruption-study", "run", f"--seed={number}")
    assert done.code in {FAILURE, MISTAKE}
    assert is_sentence(done), done.err


CLOSED = {
    "pipe": "{program} parse 'a dog above a car' | true; exit ${{PIPESTATUS[0]}}",
    "help": "{program} --help > /dev/full",
    "full disk": "{program} parse 'a dog above a car' > /dev/full",
    "stdout": "{program} parse 'a dog above a car' >&-",
    "rows": "{program} parse --file prompts > /dev/full",
}


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("line", CLOSED.values(), ids=list(CLOSED))
def test_a_closed_output_is_a_failure(odd, tmp_path, line):
    (odd / "prompts").write_text(f'{{"id": 1, "prompt": "{PROMPT}"}}\n')
    done = in_shell(line, odd, tmp_path)
    assert done.returncode == FAILURE
    assert done.stderr.startswith(("Standard output was closed", "The output cannot be written"))
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["2>&-", "<&-", "<&- 2>&-", "2>/dev/full"])
def test_the_other_streams_may_be_closed(odd, tmp_path, closed):
    done = in_shell(f"{{program}} parse 'a dog above a car' {closed}", odd, tmp_path)
    assert done.returncode == 0
    assert "dog above car" in done.stdout


def in_shell(line, folder, home):
    environment = {**os.environ, HOME_VARIABLE: str(home / "home"), "PYTHONPATH": str(ROOT)}
    program = f"'{sys.executable}' -P -m spatialstudio"
    return subprocess.run(
        ["bash", "-c", line.format(program=program)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
