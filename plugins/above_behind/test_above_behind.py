"""Tests of the relation types: mutual inverses that need depth."""

from above_behind_plugin import ABOVE_BEHIND, BELOW_IN_FRONT, PLUGIN


def test_each_is_the_inverse_of_the_other():
    assert ABOVE_BEHIND.inverse_id == BELOW_IN_FRONT.id
    assert BELOW_IN_FRONT.inverse_id == ABOVE_BEHIND.id
    for claim, opposite in zip(ABOVE_BEHIND.claims, BELOW_IN_FRONT.claims, strict=True):
        assert claim.axis is opposite.axis
        assert claim.subject_first is not opposite.subject_first


def test_both_are_judged_in_depth():
    assert all(each.needs_depth for each in PLUGIN.relation_types)
