from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spatialstudio.domain.graph_match import MatchState, ObjectGraph
from spatialstudio.domain.graph_settings import (
    AttributeForm,
    EdgeGround,
    ForegroundWeight,
    GraphSettings,
    ScoreScale,
    Unjudged,
)
from spatialstudio.science.scene_graph.edit_costs import EditCosts
from spatialstudio.science.scene_graph.edit_distance import approximate_distance, edit_distance
from spatialstudio.science.scene_graph.score import match_graphs
from tests.science.scene_graph.graphs import (
    HELD,
    PREDICATES,
    both_ways,
    least_cost,
    picture_of,
    random_graph,
    related,
    thing,
)

DOG, CUP = thing("m1", "dog"), thing("m2", "cup", "red")
PAIR = ObjectGraph(objects=(DOG, CUP), relations=(related("m1", "left_of", "m2"),))


def picture(*things, relations=()):
    return ObjectGraph(objects=things, relations=both_ways(*relations))


def seen(kind, *attributes, **more):
    return thing(f"{kind}.1", kind, *attributes, **more)


SIDE_BY_SIDE = related("dog.1", "left_of", "cup.1")


def score(found, **changes):
    return match_graphs(PAIR, found, GraphSettings(**changes))


def test_the_score_by_hand():
    swapped = related("cup.1", "left_of", "dog.1")
    found = picture(seen("dog"), seen("cup", "blue"), relations=[swapped])
    match = score(found)
    # objects 2 + relation 1 + insertions 0.2; attributes 0.5, relation the opposite 1
    assert match.most == pytest.approx(3.2)
    assert match.distance == pytest.approx(1.5)
    assert match.score == pytest.approx(1 - 1.5 / 3.2)
    assert match.object_score == 1
    assert match.attribute_score == 0
    assert match.relation_score == 0
    assert match.is_exact


def test_a_missing_object_takes_its_relation_along():
    match = score(picture(seen("dog")))
    assert match.distance == pytest.approx(2)
    assert match.most == pytest.approx(3.1)
    assert [each.state for each in match.objects] == [MatchState.MATCHED, MatchState.MISSING]
    assert match.relations[0].state is MatchState.MISSING


def test_an_object_of_another_class_is_never_matched():
    # an object with two relations: matching across classes would save both of them
    target = ObjectGraph(
        objects=(DOG, CUP, thing("m3", "cat")),
        relations=(related("m1", "left_of", "m2"), related("m1", "above", "m3")),
    )
    found = picture(
        seen("hen"),
        seen("cup", "red"),
        seen("cat"),
        relations=[related("hen.1", "left_of", "cup.1"), related("hen.1", "above", "cat.1")],
    )
    match = match_graphs(target, found)
    assert match.objects[0].state is MatchState.MISSING
    assert match.distance == pytest.approx(1 + 2 + 0.1)


def test_synonyms_are_one_class():
    found = picture(seen("mug", "red"), seen("dog"))
    assert score(found).object_score < 1
    assert score(found, synonyms="cup/mug").object_score == 1


@pytest.mark.parametrize(
    ("held", "cost"),
    [
        (("left_of", "above"), 0),
        (("left_of",), 0.5),
        (("left_of", "below"), 1),
        (("right_of", "below"), 1),
        (("near",), 1),
        ((), 1),
    ],
    ids=["both claims", "one claim", "one opposite", "the opposite", "another family", "none"],
)
def test_a_diagonal_costs_by_its_claims(held, cost):
    costs = EditCosts(PAIR, PAIR, GraphSettings())
    assert costs.relations(("above_left_of",), held) == cost


def test_an_attribute_that_cannot_be_judged_is_left_out_or_missing():
    found = picture(seen("dog"), seen("cup", unjudged=frozenset({"red"})), relations=[SIDE_BY_SIDE])
    assert score(found).score == 1
    assert score(found).attribute_score is None
    assert score(found, unjudged=Unjudged.MISSING).attribute_score == 0


