"""Conversion of a scene to a plain prompt, the inverse of stage 1."""

import re
from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    ORDINALS,
    MentionId,
    ObjectMention,
    Relation,
    RelationId,
    SceneGraph,
    TextSpan,
    relation_types,
)
from spatialstudio.science.guidance.noise_search import indefinite_article

WORD = re.compile(r"\w")
LEAD = re.compile(
    r"(.*(?:\b(?:of|showing|depicting|featuring|where|in which)|[,:]))\s+(?:(?:an?|the)\s+)?",
    re.IGNORECASE | re.DOTALL,
)
DENIAL = re.compile(
    r"\b(?:no|not|never|without|neither|nor|cannot|instead|rather|except|lacks?|lacking)\b"
    r"|n['\u2019]t\b",
    re.IGNORECASE,
)
MEASURE = re.compile(
    r"\b(?:an?|the|two|three|four|five|several|some)\s+(?:\w+\s+)?"
    r"(?:pair|group|bunch|couple|set|pile|stack|row|line|herd|flock|swarm|pack|heap|cluster|bundle"
    r"|lot|handful|crowd|trio|duo|team|gang|collection|number|series)(?:e?s)?\s+of\s+$",
    re.IGNORECASE,
)
OTHER = "other"
IN_ROW = "|".join((*ORDINALS, "last", OTHER))
STAND_IN = re.compile(
    rf"(?:the\s+)?\b(?:(?:{IN_ROW})(?:\s+one)?|one|another)(?P<several>s)?$", re.IGNORECASE
)
DISTINGUISHED = re.compile(rf"({IN_ROW})\s+", re.IGNORECASE)
EITHER_SIDE = "on either side of"
DASH = r"\s[-|\u2013\u2014]\s"
IN_STYLE = r"\s(?:in|after)\s(?:the\s(?:style|manner)\sof|(?:an?\s)?[\w-]+(?:\s[\w-]+)?\sstyle)\b"
PART = re.compile(rf"(?:[,.;]|{DASH}|{IN_STYLE})(?:(?!{DASH})[^,.;])*")


def write_prompt(scene: SceneGraph) -> str:
    """Return a prompt for a scene: "a cat to the left of a dog and above a lamp"."""
    return rewrite(scene).prompt.text


def rewrite(scene: SceneGraph, without: MentionId | None = None) -> SceneGraph:
    """Replace a scene's prompt by a plain one that states it, and update all spans.

    Style is preserved: an opening such as "a photo of", and text after the last mention's comma.
    Other words that are not part of the scene are removed together with their notes. Pronouns such
    as "the other" are replaced by the noun, as their position may change; mentions with equal names
    are distinguished by ordinals.

    Args:
        scene: Scene to state.
        without: A mention to remove, with its relations and all words about it.
    """
    for rename in (_written_out, _without_place_in_row):
        scene = replace(scene, mentions=tuple(rename(scene, each) for each in scene.mentions))
    said = _without(scene, without)
    writer = _Writer(said, _lead(scene))
    writer.write()
    writer.text += _tail(scene)
    placed = [
        replace(each, span=writer.spans[each.id], named_again=tuple(writer.named_again[each.id]))
        for each in said.mentions
    ]
    return replace(
        said,
        prompt=replace(scene.prompt, text=writer.text),
        mentions=tuple(sorted(placed, key=lambda mention: mention.span.start)),
        relations=tuple(
            replace(
                relation,
                span=writer.relation_spans[relation.id],
                is_implied=False,
                is_unconfirmed=False,
            )
            for relation in said.relations
        ),
        notes=(),
    )


def counterfactual(scene: SceneGraph) -> SceneGraph:
    """Swap the roles, invert the relations, and write the prompt.

    "a cake to the left of a bed" becomes "a bed to the right of a cake"; "between" is unchanged,
    as its two objects have no roles to swap.
    """
    swapped = [
        relation
        if relation.second_object is not None
        else replace(
            relation,
            type=relation_types.inverse(relation.type),
            subject=relation.object,
            object=relation.subject,
        )
        for relation in scene.relations
    ]
    return rewrite(replace(scene, relations=tuple(swapped)))


