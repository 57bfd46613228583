import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSlider

from spatialstudio.ui.run.widgets.fields import StrengthSlider


@pytest.fixture
def strength(qtbot):
    widget = StrengthSlider()
    qtbot.addWidget(widget)
    widget.show_strength(5.0, 5.0)
    widget.show()
    return widget


@pytest.fixture
def slider(strength):
    return strength.findChild(QSlider)


def said(widget):
    return " ".join(label.text() for label in widget.findChildren(QLabel))


def test_the_recommended_step_size_is_in_the_middle(slider):
    assert slider.value() == 50


def test_sliding_picks_a_step_size(qtbot, strength, slider):
    with qtbot.waitSignal(strength.strength_picked) as picked:
        qtbot.keyClick(slider, Qt.Key.Key_End)
    assert picked.args[0] == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("position", "words"),
    [
        (0, "Off: no guidance."),
        (20, "Loose, step size 2: weak guidance"),
        (50, "Balanced, step size 5: satisfies"),
        (90, "Strict, step size 9: prioritises"),
    ],
)
def test_the_caption_says_what_to_expect(strength, slider, position, words):
    slider.setValue(position)
    assert words in said(strength)
    assert words in slider.accessibleDescription()


def test_a_step_size_beyond_the_end_is_shown_at_the_end(strength, slider):
    strength.show_strength(500.0, 5.0)
    assert slider.value() == 100
    assert "Strict, step size 500:" in said(strength)


def test_showing_a_strength_does_not_echo_it(qtbot, strength, slider):
    with qtbot.assertNotEmitted(strength.strength_picked):
        strength.show_strength(2.5, 5.0)
    assert slider.value() == 25
