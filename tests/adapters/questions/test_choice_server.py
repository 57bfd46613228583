import json
from dataclasses import replace
from math import log

import numpy as np
import pytest

from spatialstudio.adapters.chat.call_rate import CallRate
from spatialstudio.adapters.chat.server import ServerSettings
from spatialstudio.adapters.questions import vision_model
from spatialstudio.adapters.questions.vision_model import VisionLanguageModel
from spatialstudio.domain.errors import AnswererError, Cancelled, DetectorError
from spatialstudio.domain.multiple_choice import Sampling
from tests.adapters.loopback import LoopbackServer, hangs_up, says, sends
from tests.fakes import CountingToken
from tests.science.questions.choice_sets import KEYS, message, questions

PICTURE = np.random.default_rng(0).integers(0, 256, (8, 12, 3), np.uint8)
TEN = questions().questions
ANSWERS = [
    {"question": place, "letter": letter, "reason": "as\nseen"}
    for place, letter in enumerate(KEYS, 1)
]


def charged(text, tokens_in, tokens_out):
    """Answer well-formed, with the tokens that are charged."""
    usage = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    body = {"choices": [{"message": {"content": text}}], "usage": usage}
    return sends(json.dumps(body).encode())


def asked(*replies, image=PICTURE, of=TEN, sampling=None, token=None, **changes):
    """Ask a server that gives these replies once; return the reply and the requests."""
    with LoopbackServer(*replies) as server:
        settings = ServerSettings(url=server.url, model="small", first_wait_s=0.01)
        answerer = VisionLanguageModel(replace(settings, **changes))
        sampling = sampling or Sampling()
        return answerer.choose(image, of, sampling, token or CountingToken()), server.questions


def test_all_questions_go_in_one_message_with_the_picture_and_never_the_prompt():
    reply, (request,) = asked(charged(message(), 900, 80), sampling=Sampling(seed=3))
    assert (reply.text, reply.tokens_in, reply.tokens_out) == (message(), 900, 80)
    picture, text = request["messages"][1]["content"]
    assert picture["image_url"]["url"].startswith("data:image/png;base64,")
    assert [line.split(".")[0] for line in text["text"].splitlines()] == [*map(str, range(1, 11))]
    assert all(each.text in text["text"] for each in TEN)
    assert "a prompt" not in json.dumps(request)
    assert (request["temperature"], request["seed"]) == (1.0, 3)
    assert "response_format" not in request


def test_without_a_picture_the_model_is_told_that_it_sees_none():
    _, (request,) = asked(says(message()), image=None)
    system, user = request["messages"]
    assert "cannot see" in system["content"]
    assert isinstance(user["content"], str)
    assert user["content"].startswith("1. Where is thing 0?")


@pytest.mark.parametrize(
    "text",
    [json.dumps({"answers": ANSWERS}), "```json\n" + json.dumps({"answers": ANSWERS}) + "\n```"],
    ids=["plain", "fenced"],
)
def test_a_structured_reply_becomes_lines(text):
    reply, (request,) = asked(says(text), sampling=Sampling(is_structured=True))
    assert reply.text == message()
    assert request["response_format"]["json_schema"]["strict"] is True


@pytest.mark.parametrize(
    "rows",
    [ANSWERS[:9], [*ANSWERS, ANSWERS[0]], [*ANSWERS[:9], {**ANSWERS[9], "question": 11}]],
    ids=["nine", "twice", "eleventh"],
)
def test_a_structured_reply_that_leaves_a_question_out_is_no_rollout(rows):
    reply, _ = asked(says(json.dumps({"answers": rows})), sampling=Sampling(is_structured=True))
    assert len(reply.text.splitlines()) != 10


def test_a_server_without_structured_output_is_asked_for_lines():
    reply, requests = asked(sends(b"", 400), says(message()), sampling=Sampling(is_structured=True))
    assert reply.text == message()
    assert ["response_format" in each for each in requests] == [True, False]


def test_the_letters_of_a_single_question_have_probabilities():
    listed = [{"token": t, "logprob": log(p)} for t, p in ((" C", 0.6), ("c", 0.1), ("B", 0.2))]
    place = {"token": "C", "logprob": log(0.6), "top_logprobs": listed}
    choice = {"message": {"content": "C: so"}, "logprobs": {"content": [place]}}
    reply, (request,) = asked(sends(json.dumps({"choices": [choice]}).encode()), of=TEN[:1])
    assert reply.chances == pytest.approx({"C": 0.7, "B": 0.2})
    assert request["top_logprobs"] == 20


