"""The plan of Fix it."""

import pytest

from spatialstudio.application.refine.fix_run import ENOUGH_TRIALS, measured_order, planned_steps
from spatialstudio.domain.fix import BUDGET, FixReason, FixStep, Remedy
from spatialstudio.science.refine.remedies import CANDIDATES

SKETCH = FixStep(remedy=Remedy.SKETCH, tried=30, repaired=20)
OTHER = FixStep(remedy=Remedy.HOLD, other_noise=True, tried=30, repaired=10)
REDRAW = FixStep(remedy=Remedy.REDRAW, other_noise=True, tried=30, repaired=5)


def test_measured_remedies_come_in_their_order_and_other_noise_fills_the_budget():
    order = {FixReason.PLACE: (SKETCH, OTHER, REDRAW)}

    steps = planned_steps(FixReason.PLACE, order, 6)

    assert steps == (SKETCH, OTHER, REDRAW, OTHER, REDRAW, OTHER)


def test_remedies_are_left_out_after_enough_trials_without_a_repair():
    given_up = FixStep(remedy=Remedy.HOLD, tried=ENOUGH_TRIALS)
    hardly_tried = FixStep(remedy=Remedy.HOLD, tried=ENOUGH_TRIALS - 1)

    assert planned_steps(FixReason.PLACE, {FixReason.PLACE: (given_up, OTHER)}, 1) == (OTHER,)
    steps = planned_steps(FixReason.PLACE, {FixReason.PLACE: (hardly_tried, OTHER)}, 1)
    assert steps == (hardly_tried,)


def test_remedies_are_planned_even_if_none_of_the_measured_ones_can_be():
    redraw = FixStep(remedy=Remedy.REDRAW, tried=9, repaired=8)
    given_up = FixStep(remedy=Remedy.HOLD, tried=ENOUGH_TRIALS)
    order = {FixReason.PLACE: (redraw, given_up)}

    steps = planned_steps(FixReason.PLACE, order, 4, can_redraw=False)

    assert len(steps) == 4
    assert {each.remedy for each in steps} == {Remedy.HOLD, Remedy.SKETCH}


def test_the_shipped_order_steers_pictures_that_fail_in_depth():
    steps = planned_steps(FixReason.DEPTH, measured_order(), BUDGET)

    assert Remedy.STEERING in {each.remedy for each in steps}


def test_a_local_repair_is_planned_only_where_an_object_can_be_redrawn():
    redraw = FixStep(remedy=Remedy.REDRAW, tried=9, repaired=8)
    order = {FixReason.PLACE: (redraw, OTHER)}

    assert planned_steps(FixReason.PLACE, order, 2) == (redraw, OTHER)
    assert planned_steps(FixReason.PLACE, order, 2, can_redraw=False) == (OTHER, OTHER)


def test_a_small_budget_takes_the_first():
    assert planned_steps(FixReason.PLACE, {FixReason.PLACE: (SKETCH, OTHER)}, 1) == (SKETCH,)


@pytest.mark.parametrize("reason", [each for each in FixReason if each is not FixReason.STYLE])
def test_reasons_without_measurements_take_their_remedies_with_and_without_other_noise(reason):
    steps = planned_steps(reason, {}, 6)

    assert len(steps) == 6
    assert {each.remedy for each in steps} == {*CANDIDATES[reason]}
    assert all(each.tried == 0 for each in steps)


def test_the_shipped_order_names_remedies_that_suit_their_reason():
    for reason, steps in measured_order().items():
        assert {each.remedy for each in steps} <= {*CANDIDATES[reason]}
        assert all(0 <= each.repaired <= each.tried for each in steps)
        assert any(each.other_noise for each in steps)
