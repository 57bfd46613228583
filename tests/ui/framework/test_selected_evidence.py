from dataclasses import replace

import pytest

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.verdict import AbstentionReason
from spatialstudio.ui.framework.selected_evidence import SelectedEvidence
from spatialstudio.ui.framework.undo import Edits
from tests.fakes import scene_of
from tests.ui.judged_runs import CAR, DOG, SECOND_DOG, judged_run


@pytest.fixture
def edits(qapp):
    return Edits()


@pytest.fixture
def judgement(edits):
    return SelectedEvidence(edits)


@pytest.fixture
def run():
    return judged_run(DOG, SECOND_DOG, CAR)


def test_at_first_nothing_is_tried(judgement, run):
    assert judgement.adjustment_of(run).checker is run.evaluation.checker
    assert not judgement.is_tried(run)
    assert judgement.adjustment_of(OpenRun(id="x", scene=scene_of())) is None


def test_trying_can_be_undone_and_done_again(qtbot, judgement, edits, run):
    with qtbot.waitSignal(judgement.changed):
        judgement.try_setting(run, "margin", 0.3, "margin")
    assert judgement.adjustment_of(run).checker.margin == 0.3
    edits.undo()
    assert not judgement.is_tried(run)
    edits.redo()
    assert judgement.adjustment_of(run).checker.margin == 0.3


def test_a_drag_is_one_edit(judgement, edits, run):
    for margin in (0.11, 0.12, 0.13):
        judgement.try_setting(run, "margin", margin, "margin")
    assert edits.count() == 1


def test_another_choice_takes_the_first_ones_place(judgement, run):
    for choice in (DOG, SECOND_DOG):
        judgement.try_choice(run, "m1", choice, "choice")
    assert judgement.adjustment_of(run).choices == (SECOND_DOG,)
    judgement.try_choice(run, "m1", None, "choice")
    assert not judgement.is_tried(run)


def test_going_back_is_an_edit_as_well(judgement, edits, run):
    judgement.try_setting(run, "margin", 0.3, "margin")
    judgement.try_nothing(run, "back")
    assert not judgement.is_tried(run)
    edits.undo()
    assert judgement.adjustment_of(run).checker.margin == 0.3


def test_each_run_has_its_own(judgement, run):
    judgement.try_setting(run, "margin", 0.3, "margin")
    assert not judgement.is_tried(replace(run, id="another"))


def test_lighting_is_told_once(qtbot, judgement):
    with qtbot.waitSignal(judgement.changed):
        judgement.light(AbstentionReason.UNSTABLE)
    with qtbot.assertNotEmitted(judgement.changed):
        judgement.light(AbstentionReason.UNSTABLE)
