import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QAbstractButton, QCheckBox, QSlider

from spatialstudio.ui.stage.widgets.layer_list import LayerList
from spatialstudio.ui.widgets.picture_layers import Layer, LayerLook


@pytest.fixture
def layers(qtbot, theme):
    widget = LayerList(theme)
    qtbot.addWidget(widget)
    widget.show()
    return widget


def button(layers, name):
    buttons = layers.findChildren(QAbstractButton)
    return next(each for each in buttons if each.accessibleName() == name)


def test_all_layers_are_in_sight_at_first(layers):
    assert layers.layers == frozenset(Layer)


def test_space_hides_a_layer(qtbot, layers):
    with qtbot.waitSignal(layers.layers_picked) as picked:
        qtbot.keyClick(button(layers, "Show picture"), Qt.Key.Key_Space)
    assert picked.args == [frozenset(Layer) - {Layer.PICTURE}]


def test_showing_layers_emits_nothing(qtbot, layers):
    with qtbot.assertNotEmitted(layers.layers_picked):
        layers.show_layers(frozenset({Layer.BOXES}))
    assert layers.layers == {Layer.BOXES}


def test_a_layer_can_be_made_fainter_by_keys(qtbot, layers):
    with qtbot.waitSignal(layers.look_picked) as picked:
        qtbot.keyClick(button(layers, "Show masks"), Qt.Key.Key_Left)
    assert picked.args == [Layer.MASKS, LayerLook(opacity=0.9)]


def test_a_layer_can_be_made_fainter_by_hand(qtbot, layers):
    slider = next(
        each for each in layers.findChildren(QSlider) if each.accessibleName() == "masks opacity"
    )
    with qtbot.waitSignal(layers.look_picked) as picked:
        slider.setValue(99)
    assert picked.args == [Layer.MASKS, LayerLook(opacity=0.99)]


def test_a_layer_can_be_alone_by_a_key(qtbot, layers):
    with qtbot.waitSignal(layers.solo_picked) as picked:
        qtbot.keyClick(button(layers, "Show boxes"), Qt.Key.Key_S)
    assert picked.args == [Layer.BOXES]


def test_all_rows_are_one_stop_of_tab(qtbot, layers):
    button(layers, "Show picture").setFocus()
    qtbot.keyClick(layers.focusWidget(), Qt.Key.Key_Tab)
    assert layers.focusWidget().text() == "Smooth scaling"


def test_arrows_move_between_rows_and_tab_returns_to_the_last(qtbot, layers):
    button(layers, "Show picture").setFocus()
    for _ in range(2):
        qtbot.keyClick(layers.focusWidget(), Qt.Key.Key_Down)
    assert layers.focusWidget() is button(layers, "Show masks")
    qtbot.keyClick(layers.focusWidget(), Qt.Key.Key_Tab)
    qtbot.keyClick(layers.focusWidget(), Qt.Key.Key_Backtab)
    assert layers.focusWidget() is button(layers, "Show masks")


def test_arrows_stay_within_the_rows(qtbot, layers):
    button(layers, "Show picture").setFocus()
    qtbot.keyClick(layers.focusWidget(), Qt.Key.Key_Up)
    assert layers.focusWidget() is button(layers, "Show picture")


def test_the_hues_are_seen_where_they_are_chosen(layers):
    menu = button(layers, "boxes colour").menu()
    menu.popup(QPoint())
    assert all(not action.icon().isNull() for action in menu.actions())
    menu.close()


def test_a_layer_can_have_one_hue(qtbot, layers):
    layers.row(Layer.BOXES).show_look(LayerLook(opacity=0.5))
    menu = button(layers, "boxes colour").menu()
    pink = next(action for action in menu.actions() if action.text() == "Pink")
    with qtbot.waitSignal(layers.look_picked) as picked:
        pink.trigger()
    assert picked.args == [Layer.BOXES, LayerLook(opacity=0.5, hue=3)]


def test_showing_a_look_emits_nothing(qtbot, layers):
    with qtbot.assertNotEmitted(layers.look_picked):
        layers.row(Layer.MASKS).show_look(LayerLook(opacity=0.2, hue=1))


def test_one_layer_at_most_is_alone(qtbot, layers):
    for name in ("Show only masks", "Show only boxes"):
        qtbot.mouseClick(button(layers, name), Qt.MouseButton.LeftButton)
    assert not button(layers, "Show only masks").isChecked()
    with qtbot.waitSignal(layers.solo_picked) as picked:
        qtbot.mouseClick(button(layers, "Show only boxes"), Qt.MouseButton.LeftButton)
    assert picked.args == [None]


def test_smoothing_can_be_switched_off(qtbot, layers):
    with qtbot.waitSignal(layers.smoothing_picked) as picked:
        qtbot.keyClick(layers.findChild(QCheckBox), Qt.Key.Key_Space)
    assert picked.args == [False]


def test_a_layer_can_be_shown_alone_and_the_others_restored(layers):
    layers.show_all(False)
    assert button(layers, "Show masks").isVisible()
    assert not button(layers, "masks colour").isVisible()
    layers.show_all(True)
    assert button(layers, "masks colour").isVisible()
    assert not button(layers, "picture colour").isVisible()


def test_a_narrow_list_keeps_the_eyes(qtbot, layers):
    eye, solo = button(layers, "Show masks"), button(layers, "Show only masks")
    slider = layers.findChildren(QSlider)[0]
    qtbot.waitUntil(lambda: slider.isVisible() and solo.isVisible())
    layers.resize(layers.minimumSizeHint().width(), layers.height())
    qtbot.waitUntil(lambda: not slider.isVisible() and not solo.isVisible())
    assert eye.isVisible()
    layers.resize(layers.sizeHint().width(), layers.height())
    qtbot.waitUntil(lambda: slider.isVisible() and solo.isVisible())
