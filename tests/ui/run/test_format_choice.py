"""In which number format the weights are: what is offered, as the device can."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from spatialstudio.domain.devices import DeviceCard
from tests.ui.by_name import named

OLD_CARD = DeviceCard(id="cuda:0", name="Old card", dtypes=("float32", "float16"))


@pytest.fixture
def field(panel):
    return named(panel, QComboBox, "Precision")


def formats(field):
    return [field.itemData(place) for place in range(field.count())]


def test_the_models_own_is_usual(field):
    assert formats(field) == ["", "float32", "bfloat16", "float16"]
    assert field.currentText() == "Model's default"


def test_what_a_run_takes_is_asked_anew(qtbot, field, engine):
    qtbot.keyClick(field, Qt.Key.Key_End)
    asked = [each.request.sampling.dtype for each in engine.questions if hasattr(each, "request")]
    assert asked[-1] == "float16"


def test_only_what_the_device_computes_is_offered(qtbot, field, engine):
    engine.list_devices(OLD_CARD)
    qtbot.waitUntil(lambda: formats(field) == ["", "float32", "float16"])


def test_a_format_that_was_chosen_stays_in_sight(qtbot, field, engine):
    qtbot.keyClicks(field, "bf")
    engine.list_devices(OLD_CARD)
    qtbot.wait_until(lambda: field.count() == 4)
    assert field.currentData() == "bfloat16"
