import json

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.chat.server import MODEL_VARIABLE, SERVER_VARIABLE
from tests.adapters.loopback import LoopbackServer, says, sends
from tests.application.questions.answerers import save_pictures
from tests.science.questions.choice_sets import line, message
from tests.sticker_pictures import save_sticker_picture

ANSWER = "--answerer", "vision-model"
PRICE = "--price-in", "2", "--price-out", "10"
WRONG = message("E" * 10)


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "data.jsonl"
    path.write_text("".join(json.dumps(line(number)) + "\n" for number in (1, 2)))
    return path


@pytest.fixture
def pictures(tmp_path):
    return save_pictures(tmp_path / "pictures", ["000001", "000002"])


@pytest.fixture
def ask(terminal, tmp_path, monkeypatch, data, pictures):
    """Ask a server that gives these replies about the pictures of the test."""

    def asking(*replies, options=("--published",), out="run"):
        with LoopbackServer(*replies) as server:
            monkeypatch.setenv(SERVER_VARIABLE, server.url)
            monkeypatch.setenv(MODEL_VARIABLE, "small")
            given = ("questions", "ask", data, pictures, "--out", tmp_path / out, *ANSWER)
            return terminal(*given, *options), server.questions

    return asking


def charged(text):
    usage = {"prompt_tokens": 1000, "completion_tokens": 50}
    return sends(json.dumps({"choices": [{"message": {"content": text}}], "usage": usage}).encode())


def test_pictures_are_asked_about_and_the_cost_is_shown(ask, tmp_path):
    done, requests = ask(charged(message()), options=("--published", *PRICE))
    assert (done.code, len(requests)) == (0, 10)
    assert "Estimated: 10 replies" in done.err
    assert "2/2 10 replies, 10,000 + 500 tokens" in done.err
    assert "0.0250 USD" in done.err
    assert "  overall         1.000" in done.out
    assert "agreement between rollouts: 100.0%" in done.out
    row = json.loads((tmp_path / "run" / "answers.jsonl").read_text().splitlines()[0])
    assert (row["avg_acc"], row["true-or-false"]) == ("10/10", [True] * 10)
    assert len(row["model_preds_cot"]) == 5


def test_the_written_answers_are_read_by_the_report(ask, terminal, tmp_path, data):
    ask(charged(message()), charged(message()), charged(WRONG), options=())
    answers = tmp_path / "run" / "answers.jsonl"
    reported = json.loads(
        terminal("questions", "report", data, "--rollouts", answers, "--json").out
    )
    shown = json.loads(terminal("questions", "show", tmp_path / "run", "--json").out)
    assert reported["answered"]["items"] == shown["answered"]["items"]
    assert reported["answered"]["overall"] == shown["answered"]["overall"]


def test_an_interrupted_run_continues_and_costs_nothing_twice(ask, terminal, tmp_path):
    faults = [charged(message())] * 7 + [sends(b"", 401)]
    done, requests = ask(*faults)
    assert (done.code, len(requests)) == (1, 8)
    assert "rejected the API key" in done.err
    again, requests = ask(charged(message()))
    assert (again.code, len(requests)) == (0, 3)
    cost = json.loads(terminal("questions", "show", tmp_path / "run", "--json").out)["cost"]
    assert (cost["replies"], cost["tokens_in"], cost["failures"]) == (10, 10_000, 1)


def test_a_second_run_takes_the_replies_from_the_cache(ask):
    ask(charged(message()))
    done, requests = ask(charged(WRONG), out="second")
    assert requests == []
    assert "10 cached" in done.err
    _, requests = ask(charged(WRONG), out="third", options=("--published", "--no-cache"))
    assert len(requests) == 10


def test_an_estimate_asks_nothing(ask):
    done, requests = ask(says(message()), options=("--estimate", "--json", *PRICE))
    assert requests == []
    estimate = json.loads(done.out)["estimate"]
    assert estimate["replies"] == 10
    assert estimate["money"]["amount"] > 0


def test_other_settings_in_the_same_folder_are_refused(ask):
    ask(charged(message()))
    done, requests = ask(charged(message()), options=("--blind",))
    assert (done.code, requests) == (2, [])
    assert "settings.json" in done.err


