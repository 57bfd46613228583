"""Graphs of objects and predicates, of a prompt and of a picture, and their matching.

Created by ``science.scene_graph``; immutable, may cross threads.
"""

from enum import Enum

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.graph_settings import GraphSettings
from spatialstudio.domain.scene import MentionId, RelationId
from spatialstudio.domain.verdict import Box


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


VERB = "verb:"
"""First part of the names of relations that are no registered type: "verb:chasing"."""


@frozen
class GraphRelation:
    """A directed edge with its predicate.

    Attributes:
        subject: Id of an object.
        object: Id of another object.
        relation_type: Id of a relation type, its predicate; or ``VERB`` and words.
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


@frozen
class GraphArc:
    """A relation as an arc between two rows.

    Attributes:
        match: Index of its relation in the match.
        rows: Rows of subject and object.
        lane: Distance from the objects, from 0; arcs of one lane do not cross.
        label: The relation in words: "left of".
        state: Its relation to the other graph.
    """

    match: int
    rows: tuple[int, int]
    lane: int
    label: str
    state: MatchState

    @property
    def middle(self) -> float:
        """The row of its label, which may lie between two rows."""
        return sum(self.rows) / 2


@frozen
class GraphRow:
    """An object of the prompt next to the object of the picture that it is matched with.

    Attributes:
        wanted: The prompt's object in words: "red cup"; empty for an extra object.
        found: The picture's object in words; empty for a missing object.
        match: Their relation.
    """

    wanted: str
    found: str
    match: ObjectMatch


@frozen
class GraphRows:
    """Both graphs side by side. Created by ``science.scene_graph.rows``.

    Attributes:
        rows: One for each match of objects.
        wanted: Relations of the prompt.
        found: Relations between the matched objects of the picture.
    """

    rows: tuple[GraphRow, ...] = ()
    wanted: tuple[GraphArc, ...] = ()
    found: tuple[GraphArc, ...] = ()


MATCH_SIGNS = {
    MatchState.MATCHED: "=",
    MatchState.WRONG: "≠",
    MatchState.MISSING: "−",  # noqa: RUF001 - a minus sign
    MatchState.EXTRA: "+",
}
"""The sign of each state in figures and in the window."""
MATCH_COLOURS = {
    MatchState.MATCHED: "good",
    MatchState.WRONG: "bad",
    MatchState.MISSING: "bad",
    MatchState.EXTRA: "unsure",
}
"""The colour of each state in themes."""
