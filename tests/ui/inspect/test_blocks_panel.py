"""Layers are picked on a run of the real files, averaged in their thread."""

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton, QToolButton

from spatialstudio.application.jobs.messages import ListLayers
from spatialstudio.application.run.choose_settings import new_request
from spatialstudio.application.session import OpenRun, RunState
from spatialstudio.domain.attention import (
    ATTENTION_FOLDER,
    AttentionDetail,
    AttentionFile,
    AttentionSnapshot,
    ModelLayers,
    TextLayer,
)
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.inspect.blocks_panel import CAPTURE, BlocksPanel
from spatialstudio.ui.inspect.widgets.block_picker import BlockPicker
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.stage.widgets.word_chips import WordChip
from spatialstudio.ui.widgets.fields import ChoiceBox
from tests.fakes import scene_of
from tests.ui.scripted_engine import PROMPT, STICKERS, picture_of, step_of

LEFT = Qt.MouseButton.LeftButton
GUIDING, OTHER = "down_blocks.0.attentions.0", "mid_block.attentions.0"
LAYERS = (TextLayer(name=GUIDING, shape=(16, 16)), TextLayer(name=OTHER, shape=(8, 8)))
WORDS = ("a", "photo", "of", "a", "dog", "to", "the", "left", "of", "a", "car")
STEPS = 3


def run_of(files):
    request = new_request(scene_of(), STICKERS, seed=4)
    steps = [step_of(request, step) for step in range(STEPS)]
    return OpenRun(
        id=request.id,
        scene=request.scene,
        request=request,
        state=RunState.DONE,
        total_steps=STEPS,
        steps=tuple(
            replace(s, attention=AttentionSnapshot(maps=s.attention.maps, layers=(GUIDING,)))
            for s in steps
        ),
        image=picture_of(4),
        text_layers=LAYERS,
        attention_files=files,
    )


@pytest.fixture
def open_run(qtbot, window, studio):
    """Opens a run in Inspect."""

    def open_(run):
        window.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
        studio.session.open(run)
        panel = window.panel(BlocksPanel)
        qtbot.waitUntil(panel.findChild(BlockPicker).isVisible)
        return panel

    return open_


@pytest.fixture
def kept(qtbot, open_kept):
    """The panel on a run that has left its attention on disk, each layer a corner of its own."""
    return open_kept(heads=1)


@pytest.fixture
def open_kept(qtbot, open_run, registry_cache):
    """Opens such a run, the first head of its layers the surest."""

    def open_(heads):
        run = run_of(files_with(heads))
        folder = registry_cache / ATTENTION_FOLDER / run.id
        folder.mkdir(parents=True)
        for file, corner in zip(run.attention_files, (0, -1), strict=True):
            array = np.full(file.shape, 0.01, np.float16)
            array[..., corner, corner] = 0.1
            array[:, 0, :, corner, corner] = 0.5
            np.save(folder / file.name, array)
        panel = open_run(run)
        qtbot.waitUntil(lambda: button_of(panel, "8x8") is not None)
        return panel

    return open_


def files_with(heads):
    return tuple(
        AttentionFile(
            layer=layer.name,
            name=f"{number}.npy",
            words=WORDS,
            shape=(STEPS, heads, len(WORDS), *layer.shape),
        )
        for number, layer in enumerate(LAYERS)
    )


def test_the_docks_and_the_form_name_recorded_layers_alike():
    assert f"Record {AttentionDetail.EVERY_WORD.title.lower()}" == CAPTURE


def button_of(panel, text):
    buttons = panel.findChildren(QToolButton)
    return next((each for each in buttons if each.text() == text), None)


def said(window):
    return window.stage.findChildren(PictureView)[0].accessibleDescription()


def test_blocks_are_averaged_alone_by_resolution_or_where_they_guide(qtbot, window, kept):
    def is_there(text):
        chips = window.stage.words.findChildren(WordChip)
        return any(chip.text() == text and chip.isEnabled() for chip in chips)

    qtbot.waitUntil(lambda: is_there("photo"))  # words that name no thing have maps as well
    assert not kept.findChild(ChoiceBox).isVisible()  # its heads were averaged
    picker = kept.findChild(BlockPicker)
    qtbot.mouseDClick(picker, LEFT, pos=picker.cell(1).center().toPoint())
    qtbot.waitUntil(lambda: "dog peaks at 0.500, 94 % from the left" in said(window))
    window.context.maps.average(frozenset())
    qtbot.mouseClick(button_of(kept, "8x8"), LEFT)
    assert window.context.maps.choice.layers == {OTHER}
    qtbot.mouseClick(button_of(kept, "Guidance layers"), LEFT)
    assert window.context.maps.choice.layers == frozenset()


