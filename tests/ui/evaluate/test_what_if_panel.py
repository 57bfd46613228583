from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QSlider

from spatialstudio.domain.scene import NEAR
from spatialstudio.domain.verdict import Outcome
from spatialstudio.ui.evaluate import commands as commands
from spatialstudio.ui.evaluate.what_if_panel import WhatIfPanel
from spatialstudio.ui.evaluate.widgets.verdict_card import VerdictTile
from tests.science.seen_things import perception
from tests.ui.by_name import named
from tests.ui.judged_runs import CAR, DOG, SECOND_DOG, judged_run


@pytest.fixture
def panel(qtbot, context):
    panel = WhatIfPanel(context)
    qtbot.addWidget(panel)
    panel.resize(320, 400)
    panel.show()
    return panel


@pytest.fixture
def show(qtbot, panel, context):
    """Opens a run and has the panel follow."""

    def show(run):
        session = context.studio.session
        session.open(run)
        follow(panel, session)
        qtbot.waitUntil(lambda: bool(tiles(panel)))
        return run

    return show


def follow(panel, session):
    for event in session.present():
        panel.handle(event)


def tiles(panel):
    return [tile.accessibleName() for tile in panel.findChildren(VerdictTile) if tile.isVisible()]


def slider(panel, name):
    return named(panel, QSlider, name)


def drag(qtbot, panel, name, value):
    slider(panel, name).setValue(value)
    qtbot.waitUntil(lambda: len(tiles(panel)) == 2)


def test_at_first_only_the_stored_verdict_is_shown(panel, show):
    show(judged_run(DOG, CAR))
    assert [name.split(",")[0] for name in tiles(panel)] == ["Stored: PASS"]


def test_another_margin_brings_a_second_verdict_at_once(qtbot, panel, show):
    run = show(judged_run(DOG, CAR))
    margin = slider(panel, "Margin")
    margin.setFocus()
    qtbot.keyClick(margin, Qt.Key.Key_End)
    qtbot.waitUntil(lambda: len(tiles(panel)) == 2)
    assert tiles(panel)[1] == "Adjusted: UNDECIDABLE, near boundary"
    assert run.evaluation.verdicts[0].outcome is Outcome.PASS


def test_undo_takes_the_change_back(qtbot, panel, show, context):
    show(judged_run(DOG, CAR))
    drag(qtbot, panel, "Margin", 100)
    context.edits.undo()
    qtbot.waitUntil(lambda: len(tiles(panel)) == 1)
    assert slider(panel, "Margin").value() == 20


def test_nothing_may_be_sure_enough(qtbot, panel, show):
    show(judged_run(DOG, CAR, perturbed=(perception(DOG, CAR),)))
    drag(qtbot, panel, "Minimum score", 100)
    assert tiles(panel)[1] == "Adjusted: UNDECIDABLE, missing"


def test_levers_are_those_that_can_turn_the_verdict(panel, show):
    show(judged_run(DOG, CAR, relation_type=NEAR, perturbed=(perception(DOG, CAR),)))
    names = [each.accessibleName() for each in panel.findChildren(QSlider) if each.isVisible()]
    assert names == ["Near: gap up to", "Minimum score", "Minimum stability", "Minimum confidence"]


def test_another_instance_can_be_chosen_by_keys(qtbot, panel, show):
    show(judged_run(DOG, SECOND_DOG, CAR))
    combo = panel.findChild(QComboBox)
    assert [combo.itemText(n) for n in range(combo.count())] == ["0.81 · chosen", "0.78 · rival"]
    combo.setFocus()
    qtbot.keyClick(combo, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: len(tiles(panel)) == 2)
    assert tiles(panel)[1].startswith("Adjusted: FAIL")


def test_without_a_change_there_is_nothing_to_keep(qtbot, panel, show, context):
    show(judged_run(DOG, CAR))
    enabled = [context.actions[command].isEnabled() for command in commands.ADJUSTING]
    assert enabled == [False, False, False]
    drag(qtbot, panel, "Margin", 100)
    enabled = [context.actions[command].isEnabled() for command in commands.ADJUSTING]
    assert enabled == [True, True, False]


def test_out_of_sight_nothing_is_drawn_but_commands_are_switched(qtbot, panel, show, context):
    show(judged_run(DOG, CAR))
    panel.hide()
    run = context.studio.session.run
    context.judgement.try_setting(run, "margin", 0.5, "change margin")
    assert context.actions[commands.KEEP_ADJUSTED].isEnabled()
    assert len(panel.findChildren(VerdictTile)) == 1
    panel.show()
    qtbot.waitUntil(lambda: len(tiles(panel)) == 2)


def test_saving_an_adjusted_verdict_can_be_undone(qtbot, panel, show, context):
    show(judged_run(DOG, CAR))
    session = context.studio.session
    drag(qtbot, panel, "Margin", 100)
    context.actions[commands.KEEP_ADJUSTED].trigger()
    (kept,) = session.run.evaluation.adjusted
    assert (kept.verdict.outcome, kept.adjustment.checker.margin) == (Outcome.UNDECIDABLE, 0.5)
    assert session.run.evaluation.verdicts[0].outcome is Outcome.PASS
    follow(panel, session)
    qtbot.waitUntil(lambda: len(tiles(panel)) == 3)
    assert tiles(panel)[2].startswith("Adjusted by hand: UNDECIDABLE")
    context.edits.undo()
    assert session.run.evaluation.adjusted == ()


def test_a_kept_verdict_can_be_dropped(qtbot, panel, show, context):
    show(judged_run(DOG, CAR))
    session = context.studio.session
    drag(qtbot, panel, "Margin", 100)
    context.actions[commands.KEEP_ADJUSTED].trigger()
    follow(panel, session)
    qtbot.waitUntil(context.actions[commands.DROP_ADJUSTED].isEnabled)
    context.actions[commands.DROP_ADJUSTED].trigger()
    assert session.run.evaluation.adjusted == ()


def test_going_back_leaves_the_stored_verdict(qtbot, panel, show, context):
    show(judged_run(DOG, CAR))
    drag(qtbot, panel, "Margin", 100)
    context.actions[commands.JUDGED_AS_STORED].trigger()
    qtbot.waitUntil(lambda: len(tiles(panel)) == 1)


def test_what_cannot_be_written_is_told(qtbot, panel, show, context, tmp_path):
    show(replace(judged_run(DOG, CAR), path=tmp_path / "gone" / "one.png"))
    drag(qtbot, panel, "Margin", 100)
    with qtbot.waitSignal(panel.problem_met) as problem:
        context.actions[commands.KEEP_ADJUSTED].trigger()
    assert problem.args[0].title == "Saving the verdict"
    assert context.studio.session.run.evaluation.adjusted == ()
