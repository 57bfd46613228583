"""What all plots have in common: zoom, pan, read-out and export, by mouse and by keyboard."""

import csv
import io
import re
from xml.etree import ElementTree

import numpy as np
import pyqtgraph as pg
import pytest
from PySide6.QtCore import QByteArray, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QKeyEvent, QMouseEvent, QPainter, QWheelEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QFileDialog, QToolTip

from spatialstudio.domain.errors import ExportError
from spatialstudio.ui.framework.appearance import palette_of
from spatialstudio.ui.framework.plot_saving import paper, save_plot, write_plot
from spatialstudio.ui.framework.toasts import Toasts
from spatialstudio.ui.framework.window_settings import ThemeChoice
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.widgets.plot import Plot, PlotKey, PlotTable
from spatialstudio.ui.widgets.plot_range import PlotRange
from spatialstudio.ui.widgets.plot_row import PlotLine

SVG = "{http://www.w3.org/2000/svg}"
CONTROL = Qt.KeyboardModifier.ControlModifier
SQUARES = tuple((x, x * x) for x in range(11))


class Squares(Plot):
    """The squares of 0 to 10, in the hue of the first word."""

    def __init__(self, theme, *, is_upright=False):
        super().__init__(theme, "Squares", is_upright=is_upright)
        self._row = self.add_row(0, 100)
        self._curve = PlotLine(antialias=True)
        self._row.add(self._curve)
        points = np.array(SQUARES, float)[:, :: -1 if is_upright else 1]
        self._curve.setData(*points.T)
        self.range = PlotRange(high=10, least=2)
        self.describe("All squares.")
        self.refresh()

    def lay_out(self, room):
        self._row.place(room.adjusted(10, 10, -10, -10))

    def dress(self):
        self._curve.setPen(pg.mkPen(self.theme.mention(0), width=3))

    def snapped(self, place):
        return round(place)

    def stride(self):
        return 1.0

    def text_at(self, place):
        return f"{place}: {place * place}"

    def keys(self):
        return [PlotKey(name="squares", colour=self.theme.mention(0))]

    def table(self):
        return PlotTable(("x", "square"), SQUARES)


@pytest.fixture
def plot(qtbot, theme):
    plot = Squares(theme)
    qtbot.addWidget(plot)
    plot.resize(400, 200)
    plot.show()
    return plot


@pytest.fixture
def upright(qtbot, theme):
    plot = Squares(theme, is_upright=True)
    qtbot.addWidget(plot)
    plot.resize(200, 400)
    plot.show()
    return plot


def turn(plot, turned, place=5, keys=Qt.KeyboardModifier.NoModifier):
    """Turn the wheel over a place of the axis; return whether the plot took it."""
    there = QPointF(plot.position_of(place))
    event = QWheelEvent(
        there,
        plot.mapToGlobal(there),
        QPoint(),
        turned,
        Qt.MouseButton.NoButton,
        keys,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(plot, event)
    return event.isAccepted()


def point(plot, place):
    """Move the pointer over a place of the axis."""
    there = QPointF(plot.position_of(place))
    none = Qt.MouseButton.NoButton
    keys = Qt.KeyboardModifier.NoModifier
    moved = QMouseEvent(QEvent.Type.MouseMove, there, plot.mapToGlobal(there), none, none, keys)
    QApplication.sendEvent(plot, moved)


def colours_of(image):
    return {
        image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())
    }


def action(plot, text):
    return next(each for each in plot.actions() if each.text().startswith(text))


def test_places_and_positions_are_each_others_inverse(plot, upright):
    for shown in (plot, upright):
        assert shown.place_at(QPointF(shown.position_of(3))) == pytest.approx(3, abs=0.05)


def test_an_upright_plot_begins_at_the_top(upright):
    assert upright.position_of(0).y() < upright.position_of(10).y()


def test_control_and_the_wheel_zoom_around_the_pointer(plot):
    before = plot.position_of(3)
    turn(plot, QPoint(0, 240), place=3, keys=CONTROL)
    assert plot.is_zoomed
    assert plot.position_of(3).x() == pytest.approx(before.x(), abs=1)
    turn(plot, QPoint(0, -480), place=3, keys=CONTROL)
    assert not plot.is_zoomed


def test_the_plain_wheel_is_left_to_what_scrolls(plot):
    assert not turn(plot, QPoint(0, 120))
    assert not plot.is_zoomed


def test_a_sideways_wheel_pans(plot):
    plot.zoom(0.5)
    first = plot.range.first
    turn(plot, QPoint(-120, 0))
    assert plot.range.first > first


