import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QSlider, QToolButton

from spatialstudio.domain.attention import MapScale
from spatialstudio.ui.commands import frame
from spatialstudio.ui.panels.maps_panel import MapsPanel
from spatialstudio.ui.widgets.map_legend import MapLegend
from spatialstudio.ui.widgets.picture_layers import Layer


@pytest.fixture
def panel(qtbot, drawn):
    """The panel after a guided run."""
    drawn.context.actions[frame.INSPECT_WORKSPACE].trigger()
    panel = drawn.panel(MapsPanel)
    qtbot.waitUntil(lambda: "dog" in legend(panel))
    return panel


def legend(panel):
    return panel.findChild(MapLegend).accessibleDescription()


def said(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_the_scale_is_printed(qtbot, panel, drawn):
    one = next(each for each in panel.findChildren(QToolButton) if each.text() == "0 to 1")
    qtbot.mouseClick(one, Qt.MouseButton.LeftButton)
    assert drawn.context.maps.look.scale is MapScale.ABSOLUTE
    qtbot.waitUntil(lambda: legend(panel) == "dog: 0 to 1; car: 0 to 1")


def test_opacity_is_that_of_the_layer(qtbot, panel, drawn):
    slider = panel.findChild(QSlider)
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert drawn.context.stage.look_of(Layer.MAPS).opacity == 0


def test_lines_are_switched(qtbot, panel, drawn):
    qtbot.mouseClick(panel.findChild(QCheckBox), Qt.MouseButton.LeftButton)
    assert drawn.context.maps.look.has_isolines


def test_the_relation_in_sight_is_said_in_words(qtbot, panel):
    qtbot.waitUntil(lambda: any("of draws the dog is" in text for text in said(panel)))
    assert any("The curves cross at" in text for text in said(panel))


def test_one_word_alone_says_how_to_see_a_relation(qtbot, panel, studio):
    studio.session.pick_mention(studio.session.run.scene.mentions[0].id)
    qtbot.waitUntil(lambda: any(text.startswith("Pin two words") for text in said(panel)))
