import pytest

from spatialstudio.adapters.prompts.grammar import GrammarExtractor
from spatialstudio.domain.requirements import RequirementKind
from spatialstudio.domain.resources import resources_folder
from spatialstudio.domain.scene import Prompt
from spatialstudio.domain.verdict import (
    REPRODUCE,
    Box,
    ColourShare,
    Instance,
    MentionDoubt,
    Outcome,
)
from spatialstudio.science.checker.decide_mentions import decide_mentions
from spatialstudio.science.checker.evidence import explain_mention

BOX = Box(left=0, top=0, right=20, bottom=20)


@pytest.fixture(scope="module")
def extractor():
    return GrammarExtractor(resources_folder() / "prompts")


@pytest.fixture
def judged(extractor):
    """Judges the counts and colours of a prompt by instances of its mentions."""

    def judge(text, *instances):
        return decide_mentions(extractor.extract(Prompt(text=text)), instances, REPRODUCE)

    return judge


def one(mention="m1", score=0.9, most=1, **shares):
    colours = tuple(ColourShare(term=term, share=share) for term, share in shares.items())
    return Instance(mention_id=mention, box=BOX, score=score, area=0.05, most=most, colours=colours)


RED, BLUE = {"red": 0.9, "black": 0.1}, {"blue": 0.8, "white": 0.2}


@pytest.mark.parametrize(
    ("text", "count", "outcome"),
    [
        ("three birds", 1, Outcome.FAIL),
        ("three birds", 2, Outcome.FAIL),
        ("three birds", 3, Outcome.PASS),
        ("three birds", 4, Outcome.FAIL),
        ("a pair of birds", 2, Outcome.PASS),
        ("birds above a house", 1, Outcome.FAIL),
        ("birds above a house", 5, Outcome.PASS),
        ("several birds", 2, Outcome.FAIL),
        ("one bird", 2, Outcome.FAIL),
        ("at least two birds", 3, Outcome.PASS),
    ],
)
def test_a_count_passes_only_with_that_many_instances(judged, text, count, outcome):
    (verdict,) = judged(text, *[one()] * count)
    assert (verdict.kind, verdict.outcome, verdict.count) == (RequirementKind.COUNT, outcome, count)


def test_a_bird_may_be_any_number_of_birds(judged):
    assert judged("a bird above a house", one(), one()) == ()


def test_instances_below_the_thresholds_do_not_count_but_lower_the_confidence(judged):
    (verdict,) = judged("two birds", one(), one(), one(score=0.15))
    assert verdict.outcome is Outcome.PASS
    assert verdict.confidence == pytest.approx(0.85)


@pytest.mark.parametrize(
    ("instances", "doubt"),
    [
        ([], MentionDoubt.MISSING_OBJECT),
        ([one(most=2)], MentionDoubt.UNSEPARATED),
    ],
    ids=["missing", "touching"],
)
def test_a_count_is_undecidable_with_a_reason(judged, instances, doubt):
    (verdict,) = judged("two birds", *instances)
    assert (verdict.outcome, verdict.doubt) == (Outcome.UNDECIDABLE, doubt)


def test_an_unsure_separation_that_changes_nothing_is_decided(judged):
    (verdict,) = judged("five birds", one(most=2))
    assert verdict.outcome is Outcome.FAIL


def test_large_counts_are_not_told_apart(judged):
    (few,) = judged("a hundred birds", one())
    (many,) = judged("twenty birds", *[one()] * 14)
    assert few.outcome is Outcome.FAIL
    assert many.doubt is MentionDoubt.TOO_MANY


def test_mentions_of_one_kind_count_their_own_colours(judged):
    cups = [one(m, **shares) for m in ("m1", "m2") for shares in (RED, RED, BLUE)]
    verdicts = judged("two red cups and one blue cup", *cups)
    assert [(each.words, each.outcome, each.count) for each in verdicts] == [
        ("two", Outcome.PASS, 2),
        ("red", Outcome.PASS, 2),
        ("one", Outcome.PASS, 1),
        ("blue", Outcome.PASS, 1),
    ]


def test_phrases_that_share_a_noun_count_their_own_colours(judged):
    cups = [one(m, **shares) for m in ("m1", "m2") for shares in (RED, RED, BLUE)]
    verdicts = judged("two red and two blue cups", *cups)
    assert [(each.words, each.outcome, each.count) for each in verdicts] == [
        ("two", Outcome.PASS, 2),
        ("red", Outcome.PASS, 2),
        ("two", Outcome.FAIL, 1),
        ("blue", Outcome.FAIL, 3),
    ]


def test_mentions_of_one_kind_without_colours_are_counted_together(judged):
    text = "one cat to the left of another cat"
    outcomes = [[each.outcome for each in judged(text, *[one()] * count)] for count in (1, 2, 3)]
    assert outcomes == [[Outcome.FAIL], [Outcome.PASS], [Outcome.UNDECIDABLE]]


@pytest.mark.parametrize(
    ("text", "shares", "outcome", "doubt"),
    [
        ("a red car", RED, Outcome.PASS, None),
        ("a blue car", RED, Outcome.FAIL, None),
        ("a turquoise car", BLUE, Outcome.PASS, None),
        ("a red car", {"red": 0.5, "blue": 0.5}, Outcome.UNDECIDABLE, MentionDoubt.MULTICOLOURED),
        (
            "an orange car",
            {"orange": 0.5, "brown": 0.24, "yellow": 0.2},
            Outcome.PASS,
            None,
        ),
        ("a red and white bus", {"red": 0.6, "white": 0.3}, Outcome.PASS, None),
        ("a red and white bus", {"red": 0.9, "black": 0.1}, Outcome.FAIL, None),
        ("a red car", {}, Outcome.UNDECIDABLE, MentionDoubt.NO_MASK),
    ],
)
def test_a_colour_is_judged_by_its_share_of_the_mask(judged, text, shares, outcome, doubt):
    (verdict,) = judged(text, one(**shares))
    assert (verdict.kind, verdict.outcome) == (RequirementKind.COLOUR, outcome)
    assert verdict.doubt is doubt


def test_every_counted_instance_has_the_colour(judged):
    count, colour = judged("two red cups", one(**RED), one(**BLUE))
    assert (count.outcome, colour.outcome) == (Outcome.PASS, Outcome.FAIL)


@pytest.mark.parametrize(
    ("text", "instances", "sentence"),
    [
        (
            "three birds",
            [one()],
            "1 instance of bird found; the prompt requires three.",
        ),
        (
            "two birds",
            [one(most=2)],
            "Too close to call: 1 instance of bird found; the prompt requires two; touching "
            "instances may be one object or several.",
        ),
        ("two birds", [], "Not found: the bird."),
        ("a blue car", [one(**RED)], "The car is red 90 %, black 10 %; the prompt requires blue."),
        (
            "a red car",
            [one(red=0.5, blue=0.5)],
            "The car has several colours (red 50 %, blue 50 %); the prompt requires red.",
        ),
    ],
)
def test_verdicts_are_explained_with_their_values(extractor, text, instances, sentence):
    scene = extractor.extract(Prompt(text=text))
    (verdict,) = decide_mentions(scene, instances, REPRODUCE)
    assert explain_mention(verdict, scene) == sentence
