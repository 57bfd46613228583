import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QLabel, QToolButton

from spatialstudio.application.session import RunChanged
from spatialstudio.domain.scene import BEHIND
from spatialstudio.ui.evaluate.metrics_panel import MetricsPanel
from tests.science.seen_things import masked
from tests.ui.judged_runs import CAR, DOG, MASKS, judged_run


@pytest.fixture
def panel(qtbot, context):
    panel = MetricsPanel(context)
    qtbot.addWidget(panel)
    panel.show()
    return panel


@pytest.fixture
def show(qtbot, context, panel):
    """Shows a run's judges, and waits until they are laid out."""

    def show(run):
        context.studio.session.open(run)
        panel.handle(RunChanged(run=run))
        qtbot.waitUntil(lambda: bool(cards(panel)) and cards(panel)[0].isVisible())

    return show


def cards(panel):
    frames = panel.findChildren(QFrame)
    return [each for each in frames if each.property("kind") in ("card", "doubtful")]


def texts(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_both_judges_stand_in_one_row(panel, show):
    show(judged_run(DOG, CAR, masks=MASKS))
    (card,) = cards(panel)
    assert card.accessibleName() == "dog to the left of car: PASS 0.94, 1.00 met"
    assert card.property("kind") == "card"


def test_disagreement_is_marked_and_said(panel, show):
    swapped = masked("m1", 70, 50), masked("m2", 20, 50)
    show(judged_run(DOG, CAR, masks=swapped))
    (card,) = cards(panel)
    assert card.property("kind") == "doubtful"
    assert "Centre rule and PSE disagree." in texts(panel)


def test_the_buttons_of_several_relations_have_distinct_names(panel, show):
    show(judged_run(DOG, CAR, masks=MASKS))
    named = panel.findChild(QToolButton).accessibleName()
    assert named == "Other metrics of dog to the left of car"


def test_the_other_metrics_come_when_asked_for(qtbot, panel, show):
    show(judged_run(DOG, CAR, masks=MASKS))
    formula = "max(0, 2 PoS − 1) with PoS 1.000: 1.000"  # noqa: RUF001
    assert formula not in texts(panel)
    qtbot.keyClick(panel.findChild(QToolButton), Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: formula in texts(panel))
    said = texts(panel)
    assert {formula, "VISOR", "yes", "T2I-CompBench", "0.93"} <= set(said)


def test_who_knows_no_depth_says_so(qtbot, panel, show):
    show(judged_run(DOG, CAR, relation_type=BEHIND))
    qtbot.keyClick(panel.findChild(QToolButton), Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: texts(panel).count("unsupported relation") == 3)


def test_before_a_picture_is_judged_it_says_what_comes_here(panel):
    assert texts(panel) == [
        "The centre rule and PSE of each relation appear here once a picture is judged."
    ]
