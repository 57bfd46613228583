import pytest

from spatialstudio.ui.stage.widgets.map_legend import (
    LegendEntry,
    MapLegend,
    in_figures,
)

DOG = LegendEntry("dog", 0, 0.3517)


@pytest.fixture
def legend(qtbot, theme):
    legend = MapLegend(theme)
    qtbot.addWidget(legend)
    legend.resize(300, 60)
    legend.show_entries((DOG,))
    legend.show()
    return legend


@pytest.mark.parametrize(
    ("top", "text"), [(0.3517, "0.35"), (1.0, "1"), (0.00421, "0.0042"), (0.0, "0")]
)
def test_the_end_of_a_scale_is_written_briefly(top, text):
    assert in_figures(top) == text


def test_the_scale_is_told_in_words(legend):
    assert legend.accessibleDescription() == "dog: 0 to 0.35"


def test_the_bar_grows_from_nothing_to_the_word_s_hue(legend, theme):
    image = legend.grab().toImage()
    row = [image.pixelColor(x, legend.sizeHint().height() // 2) for x in range(image.width())]
    assert theme.mention(0).saturation() - max(colour.saturation() for colour in row) < 20


def test_every_map_has_a_line(legend):
    one = legend.sizeHint().height()
    legend.show_entries((DOG, LegendEntry("car", 1, 0.2)))
    assert legend.sizeHint().height() == 2 * one
