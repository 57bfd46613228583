import pytest

from spatialstudio.domain.prompt import MentionId, ObjectMention, Prompt, TextSpan
from spatialstudio.domain.relation import (
    ABOVE,
    ABOVE_LEFT_OF,
    BEHIND,
    BELOW,
    BELOW_RIGHT_OF,
    FAR_FROM,
    IN_FRONT_OF,
    LEFT_OF,
    NEAR,
    RIGHT_OF,
    Relation,
    RelationId,
    SceneGraph,
)
from spatialstudio.science.scene_consistency import contradictions_of


def scene(*claims):
    """A scene of one-letter things; the n-th claim stands at character n."""
    names = sorted({name for subject, _, thing in claims for name in (subject, thing)})
    return SceneGraph(
        prompt=Prompt(text="x" * 10),
        mentions=tuple(
            ObjectMention(
                id=MentionId(name), phrase=name, head=name, span=TextSpan(start=0, stop=1)
            )
            for name in names
        ),
        relations=tuple(
            Relation(
                id=RelationId(f"r{number}"),
                type=relation_type,
                subject=MentionId(subject),
                object=MentionId(thing),
                span=TextSpan(start=number, stop=number + 1),
            )
            for number, (subject, relation_type, thing) in enumerate(claims, 1)
        ),
        extractor_id="by hand",
    )


@pytest.mark.parametrize(
    "claims",
    [
        [("a", LEFT_OF, "b"), ("b", LEFT_OF, "a")],
        [("a", LEFT_OF, "b"), ("a", RIGHT_OF, "b")],
        [("a", ABOVE, "b"), ("a", BELOW, "b")],
        [("a", BEHIND, "b"), ("a", IN_FRONT_OF, "b")],
        [("a", ABOVE_LEFT_OF, "b"), ("b", LEFT_OF, "a")],
        [("a", ABOVE_LEFT_OF, "b"), ("a", BELOW_RIGHT_OF, "b")],
        [("a", NEAR, "b"), ("b", FAR_FROM, "a")],
    ],
)
def test_two_claims_that_exclude_each_other_are_one_contradiction(claims):
    (found,) = contradictions_of(scene(*claims))
    assert set(found.relation_ids) == {"r1", "r2"}
    assert {span.start for span in found.spans} == {1, 2}
    assert " contradicts " in found.message


def test_a_longer_circle_is_one_contradiction():
    (found,) = contradictions_of(
        scene(("a", LEFT_OF, "b"), ("c", RIGHT_OF, "b"), ("c", LEFT_OF, "a"))
    )
    assert found.message == (
        '"a to the left of b", "c to the right of b" and "c to the left of a" cannot all hold.'
    )


def test_nothing_stands_in_a_relation_to_itself():
    (found,) = contradictions_of(scene(("a", LEFT_OF, "a")))
    assert found.message == "The a cannot be to the left of itself."
    assert found.relation_ids == ("r1",)


@pytest.mark.parametrize(
    "claims",
    [
        [("a", LEFT_OF, "b"), ("b", RIGHT_OF, "a")],
        [("a", LEFT_OF, "b"), ("a", ABOVE, "b")],
        [("a", LEFT_OF, "b"), ("b", ABOVE, "a")],
        [("a", LEFT_OF, "b"), ("b", LEFT_OF, "c"), ("a", LEFT_OF, "c")],
        [("a", NEAR, "b"), ("b", NEAR, "a")],
        [("a", NEAR, "b"), ("a", FAR_FROM, "c")],
    ],
)
def test_claims_that_can_hold_together_are_let_pass(claims):
    assert contradictions_of(scene(*claims)) == ()