def test_foreground_and_background_are_scored_apart():
    sky = thing("m3", "sky", is_foreground=False)
    target = ObjectGraph(objects=(*PAIR.objects, sky), relations=PAIR.relations)
    found = picture(seen("dog"), seen("cup", "red"), relations=[SIDE_BY_SIDE])
    match = match_graphs(target, found)
    assert (match.foreground, match.background) == (1, 0)
    assert match.weighted == pytest.approx(2 / 3)


def test_a_relation_counts_for_the_ground_of_its_subject_or_of_both():
    sky = thing("m2", "sky", is_foreground=False)
    target = ObjectGraph(objects=(DOG, sky), relations=(related("m1", "below", "m2"),))
    found = picture(seen("dog"), seen("sky", is_foreground=False))
    assert match_graphs(target, found).foreground < 1
    both = GraphSettings(edge_ground=EdgeGround.BOTH)
    assert match_graphs(target, found, both).foreground == 1


def test_extra_relations_are_listed_once_and_free_by_default():
    target = ObjectGraph(objects=PAIR.objects)
    found = picture(seen("dog"), seen("cup", "red"), relations=[SIDE_BY_SIDE])
    match = match_graphs(target, found)
    assert [(each.found, each.predicates) for each in match.relations] == [
        (("dog.1", "cup.1"), ("left_of",))
    ]
    assert match.score == 1
    charged = match_graphs(target, found, GraphSettings(extra_relation=0.2))
    assert charged.distance == pytest.approx(0.4)  # the relation and its inverse


def test_a_further_object_of_an_open_quantity_is_free():
    found = picture(seen("dog"), seen("cup", "red"), thing("dog.2", "dog", is_free=True))
    assert score(found).object_score == 1


def test_a_prompt_without_objects_has_no_score():
    assert match_graphs(ObjectGraph(), picture(seen("dog"))) is None


def test_attributes_as_nodes_cost_a_node_and_an_edge_each():
    found = picture(seen("dog"), seen("cup", "blue"), relations=[SIDE_BY_SIDE])
    match = score(found, attribute_form=AttributeForm.NODE)
    # objects 2 + attribute 1 + its edge 1 + relation 1 + insertions 0.2
    assert match.most == pytest.approx(5.2)
    assert match.distance == pytest.approx(2)
    assert score(picture(), attribute_form=AttributeForm.NODE).score == 0


def test_the_scale_relates_the_distance_to_both_graphs_the_prompt_or_neither():
    found = picture(seen("dog"), relations=[])  # the cup and its relation are missing
    assert score(found).score == pytest.approx(1 - 2 / 3.1)
    assert score(found, score_scale=ScoreScale.TARGET).score == pytest.approx(1 - 2 / 3)
    assert score(found, score_scale=ScoreScale.RECIPROCAL).score == pytest.approx(1 / 3)


def test_the_foreground_counts_by_its_objects_equally_or_alone():
    sky = thing("m3", "sky", is_foreground=False)
    target = ObjectGraph(objects=(*PAIR.objects, sky), relations=PAIR.relations)
    found = picture(seen("dog"), seen("cup", "red"), relations=[SIDE_BY_SIDE])

    def weighted(weight):
        return match_graphs(target, found, GraphSettings(foreground_weight=weight)).weighted

    assert weighted(ForegroundWeight.OBJECTS) == pytest.approx(2 / 3)
    assert weighted(ForegroundWeight.EQUAL) == pytest.approx(1 / 2)
    assert weighted(ForegroundWeight.FOREGROUND) == pytest.approx(1)


targets = st.builds(
    lambda seed, count: random_graph(np.random.default_rng(seed), count, PREDICATES),
    st.integers(0, 10_000),
    st.integers(1, 5),
)


