"""Stage 1: layout templates with a prompt and object positions, and edits of the layout sketch."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spatialstudio.application.compose.read_prompt import with_thing_added, with_thing_removed
from spatialstudio.application.compose.write_prompt import rewrite
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import PlaceTarget
from spatialstudio.domain.run_settings import SketchedPlaces
from spatialstudio.domain.scene import MentionId, ObjectMention, SceneGraph
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
PLACE_LENGTHS = (2, 3)
"""Numbers of a place: x, y, and the size if it is meant."""


@frozen(kw_only=False)
class Spot:
    """Position and size of an object in a layout's thumbnail.

    Attributes:
        x: Centre, share of the width, [0, 1].
        y: Centre, share of the height, [0, 1].
        size: Diameter, share of the side, (0, 1].
    """

    x: float
    y: float
    size: float = 0.34


@frozen(kw_only=False)
class LayoutTemplate:
    """A layout template.

    Attributes:
        name: Display name.
        text: Prompt template; ``{a0}`` is the first object with its article, ``{0}`` without.
        spots: One position per object, in the order of the text.
    """

    name: str
    text: str
    spots: tuple[Spot, ...]

    def prompt(self, things: Sequence[str] = ()) -> str:
        """Return the prompt with these objects; default objects fill the missing ones."""
        missing = [thing for thing in USUAL_THINGS if thing not in things]
        names = [*things, *missing][: len(self.spots)]
        articles = {
            f"a{place}": f"{indefinite_article(name)} {name}" for place, name in enumerate(names)
        }
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
    """Return the distinct object phrases of a scene, for use in a template."""
    if scene is None:
        return ()
    return tuple(dict.fromkeys(mention.phrase for mention in scene.mentions))


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


def arranged(scene: SceneGraph, kept: Places, places: SketchedPlaces | None = None) -> Places:
    """Return positions that satisfy the relations, sketched places unchanged; see ``arrange``."""
    held = {each.mention_id: each.place for each in places.targets} if places else {}
    return {**arrange(scene, {**kept, **held}, held=held.keys()), **held}


def hold_at(scene: SceneGraph, where: Places, places: SketchedPlaces) -> SketchedPlaces:
    """Return sketched places with every object of a scene held where it is; sizes stay."""
    for mention in scene.mentions:
        x, y = where[mention.id]
        held = places.target_of(mention.id)
        size = held.size if held else None
        places = places.with_target(PlaceTarget(mention_id=mention.id, x=x, y=y, size=size))
    return places.within(scene)


def graph_places(scene: SceneGraph) -> Places:
    """Return positions on a ring, each mention on the side that its relations require."""
    return on_a_ring(arrange(scene, {}))


def after_move(scene: SceneGraph, places: Places, moved: MentionId) -> SceneGraph:
    """Return the scene that a sketch shows after a move, with a prompt that states it.

    Args:
        scene: Scene before the move.
        places: Current positions.
        moved: The moved mention.
    """
    relations = relations_after(scene, places, moved)
    if relations == scene.relations:
        return scene
    return rewrite(replace(scene, relations=relations))


def after_adding(
    scene: SceneGraph, places: Places, thing: ObjectMention, place: Point
) -> tuple[SceneGraph, Places, MentionId]:
    """Add a mention to a sketch, related to its nearest neighbour if their positions show it.

    Args:
        scene: Scene before the change.
        places: Positions of its mentions.
        thing: The new mention, with an id and span of another prompt.
        place: Its position.

    Returns:
        The scene with a prompt that states it, all positions, and the id of the new mention.
    """
    known = {mention.id for mention in scene.mentions}
    grown = with_thing_added(scene, thing)
    (new,) = (mention.id for mention in grown.mentions if mention.id not in known)
    where = arrange(grown, {**arrange(scene, places), new: place})
    return after_move(grown, where, new), where, new


def after_removing(scene: SceneGraph, places: Places, gone: MentionId) -> tuple[SceneGraph, Places]:
    """Remove a mention from a sketch; all others keep their positions.

    Args:
        scene: Scene with at least two mentions.
        places: Positions of its mentions.
        gone: The mention to remove.

    Returns:
        The scene with a prompt that states it, and the positions of its mentions.
    """
    kept = {name: place for name, place in places.items() if name != gone}
    return with_thing_removed(scene, gone), kept


def targets_named(
    scene: SceneGraph, places: Mapping[str, Sequence[float]]
) -> tuple[PlaceTarget, ...]:
    """Return targets for objects that are given by name.

    Args:
        scene: Scene of the prompt.
        places: Phrase, noun or id of an object to x, y and, optionally, size; fractions of the
            sides.

    Raises:
        RequestError: A name fits no object or several, or a place is not two or three numbers.
    """
    targets = []
    for name, place in places.items():
        if len(place) not in PLACE_LENGTHS:
            raise RequestError(
                f'The place of "{name}" has {len(place)} numbers.',
                hint="Give x, y and, if it matters, the size, each from 0 to 1.",
            )
        x, y, *size = (float(each) for each in place)
        mention = mention_named(scene, name)
        targets.append(PlaceTarget(mention_id=mention.id, x=x, y=y, size=size[0] if size else None))
    return tuple(targets)


def places_for(scene: SceneGraph, places: SketchedPlaces, of_scene: SceneGraph) -> SketchedPlaces:
    """Return places of one reading for another one, whose mentions may have other ids.

    Args:
        scene: The scene to place.
        places: Sketched places.
        of_scene: Their scene; its first "dog" is the first "dog" of the other, and so on.
    """
    there, here = (_numbered_phrases(each) for each in (of_scene, scene))
    ids = {there[name]: here[name] for name in there.keys() & here.keys()}
    carried = (
        replace(each, mention_id=ids[each.mention_id])
        for each in places.targets
        if each.mention_id in ids
    )
    return replace(places, targets=tuple(carried))


def _numbered_phrases(scene: SceneGraph) -> Mapping[tuple[str, int], MentionId]:
    """Return the mentions by phrase and how many have the same phrase before them."""
    phrases = [mention.phrase for mention in scene.mentions]
    return {
        (mention.phrase, phrases[:place].count(mention.phrase)): mention.id
        for place, mention in enumerate(scene.mentions)
    }


def mention_named(scene: SceneGraph, name: str) -> ObjectMention:
    """Return the mention with a phrase, noun or id; a whole phrase precedes a noun.

    Raises:
        RequestError: No mention fits, or more than one.
    """
    wanted = name.strip().casefold()
    known = ", ".join(f'"{mention.phrase}"' for mention in scene.mentions)
    for sign in ("phrase", "head", "id"):
        found = [each for each in scene.mentions if getattr(each, sign).casefold() == wanted]
        if len(found) == 1:
            return found[0]
        if found:
            raise RequestError(
                f'"{name}" names {len(found)} objects of the prompt.',
                hint=f"Write the whole phrase or the id: {_ids_in_words(found)}.",
            )
    raise RequestError(
        f'The prompt does not mention "{name}".',
        hint=f"Name one of {known}." if known else "Mention it in the prompt.",
    )


def _ids_in_words(mentions: Sequence[ObjectMention]) -> str:
    return ", ".join(f'"{each.phrase}" is {each.id}' for each in mentions)


def named_in(text: str, thing: ObjectMention) -> str:
    """Append a mention to a prompt: "at night" becomes "at night, a cat"."""
    name = thing.phrase if thing.is_plural else f"{indefinite_article(thing.phrase)} {thing.phrase}"
    return ", ".join(part for part in (text.strip(), name) if part)
