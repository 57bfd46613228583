"""The window offers a guidance method that a package registers, with its options."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QDoubleSpinBox, QLineEdit

from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.options import Option, OptionKind
from spatialstudio.domain.run_settings import Preset
from spatialstudio.science.guidance.method import ANY_FAMILY, GuidanceMethod
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.ui.run import commands as commands
from spatialstudio.ui.run.sweep_dialog import SweepDialog
from tests.ui.by_name import named
from tests.ui.scripted_engine import PROMPT

MARGIN = Option(
    id="margin", label="Margin", help="How far.", kind=OptionKind.FLOAT, default=0.5, maximum=2
)
METHOD = GuidanceMethod(
    id="margin-of-test",
    label="Centroids with a margin",
    description="Moves centroids apart.",
    options=(MARGIN,),
    presets={Preset.RECOMMENDED: {ANY_FAMILY: GuidanceSettings(strength=20)}},
    make_loss=lambda _: None,
)


@pytest.fixture
def registered():
    GUIDANCE_METHODS.register(METHOD)
    yield METHOD
    GUIDANCE_METHODS.unregister(METHOD.id)


@pytest.fixture
def chosen(registered, window):
    """The window in which the method was chosen by hand."""
    window.prompt.use_prompt(PROMPT)
    box = named(window, QComboBox, "Guidance method")
    box.setCurrentIndex(box.findText(METHOD.label))
    return window


def test_what_is_set_of_its_option_goes_into_the_request(qtbot, chosen, engine):
    margin = named(chosen, QDoubleSpinBox, "Margin")
    assert margin.value() == 0.5
    margin.setValue(1.25)
    chosen.generation.generate()
    guidance = engine.jobs[0].request.sampling.guidance
    assert (guidance.method_id, guidance.options) == (METHOD.id, {"margin": 1.25})


def test_an_edit_of_its_option_is_undone(qtbot, chosen):
    named(chosen, QDoubleSpinBox, "Margin").setValue(1.25)
    chosen.context.edits.undo()
    assert named(chosen, QDoubleSpinBox, "Margin").value() == 0.5
    assert chosen.generation.settings.sampling.guidance.options == {"margin": 0.5}


def test_its_option_can_be_swept(qtbot, chosen, studio):
    chosen.context.actions[commands.SWEEP].trigger()
    dialog = chosen.findChild(SweepDialog)
    for axis, field in (("Columns", "Margin"), ("Rows", "None")):
        box = named(dialog, QComboBox, axis)
        box.setCurrentIndex(box.findText(field))
    line = named(dialog, QLineEdit, "Values of the columns")
    line.selectAll()
    qtbot.keyClicks(line, "0, 1")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    requests = [entry.requests[0] for entry in studio.queue.entries]
    swept = [request.sampling.guidance.options for request in requests]
    assert swept == [{"margin": 0.0}, {"margin": 1.0}]
