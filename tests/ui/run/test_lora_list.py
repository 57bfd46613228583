"""LoRAs are added, weighted and removed in the generation form."""

import threading
from pathlib import Path

import pytest
from PySide6.QtWidgets import QToolButton

from spatialstudio.application.studio import Studio
from spatialstudio.domain.ports import LoraCard
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


def test_headers_are_read_outside_the_gui_thread(panel, qtbot, monkeypatch):
    card = LoraCard(name="ink", file=Path("ink"), family="FLUX.1", size_bytes=1, numbers=1)
    threads = []
    found = property(lambda _: threads.append(threading.current_thread()) or (card,))
    monkeypatch.setattr(Studio, "loras", found)
    field = named(panel, ChoiceField, "Add a LoRA")
    field.showPopup()
    qtbot.waitUntil(lambda: field.count() == 2)
    assert field.itemText(1) == "ink"
    assert threads[0] is not threading.main_thread()
    field.hidePopup()
