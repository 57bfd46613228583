import json
from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.chat.server import MODEL_VARIABLE, SERVER_VARIABLE
from spatialstudio.application.evaluate.metrics import METRICS
from spatialstudio.cli.answers import score_lines
from spatialstudio.domain.assertion import (
    Assertion,
    AssertionId,
    AssertionScore,
    DaScore,
    YesNoChances,
)
from spatialstudio.domain.metric import PICTURE_VALUES, RESERVED_NAMES, Metric
from tests.adapters.loopback import LoopbackServer, sends
from tests.sticker_pictures import save_sticker_picture

PROMPT = "a photo of a dog to the left of a car"


@pytest.fixture
def answer(terminal, tmp_path):
    """What programs are told of a grey picture in which a dog and a car are seen."""
    path = tmp_path / "grey.png"
    save_sticker_picture(path, np.full((16, 16, 3), 128, np.uint8))
    return json.loads(terminal("evaluate", path, "--prompt", PROMPT, "--json").out)


@pytest.fixture
def verdict(answer):
    return answer["verdicts"][0]


@pytest.fixture
def register():
    """Registers metrics until the test is over."""
    registered = []

    def register(metric):
        METRICS.register(metric)
        registered.append(metric.id)

    yield register
    for metric_id in registered:
        METRICS.unregister(metric_id)


def test_a_metric_cannot_have_the_name_of_another_value(answer, verdict):
    reserved = RESERVED_NAMES | PICTURE_VALUES | {each.id for each in METRICS}
    assert answer.keys() | verdict.keys() <= reserved


BROKEN = Metric(id="broken", label="Broken", help="Raises.")


def fail(*_):
    raise ZeroDivisionError("nothing to divide")


@pytest.mark.parametrize(
    ("broken", "cause"),
    [
        (replace(BROKEN, of_relation=fail), "ZeroDivisionError: nothing to divide"),
        (replace(BROKEN, of_relation=lambda *_: float("nan")), "of_relation returned nan"),
        (replace(BROKEN, of_relation=lambda *_: "yes"), "of_relation returned 'yes'"),
        (replace(BROKEN, of_picture=fail), "ZeroDivisionError: nothing to divide"),
        (replace(BROKEN, of_picture=lambda *_: {"x": object()}), "a object cannot be stored"),
        (replace(BROKEN, of_picture=lambda *_: {"verdicts": []}), '"verdicts" is the name of'),
    ],
    ids=["raises", "nan", "text", "picture raises", "picture type", "picture name"],
)
def test_a_failing_metric_is_named_and_the_others_are_computed(
    terminal, tmp_path, register, broken, cause
):
    register(broken)
    for name in ("a.png", "b.png"):
        save_sticker_picture(tmp_path / name, np.full((16, 16, 3), 128, np.uint8))
    done = terminal("evaluate", tmp_path, "--prompt", PROMPT, "--json")
    assert done.code == 1
    rows = json.loads(done.out)["pictures"]
    assert [row["verdicts"][0]["visor"] for row in rows] == [True, True]
    assert all(cause in row["failed_metrics"]["broken"] for row in rows)
    assert all(row["note"].startswith('The metric "broken" failed: ') for row in rows)


def test_a_failing_metric_is_named_once_by_a_study(terminal, tmp_path, register):
    for seed in "01":
        words = ("generate", PROMPT, "--seed", seed, "--out", tmp_path)
        assert terminal(*words).code == 0
    register(replace(BROKEN, of_relation=fail))
    done = terminal("study", tmp_path, "--numbers", "broken,visor", "--by", "seed")
    assert done.code == 1
    assert done.err.count('The metric "broken" failed: ZeroDivisionError') == 1
    assert "visor" in done.out


def test_a_metric_whose_summary_fails_leaves_the_others_unchanged(terminal, tmp_path, register):
    register(replace(BROKEN, of_relation=lambda *_: 1.0, add_up=fail))
    save_sticker_picture(tmp_path / "a.png", np.full((16, 16, 3), 128, np.uint8))
    figures = json.loads(terminal("evaluate", tmp_path, "--prompt", PROMPT, "--json").out)[
        "figures"
    ]
    assert figures["geneval"] == {"share": 1.0}
    assert "ZeroDivisionError" in figures["broken"]["error"]
    lines = terminal("evaluate", tmp_path, "--prompt", PROMPT).out
    assert 'broken: ERROR: The metric "broken" failed' in lines


