"""Verdicts in the window: their evidence is lit on the picture, and Esc ends that."""

from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton

from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.verdict import AbstentionReason
from spatialstudio.science.questions.perception_answers import score_by_perception
from spatialstudio.ui.evaluate import commands as commands
from spatialstudio.ui.evaluate.evaluation_panel import EvaluationPanel
from spatialstudio.ui.evaluate.widgets.mention_card import AssertionScores, MentionCard, Swatch
from spatialstudio.ui.evaluate.widgets.verdict_card import CheckChip, VerdictCard
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.widgets.picture_layers import Layer
from spatialstudio.ui.window.workspaces import EVALUATE
from tests.fakes import counted_scene
from tests.ui.judged_runs import (
    CAR,
    DOG,
    NEAR_DOG,
    SECOND_DOG,
    UNSURE_DOG,
    instance,
    judged_run,
)
from tests.ui.scripted_engine import STICKERS

NEAR = AbstentionReason.NEAR_BOUNDARY


@pytest.fixture
def evaluating(qtbot, window, studio):
    """The window in Evaluate, with a picture whose dog is too near the boundary."""
    window.use_workspace(EVALUATE)
    studio.session.open(judged_run(NEAR_DOG, CAR))
    qtbot.waitUntil(lambda: bool(chips(window)))
    return window


def chips(window):
    return [chip for chip in window.findChildren(CheckChip) if chip.isVisible()]


def chip_of(window, reason):
    return next(chip for chip in chips(window) if chip.check.reason is reason)


def picture(window):
    return window.stage.findChild(PictureView)


def test_a_check_lights_its_evidence_until_it_is_ended(qtbot, evaluating, studio):
    judgement = evaluating.context.judgement
    chip = chip_of(evaluating, NEAR)
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    assert judgement.lit is NEAR
    qtbot.waitUntil(lambda: "too close to call" in described(evaluating))
    qtbot.keyClick(chip, Qt.Key.Key_Escape)
    assert judgement.lit is None
    assert not chip.isChecked()
    judgement.light(NEAR)
    qtbot.keyClick(picture(evaluating), Qt.Key.Key_Escape)
    assert judgement.lit is None
    judgement.light(NEAR)
    evaluating.context.actions[commands.CLEAR_EVIDENCE].trigger()
    assert judgement.lit is None
    judgement.light(NEAR)
    studio.session.open(replace(judged_run(NEAR_DOG, CAR), id="another"))
    qtbot.waitUntil(lambda: judgement.lit is None)


def test_counts_and_colours_are_cards_that_light_their_instances(qtbot, evaluating, studio):
    instances = tuple(map(instance, (DOG, SECOND_DOG, CAR)))
    run = judged_run(DOG, SECOND_DOG, CAR, scene=counted_scene(), instances=instances)
    assertions = score_by_perception(run.scene, run.evaluation.perception, instances=instances)
    run = replace(run, evaluation=replace(run.evaluation, da_score=assertions))
    studio.session.open(run)
    qtbot.waitUntil(lambda: len(evaluating.findChildren(MentionCard)) == 2)
    count, colour = (
        next(card for card in evaluating.findChildren(MentionCard) if kind in card.accessibleName())
        for kind in ("count", "colour")
    )
    assert "three: FAIL" in count.accessibleName()
    assert "blue: FAIL" in colour.accessibleName()
    assert [each.accessibleName() for each in colour.findChildren(Swatch)] == [
        "measured colour: brown"
    ]
    button = next(each for each in count.findChildren(QToolButton) if each.isCheckable())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert evaluating.context.judgement.lit is run.evaluation.mention_verdicts[0]
    qtbot.waitUntil(lambda: "2 instances of dog found" in described(evaluating))
    qtbot.keyClick(button, Qt.Key.Key_Escape)
    assert not button.isChecked()
    (scores,) = evaluating.findChildren(AssertionScores)
    assert "there are three dogs" in scores.texts


def described(window):
    return picture(window).accessibleDescription().lower()


