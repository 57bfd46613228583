"""A place of the picture is chosen; the dock shows where it attends, from real files."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QDockWidget, QLabel, QPushButton

from spatialstudio.domain.attention import ATTENTION_FOLDER, AttentionFile, Moment, TextLayer
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.inspect.self_attention_panel import (
    CAPTURE,
    JOINT,
    NONE_CAPTURED,
    NOT_AT_STEP,
    NOT_STORED,
    SelfAttentionPanel,
)
from spatialstudio.ui.inspect.widgets.place_map import PlaceMap
from spatialstudio.ui.run.widgets.guidance_form import GuidanceForm
from spatialstudio.ui.stage.widgets.map_strip import MapRoom
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.fields import ChoiceBox
from tests.ui.inspect.test_blocks_panel import STEPS, run_of

LEFT = Qt.MouseButton.LeftButton
SIDES = {"down_blocks.0.attn1": 8, "mid_block.attn1": 4}


def files():
    return tuple(
        AttentionFile(
            layer=layer, name=f"self-{layer}.npy", words=(), shape=(STEPS, 1, side**2, side, side)
        )
        for layer, side in SIDES.items()
    )


def attention(side):
    """Each place attends to itself at step 1, to the place right of it at step 2, and so on."""
    values = np.zeros((STEPS, 1, side**2, side, side), np.float16)
    for step in range(STEPS):
        for row, column in np.ndindex(side, side):
            values[step, 0, row * side + column, row, (column + step) % side] = 1
    return values


@pytest.fixture
def run(registry_cache):
    run = replace(run_of(()), self_attention_files=files())
    folder = registry_cache / ATTENTION_FOLDER / run.id
    folder.mkdir(parents=True)
    for file in files():
        np.save(folder / file.name, attention(SIDES[file.layer]))
    return run


@pytest.fixture
def open_run(qtbot, window, studio):
    def open_(run):
        window.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
        studio.session.open(run)
        studio.session.pick_step(0)
        dock = window.findChild(QDockWidget, "self_attention")
        dock.show()
        dock.raise_()
        panel = window.panel(SelfAttentionPanel)
        qtbot.waitUntil(panel.isVisible)
        return panel

    return open_


@pytest.fixture
def panel(qtbot, open_run, run):
    panel = open_run(run)
    qtbot.waitUntil(place_map(panel).isVisible)
    return panel


def place_map(panel):
    return panel.findChild(PlaceMap)


def shown(panel):
    """Return the place, and the cell that it attends to."""
    contents = place_map(panel)._contents
    return contents.cell, tuple(map(int, np.argwhere(contents.weights)[0]))


def button(panel, text):
    return next(each for each in panel.findChildren(QPushButton) if each.text() == text)


def said(panel):
    return " ".join(label.text() for label in panel.findChildren(QLabel) if label.isVisible())


def test_a_click_chooses_the_place(qtbot, panel):
    assert shown(panel) == ((4, 4), (4, 4))
    view = place_map(panel)
    qtbot.mouseClick(view, LEFT, pos=view.cell_rect(1, 6).center().toPoint())
    assert shown(panel) == ((1, 6), (1, 6))
    assert "Step 1: the place at x 81%, y 19% attends most to x 81%, y 19% (1)" in said(panel)
    assert "half of its attention lies in 2% of the picture" in said(panel)
    assert view.accessibleDescription() in said(panel)


def test_arrow_keys_move_the_place_up_to_the_edge(qtbot, panel):
    view = place_map(panel)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Up, Qt.Key.Key_Up):
        qtbot.keyClick(view, key)
    assert shown(panel)[0] == (2, 3)
    for _ in range(8):
        qtbot.keyClick(view, Qt.Key.Key_Left)
    assert shown(panel)[0] == (2, 0)


def test_the_map_follows_the_step_and_the_layer(qtbot, panel, studio):
    studio.session.pick_step(2)
    qtbot.waitUntil(lambda: shown(panel) == ((4, 4), (4, 6)))
    layers = panel.findChild(ChoiceBox)
    assert [layers.itemText(n) for n in range(layers.count())] == [
        "down_blocks.0.attn1 (8x8)",
        "mid_block.attn1 (4x4)",
    ]
    layers.setCurrentIndex(1)
    layers.activated.emit(1)
    assert shown(panel) == ((2, 2), (2, 0))


def test_cross_attention_stands_beside_it(panel):
    assert "Cross-attention there: dog" in said(panel)


def test_a_step_that_was_not_recorded_says_so(qtbot, open_run, run):
    capture = replace(run.request.capture, attention_every=2)
    panel = open_run(replace(run, request=replace(run.request, capture=capture)))
    panel._session.pick_step(1)
    qtbot.waitUntil(lambda: NOT_AT_STEP in said(panel))


def test_without_it_the_next_picture_can_record_it(qtbot, window, open_run):
    panel = open_run(run_of(()))
    qtbot.waitUntil(lambda: NONE_CAPTURED in said(panel))
    assert not place_map(panel).isVisible()
    qtbot.mouseClick(button(panel, CAPTURE), LEFT)
    form = window.findChild(GuidanceForm)
    qtbot.waitUntil(form.findChild(QCheckBox).isChecked)


@pytest.mark.parametrize(
    "name", ["transformer_blocks.0.attn", "single_transformer_blocks.2.attn", "layers.1.attention"]
)
def test_joint_attention_is_named_as_the_reason_for_an_empty_dock(qtbot, open_run, name):
    layers = (TextLayer(name=name, shape=(16, 16)),)
    panel = open_run(replace(run_of(()), text_layers=layers))
    qtbot.waitUntil(lambda: JOINT in said(panel))
    assert not button(panel, CAPTURE).isVisible()


def test_it_can_be_recorded_before_the_first_picture(qtbot, window):
    window.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
    dock = window.findChild(QDockWidget, "self_attention")
    dock.show()
    dock.raise_()
    panel = window.panel(SelfAttentionPanel)
    qtbot.waitUntil(lambda: button(panel, CAPTURE).isVisible())
    qtbot.mouseClick(button(panel, CAPTURE), LEFT)
    form = window.findChild(GuidanceForm)
    qtbot.waitUntil(form.findChild(QCheckBox).isChecked)


def test_the_shown_map_is_copied_as_a_script(qtbot, open_run, run, tmp_path):
    panel = open_run(replace(run, path=tmp_path / "run.png"))
    qtbot.waitUntil(place_map(panel).isVisible)
    qtbot.mouseClick(button(panel, "Copy as Python"), LEFT)
    script = QGuiApplication.clipboard().text()
    assert "run.arrays['self_attention/down_blocks.0.attn1']" in script
    assert "ROW, COLUMN = (4, 4)" in script


def test_a_run_that_is_not_stored_is_not_copied(qtbot, panel):
    qtbot.mouseClick(button(panel, "Copy as Python"), LEFT)
    assert panel._context.toasts.earlier[-1].message == NOT_STORED


def test_missing_files_are_reported(qtbot, open_run, run, registry_cache):
    for file in run.self_attention_files:
        (registry_cache / ATTENTION_FOLDER / run.id / file.name).unlink()
    panel = open_run(run)
    qtbot.waitUntil(lambda: "no longer available" in said(panel))


def test_a_file_with_fewer_steps_than_the_run_has_none_for_the_others(
    qtbot, open_run, run, registry_cache
):
    short = tuple(replace(file, shape=(1, *file.shape[1:])) for file in files())
    for file in short:
        np.save(registry_cache / ATTENTION_FOLDER / run.id / file.name, np.zeros(file.shape, "f2"))
    panel = open_run(replace(run, self_attention_files=short))
    panel._session.pick_step(1)
    qtbot.waitUntil(lambda: NOT_AT_STEP in said(panel))


def test_readings_before_updates_of_another_shape_are_reported(
    qtbot, open_run, run, registry_cache, window
):
    early = tuple(
        replace(file, name=f"before-{file.name}", steps_before=(0, 1)) for file in files()
    )
    for file in early:
        np.save(registry_cache / ATTENTION_FOLDER / run.id / file.name, np.zeros(file.shape, "f2"))
    steps = (replace(run.steps[0], step_size=1.0), *run.steps[1:])
    panel = open_run(replace(run, self_attention_files=(*files(), *early), steps=steps))
    window.context.maps.show_look(moment=Moment.BEFORE)
    qtbot.waitUntil(lambda: "is damaged" in said(panel))


def test_a_narrow_dock_stacks_map_words_and_sentence(qtbot, panel, window):
    narrow = SelfAttentionPanel(window.context)
    qtbot.addWidget(narrow)
    narrow.resize(em(20), em(40))
    narrow.show()
    for each, is_stacked in ((panel, False), (narrow, True)):
        layer = each.findChild(ChoiceBox)
        top = layer.mapTo(each, layer.rect().topLeft()).y()
        assert (top > place_map(each).geometry().bottom()) is is_stacked
    assert narrow.findChild(MapRoom).height() >= em(8)
    assert narrow.minimumSizeHint().width() <= em(20)