@frozen(kw_only=False)
class _Clause:
    """A relation as written: subject, words and objects."""

    relation_id: RelationId
    subject: MentionId
    words: str
    objects: tuple[MentionId, ...]


class _Writer:
    """Writes the prompt of one scene and records the span of each mention and relation."""

    def __init__(self, scene: SceneGraph, lead: str) -> None:
        self.text = lead
        self.spans: dict[MentionId, TextSpan] = {}
        self.named_again: dict[MentionId, list[TextSpan]] = {m.id: [] for m in scene.mentions}
        self.relation_spans: dict[RelationId, TextSpan] = {}
        self._scene = scene

    def write(self) -> None:
        """Write plural groups, then a clause per subject, then mentions without a relation."""
        clauses = [_clause(self._scene, relation) for relation in self._scene.relations]
        for group in _groups(self._scene):
            self._name(group)
            self.text += ", "
        for number, subject in enumerate(dict.fromkeys(clause.subject for clause in clauses)):
            self.text += ", " if number else ""
            self._write_clauses(subject, [each for each in clauses if each.subject == subject])
        lone = [m.id for m in self._scene.mentions if m.id not in self.spans]
        if clauses and lone:
            self.text += ", with "
        for number, mention_id in enumerate(lone):
            if number:
                self.text += " and " if mention_id is lone[-1] else ", "
            self._name(mention_id)

    def _write_clauses(self, subject: MentionId, clauses: Sequence[_Clause]) -> None:
        self._name(subject)
        for number, clause in enumerate(clauses):
            self.text += " and " if number else " "
            self.relation_spans[clause.relation_id] = self._append(clause.words)
            if subject in clause.objects:
                self.text += _oneself(self._scene.mention(subject))
                continue
            for place, thing in enumerate(clause.objects):
                self.text += " and " if place else " "
                self._name(thing)

    def _name(self, mention_id: MentionId) -> None:
        mention = self._scene.mention(mention_id)
        if mention_id in self.spans:
            self.text += "the "
            again = self._append(f"{self._place_in_row(mention)}{mention.phrase}")
            self.named_again[mention_id].append(again)
            return
        measure = _measure(self._scene, mention)
        if measure:
            self.text += measure
        elif not mention.is_plural:
            is_shouted = self._scene.prompt.text.isupper()
            self.text += f"{indefinite_article(mention.phrase, is_shouted=is_shouted)} "
        self.spans[mention_id] = self._append(mention.phrase)

    def _place_in_row(self, mention: ObjectMention) -> str:
        """Return the ordinal that distinguishes a mention from namesakes before it: "second "."""
        name = mention.phrase.lower()
        row = [each for each in self.spans if self._scene.mention(each).phrase.lower() == name]
        return f"{ORDINALS[row.index(mention.id)]} " if 1 < len(row) <= len(ORDINALS) else ""

    def _append(self, words: str) -> TextSpan:
        start = len(self.text)
        self.text += words
        return TextSpan(start=start, stop=len(self.text))


def _without(scene: SceneGraph, gone: MentionId | None) -> SceneGraph:
    return replace(
        scene,
        mentions=tuple(each for each in scene.mentions if each.id != gone),
        relations=tuple(each for each in scene.relations if gone not in each.ends),
        disputed=(),
    )


def _clause(scene: SceneGraph, relation: Relation) -> _Clause:
    """Return the clause of a relation; the middle mention is the subject of "on either side of"."""
    objects = tuple(dict.fromkeys(relation.ends[1:]))
    is_flanked = relation.second_object == relation.object != relation.subject
    if is_flanked and not scene.mention(relation.object).is_plural:
        return _Clause(relation.id, relation.object, EITHER_SIDE, (relation.subject,))
    return _Clause(relation.id, relation.subject, relation.type.phrase, objects)