@given(targets)
@settings(max_examples=60, deadline=None)
def test_an_empty_picture_scores_0(target):
    assert match_graphs(target, ObjectGraph()).score == 0


@given(targets)
@settings(max_examples=60, deadline=None)
def test_an_exact_picture_without_extras_scores_1(target):
    match = match_graphs(target, picture_of(target))
    assert match.score == 1
    assert match.is_exact
    assert {each.state for each in match.objects} == {MatchState.MATCHED}


def of_different_classes(target):
    things = (replace(each, kind=f"kind{n}") for n, each in enumerate(target.objects))
    return ObjectGraph(objects=tuple(things), relations=target.relations)


def missing_object(found, name, truth):
    return ObjectGraph(
        objects=tuple(each for each in found.objects if each.id != name),
        relations=lost_relations(found, name, truth).relations,
    )


def with_thing(found, further):
    return ObjectGraph(objects=(*found.objects, further), relations=found.relations)


def extra_object(found, _name, _truth):
    return with_thing(found, thing(f"extra.{len(found.objects)}", "stranger"))


def wrong_colour(found, name, _truth):
    """Blue instead of red, or besides the rest; no prompt here requires blue."""
    objects = (
        replace(each, attributes=each.attributes - {"red"} | {"blue"}) if each.id == name else each
        for each in found.objects
    )
    return ObjectGraph(objects=tuple(objects), relations=found.relations)


def lost_relations(found, name, _truth):
    kept = tuple(e for e in found.relations if name not in {e.subject, e.object})
    return ObjectGraph(objects=found.objects, relations=kept)


def wrong_relations(found, name, _truth):
    """An order in depth instead of what holds; no prompt here requires one."""
    wrong = {True: "in_front_of", False: "behind"}
    relations = (
        replace(e, relation_type=wrong[e.subject == name]) if name in {e.subject, e.object} else e
        for e in found.relations
    )
    return ObjectGraph(objects=found.objects, relations=tuple(dict.fromkeys(relations)))


def reversed_relations(found, name, truth):
    """Subject and object exchanged, unless they already are: twice would correct the first."""
    relations = (
        related(e.object, e.relation_type, e.subject)
        if name in {e.subject, e.object} and e in truth.relations
        else e
        for e in found.relations
    )
    return ObjectGraph(objects=found.objects, relations=tuple(dict.fromkeys(relations)))


UNREVERSED = (missing_object, extra_object, wrong_colour, lost_relations, wrong_relations)
ERRORS = (*UNREVERSED, reversed_relations)
PLACES = st.integers(0, 99)


def scores_with(target, errors):
    """The score of the exact picture, then after each further error in one of its objects."""
    truth = found = picture_of(target)
    scores = [match_graphs(target, found).score]
    for spoil, place in errors:
        remaining = [each.id for each in found.objects if each.id.startswith("p.")]
        if not remaining:
            break
        found = spoil(found, remaining[place % len(remaining)], truth)
        match = match_graphs(target, found, GraphSettings(exact_seconds=60))
        assert match.is_exact
        scores.append(match.score)
    return scores


def never_rises(scores):
    return all(after <= before + 1e-9 for before, after in pairwise(scores))


@given(targets, st.lists(st.tuples(st.sampled_from(ERRORS), PLACES), max_size=4))
@settings(max_examples=300, deadline=None)
def test_no_further_error_raises_the_score(target, errors):
    assert never_rises(scores_with(of_different_classes(target), errors))


@given(
    targets,
    st.tuples(st.sampled_from(ERRORS), PLACES),
    st.lists(st.tuples(st.sampled_from(UNREVERSED), PLACES), max_size=3),
)
@settings(max_examples=300, deadline=None)
def test_no_further_error_among_objects_of_one_class_raises_the_score(target, first, errors):
    """Several dogs and cups; relations are reversed by the first error only.

    A picture's dog is any dog of the prompt, whichever costs least. What one dog has wrongly may
    therefore be what another requires, and a second error may complete an exchange of the two; the
    next tests show it. Errors that give a dog nothing that any dog requires never raise the score.
    """
    assert never_rises(scores_with(target, [first, *errors]))


