"""The library in the terminal: find, show, export, import, verify, draw again."""

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from spatialstudio.adapters.storage.metadata.reader import PictureMetadata
from spatialstudio.adapters.storage.stores import atomic_write
from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.cli.runs import _comparison_lines
from spatialstudio.domain.library import Reproduction, Sameness
from spatialstudio.domain.verdict import Outcome

PROMPT = "a photo of a dog to the left of a car"
ASKED = "fake, seed 0, 2 steps, guidance layout, step size 100, not needed"


@pytest.fixture
def runs(tmp_path):
    return tmp_path / "runs"


@pytest.fixture
def picture(terminal, runs):
    return json.loads(terminal("generate", PROMPT, "--out", runs, "--json").out)["picture"]


def answer(done):
    assert done.code == 0, done.err
    return json.loads(done.out)


def test_a_single_step_is_singular(terminal, tmp_path):
    said = terminal("generate", PROMPT, "--steps", "1", "--out", tmp_path).out
    assert "seed 0, 1 step, guidance layout" in said


def test_runs_are_found_by_a_filter(terminal, runs, picture):
    found = answer(terminal("runs", "list", "--library", runs, "--json", "verdict:pass", "dog"))
    assert [run["picture"] for run in found["runs"]] == [picture]
    assert found["runs"][0]["relations"][0]["outcome"] == "PASS"
    assert found["runs"][0]["is_left_unguided"]  # the fake model reports no pass of guidance
    assert answer(terminal("runs", "list", "--library", runs, "--json", "cat"))["found"] == 0


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["-verdict:fail"], 1),
        (["-verdict:pass"], 0),
        (["-house"], 1),
        (["-hat -cat"], 1),
        (["dog", "-tag:draft", "-dog"], 0),
        (["-relation:left", "--most", "3"], 0),
        (["--filter", "-verdict:pass"], 0),
        (["dog", "--most", "3", "-hat", "--json", "car"], 1),
        (["dog", "--most", "3", "hat"], 0),
        (["dog", "--filter", "-verdict:fail", "--filter=-cat"], 1),
        (["--", "-verdict:pass"], 0),
    ],
)
def test_a_filter_may_begin_with_a_minus(terminal, runs, picture, words, found):
    done = terminal("runs", "list", "--library", runs, "--json", *words)
    assert answer(done)["found"] == found


@pytest.mark.parametrize(
    ("words", "unknown"),
    [(("list", "dog", "--mots=3", "cat"), "--mots=3"), (("reindex", "dog"), "dog")],
)
def test_unknown_names_are_rejected(terminal, capsys, words, unknown):
    with pytest.raises(SystemExit):
        terminal("runs", *words)
    assert f"unrecognized arguments: {unknown}\n" in capsys.readouterr().err


@pytest.mark.parametrize("action", ["verify", "show", "export"])
def test_runs_can_be_chosen_by_a_filter_that_begins_with_a_minus(
    terminal, runs, picture, tmp_path, action
):
    more = ["--as", "clean", "--out", tmp_path / "out"] if action == "export" else []
    words = ("runs", action, "--library", runs, *more, "--filter")
    assert terminal(*words, "-verdict:fail").code == 0
    assert "No run matches" in terminal(*words, "-verdict:pass").err


@pytest.mark.parametrize("rest", [(), ("--",)], ids=["nothing", "no more options"])
def test_a_missing_filter_is_reported(terminal, capsys, rest):
    with pytest.raises(SystemExit, match="2"):
        terminal("runs", "verify", "--filter", *rest)
    assert "--filter: expected one argument" in capsys.readouterr().err


@pytest.mark.parametrize("words", [("runs", "show"), ("runs", "verify"), ("study", "--each-run")])
def test_a_run_is_given_by_its_id(terminal, runs, picture, words):
    done = terminal(*words, "--library", runs, Path(picture).stem, "--json")
    assert done.code == 0, done.err
    both = terminal(*words, "--library", runs, picture, "absent", "--json")
    assert both.code == 1
    assert "There is no file or run" in both.err + both.out


