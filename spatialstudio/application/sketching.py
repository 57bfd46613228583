"""The layout sketch: where the things of a scene stand, and what a moved thing claims."""

from dataclasses import replace

from spatialstudio.application.flow.write_prompt import rewrite
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.science.layout_sketch import (
    BLOB_SIDE,
    Places,
    Point,
    arrange,
    on_a_ring,
    relations_after,
)

__all__ = ["BLOB_SIDE", "Places", "Point", "after_move", "arranged", "graph_places"]


def arranged(scene: SceneGraph, kept: Places) -> Places:
    """Place all things so that the relations are shown; see ``arrange``."""
    return arrange(scene, kept)


def graph_places(scene: SceneGraph) -> Places:
    """Place all things on a ring, each on the side that its relations ask for."""
    return on_a_ring(arrange(scene, {}))


def after_move(scene: SceneGraph, places: Places, moved: MentionId) -> SceneGraph:
    """Return the scene that a sketch says after a thing was moved; its prompt says it as well.

    Args:
        scene: What was claimed.
        places: Where all things stand now.
        moved: The thing that was moved.
    """
    relations = relations_after(scene, places, moved)
    if relations == scene.relations:
        return scene
    return rewrite(replace(scene, relations=relations))
