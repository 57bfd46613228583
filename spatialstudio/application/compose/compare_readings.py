"""Two readings of one prompt: what a later one adds or doubts is offered, never imposed.

The grammar reads at once, a language model later. What both read stays; what the user has set by
hand or taken up is never offered for removal, and stays while the prompt is typed on.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import (
    MentionId,
    Note,
    ObjectMention,
    TextSpan,
    free_mention_id,
)
from spatialstudio.domain.relation import (
    BY_HAND,
    Basis,
    Relation,
    RelationId,
    SceneGraph,
    Shape,
    relation_types,
)

ADDITIONS = {
    Basis.STATED: 'It may also state "{sentence}".',
    Basis.IMPLIED: 'It may imply "{sentence}" without stating it.',
    Basis.UNCONFIRMED: 'It may state "{sentence}", which the grammar cannot confirm.',
    Basis.UNSAID: 'Another reader finds "{sentence}", which is not in the prompt.',
}


@frozen
class Offer:
    """One difference between two readings, to be accepted or not.

    Attributes:
        message: One sentence for the user.
        added: The relation that the later reading has; None when it lacks one.
        removed: The relation that the later reading lacks, or reads otherwise; None when it has
            one more.
        mentions: Things of the added relation that the scene does not have yet.
    """

    message: str
    added: Relation | None = None
    removed: RelationId | None = None
    mentions: tuple[ObjectMention, ...] = ()


@frozen
class ComparedReading:
    """What comes of a later reading.

    Attributes:
        scene: What is shown from now on.
        offers: Where the readings differ; empty when they agree.
        notes: What the later reader tells beside its offers.
    """

    scene: SceneGraph
    offers: tuple[Offer, ...] = ()
    notes: tuple[Note, ...] = ()


def compare_readings(shown: SceneGraph, later: SceneGraph) -> ComparedReading:
    """Compare a later reading with the scene that is shown.

    A later reading that agrees takes the scene's place with its notes; one that differs leaves the
    scene as it is and makes offers. A reading of another text says nothing.
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
        *(_removal(one, shown) for one in doubted),
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
    """Say how a claim of a language model differs from the words of the prompt.

    Args:
        claim: One that the prompt's words speak against.
        scene: Holds its things, and what the grammar reads.
    """
    words = claim.span.of(scene.prompt.text) if claim.span else ""
    reads = f'reads "{words}" as' if words else "claims"
    claimed = f'The language model {reads} "{scene.sentence(claim)}"'
    others = [each for each in scene.contested_by(claim) if scene.source_of(each) == "grammar"]
    read = " and ".join(f'"{scene.sentence(each)}"' for each in others)
    return f"{claimed}; the grammar reads {read or 'no such relation'}."


def accept(scene: SceneGraph, offer: Offer) -> SceneGraph:
    """Take an offer up; the prompt stays, for both readings are of it."""
    known = {mention.id for mention in scene.mentions}
    new = [mention for mention in offer.mentions if mention.id not in known]
    mentions = sorted([*scene.mentions, *new], key=lambda mention: mention.span.start)
    relations = [each for each in scene.relations if each.id != offer.removed]
    if offer.added is not None:
        relations.append(replace(offer.added, id=_free_id(relations)))
    return replace(scene, mentions=tuple(mentions), relations=tuple(relations))


def is_typed_on(before: str, text: str) -> bool:
    """Tell whether a prompt is the one before with a small change, rather than another."""
    return _Edit(before, text).is_small


def not_dismissed(offers: Iterable[Offer], dismissed: Iterable[str]) -> tuple[Offer, ...]:
    """Leave out the offers that say what the user has dismissed, each once, by their messages."""
    gone = Counter(dismissed)
    kept = []
    for offer in offers:
        if gone[offer.message]:
            gone[offer.message] -= 1
        else:
            kept.append(offer)
    return tuple(kept)


def keep_things(scene: SceneGraph, before: SceneGraph) -> SceneGraph:
    """Return a scene read anew, whose things have the ids that they had before.

    A thing is known again by its words where these are untouched, else by its name; a new one has
    the first id that is free.
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
    """Return a scene read anew, with the relations of other readers that the user took up before.

    They stay while the prompt is typed on and the words they are about are untouched; with another
    prompt they go.
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
    """Tell whether a relation read anew is one that a disputed claim was taken up for."""
    return not relation.source and set(relation.ends) == set(taken_up.ends)


class _Edit:
    """How one text became another: by a change in the middle of what they have in common.

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
        """Return where a stretch of the old text stands in the new one; None when it is lost."""
        if span is None or span.stop <= self._head:
            return span
        if span.start < self._tail_start:
            return None
        return TextSpan(start=span.start + self._shift, stop=span.stop + self._shift)


def _is_untouched(old: ObjectMention, new: ObjectMention, edit: _Edit) -> bool:
    span = edit.moved(old.span)
    return span is not None and _overlap(span, new.span)


def _length_alike(one: str, other: str) -> int:
    """Return how many characters two texts share before they differ."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _same_thing(old: ObjectMention, edit: _Edit, scene: SceneGraph) -> MentionId | None:
    """Find a thing of the text before in the scene read anew."""
    span = edit.moved(old.span)
    same = (
        each.id
        for each in scene.mentions
        if span is not None and _overlap(each.span, span) and each.head == old.head
    )
    return next(same, None)


def _shown_names(shown: SceneGraph, later: SceneGraph) -> Mapping[MentionId, MentionId]:
    """Give the things of a later reading the ids that they have in the scene, or new ones."""
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
    """Tell whether two relations claim the same, in the same words or from the other side.

    A part of a diagonal says the same as the diagonal: readers take it apart or not.
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
    """Offer a claim that the prompt's words speak against, in the place of what they say."""
    addition = _addition(claim, shown, later, names)
    both = replace(shown, mentions=(*shown.mentions, *addition.mentions))
    same_ends = (each for each in shown.relations if set(each.ends) == set(claim.ends))
    replaced = next((each.id for each in same_ends if not each.source), None)
    return replace(addition, message=dispute_in_words(claim, both), removed=replaced)


def _removal(relation: Relation, shown: SceneGraph) -> Offer:
    return Offer(message=f'It may not say "{shown.sentence(relation)}".', removed=relation.id)
