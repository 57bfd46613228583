from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.prompts.grammar import build
from spatialstudio.application.paths import StudioPaths
from spatialstudio.domain.scene import Prompt
from spatialstudio.domain.verdict import Detection, Evaluation, Mask, Perception, box_around
from spatialstudio.science.checker.instances import measure_instances
from spatialstudio.science.metrics.choice_questions import ACCURACIES, CHOICES, METRIC, UNSTATED

SIDE = 100
SCENE = build(StudioPaths.usual().surroundings).extract(
    Prompt(text="a red dog to the left of a car")
)
IMAGE = np.full((SIDE, SIDE, 3), (200, 20, 20), np.uint8)


def evaluated(dog_at=5, car_at=60, **changed):
    """An evaluation of a picture with a dog and a car at these places."""
    masks, detections = [], []
    for mention, left in zip(SCENE.mentions, (dog_at, car_at), strict=True):
        pixels = np.zeros((SIDE, SIDE), np.bool_)
        pixels[40:70, left : left + 30] = True
        masks.append(Mask(mention_id=mention.id, pixels=pixels, score=1.0, source_id="t"))
        box = box_around(pixels)
        detections.append(
            Detection(
                mention_id=mention.id, label=mention.head, score=1.0, box=box, detector_id="t"
            )
        )
    perception = Perception(
        image_sha256="",
        height=SIDE,
        width=SIDE,
        detections=tuple(detections),
        masks=tuple(masks),
    )
    perception = replace(perception, **changed)
    instances = measure_instances(SCENE, perception, IMAGE)
    return Evaluation(perception=perception, verdicts=(), instances=instances)


def row(evaluation):
    return {"error": None, **METRIC.of_picture(SCENE, evaluation, None)}


def test_a_picture_as_the_prompt_says_answers_all_questions_rightly():
    answered = row(evaluated())
    assert answered["choice_score"] == 1
    assert METRIC.score_row(answered) == 1
    assert {each["sub_domain"] for each in answered["choice_questions"]} >= {
        "Position",
        "Attribute",
    }


def test_swapped_objects_answer_the_place_wrongly_with_a_reason():
    answered = row(evaluated(dog_at=60, car_at=5))
    (place,) = [e for e in answered["choice_questions"] if e["sub_domain"] == "Position"]
    assert place["letter"] not in {place["key"], "E"}
    assert "to the right of" in place["reason"]
    assert answered["choice_score"] < 1


def test_what_cannot_be_told_counts_as_not_right():
    answered = row(evaluated(missing_classes=("dog",)))
    assert {each["letter"] for each in answered["choice_questions"]} >= {"E"}
    assert answered["choice_score"] < 1


def test_figures_are_means_over_pictures_and_errors_count_zero():
    rows = [row(evaluated()), {"error": "damaged", "relations": 1}]
    figures = METRIC.figures(rows, None)[CHOICES]
    assert figures["mean"] == pytest.approx(0.5)
    assert figures["answered"] == 1
    assert (
        METRIC.figures([{"error": None, "choice_score": None, "choice_questions": []}], None) == {}
    )


def voted_row(sub_domain, letter="A", **stated):
    """A row with one question, whose key is A."""
    asked = {"sub_domain": sub_domain, "key": "A", "letter": letter, "right": letter == "A"}
    return {"error": None, "choice_score": 1.0, "choice_questions": [asked], **stated}


def test_sub_domains_with_the_names_of_totals_stay_apart():
    rows = [voted_row("overall"), voted_row("Object", "B"), voted_row("seconds")]
    figures = METRIC.figures(rows, None)
    assert figures[ACCURACIES] == {"overall": 1, "Object": 0, "seconds": 1}
    assert figures[CHOICES]["overall"] == 0.667


def test_all_answerers_are_named_and_the_perception_only_where_it_answered():
    stated = [{"choice_answerer": name, "choice_protocol": "published"} for name in ("a", "b")]
    rows = [voted_row("Object", **each) for each in stated]
    figures = METRIC.figures([*rows, voted_row("Object", choice_answerer="a")], None)[CHOICES]
    assert (figures["answerers"], figures["rule"]) == ("a; b", f"published; {UNSTATED}")