def test_a_run_is_drawn_again_by_its_id(terminal, runs, picture):
    again = answer(terminal("runs", "again", "--library", runs, Path(picture).stem, "--json"))
    assert again["sameness"] == "same"


@pytest.mark.parametrize("command", ["judge-again", "study", "corruption-study"])
def test_an_unknown_id_leaves_the_other_runs(terminal, picture, command):
    done = terminal(command, picture, "absent")
    assert done.code == 1
    assert 'There is no file or run "absent".' in done.err
    assert done.out


def test_runs_are_printed_as_a_list(terminal, runs, picture):
    done = terminal("runs", "list", "--library", runs)
    first, made, place, _ = (line.strip() for line in done.out.splitlines())
    assert first.split(maxsplit=1) == ["PASS", PROMPT]
    assert made.endswith(f" UTC: {ASKED}")
    assert place == picture
    assert done.out.endswith("1 found\n")


def test_a_picture_of_another_program_is_listed_without_made_up_settings(terminal, runs):
    runs.mkdir()
    Image.new("RGB", (8, 8)).save(runs / "plain.png")
    done = terminal("runs", "list", "--library", runs)
    assert done.out.splitlines()[1].endswith("UTC: no generation settings recorded")
    assert "seed" not in done.out


def test_an_invalid_filter_is_reported(terminal, runs, picture):
    done = terminal("runs", "list", "--library", runs, "verdict:maybe")
    assert done.code == 2
    assert "verdict:pass" in done.err


def test_a_run_is_shown(terminal, runs, picture):
    prompt, *told = terminal("runs", "show", "--library", runs, picture).out.splitlines()
    assert prompt == PROMPT
    assert ASKED in told


def test_a_run_is_exported_and_imported_into_another_library(terminal, runs, picture, tmp_path):
    bundle = tmp_path / "two.zip"
    terminal("runs", "export", "--library", runs, picture, "--as", "bundle", "--out", bundle)
    other = tmp_path / "other"
    (arrived,) = answer(terminal("runs", "import", "--library", other, bundle, "--json"))["files"]
    assert answer(terminal("runs", "verify", "--library", other, arrived, "--json"))["checked"] == 1
    assert answer(terminal("runs", "reindex", "--library", other, "--json"))["runs"] == 1


def test_a_damaged_run_is_named_and_sets_the_exit_code(terminal, runs, picture):
    (trace,) = runs.glob("*.strace")
    trace.write_bytes(trace.read_bytes()[:-50])
    done = terminal("runs", "verify", "--library", runs)
    assert done.code == 1
    assert "is damaged" in done.out


def test_a_run_drawn_again_is_the_same(terminal, runs, picture):
    again = answer(terminal("runs", "again", "--library", runs, picture, "--json"))
    assert again["sameness"] == "same"
    assert again["reasons"] == []


def test_a_run_drawn_again_names_the_written_file(terminal, runs, picture):
    done = terminal("runs", "again", "--library", runs, picture)
    (written,) = (str(file) for file in runs.glob("*.png") if str(file) != picture)
    assert done.out.splitlines() == [
        f"Wrote {written}",
        "The picture is the same: every pixel is equal.",
    ]


@pytest.mark.parametrize(
    ("sameness", "largest", "reasons", "last"),
    [
        (Sameness.SAME, 0, (), "The picture is the same: every pixel is equal."),
        (Sameness.CLOSE, 1, (), "No recorded difference of software or machine."),
        (Sameness.DIFFERENT, None, (), "No recorded difference of software or machine."),
        (
            Sameness.DIFFERENT,
            9,
            ("device (cpu then, cuda:0 now)",),
            "device (cpu then, cuda:0 now)",
        ),
    ],
)
def test_a_difference_without_a_recorded_reason_is_stated(sameness, largest, reasons, last):
    comparison = Reproduction(
        sameness=sameness, mean_difference=largest, largest_difference=largest, reasons=reasons
    )
    assert [*_comparison_lines(comparison)][-1] == last


