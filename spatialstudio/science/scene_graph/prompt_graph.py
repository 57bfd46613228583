"""The target graph of a prompt: objects with attributes, counts expanded, and their relations.

Source: the scene-graph score of PSG-Bench ("Leveraging Panoptic Scene Graph for Evaluating
Fine-Grained Text-to-Image Generation"), of which only the supplement is published; the rules here
are ours. A relation of several objects holds for each of them. "between" becomes a relation to
each of its two objects.
"""

from collections.abc import Collection

from spatialstudio.domain.graph_match import (
    GraphObject,
    GraphRelation,
    ObjectGraph,
)
from spatialstudio.domain.graph_settings import GraphSettings
from spatialstudio.domain.requirements import Requirements, is_member, requirements_of
from spatialstudio.domain.scene import ObjectMention, Relation, SceneGraph

STUFF = frozenset(
    {
        *("sky", "grass", "ground", "road", "street", "path", "sidewalk", "pavement", "wall"),
        *("water", "sea", "ocean", "lake", "river", "mountain", "hill", "sand", "beach", "snow"),
        *("floor", "ceiling", "field", "meadow", "lawn", "earth", "soil", "background", "forest"),
        *("cloud", "fog", "horizon", "landscape", "desert", "curtain", "window", "room", "carpet"),
    }
)
"""Nouns of regions without a shape of their own, which count as background."""


def prompt_graph(scene: SceneGraph, settings: GraphSettings) -> ObjectGraph:
    """Return the graph that a prompt requires.

    Args:
        scene: The scene graph.
        settings: ``most_objects`` limits quantities such as "a hundred"; a note says so.
    """
    copies: dict[str, list[GraphObject]] = {}
    notes = []
    for mention in scene.mentions:
        required = requirements_of(scene, mention.id)
        count = _count(mention, required)
        if count > settings.most_objects:
            notes.append(f"{mention.head}: {settings.most_objects} of {count} are compared.")
        in_front = is_thing(kind_of(mention), settings)
        copies[mention.id] = _objects(
            mention, required, min(count, settings.most_objects), in_front
        )
    return ObjectGraph(
        objects=tuple(thing for group in copies.values() for thing in group),
        relations=tuple(
            dict.fromkeys(
                each for relation in scene.relations for each in _relations(relation, copies)
            )
        ),
        notes=tuple(notes),
    )


def open_kinds(scene: SceneGraph) -> Collection[str]:
    """Return the classes of which a prompt allows any number of further objects."""
    required = ((each, requirements_of(scene, each.id).quantity) for each in scene.mentions)
    return {
        kind_of(mention) for mention, quantity in required if quantity and quantity.most is None
    }


def is_thing(kind: str, settings: GraphSettings) -> bool:
    """Return True for a class of the foreground, False for one of the background."""
    background = settings.background_classes
    return kind.split()[-1] not in (STUFF if background is None else background)


def kind_of(mention: ObjectMention) -> str:
    """Return the class of a mention."""
    return mention.head.lower()


def _count(mention: ObjectMention, required: Requirements) -> int:
    if required.quantity is None or is_member(mention):
        return 1
    return required.quantity.least


def _objects(
    mention: ObjectMention, required: Requirements, count: int, is_foreground: bool
) -> list[GraphObject]:
    words = (*(colour.words for colour in required.colours), *required.others)
    return [
        GraphObject(
            id=mention.id if count == 1 else f"{mention.id}.{place + 1}",
            kind=kind_of(mention),
            attributes=frozenset(word.lower() for word in words),
            is_foreground=is_foreground,
            mention_id=mention.id,
        )
        for place in range(count)
    ]


def _relations(relation: Relation, copies: dict[str, list[GraphObject]]) -> list[GraphRelation]:
    return [
        GraphRelation(
            subject=subject.id,
            object=other.id,
            relation_type=relation.type.id,
            relation_id=relation.id,
        )
        for subject in copies[relation.subject]
        for end in dict.fromkeys(relation.ends[1:])
        for other in copies[end]
        if other.id != subject.id
    ]
