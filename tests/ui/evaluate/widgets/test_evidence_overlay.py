import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from spatialstudio.domain.evidence import MarginBand
from spatialstudio.domain.scene import Axis
from spatialstudio.domain.verdict import Box
from spatialstudio.ui.evaluate.widgets.evidence_overlay import (
    BandMark,
    BoxMark,
    BoxStyle,
    EvidenceOverlay,
    EvidenceScene,
)
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.widgets.picture_layers import PictureScene

SIDE = 100
ACROSS = BandMark(
    band=MarginBand(axis=Axis.X, start=40, stop=60, wanted_before=True), centre_xy=(20, 50), hue=0
)
DOWN = BandMark(
    band=MarginBand(axis=Axis.Y, start=40, stop=60, wanted_before=True), centre_xy=(50, 20), hue=0
)
LARGE = Box(left=10, top=10, right=90, bottom=90)
SMALL = Box(left=20, top=20, right=40, bottom=40)


def ghost(box, key):
    return BoxMark(box=box, hue=0, style=BoxStyle.GHOST, key=key)


@pytest.fixture
def overlay(theme):
    return EvidenceOverlay(theme)


@pytest.fixture
def view(qtbot, theme, overlay):
    """A white picture of 100 x 100 pixels with the overlay on it."""
    view = PictureView(theme, "Picture")
    qtbot.addWidget(view)
    view.resize(400, 400)
    view.show_scene(PictureScene(picture=np.full((SIDE, SIDE, 3), 255, np.uint8)))
    view.show_overlays((overlay,))
    view.show()
    return view


def at(view, x, y):
    return view.place.to_widget(QPointF(x / SIDE, y / SIDE)).toPoint()


def colour(view, x, y):
    return view.grab().toImage().pixelColor(at(view, x, y))


def show(overlay, **marks):
    overlay.show_scene(EvidenceScene(height=SIDE, width=SIDE, **marks))


@pytest.mark.parametrize(
    ("mark", "edge", "goal"),
    [(ACROSS, (60, 10), (80, 10)), (DOWN, (10, 40), (10, 20))],
    ids=["across", "down"],
)
def test_dragging_an_edge_asks_for_another_margin(qtbot, view, overlay, mark, edge, goal):
    show(overlay, bands=(mark,))
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=at(view, *edge))
    with qtbot.waitSignal(overlay.margin_picked) as picked:
        qtbot.mouseMove(view, at(view, *goal))
    assert picked.args[0] == pytest.approx(0.3, abs=0.01)
    qtbot.mouseRelease(view, Qt.MouseButton.LeftButton, pos=at(view, *goal))
    with qtbot.assertNotEmitted(overlay.margin_picked):
        qtbot.mouseMove(view, at(view, 50, 50))


def test_dragging_away_from_the_edges_moves_the_picture(qtbot, view, overlay):
    show(overlay, bands=(ACROSS,))
    qtbot.mousePress(view, Qt.MouseButton.LeftButton, pos=at(view, 50, 50))
    with qtbot.waitSignal(view.view_picked), qtbot.assertNotEmitted(overlay.margin_picked):
        qtbot.mouseMove(view, at(view, 55, 50))


def test_of_candidates_the_smallest_under_the_pointer_is_chosen(qtbot, view, overlay):
    show(overlay, boxes=(ghost(SMALL, "small"), ghost(LARGE, "large")))
    with qtbot.waitSignal(overlay.candidate_picked) as picked:
        qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=at(view, 30, 30))
    assert picked.args == ["small"]


def test_lit_evidence_dims_all_else(view, overlay):
    show(overlay, boxes=(BoxMark(box=SMALL, hue=0, style=BoxStyle.CHOSEN),), is_lit=True)
    assert colour(view, 30, 30).lightness() == 255
    assert colour(view, 70, 70).lightness() < 245


def test_a_glowing_band_is_stronger(view, overlay):
    show(overlay, bands=(ACROSS,))
    pale = colour(view, 50, 80).lightness()
    glowing = BandMark(band=ACROSS.band, centre_xy=(20, 50), hue=0, glows=True)
    show(overlay, bands=(glowing,))
    assert colour(view, 50, 80).lightness() < pale < 255


def test_what_is_newly_lit_pulses_and_comes_to_rest(qtbot, view, overlay):
    lit = BoxMark(box=SMALL, hue=0, style=BoxStyle.CHOSEN)
    with qtbot.waitSignals([overlay.changed] * 5):
        show(overlay, boxes=(lit,), is_lit=True)
    show(overlay, boxes=(lit,))
    with qtbot.assertNotEmitted(overlay.changed, wait=100):
        view.repaint()


def test_what_differs_is_hatched(view, overlay):
    show(overlay, differing=((SMALL, LARGE),))
    seen = {colour(view, x, 70).name() for x in range(20, 80, 3)}
    assert len(seen) > 1


def test_it_can_be_read(overlay):
    show(overlay, words="Too close to call.")
    assert overlay.words() == "Too close to call."


def test_the_same_marks_are_not_drawn_again(qtbot, overlay):
    show(overlay, boxes=(ghost(LARGE, "large"),))
    with qtbot.assertNotEmitted(overlay.changed):
        show(overlay, boxes=(ghost(LARGE, "large"),))
    with qtbot.waitSignal(overlay.changed):
        show(overlay, boxes=(ghost(SMALL, "small"),))
