import numpy as np
import pytest

from spatialstudio.application.session import OpenRun
from spatialstudio.domain.verdict import (
    Box,
    DepthMap,
    Evaluation,
    Perception,
)
from spatialstudio.ui.framework.stage_view import StageView
from spatialstudio.ui.stage.layers_panel import DEPTH_OPACITY, dressed
from spatialstudio.ui.widgets.picture_layers import (
    BoxLayer,
    Layer,
    LayerLook,
    MapLayer,
    MaskLayer,
    PictureScene,
    Profile,
)
from tests.fakes import scene_of

LINE = np.ones(2, np.float32) / 2
SCENE = PictureScene(
    maps=(MapLayer(0, np.ones((2, 2), np.float32), opacity=0.8),),
    masks=(MaskLayer(0, np.ones((2, 2), bool)),),
    boxes=(BoxLayer(0, Box(left=0, top=0, right=1, bottom=1), "dog"),),
    profiles=(Profile(0, LINE, LINE),),
)
PARTS = {
    Layer.MAPS: lambda scene: scene.maps[0],
    Layer.MASKS: lambda scene: scene.masks[0],
    Layer.BOXES: lambda scene: scene.boxes[0],
    Layer.MARGINALS: lambda scene: scene.profiles[0],
}


@pytest.fixture
def stage(qapp):
    return StageView()


@pytest.fixture
def deep():
    """A run whose picture recedes to the right."""
    values = np.array([[1.0, 3.0]], np.float32)
    seen = Perception(
        image_sha256="",
        height=1,
        width=2,
        detections=(),
        masks=(),
        depth=DepthMap(values=values, estimator_id="fake"),
    )
    return OpenRun(id="x", scene=scene_of(), evaluation=Evaluation(perception=seen, verdicts=()))


@pytest.mark.parametrize("layer", PARTS, ids=lambda layer: layer.value)
def test_opacity_and_hue_reach_their_layer_alone(stage, deep, layer):
    stage.show_look(layer, LayerLook(opacity=0.5, hue=3))
    scene = dressed(SCENE, deep, stage)
    before, after = PARTS[layer](SCENE), PARTS[layer](scene)
    assert (after.hue, after.opacity) == (3, before.opacity / 2)
    others = [part for other, part in PARTS.items() if other is not layer]
    assert [part(scene) for part in others] == [part(SCENE) for part in others]


def test_depth_is_seen_when_it_is_switched_on(stage, deep):
    assert dressed(SCENE, deep, stage).depth is None
    stage.toggle(Layer.DEPTH)
    depth = dressed(SCENE, deep, stage).depth
    assert depth.opacity == DEPTH_OPACITY
    assert depth.nearness.tolist() == [[1.0, 0.0]]


def test_a_picture_without_depth_has_none_to_show(stage):
    stage.toggle(Layer.DEPTH)
    assert dressed(SCENE, OpenRun(id="x", scene=scene_of()), stage).depth is None


def test_solo_leaves_one_layer_on_the_picture(stage):
    stage.show_solo(Layer.MASKS)
    assert stage.visible == {Layer.PICTURE, Layer.MASKS}
    stage.show_solo(None)
    assert stage.visible == stage.layers