def test_the_middle_button_pans(qtbot, plot):
    plot.zoom(0.5)
    grip, first = plot.position_of(5), plot.range.first
    qtbot.mousePress(plot, Qt.MouseButton.MiddleButton, pos=grip)
    qtbot.mouseMove(plot, grip - QPoint(60, 0))
    qtbot.mouseRelease(plot, Qt.MouseButton.MiddleButton, pos=grip - QPoint(60, 0))
    assert plot.range.first > first
    assert plot.place_at(QPointF(grip - QPoint(60, 0))) == pytest.approx(5, abs=0.1)


def test_plus_minus_and_home_zoom(qtbot, plot):
    qtbot.keyClick(plot, Qt.Key.Key_Plus)
    near = plot.range.length
    assert near < 10
    qtbot.keyClick(plot, Qt.Key.Key_Plus)
    qtbot.keyClick(plot, Qt.Key.Key_Minus)
    assert plot.range.length == pytest.approx(near)
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    assert not plot.is_zoomed


def test_arrows_read_value_after_value(qtbot, plot):
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert plot.place == 5
    qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert QToolTip.text() == "6: 36"
    assert plot.accessibleDescription() == "All squares.\n6: 36"
    qtbot.keyClick(plot, Qt.Key.Key_Left)
    assert plot.place == 5


def test_arrows_stop_at_the_end_and_bring_it_into_view(qtbot, plot):
    plot.zoom(0.3)
    for _ in range(12):
        qtbot.keyClick(plot, Qt.Key.Key_Right)
    assert plot.place == 10
    assert plot.range.last == 10


@pytest.mark.parametrize("key", [Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Home])
def test_its_keys_are_not_those_of_the_window(plot, key):
    plot.zoom(0.5)
    asked = QKeyEvent(QEvent.Type.ShortcutOverride, key, Qt.KeyboardModifier.NoModifier)
    asked.ignore()
    QApplication.sendEvent(plot, asked)
    assert asked.isAccepted()


def test_home_is_the_windows_while_all_is_in_view(plot):
    asked = QKeyEvent(QEvent.Type.ShortcutOverride, Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier)
    asked.ignore()
    QApplication.sendEvent(plot, asked)
    assert not asked.isAccepted()


def test_the_pointer_reads_the_values_under_it(plot):
    point(plot, 4)
    assert plot.place == 4
    assert QToolTip.text() == "4: 16"
    QApplication.sendEvent(plot, QEvent(QEvent.Type.Leave))
    assert plot.place is None
    assert plot.accessibleDescription() == "All squares."


def test_a_line_marks_the_place_that_is_read(plot, theme):
    bare = plot.grab().toImage()
    point(plot, 4)
    marked, x = plot.grab().toImage(), plot.position_of(4).x()
    column = [marked.pixelColor(x, y) for y in range(20, 150)]
    assert theme.colour("muted").name() in {colour.name() for colour in column}
    assert marked != bare


def test_the_keyboard_sees_where_it_is(plot):
    assert plot.focusPolicy() is Qt.FocusPolicy.StrongFocus
    assert plot.accessibleName() == "Squares"


def test_its_menu_zooms(plot):
    action(plot, "Zoom in").trigger()
    assert plot.is_zoomed
    action(plot, "Show all").trigger()
    assert not plot.is_zoomed


def test_the_colours_follow_the_theme(plot, theme):
    light = theme.mention(0).name()
    assert light in colours_of(plot.grab().toImage())
    theme.use(palette_of(ThemeChoice.DARK))
    seen = colours_of(plot.grab().toImage())
    assert theme.mention(0).name() in seen
    assert light not in seen


def test_a_saved_picture_is_sharp_and_has_a_legend(plot, theme):
    image = QImage.fromData(plot.contents("png"))
    assert image.width() == 2 * plot.surface.width()
    assert image.height() > 2 * plot.surface.height()
    assert theme.mention(0).name() in colours_of(image)


def test_a_saved_picture_shows_no_line_of_the_pointer(plot):
    bare = plot.contents("png")
    point(plot, 4)
    assert plot.contents("png") == bare
    assert plot.place == 4


