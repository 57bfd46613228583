import pytest

from spatialstudio.domain.assertion import (
    DA_RECOMMENDED,
    DA_REPRODUCE,
    Assertion,
    AssertionKind,
    Assertions,
    AssertionScore,
    DaSettings,
    QuestionAnswer,
    YesNoChances,
)
from spatialstudio.domain.scene import (
    BETWEEN,
    ObjectMention,
    Prompt,
    SceneGraph,
    TextSpan,
)
from spatialstudio.science.questions.da_score import (
    assertions_of,
    da_score,
    score_again,
    score_answers,
    yes_probability,
)
from tests.science.seen_things import relation


def thing(name, *attributes):
    span = TextSpan(start=0, stop=1)
    phrase = " ".join([*attributes, name])
    return ObjectMention(id=name, phrase=phrase, head=name, attributes=attributes, span=span)


def scene_of(*mentions, relations=()):
    return SceneGraph(
        prompt=Prompt(text="a test"), mentions=mentions, relations=relations, extractor_id="test"
    )


@pytest.fixture
def scene():
    return scene_of(thing("dog", "red"), thing("car"), relations=(relation(),))


def score(assertion_id, chance):
    """An answer about a thing, unless the id names another kind."""
    claim = Assertion(
        id=assertion_id,
        text="",
        question="",
        mention_id=None if assertion_id == "other" else "dog",
        relation_id="r" if assertion_id == "relation" else None,
        attribute="red" if assertion_id == "attribute" else "",
        count="two" if assertion_id == "count" else "",
    )
    return AssertionScore(assertion=claim, probability_yes=chance)


def combined(*scores, settings=DA_RECOMMENDED):
    asked = Assertions(items=tuple(one.assertion for one in scores), source_id="test")
    return da_score(asked, scores, "me", settings)


def chances(log_yes, log_no):
    return YesNoChances(log_yes=log_yes, log_no=log_no)


def test_a_scene_asserts_objects_attributes_and_relations(scene):
    assert [claim.text for claim in assertions_of(scene).items] == [
        "there is a dog",
        "there is a car",
        "the dog is red",
        "the dog is to the left of the car",
    ]


def test_every_assertion_is_asked_as_a_question():
    three = scene_of(thing("dog"), thing("car"), thing("apple"), thing("cup"))
    full = scene_of(*three.mentions, relations=(relation(BETWEEN),))
    assert [claim.question for claim in assertions_of(full).items] == [
        "is there a dog?",
        "is there a car?",
        "is there an apple?",
        "is there a cup?",
        "is the dog between the car and the cup?",
    ]


@pytest.mark.parametrize(
    ("yes", "no", "temperature", "expected"),
    [(-2, -2, 1, 0.5), (-1, -3, 1, 0.880797), (-1, -3, 2, 0.731059), (-900, 0, 1, 0)],
    ids=["even", "rather yes", "less sure", "far apart"],
)
def test_yes_is_normalised_by_yes_and_no(yes, no, temperature, expected):
    settings = DaSettings(temperature=temperature)
    assert yes_probability(chances(yes, no), settings) == pytest.approx(expected, abs=1e-6)


def test_the_published_code_takes_yes_among_all_tokens():
    assert yes_probability(chances(-1, -3), DA_REPRODUCE) == pytest.approx(0.367879, abs=1e-6)


def test_the_score_is_the_weighted_mean_of_the_answers():
    settings = DaSettings(thing_weight=1, attribute_weight=5, relation_weight=3)
    answers = score("thing", 1.0), score("relation", 0.2), score("attribute", None)
    assert combined(*answers, settings=settings).value == pytest.approx(0.4)


@pytest.mark.parametrize("kind", list(AssertionKind), ids=lambda kind: kind.value)
def test_every_kind_has_a_separate_weight(kind):
    settings = DaSettings(**{f"{kind.value}_weight": 7.0})
    (one,) = combined(score(kind.value, 1.0), settings=settings).scores
    assert (one.assertion.kind, one.assertion.weight) == (kind, 7)


def test_without_any_answer_there_is_no_score():
    assert combined(score("thing", None)).value is None
    assert combined().value is None


def test_answers_are_stored_with_their_inputs(scene):
    asked = assertions_of(scene)
    answers = [QuestionAnswer(chances=chances(-0.1, -3))] * 3
    refused = QuestionAnswer(chances=None, note="The server refused to answer.")
    found = score_answers(asked, [*answers, refused], "someone")
    assert (found.source_id, found.asserted_by) == ("someone", "scene")
    assert found.scores[0].chances == chances(-0.1, -3)
    assert (found.scores[3].probability_yes, found.scores[3].note) == (None, refused.note)
    assert found.value == pytest.approx(yes_probability(chances(-0.1, -3)))


def test_the_same_answers_can_be_weighed_again(scene):
    asked = assertions_of(scene)
    answers = [QuestionAnswer(chances=chances(-0.1 * n, -2)) for n in range(1, 5)]
    first = score_answers(asked, answers, "someone")
    cooler = DaSettings(temperature=0.5, thing_weight=2)
    assert score_again(first, cooler) == score_answers(asked, answers, "someone", cooler)
    assert score_again(score_again(first, cooler), DA_RECOMMENDED) == first


def test_new_weights_keep_the_answers():
    again = score_again(combined(score("thing", 0.3)), DA_REPRODUCE)
    assert (again.value, again.settings.preset) == (0.3, "reproduce")
