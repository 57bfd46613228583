from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QLabel, QSlider, QToolButton

from spatialstudio.domain.attention import MapScale, Moment
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.inspect.maps_panel import OPEN_RUN_BARS, MapsPanel
from spatialstudio.ui.stage.widgets.map_legend import MapLegend
from spatialstudio.ui.widgets.picture_layers import Layer


@pytest.fixture
def panel(qtbot, drawn):
    """The panel after a guided run."""
    drawn.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
    panel = drawn.panel(MapsPanel)
    qtbot.waitUntil(lambda: "dog" in legend(panel))
    return panel


def legend(panel):
    return panel.findChild(MapLegend).accessibleDescription()


def said(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def is_said(panel, start):
    return any(text.startswith(start) for text in said(panel))


def test_the_scale_is_printed(qtbot, panel, drawn):
    one = next(each for each in panel.findChildren(QToolButton) if each.text() == "0 to 1")
    qtbot.mouseClick(one, Qt.MouseButton.LeftButton)
    assert drawn.context.maps.look.scale is MapScale.ABSOLUTE
    qtbot.waitUntil(lambda: legend(panel) == "dog: 0 to 1; car: 0 to 1")
    slider = panel.findChild(QSlider)
    slider.setFocus()
    qtbot.keyClick(slider, Qt.Key.Key_Home)
    assert drawn.context.stage.look_of(Layer.MAPS).opacity == 0
    qtbot.mouseClick(panel.findChild(QCheckBox), Qt.MouseButton.LeftButton)
    assert drawn.context.maps.look.has_isolines


def test_the_reading_is_chosen_and_told(qtbot, panel, drawn, studio):
    studio.session.pick_step(0)
    assert studio.session.run.steps[0].is_guided
    qtbot.waitUntil(lambda: is_said(panel, "Recorded after the step's latent updates."))
    before = next(b for b in panel.findChildren(QToolButton) if b.text() == "Before updates")
    qtbot.mouseClick(before, Qt.MouseButton.LeftButton)
    assert drawn.context.maps.look.moment is Moment.BEFORE
    qtbot.waitUntil(lambda: is_said(panel, "Recorded before the step's latent updates."))


def test_colour_bars_of_one_run_are_marked_beside_a_second_one(qtbot, panel, drawn, studio):
    qtbot.waitUntil(lambda: OPEN_RUN_BARS in panel._note.text())
    drawn.context.maps.show_look(scale=MapScale.SHARED)
    qtbot.waitUntil(lambda: OPEN_RUN_BARS not in panel._note.text())
    drawn.context.maps.show_look(scale=MapScale.PER_MAP)
    studio.session.set_second_run(None)
    qtbot.waitUntil(lambda: OPEN_RUN_BARS not in panel._note.text())


def test_the_relation_in_sight_is_said_in_words(qtbot, panel, studio):
    qtbot.waitUntil(lambda: any(": the maps " in text for text in said(panel)))
    assert any("The curves cross at" in text for text in said(panel))
    studio.session.pick_mention(studio.session.run.scene.mentions[0].id)  # one word alone
    qtbot.waitUntil(lambda: any(text.startswith("Pin both objects") for text in said(panel)))


def test_the_baseline_is_said_after_the_guided_run(qtbot, panel, studio):
    def of_baseline():
        return [text for text in said(panel) if text.startswith("Baseline: attention PoS ")]

    qtbot.waitUntil(lambda: len(of_baseline()) == 1)
    texts = said(panel)
    own = next(n for n, text in enumerate(texts) if text.startswith("Attention PoS "))
    assert texts[own + 1 : own + 2] == of_baseline()
    bare = tuple(
        replace(step, attention=None, attention_after=None)
        for step in studio.session.baseline.steps
    )
    studio.session.set_second_run(replace(studio.session.baseline, steps=bare))
    qtbot.waitUntil(lambda: not of_baseline())


def test_the_view_of_a_stored_run_is_copied_as_python(qtbot, panel, drawn, studio):
    qtbot.waitUntil(lambda: studio.session.run.path is not None)
    qtbot.keyClick(
        drawn, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier
    )
    script = QGuiApplication.clipboard().text()
    assert "'m1': 'dog', 'm2': 'car'" in script
    assert f"STEP = {studio.session.step}" in script
    studio.session.open(replace(studio.session.run, path=None))
    QGuiApplication.clipboard().setText("before")
    drawn.context.actions[inspect_commands.COPY_PYTHON].trigger()
    assert QGuiApplication.clipboard().text() == "before"


def test_before_a_picture_nothing_empty_takes_room(qtbot, context):
    panel = MapsPanel(context)
    qtbot.addWidget(panel)
    panel.show()
    assert all(label.text() for label in panel.findChildren(QLabel) if label.isVisible())
    assert not panel.findChild(MapLegend).isVisible()
