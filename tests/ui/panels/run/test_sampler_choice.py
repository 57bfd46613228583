"""By which sampler pictures are drawn: chosen by keyboard, kept, undone, and told of a run."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from spatialstudio.ui.panels.contents.model_contents import sampler_choices
from tests.ui.scripted_engine import STICKERS


@pytest.fixture
def field(panel):
    fields = panel.findChildren(QComboBox)
    return next(each for each in fields if each.accessibleName() == "Sampler")


def test_the_models_own_is_usual(field):
    assert field.currentText() == "DDPM, its own"
    assert field.currentData() == ""
    assert field.count() == 9


def test_a_sampler_chosen_by_keyboard_draws_the_next_picture(qtbot, panel, field, engine, studio):
    qtbot.keyClicks(field, "uni")
    panel.generate()
    assert {job.request.scheduler_id for job in engine.jobs} == {"UniPCMultistepScheduler"}
    assert studio.keeping.draft.settings.scheduler_id == "UniPCMultistepScheduler"


def test_a_choice_can_be_undone(qtbot, field, window):
    qtbot.keyClick(field, Qt.Key.Key_End)
    assert field.currentData() == "UniPCMultistepScheduler"
    window.context.edits.undo()
    assert field.currentData() == ""


def test_a_model_that_tells_nothing_offers_its_own():
    (own,) = sampler_choices(replace(STICKERS, samplers=()), "")
    assert (own.id, own.title) == ("", "The model's own")


def test_what_was_chosen_elsewhere_stays_in_sight():
    *_, chosen = sampler_choices(STICKERS, "LCMScheduler")
    assert (chosen.id, chosen.title) == ("LCMScheduler", "LCM")