def test_a_saved_plot_is_clipped_vector_graphics(plot, theme):
    plot.zoom(0.3)
    drawing = ElementTree.fromstring(plot.contents("svg"))
    assert not list(drawing.iter(f"{SVG}image"))
    strokes = {each.get("stroke") for each in drawing.iter()}
    assert theme.mention(0).name() in strokes
    box = plot.rows[0].box.sceneBoundingRect()
    points = [
        float(number)
        for shape in drawing.iter(f"{SVG}path")
        if shape.get("stroke") == theme.mention(0).name()
        for number in re.findall(r"[ML] ([-\d.]+),", shape.get("d"))
    ]
    assert min(points) == pytest.approx(box.left(), abs=1)
    assert max(points) == pytest.approx(box.right(), abs=1)
    assert "squares" in "".join(drawing.itertext())


def test_a_saved_drawing_needs_neither_clip_paths_nor_fixed_strokes(plot):
    drawing = plot.contents("svg").decode()
    assert "clip" not in drawing
    assert "vector-effect" not in drawing


@pytest.mark.parametrize("zoom", [1, 0.3])
def test_a_saved_drawing_looks_like_the_saved_picture(plot, zoom):
    plot.zoom(zoom)
    picture = QImage.fromData(plot.contents("png"))
    drawn = QImage(picture.size(), QImage.Format.Format_RGB32)
    drawn.fill(Qt.GlobalColor.magenta)
    painter = QPainter(drawn)
    QSvgRenderer(QByteArray(plot.contents("svg"))).render(painter)
    painter.end()
    differences = np.abs(pixels_of(drawn).astype(float) - pixels_of(picture))
    assert (differences.max(axis=2) > 100).mean() < 0.005


def pixels_of(image):
    shown = image.convertToFormat(QImage.Format.Format_RGB32)
    shape = (shown.height(), shown.bytesPerLine() // 4, 4)
    return np.frombuffer(shown.constBits(), np.uint8).reshape(shape)[:, :, :3].copy()


def test_a_saved_plot_looks_as_before_on_the_screen(plot):
    before = plot.grab().toImage()
    plot.contents("svg")
    plot.contents("png")
    assert plot.grab().toImage() == before


def test_saved_values_can_be_read_as_a_table(plot):
    rows = list(csv.reader(io.StringIO(plot.contents("csv").decode())))
    assert rows[0] == ["x", "square"]
    assert [tuple(map(float, row)) for row in rows[1:]] == list(SQUARES)


@pytest.mark.parametrize("ending", ["png", "svg", "csv"])
def test_a_plot_is_saved_where_the_user_wants_it(plot, tmp_path, monkeypatch, ending):
    target, toasts = tmp_path / f"mine.{ending}", Toasts()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    plot.save_asked.connect(lambda asked: save_plot(toasts, asked))
    action(plot, "Save plot").trigger()
    with plot.coloured_by(Theme(paper(), plot.theme.icon_folder)):
        assert target.read_bytes() == plot.contents(ending)
    assert [toast.message for toast in toasts.earlier] == [f"Wrote mine.{ending}."]


@pytest.mark.parametrize("choice", [ThemeChoice.LIGHT, ThemeChoice.DARK, ThemeChoice.HIGH_CONTRAST])
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_a_saved_plot_is_light_in_every_theme(plot, theme, tmp_path, choice, ending):
    write_plot(plot, tmp_path / f"light.{ending}")
    theme.use(palette_of(choice))
    before = plot.grab().toImage()
    write_plot(plot, tmp_path / f"saved.{ending}")
    assert plot.grab().toImage() == before
    assert (tmp_path / f"saved.{ending}").read_bytes() == (
        tmp_path / f"light.{ending}"
    ).read_bytes()


def test_a_plot_that_cannot_be_written_is_reported(plot, tmp_path, monkeypatch):
    target, toasts = tmp_path / "gone" / "mine.png", Toasts()
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(target), ""))
    save_plot(toasts, plot)
    (toast,) = toasts.earlier
    assert "mine.png cannot be saved." in toast.message


def test_a_strange_ending_writes_nothing(plot, tmp_path):
    with pytest.raises(ExportError, match=r"\.doc"):
        write_plot(plot, tmp_path / "mine.doc")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ratio", [1, 2])
def test_a_line_is_as_wide_on_a_screen_of_finer_pixels(qapp, ratio):
    image = QImage(20 * ratio, 20 * ratio, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.white)
    image.setDevicePixelRatio(ratio)
    line = PlotLine(np.array([0.0, 20.0]), np.array([10.0, 10.0]), pen=pg.mkPen("k", width=4))
    painter = QPainter(image)
    line.paint(painter, None)
    painter.end()
    column = [image.pixelColor(10 * ratio, y).lightness() for y in range(20 * ratio)]
    assert sum(light < 128 for light in column) == 4 * ratio
