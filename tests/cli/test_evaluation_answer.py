import json

import numpy as np
import pytest

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


def test_the_checkers_preset_is_named(answer):
    assert answer["checker"] == "reproduce"


def test_pse_is_told_for_the_prompt_in_every_way(answer):
    shown = {"mean": 1, "least": 1, "product": 1, "is_met": True}
    assert answer["prompt_pse"] == {"union": shown, "best": shown}
    assert (answer["mean_pse"], answer["pse_relations"]) == (1, 1)


def test_every_assertion_is_told_with_its_probability(answer):
    assert [(one["text"], one["probability_yes"]) for one in answer["assertions"]] == [
        ("there is a dog", 0.9),
        ("there is a car", 0.9),
        ("the dog is to the left of the car", pytest.approx(0.81)),
    ]
    assert answer["assertions"][2]["question"] == "is the dog to the left of the car?"
    assert (answer["answered_by"], answer["asserted_by"]) == ("perception", "scene")
    assert answer["da_settings"] == "recommended"
    assert answer["da_score"] == pytest.approx(0.87)


def test_the_centre_metrics_answer_beside_the_checker(verdict):
    assert (verdict["visor"], verdict["hrs"], verdict["geneval"]) == (True, True, True)
    assert verdict["found"] is True
    assert verdict["compbench"] == pytest.approx(0.95)


def test_the_evidence_is_told_in_numbers(verdict):
    evidence = verdict["evidence"]
    assert [found["role"] for found in evidence["boxes"]] == ["chosen", "chosen"]
    assert evidence["boxes"][0]["box"] == [0, 0, 8, 16]
    assert evidence["bands"] == [
        {"axis": "x", "start": pytest.approx(10.4), "stop": pytest.approx(13.6)}
    ]
    assert evidence["intersection"] is None
    assert [answer["outcome"] for answer in evidence["perturbed"]] == ["PASS"] * 4
