import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from spatialstudio.ui.inspect.attention_panel import OF_GUIDANCE, AttentionPanel
from spatialstudio.ui.inspect.widgets.replay_bar import ReplayBar
from spatialstudio.ui.stage.widgets.map_strip import MapStrip, MapTile
from tests.ui.scripted_engine import PROMPT


@pytest.fixture
def live(qtbot, window, engine, studio):
    """The attention panel while a run is at its fourth step."""
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    engine.play(engine.jobs[0], steps=4)
    qtbot.waitUntil(lambda: studio.session.step == 3)
    panel = window.panel(AttentionPanel)
    qtbot.waitUntil(lambda: bool(panel.findChildren(MapTile)))
    return panel


def said(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_the_number_is_said_in_plain_words(qtbot, live):
    qtbot.waitUntil(lambda: any(": the maps " in text for text in said(live)))


def test_the_baseline_is_said_after_the_guided_run(qtbot, drawn, studio):
    panel = drawn.panel(AttentionPanel)
    qtbot.waitUntil(lambda: any(". Baseline: attention PoS " in text for text in said(panel)))
    studio.session.set_second_run(None)
    qtbot.waitUntil(lambda: not any("Baseline: attention" in text for text in said(panel)))


def test_maps_of_the_guidance_layers_are_marked_while_others_are_chosen(qtbot, drawn):
    panel = drawn.panel(AttentionPanel)
    qtbot.waitUntil(lambda: any("attention PoS" in text for text in said(panel)))
    assert not any(OF_GUIDANCE in text for text in said(panel))
    drawn.context.maps.average(frozenset({"mid"}))
    qtbot.waitUntil(lambda: any(OF_GUIDANCE in text for text in said(panel)))


def test_space_on_a_tile_picks_the_word_and_does_not_play(qtbot, live, studio):
    tile = live.findChildren(MapTile)[1]
    tile.setFocus()
    qtbot.keyClick(tile, Qt.Key.Key_Space)
    assert studio.session.mention_id == studio.session.run.scene.mentions[1].id
    assert not live.window().findChild(ReplayBar).is_playing


def test_maps_take_the_room_there_is_and_ask_for_no_more(qtbot, live):
    """Else their meaning below them is pushed out of a low dock."""
    qtbot.waitUntil(lambda: any("Attention PoS" in text for text in said(live)))
    maps = live.findChild(MapStrip)
    assert live.heightForWidth(live.width()) < maps.sizeHint().height()