def _groups(scene: SceneGraph) -> list[MentionId]:
    """List plural mentions with members: "two cats" in "two cats, one above the other"."""
    placed = {end for relation in scene.relations for end in relation.ends}
    heads = {scene.mention(end).head for end in placed}
    return [m.id for m in scene.mentions if m.is_plural and m.head in heads and m.id not in placed]


def _written_out(scene: SceneGraph, mention: ObjectMention) -> ObjectMention:
    """Replace a pronoun by its noun: "a brown one" becomes "a brown bear"."""
    stands = STAND_IN.search(mention.phrase)
    if stands is None or mention.phrase.lower().endswith(mention.head):
        return mention
    is_plural = stands["several"] is not None
    noun = _plural_noun(scene, mention.head) if is_plural else mention.head
    if noun is None:
        return mention
    return replace(mention, phrase=mention.phrase[: stands.start()] + noun, is_plural=is_plural)


def _without_place_in_row(scene: SceneGraph, mention: ObjectMention) -> ObjectMention:
    """Remove the ordinal of "the second cup" if there are more cups, as their order may change."""
    word = DISTINGUISHED.match(mention.phrase)
    if word is None:
        return mention
    distinct, name = word[1].lower(), mention.phrase[word.end() :]
    others = [each for each in scene.mentions if each.head == mention.head]
    is_needed = not any(each.is_plural or each.phrase.lower() == name.lower() for each in others)
    if is_needed and distinct != OTHER:
        return mention
    attributes = tuple(each for each in mention.attributes if each.lower() != distinct)
    return replace(mention, phrase=name, attributes=attributes)


def _plural_noun(scene: SceneGraph, head: str) -> str | None:
    """Return the plural of a noun as the prompt writes it; None if it does not."""
    size = len(head.split())
    plurals = (m.phrase.split()[-size:] for m in scene.mentions if m.is_plural and m.head == head)
    return next((" ".join(words) for words in plurals if not STAND_IN.search(words[-1])), None)


def _measure(scene: SceneGraph, mention: ObjectMention) -> str:
    """Return the measure before a mention: "a pair of "."""
    counted = MEASURE.search(scene.prompt.text[: mention.span.start])
    return counted.group() if counted else ""


def _lead(scene: SceneGraph) -> str:
    """Return the opening of a prompt such as "A photo of ", before any mention or relation.

    Text with a negation, or with a note, is not an opening.
    """
    start = min((span.start for span in _spans(scene)), default=0)
    before = MEASURE.sub("", scene.prompt.text[:start])
    opening = LEAD.fullmatch(before)
    is_noted = any(note.span and note.span.start < len(before) for note in scene.notes)
    return f"{opening.group(1)} " if opening and not is_noted and not DENIAL.search(before) else ""


def _tail(scene: SceneGraph) -> str:
    """Return the style suffix of a prompt such as ", oil on canvas", after any mention or relation.

    Parts that name an object of the scene are excluded, as they state a removed relation.
    """
    stop = max((span.stop for span in _spans(scene)), default=0)
    parts = PART.findall(scene.prompt.text, stop) if stop else []
    tail = "".join(part for part in parts if not _names_a_thing(scene, part))
    return tail if WORD.search(tail) else ""


def _names_a_thing(scene: SceneGraph, text: str) -> bool:
    names = "|".join(
        re.escape(word) for each in scene.mentions for word in (each.head, each.phrase)
    )
    return re.search(rf"\b(?:{names})\b", text, re.IGNORECASE) is not None


def _spans(scene: SceneGraph) -> list[TextSpan]:
    spans = [mention.span for mention in scene.mentions]
    return [*spans, *(each.span for each in scene.relations if each.span is not None)]


def _oneself(mention: ObjectMention) -> str:
    return " each other" if mention.is_plural else " itself"