def test_a_missing_run_name_is_reported(terminal, runs):
    runs.mkdir()
    done = terminal("runs", "show", "--library", runs)
    assert done.code == 1
    assert "No run was given." in done.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("import", "{here}/nope.zip"), 'There is no file "{here}/nope.zip".'),
        (("list", "--library", "{here}/nope"), 'There is no folder "{here}/nope".'),
        (("reindex", "--library", "{here}/file"), '"{here}/file" is not a folder.'),
        (("import", "--library", "{here}/file", "x.zip"), '"{here}/file" is not a folder.'),
        (("list", "date:2026-13"), '"2026-13" is not a value of "date".'),
        (("list", "date>=2026-02-30"), '"2026-02-30" is not a value of "date".'),
        (("export", "--filter", "cat", "--out", "x"), "No run matches the filter."),
        (("show", "--filter", "cat"), "No run matches the filter."),
        (("export", "x.png", "--theme", "nope", "--out", "x"), 'There is no theme "nope".'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_a_user_error_is_one_sentence(terminal, tmp_path, words, sentence):
    (tmp_path / "file").write_text("taken")
    done = terminal("runs", *(word.format(here=tmp_path) for word in words))
    assert done.code != 0
    assert done.err.splitlines()[0] == sentence.format(here=tmp_path)


def test_a_negative_number_is_rejected(terminal, capsys):
    with pytest.raises(SystemExit, match="2"):
        terminal("runs", "list", "--most=-3")
    assert '"-3" is not a number of runs (0 or more)' in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (("runs", "export", "--out", "x", "--as", "foo"), "annotated, attention, storyboard, "),
        (("runs", "export", "--out", "x", "--layers", "foo"), "maps, masks, boxes, marginals"),
        (("generate", PROMPT, "--preset", "foo"), "published, spatialbench-uc, recommended"),
        (("generate", PROMPT, "--keep-attention", "foo"), '"Words in relations", "All layers", '),
    ],
    ids=lambda value: value[-2] if isinstance(value, tuple) else None,
)
def test_an_invalid_choice_lists_the_valid_ones(terminal, capsys, words, choices):
    with pytest.raises(SystemExit, match="2"):
        terminal(*words)
    assert f'"foo" is not one of {choices}' in capsys.readouterr().err


def test_a_run_named_twice_counts_once(terminal, runs, picture):
    done = terminal("runs", "verify", "--library", runs, picture, picture)
    assert done.out.splitlines() == [
        "1 run checked, none with errors",
        "The files are unchanged.",
        'Verdicts were not checked; use "--recheck".',
    ]


def test_judging_again_names_a_verdict_changed_in_the_store(terminal, runs, picture):
    store = RunFiles()
    record, _ = store.load(Path(picture))
    (true,) = record.evaluation.verdicts
    other = Outcome.FAIL if true.outcome is Outcome.PASS else Outcome.PASS
    changed = replace(true, outcome=other, reason=None)
    store.judge(Path(picture), replace(record.evaluation, verdicts=(changed,)))
    verified = terminal("runs", "verify", "--library", runs, picture)
    assert (verified.code, verified.out.splitlines()[0]) == (0, "1 run checked, none with errors")
    again = terminal("runs", "verify", "--recheck", "--library", runs, picture)
    named, count, *_, judged = again.out.splitlines()
    assert again.code == 1
    assert f"is {other.value}; judged again from the stored perception it is" in named
    assert count == "1 run checked, 1 with errors"
    assert judged == "1 run judged again: 1 with differences."


