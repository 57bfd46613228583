"""Stage 1, a dozen layouts to start from: a prompt each, and where its things stand."""

from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.application.compose.read_prompt import with_thing_added, with_thing_removed
from spatialstudio.application.compose.write_prompt import rewrite
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import MentionId, ObjectMention
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.science.guidance.noise_search import indefinite_article
from spatialstudio.science.scenes.layout import (
    BLOB_SIDE,
    Places,
    Point,
    arrange,
    free_place,
    on_a_ring,
    relations_after,
)

USUAL_THINGS = ("dog", "car", "clock")


@frozen(kw_only=False)
class Spot:
    """Where a thing stands in a layout's small picture.

    Attributes:
        x: Its middle, share of the width, [0, 1].
        y: Its middle, share of the height, [0, 1].
        size: Its diameter, share of the side, (0, 1].
    """

    x: float
    y: float
    size: float = 0.34


@frozen(kw_only=False)
class LayoutTemplate:
    """A layout to start from.

    Attributes:
        name: A few words.
        text: The prompt; ``{a0}`` stands for the first thing with its article, ``{0}`` without.
        spots: One for each thing, in the order of the text.
    """

    name: str
    text: str
    spots: tuple[Spot, ...]

    def prompt(self, things: Sequence[str] = ()) -> str:
        """Return the prompt for these things; the usual ones stand in for those that lack."""
        missing = [thing for thing in USUAL_THINGS if thing not in things]
        names = [*things, *missing][: len(self.spots)]
        articles = {f"a{place}": _with_article(name) for place, name in enumerate(names)}
        return self.text.format(*names, **articles)


LEFT, RIGHT, TOP, BOTTOM, MIDDLE = 0.26, 0.74, 0.27, 0.73, 0.5

LAYOUTS = (
    LayoutTemplate(
        "Left of", "{a0} to the left of {a1}", (Spot(LEFT, MIDDLE), Spot(RIGHT, MIDDLE))
    ),
    LayoutTemplate(
        "Right of", "{a0} to the right of {a1}", (Spot(RIGHT, MIDDLE), Spot(LEFT, MIDDLE))
    ),
    LayoutTemplate("Above", "{a0} above {a1}", (Spot(MIDDLE, TOP), Spot(MIDDLE, BOTTOM))),
    LayoutTemplate("Below", "{a0} below {a1}", (Spot(MIDDLE, BOTTOM), Spot(MIDDLE, TOP))),
    LayoutTemplate(
        "In front", "{a0} in front of {a1}", (Spot(0.4, 0.62, 0.4), Spot(0.62, 0.4, 0.3))
    ),
    LayoutTemplate("Behind", "{a0} behind {a1}", (Spot(0.62, 0.4, 0.3), Spot(0.4, 0.62, 0.4))),
    LayoutTemplate("Near", "{a0} near {a1}", (Spot(0.36, 0.5, 0.28), Spot(0.64, 0.5, 0.28))),
    LayoutTemplate(
        "Far apart", "{a0} far from {a1}", (Spot(0.17, 0.3, 0.22), Spot(0.83, 0.7, 0.22))
    ),
    LayoutTemplate(
        "Between",
        "{a0} between {a1} and {a2}",
        (Spot(MIDDLE, MIDDLE, 0.26), Spot(0.18, MIDDLE, 0.26), Spot(0.82, MIDDLE, 0.26)),
    ),
    LayoutTemplate(
        "Row of three",
        "{a0} to the left of {a1}, and {a2} to the right of the {1}",
        (Spot(0.18, MIDDLE, 0.26), Spot(MIDDLE, MIDDLE, 0.26), Spot(0.82, MIDDLE, 0.26)),
    ),
    LayoutTemplate(
        "Stack of three",
        "{a0} above {a1}, and {a2} below the {1}",
        (Spot(MIDDLE, 0.18, 0.26), Spot(MIDDLE, MIDDLE, 0.26), Spot(MIDDLE, 0.82, 0.26)),
    ),
    LayoutTemplate(
        "Corner",
        "{a0} above {a1}, and {a2} to the right of the {1}",
        (Spot(LEFT, TOP, 0.3), Spot(LEFT, BOTTOM, 0.3), Spot(RIGHT, BOTTOM, 0.3)),
    ),
)


def things_of(scene: SceneGraph | None) -> tuple[str, ...]:
    """Return what a scene names, each thing once, to be laid out anew."""
    if scene is None:
        return ()
    return tuple(dict.fromkeys(mention.phrase for mention in scene.mentions))


def _with_article(name: str) -> str:
    return f"{indefinite_article(name)} {name}"


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
