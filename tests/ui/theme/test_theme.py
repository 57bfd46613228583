import numpy as np
import pytest

from spatialstudio.domain.palette import MENTION_COLOURS
from spatialstudio.ui.app import palette_of

READABLE = 4.5
VISIBLE = 3.0
TEXTS = ("text", "muted", "good", "bad", "unsure", "warning")
GROUNDS = ("surface", "raised")


def luminance(colour):
    """Return the relative luminance of WCAG 2, [0, 1]."""
    channels = np.array([colour.redF(), colour.greenF(), colour.blueF()])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(first, second):
    low, high = sorted([luminance(first), luminance(second)])
    return (high + 0.05) / (low + 0.05)


@pytest.fixture(params=[False, True], ids=["light", "dark"])
def either_theme(theme, request):
    theme.use(palette_of(dark=request.param))
    return theme


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", TEXTS)
def test_text_can_be_read_on_every_ground(either_theme, text, ground):
    assert contrast(either_theme.colour(text), either_theme.colour(ground)) >= READABLE


@pytest.mark.parametrize("hue", range(MENTION_COLOURS))
def test_every_word_hue_stands_out_from_the_ground(either_theme, hue):
    assert contrast(either_theme.mention(hue), either_theme.colour("raised")) >= VISIBLE


@pytest.mark.parametrize(
    ("text", "ground"),
    [("on_accent", "accent"), ("text", "warning_ground"), ("text", "bad_ground")],
)
def test_text_can_be_read_on_its_own_ground(either_theme, text, ground):
    assert contrast(either_theme.colour(text), either_theme.colour(ground)) >= READABLE


def test_the_heat_map_grows_lighter_all_the_way(theme):
    light = theme.heat_table().astype(float) @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(light) > -1.5).all()
    assert light[-1] - light[0] > 200


def test_another_palette_is_told(qtbot, theme):
    with qtbot.waitSignal(theme.changed):
        theme.use(palette_of(dark=True))
    assert theme.palette.is_dark


def test_an_icon_takes_the_colour_of_its_role(theme):
    image = theme.icon("cancel", "bad").pixmap(64, 64).toImage()
    edge = image.pixelColor(16, 32)
    assert edge.name() == theme.colour("bad").name()
