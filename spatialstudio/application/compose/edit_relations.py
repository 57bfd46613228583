"""Stage 1: edits of a relation's mentions, order, weight and muting."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.application.compose.compare_readings import keep_taken_up, keep_things
from spatialstudio.application.compose.write_prompt import rewrite
from spatialstudio.domain.scene import (
    BY_HAND,
    HEAVIEST,
    LIGHTEST,
    Basis,
    MentionId,
    Relation,
    RelationId,
    SceneGraph,
    TextSpan,
)

WEIGHT_STEP = 2.0
"""One step up doubles a weight, one step down halves it."""

READERS = {"grammar": "The grammar", "llm": "A language model"}

SURENESS = {
    Basis.STATED: " High confidence: stated in the prompt.",
    Basis.IMPLIED: " Lower confidence: implied, not stated.",
    Basis.UNCONFIRMED: " Lower confidence: the grammar reads these words differently.",
    Basis.UNSAID: "",
}

Claim = tuple[str, tuple[str, ...], int]


def with_relation_swapped(scene: SceneGraph, relation_id: RelationId) -> SceneGraph:
    """Swap subject and object, which reverses the relation."""
    old = relation_of(scene, relation_id)
    return _with(scene, replace(old, subject=old.object, object=old.subject, source=BY_HAND))


def with_relation_end(
    scene: SceneGraph, relation_id: RelationId, place: int, mention_id: MentionId
) -> SceneGraph:
    """Replace one mention of a relation; if it takes part in the relation already, the two swap.

    Args:
        scene: The scene.
        relation_id: Relation to edit.
        place: 0 for the subject, then the objects.
        mention_id: The new mention.
    """
    old = relation_of(scene, relation_id)
    ends = [old.ends[place] if end == mention_id else end for end in old.ends]
    ends[place] = mention_id
    if tuple(ends) == old.ends:
        return scene
    subject, thing, *flank = ends
    second = flank[0] if flank else None
    new = replace(old, subject=subject, object=thing, second_object=second, source=BY_HAND)
    return _with(scene, new)


def with_relation_weight(scene: SceneGraph, relation_id: RelationId, weight: float) -> SceneGraph:
    """Set the guidance weight of a relation; the prompt is unchanged.

    Args:
        scene: The scene.
        relation_id: Relation to edit.
        weight: Clamped to ``LIGHTEST`` to ``HEAVIEST``.
    """
    weight = min(max(weight, LIGHTEST), HEAVIEST)
    return _same_words(scene, replace(relation_of(scene, relation_id), weight=weight))


def with_mention_weighed(scene: SceneGraph, mention_id: MentionId, steps: int) -> SceneGraph:
    """Raise the weight of every relation of a mention, or lower it for negative steps."""
    for relation in scene.relations:
        if mention_id in relation.ends:
            weight = relation.weight * WEIGHT_STEP**steps
            scene = with_relation_weight(scene, relation.id, weight)
    return scene


def with_relation_muted(scene: SceneGraph, relation_id: RelationId, muted: bool) -> SceneGraph:
    """Exclude a relation from guidance, or include it again; the prompt is unchanged."""
    return _same_words(scene, replace(relation_of(scene, relation_id), is_muted=muted))


def with_relation_at(scene: SceneGraph, relation_id: RelationId, place: int) -> SceneGraph:
    """Move a relation to another position in the list; the prompt is unchanged.

    Args:
        scene: The scene.
        relation_id: Relation to move.
        place: Index from 0; clamped to the list.
    """
    moved = relation_of(scene, relation_id)
    others = [each for each in scene.relations if each is not moved]
    others.insert(max(place, 0), moved)
    return replace(scene, relations=tuple(others))


def keep_hand(scene: SceneGraph, before: SceneGraph | None) -> SceneGraph:
    """Return a new reading with the previous mention ids, relation weights and mutes.

    Relations are matched by type and mention names, the second of two equal ones to the second.
    Relations accepted from other readings stay while their words do.
    """
    if before is None:
        return scene
    scene = keep_things(scene, before)
    known = dict(zip(_claims(before), before.relations, strict=True))
    kept = (
        _as_before(each, known.get(claim))
        for claim, each in zip(_claims(scene), scene.relations, strict=True)
    )
    return keep_taken_up(replace(scene, relations=tuple(kept)), before)


def why(scene: SceneGraph, relation: Relation) -> str:
    """Return the origin of a relation for display: words, reader and confidence."""
    source = scene.source_of(relation)
    reader = READERS.get(source, f'"{source}"')
    if source == BY_HAND:
        claimed, said = "Set by you", "; the prompt says it as"
    elif relation.is_implied:
        claimed, said = f"{reader} inferred it", " by"
    else:
        claimed, said = f"{reader} {'found' if relation.span else 'added'} it", " in"
    if relation.span is None:
        return f"{claimed}; the prompt does not state it."
    words = relation.span.of(scene.prompt.text)
    where = f"characters {relation.span.start + 1} to {relation.span.stop}"
    return f'{claimed}{said} "{words}", {where}.{_sureness(scene, relation)}'


def _sureness(scene: SceneGraph, relation: Relation) -> str:
    """Return the confidence of a reading from its basis; empty for the user's edits."""
    if scene.source_of(relation) == BY_HAND:
        return ""
    read = [relation.span, *(scene.mention(end).span for end in relation.ends)]
    doubts = [note.message for note in scene.notes if any(_share(note.span, each) for each in read)]
    return f" Lower confidence: {' '.join(doubts)}" if doubts else SURENESS[relation.basis]


def _share(first: TextSpan | None, second: TextSpan | None) -> bool:
    """Return True if two spans overlap."""
    if first is None or second is None:
        return False
    return first.start < second.stop and second.start < first.stop


def relation_of(scene: SceneGraph, relation_id: RelationId) -> Relation:
    """Return a relation of a scene by its id.

    Raises:
        StopIteration: There is no such relation.
    """
    return next(relation for relation in scene.relations if relation.id == relation_id)


def _as_before(relation: Relation, old: Relation | None) -> Relation:
    if old is None:
        return relation
    return replace(relation, weight=old.weight, is_muted=old.is_muted)


def _with(scene: SceneGraph, new: Relation) -> SceneGraph:
    return rewrite(_same_words(scene, new))


def _same_words(scene: SceneGraph, new: Relation) -> SceneGraph:
    relations = (new if each.id == new.id else each for each in scene.relations)
    return replace(scene, relations=tuple(relations))


def _claims(scene: SceneGraph) -> Sequence[Claim]:
    claims, earlier = list[Claim](), Counter[tuple[str, tuple[str, ...]]]()
    heads = {mention.id: mention.head for mention in scene.mentions}
    for relation in scene.relations:
        said = relation.type.id, tuple(heads[end] for end in relation.ends)
        claims.append((*said, earlier[said]))
        earlier[said] += 1
    return claims
