"""A dropped picture that tells its settings offers them; nothing is taken unasked."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, PngImagePlugin
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLabel, QPushButton

from spatialstudio.adapters.storage.stores.run_files import RunFiles
from spatialstudio.application.compose.edit_relations import with_relation_weight
from spatialstudio.application.models.model_lists import usual_settings
from spatialstudio.application.run.choose_settings import request_of
from spatialstudio.application.storage.run_writer import store_run
from spatialstudio.domain.generation import GenerationFinished, GenerationStarted
from spatialstudio.domain.judge_choice import STICKER_JUDGES
from spatialstudio.domain.run_settings import with_values
from spatialstudio.ui.gallery.settings_comparison import SettingsComparison
from spatialstudio.ui.window.open_picture import offer_settings
from spatialstudio.ui.window.workspaces import EVALUATE

TEXT = """a cat above a boat
Negative prompt: fog
Steps: 12, Sampler: Euler a, CFG scale: 7, Seed: 321, Size: 256x128, Model: dreams"""
BEFORE = "a photo of a dog to the left of a car"


@pytest.fixture(autouse=True)
def chosen(studio):
    """The detector that the user chose for all pictures."""
    studio.judges = STICKER_JUDGES


@pytest.fixture
def picture(tmp_path):
    told = PngImagePlugin.PngInfo()
    told.add_text("parameters", TEXT)
    path = tmp_path / "theirs.png"
    Image.new("RGB", (32, 16)).save(path, pnginfo=told)
    return path


@pytest.fixture
def dialog(qtbot, window, picture):
    window.prompt.use_prompt(BEFORE)
    window.generation.use_seed(5)
    window.open_path(picture)
    qtbot.waitUntil(lambda: window.findChild(SettingsComparison) is not None)
    return window.findChild(SettingsComparison)


def texts(dialog):
    return [label.text() for label in dialog.findChildren(QLabel)]


def box(dialog, name):
    return next(each for each in dialog.findChildren(QCheckBox) if each.text() == name)


def press(qtbot, dialog, text):
    button = next(each for each in dialog.findChildren(QPushButton) if each.text() == text)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_every_field_is_shown_with_its_current_value(dialog):
    shown = texts(dialog)
    assert "a cat above a boat" in shown
    assert BEFORE in shown
    assert "Euler a" in shown
    boxes = dialog.findChildren(QCheckBox)  # of what the form has
    names = {each.text() for each in boxes}
    assert names == {"Prompt", "Negative prompt", "Seed", "Steps", "CFG scale", "Width"}
    for each in boxes:
        each.click()
    take = next(b for b in dialog.findChildren(QPushButton) if b.text() == "Apply")
    assert not take.isEnabled()


def test_nothing_is_taken_unasked(qtbot, dialog, window, studio):
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert studio.session.scene.prompt.text == BEFORE
    assert window.generation.settings.sampling.seed == 5


def test_what_is_ticked_is_taken_and_nothing_else(qtbot, dialog, window, studio):
    box(dialog, "Steps").click()
    press(qtbot, dialog, "Apply")
    settings = window.generation.settings
    assert studio.session.scene.prompt.text == "a cat above a boat"
    assert (settings.sampling.seed, settings.width, settings.height) == (321, 256, 128)
    assert settings.sampling.steps != 12
    window.context.edits.undo()
    window.context.edits.undo()
    assert window.generation.settings.sampling.seed == 5
    assert studio.session.scene.prompt.text == BEFORE


def test_enter_judges_the_picture_and_opens_evaluate(qtbot, dialog, window, engine):
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert len(engine.jobs) == 1
    assert window.context.settings.workspace == "evaluate"
    assert window.generation.settings.sampling.seed == 5


def test_in_evaluate_a_picture_is_judged_at_once(qtbot, window, engine, picture):
    window.prompt.use_prompt(BEFORE)
    window.use_workspace(EVALUATE)
    window.open_path(picture)
    qtbot.waitUntil(lambda: bool(engine.jobs))
    assert window.findChild(SettingsComparison) is None
    assert len(engine.jobs) == 1


@pytest.fixture
def own_picture(tmp_path, studio):
    """A run of ours with a weighed relation and much that was set by hand."""
    scene = studio.parse_for_model("a cat to the left of a dog")
    scene = with_relation_weight(scene, scene.relations[0].id, 2.0)
    usual = usual_settings(studio.model())
    guidance = replace(usual.sampling.guidance, every=2)
    form = with_values(usual, negative="fog", guidance_scale=6.5, guidance=guidance)
    return stored_picture(tmp_path, request_of(scene, studio.model(), form, 9))


def stored_picture(folder, request):
    events = (
        GenerationStarted(request_id=request.id, total_steps=0, token_spans=(), device="cpu"),
        GenerationFinished(
            request_id=request.id,
            image=np.zeros((64, 64, 3), np.uint8),
            seconds=1.0,
            peak_memory_bytes=1,
        ),
    )
    return store_run(request, events, None, RunFiles(), folder)


def offered(window, picture):
    read = window.context.studio.pictures.read(picture)
    offer_settings(window.context, read, window)
    return window.findChild(SettingsComparison)


def test_our_own_picture_gives_back_all_that_was_set(qtbot, window, studio, own_picture):
    window.prompt.use_prompt(BEFORE)
    dialog = offered(window, own_picture)
    assert "cat to the left of dog (weighs 2)" in texts(dialog)
    press(qtbot, dialog, "Apply")
    settings = window.generation.settings
    assert (settings.negative, settings.guidance_scale) == ("fog", 6.5)
    assert (settings.sampling.seed, settings.sampling.guidance.every) == (9, 2)
    assert studio.session.scene.relations[0].weight == 2.0
    (request, *_) = studio.requests(settings)
    assert request.scene.prompt.negative == "fog"


def test_relations_come_with_their_prompt_only(window, own_picture):
    window.prompt.use_prompt(BEFORE)
    dialog = offered(window, own_picture)
    box(dialog, "Prompt").click()
    assert not box(dialog, "Relations").isChecked()
    box(dialog, "Relations").click()
    assert box(dialog, "Prompt").isChecked()


def test_what_only_their_program_has_is_told_but_cannot_be_taken(qtbot, window, tmp_path):
    told = PngImagePlugin.PngInfo()
    told.add_text("parameters", TEXT + ", Clip skip: 2")
    Image.new("RGB", (32, 16)).save(tmp_path / "extra.png", pnginfo=told)
    window.prompt.use_prompt(BEFORE)
    dialog = offered(window, tmp_path / "extra.png")
    assert {"Clip skip", "2"} <= set(texts(dialog))
    assert "Clip skip" not in {each.text() for each in dialog.findChildren(QCheckBox)}


def test_a_usual_picture_takes_back_what_was_set_by_hand(qtbot, window, studio, tmp_path):
    scene = studio.parse_for_model("a cat to the left of a dog")
    usual = usual_settings(studio.model())
    path = stored_picture(tmp_path, request_of(scene, studio.model(), usual, 9))
    window.prompt.use_prompt(BEFORE)
    window.generation._edit("fog", replace(window.generation.settings, negative="fog"))
    dialog = offered(window, path)
    assert (
        box(dialog, "Negative prompt").accessibleDescription()
        == "current fog, in the picture empty"
    )
    press(qtbot, dialog, "Apply")
    assert window.generation.settings.negative == ""
