"""Comparison of two readings of a prompt; differences are offered to the user, not applied.

The grammar reads at once, a language model later. Relations in both readings stay; relations that
the user edited or accepted are never offered for removal, and stay while the prompt is extended.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    BY_HAND,
    Basis,
    MentionId,
    Note,
    ObjectMention,
    Relation,
    RelationId,
    SceneGraph,
    Shape,
    TextSpan,
    free_mention_id,
    relation_types,
)

ADDITIONS = {
    Basis.STATED: 'It may also state "{sentence}".',
    Basis.IMPLIED: 'It may imply "{sentence}" without stating it.',
    Basis.UNCONFIRMED: 'It may state "{sentence}", which the grammar cannot confirm.',
    Basis.UNSAID: 'Another extractor found "{sentence}", which is not in the prompt.',
}


@frozen
class Offer:
    """A difference between two readings, which the user may accept.

    Attributes:
        message: One sentence for the user.
        added: Relation of the later reading only; None for a removal.
        removed: Relation that the later reading lacks or reads differently; None for an addition.
        mentions: Mentions of the added relation that are new in the scene.
    """

    message: str
    added: Relation | None = None
    removed: RelationId | None = None
    mentions: tuple[ObjectMention, ...] = ()


@frozen
class ComparedReading:
    """Result of comparing a later reading with the shown scene.

    Attributes:
        scene: The scene to show.
        offers: Differences between the readings; empty if they agree.
        notes: Other notes of the later reading.
    """

    scene: SceneGraph
    offers: tuple[Offer, ...] = ()
    notes: tuple[Note, ...] = ()


def compare_readings(shown: SceneGraph, later: SceneGraph) -> ComparedReading:
    """Compare a later reading with the shown scene.

    A later reading that agrees replaces the scene, with its notes; one that differs leaves the
    scene unchanged and yields offers. A reading of another text yields nothing.
    """
    if shown.prompt.text != later.prompt.text:
        return ComparedReading(scene=shown)
    names = _shown_names(shown, later)
    read = [_renamed(relation, names) for relation in later.relations]
    new = [one for one in read if not _is_among(one, shown.relations)]
    disputed = [_renamed(relation, names) for relation in later.disputed]
    doubted = [one for one in shown.relations if not one.source and not _is_among(one, read)]
    offers = (
        *(_addition(one, shown, later, names) for one in new),
        *(
            Offer(message=f'It may not state "{shown.sentence(one)}".', removed=one.id)
            for one in doubted
        ),
        *(
            _replacement(one, shown, later, names)
            for one in disputed
            if not _is_among(one, shown.relations)
        ),
    )
    if offers:
        notes = tuple(note for note in later.notes if note not in shown.notes)
        return ComparedReading(scene=shown, offers=offers, notes=notes)
    agreed = replace(shown, extractor_id=later.extractor_id, notes=later.notes)
    return ComparedReading(scene=agreed)


def dispute_in_words(claim: Relation, scene: SceneGraph) -> str:
    """Describe how a relation from a language model differs from the words of the prompt.

    Args:
        claim: A relation that contradicts the prompt's words.
        scene: Scene with its mentions and the grammar's relations.
    """
    words = claim.span.of(scene.prompt.text) if claim.span else ""
    reads = f'interprets "{words}" as' if words else "claims"
    claimed = f'The language model {reads} "{scene.sentence(claim)}"'
    others = [each for each in scene.contested_by(claim) if scene.source_of(each) == "grammar"]
    read = " and ".join(f'"{scene.sentence(each)}"' for each in others)
    return f"{claimed}; the grammar finds {read or 'no such relation'}."


def accept(scene: SceneGraph, offer: Offer) -> SceneGraph:
    """Apply an offer; the prompt is unchanged, as both readings are of it."""
    known = {mention.id for mention in scene.mentions}
    new = [mention for mention in offer.mentions if mention.id not in known]
    mentions = sorted([*scene.mentions, *new], key=lambda mention: mention.span.start)
    relations = [each for each in scene.relations if each.id != offer.removed]
    if offer.added is not None:
        relations.append(replace(offer.added, id=_free_id(relations)))
    return replace(scene, mentions=tuple(mentions), relations=tuple(relations))


def is_typed_on(before: str, text: str) -> bool:
    """Return True if a prompt is a small edit of the previous one."""
    return _Edit(before, text).is_small


def not_dismissed(offers: Iterable[Offer], dismissed: Iterable[str]) -> tuple[Offer, ...]:
    """Return the offers that the user has not dismissed, by message and without duplicates."""
    gone = Counter(dismissed)
    kept = []
    for offer in offers:
        if gone[offer.message]:
            gone[offer.message] -= 1
        else:
            kept.append(offer)
    return tuple(kept)


def keep_things(scene: SceneGraph, before: SceneGraph) -> SceneGraph:
    """Return a new reading whose mentions keep their previous ids.

    A mention is matched by its words if they are unchanged, else by its name; a new mention gets
    the first free id.
    """
    edit = _Edit(before.prompt.text, scene.prompt.text)
    signs: tuple[Callable[[ObjectMention, ObjectMention], bool], ...] = (
        lambda old, new: _is_untouched(old, new, edit),
        lambda old, new: (old.head, old.attributes) == (new.head, new.attributes),
        lambda old, new: old.head == new.head,
    )
    known, names = list(before.mentions), dict[MentionId, MentionId]()
    for is_same in signs:
        for new in [each for each in scene.mentions if each.id not in names]:
            same = next((old for old in known if is_same(old, new)), None)
            if same is not None:
                names[new.id] = same.id
                known.remove(same)
    taken = set(names.values())
    for new in scene.mentions:
        if new.id not in names:
            names[new.id] = free_mention_id(taken)
            taken.add(names[new.id])
    return replace(
        scene,
        mentions=tuple(replace(each, id=names[each.id]) for each in scene.mentions),
        relations=tuple(_renamed(each, names) for each in scene.relations),
    )


def keep_taken_up(scene: SceneGraph, before: SceneGraph) -> SceneGraph:
    """Return a new reading with the relations that the user accepted from other readers.

    They are kept while the prompt is extended and their words are unchanged; they are dropped with
    another prompt.
    """
    taken_up = [old for old in before.relations if old.source not in ("", BY_HAND)]
    if not taken_up:
        return scene
    edit = _Edit(before.prompt.text, scene.prompt.text)
    names = {each.id: _same_thing(each, edit, scene) for each in before.mentions}
    relations = list(scene.relations)
    for old in taken_up:
        span = edit.moved(old.span)
        if not edit.is_small or (span is None and old.span is not None):
            continue
        ends = {end: name for end in old.ends if (name := names[end]) is not None}
        if len(ends) == len({*old.ends}):
            kept = replace(_renamed(old, ends), id=_free_id(relations), span=span)
            if kept.is_unconfirmed:
                relations = [each for each in relations if not _is_replaced(each, kept)]
            relations += [] if _is_among(kept, relations) else [kept]
    return replace(scene, relations=tuple(relations))


def _is_replaced(relation: Relation, taken_up: Relation) -> bool:
    """Return True if an accepted offer replaces this relation of a new reading."""
    return not relation.source and set(relation.ends) == set(taken_up.ends)


class _Edit:
    """The edit between two texts, as one changed range between a common prefix and suffix.

    Args:
        old: The text before.
        new: The text after.
    """

    def __init__(self, old: str, new: str) -> None:
        self._head = _length_alike(old, new)
        room = min(len(old), len(new)) - self._head
        tail = _length_alike(old[::-1], new[::-1])
        self._tail_start = len(old) - min(tail, room)
        self._shift = len(new) - len(old)
        self.is_small = self._tail_start - self._head <= len(old) / 2

    def moved(self, span: TextSpan | None) -> TextSpan | None:
        """Return a span of the old text in the new text; None if it was changed."""
        if span is None or span.stop <= self._head:
            return span
        if span.start < self._tail_start:
            return None
        return TextSpan(start=span.start + self._shift, stop=span.stop + self._shift)


def _is_untouched(old: ObjectMention, new: ObjectMention, edit: _Edit) -> bool:
    span = edit.moved(old.span)
    return span is not None and _overlap(span, new.span)


def _length_alike(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _same_thing(old: ObjectMention, edit: _Edit, scene: SceneGraph) -> MentionId | None:
    """Return the id of a previous mention in a new reading; None if it is gone."""
    span = edit.moved(old.span)
    same = (
        each.id
        for each in scene.mentions
        if span is not None and _overlap(each.span, span) and each.head == old.head
    )
    return next(same, None)


def _shown_names(shown: SceneGraph, later: SceneGraph) -> Mapping[MentionId, MentionId]:
    """Map the mentions of a later reading to their ids in the scene, or to new ids."""
    names: dict[MentionId, MentionId] = {}
    taken = {mention.id for mention in shown.mentions}
    for mention in later.mentions:
        same = next((one.id for one in shown.mentions if _overlap(one.span, mention.span)), None)
        names[mention.id] = same or free_mention_id(taken)
        taken.add(names[mention.id])
    return names


def _overlap(one: TextSpan, other: TextSpan) -> bool:
    return one.start < other.stop and other.start < one.stop


def _free_id(relations: Sequence[Relation]) -> RelationId:
    taken = {relation.id for relation in relations}
    numbers = range(1, len(taken) + 2)
    return next(name for n in numbers if (name := RelationId(f"r{n}")) not in taken)


def _renamed(relation: Relation, names: Mapping[MentionId, MentionId]) -> Relation:
    second = relation.second_object
    return replace(
        relation,
        subject=names[relation.subject],
        object=names[relation.object],
        second_object=None if second is None else names[second],
    )


def _is_among(relation: Relation, others: Sequence[Relation]) -> bool:
    return any(_says_the_same(relation, other) for other in others)


def _says_the_same(one: Relation, other: Relation) -> bool:
    """Return True if two relations are equivalent, in the same words or from the inverse side.

    Part of a diagonal equals the diagonal, as readers may decompose it.
    """
    if one.type.shape is Shape.BETWEEN or other.type.shape is Shape.BETWEEN:
        same_flanks = one.subject == other.subject and set(one.ends) == set(other.ends)
        return one.type == other.type and same_flanks
    if one.ends == other.ends:
        their_type = other.type
    elif one.ends == other.ends[::-1]:
        their_type = relation_types.inverse(other.type)
    else:
        return False
    ours, theirs = set(one.type.claims), set(their_type.claims)
    return one.type == their_type or bool(ours and theirs and (ours <= theirs or theirs <= ours))


def _addition(
    relation: Relation,
    shown: SceneGraph,
    later: SceneGraph,
    names: Mapping[MentionId, MentionId],
) -> Offer:
    known = {mention.id for mention in shown.mentions}
    new = tuple(
        replace(mention, id=names[mention.id])
        for mention in later.mentions
        if names[mention.id] in {*relation.ends} - known
    )
    both = replace(shown, mentions=(*shown.mentions, *new))
    return Offer(
        message=ADDITIONS[relation.basis].format(sentence=both.sentence(relation)),
        added=replace(relation, source=later.extractor_id),
        mentions=new,
    )


def _replacement(
    claim: Relation,
    shown: SceneGraph,
    later: SceneGraph,
    names: Mapping[MentionId, MentionId],
) -> Offer:
    """Offer a relation that contradicts the prompt's words, in place of the grammar's relation."""
    addition = _addition(claim, shown, later, names)
    both = replace(shown, mentions=(*shown.mentions, *addition.mentions))
    same_ends = (each for each in shown.relations if set(each.ends) == set(claim.ends))
    replaced = next((each.id for each in same_ends if not each.source), None)
    return replace(addition, message=dispute_in_words(claim, both), removed=replaced)
