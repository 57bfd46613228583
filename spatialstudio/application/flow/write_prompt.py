"""The way back of stage 1: a scene becomes a plain prompt that says the same."""

import re
from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.domain.prompt import MentionId, ObjectMention, TextSpan
from spatialstudio.domain.relation import Relation, RelationId, SceneGraph, relation_types
from spatialstudio.science.articles import indefinite_article

WORD = re.compile(r"\w")
LEAD = re.compile(
    r"(.*(?:\b(?:of|showing|depicting|featuring|where|in which)|[,:]))\s+(?:(?:an?|the)\s+)?",
    re.IGNORECASE | re.DOTALL,
)
DASH = r"\s[-|\u2013\u2014]\s"
IN_STYLE = r"\s(?:in|after)\s(?:the\s(?:style|manner)\sof|(?:an?\s)?[\w-]+(?:\s[\w-]+)?\sstyle)\b"
PART = re.compile(rf"(?:[,.;]|{DASH}|{IN_STYLE})(?:(?!{DASH})[^,.;])*")


def write_prompt(scene: SceneGraph) -> str:
    """Say a scene in words: "a cat to the left of a dog and above a lamp"."""
    return rewrite(scene).prompt.text


def rewrite(scene: SceneGraph) -> SceneGraph:
    """Give a scene the plain prompt that says it, with the spans of that prompt.

    The style stays: an opening such as "a photo of", and what follows the last thing behind a
    comma; other words that are no part of the scene go, and so do the notes about them.
    """
    writer = _Writer(scene)
    writer.write()
    writer.text += _tail(scene)
    placed = [replace(mention, span=writer.spans[mention.id]) for mention in scene.mentions]
    return replace(
        scene,
        prompt=replace(scene.prompt, text=writer.text),
        mentions=tuple(sorted(placed, key=lambda mention: mention.span.start)),
        relations=tuple(
            replace(relation, span=writer.relation_spans[relation.id], is_implied=False)
            for relation in scene.relations
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


class _Writer:
    """Writes one scene, and remembers where it has put what."""

    def __init__(self, scene: SceneGraph) -> None:
        self.text = _lead(scene)
        self.spans: dict[MentionId, TextSpan] = {}
        self.relation_spans: dict[RelationId, TextSpan] = {}
        self._scene = scene

    def write(self) -> None:
        """Write a clause for each subject, then the things that stand in no relation."""
        relations = self._scene.relations
        for number, subject in enumerate(dict.fromkeys(r.subject for r in relations)):
            self.text += ", " if number else ""
            self._write_clause(subject, [r for r in relations if r.subject == subject])
        lone = [m for m in self._scene.mentions if m.id not in self.spans]
        if relations and lone:
            self.text += ", with "
        for number, mention in enumerate(lone):
            if number:
                self.text += " and " if mention is lone[-1] else ", "
            self._name(mention.id)

    def _write_clause(self, subject: MentionId, relations: Sequence[Relation]) -> None:
        self._name(subject)
        for number, relation in enumerate(relations):
            self.text += " and " if number else " "
            self.relation_spans[relation.id] = self._append(relation.type.phrase)
            if relation.subject in relation.ends[1:]:
                self.text += _oneself(self._scene.mention(relation.subject))
                continue
            for place, end in enumerate(dict.fromkeys(relation.ends[1:])):
                self.text += " and " if place else " "
                self._name(end)

    def _name(self, mention_id: MentionId) -> None:
        mention = self._scene.mention(mention_id)
        if mention_id in self.spans:
            self.text += f"the {mention.phrase}"
            return
        if not mention.is_plural:
            is_shouted = self._scene.prompt.text.isupper()
            self.text += f"{indefinite_article(mention.phrase, is_shouted=is_shouted)} "
        self.spans[mention_id] = self._append(mention.phrase)

    def _append(self, words: str) -> TextSpan:
        start = len(self.text)
        self.text += words
        return TextSpan(start=start, stop=len(self.text))


def _lead(scene: SceneGraph) -> str:
    """Return an opening like "A photo of ", when the prompt has one before all that is claimed."""
    start = min((span.start for span in _spans(scene)), default=0)
    opening = LEAD.fullmatch(scene.prompt.text[:start])
    return f"{opening.group(1)} " if opening else ""


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
