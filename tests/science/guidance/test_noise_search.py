from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.domain.generation import CandidateScore
from spatialstudio.domain.verdict import REPRODUCE, Perception
from spatialstudio.science.guidance.noise_search import ranked, score_candidate
from tests.fakes import SIDE, FakeDetector, scene_of

SCENE = scene_of("dog", "car")


def look_at(mentions):
    picture = np.zeros((SIDE, SIDE, 3), np.uint8)
    seen = FakeDetector().detect(picture, mentions)
    return Perception(
        image_sha256="",
        height=SIDE,
        width=SIDE,
        detections=seen.detections,
        masks=seen.masks,
    )


@pytest.fixture
def score():
    return CandidateScore(seed=3, pse=0.5, lead=0.5, found=2, sureness=0.8, second=0)


def test_a_picture_that_shows_the_relation_scores_in_full():
    score = score_candidate(SCENE, 7, look_at(SCENE.mentions), REPRODUCE)
    assert (score.seed, score.pse, score.lead, score.found) == (7, 1, 1, 2)
    assert score.sureness == pytest.approx(0.9)
    assert score.second == 1


def test_a_reversed_picture_has_a_lead_of_minus_1():
    score = score_candidate(SCENE, 7, look_at(SCENE.mentions[::-1]), REPRODUCE)
    assert (score.pse, score.lead, score.second) == (0, -1, 0)


def test_a_picture_without_an_object_counts_the_objects_found():
    score = score_candidate(SCENE, 7, look_at(SCENE.mentions[:1]), REPRODUCE)
    assert (score.pse, score.lead, score.found, score.sureness) == (0, -1, 1, 0)


def test_the_second_verifier_may_use_another_detector():
    seen, other = look_at(SCENE.mentions), look_at(SCENE.mentions[::-1])
    score = score_candidate(SCENE, 7, seen, REPRODUCE, second=other)
    assert (score.pse, score.second) == (1, 0)


def test_a_scene_without_relations_is_rejected():
    with pytest.raises(ValueError, match="relation"):
        score_candidate(replace(SCENE, relations=()), 7, look_at(SCENE.mentions), REPRODUCE)


@pytest.mark.parametrize(
    "better",
    [
        {"pse": 0.6, "lead": 0, "found": 0, "seed": 9},
        {"lead": 0.6, "found": 0, "seed": 9},
        {"found": 3, "sureness": 0, "seed": 9},
        {"sureness": 0.9, "seed": 9},
        {"seed": 2},
    ],
    ids=["PSE", "signed difference", "objects found", "sureness", "lower seed"],
)
def test_ties_are_broken_in_this_order(score, better):
    winner = replace(score, **better)
    assert ranked([score, winner])[0] is winner
    assert ranked([winner, score])[0] is winner


def test_the_second_verifier_never_chooses(score):
    praised = replace(score, seed=4, second=1)
    assert ranked([praised, score])[0] is score
