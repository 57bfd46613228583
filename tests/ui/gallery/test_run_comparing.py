"""A run and its baseline find each other; two chosen runs are compared."""

import pytest
from PySide6.QtCore import Qt

from spatialstudio.ui.gallery.gallery_presenter import pair_of, pictures_of
from spatialstudio.ui.gallery.widgets.compare_view import CompareCanvas, CompareView, CompareWay


@pytest.fixture
def panel(gallery):
    gallery.grid.setFocus()
    return gallery


def test_a_run_alone_is_compared_with_its_baseline(panel, studio):
    guided, baseline = studio.library.list("method:layout"), studio.library.list("method:none")
    for chosen in (guided, baseline):
        pair = pair_of(studio.library, chosen)
        assert [entry.summary.method_id for entry in pair] == ["layout", "none"]
    first, second, difference = pictures_of(studio.library, pair)
    assert (first.title, second.title) == ("Guided", "Baseline")
    assert difference.remark == "white: difference of 0 (of 255)"  # of equal pictures


def test_c_compares_m_changes_the_mode_and_c_returns(qtbot, drawn, panel):
    view = panel.findChild(CompareView)
    qtbot.keyClick(panel.grid, Qt.Key.Key_C)
    canvas = panel.findChild(CompareCanvas)
    qtbot.waitUntil(canvas.hasFocus)
    qtbot.keyClick(canvas, Qt.Key.Key_M)
    assert view.way is CompareWay.SIDE_BY_SIDE
    qtbot.keyClick(canvas, Qt.Key.Key_C)
    assert panel.grid.hasFocus()
    assert not view.isVisible()


def test_without_a_partner_there_is_a_hint(qtbot, drawn, panel, studio):
    panel.use_line("method:layout")
    baseline = studio.library.entries(studio.library.list("method:none"))
    studio.library.trash([entry.path for entry in baseline])
    qtbot.keyClick(panel.grid, Qt.Key.Key_C)
    assert drawn.context.toasts.earlier[-1].message == "Select two runs to compare."
