import pytest
from PySide6.QtCore import QRectF
from PySide6.QtGui import QColor, QPixmap

from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.theme.theme import font
from spatialstudio.ui.widgets.painting import PaintedWidget, draw_rounded, elided, painting


class Filled(PaintedWidget):
    def draw(self, painter):
        painter.fillRect(self.rect(), self._theme.colour("accent"))


def test_a_painted_widget_follows_the_theme(qtbot, theme):
    widget = Filled(theme, accessibleName="Filled")
    qtbot.addWidget(widget)
    before = widget.grab().toImage().pixelColor(5, 5)
    theme.use(palette_of(ThemeChoice.HIGH_CONTRAST))
    after = widget.grab().toImage().pixelColor(5, 5)
    assert before != after == theme.colour("accent")
    assert widget.accessibleName() == "Filled"


def test_painting_ends_also_after_an_error(qapp):
    pixmap = QPixmap(4, 4)
    with pytest.raises(ValueError, match="broken"), painting(pixmap):
        raise ValueError("broken")
    assert not pixmap.paintingActive()


def test_without_a_radius_the_ends_are_round(qapp):
    pixmap = QPixmap(40, 10)
    pixmap.fill(QColor("white"))
    with painting(pixmap) as painter:
        draw_rounded(painter, QRectF(0, 0, 40, 10), QColor("black"))
    image = pixmap.toImage()
    assert image.pixelColor(20, 5) == QColor("black")
    assert image.pixelColor(0, 0) == QColor("white")


def test_a_long_text_ends_with_dots(qapp):
    assert elided("left of", font(), 500) == "left of"
    assert elided("to the left of", font(), 40).endswith("…")
