from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QDoubleSpinBox, QLabel, QToolButton

from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.generation import (
    PSG,
    GuidanceSettings,
    SamplingSettings,
)
from spatialstudio.domain.run_settings import Preset, RunSettings, with_values
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.ui.run.widgets.guidance_form import GuidanceForm

SETTINGS = RunSettings(
    model_id="m",
    width=128,
    height=128,
    sampling=SamplingSettings(steps=16, guidance=GuidanceSettings(method_id=PSG, strength=5.0)),
)


@pytest.fixture
def form(qtbot):
    form = GuidanceForm()
    qtbot.addWidget(form)
    form.show_methods(tuple(GUIDANCE_METHODS))
    form.show_settings(SETTINGS, tuple(Preset), 7)
    form.show()
    return form


def named(form, kind, name):
    return next(each for each in form.findChildren(kind) if each.accessibleName() == name)


def test_the_parameters_are_behind_a_disclosure(qtbot, form):
    step_size = named(form, QDoubleSpinBox, "Step size")
    assert not step_size.isVisible()
    qtbot.mouseClick(form.findChild(QToolButton), Qt.MouseButton.LeftButton)
    assert step_size.isVisible()


@pytest.mark.parametrize(
    ("name", "typed", "change"),
    [
        ("Step size", "7.5", {"strength": 7.5}),
        ("Rest at PoS", "0.9", {"goal": 0.9}),
        ("Inner updates", "3", {"inner_updates": 3}),
        ("Guided steps", "12", {"last_step": 11}),
    ],
    ids=["step size", "goal", "updates", "steps"],
)
def test_a_number_that_is_typed_is_told(qtbot, form, name, typed, change):
    form.disclose(True)
    box = named(form, QAbstractSpinBox, name)
    box.selectAll()
    qtbot.keyClicks(box, typed)
    with qtbot.waitSignal(form.settings_edited) as edited:
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert edited.args[1].sampling.guidance == replace(SETTINGS.sampling.guidance, **change)


def test_how_many_pictures_are_searched_is_told(qtbot, form):
    form.disclose(True)
    box = named(form, QAbstractSpinBox, "Pictures to choose from")
    assert box.text() == "off"
    with qtbot.waitSignal(form.settings_edited) as edited:
        qtbot.keyClick(box, Qt.Key.Key_Up)
    assert edited.args[1] == replace(SETTINGS, candidates=2)
    assert box.text() == "best of 2"


def test_another_method_is_told_with_whose_settings(qtbot, form):
    form.disclose(True)
    with qtbot.waitSignal(form.method_picked) as picked:
        qtbot.keyClick(named(form, QComboBox, "Method of guidance"), Qt.Key.Key_Down)
    assert picked.args == ["psg-presence", Preset.RECOMMENDED]


def test_what_is_kept_is_told_with_its_price(qtbot, form):
    form.disclose(True)
    with qtbot.waitSignal(form.settings_edited) as edited:
        qtbot.keyClick(named(form, QComboBox, "Attention that is kept"), Qt.Key.Key_Down)
    assert edited.args[1].detail is AttentionDetail.EVERY_WORD
    form.show_settings(edited.args[1], tuple(Preset), 7)
    form.show_kept("About 3 MB on disk.")
    assert "About 3 MB on disk." in [label.text() for label in form.findChildren(QLabel)]


def test_where_nothing_was_published_there_is_no_choice(form):
    form.show_settings(SETTINGS, (Preset.RECOMMENDED,), 7)
    assert not named(form, QComboBox, "Whose settings").isEnabled()


def test_showing_settings_does_not_echo_them(qtbot, form):
    guidance = GuidanceSettings(method_id="psg-presence", strength=1.0, goal=0.8, inner_updates=2)
    with qtbot.assertNotEmitted(form.settings_edited), qtbot.assertNotEmitted(form.method_picked):
        form.show_settings(with_values(SETTINGS, steps=9, guidance=guidance), tuple(Preset), 3)


@pytest.mark.parametrize(
    ("name", "typed", "change"),
    [
        ("Guidance scale", "2.5", {"guidance_scale": 2.5}),
        ("Steps between previews", "5", {"preview_every": 5}),
    ],
    ids=["scale", "previews"],
)
def test_a_number_beside_the_method_is_told(qtbot, form, name, typed, change):
    form.disclose(True)
    box = named(form, QAbstractSpinBox, name)
    box.selectAll()
    qtbot.keyClicks(box, typed)
    with qtbot.waitSignal(form.settings_edited) as edited:
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert edited.args[1] == with_values(SETTINGS, **change)


def test_without_a_scale_of_ones_own_it_is_the_models(form):
    assert named(form, QDoubleSpinBox, "Guidance scale").text() == "model's own"
