from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QLabel,
    QSpinBox,
    QStyle,
    QStyleOptionComboBox,
    QToolButton,
)

from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.generation import (
    PSG,
    GuidanceSettings,
    SamplingSettings,
)
from spatialstudio.domain.options import MethodCard, Option, OptionKind
from spatialstudio.domain.run_settings import Preset, RunSettings, with_values
from spatialstudio.domain.steering import Steering
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.ui.run.widgets.guidance_form import GuidanceForm
from spatialstudio.ui.theme.theme import em
from spatialstudio.ui.widgets.disclosure import Disclosure

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
        ("Pause at PoS", "0.9", {"goal": 0.9}),
        ("Inner updates", "3", {"inner_updates": 3}),
        ("Guided steps", "12", {"last_step": 11}),
    ],
    ids=["step size", "goal", "updates", "steps"],
)
def test_a_number_that_is_typed_is_told(qtbot, form, name, typed, change):
    form.findChild(Disclosure).show_open(True)
    box = named(form, QAbstractSpinBox, name)
    box.selectAll()
    qtbot.keyClicks(box, typed)
    with qtbot.waitSignal(form.settings_edited) as edited:
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert edited.args[1].sampling.guidance == replace(SETTINGS.sampling.guidance, **change)


def test_how_many_pictures_are_searched_is_told(qtbot, form):
    form.findChild(Disclosure).show_open(True)
    box = named(form, QAbstractSpinBox, "Noise search")
    assert box.text() == "off"
    with qtbot.waitSignal(form.settings_edited) as edited:
        qtbot.keyClick(box, Qt.Key.Key_Up)
    assert edited.args[1] == replace(SETTINGS, candidates=2)
    assert box.text() == "best of 2"


def test_particles_are_automatic_until_their_number_is_set(qtbot, form):
    form.findChild(Disclosure).show_open(True)
    box = named(form, QAbstractSpinBox, "Particles")
    assert box.text() == "automatic"
    with qtbot.waitSignal(form.settings_edited) as edited:
        qtbot.keyClick(box, Qt.Key.Key_Up)
    assert edited.args[1] == replace(SETTINGS, steering=Steering(particles=1))
    form.show_settings(replace(SETTINGS, steering=Steering(particles=4)), tuple(Preset), 7)
    assert box.text() == "4"
    with qtbot.waitSignal(form.settings_edited) as edited:
        box.setValue(0)
    assert edited.args[1] == SETTINGS


def test_another_method_is_told_with_whose_settings(qtbot, form):
    form.findChild(Disclosure).show_open(True)
    with qtbot.waitSignal(form.method_picked) as picked:
        qtbot.keyClick(named(form, QComboBox, "Guidance method"), Qt.Key.Key_Down)
    assert picked.args == ["psg-presence", Preset.RECOMMENDED]


MANY = MethodCard(
    id="many",
    label="Many options",
    description="It has one of each kind.",
    options=(
        Option(id="fast", label="Fast", help="Less.", kind=OptionKind.BOOL, default=False),
        Option(
            id="margin",
            label="Margin",
            help="How far.",
            kind=OptionKind.FLOAT,
            default=0.25,
            minimum=0,
            maximum=1,
            step=0.05,
        ),
        Option(
            id="terms", label="Terms", help="How many.", kind=OptionKind.INT, default=2, minimum=1
        ),
        Option(
            id="norm",
            label="Norm",
            help="Which.",
            kind=OptionKind.CHOICE,
            default="mean",
            choices=("mean", "sum"),
        ),
    ),
)
CHOSEN = with_values(
    SETTINGS, guidance=GuidanceSettings(method_id="many", strength=1.0, options={"margin": 0.5})
)


@pytest.fixture
def many(form):
    form.show_methods((*GUIDANCE_METHODS, MANY))
    form.show_settings(CHOSEN, (Preset.RECOMMENDED,), 7)
    form.findChild(Disclosure).show_open(True)
    return form


def test_a_method_shows_its_own_options_with_their_ranges(many):
    margin = named(many, QDoubleSpinBox, "Margin")
    assert (margin.value(), margin.minimum(), margin.maximum()) == (0.5, 0, 1)
    assert (margin.singleStep(), margin.toolTip()) == (0.05, "How far.")
    assert not named(many, QCheckBox, "Fast").isChecked()
    assert named(many, QSpinBox, "Terms").minimum() == 1
    assert named(many, QComboBox, "Norm").currentText() == "mean"
    assert "Margin" in [label.text() for label in many.findChildren(QLabel)]


def checkboxes(form):
    """Names of the options' check boxes."""
    return [name for box in form.findChildren(QCheckBox) if (name := box.accessibleName())]


def test_another_method_takes_the_place_of_the_options(qtbot, many):
    many.show_settings(SETTINGS, (Preset.RECOMMENDED,), 7)
    qtbot.waitUntil(lambda: checkboxes(many) == ["Paper's loss"])


@pytest.mark.parametrize(
    ("kind", "name", "key", "change"),
    [
        (QCheckBox, "Fast", Qt.Key.Key_Space, {"fast": True}),
        (QDoubleSpinBox, "Margin", Qt.Key.Key_Up, {"margin": 0.55}),
        (QSpinBox, "Terms", Qt.Key.Key_Up, {"terms": 3}),
        (QComboBox, "Norm", Qt.Key.Key_Down, {"norm": "sum"}),
    ],
    ids=["switch", "number", "count", "choice"],
)
def test_an_option_that_is_set_is_told(qtbot, many, kind, name, key, change):
    with qtbot.waitSignal(many.settings_edited) as edited:
        qtbot.keyClick(named(many, kind, name), key)
    told, settings = edited.args
    assert told == f"other {name.lower()}"
    assert settings.sampling.guidance.options == pytest.approx({"margin": 0.5, **change})


