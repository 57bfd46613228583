"""Ctrl+Z takes back the newest edit of the window, whichever part has the keyboard."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractSpinBox, QComboBox, QLineEdit, QPlainTextEdit, QSlider

from spatialstudio.ui.inspect.widgets.replay_bar import StepScrubber
from spatialstudio.ui.widgets.fields import (
    ComboBox,
    DecimalBox,
    EditLine,
    NumberBox,
    Slider,
)
from tests.ui.by_name import named
from tests.ui.scripted_engine import PROMPT

CONTROL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def ready(window):
    """The window with a prompt, and no edit but that to take back."""
    window.prompt.use_prompt(PROMPT)
    return window


def take_back(qtbot, field):
    qtbot.keyClick(field, Qt.Key.Key_Z, CONTROL)


def test_what_was_typed_into_a_field_is_taken_back(qtbot, ready):
    before = ready.generation.settings
    typed = {"Denoising steps": "9", "Width": "256", "Pictures": "3", "Seed": "77"}
    for name, keys in typed.items():
        kind = QLineEdit if name == "Seed" else QAbstractSpinBox
        field = named(ready.generation, kind, name)
        field.setFocus()
        field.selectAll()
        qtbot.keyClicks(field, keys)
        take_back(qtbot, field)
        assert ready.generation.settings == before, name
        assert keys not in field.text(), name


def test_the_negative_prompt_is_taken_back(qtbot, ready):
    field = named(ready.generation, QLineEdit, "Negative prompt")
    field.setFocus()
    qtbot.keyClicks(field, "fog")
    assert ready.generation.settings.negative == "fog"
    take_back(qtbot, field)
    assert (ready.generation.settings.negative, field.text()) == ("", "")


def test_a_choice_is_taken_back_from_its_list(qtbot, ready):
    before = ready.generation.settings
    field = named(ready.generation, QComboBox, "Seed of the next picture")
    field.setFocus()
    qtbot.keyClick(field, Qt.Key.Key_Down)
    assert ready.generation.settings != before
    take_back(qtbot, field)
    assert ready.generation.settings == before


def test_an_edit_is_taken_back_from_any_other_field(qtbot, ready):
    before = ready.generation.settings
    steps = named(ready.generation, QAbstractSpinBox, "Denoising steps")
    steps.setValue(3)
    other = named(ready.generation, QLineEdit, "Negative prompt")
    other.setFocus()
    take_back(qtbot, other)
    assert ready.generation.settings == before


def test_the_prompt_is_taken_back_in_its_editor(qtbot, ready):
    editor = ready.prompt.findChild(QPlainTextEdit)
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, "a cat above a boat")
    take_back(qtbot, editor)
    assert editor.toPlainText() == PROMPT


def test_every_field_of_the_window_is_one_of_ours(window):
    own = (NumberBox, DecimalBox, ComboBox, Slider, StepScrubber)
    kinds = (QAbstractSpinBox, QComboBox, QSlider)
    fields = [each for kind in kinds for each in window.findChildren(kind)]
    assert [each.accessibleName() for each in fields if not isinstance(each, own)] == []
    assert all(
        isinstance(each, EditLine)
        for each in window.generation.findChildren(QLineEdit)
        if not isinstance(each.parent(), QAbstractSpinBox)
    )