def test_unchanged_verdicts_are_confirmed(terminal, runs, picture):
    done = terminal("runs", "verify", "--recheck", "--json", "--library", runs, picture)
    assert json.loads(done.out) == {
        "checked": 1,
        "judged_again": 1,
        "with_differences": 0,
        "faults": [],
    }
    text = terminal("runs", "verify", "--recheck", "--library", runs, picture).out
    assert text.endswith("1 run judged again: verdict unchanged.\n")


def test_without_verdicts_none_are_said_to_be_unchanged(terminal, tmp_path):
    done = terminal("runs", "verify", "--recheck", "--library", tmp_path)
    assert done.out.splitlines()[-1] == "There are no verdicts to judge again."


def test_a_fault_is_reported_once(terminal, runs, picture):
    (trace,) = runs.glob("*.strace")
    trace.unlink()
    done = terminal("runs", "verify", "--library", runs, picture)
    told, count, _ = done.out.splitlines()
    assert "is missing" in told
    assert count == "1 run checked, 1 with errors"


def test_a_run_that_cannot_be_stored_prints_its_recovery_path(
    terminal, tmp_path, monkeypatch, caplog
):
    write = atomic_write.write_run_files

    def full(folder, name, files):
        if folder.name == "full":
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(folder, name, files)

    monkeypatch.setattr(atomic_write, "write_run_files", full)
    done = terminal("generate", PROMPT, "--out", tmp_path / "full")
    (kept,) = (tmp_path / "recovery").glob("*.png")
    assert done.code == 1
    assert f'The run was saved to "{kept}".' in done.err


def test_a_picture_can_be_written_without_the_mark(terminal, tmp_path):
    marked, unmarked = (
        json.loads(terminal("generate", PROMPT, "--out", tmp_path, "--json", *words).out)["picture"]
        for words in ((), ("--unmarked",))
    )
    told = [PictureMetadata().read(Path(file)) for file in (marked, unmarked)]
    assert [each.is_marked_as_generated for each in told] == [True, False]


def test_a_registered_export_kind_is_listed(terminal, prompt_list, capsys):
    with pytest.raises(SystemExit):
        terminal("runs", "export", "--help")
    assert f"{prompt_list.id} (txt)" in " ".join(capsys.readouterr().out.split())


def test_a_registered_export_kind_is_written(terminal, picture, tmp_path, prompt_list):
    done = terminal("runs", "export", picture, "--as", prompt_list.id, "--out", f"{tmp_path}/out/")
    assert done.code == 0
    (file,) = (tmp_path / "out").iterdir()
    assert file.suffix == ".txt"
    assert file.read_text() == PROMPT


@pytest.mark.usefixtures("diagonally_above")
def test_a_registered_relation_type_is_read_judged_stored_and_found(terminal, runs):
    prompt = "a photo of a dog diagonally {} a car"
    made = [
        answer(terminal("generate", prompt.format(word), "--out", runs, "--json"))
        for word in ("above", "below")
    ]
    own = terminal("generate", "a photo of a dog above a car", "--out", runs, "--json")
    shown = answer(terminal("runs", "show", made[0]["picture"], "--json"))["runs"][0]
    again = answer(terminal("judge-again", made[0]["picture"], "--json"))["runs"][0]
    for run in (shown, again):
        assert run["verdicts"][0]["relation"] == "dog diagonally above car"
        assert run["verdicts"][0]["outcome"] == answer(own)["verdicts"][0]["outcome"]
    found = answer(
        terminal("runs", "list", "relation:diagonally_above", "--library", runs, "--json")
    )
    assert [Path(each["picture"]).name for each in found["runs"]] == [Path(made[0]["picture"]).name]


@pytest.mark.usefixtures("diagonally_above")
def test_the_terminal_lists_registered_relation_types(terminal, capsys):
    with pytest.raises(SystemExit):
        terminal("parse", "--help")
    assert "diagonally above" in " ".join(capsys.readouterr().out.split())