def test_showing_options_does_not_echo_them(qtbot, many):
    with qtbot.assertNotEmitted(many.settings_edited), qtbot.assertNotEmitted(many.method_picked):
        many.show_settings(SETTINGS, (Preset.RECOMMENDED,), 7)
        many.show_settings(CHOSEN, (Preset.RECOMMENDED,), 7)


def test_a_method_that_is_not_installed_is_named_by_its_id(form):
    gone = with_values(SETTINGS, guidance=GuidanceSettings(method_id="gone", strength=1.0))
    form.show_settings(gone, (Preset.RECOMMENDED,), 7)
    methods = named(form, QComboBox, "Guidance method")
    assert methods.currentText() == "gone"
    form.show_settings(SETTINGS, (Preset.RECOMMENDED,), 7)
    assert methods.findText("gone") == -1


def test_what_is_kept_is_told_with_its_price(qtbot, form):
    form.findChild(Disclosure).show_open(True)
    with qtbot.waitSignal(form.settings_edited) as edited:
        qtbot.keyClick(named(form, QComboBox, "Recorded maps"), Qt.Key.Key_Down)
    assert edited.args[1].detail is AttentionDetail.EVERY_WORD
    form.show_settings(edited.args[1], tuple(Preset), 7)
    form.show_kept("About 3 MB on disk.")
    assert "About 3 MB on disk." in [label.text() for label in form.findChildren(QLabel)]


def test_no_choice_is_cut_off_in_a_narrow_form(qtbot, bundled_font, form):
    detailed = replace(SETTINGS, detail=AttentionDetail.EVERYTHING)
    form.show_settings(detailed, (Preset.RECOMMENDED,), 7)
    form.findChild(Disclosure).show_open(True)
    form.resize(em(15), em(60))
    form.show()
    for box in form.findChildren(QComboBox):
        option = QStyleOptionComboBox()
        box.initStyleOption(option)
        control, part = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = box.style().subControlRect(control, option, part, box).width()
        needed = box.fontMetrics().horizontalAdvance(box.currentText())
        assert needed <= room, box.accessibleName()


def test_where_nothing_was_published_there_is_no_choice(form):
    form.show_settings(SETTINGS, (Preset.RECOMMENDED,), 7)
    assert not named(form, QComboBox, "Preset").isEnabled()


def test_showing_settings_does_not_echo_them(qtbot, form):
    guidance = GuidanceSettings(method_id="psg-presence", strength=1.0, goal=0.8, inner_updates=2)
    with qtbot.assertNotEmitted(form.settings_edited), qtbot.assertNotEmitted(form.method_picked):
        form.show_settings(with_values(SETTINGS, steps=9, guidance=guidance), tuple(Preset), 3)


@pytest.mark.parametrize(
    ("name", "typed", "change"),
    [
        ("CFG scale", "2.5", {"guidance_scale": 2.5}),
        ("Preview interval", "5", {"preview_every": 5}),
    ],
    ids=["scale", "previews"],
)
def test_a_strength_without_a_method_is_shown(qtbot, form, name, typed, change):
    form.findChild(Disclosure).show_open(True)
    box = named(form, QAbstractSpinBox, name)
    box.selectAll()
    qtbot.keyClicks(box, typed)
    with qtbot.waitSignal(form.settings_edited) as edited:
        qtbot.keyClick(box, Qt.Key.Key_Return)
    assert edited.args[1] == with_values(SETTINGS, **change)


def test_without_a_chosen_scale_it_is_the_models(form):
    assert named(form, QDoubleSpinBox, "CFG scale").text() == "default"


def test_a_setting_of_a_run_that_an_option_describes_has_a_field(qtbot):
    steps = Option(
        id="steps", label="Denoising steps", help="How many", kind=OptionKind.INT, default=25
    )
    form = GuidanceForm(run_options=(steps,))
    qtbot.addWidget(form)
    form.show_settings(SETTINGS, tuple(Preset), 7)
    field = named(form, QSpinBox, "Denoising steps")
    assert field.value() == SETTINGS.sampling.steps
    with qtbot.waitSignal(form.settings_edited) as edited:
        field.setValue(9)
    assert edited.args[1] == with_values(SETTINGS, steps=9)


def test_layers_with_particles_are_explained_under_the_recorded_maps(form):
    steered = replace(SETTINGS, steering=Steering(particles=4), detail=AttentionDetail.EVERY_WORD)
    form.show_settings(steered, tuple(Preset), 7)
    form.show_kept("12 MB")
    said = [label.text() for label in form.findChildren(QLabel)]
    assert any("Not possible with particles" in text for text in said)
    assert "12 MB" not in said
    form.show_settings(replace(steered, steering=None), tuple(Preset), 7)
    form.show_kept("12 MB")
    assert "12 MB" in [label.text() for label in form.findChildren(QLabel)]


def test_self_attention_can_be_recorded(qtbot, form):
    form.show_settings(SETTINGS, (Preset.RECOMMENDED,), 7)
    (box,) = (each for each in form.findChildren(QCheckBox) if each.text() == "Also self-attention")
    with qtbot.waitSignal(form.settings_edited) as edited:
        box.toggle()
    assert edited.args[1].self_attention
    form.show_settings(edited.args[1], (Preset.RECOMMENDED,), 7)
    assert box.isChecked()