DOGS = ObjectGraph(
    objects=(thing("t0", "dog", "red"), thing("t1", "dog", "green"), thing("t2", "cup")),
    relations=(related("t0", "left_of", "t2"), related("t1", "right_of", "t2")),
)


def dogs(*colours, **places):
    """Named dogs of these colours beside a cup."""
    relations = [related(f"{name}.dog", place, "cup.1") for name, place in places.items()]
    return picture(
        *(
            thing(f"{name}.dog", "dog", colour)
            for name, colour in zip(places, colours, strict=True)
        ),
        seen("cup"),
        relations=relations,
    )


@pytest.mark.parametrize(
    ("shown", "distance"),
    [
        (dogs("red", "green", one="left_of", two="right_of"), 0),
        (dogs("green", "green", one="left_of", two="right_of"), 0.5),
        (dogs("green", "red", one="left_of", two="right_of"), 1),
        (dogs("green", "red", one="right_of", two="right_of"), 1),
        (dogs("green", "red", one="right_of", two="left_of"), 0),
    ],
    ids=["exact", "one colour", "both colours", "and one relation", "and both relations"],
)
def test_errors_of_two_dogs_that_exchange_them_are_none(shown, distance):
    """The last two errors do not lower the score: the second of them completes the exchange."""
    assert match_graphs(DOGS, shown).distance == pytest.approx(distance)


def test_a_further_dog_costs_unless_it_replaces_a_wrong_one():
    further = thing("further", "dog", "green")
    exact = dogs("red", "green", one="left_of", two="right_of")
    wrong = dogs("red", "blue", one="left_of", two="near")
    assert match_graphs(DOGS, with_thing(exact, further)).distance == pytest.approx(0.1)
    assert match_graphs(DOGS, wrong).distance == pytest.approx(0.5 + 1)
    # it takes the place of the blue dog, which is then the further one
    assert match_graphs(DOGS, with_thing(wrong, further)).distance == pytest.approx(0.1 + 1)


def random_costs(seed, **changes):
    rng = np.random.default_rng(seed)
    target = random_graph(rng, int(rng.integers(1, 5)), PREDICATES)
    found = random_graph(rng, int(rng.integers(0, 5)), HELD, is_picture=True)
    return EditCosts(target, found, GraphSettings(**changes))


@pytest.mark.parametrize(
    "changes",
    [{}, {"extra_relation": 0.1}, {"attribute_form": AttributeForm.NODE}],
    ids=["free", "charged", "attribute nodes"],
)
def test_the_exact_distance_equals_that_of_all_matchings_on_500_graphs(changes):
    for seed in range(500 if not changes else 100):
        costs = random_costs(seed, **changes)
        found = edit_distance(costs)
        assert found.is_exact
        assert found.cost == pytest.approx(least_cost(costs), abs=1e-9), seed
        assert 0 <= found.cost <= costs.most + 1e-9


def test_the_approximate_distance_is_an_upper_bound_and_says_so():
    differences = []
    for seed in range(200):
        costs = random_costs(seed)
        rough, exact = approximate_distance(costs), edit_distance(costs)
        assert rough.cost >= exact.cost - 1e-9
        if rough.is_exact:
            assert rough.cost == pytest.approx(exact.cost)
        differences.append(rough.cost - exact.cost)
    assert np.mean(differences) < 0.05


def test_a_graph_of_more_than_ten_objects_is_approximate_unless_it_is_proven():
    rng = np.random.default_rng(3)
    target = random_graph(rng, 14, PREDICATES)
    found = random_graph(rng, 14, HELD, is_picture=True)
    assert not match_graphs(target, found).is_exact
    assert match_graphs(target, picture_of(target)).score == 1
