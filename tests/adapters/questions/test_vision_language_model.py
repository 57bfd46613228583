import base64
import json
from dataclasses import replace
from io import BytesIO
from math import exp, log

import numpy as np
import pytest
from PIL import Image

from spatialstudio.adapters.chat.server import ServerSettings
from spatialstudio.adapters.questions.vision_model import VisionLanguageModel, build
from spatialstudio.domain.errors import Cancelled, DetectorError
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.resources import resources_folder
from tests.adapters.loopback import LoopbackServer, drips, hangs_up, says, sends, stalls
from tests.fakes import CountingToken

SECRET = "sk-very-secret"
PICTURE = np.random.default_rng(0).integers(0, 256, (8, 12, 3), np.uint8)
QUESTIONS = ("is there a dog?", "is there a car?")


def surely(**chances):
    """Answer with these chances of the first word."""
    listed = [{"token": token, "logprob": log(chance)} for token, chance in chances.items()]
    place = {"token": listed[0]["token"], "logprob": 0.0, "top_logprobs": listed}
    choice = {
        "message": {"role": "assistant", "content": listed[0]["token"]},
        "logprobs": {"content": [place]},
    }
    return sends(json.dumps({"choices": [choice]}).encode())


def answered(*replies, questions=QUESTIONS, token=None, **changes):
    """Ask a server that gives these replies; return the answers and what it was asked."""
    with LoopbackServer(*replies) as server:
        settings = ServerSettings(
            url=server.url, model="small", key=SECRET, timeout_s=60, first_wait_s=0.01
        )
        answerer = VisionLanguageModel(replace(settings, **changes))
        answers = answerer.answer(PICTURE, questions, token or CountingToken())
        return answers, server.questions


def test_the_answer_is_the_probability_of_the_first_token():
    (dog, car), _ = answered(surely(Yes=0.8, No=0.1), surely(no=0.9, Yes=0.05))
    assert exp(dog.chances.log_yes) == pytest.approx(0.8)
    assert exp(car.chances.log_no) == pytest.approx(0.9)
    assert (dog.note, car.note) == ("", "")


def test_the_picture_is_sent_losslessly():
    _, (first, _) = answered(surely(yes=0.9))
    picture, text = first["messages"][1]["content"]
    data = picture["image_url"]["url"].removeprefix("data:image/png;base64,")
    sent = np.array(Image.open(BytesIO(base64.b64decode(data))))
    assert np.array_equal(sent, PICTURE)
    assert text == {"type": "text", "text": QUESTIONS[0]}
    assert (first["logprobs"], first["top_logprobs"], first["temperature"]) == (True, 20, 0)


def test_a_server_without_probabilities_gives_no_answer():
    answers, asked = answered(says("yes"))
    assert [answer.chances for answer in answers] == [None, None]
    assert "no log probabilities" in answers[0].note
    assert len(asked) == 1


def test_a_rejected_question_does_not_affect_others():
    (dog, car), _ = answered(says(None, refusal="I do not look at dogs."), surely(yes=0.9))
    assert dog.chances is None
    assert dog.note == "The model at 127.0.0.1 refused to answer."
    assert car.chances is not None


def test_another_word_than_yes_or_no_is_no_answer():
    (dog, _), _ = answered(surely(perhaps=0.9), surely(yes=0.9))
    assert (dog.chances, dog.note) == (None, "The model answers neither yes nor no.")


@pytest.mark.parametrize(
    ("reply", "asked_times", "reason"),
    [
        (sends(b"", 401), 1, "rejected the API key"),
        (sends(b"", 404), 1, "does not have this model"),
        (sends(b"", 400), 1, "rejected the request"),
        (sends(b"", 429), 3, "is busy"),
        (sends(b"", 500), 3, "fails"),
        (sends(b"<html>"), 1, "does not speak"),
        (sends(b'{"choices": [{"logprobs": {"content": [7]}}]}'), 1, "does not speak"),
        (hangs_up, 3, "closed the connection"),
    ],
    ids=["401", "404", "400", "429", "500", "page", "nonsense", "hangs up"],
)
def test_a_failing_server_is_reported_and_not_asked_again(reply, asked_times, reason):
    answers, asked = answered(reply)
    assert len(asked) == asked_times
    assert [answer.chances for answer in answers] == [None, None]
    assert all(reason in answer.note and SECRET not in answer.note for answer in answers)


@pytest.mark.parametrize("reply", [stalls, drips], ids=["stalls", "drips"])
def test_a_server_that_never_ends_times_out(reply):
    answers, _ = answered(reply, timeout_s=0.2)
    assert [answer.chances for answer in answers] == [None, None]


def test_a_busy_server_is_retried():
    (dog, _), asked = answered(sends(b"", 429), surely(yes=0.9))
    assert dog.chances is not None
    assert len(asked) == 3


def test_answering_can_be_cancelled():
    with pytest.raises(Cancelled):
        answered(surely(yes=0.9), token=CountingToken(stop_at=1))


def test_without_a_server_there_is_no_answer():
    with pytest.raises(DetectorError, match="No vision language model"):
        VisionLanguageModel(None).answer(PICTURE, QUESTIONS, CountingToken())


@pytest.mark.parametrize("other", [None, "reader"])
def test_the_vision_model_needs_no_model_for_prompts(monkeypatch, other):
    monkeypatch.setenv("SPATIAL_STUDIO_VISION_MODEL", "seer")
    if other:
        monkeypatch.setenv("SPATIAL_STUDIO_LLM_MODEL", other)
    with LoopbackServer(surely(yes=0.9)) as server:
        monkeypatch.setenv("SPATIAL_STUDIO_LLM_SERVER", server.url)
        answerer = build(Surroundings(resources=resources_folder(), model_folders=()))
        answerer.answer(PICTURE, QUESTIONS[:1], CountingToken())
        assert [each["model"] for each in server.questions] == ["seer"]
