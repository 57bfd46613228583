from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from spatialstudio.application.evaluate.scene_graph import GraphsMatched
from spatialstudio.application.session import RunChanged
from spatialstudio.domain.graph_match import MatchState
from spatialstudio.domain.graph_settings import GRAPH_OPTIONS
from spatialstudio.ui.evaluate.evidence_presenter import objects_scene
from spatialstudio.ui.evaluate.scene_graph_panel import SceneGraphPanel
from spatialstudio.ui.evaluate.widgets.scene_graphs import GraphPick, SceneGraphs
from spatialstudio.ui.framework.selected_evidence import ShownObjects
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.option_fields import OptionField
from tests.science.seen_things import masked
from tests.ui.judged_runs import CAR, DOG, MASKS, judged_run

SWAPPED = masked("m1", 70, 50), masked("m2", 20, 50)


@pytest.fixture
def panel(qtbot, context):
    panel = SceneGraphPanel(context)
    qtbot.addWidget(panel)
    panel.resize(700, 500)
    panel.show()
    return panel


@pytest.fixture
def matched(qtbot, context, panel):
    """Waits for the score under the present settings, and shows it; returns the match."""
    events = []
    context.studio.bus.subscribe(events.append)

    def matched():
        run, settings = context.studio.session.run, context.judgement.graph

        def known():
            return [
                each
                for each in events
                if isinstance(each, GraphsMatched)
                and (each.evaluation is run.evaluation and each.settings == settings)
            ]

        qtbot.waitUntil(lambda: bool(known()))
        panel.handle(known()[-1])
        return known()[-1].match

    return matched


@pytest.fixture
def show(context, panel, matched):
    """Shows a run's graphs; returns their match."""

    def show(run):
        context.studio.session.open(run)
        panel.handle(RunChanged(run=run))
        return matched()

    return show


@pytest.fixture
def graphs(panel):
    return panel.findChild(SceneGraphs)


def texts(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_before_a_picture_is_judged_it_says_what_comes_here(panel):
    assert texts(panel) == [
        "The graphs of prompt and picture appear here once a picture is judged."
    ]


def test_score_sub_scores_and_distance_are_shown(panel, show):
    show(judged_run(DOG, CAR, masks=SWAPPED))
    said = texts(panel)
    assert "Score 0.69" in said
    assert (
        "objects 1.00 · relations 0.00 · foreground 0.69 · weighted 0.69 · distance 1.00 of 3.20"
        in said
    )


def test_an_approximate_score_says_so(panel, show, context):
    run = judged_run(DOG, CAR, masks=MASKS)
    match = show(run)
    said = "Approximate: the distance is an upper bound, the score a lower bound."
    assert said not in texts(panel)
    rough = replace(match, is_exact=False)
    panel.handle(
        GraphsMatched(evaluation=run.evaluation, settings=context.judgement.graph, match=rough)
    )
    assert said in texts(panel)


def test_every_part_is_described_in_words(show, graphs):
    show(judged_run(DOG, CAR, masks=SWAPPED))
    assert graphs.accessibleDescription() == (
        "dog = dog: matched. car = car: matched. left of: wrong. right of: wrong."
    )


def test_a_click_on_an_object_shows_its_instance_on_the_picture(qtbot, show, graphs, context):
    match = show(judged_run(DOG, CAR, masks=MASKS))
    box = graphs.object_box(1, is_found=True)
    qtbot.mouseClick(graphs, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
    lit = context.judgement.lit
    assert [each.kind for each in lit.objects] == ["car"]
    assert context.studio.session.mention_id == "m2"
    scene = objects_scene(context.studio.session.run, lit)
    assert [mark.box for mark in scene.boxes] == [match.picture.objects[1].box]
    assert scene.is_lit


def test_a_click_on_a_relation_selects_its_verdict_and_shows_both_objects(
    qtbot, show, graphs, context
):
    run = judged_run(DOG, CAR, masks=SWAPPED)
    show(run)
    context.studio.session.pick_relation(None)
    (arc,) = graphs._rows.found
    place = graphs.label_box(arc, is_found=True).center().toPoint()
    qtbot.mouseClick(graphs, Qt.MouseButton.LeftButton, pos=place)
    assert context.studio.session.relation_id == run.scene.relations[0].id
    assert [each.kind for each in context.judgement.lit.objects] == ["dog", "car"]


def test_a_missing_object_lights_nothing(qtbot, show, graphs, context):
    match = show(judged_run(DOG, masks=(masked("m1", 20, 50),)))
    assert match.objects[1].state is MatchState.MISSING
    box = graphs.object_box(1, is_found=False)
    qtbot.mouseClick(graphs, Qt.MouseButton.LeftButton, pos=box.center().toPoint())
    assert context.judgement.lit == ShownObjects(key=GraphPick(False, 1), objects=())
    assert not objects_scene(context.studio.session.run, context.judgement.lit).is_lit


def test_the_keyboard_reaches_every_object_and_relation(qtbot, show, graphs):
    show(judged_run(DOG, CAR, masks=MASKS))
    picks = []
    graphs.picked.connect(picks.append)
    for key in (Qt.Key.Key_Down, Qt.Key.Key_Down, Qt.Key.Key_Right, Qt.Key.Key_Escape):
        qtbot.keyClick(graphs, key)
    assert picks == [GraphPick(False, 0), GraphPick(False, 1), GraphPick(True, 0), None]


def test_relations_beyond_the_prompt_appear_on_request(show, graphs, panel):
    show(judged_run(DOG, CAR, masks=(*MASKS, masked("m1", 20, 85))))
    stated = len(graphs._rows.found)
    panel._extra.setChecked(True)
    assert len(graphs._rows.found) > stated


def test_every_setting_has_a_field_and_can_be_undone(panel, show, matched, context):
    show(judged_run(DOG, CAR, masks=SWAPPED))
    assert len(panel.findChildren(OptionField)) == len(GRAPH_OPTIONS)
    panel._fields["wrong_relation"].value_picked.emit(0.5)
    assert context.judgement.graph.wrong_relation == 0.5
    matched()
    assert "Score 0.84" in texts(panel)
    context.edits.undo()
    assert context.judgement.graph.wrong_relation == 1


def test_a_narrow_view_keeps_the_labels_of_the_prompt_free_and_inside(show, graphs):
    show(judged_run(DOG, CAR, masks=SWAPPED))
    (stated,) = graphs._rows.wanted
    graphs.resize(graphs.sizeHint().width() - em(1.5), 200)
    label, box = graphs.label_box(stated, is_found=False), graphs.object_box(0, is_found=False)
    assert label.right() <= box.left()
    graphs.resize(graphs.minimumSizeHint().width() // 2, 200)
    assert graphs.rect().contains(graphs.label_box(stated, is_found=False).toRect())
