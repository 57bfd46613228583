"""LoRAs are added, weighted and removed in the generation form."""

import pytest
from PySide6.QtWidgets import QToolButton

from spatialstudio.domain.scene import LoraUse
from spatialstudio.ui.run.widgets.fields import Choice, ChoiceField
from spatialstudio.ui.run.widgets.lora_list import LoraList
from tests.ui.by_name import named

INK = LoraUse(name="ink", weight=0.5)
FOG = LoraUse(name="fog")


@pytest.fixture
def loras(qtbot):
    shown = LoraList()
    qtbot.addWidget(shown)
    shown.show_choices([Choice(id=name, title=name) for name in ("fog", "ink")])
    return shown


@pytest.fixture
def picked(loras):
    found = []
    loras.loras_picked.connect(found.append)
    return found


def test_showing_loras_emits_nothing(loras, picked):
    loras.show_loras((INK, FOG))
    loras.show_loras((FOG,))
    assert picked == []


def test_a_lora_is_added_at_weight_1(loras, picked):
    loras.show_loras((INK,))
    named(loras, ChoiceField, "Add a LoRA").setCurrentIndex(1)
    assert picked == [(INK, FOG)]
    assert named(loras, ChoiceField, "Add a LoRA").currentText() == "Add…"


def test_a_weight_is_set(loras, picked):
    loras.show_loras((INK, FOG))
    box = loras._boxes[1][1]
    assert box.accessibleName() == "Weight of fog"
    box.setValue(-0.75)
    assert picked == [(INK, LoraUse(name="fog", weight=-0.75))]
    loras.show_loras(picked[-1])
    assert loras._boxes[1][1] is box


def test_a_lora_is_removed(loras, picked):
    loras.show_loras((INK, FOG))
    named(loras, QToolButton, "Remove ink").click()
    assert picked == [(FOG,)]
