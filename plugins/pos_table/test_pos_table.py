"""Tests of the PoS table: its rows and its selection."""

from types import SimpleNamespace

import pytest
from pos_table_panel import PosTablePanel
from PySide6.QtWidgets import QTableWidget

from spatialstudio.plugin_api import (
    LEFT_OF,
    MentionId,
    ObjectMention,
    Prompt,
    Relation,
    RelationId,
    SceneGraph,
    TextSpan,
)
from spatialstudio.ui.framework.panel_api import OpenRun, RelationPicked, RunChanged


def scene():
    text = "a dog to the left of a car"
    mentions = tuple(
        ObjectMention(
            id=MentionId(name),
            phrase=name,
            head=name,
            span=TextSpan(start=text.index(name), stop=text.index(name) + 3),
        )
        for name in ("dog", "car")
    )
    relation = Relation(
        id=RelationId("r1"), type=LEFT_OF, subject=MentionId("dog"), object=MentionId("car")
    )
    return SceneGraph(
        prompt=Prompt(text=text), mentions=mentions, relations=(relation,), extractor_id="test"
    )


@pytest.fixture
def picked():
    return []


@pytest.fixture
def panel(qtbot, picked):
    session = SimpleNamespace(pick_relation=picked.append)
    panel = PosTablePanel(SimpleNamespace(studio=SimpleNamespace(session=session)))
    qtbot.addWidget(panel)
    steps = (SimpleNamespace(pos={"r1": 0.875}),)
    panel.handle(RunChanged(run=OpenRun(id="run", scene=scene(), steps=steps)))
    return panel


def table_of(panel):
    return panel.findChild(QTableWidget)


def test_each_relation_has_a_row(panel):
    table = table_of(panel)
    words = [table.item(0, column).text() for column in range(table.columnCount())]
    assert words == ["dog to the left of car", "0.88", "", ""]


def test_a_click_selects_the_relation(panel, picked):
    table_of(panel).cellClicked.emit(0, 1)
    assert picked == ["r1"]


def test_the_selected_relation_is_highlighted(panel):
    panel.handle(RelationPicked(relation_id="r1"))
    assert table_of(panel).currentRow() == 0
