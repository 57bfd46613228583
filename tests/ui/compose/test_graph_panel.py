import pytest
from PySide6.QtCore import Qt

from spatialstudio.ui.compose.graph_panel import GraphPanel
from spatialstudio.ui.compose.widgets.relation_graph import RelationGraph
from spatialstudio.ui.compose.widgets.relation_wheel import RelationWheel

THREE = "a dog to the left of a car, with a bird above the car"


@pytest.fixture
def graph(qtbot, window):
    """The graph of two relations of three things."""
    window.prompt.use_prompt(THREE)
    graph = window.panel(GraphPanel).findChild(RelationGraph)
    graph.resize(500, 300)
    qtbot.waitUntil(lambda: "bird above car" in graph.accessibleDescription())
    return graph


def sentences(studio):
    scene = studio.session.scene
    return [scene.sentence(relation) for relation in scene.relations]


def test_what_is_picked_on_the_graph_is_picked_everywhere(graph, studio):
    graph.link_picked.emit("r2")
    graph.thing_picked.emit("m3")
    assert (studio.session.relation_id, studio.session.mention_id) == ("r2", "m3")


def test_what_is_picked_elsewhere_is_marked(qtbot, graph, studio):
    studio.session.pick_relation("r1")
    qtbot.waitUntil(lambda: "car (selected)" in graph.accessibleDescription())


def test_a_dragged_pair_becomes_a_relation(graph, studio):
    graph.pair_picked.emit("m3", "m1")
    assert "bird to the left of dog" in sentences(studio)


def test_undo_restores_a_removed_relation(qtbot, graph, studio, window):
    graph.show_link("r2")
    qtbot.keyClick(graph, Qt.Key.Key_Delete)
    assert sentences(studio) == ["dog to the left of car"]
    window.context.edits.undo()
    assert studio.session.scene.prompt.text == THREE


def test_another_relation_is_picked_on_the_wheel(qtbot, graph, window):
    graph.change_asked.emit("r2")
    wheel = window.prompt.findChild(RelationWheel)
    assert wheel.accessibleName() == "Where is the bird?"
    wheel.close()
