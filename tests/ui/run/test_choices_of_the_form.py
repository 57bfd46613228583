"""What the run form offers for choice: chosen by keyboard, kept, undone."""

from typing import NamedTuple

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from tests.ui.by_name import named

UNIPC = "UniPCMultistepScheduler"


class Choice(NamedTuple):
    name: str
    setting: str
    keys: str
    chosen: str
    last: str


@pytest.fixture(
    params=[
        Choice("Sampler", "scheduler_id", "uni", UNIPC, UNIPC),
        Choice("Precision", "dtype", "bf", "bfloat16", "float16"),
    ],
    ids=lambda choice: choice.name,
)
def choice(request):
    return request.param


def test_what_is_chosen_by_keyboard_draws_the_next_picture(qtbot, panel, engine, studio, choice):
    qtbot.keyClicks(named(panel, QComboBox, choice.name), choice.keys)
    panel.generate()
    assert {getattr(job.request.sampling, choice.setting) for job in engine.jobs} == {choice.chosen}
    assert getattr(studio.storage.drafts.newest.settings.sampling, choice.setting) == choice.chosen


def test_a_choice_can_be_undone(qtbot, panel, window, choice):
    field = named(panel, QComboBox, choice.name)
    qtbot.keyClick(field, Qt.Key.Key_End)
    assert field.currentData() == choice.last
    window.context.edits.undo()
    assert field.currentData() == ""
