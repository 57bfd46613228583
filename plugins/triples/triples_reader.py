"""An extractor for prompts of triples: "red cup | above | dog; dog | left of | car".

A triple contains a subject, a relation type by id or phrase, and an object ("between" takes "a and
b"). Triples are separated by ";" or by line breaks.
"""

import re
from collections.abc import Iterator

from spatialstudio.plugin_api import (
    MentionId,
    Note,
    ObjectMention,
    Prompt,
    PromptError,
    Relation,
    RelationId,
    RelationType,
    SceneGraph,
    Shape,
    Surroundings,
    TextSpan,
    free_mention_id,
    relation_types,
)

ID = "triples"
TRIPLE = re.compile(r"[^;\n]+")
FIELD = re.compile(r"[^|]+")
ARTICLE = re.compile(r"(?:an?|the)\s+", re.IGNORECASE)
FIELDS = 3
PAIR = re.compile(r"(.+?)\s+and\s+(.+)")


class TriplesReader:
    """Extracts relations from triples; an invalid triple becomes a note."""

    id = ID

    def extract(self, prompt: Prompt) -> SceneGraph:
        """Extract mentions and relations.

        Raises:
            PromptError: The prompt is empty.
        """
        if not prompt.text.strip():
            raise PromptError("The prompt is empty.")
        mentions = dict[str, ObjectMention]()
        relations, notes = list[Relation](), list[Note]()
        for span in _parts(TRIPLE, prompt.text, 0):
            fields = list(_parts(FIELD, span.of(prompt.text), span.start))
            words = [field.of(prompt.text) for field in fields]
            kind = _type_named(words[1]) if len(words) == FIELDS else None
            if kind is None:
                notes.append(Note(message="This is not a triple with a known relation.", span=span))
                continue
            ends = [fields[0], *_objects(kind, fields[2], prompt.text)]
            if len(ends) != FIELDS - (kind.shape is not Shape.BETWEEN):
                notes.append(Note(message='"between" takes two objects: "a and b".', span=span))
                continue
            ids = [_mention_at(end, prompt.text, mentions) for end in ends]
            relations.append(
                Relation(
                    id=RelationId(f"r{len(relations) + 1}"),
                    type=kind,
                    subject=ids[0],
                    object=ids[1],
                    second_object=ids[2] if kind.shape is Shape.BETWEEN else None,
                    span=span,
                )
            )
        return SceneGraph(
            prompt=prompt,
            mentions=tuple(mentions.values()),
            relations=tuple(relations),
            extractor_id=ID,
            notes=tuple(notes),
        )


def build(_: Surroundings) -> TriplesReader:
    """Return the extractor."""
    return TriplesReader()


def _parts(pattern: re.Pattern[str], text: str, offset: int) -> Iterator[TextSpan]:
    for match in pattern.finditer(text):
        words = match.group()
        start = offset + match.start() + len(words) - len(words.lstrip())
        if words.strip():
            yield TextSpan(start=start, stop=start + len(words.strip()))


def _type_named(words: str) -> RelationType | None:
    name = words.lower().replace("_", " ")
    for kind in relation_types:
        phrase = kind.phrase.removeprefix("to the ")
        if name in {kind.id.replace("_", " "), kind.phrase, phrase}:
            return kind
    return None


def _objects(kind: RelationType, span: TextSpan, text: str) -> list[TextSpan]:
    pair = PAIR.fullmatch(span.of(text)) if kind.shape is Shape.BETWEEN else None
    if pair is None:
        return [span]
    starts_stops = (pair.span(group) for group in (1, 2))
    return [TextSpan(start=span.start + a, stop=span.start + b) for a, b in starts_stops]


def _mention_at(span: TextSpan, text: str, mentions: dict[str, ObjectMention]) -> MentionId:
    """Return the mention of a phrase; equal phrases share one mention."""
    article = ARTICLE.match(span.of(text))
    span = TextSpan(start=span.start + (article.end() if article else 0), stop=span.stop)
    phrase = span.of(text)
    if (known := mentions.get(phrase.lower())) is not None:
        return known.id
    *attributes, head = phrase.split()
    mention_id = free_mention_id([each.id for each in mentions.values()])
    mentions[phrase.lower()] = ObjectMention(
        id=mention_id, phrase=phrase, head=head.lower(), attributes=tuple(attributes), span=span
    )
    return mention_id