def test_numbers_of_numpy_are_written(terminal, tmp_path, register):
    register(replace(BROKEN, id="close", of_relation=lambda *_: np.bool_(True), is_yes_no=True))
    register(
        replace(
            BROKEN,
            id="far",
            of_relation=lambda *_: np.float32(0.5),
            of_picture=lambda *_: {"areas": np.array([1, 2])},
        )
    )
    save_sticker_picture(tmp_path / "a.png", np.full((16, 16, 3), 128, np.uint8))
    answer = json.loads(terminal("evaluate", tmp_path, "--prompt", PROMPT, "--json").out)
    (row,) = answer["pictures"]
    assert (row["verdicts"][0]["close"], row["verdicts"][0]["far"]) == (True, 0.5)
    assert row["areas"] == [1, 2]
    assert answer["figures"]["far"] == {"mean": 0.5}


def test_the_checkers_preset_is_named(answer):
    assert answer["checker"] == "reproduce"


def test_pse_of_the_prompt_is_printed_with_every_aggregation(answer):
    shown = {"mean": 1, "least": 1, "product": 1, "is_met": True}
    assert answer["prompt_pse"] == {"union": shown, "best": shown}
    assert (answer["mean_pse"], answer["pse_relations"]) == (1, 1)


def test_every_assertion_is_printed_with_its_probability(answer):
    assert [(one["text"], one["probability_yes"]) for one in answer["assertions"]] == [
        ("there is a dog", 0.9),
        ("there is a car", 0.9),
        ("the dog is to the left of the car", pytest.approx(0.81)),
    ]
    assert answer["assertions"][2]["question"] == "is the dog to the left of the car?"
    assert (answer["answered_by"], answer["asserted_by"]) == ("perception", "scene")
    assert answer["da_settings"] == "recommended"
    assert answer["da_score"] == pytest.approx(0.87)


def test_the_centre_metrics_are_reported_with_the_checker(verdict):
    assert (verdict["visor"], verdict["hrs"], verdict["geneval"]) == (True, True, True)
    assert verdict["found"] is True
    assert verdict["compbench"] == pytest.approx(0.95)


def test_the_evidence_is_printed_in_numbers(verdict):
    evidence = verdict["evidence"]
    assert [found["role"] for found in evidence["boxes"]] == ["chosen", "chosen"]
    assert evidence["boxes"][0]["box"] == [0, 0, 8, 16]
    assert evidence["bands"] == [
        {"axis": "x", "start": pytest.approx(10.4), "stop": pytest.approx(13.6)}
    ]
    assert evidence["intersection"] is None
    assert [answer["outcome"] for answer in evidence["perturbed"]] == ["PASS"] * 4


WORDS = "0.91 (log yes -0.10, log no -2.40)"


@pytest.fixture
def asked(terminal, tmp_path, monkeypatch):
    """Evaluate with a server that answers yes; return the output and the number of requests."""
    save_sticker_picture(tmp_path / "a.png", np.full((16, 16, 3), 128, np.uint8))
    listed = [{"token": token, "logprob": value} for token, value in (("yes", -0.1), ("no", -2.4))]
    place = {"token": "yes", "logprob": -0.1, "top_logprobs": listed}
    choice = {"message": {"content": "yes"}, "logprobs": {"content": [place]}}

    def asking(*options):
        with LoopbackServer(sends(json.dumps({"choices": [choice]}).encode())) as server:
            monkeypatch.setenv(SERVER_VARIABLE, server.url)
            monkeypatch.setenv(MODEL_VARIABLE, "small")
            chosen = "--prompt", PROMPT, "--questions", "vision-model"
            done = terminal("evaluate", tmp_path / "a.png", *chosen, *options)
            return done.out.splitlines(), len(server.questions)

    return asking


def test_evaluated_assertions_state_the_logarithms_of_yes_and_no(asked):
    assert f"    there is a dog: {WORDS}" in asked()[0]


def test_answers_are_cached_unless_the_cache_is_turned_off(asked, registry, tmp_path):
    registry._surroundings = replace(registry._surroundings, cache=tmp_path / "cache")
    first, requests = asked()
    assert requests == 3
    again, requests = asked()
    assert (again, requests) == (first, 0)
    assert asked("--no-cache")[1] == 3


def test_the_assertions_of_a_picture_state_logarithms_where_there_are_any():
    texts = ("there is a dog", "there is a car")
    dog, car = (Assertion(id=AssertionId(text), text=text, question="") for text in texts)
    scores = (
        AssertionScore(
            assertion=dog, probability_yes=0.909, chances=YesNoChances(log_yes=-0.1, log_no=-2.4)
        ),
        AssertionScore(assertion=car, probability_yes=0.5),
    )
    lines = score_lines(DaScore(value=0.7, scores=scores, source_id="vision-model"))
    assert list(lines) == [
        "DA-score 0.70",
        f"  there is a dog: {WORDS}",
        "  there is a car: 0.50",
    ]
