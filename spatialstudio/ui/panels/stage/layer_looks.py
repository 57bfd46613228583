"""Draws a picture's layers as the user wants each of them: opacity, hue, and depth under them."""

from dataclasses import replace
from typing import TypeVar

from spatialstudio.application.session import OpenRun
from spatialstudio.ui.stage_view import StageView
from spatialstudio.ui.widgets.stage.picture_layers import (
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

LayerT = TypeVar("LayerT", MapLayer, MaskLayer, BoxLayer, Profile)

DEPTH_OPACITY = 0.75
"""Lets the things be seen through it."""


def dressed(scene: PictureScene, run: OpenRun, stage: StageView) -> PictureScene:
    """Return what a picture view shows, each layer in its look.

    Args:
        scene: What lies on the picture.
        run: Whose picture it is.
        stage: Knows the looks and what is in sight.
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
        return layer  # what is cached by identity stays so
    hue = layer.hue if look.hue is None else look.hue
    return replace(layer, hue=hue, opacity=layer.opacity * look.opacity)


def _depth(run: OpenRun, stage: StageView) -> DepthLayer | None:
    depth = run.evaluation.perception.depth if run.evaluation else None
    if depth is None or Layer.DEPTH not in stage.in_sight:
        return None
    return DepthLayer(depth.nearness, DEPTH_OPACITY * stage.look_of(Layer.DEPTH).opacity)
