from dataclasses import replace

import pytest

from spatialstudio.domain.scene import (
    ABOVE,
    ABOVE_LEFT_OF,
    BETWEEN,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    ObjectMention,
    Prompt,
    Relation,
    SceneGraph,
    TextSpan,
)
from spatialstudio.domain.verdict import (
    AbstentionReason,
    ConfidenceComponents,
    Measurement,
    Outcome,
    Verdict,
)
from spatialstudio.science.checker.evidence import explain

NAMES = {"a": "red dog", "b": "car", "c": "cup"}
COMPONENTS = ConfidenceComponents(detection=0.9, geometry=0.8, stability=0.42, agreement=0.5)


def said(
    relation_type,
    outcome=Outcome.PASS,
    reason=None,
    about=("a", "b"),
    names=NAMES,
    **measured,
):
    flank = "c" if relation_type is BETWEEN else None
    scene = SceneGraph(
        prompt=Prompt(text="a test"),
        mentions=tuple(
            ObjectMention(id=key, phrase=name, head=name, span=TextSpan(start=0, stop=1))
            for key, name in names.items()
        ),
        relations=(
            Relation(id="r", type=relation_type, subject="a", object="b", second_object=flank),
        ),
        extractor_id="test",
    )
    numbers = {"delta": None, "margin": 0.1, "overlap": 0.63, "pos": None, "pse": 0.0}
    verdict = Verdict(
        relation_id="r",
        outcome=outcome,
        confidence=0.5,
        components=COMPONENTS,
        measurement=Measurement(**(numbers | measured)),
        reason=reason,
        about=about,
    )
    return explain(verdict, scene)


def judged(outcome=Outcome.PASS, attention_pos=None, **changes):
    """Explain a verdict on "dog left of car", in which the dog is described otherwise."""
    dog, car = (
        ObjectMention(id=key, phrase=name, head=name, span=TextSpan(start=0, stop=1))
        for key, name in (("a", "dog"), ("b", "car"))
    )
    relation = Relation(id="r", type=LEFT_OF, subject="a", object="b")
    scene = SceneGraph(
        prompt=Prompt(text="a test"),
        mentions=(replace(dog, **changes), car),
        relations=(relation,),
        extractor_id="test",
    )
    measured = Measurement(delta=-0.3, margin=0.1, overlap=0.0, pos=None, pse=0.0)
    verdict = Verdict(
        relation_id="r",
        outcome=outcome,
        confidence=0.5,
        components=COMPONENTS,
        measurement=measured,
    )
    return explain(verdict, scene, attention_pos)


def undecided(relation_type, reason, **measured):
    return said(relation_type, Outcome.UNDECIDABLE, reason, **measured)


def test_a_pass_names_offset_and_margin():
    assert said(LEFT_OF, delta=-0.314) == (
        "The centre of the red dog is 0.31 of the width to the left of the centre of the car; "
        "the relation requires more than 0.10 to the left."
    )


def test_a_failure_names_the_actual_side():
    assert said(ABOVE, Outcome.FAIL, delta=0.2) == (
        "The centre of the red dog is 0.20 of the height below the centre of the car; "
        "the relation requires more than 0.10 above."
    )


def test_a_delta_near_the_boundary_is_too_close_to_call():
    assert undecided(LEFT_OF, AbstentionReason.NEAR_BOUNDARY, delta=0.03) == (
        "Too close to call: the centre of the red dog is 0.03 of the width to the right of the "
        "centre of the car; the relation requires more than 0.10 to the left."
    )


@pytest.mark.parametrize(
    ("relation_type", "measured", "sentence"),
    [
        (
            ABOVE_LEFT_OF,
            {"pos": 0.93},
            "The red dog is above and to the left of the car (PoS 0.93).",
        ),
        (BETWEEN, {"pos": 0.8}, "The red dog is between the car and the cup (PoS 0.80)."),
        (
            IN_FRONT_OF,
            {"pos": 0.8, "delta": -0.2},
            "The red dog is in front of the car (depth PoS 0.80; the relation requires more than "
            "0.60).",
        ),
        (
            NEAR,
            {"gap": 0.04, "pos": 0.3},
            "The red dog is near the car (gap 0.04 of the diagonal).",
        ),
        (BETWEEN, {}, "The red dog is between the car and the cup."),
    ],
    ids=["diagonal", "between", "depth", "near", "without masks"],
)
def test_other_relations_state_their_measurement(relation_type, measured, sentence):
    assert said(relation_type, **measured) == sentence


