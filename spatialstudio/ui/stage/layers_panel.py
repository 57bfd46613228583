"""The dock that lists the layers of the stage."""

from dataclasses import replace
from typing import TypeVar

from spatialstudio.application.session import OpenRun
from spatialstudio.ui.framework.panel_api import Panel, WindowContext
from spatialstudio.ui.framework.stage_view import StageView
from spatialstudio.ui.framework.window_settings import Density
from spatialstudio.ui.stage.widgets.layer_list import LayerList
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.picture_layers import (
    PLAIN_LOOK,
    BoxLayer,
    DepthLayer,
    Layer,
    LayerLook,
    MapLayer,
    MaskLayer,
    PictureScene,
    Profile,
)


class LayersPanel(Panel):
    """Lets the user toggle layers, set their looks, and choose smooth scaling."""

    title = "Layers"

    def __init__(self, context: WindowContext) -> None:
        super().__init__()
        self._stage = context.stage
        self._list = LayerList(context.theme)
        self._list.layers_picked.connect(self._stage.show_layers)
        self._list.look_picked.connect(self._stage.show_look)
        self._list.solo_picked.connect(self._stage.show_solo)
        self._list.smoothing_picked.connect(self._stage.show_smooth)
        self._stage.layers_changed.connect(self._show)
        self._stage.smoothing_changed.connect(self._show)
        column(self._list, within=self)
        self._show()

    def use_density(self, density: Density) -> None:
        """Hide the look controls at the simple density."""
        self._list.show_all(density is Density.FULL)

    def _show(self) -> None:
        self._list.show_layers(self._stage.layers)
        self._list.show_solo(self._stage.solo)
        self._list.show_smooth(self._stage.is_smooth)
        for layer in Layer:
            self._list.row(layer).show_look(self._stage.look_of(layer))


LayerT = TypeVar("LayerT", MapLayer, MaskLayer, BoxLayer, Profile)

DEPTH_OPACITY = 0.75
"""Keeps the objects visible through the depth map."""


def dressed(scene: PictureScene, run: OpenRun, stage: StageView) -> PictureScene:
    """Return the scene with each layer in its look.

    Args:
        scene: Content of a picture view.
        run: The run of the picture.
        stage: Looks and visible layers.
    """
    maps, masks, boxes, marginals = (
        stage.look_of(layer) for layer in (Layer.MAPS, Layer.MASKS, Layer.BOXES, Layer.MARGINALS)
    )
    return replace(
        scene,
        depth=_depth(run, stage),
        maps=tuple(_tinted(layer, maps) for layer in scene.maps),
        masks=tuple(_tinted(layer, masks) for layer in scene.masks),
        boxes=tuple(_tinted(layer, boxes) for layer in scene.boxes),
        profiles=tuple(_tinted(profile, marginals) for profile in scene.profiles),
    )


def _tinted(layer: LayerT, look: LayerLook) -> LayerT:
    if look == PLAIN_LOOK:
        return layer  # keep the identity: caches use it as a key
    hue = layer.hue if look.hue is None else look.hue
    return replace(layer, hue=hue, opacity=layer.opacity * look.opacity)


def _depth(run: OpenRun, stage: StageView) -> DepthLayer | None:
    depth = run.evaluation.perception.depth if run.evaluation else None
    if depth is None or Layer.DEPTH not in stage.visible:
        return None
    return DepthLayer(depth.nearness, DEPTH_OPACITY * stage.look_of(Layer.DEPTH).opacity)
