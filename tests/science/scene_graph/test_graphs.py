"""Graphs of prompts and of evaluated pictures."""

from dataclasses import replace

import numpy as np
import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.domain.assertion import (
    Assertion,
    AssertionId,
    AssertionScore,
    DaScore,
)
from spatialstudio.domain.graph_match import MatchState
from spatialstudio.domain.graph_settings import GraphSettings
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.scene import Prompt
from spatialstudio.domain.verdict import Box, ColourShare, DepthMap, Evaluation, Instance
from spatialstudio.science.metrics.scene_graph import METRIC
from spatialstudio.science.scene_graph.picture_graph import picture_graph
from spatialstudio.science.scene_graph.prompt_graph import prompt_graph
from spatialstudio.science.scene_graph.rows import graph_rows
from spatialstudio.science.scene_graph.score import score_picture
from tests.science.seen_things import masked, perception

SETTINGS = GraphSettings()


def read(text):
    return GrammarExtractor(resources_folder() / "prompts").extract(Prompt(text=text))


def ids(graph):
    return [each.id for each in graph.objects]


def edges(graph):
    return {(each.subject, each.relation_type, each.object) for each in graph.relations}


def evaluation(*masks, depth=None, **more):
    return Evaluation(perception=perception(masks=masks, depth=depth), verdicts=(), **more)


def test_counts_expand_and_relations_hold_for_each():
    graph = prompt_graph(read("three cats to the left of a dog"), SETTINGS)
    assert ids(graph) == ["m1.1", "m1.2", "m1.3", "m2"]
    assert len(edges(graph)) == 3


def test_a_very_large_count_is_cut_with_a_note():
    graph = prompt_graph(read("fifty cats"), SETTINGS)
    assert len(graph.objects) == SETTINGS.most_objects
    assert graph.notes == ("cat: 24 of 50 are compared.",)


def test_attributes_and_stuff_are_read_from_the_prompt():
    graph = prompt_graph(read("a red wooden chair below a cloud"), SETTINGS)
    chair, cloud = graph.objects
    assert chair.attributes == {"red", "wooden"}
    assert (chair.is_foreground, cloud.is_foreground) == (True, False)


def test_the_classes_of_the_background_can_be_listed():
    scene = read("a chair below a cloud")

    def grounds(nouns):
        graph = prompt_graph(scene, GraphSettings(background_nouns=nouns))
        return [each.is_foreground for each in graph.objects]

    assert (grounds(""), grounds("-"), grounds("chair")) == (
        [True, False],
        [True, True],
        [False, True],
    )


def test_between_becomes_a_relation_to_each_of_its_two_objects():
    graph = prompt_graph(read("a cat between a dog and a car"), SETTINGS)
    assert edges(graph) == {("m1", "between", "m2"), ("m1", "between", "m3")}


def test_masks_become_objects_and_their_order_relations_both_ways():
    scene = read("a dog to the left of a car")
    graph = picture_graph(scene, evaluation(masked("m1", 20, 50), masked("m2", 70, 50)), SETTINGS)
    assert edges(graph) == {
        ("dog.1", "left_of", "car.1"),
        ("car.1", "right_of", "dog.1"),
    }


@pytest.mark.parametrize(
    ("x", "expected"), [(42, "near"), (55, None), (90, "far_from")], ids=["near", "neither", "far"]
)
def test_near_and_far_follow_from_the_gap_of_the_boxes(x, expected):
    scene = read("a dog near a car")
    graph = picture_graph(scene, evaluation(masked("m1", 10, 50), masked("m2", x, 50)), SETTINGS)
    found = {each.relation_type for each in graph.relations} & {"near", "far_from"}
    assert found == ({expected} if expected else set())


def test_depth_decides_in_front_of():
    scene = read("a dog in front of a car")
    values = np.tile(np.linspace(0, 1, 100, dtype=np.float32), (100, 1))
    depth = DepthMap(values=values, estimator_id="fake")
    masks = masked("m1", 20, 50), masked("m2", 80, 50)
    assert score_picture(scene, evaluation(*masks, depth=depth)).score == 1
    assert score_picture(scene, evaluation(*masks)).relation_score == 0


def test_between_is_measured_on_three_masks():
    scene = read("a cat between a dog and a car")
    inside = masked("m1", 50, 50), masked("m2", 15, 50), masked("m3", 85, 50)
    outside = masked("m1", 15, 50), masked("m2", 50, 50), masked("m3", 85, 50)
    assert score_picture(scene, evaluation(*inside)).score == 1
    assert score_picture(scene, evaluation(*outside)).relation_score == 0


def test_two_mentions_of_one_class_share_the_objects_of_both():
    scene = read("a red cup to the left of a blue cup")
    seen = [
        Instance(
            mention_id=mention,
            box=Box(left=x - 10, top=40, right=x + 10, bottom=60),
            score=0.9,
            area=0.04,
            colours=(ColourShare(term=colour, share=1.0),),
            rgb=(0, 0, 0),
        )
        for mention in ("m1", "m2")
        for x, colour in ((20, "red"), (80, "blue"))
    ]
    masks = [masked(mention, x, 50) for mention in ("m1", "m2") for x in (20, 80)]
    right = evaluation(*masks, instances=tuple(seen))
    match = score_picture(scene, right)
    assert ids(match.picture) == ["cup.1", "cup.2"]
    assert match.score == 1
    swapped = score_picture(read("a blue cup to the left of a red cup"), right)
    assert swapped.score < 1