def test_a_failing_distance_is_negated():
    assert said(NEAR, Outcome.FAIL, gap=0.5) == (
        "The red dog is not near the car (gap 0.50 of the diagonal)."
    )


def test_a_distance_between_near_and_far_is_too_close_to_call():
    assert undecided(NEAR, AbstentionReason.NEAR_BOUNDARY, gap=0.2) == (
        "Too close to call whether the red dog is near the car (gap 0.20 of the diagonal)."
    )


@pytest.mark.parametrize(
    ("reason", "about", "sentence"),
    [
        (AbstentionReason.MISSING_OBJECT, ("a", "b"), "Not found: the red dog and the car."),
        (
            AbstentionReason.AMBIGUOUS_OBJECT,
            ("b",),
            "Several instances with similar scores: the car.",
        ),
        (
            AbstentionReason.HIGH_OVERLAP,
            ("a", "b"),
            "The red dog and the car overlap too much (IoU 0.63).",
        ),
        (
            AbstentionReason.UNSTABLE,
            ("a", "b"),
            "The verdict changes under small perturbations (stability 0.42).",
        ),
        (
            AbstentionReason.DETECTORS_DISAGREE,
            ("a", "b"),
            "The second detector disagrees (agreement 0.50).",
        ),
        (
            AbstentionReason.NO_DEPTH,
            ("a", "b"),
            "Depth relations need a depth map and masks.",
        ),
    ],
    ids=lambda value: getattr(value, "value", ""),
)
def test_every_abstention_has_a_reason(reason, about, sentence):
    assert undecided(LEFT_OF, reason, about=about) == sentence


def test_objects_with_equal_names_are_numbered():
    twins = NAMES | {"b": "red dog"}
    missing = said(LEFT_OF, Outcome.UNDECIDABLE, AbstentionReason.MISSING_OBJECT, ("a", "b"), twins)
    assert missing == "Not found: the first red dog and the second red dog."
    placed = said(LEFT_OF, names=twins, delta=-0.31)
    assert placed.startswith(
        "The centre of the first red dog is 0.31 of the width to the left of the centre of the "
        "second red dog"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"phrase": "three dogs", "is_plural": True},
            "Count (three) was not checked.",
        ),
        ({"phrase": "dogs", "is_plural": True}, "Count (more than one) was not checked."),
        ({"phrase": "1 dog", "attributes": ("1",)}, "Count (1) was not checked."),
        ({"phrase": "dark-blue dog", "attributes": ("dark-blue",)}, "Colour (dark-blue) was not"),
        ({"phrase": "old dog", "attributes": ("old",)}, "Attribute (old) was not checked."),
        (
            {"phrase": "big red blue dog", "attributes": ("big", "red", "blue")},
            "Colours (red, blue) and attribute (big) were not checked.",
        ),
        (
            {"phrase": "two old red dogs", "attributes": ("old", "red"), "is_plural": True},
            "Count (two), colour (red) and attribute (old) were not checked.",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_untested_requirements_of_the_prompt_are_listed(changes, said):
    assert said in judged(**changes)


def test_an_object_is_named_by_the_detected_class():
    assert judged(phrase="three red dogs", attributes=("red",)).startswith(
        "The centre of the dog is"
    )


def test_a_plain_object_leaves_nothing_unchecked():
    assert "checked" not in judged()


@pytest.mark.parametrize(
    ("outcome", "pos"),
    [(Outcome.PASS, 0.98), (Outcome.FAIL, 0.02), (Outcome.PASS, 0.5), (Outcome.FAIL, 0.5)],
)
def test_agreement_with_attention_is_not_part_of_the_evidence(outcome, pos):
    assert "attention" not in judged(outcome, attention_pos=pos)
