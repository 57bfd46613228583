"""The way back of stage 1: a scene becomes a plain prompt that says the same."""

import re
from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.domain.prompt import MentionId, ObjectMention, TextSpan
from spatialstudio.domain.relation import Relation, RelationId, SceneGraph

VOWEL_SOUND = re.compile(r"(?!uni|use|uku|eu|one\b)[aeiou]|hour|honest|heir", re.IGNORECASE)
LEAD = re.compile(r".*\bof\b(?=\s+(?:an?|the)?\s*$)", re.IGNORECASE | re.DOTALL)


def write_prompt(scene: SceneGraph) -> str:
    """Say a scene in words: "a cat to the left of a dog and above a lamp"."""
    return rewrite(scene).prompt.text


def rewrite(scene: SceneGraph) -> SceneGraph:
    """Give a scene the plain prompt that says it, with the spans of that prompt.

    An opening such as "a photo of" stays; other words that are no part of the scene go, and so do
    the notes about them.
    """
    writer = _Writer(scene)
    writer.write()
    placed = [replace(mention, span=writer.spans[mention.id]) for mention in scene.mentions]
    return replace(
        scene,
        prompt=replace(scene.prompt, text=writer.text),
        mentions=tuple(sorted(placed, key=lambda mention: mention.span.start)),
        relations=tuple(
            replace(relation, span=writer.relation_spans[relation.id])
            for relation in scene.relations
        ),
        notes=(),
    )


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
            for place, end in enumerate(relation.ends[1:]):
                self.text += " and " if place else " "
                self._name(end)

    def _name(self, mention_id: MentionId) -> None:
        mention = self._scene.mention(mention_id)
        if mention_id in self.spans:
            self.text += f"the {mention.phrase}"
            return
        self.text += _article(mention)
        self.spans[mention_id] = self._append(mention.phrase)

    def _append(self, words: str) -> TextSpan:
        start = len(self.text)
        self.text += words
        return TextSpan(start=start, stop=len(self.text))


def _lead(scene: SceneGraph) -> str:
    """Return an opening like "A photo of ", when the prompt has one before all that is claimed."""
    spans = [mention.span for mention in scene.mentions]
    spans += [relation.span for relation in scene.relations if relation.span is not None]
    start = min((span.start for span in spans), default=0)
    opening = LEAD.match(scene.prompt.text[:start])
    return f"{opening.group()} " if opening else ""


def _article(mention: ObjectMention) -> str:
    is_plural = mention.phrase.split()[-1].lower() != mention.head.split()[-1]
    if is_plural:
        return ""
    return "an " if VOWEL_SOUND.match(mention.phrase) else "a "