def test_methods_are_compared_best_first(ask, terminal, tmp_path):
    ask(charged(WRONG), options=("--published", "--method", "worse"))
    ask(charged(message()), out="b", options=("--published", "--method", "better", "--seed", "9"))
    done = terminal("questions", "compare", tmp_path / "run", tmp_path / "b")
    assert [row.split()[0] for row in done.out.splitlines()] == ["method", "better", "worse"]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (("--votes", "6/5"), 'The votes "6/5" are invalid.'),
        (("--votes", "4"), "are invalid"),
        (("--votes", "1/999999"), "out of range"),
        (("--temperature", "nan"), "out of range"),
        (("--price-in", "-1"), "The price is invalid."),
        (("--price-in", "nan"), "The price is invalid."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_options_are_named(ask, options, reason):
    done, requests = ask(says(message()), options=options)
    assert (done.code, requests) == (2, [])
    assert reason in done.err


def test_pictures_without_a_question_are_refused(ask, pictures):
    for path in pictures.iterdir():
        path.rename(path.with_stem(f"x{path.stem}"))
    done, _ = ask(says(message()))
    assert (done.code, "belongs to a question" in done.err) == (2, True)


def test_changed_questions_are_not_reported_on(ask, terminal, tmp_path, data):
    ask(charged(message()))
    data.write_text(json.dumps(line(1)))
    done = terminal("questions", "show", tmp_path / "run")
    assert (done.code, "have changed" in done.err) == (1, True)


def test_a_folder_without_a_run_is_named(terminal, tmp_path):
    done = terminal("questions", "show", tmp_path)
    assert (done.code, "contains no answers" in done.err) == (1, True)


def test_scenes_are_generated_with_questions_in_the_form_of_the_data(terminal, tmp_path):
    scenes = tmp_path / "scenes"
    done = terminal("questions", "generate", "3", "--out", scenes, "--json")
    assert json.loads(done.out)["questions"]["Object"] == 3
    reported = terminal("questions", "report", scenes / "questions.jsonl")
    assert reported.out.startswith("3 pictures")
    assert sorted(path.name for path in scenes.glob("*.png"))[0] == "000001.png"
    again = terminal("questions", "generate", "3", "--out", scenes)
    assert (again.code, "questions.jsonl" in again.err) == (2, True)


@pytest.mark.parametrize("count", ["0", "-1", "999999999"])
def test_a_number_of_scenes_out_of_range_is_refused(terminal, tmp_path, count):
    done = terminal("questions", "generate", "--out", tmp_path / "scenes", "--", count)
    assert (done.code, "out of range" in done.err) == (2, True)
    assert not (tmp_path / "scenes").exists()


def test_the_judge_set_answers_what_it_can_tell(terminal, tmp_path):
    scenes = tmp_path / "scenes"
    terminal("questions", "generate", "2", "--out", scenes)
    given = ("--votes", "1/1", "--judge-set", "stickers", "--out", tmp_path / "run", "--json")
    done = terminal("questions", "ask", scenes / "questions.jsonl", scenes, *given)
    assert done.code == 0
    report = json.loads(done.out)
    assert (report["answerer"], report["cost"]["tokens_in"]) == ("perception", 0)
    assert report["answered"]["unanswered"] == 0


@pytest.fixture
def sticker_scenes(terminal, tmp_path):
    """Two scenes whose pictures name a sticker model in their metadata."""
    scenes = tmp_path / "scenes"
    terminal("questions", "generate", "2", "--out", scenes)
    for path in scenes.glob("*.png"):
        save_sticker_picture(path, np.asarray(Image.open(path)))
    return scenes


def ask_by_origin(terminal, scenes, out):
    """Ask the judge set that suits the pictures, once."""
    given = ("--votes", "1/1", "--out", out, "--json")
    return terminal("questions", "ask", scenes / "questions.jsonl", scenes, *given)


def test_by_origin_the_sticker_models_answer_about_their_pictures(
    terminal, tmp_path, sticker_scenes
):
    done = ask_by_origin(terminal, sticker_scenes, tmp_path / "run")
    assert done.code == 0
    assert json.loads(done.out)["answered"]["unanswered"] == 0


def test_by_origin_one_other_picture_among_stickers_needs_a_judge_set(
    terminal, tmp_path, sticker_scenes
):
    path = sticker_scenes / "000002.png"
    Image.open(path).copy().save(path, pnginfo=None)
    done = ask_by_origin(terminal, sticker_scenes, tmp_path / "run")
    assert (done.code, "no installed judge set suits it" in done.err) == (2, True)


def test_questions_of_a_prompt_are_written_edited_and_checked(terminal, tmp_path):
    path = tmp_path / "own.jsonl"
    done = terminal("questions", "write", "a red car to the left of a dog", "--out", path)
    assert (done.code, "Which colour is the car?" in done.out) == (0, True)
    checked = terminal("questions", "check", path)
    assert (checked.code, "contradicts" in checked.out) == (0, False)
    row = json.loads(path.read_text())
    place = row["question_type"].index("Position")
    row["questions"][place] = row["questions"][place].replace("the car", "the horse")
    path.write_text(json.dumps(row))
    checked = terminal("questions", "check", path)
    assert checked.code == 1
    assert "contradicts (the prompt does not name the horse)" in checked.out


def test_without_a_server_the_rules_write_with_a_note(terminal):
    done = terminal("questions", "write", "a dog to the left of a car", "--writer", "llm", "--json")
    assert "No language model is configured" in done.err
    assert "Position" in json.loads(done.out)["question_type"]


def test_without_a_server_no_run_is_begun(terminal, tmp_path, data, pictures):
    done = terminal("questions", "ask", data, pictures, "--out", tmp_path / "run", *ANSWER)
    assert (done.code, "No vision language model" in done.err) == (1, True)
    assert not (tmp_path / "run").exists()