def test_a_model_that_declines_gives_an_empty_reply():
    reply, _ = asked(says(None, refusal="I do not look at pictures."))
    assert reply.text == ""


USAGE = {"prompt_tokens": 900, "completion_tokens": 12}


def test_a_model_that_declines_is_paid_all_the_same():
    body = {"choices": [{"message": {"refusal": "I do not look."}}], "usage": USAGE}
    reply, _ = asked(sends(json.dumps(body).encode()))
    assert (reply.text, reply.tokens_in, reply.tokens_out) == ("", 900, 12)


CUT = b'data: {"choices": [{"delta": {"content": "C: '
USED = b"data: " + json.dumps({"choices": [], "usage": USAGE}).encode()


@pytest.mark.parametrize(
    "body",
    [
        json.dumps({"choices": [], "usage": USAGE}).encode(),
        json.dumps({"choices": [7], "usage": USAGE}).encode(),
        CUT + b"\n\n" + USED + b"\n\ndata: [DONE]\n\n",
    ],
    ids=["no choice", "odd choice", "damaged chunk"],
)
def test_a_reply_that_cannot_be_read_is_paid_all_the_same(body):
    with LoopbackServer(sends(body)) as server:
        answerer = VisionLanguageModel(ServerSettings(url=server.url, model="small"))
        with pytest.raises(AnswererError, match="does not speak") as failure:
            answerer.choose(PICTURE, TEN, Sampling(), CountingToken())
    assert failure.value.charges == (900, 12)


@pytest.mark.parametrize(
    ("reply", "requests", "reason"),
    [
        (sends(b"", 401), 1, "rejected the API key"),
        (sends(b"", 429), 3, "is busy"),
        (sends(b"", 503), 3, "fails"),
        (hangs_up, 3, "closed the connection"),
        (sends(b"x" * 300_000), 1, "too long"),
        (sends(b'{"choices": []}'), 1, "does not speak"),
    ],
    ids=["key", "busy", "fails", "hangs up", "long", "no choice"],
)
def test_a_failing_server_is_an_error_after_its_retries(reply, requests, reason):
    with LoopbackServer(reply) as server:
        settings = ServerSettings(url=server.url, model="small", first_wait_s=0.01)
        with pytest.raises(DetectorError, match=reason):
            VisionLanguageModel(settings).choose(PICTURE, TEN, Sampling(), CountingToken())
        assert len(server.questions) == requests


@pytest.mark.parametrize(
    "usage", [None, 7, {"prompt_tokens": "9", "completion_tokens": -1}], ids=str
)
def test_charges_of_another_form_count_as_unknown(usage):
    body = {"choices": [{"message": {"content": message()}}], "usage": usage}
    reply, _ = asked(sends(json.dumps(body).encode()))
    assert (reply.tokens_in, reply.tokens_out) == (0, 0)


def test_asking_can_be_cancelled():
    with pytest.raises(Cancelled):
        asked(says(message()), token=CountingToken(stop_at=1))


def test_calls_beyond_the_limit_wait_and_the_wait_counts_as_time(monkeypatch):
    now, slept = [0.0], []

    def sleep(seconds, _token):
        slept.append(seconds)
        now[0] += seconds

    monkeypatch.setattr(vision_model, "monotonic", lambda: now[0])
    with LoopbackServer(says(message())) as server:
        settings = ServerSettings(url=server.url, model="small")
        answerer = VisionLanguageModel(settings, CallRate(2, lambda: now[0], sleep))
        replies = [
            answerer.choose(PICTURE, TEN, Sampling(), CountingToken()).seconds for _ in range(5)
        ]
    assert slept == [60.0, 60.0]
    assert replies == [0, 0, 60.0, 0, 60.0]


def test_without_a_server_there_is_no_answerer():
    with pytest.raises(DetectorError, match="No vision language model"):
        VisionLanguageModel(None).choose(PICTURE, TEN, Sampling(), CountingToken())
    with pytest.raises(DetectorError, match="No vision language model"):
        _ = VisionLanguageModel(None).model_key
