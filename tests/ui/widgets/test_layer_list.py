import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox

from spatialstudio.ui.widgets.layer_list import LayerList
from spatialstudio.ui.widgets.picture_layers import Layer


@pytest.fixture
def layers(qtbot):
    widget = LayerList()
    qtbot.addWidget(widget)
    widget.show()
    return widget


def test_all_layers_are_in_sight_at_first(layers):
    assert layers.layers == frozenset(Layer)


def test_space_hides_a_layer(qtbot, layers):
    with qtbot.waitSignal(layers.layers_picked) as picked:
        qtbot.keyClick(layers.findChildren(QCheckBox)[0], Qt.Key.Key_Space)
    assert picked.args == [frozenset(Layer) - {Layer.PICTURE}]


def test_showing_layers_emits_nothing(qtbot, layers):
    with qtbot.assertNotEmitted(layers.layers_picked):
        layers.show_layers(frozenset({Layer.BOXES}))
    assert layers.layers == {Layer.BOXES}


def test_smoothing_can_be_switched_off(qtbot, layers):
    with qtbot.waitSignal(layers.smoothing_picked) as picked:
        qtbot.keyClick(layers.findChildren(QCheckBox)[-1], Qt.Key.Key_Space)
    assert picked.args == [False]
