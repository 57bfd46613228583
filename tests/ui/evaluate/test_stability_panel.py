import numpy as np
import pytest
from PySide6.QtWidgets import QLabel

from spatialstudio.domain.scene import IN_FRONT_OF
from spatialstudio.domain.verdict import DepthMap
from spatialstudio.ui.evaluate.stability_panel import StabilityPanel
from spatialstudio.ui.evaluate.widgets.crop_strip import CropTile
from spatialstudio.ui.evaluate.widgets.depth_histogram import DepthHistogram
from spatialstudio.ui.framework.bridge import Bridge
from tests.science.seen_things import SIDE, perception, seen
from tests.ui.judged_runs import CAR, DOG, MASKS, judged_run

SAME, GONE = perception(DOG, CAR), perception(CAR)
SWAPPED = perception(seen("m1", 90, 20), CAR)


@pytest.fixture
def panel(qtbot, context):
    """The panel, served by the bus like in a window."""
    panel = StabilityPanel(context)
    qtbot.addWidget(panel)
    panel.resize(400, 300)
    panel.show()
    bridge = Bridge(context.studio.bus, context.studio, context.reading)
    bridge.serve(panel)
    yield panel
    bridge.close()


def tiles(panel):
    return [tile.accessibleName() for tile in panel.findChildren(CropTile) if tile.isVisible()]


def texts(panel):
    return [label.text() for label in panel.findChildren(QLabel) if label.isVisible()]


def test_every_small_change_has_its_picture_and_verdict(qtbot, panel, context):
    run = judged_run(DOG, CAR, perturbed=(SAME, SAME, SWAPPED, GONE))
    context.studio.session.open(run)
    qtbot.waitUntil(lambda: len(tiles(panel)) == 4)
    assert tiles(panel) == [
        "brightness +10 %: PASS",
        "brightness -10 %: PASS",
        "blur 1 px: FAIL",
        "size 90 %: not found",
    ]
    assert texts(panel) == ["PASS under 2 of 4 perturbations."]


def test_what_was_not_tested_is_said(qtbot, panel, context):
    context.studio.session.open(judged_run(CAR))
    qtbot.waitUntil(lambda: "every verdict is UNDECIDABLE" in texts(panel)[0])
    assert tiles(panel) == []


def test_depths_of_the_things_are_shown_where_depth_decides(qtbot, panel, context):
    values = np.tile(np.linspace(0, 1, SIDE, dtype=np.float32), (SIDE, 1))
    depth = DepthMap(values=values, estimator_id="fake")
    run = judged_run(DOG, CAR, relation_type=IN_FRONT_OF, masks=MASKS, depth=depth)
    context.studio.session.open(run)
    histogram = panel.findChild(DepthHistogram)
    qtbot.waitUntil(histogram.isVisible)
    assert histogram.plot.accessibleDescription().startswith("The dog is in front of the car")


def test_a_relation_of_the_plane_has_no_histogram(qtbot, panel, context):
    context.studio.session.open(judged_run(DOG, CAR, perturbed=(SAME,)))
    qtbot.waitUntil(lambda: len(tiles(panel)) == 1)
    assert not panel.findChild(DepthHistogram).isVisible()
