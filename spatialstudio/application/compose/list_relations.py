"""A scene as plain data for files and comparison: names and basic relations only."""

from collections import Counter
from collections.abc import Mapping

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    MentionId,
    ObjectMention,
    RelationType,
    SceneGraph,
    relation_types,
)


@frozen
class ListedRelation:
    """A relation by names. A diagonal is listed as two relations.

    Attributes:
        subject: Name of the subject.
        type: Basic relation type, never a diagonal.
        objects: Name of the object; two names for "between".
    """

    subject: str
    type: RelationType
    objects: tuple[str, ...]

    def as_fields(self) -> dict[str, object]:
        """Return the fields of a JSON object; "between" lists its objects, others name theirs."""
        first, *rest = self.objects
        return {
            "subject": self.subject,
            "relation": self.type.id,
            "object": [first, *rest] if rest else first,
        }


def list_relations(scene: SceneGraph) -> tuple[ListedRelation, ...]:
    """List the relations of a scene in its order, with diagonals decomposed."""
    names = names_of(scene)
    return tuple(
        ListedRelation(
            subject=names[relation.subject],
            type=basic_type,
            objects=tuple(names[end] for end in relation.ends[1:]),
        )
        for relation in scene.relations
        for basic_type in _basic_types(relation.type)
    )


def names_of(scene: SceneGraph) -> Mapping[MentionId, str]:
    """Return a name for each mention: its head, with its attributes if the head is not unique."""
    heads = Counter(mention.head for mention in scene.mentions)
    return {
        mention.id: _full_name(mention) if heads[mention.head] > 1 else mention.head
        for mention in scene.mentions
    }


def _full_name(mention: ObjectMention) -> str:
    return " ".join([*mention.attributes, mention.head]).lower()


def _basic_types(relation_type: RelationType) -> tuple[RelationType, ...]:
    """Return the types on single axes that a diagonal consists of."""
    if len(relation_type.claims) <= 1:
        return (relation_type,)
    basic = [each for each in relation_types if each.axis is not None]
    return tuple(
        next(each for each in basic if each.claims == (claim,)) for claim in relation_type.claims
    )