def test_heads_are_looked_at_one_by_one(qtbot, window, open_kept):
    panel = open_kept(heads=4)
    heads = panel.findChild(ChoiceBox)
    qtbot.mouseClick(button_of(panel, "8x8"), LEFT)
    qtbot.waitUntil(lambda: "dog peaks at 0.200" in said(window))
    assert heads.isVisible()
    heads.setFocus()
    qtbot.keyClick(heads, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: "dog peaks at 0.500" in said(window))
    qtbot.keyClick(heads, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: "dog peaks at 0.100" in said(window))


def test_attention_that_is_gone_is_told(qtbot, open_run, registry_cache):
    file = AttentionFile(
        layer=GUIDING, name="0.npy", words=WORDS, shape=(STEPS, 1, len(WORDS), 16, 16)
    )
    panel = open_run(run_of((file,)))
    qtbot.waitUntil(lambda: any("no longer available" in text for text in texts(panel)))


def test_what_was_not_captured_can_be_asked_for(qtbot, window, open_run):
    panel = open_run(run_of(()))
    button = panel.findChild(QPushButton)
    qtbot.waitUntil(button.isVisible)
    with qtbot.waitSignal(window.context.window_signals.capture_asked) as asked:
        qtbot.mouseClick(button, LEFT)
    assert asked.args == [AttentionDetail.EVERY_WORD]
    assert window.generation.settings.detail is AttentionDetail.EVERY_WORD


def texts(panel):
    return [label.text() for label in panel.findChildren(QLabel)]


def test_what_the_first_run_captures_can_be_set_before_it(qtbot, window):
    window.prompt.use_prompt(PROMPT)
    window.context.window_signals.workspace_asked.emit("inspect")
    panel = window.panel(BlocksPanel)
    button = next(each for each in panel.findChildren(QPushButton) if not each.isHidden())
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.generation.settings.detail is AttentionDetail.EVERY_WORD


@pytest.fixture
def to_come(qtbot, window, engine):
    """The panel before the first run, once the chosen model's layers are known."""
    window.prompt.use_prompt(PROMPT)
    window.context.actions[framework_commands.INSPECT_WORKSPACE].trigger()
    panel = window.panel(BlocksPanel)
    qtbot.waitUntil(lambda: any(isinstance(each, ListLayers) for each in engine.questions))
    engine.list_layers(ModelLayers(layers=LAYERS, guiding=frozenset({GUIDING}), heads=2))
    qtbot.waitUntil(panel.findChild(BlockPicker).isVisible)
    return panel


def detail_of(engine, window):
    window.generation.generate()
    return engine.jobs[0].request.capture.detail


def test_blocks_are_picked_before_the_first_run_and_captured_by_it(qtbot, to_come, window, engine):
    picker = to_come.findChild(BlockPicker)
    assert "averaged in the next picture" in picker.accessibleDescription()
    picker.setFocus()
    qtbot.keyClick(picker, Qt.Key.Key_Right)
    assert "excluded in the next picture" in picker.accessibleDescription()
    qtbot.keyClick(picker, Qt.Key.Key_Return)
    assert window.context.maps.choice.layers == {OTHER}
    qtbot.waitUntil(lambda: "averaged in the next" in picker.accessibleDescription())
    assert detail_of(engine, window) is AttentionDetail.EVERY_WORD


def test_a_head_is_picked_before_the_first_run(qtbot, to_come, window, engine):
    heads = to_come.findChild(ChoiceBox)
    assert [heads.itemText(place) for place in range(heads.count())] == [
        *("Mean over heads", "Head 1", "Head 2"),
    ]
    heads.setFocus()
    qtbot.keyClick(heads, Qt.Key.Key_Down)
    assert window.context.maps.choice.head == 0
    assert detail_of(engine, window) is AttentionDetail.EVERYTHING


def test_looking_at_the_blocks_alone_captures_no_more(to_come, window, engine):
    assert detail_of(engine, window) is AttentionDetail.RELATION_WORDS