def test_an_answer_judges_an_attribute_that_is_no_colour():
    scene = read("a wooden chair")
    seen = evaluation(masked("m1", 50, 50))
    assert score_picture(scene, seen).attribute_score is None
    assertion = Assertion(
        id=AssertionId("a"), text="", question="", mention_id="m1", attribute="wooden"
    )
    for chance, expected in ((0.9, 1), (0.1, 0)):
        answers = DaScore(
            value=chance,
            scores=(AssertionScore(assertion=assertion, probability_yes=chance),),
            source_id="fake",
        )
        assert score_picture(scene, replace(seen, da_score=answers)).attribute_score == expected


def test_a_further_dog_costs_something_unless_the_quantity_is_open():
    masks = [masked("m1", x, 50) for x in (20, 50, 80)]
    one = score_picture(read("a dog"), evaluation(*masks))
    assert [each.state for each in one.objects].count(MatchState.EXTRA) == 2
    assert one.score < 1
    assert score_picture(read("dogs"), evaluation(*masks)).score == 1


def test_the_metric_lists_the_score_its_parts_and_the_edits():
    scene = read("a dog to the left of a car")
    values = METRIC.of_picture(
        scene, evaluation(masked("m1", 80, 50), masked("m2", 20, 50)), METRIC.rules
    )
    assert values["scene_graph_score"] == pytest.approx(1 - 1 / 3.2)
    assert values["scene_graph_parts"]["relations"] == 0
    (edit,) = values["scene_graph_edits"]
    assert (edit["state"], edit["wanted"]) == ("wrong", "left_of")
    assert "right_of" in edit["found"]


def test_a_picture_without_evaluation_counts_0_in_the_mean():
    row = {
        "error": None,
        "scene_graph_score": 1.0,
        "scene_graph_parts": dict.fromkeys(
            ("objects", "attributes", "relations", "foreground", "background", "weighted"), 1.0
        )
        | {"is_approximate": False},
    }
    figures = METRIC.figures([row, {"error": "no model"}], METRIC.rules)["scene_graph"]
    assert (figures["mean"], figures["pictures"]) == (0.5, 2)


def test_rows_align_matched_objects_and_lanes_keep_arcs_apart():
    match = score_picture(
        read("three cats to the left of a dog"),
        evaluation(masked("m1", 15, 30), masked("m1", 15, 70), masked("m2", 80, 50)),
    )
    rows = graph_rows(match)
    assert [(row.wanted, row.found) for row in rows.rows if row.wanted == "dog"] == [("dog", "dog")]
    assert [row.found for row in rows.rows].count("") == 1  # the third cat
    for arcs in (rows.wanted, rows.found):
        places = [(arc.lane, *sorted(arc.rows)) for arc in arcs]
        assert len({lane for lane, *_ in places}) == len(places)  # all end at the dog, so overlap


def test_a_wrong_relation_is_labelled_with_what_holds_on_its_axis():
    match = score_picture(
        read("a dog to the left of a car"), evaluation(masked("m1", 80, 30), masked("m2", 20, 60))
    )
    assert [arc.label for arc in graph_rows(match).found] == ["right of"]


def answered(*statements):
    """The DA-score of statements that the scene does not cover, with their probabilities."""
    return DaScore(
        value=None,
        scores=tuple(
            AssertionScore(
                assertion=Assertion(id=AssertionId(text), text=text, question=f"{text}?"),
                probability_yes=chance,
            )
            for text, chance in statements
        ),
        source_id="fake",
    )


@pytest.mark.parametrize(("chance", "state"), [(0.9, "matched"), (0.1, "wrong")])
def test_an_answerer_judges_verbs(chance, state):
    scene = read("a dog to the left of a red car")
    masks = masked("m1", 20, 50), masked("m2", 80, 50)
    said = answered(("the dog is chasing the red car", chance))
    match = score_picture(scene, evaluation(*masks, da_score=said))
    found = {each.target.relation_type: each.state.value for each in match.relations if each.target}
    assert found == {"left_of": "matched", "verb:chasing": state}
    assert [arc.label for arc in graph_rows(match).wanted] == ["left of", "chasing"]
    assert (match.score == 1) is (chance > 0.5)


@pytest.mark.parametrize(
    "text",
    ["the dog is happy", "there is a car and a bird", "the dog the car", ""],
    ids=["one object", "an unknown object", "no verb", "nothing"],
)
def test_a_statement_without_two_objects_and_a_verb_is_no_edge(text):
    scene = read("a dog to the left of a car")
    masks = masked("m1", 20, 50), masked("m2", 80, 50)
    match = score_picture(scene, evaluation(*masks, da_score=answered((text, 0.9))))
    assert len(match.target.relations) == 1


def test_a_verb_without_an_answer_is_not_compared():
    scene = read("a dog to the left of a car")
    masks = masked("m1", 20, 50), masked("m2", 80, 50)
    said = answered(("the dog chases the car", None))
    assert len(score_picture(scene, evaluation(*masks, da_score=said)).target.relations) == 1
