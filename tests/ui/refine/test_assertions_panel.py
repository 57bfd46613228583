"""Assertions are shown, changed, answered and scored at another temperature."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from spatialstudio.domain.assertion import (
    DA_RECOMMENDED,
    AssertionKind,
    AssertionScore,
    DaScore,
    YesNoChances,
)
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.questions.da_score import assertions_of, score_again
from spatialstudio.ui.refine.assertions_panel import AssertionsPanel
from spatialstudio.ui.widgets.fields import TextLine
from tests.ui.scripted_engine import PROMPT, evaluation_of, picture_of


@pytest.fixture
def panel(qtbot, context, studio):
    made = AssertionsPanel(context)
    qtbot.addWidget(made)
    studio.start()
    studio.bus.subscribe(studio.apply_event)
    studio.bus.subscribe(made.handle)
    studio.use_prompt(PROMPT)
    made.resize(700, 300)
    made.show()
    qtbot.waitUntil(lambda: len(lines(made)) > 2)
    return made


def lines(panel):
    return [each.text() for each in panel._rows.findChildren(TextLine)]


def line(panel, name):
    (found,) = (
        each for each in panel._rows.findChildren(TextLine) if each.accessibleName() == name
    )
    return found


def type_in(qtbot, field, text):
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Return)


def test_the_assertions_of_the_scene_are_shown_in_the_order_of_the_prompt(panel, studio):
    assert lines(panel)[::2] == [
        "there is a dog",
        "the dog is to the left of the car",
        "there is a car",
        "",
    ]
    assert studio.assertions is None


def test_a_changed_question_is_asked_about_the_next_pictures(qtbot, panel, studio, engine, context):
    type_in(qtbot, line(panel, "Question 1"), "is there a small dog?")
    changed = studio.assertions.items[0]
    assert (changed.question, changed.mention_id) == ("is there a small dog?", "m1")
    studio.queue.add(studio.new_request())
    assert engine.jobs[-1].assertions is studio.assertions
    context.edits.undo()
    assert studio.assertions is None


@pytest.mark.parametrize(
    ("text", "belongs"),
    [
        ("a dog is there", ("m1", "", AssertionKind.THING)),
        ("there is a red dog", ("m1", "red", AssertionKind.ATTRIBUTE)),
        ("there is no dog", ("m1", "no", AssertionKind.ATTRIBUTE)),
        ("there is a car", ("m2", "", AssertionKind.THING)),
        ("it is night", (None, "", AssertionKind.OTHER)),
        ("the dog faces the car", (None, "", AssertionKind.OTHER)),
        ("there is a dogfish", (None, "", AssertionKind.OTHER)),
    ],
)
def test_a_changed_statement_belongs_to_the_one_object_that_it_names(
    qtbot, panel, studio, text, belongs
):
    type_in(qtbot, line(panel, "Assertion 1"), text)
    changed = studio.assertions.items[0]
    assert changed.text == text
    assert (changed.mention_id, changed.attribute, changed.kind) == belongs


def test_assertions_are_added_and_removed(qtbot, panel, studio):
    line(panel, "New assertion").setText("it is night")
    type_in(qtbot, line(panel, "New question"), "is it night?")
    qtbot.waitUntil(lambda: "it is night" in lines(panel))
    panel._rows.removed.emit("m1")
    qtbot.waitUntil(lambda: "there is a dog" not in lines(panel))
    assert [each.text for each in studio.assertions.items][-1] == "it is night"
    assert studio.assertions.source_id == "hand"


def test_another_prompt_has_its_own_assertions(qtbot, panel, studio):
    panel._rows.removed.emit("m1")
    assert studio.assertions is not None
    studio.use_prompt("a cat above a tree")
    qtbot.waitUntil(lambda: "there is a cat" in lines(panel))
    assert studio.assertions is None


def test_the_answerer_is_chosen(qtbot, panel, studio, context):
    panel._answerer.choice_picked.emit("blip")
    assert studio.judges.answerer_id == "blip"
    context.edits.undo()
    assert studio.judges.answerer_id is None


@pytest.fixture
def asked(qtbot, panel, studio, engine):
    """A picture whose questions a model has answered, with raw chances."""
    studio.queue.add(studio.new_request(seed=1))
    engine.play(engine.jobs[-1])
    scene = studio.session.run.scene
    chances = YesNoChances(log_yes=-0.2, log_no=-1.8)
    scores = tuple(
        AssertionScore(assertion=each, probability_yes=0.5, chances=chances)
        for each in assertions_of(scene).items
    )
    score = score_again(DaScore(value=None, scores=scores, source_id="vqa"), DA_RECOMMENDED)
    judged = replace(evaluation_of(scene, picture_of(1), Outcome.PASS), da_score=score)
    studio.session.set_evaluation(judged)
    qtbot.waitUntil(panel._temperature.isEnabled)
    return score


def test_the_temperature_scores_the_stored_answers_again(qtbot, panel, studio, asked, context):
    panel._temperature.setValue(4)
    warm = studio.session.run.evaluation.da_score
    assert warm == score_again(asked, replace(asked.settings, temperature=4.0))
    assert warm.value < asked.value
    qtbot.waitUntil(lambda: f"{warm.value:.2f}" in panel._score.text())
    context.edits.undo()
    assert studio.session.run.evaluation.da_score == asked


def test_the_temperature_is_stored_with_the_run(qtbot, panel, studio, asked, context):
    qtbot.waitUntil(lambda: studio.session.run.path is not None)
    panel._temperature.setValue(4)

    stored = studio.read_run(studio.session.run.path).evaluation.da_score
    assert stored == studio.session.run.evaluation.da_score
    assert stored.settings.temperature == 4
    assert stored.scores[0].chances == asked.scores[0].chances


def test_a_temperature_that_cannot_be_stored_is_reported(qtbot, panel, studio, asked, monkeypatch):
    def refuse(*_):
        raise StoreError("The folder cannot be written.", hint="Choose another.")

    monkeypatch.setattr(studio.adjusting, "keep_evaluation", refuse)
    with qtbot.waitSignal(panel.problem_met):
        panel._temperature.setValue(4)
    qtbot.waitUntil(lambda: panel._temperature.value() == 1)
    assert studio.session.run.evaluation.da_score == asked


def test_measured_answers_have_no_temperature(qtbot, panel, studio, engine):
    studio.queue.add(studio.new_request(seed=1))
    engine.play(engine.jobs[-1])
    qtbot.waitUntil(lambda: "no effect" in panel._temperature.toolTip())
    assert not panel._temperature.isEnabled()
