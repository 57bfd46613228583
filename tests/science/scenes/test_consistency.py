import pytest

from spatialstudio.domain.scene import (
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
    MentionId,
    ObjectMention,
    Prompt,
    Relation,
    RelationId,
    SceneGraph,
    TextSpan,
)
from spatialstudio.science.scenes.consistency import contradictions_of, redundancies_of


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


def test_a_longer_cycle_is_one_contradiction():
    (found,) = contradictions_of(
        scene(("a", LEFT_OF, "b"), ("c", RIGHT_OF, "b"), ("c", LEFT_OF, "a"))
    )
    assert found.message == (
        '"a to the left of b", "c to the right of b" and "c to the left of a" cannot all '
        "be satisfied."
    )


def test_no_mention_is_related_to_itself():
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
def test_compatible_claims_are_no_contradiction(claims):
    assert contradictions_of(scene(*claims)) == ()


@pytest.mark.parametrize(
    ("claims", "gone"),
    [
        ([("a", LEFT_OF, "a")], "r1"),
        ([("a", LEFT_OF, "b"), ("b", LEFT_OF, "a")], "r2"),
        ([("b", LEFT_OF, "c"), ("c", LEFT_OF, "a"), ("a", LEFT_OF, "b")], "r3"),
        ([("a", NEAR, "b"), ("a", FAR_FROM, "b")], "r2"),
    ],
)
def test_a_contradiction_is_resolved_by_removing_the_last_claim(claims, gone):
    (found,) = contradictions_of(scene(*claims))
    kept = [claim for number, claim in enumerate(claims, 1) if f"r{number}" != gone]
    assert found.fix.relation_id == gone
    assert found.fix.message.startswith('Remove "')
    assert not contradictions_of(scene(*kept))


@pytest.mark.parametrize(
    ("claims", "redundant"),
    [
        ([("a", LEFT_OF, "b"), ("b", RIGHT_OF, "a")], ["r2"]),
        ([("a", LEFT_OF, "b"), ("b", LEFT_OF, "c"), ("a", LEFT_OF, "c")], ["r3"]),
        ([("a", ABOVE_LEFT_OF, "b"), ("a", ABOVE, "b")], ["r2"]),
        ([("a", ABOVE, "b"), ("a", LEFT_OF, "b"), ("b", BELOW_RIGHT_OF, "a")], ["r3"]),
        ([("a", NEAR, "b"), ("b", NEAR, "a"), ("a", NEAR, "b")], ["r2", "r3"]),
    ],
    ids=["inverse", "transitive", "part of a diagonal", "whole of a diagonal", "symmetric"],
)
def test_an_implied_claim_is_redundant_and_no_contradiction(claims, redundant):
    graph = scene(*claims)
    assert [found.relation_id for found in redundancies_of(graph)] == redundant
    assert [found.fix.relation_id for found in redundancies_of(graph)] == redundant
    assert not contradictions_of(graph)


@pytest.mark.parametrize(
    "claims",
    [
        [("a", LEFT_OF, "b"), ("a", ABOVE, "b")],
        [("a", LEFT_OF, "b"), ("c", LEFT_OF, "b")],
        [("a", LEFT_OF, "b"), ("b", LEFT_OF, "a")],
        [("a", NEAR, "b"), ("b", NEAR, "c")],
    ],
)
def test_a_new_or_contradicting_claim_is_not_redundant(claims):
    assert not redundancies_of(scene(*claims))
