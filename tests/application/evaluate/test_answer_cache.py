"""Yes-no answers are cached by picture, question and model."""

import json

import numpy as np
import pytest

from spatialstudio.adapters.chat.server import ServerSettings
from spatialstudio.adapters.questions.vision_model import VisionLanguageModel
from spatialstudio.application.evaluate import answer_cache
from spatialstudio.application.evaluate.answer_cache import CachedAnswerer
from spatialstudio.domain.assertion import QuestionAnswer, YesNoChances
from tests.adapters.loopback import LoopbackServer, says, sends
from tests.fakes import CountingToken

PICTURE = np.random.default_rng(0).integers(0, 256, (8, 12, 3), np.uint8)
QUESTIONS = ("is there a dog?", "is there a car?")
CHANCES = YesNoChances(log_yes=-0.123456789012345, log_no=-2.4)


def yes(handler):
    """Answer with fixed log-probabilities."""
    listed = [
        {"token": "yes", "logprob": CHANCES.log_yes},
        {"token": "no", "logprob": CHANCES.log_no},
    ]
    place = {"token": "yes", "logprob": CHANCES.log_yes, "top_logprobs": listed}
    choice = {"message": {"content": "yes"}, "logprobs": {"content": [place]}}
    sends(json.dumps({"choices": [choice]}).encode())(handler)


@pytest.fixture
def ask(tmp_path):
    """Ask a server of these replies as a new process does; return answers and requests."""

    def asking(*replies, image=PICTURE, questions=QUESTIONS, model="small"):
        with LoopbackServer(*replies) as server:
            settings = ServerSettings(url=server.url, model=model, attempts=1)
            answerer = CachedAnswerer(VisionLanguageModel(settings), tmp_path)
            return answerer.answer(image, questions, CountingToken()), len(server.questions)

    return asking


def test_an_equal_question_on_an_equal_picture_is_asked_once(ask):
    first, requests = ask(yes)
    assert requests == 2
    assert first[0].chances.log_yes == pytest.approx(CHANCES.log_yes)
    again, requests = ask(yes, image=PICTURE.copy(), questions=QUESTIONS[::-1])
    assert (again, requests) == (first[::-1], 0)


@pytest.mark.parametrize(
    "changed",
    [
        {"image": PICTURE[::-1].copy()},
        {"image": PICTURE.reshape(12, 8, 3)},
        {"questions": ("is there a cup?", "is there a hat?")},
        {"model": "large"},
    ],
    ids=["pixels", "shape", "questions", "model"],
)
def test_another_picture_question_or_model_is_asked(ask, changed):
    ask(yes)
    assert ask(yes, **changed)[1] == 2


def test_only_what_is_missing_is_asked(ask):
    ask(yes, questions=QUESTIONS[:1])
    answers, requests = ask(yes)
    assert requests == 1
    assert [each.chances is None for each in answers] == [False, False]


def test_a_question_that_failed_is_asked_again(ask):
    answers, _ = ask(yes, says("yes"))
    assert "no log probabilities" in answers[1].note
    answers, requests = ask(yes)
    assert requests == 1
    assert answers[1].chances is not None


@pytest.mark.parametrize("end", [b'["ab', b'\n["ab", 3, -1]\n', b"\n[1, 2]\n{}\nnull\n"])
def test_damaged_lines_are_skipped_and_followed_by_whole_ones(ask, tmp_path, end):
    ask(yes, questions=QUESTIONS[:1])
    (path,) = tmp_path.rglob("*.jsonl")
    path.write_bytes(path.read_bytes() + end)
    assert ask(yes)[1] == 1
    assert ask(yes)[1] == 0


def test_a_cache_that_is_too_large_is_neither_read_nor_extended(ask, tmp_path, monkeypatch):
    ask(yes)
    (path,) = tmp_path.rglob("*.jsonl")
    stored = path.read_bytes()
    monkeypatch.setattr(answer_cache, "MOST_BYTES", len(stored) - 1)
    answers, requests = ask(yes)
    assert requests == 2
    assert all(answer.chances for answer in answers)
    assert path.read_bytes() == stored


class Unnamed:
    """An answerer whose model is unknown."""

    id = "unnamed"
    asked = 0

    def answer(self, _image, questions, _token):
        self.asked += 1
        return (QuestionAnswer(chances=CHANCES),) * len(questions)


def test_an_answerer_of_an_unknown_model_is_always_asked(tmp_path):
    unnamed = Unnamed()
    cached = CachedAnswerer(unnamed, tmp_path)
    for _ in range(2):
        cached.answer(PICTURE, QUESTIONS, CountingToken())
    assert unnamed.asked == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("damaged", ["nan", "-inf"])
def test_a_cached_answer_of_no_finite_probability_is_asked_again(ask, tmp_path, damaged):
    ask(yes)
    (path,) = tmp_path.rglob("*.jsonl")
    rows = map(json.loads, filter(None, path.read_text().splitlines()))
    path.write_text("".join(json.dumps([key, log, damaged]) + "\n" for key, log, _ in rows))
    assert ask(yes)[1] == 2
