"""Tests of the centroid metric."""

import numpy as np
import pytest
from centroids_plugin import METRIC

from spatialstudio.plugin_api import (
    ABOVE,
    LEFT_OF,
    NEAR,
    Evaluation,
    Mask,
    MentionId,
    ObjectMention,
    Perception,
    Prompt,
    Relation,
    RelationId,
    SceneGraph,
    TextSpan,
)

SPAN = TextSpan(start=0, stop=3)


def masked(name, *places):
    pixels = np.zeros((20, 40), bool)
    for rows, columns in places:
        pixels[slice(*rows), slice(*columns)] = True
    return Mask(mention_id=MentionId(name), pixels=pixels, score=0.9, source_id="test")


DOG_WITH_TAIL = masked("dog", ((0, 6), (4, 10)), ((3, 4), (10, 40)))
CAR = masked("car", ((10, 16), (20, 26)))


def answer(kind, *masks):
    relation = Relation(
        id=RelationId("r"), type=kind, subject=MentionId("dog"), object=MentionId("car")
    )
    mentions = tuple(
        ObjectMention(id=MentionId(name), phrase=name, head=name, span=SPAN)
        for name in ("dog", "car")
    )
    scene = SceneGraph(
        prompt=Prompt(text="a dog and a car"),
        mentions=mentions,
        relations=(relation,),
        extractor_id="test",
    )
    seen = Perception(image_sha256="", height=20, width=40, detections=(), masks=masks)
    return METRIC.of_relation(relation, scene, Evaluation(perception=seen, verdicts=()), None)


@pytest.mark.parametrize(("kind", "expected"), [(LEFT_OF, True), (ABOVE, True), (NEAR, None)])
def test_the_centre_of_mass_decides(kind, expected):
    assert answer(kind, DOG_WITH_TAIL, CAR) is expected


def test_a_missing_mask_is_wrong():
    assert answer(LEFT_OF, CAR) is False


def test_the_summary_is_the_share_of_relations_that_hold():
    rows = [
        {"error": None, "relations": 2, "verdicts": [{"centroids": True}, {"centroids": None}]},
        {"error": "No picture.", "relations": 1},
    ]
    assert METRIC.figures(rows, None) == {"centroids": {"share": 0.5}}
