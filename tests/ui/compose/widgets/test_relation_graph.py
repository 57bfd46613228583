import pytest
from PySide6.QtCore import Qt

from spatialstudio.ui.compose.widgets.layout_sketch import Blob, Link
from spatialstudio.ui.compose.widgets.relation_graph import RelationGraph

THINGS = (
    Blob("m1", "dog", 0, 0.1, 0.5),
    Blob("m2", "car", 1, 0.9, 0.5),
    Blob("m3", "bird", 2, 0.5, 0.0),
)
LINKS = (
    Link("r1", ("m1", "m2"), "to the left of", "dog to the left of car"),
    Link("r2", ("m2", "m1"), "near", "car near dog", is_muted=True, is_doubtful=True),
)


@pytest.fixture
def graph(qtbot, theme):
    graph = RelationGraph(theme)
    qtbot.addWidget(graph)
    graph.resize(500, 240)
    graph.show()
    graph.show_graph(THINGS, LINKS[:1])
    return graph


def click(qtbot, graph, key):
    place = graph.box_of(key).center().toPoint()
    qtbot.mouseClick(graph, Qt.MouseButton.LeftButton, pos=place)


def test_a_click_picks_the_thing_or_the_relation_that_is_there(qtbot, graph):
    with qtbot.waitSignal(graph.thing_picked) as thing:
        click(qtbot, graph, "m2")
    with qtbot.waitSignal(graph.link_picked) as link:
        click(qtbot, graph, "r1")
    assert (thing.args, link.args) == (["m2"], ["r1"])


def test_a_thing_dragged_onto_another_relates_them(qtbot, graph):
    start, end = (graph.box_of(key).center().toPoint() for key in ("m3", "m1"))
    qtbot.mousePress(graph, Qt.MouseButton.LeftButton, pos=start)
    qtbot.mouseMove(graph, end)
    with qtbot.waitSignal(graph.pair_picked) as pair:
        qtbot.mouseRelease(graph, Qt.MouseButton.LeftButton, pos=end)
    assert pair.args == ["m3", "m1"]


def test_a_thing_dragged_nowhere_relates_nothing(qtbot, graph):
    start = graph.box_of("m3").center().toPoint()
    qtbot.mousePress(graph, Qt.MouseButton.LeftButton, pos=start)
    with qtbot.assertNotEmitted(graph.pair_picked):
        qtbot.mouseRelease(graph, Qt.MouseButton.LeftButton, pos=graph.rect().bottomLeft())


def test_up_and_down_go_through_the_relations(qtbot, graph):
    graph.show_graph(THINGS, LINKS)
    graph.show_link("r1")
    with qtbot.waitSignal(graph.link_picked) as picked:
        qtbot.keyClick(graph, Qt.Key.Key_Down)
    assert picked.args == ["r2"]


def test_left_and_right_go_through_the_things_and_round(qtbot, graph):
    graph.show_thing("m1")
    with qtbot.waitSignal(graph.thing_picked) as picked:
        qtbot.keyClick(graph, Qt.Key.Key_Left)
    assert picked.args == ["m3"]


@pytest.mark.parametrize(
    ("key", "signal"),
    [(Qt.Key.Key_Return, "change_asked"), (Qt.Key.Key_Delete, "removal_asked")],
)
def test_keys_change_and_remove_the_picked_relation(qtbot, graph, key, signal):
    with qtbot.assertNotEmitted(getattr(graph, signal)):
        qtbot.keyClick(graph, key)
    graph.show_link("r1")
    with qtbot.waitSignal(getattr(graph, signal)) as asked:
        qtbot.keyClick(graph, key)
    assert asked.args == ["r1"]


def test_a_double_click_asks_for_another_relation(qtbot, graph):
    with qtbot.waitSignal(graph.change_asked) as asked:
        qtbot.mouseDClick(
            graph, Qt.MouseButton.LeftButton, pos=graph.box_of("r1").center().toPoint()
        )
    assert asked.args == ["r1"]


def test_the_graph_has_an_accessible_description(graph):
    graph.show_graph(THINGS, LINKS)
    graph.show_link("r1")
    assert graph.accessibleDescription() == (
        "dog to the left of car (selected). car near dog (muted, contradictory). Objects "
        "without relations: bird."
    )


def test_a_doubtful_relation_is_amber(graph, theme):
    amber = theme.colour("warning").name()
    assert amber not in colours_of(graph)
    graph.show_graph(THINGS, LINKS[1:])
    assert amber in colours_of(graph)


def colours_of(widget):
    image = widget.grab().toImage()
    return {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }
