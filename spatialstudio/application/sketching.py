"""The layout sketch: where the things of a scene stand, and what a moved thing claims."""

from dataclasses import replace

from spatialstudio.application.flow.read_prompt import with_thing_added, with_thing_removed
from spatialstudio.application.flow.write_prompt import rewrite
from spatialstudio.domain.prompt import MentionId, ObjectMention
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.science.articles import indefinite_article
from spatialstudio.science.layout_sketch import (
    BLOB_SIDE,
    Places,
    Point,
    arrange,
    free_place,
    on_a_ring,
    relations_after,
)

__all__ = [
    "BLOB_SIDE",
    "Places",
    "Point",
    "after_adding",
    "after_move",
    "after_removing",
    "arranged",
    "free_place",
    "graph_places",
    "named_in",
]


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


def after_adding(
    scene: SceneGraph, places: Places, thing: ObjectMention, place: Point
) -> tuple[SceneGraph, Places, MentionId]:
    """Put another thing on a sketch; it is related to its nearest neighbour, where it shows that.

    Args:
        scene: What was claimed.
        places: Where its things stand.
        thing: The new one; its id and span are those of another prompt.
        place: Where it shall stand.

    Returns:
        The scene with the words that say it, where all stand now, and the id of the new thing.
    """
    known = {mention.id for mention in scene.mentions}
    grown = with_thing_added(scene, thing)
    (new,) = (mention.id for mention in grown.mentions if mention.id not in known)
    where = arrange(grown, {**arrange(scene, places), new: place})
    return after_move(grown, where, new), where, new


def after_removing(scene: SceneGraph, places: Places, gone: MentionId) -> tuple[SceneGraph, Places]:
    """Take a thing from a sketch; all others stay where they stand.

    Args:
        scene: What was claimed, of two things or more.
        places: Where its things stand.
        gone: The thing to take away.

    Returns:
        The scene with the words that say it, and where its things stand.
    """
    kept = {name: place for name, place in places.items() if name != gone}
    return with_thing_removed(scene, gone), kept


def named_in(text: str, thing: ObjectMention) -> str:
    """Return a prompt that names a thing behind what it says already: "at night, a cat"."""
    name = thing.phrase if thing.is_plural else f"{indefinite_article(thing.phrase)} {thing.phrase}"
    return ", ".join(part for part in (text.strip(), name) if part)
