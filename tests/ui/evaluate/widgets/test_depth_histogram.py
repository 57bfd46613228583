import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QLabel

from spatialstudio.ui.evaluate.widgets.depth_histogram import DepthHistogram, DepthProfile
from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.window_settings import ThemeChoice

NEAR, FAR = np.array([1.0, 0, 0, 0]), np.array([0, 0, 0, 1.0])


@pytest.fixture
def histogram(qtbot, theme):
    widget = DepthHistogram(theme)
    qtbot.addWidget(widget)
    widget.resize(400, 120)
    widget.show()
    return widget


def colours(histogram, x):
    image = histogram.grab().toImage()
    return {image.pixelColor(x, y).name() for y in range(30, 80)}


def test_the_near_object_is_left_and_the_far_one_right(histogram, theme):
    profiles = DepthProfile("cat", 0, NEAR), DepthProfile("dog", 1, FAR)
    histogram.show_profiles(profiles, "The cat is in front.")
    ground = theme.colour("sunken").name()
    assert colours(histogram, 50) != {ground}
    assert colours(histogram, 350) != {ground}
    assert colours(histogram, 200) == {ground}
    assert histogram.plot.accessibleDescription() == "The cat is in front."


def test_what_both_share_is_hatched(histogram, theme):
    profiles = DepthProfile("cat", 0, NEAR), DepthProfile("dog", 1, NEAR)
    histogram.show_profiles(profiles, "")
    assert theme.colour("text").name() in colours(histogram, 50)


def test_nothing_to_show_is_no_failure(histogram, theme):
    histogram.show_profiles((DepthProfile("cat", 0, np.zeros(4)),), "")
    assert colours(histogram, 50) == {theme.colour("sunken").name()}


def test_it_follows_the_colours_of_the_theme(histogram, theme):
    profiles = DepthProfile("cat", 0, NEAR), DepthProfile("dog", 1, FAR)
    histogram.show_profiles(profiles, "")
    before = colours(histogram, 50)
    theme.use(palette_of(ThemeChoice.DARK))
    assert colours(histogram, 200) == {theme.colour("sunken").name()}
    assert not before & colours(histogram, 50)


def test_names_are_written_without_markup(histogram):
    histogram.show_profiles((DepthProfile("<b>cat</b>", 0, NEAR), DepthProfile("dog", 1, FAR)), "")
    shown = QTextDocumentFragment.fromHtml(histogram.findChild(QLabel).text()).toPlainText()
    assert histogram.findChild(QLabel).textFormat() is Qt.TextFormat.RichText
    assert shown.split() == ["<b>cat</b>", "dog"]


def test_the_pointer_reads_the_share_of_each_thing(histogram):
    histogram.show_profiles((DepthProfile("cat", 0, NEAR), DepthProfile("dog", 1, FAR)), "Near.")
    histogram.plot.read(0.1)
    said = histogram.plot.accessibleDescription().splitlines()
    assert said == ["Near.", "depth 0.12, from near to far", "cat: 100.0%", "dog: 0.0%"]


def test_the_values_of_each_slice_can_be_saved(histogram):
    histogram.show_profiles((DepthProfile("cat", 0, NEAR), DepthProfile("dog", 1, FAR)), "")
    table = histogram.plot.table()
    assert table.columns == ("depth", "cat", "dog")
    assert table.rows[0] == (0.125, 1.0, 0.0)
    assert table.rows[-1] == (0.875, 0.0, 1.0)
