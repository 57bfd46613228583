import numpy as np
import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.stage.widgets.map_painter import MapPainter
from spatialstudio.ui.widgets.picture_layers import IsolineLayer, MapLayer

SIDE = 64
LEFT = np.zeros((4, 4), np.float32)
LEFT[:, 0] = 0.5
MIDDLE_LINE = IsolineLayer(0.5, np.array([[[0.5, 0.0], [0.5, 1.0]]], np.float32))


@pytest.fixture
def maps(theme):
    return MapPainter(theme)


def painted(maps):
    image = QImage(SIDE, SIDE, QImage.Format.Format_RGB888)
    image.fill(QColor("white"))
    painter = QPainter(image)
    maps.draw(painter, QRectF(0, 0, SIDE, SIDE))
    painter.end()
    return image


def saturation(image, x):
    return image.pixelColor(round(x * SIDE), SIDE // 2).saturation()


def test_a_lower_top_draws_a_map_stronger(maps):
    maps.show_maps((MapLayer(0, LEFT, top=1.0),))
    pale = saturation(painted(maps), 0.05)
    maps.show_maps((MapLayer(0, LEFT, top=0.5),))
    assert saturation(painted(maps), 0.05) > pale + 50


def test_opacity_fades_a_map(maps):
    maps.show_maps((MapLayer(0, LEFT, opacity=0.0),))
    assert saturation(painted(maps), 0.05) == 0


def test_an_isoline_is_drawn_in_its_word_s_hue(maps, theme):
    maps.show_maps((MapLayer(1, 0 * LEFT, isolines=(MIDDLE_LINE,)),))
    assert painted(maps).pixelColor(SIDE // 2, SIDE // 2) == theme.mention(1)


def test_another_palette_changes_the_hues(maps, theme):
    maps.show_maps((MapLayer(0, LEFT),))
    before = painted(maps).pixelColor(2, SIDE // 2)
    theme.use(palette_of(ThemeChoice.DARK))
    assert painted(maps).pixelColor(2, SIDE // 2) != before
