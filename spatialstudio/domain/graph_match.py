"""Graphs of objects and predicates, of a prompt and of a picture, and their matching.

Created by ``science.scene_graph``; immutable, may cross threads.
"""

from enum import Enum

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import MentionId, RelationId
from spatialstudio.domain.verdict import Box


class EdgeGround(Enum):
    """The ground, foreground or background, that a relation counts for."""

    SUBJECT = "subject"
    """That of its subject."""
    BOTH = "both"
    """The foreground only if both its objects are in the foreground."""


class Unjudged(Enum):
    """Treatment of attributes that nothing in the perception can judge, such as "wooden"."""

    LEFT_OUT = "left out"
    MISSING = "missing"


@frozen
class GraphSettings:
    """Every choice that the published description of the score leaves open.

    Attributes:
        least_pse: PSE from which a predicate of order holds in the picture, [0, 1].
        near_gap: Largest gap of near boxes, fraction of the image diagonal.
        far_gap: Smallest gap of far boxes, fraction of the image diagonal.
        least_colour: Predominance from which an object has a colour, [0, 1].
        least_answer: Probability of "yes" from which an object has another attribute, [0, 1].
        saliency_share: Share of an object's mask in the saliency mask from which it is in the
            foreground, [0, 1]. Without a saliency mask the class decides: things are in the
            foreground, stuff such as sky or grass is in the background.
        most_objects: Most objects that one quantity expands to.
        unjudged: Treatment of attributes that cannot be judged.
        charges_open_counts: Whether further objects cost something where the prompt states an
            open quantity ("dogs", "at least two dogs").
        synonyms: Groups of class names that count as one class.
        attribute_cost: Cost of a matched object with none of its attributes.
        missing_object: Cost of an object that the picture lacks.
        extra_foreground: Cost of a further object in the foreground.
        extra_background: Cost of a further object in the background.
        missing_relation: Cost of a relation whose objects are missing or not related.
        family_cost: Cost of a relation of which only some claims hold, such as "above" for
            "above and to the left of".
        wrong_relation: Cost of a relation with another or the opposite predicate.
        extra_relation: Cost of a further relation.
        edge_ground: The ground that a relation counts for.
        exact_objects: Most objects of either graph for the exact distance.
        exact_seconds: Time limit of the exact search; beyond it the distance is approximate.
    """

    least_pse: float = 0.5
    near_gap: float = 0.1
    far_gap: float = 0.3
    least_colour: float = 0.5
    least_answer: float = 0.5
    saliency_share: float = 0.5
    most_objects: int = 24
    unjudged: Unjudged = Unjudged.LEFT_OUT
    charges_open_counts: bool = False
    synonyms: tuple[tuple[str, ...], ...] = ()
    attribute_cost: float = 0.5
    missing_object: float = 1.0
    extra_foreground: float = 0.1
    extra_background: float = 0.0
    missing_relation: float = 1.0
    family_cost: float = 0.5
    wrong_relation: float = 1.0
    extra_relation: float = 0.0
    edge_ground: EdgeGround = EdgeGround.SUBJECT
    exact_objects: int = 10
    exact_seconds: float = 2.0


@frozen
class GraphObject:
    """A node: one object of a prompt or of a picture.

    Attributes:
        id: Unique in its graph: "m1" or "m1.2" of a prompt, "cup.1" of a picture.
        kind: Its class, a singular noun in lower case.
        attributes: Required of a prompt's object; present in a picture's object.
        unjudged: Attributes that could not be judged in a picture.
        is_foreground: Whether it is in the foreground.
        mention_id: The mention that it was created from or detected for.
        box: Its bounding box in the picture, pixels; None in a prompt.
        is_free: Whether it costs nothing as a further object: its class has an open quantity.
    """

    id: str
    kind: str
    attributes: frozenset[str] = frozenset()
    unjudged: frozenset[str] = frozenset()
    is_foreground: bool = True
    mention_id: MentionId | None = None
    box: Box | None = None
    is_free: bool = False


@frozen
class GraphRelation:
    """A directed edge with its predicate.

    Attributes:
        subject: Id of an object.
        object: Id of another object.
        relation_type: Id of a relation type, its predicate.
        relation_id: The scene's relation that it was created from; None in a picture.
    """

    subject: str
    object: str
    relation_type: str
    relation_id: RelationId | None = None


@frozen
class ObjectGraph:
    """Objects and their relations; at most one relation of a predicate from one to another.

    Attributes:
        objects: The nodes.
        relations: The edges.
        notes: What was left out, one sentence each.
    """

    objects: tuple[GraphObject, ...] = ()
    relations: tuple[GraphRelation, ...] = ()
    notes: tuple[str, ...] = ()


class MatchState(Enum):
    """The relation of a part of one graph to the other graph."""

    MATCHED = "matched"
    WRONG = "wrong"
    """The object lacks attributes; the objects are related otherwise."""
    MISSING = "missing"
    EXTRA = "extra"


@frozen
class ObjectMatch:
    """An object of the prompt with that of the picture.

    Attributes:
        target: Id in the prompt's graph; None for an extra object.
        found: Id in the picture's graph; None for a missing object.
        state: Their relation.
        cost: Its part of the edit distance.
        similarity: Jaccard index of the judged attributes, [0, 1]; None without any.
    """

    target: str | None
    found: str | None
    state: MatchState
    cost: float
    similarity: float | None = None


@frozen
class RelationMatch:
    """A relation of the prompt with what holds in the picture.

    Attributes:
        target: Relation of the prompt's graph; None for an extra relation.
        found: Ids of the objects in the picture; None where one is missing.
        predicates: Predicates that hold between them, sorted.
        state: Their relation.
        cost: Its part of the edit distance.
    """

    target: GraphRelation | None
    found: tuple[str, str] | None
    predicates: tuple[str, ...]
    state: MatchState
    cost: float


@frozen
class GraphMatch:
    """The scene-graph score of a picture, with the matching behind it.

    Attributes:
        target: Graph of the prompt.
        picture: Graph of the picture.
        objects: Every object of both graphs.
        relations: Every relation of the prompt, then the extra ones.
        distance: Graph edit distance, or an upper bound of it.
        most: Distance of the trivial edit: everything deleted, everything inserted.
        score: 1 - distance / most, [0, 1].
        object_score: The same over objects, attributes not counted.
        attribute_score: Mean Jaccard index of objects with attributes, 0 for missing ones; None
            without attributes that can be judged.
        relation_score: The same as ``score`` over relations; None without relations.
        foreground: The same as ``score`` over the foreground; None where it is empty.
        background: The same over the background.
        weighted: Foreground and background, weighted by the prompt's objects of each, [0, 1].
        is_exact: Whether ``distance`` is the smallest; else it is approximate.
        settings: The settings.
    """

    target: ObjectGraph
    picture: ObjectGraph
    objects: tuple[ObjectMatch, ...]
    relations: tuple[RelationMatch, ...]
    distance: float
    most: float
    score: float
    object_score: float
    attribute_score: float | None
    relation_score: float | None
    foreground: float | None
    background: float | None
    weighted: float
    is_exact: bool
    settings: GraphSettings
