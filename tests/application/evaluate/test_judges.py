from dataclasses import replace

import pytest

from spatialstudio.application.evaluate.adjusting import two_judges
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.verdict import AbstentionReason, Outcome
from tests.fakes import scene_of
from tests.ui.scripted_engine import evaluation_of, picture_of


def run_with(outcome, reason=None):
    scene = scene_of()
    evaluation = evaluation_of(scene, picture_of(1), outcome, reason)
    return OpenRun(id="x", scene=scene, image=picture_of(1), evaluation=evaluation)


def test_both_judges_answer_on_each_relation():
    (row,) = two_judges(run_with(Outcome.PASS))
    assert row.relation == "dog to the left of car"
    assert row.verdict.outcome is Outcome.PASS
    assert (row.pse.pos, row.pse.pse) == (1.0, 1.0)
    answers = {metric.id: answer for metric, answer in row.others}
    assert answers == {
        "visor": True,
        "compbench": pytest.approx(0.95),
        "hrs": True,
        "geneval": True,
    }


@pytest.mark.parametrize(
    ("outcome", "reason", "disagree"),
    [
        (Outcome.PASS, None, False),
        (Outcome.FAIL, None, True),
        (Outcome.UNDECIDABLE, AbstentionReason.UNSTABLE, False),
    ],
    ids=["both yes", "no and yes", "one declines"],
)
def test_judges_disagree_if_one_passes_and_the_other_fails(outcome, reason, disagree):
    (row,) = two_judges(run_with(outcome, reason))
    assert row.disagree is disagree


def test_an_object_without_a_mask_is_missing_in_pse():
    run = run_with(Outcome.PASS)
    perception = replace(run.evaluation.perception, masks=run.evaluation.perception.masks[:1])
    unmasked = replace(run, evaluation=replace(run.evaluation, perception=perception))
    (row,) = two_judges(unmasked)
    assert row.pse.missing == (run.scene.relations[0].object,)
    assert row.disagree


def test_a_missing_object_is_not_judged():
    assert two_judges(OpenRun(id="x", scene=scene_of())) == ()
