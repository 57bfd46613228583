import numpy as np
import pytest

from spatialstudio.domain.palette import MENTION_COLOURS
from spatialstudio.domain.palette import contrast as contrast_of
from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.theme.theme import em, font

READABLE = 4.5
VISIBLE = 3.0
TEXTS = ("text", "muted", "good", "bad", "unsure", "warning")
GROUNDS = ("surface", "raised")


def contrast(first, second):
    return contrast_of(first.name(), second.name())


CHOICES = [ThemeChoice.LIGHT, ThemeChoice.DARK, ThemeChoice.HIGH_CONTRAST]


@pytest.fixture(params=CHOICES, ids=lambda choice: choice.value)
def any_theme(theme, request):
    theme.use(palette_of(request.param))
    return theme


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("text", TEXTS)
def test_text_can_be_read_on_every_ground(any_theme, text, ground):
    assert contrast(any_theme.colour(text), any_theme.colour(ground)) >= READABLE


@pytest.mark.parametrize("hue", range(MENTION_COLOURS))
def test_every_word_hue_contrasts_with_the_background(any_theme, hue):
    assert contrast(any_theme.mention(hue), any_theme.colour("raised")) >= VISIBLE


@pytest.mark.parametrize("hue", range(MENTION_COLOURS))
def test_a_name_can_be_read_on_its_words_hue(any_theme, hue):
    assert contrast(any_theme.mention(hue), any_theme.on_mention(hue)) >= READABLE


@pytest.mark.parametrize("ground", GROUNDS)
def test_outlines_of_what_is_filled_in_can_be_seen(any_theme, ground):
    assert contrast(any_theme.colour("faint"), any_theme.colour(ground)) >= VISIBLE


@pytest.mark.parametrize(
    ("text", "ground"),
    [("on_accent", "accent"), ("text", "warning_ground"), ("text", "bad_ground")],
)
def test_text_can_be_read_on_its_own_ground(any_theme, text, ground):
    assert contrast(any_theme.colour(text), any_theme.colour(ground)) >= READABLE


def test_the_heat_map_grows_lighter_all_the_way(theme):
    light = theme.heat_table().astype(float) @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(light) > -1.5).all()
    assert light[-1] - light[0] > 200


def test_less_more_and_equal_can_be_told_apart(any_theme):
    less, equal, more = any_theme.difference_table()[[0, 127, 255]].astype(int)
    assert less[0] > less[2] + 50  # warm against cold, whatever the eyes
    assert more[2] > more[0] + 50
    ground = any_theme.colour("raised")
    assert abs(equal - [ground.red(), ground.green(), ground.blue()]).max() <= 2


def test_another_palette_is_told(qtbot, theme):
    with qtbot.waitSignal(theme.changed):
        theme.use(palette_of(ThemeChoice.DARK))
    assert theme.palette.is_dark


def test_an_icon_takes_the_colour_of_its_role(theme):
    image = theme.icon("cancel", "bad").pixmap(64, 64).toImage()
    edge = image.pixelColor(16, 32)
    assert edge.name() == theme.colour("bad").name()


def test_sizes_grow_with_the_font(qapp):
    small = em(10)
    before = qapp.font()
    larger = qapp.font()
    larger.setPointSizeF(before.pointSizeF() * 2)
    qapp.setFont(larger)
    grown = em(10)
    qapp.setFont(before)
    assert grown > 1.5 * small


def test_a_bold_font_is_heavier(qapp):
    assert font(bold=True).weight() > font().weight()