def test_dragging_the_band_on_the_picture_tries_another_margin(qtbot, evaluating, studio):
    view = picture(evaluating)
    qtbot.waitUntil(lambda: "too close to call" in described(evaluating))
    start, goal = (view.place.to_widget(QPointF(x, 0.8)).toPoint() for x in (0.8, 0.73))
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(view, goal)
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=goal)
    tried = evaluating.context.judgement.adjustment_of(studio.session.run)
    assert tried.checker.margin == pytest.approx(0.03, abs=0.01)
    qtbot.keyClick(evaluating, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not evaluating.context.judgement.is_tried(studio.session.run)


def test_a_candidate_is_chosen_by_clicking_it(qtbot, evaluating, studio):
    studio.session.open(judged_run(NEAR_DOG, SECOND_DOG, CAR))
    evaluating.context.stage.toggle(Layer.CANDIDATES)
    view = picture(evaluating)
    qtbot.waitUntil(lambda: "similar scores" in described(evaluating))
    spot = view.place.to_widget(QPointF(0.97, 0.2)).toPoint()
    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=spot)
    tried = evaluating.context.judgement.adjustment_of(studio.session.run)
    assert tried.choices == (SECOND_DOG,)


def test_the_lever_lowers_the_threshold(qtbot, evaluating, studio):
    studio.session.open(judged_run(UNSURE_DOG, CAR))
    wanted = "Lower the threshold to 0.15"
    qtbot.waitUntil(lambda: wanted in texts(evaluating))
    card = evaluating.findChild(VerdictCard)
    threshold = next(each for each in card.findChildren(QPushButton) if each.text() == wanted)
    qtbot.mouseClick(threshold, Qt.MouseButton.LeftButton)
    tried = evaluating.context.judgement.adjustment_of(studio.session.run)
    assert tried.checker.detection_score == 0.15


def texts(window):
    return [each.text() for each in window.findChildren(QPushButton) if each.isVisible()]


def test_digits_switch_the_layers_of_the_evidence(qtbot, evaluating):
    stage = evaluating.context.stage
    for key, layer in (
        (Qt.Key.Key_6, Layer.DEPTH),
        (Qt.Key.Key_7, Layer.BAND),
        (Qt.Key.Key_8, Layer.CANDIDATES),
        (Qt.Key.Key_9, Layer.SECOND),
    ):
        before = frozenset(stage.layers)
        qtbot.keyClick(evaluating, key)
        assert frozenset(stage.layers) ^ before == {layer}


def cards(window):
    return [card for card in window.findChildren(VerdictCard) if card.isVisible()]


def test_the_verdict_on_a_second_picture_leaves_the_first_cards_alone(qtbot, evaluating, studio):
    second = replace(judged_run(UNSURE_DOG, CAR), id="second")
    studio.session.open(judged_run(SECOND_DOG, CAR), replace(second, evaluation=None))
    qtbot.waitUntil(lambda: [card.content[0].run for card in cards(evaluating)] == ["This run"])
    (own,) = cards(evaluating)
    studio.session.set_second_run(second)
    qtbot.waitUntil(lambda: len(cards(evaluating)) > 1)
    assert [card is own for card in cards(evaluating)] == [True, False]
    assert [card.content[1] for card in cards(evaluating)] == [False, True]


def test_the_verdicts_on_a_second_seed_are_called_by_it(qtbot, evaluating, studio):
    request = new_request(judged_run(DOG, CAR).scene, STICKERS, seed=7)
    run = replace(judged_run(DOG, CAR), request=request)
    second = replace(run, id="second", request=with_values(request, id="second", seed=8))
    studio.session.open(run, second)
    qtbot.waitUntil(
        lambda: [card.content[0].run for card in cards(evaluating)] == ["Seed 7", "Seed 8"]
    )


def test_the_verdict_names_its_checker(evaluating):
    panel = evaluating.findChild(EvaluationPanel)
    words = "\n".join(label.text() for label in panel.findChildren(QLabel))
    assert "Checker: SpatialBench-UC as published" in words
