"""The way back of stage 1: a scene becomes a plain prompt that says the same."""

import re
from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import (
    ORDINALS,
    MentionId,
    ObjectMention,
    TextSpan,
)
from spatialstudio.domain.relation import (
    Relation,
    RelationId,
    SceneGraph,
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
    """Say a scene in words: "a cat to the left of a dog and above a lamp"."""
    return rewrite(scene).prompt.text


def rewrite(scene: SceneGraph, without: MentionId | None = None) -> SceneGraph:
    """Give a scene the plain prompt that says it, with the spans of that prompt.

    The style stays: an opening such as "a photo of", and what follows the last thing behind a
    comma; other words that are no part of the scene go, and so do the notes about them. What only
    stood for a noun, "the other", is written out, for its place may change; what is named alike is
    told apart by the order in which it is named.

    Args:
        scene: What shall be said.
        without: A thing of it that shall go, with its relations and all words about it.
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
    """Swap the roles and invert the relations, and write the prompt for it.

    "a cake to the left of a bed" becomes "a bed to the right of a cake"; the two flanks of
    "between" have no roles to swap.
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
    """One relation as it is said: who stands how to what."""

    relation_id: RelationId
    subject: MentionId
    words: str
    objects: tuple[MentionId, ...]


class _Writer:
    """Writes one scene, and remembers where it has put what."""

    def __init__(self, scene: SceneGraph, lead: str) -> None:
        self.text = lead
        self.spans: dict[MentionId, TextSpan] = {}
        self.named_again: dict[MentionId, list[TextSpan]] = {m.id: [] for m in scene.mentions}
        self.relation_spans: dict[RelationId, TextSpan] = {}
        self._scene = scene

    def write(self) -> None:
        """Write whole groups, a clause for each subject, then what stands in no relation."""
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
        """Return what tells a thing from others that were named alike so far: "second "."""
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
    """Say how a relation is told; of a thing on both sides of another that thing is told."""
    objects = tuple(dict.fromkeys(relation.ends[1:]))
    is_flanked = relation.second_object == relation.object != relation.subject
    if is_flanked and not scene.mention(relation.object).is_plural:
        return _Clause(relation.id, relation.object, EITHER_SIDE, (relation.subject,))
    return _Clause(relation.id, relation.subject, relation.type.phrase, objects)


def _groups(scene: SceneGraph) -> list[MentionId]:
    """List the groups that others are of: the two cats in "two cats, one above the other"."""
    placed = {end for relation in scene.relations for end in relation.ends}
    heads = {scene.mention(end).head for end in placed}
    return [m.id for m in scene.mentions if m.is_plural and m.head in heads and m.id not in placed]


def _written_out(scene: SceneGraph, mention: ObjectMention) -> ObjectMention:
    """Put the noun in the place of what stands for it: of "a brown one" a "brown bear"."""
    stands = STAND_IN.search(mention.phrase)
    if stands is None or mention.phrase.lower().endswith(mention.head):
        return mention
    is_plural = stands["several"] is not None
    noun = _plural_noun(scene, mention.head) if is_plural else mention.head
    if noun is None:
        return mention
    return replace(mention, phrase=mention.phrase[: stands.start()] + noun, is_plural=is_plural)


def _without_place_in_row(scene: SceneGraph, mention: ObjectMention) -> ObjectMention:
    """Take the "second" off "the second cup" where there are more cups: their order may change."""
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
    """Find how the prompt writes a noun's plural."""
    size = len(head.split())
    plurals = (m.phrase.split()[-size:] for m in scene.mentions if m.is_plural and m.head == head)
    return next((" ".join(words) for words in plurals if not STAND_IN.search(words[-1])), None)


def _measure(scene: SceneGraph, mention: ObjectMention) -> str:
    """Return what counts a thing before its name: "a pair of "."""
    counted = MEASURE.search(scene.prompt.text[: mention.span.start])
    return counted.group() if counted else ""


def _lead(scene: SceneGraph) -> str:
    """Return an opening like "A photo of ", when the prompt has one before all that is claimed.

    What denies something, or was not understood, is no opening.
    """
    start = min((span.start for span in _spans(scene)), default=0)
    before = MEASURE.sub("", scene.prompt.text[:start])
    opening = LEAD.fullmatch(before)
    is_noted = any(note.span and note.span.start < len(before) for note in scene.notes)
    return f"{opening.group(1)} " if opening and not is_noted and not DENIAL.search(before) else ""


def _tail(scene: SceneGraph) -> str:
    """Return an ending like ", oil on canvas", behind all that is claimed.

    A part of it that names a thing of the scene again is no style: it made a claim that has gone.
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
