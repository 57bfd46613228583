"""Finds the names of a language model's answer in the prompt; what is not there is dropped."""

import re
from collections.abc import Sequence
from dataclasses import replace

from spatialstudio.adapters.extractors.model_answers import AnsweredRelation, ModelAnswer
from spatialstudio.domain.prompt import MentionId, Note, ObjectMention, Prompt, TextSpan
from spatialstudio.domain.relation import Basis, Relation, RelationId, SceneGraph


def anchor(answer: ModelAnswer, read: SceneGraph, extractor_id: str) -> SceneGraph:
    """Make a scene of an answer.

    Args:
        answer: What the model claims.
        read: The grammar's reading of the same prompt, whose mentions are taken up.
        extractor_id: Who is named as the reader.
    """
    anchors = _Anchors(read)
    for claimed in answer.relations:
        anchors.add(claimed)
    unknown = [
        Note(message=f'The language model claims "{name}", which is no relation I know.')
        for name in answer.dropped
    ]
    if answer.unreadable:
        rows = f"{answer.unreadable} row{'s' if answer.unreadable > 1 else ''}"
        unknown.append(Note(message=f"The language model's answer has {rows} that I cannot read."))
    return SceneGraph(
        prompt=read.prompt,
        mentions=tuple(sorted(anchors.mentions, key=lambda mention: mention.span.start)),
        relations=tuple(anchors.relations),
        extractor_id=extractor_id,
        notes=(*anchors.notes, *unknown),
    )


class _Anchors:
    """Collects mentions and relations that hold on to words of the prompt."""

    def __init__(self, read: SceneGraph) -> None:
        self.mentions = list(read.mentions)
        self.relations: list[Relation] = []
        self.notes: list[Note] = []
        self._read = read
        self._prompt: Prompt = read.prompt

    def add(self, claimed: AnsweredRelation) -> None:
        """Take a relation up when all its things are in the prompt."""
        mentions = [self._mention(name) for name in (claimed.subject, *claimed.objects)]
        ends = [mention for mention in mentions if mention is not None]
        if len(ends) < len(mentions):
            return
        subject, thing, *second = ends
        relation = Relation(
            id=RelationId(f"r{len(self.relations) + 1}"),
            type=claimed.type,
            subject=subject.id,
            object=thing.id,
            second_object=second[0].id if second else None,
            span=_find(claimed.words, self._prompt.text),
            is_implied=claimed.is_implied,
        )
        if relation.basis is Basis.UNSAID:
            relation = replace(relation, span=self._span_of_grammar(relation))
        if not _is_among(relation, self.relations):
            self.relations.append(relation)

    def _mention(self, name: str) -> ObjectMention | None:
        found = _best_match(name, self.mentions) or self._new_mention(name)
        if found is None:
            self._note(f'The language model names "{name}", which is not in the prompt.', None)
        return found

    def _new_mention(self, name: str) -> ObjectMention | None:
        span = _find(name, self._prompt.text)
        if span is None:
            return None
        mention = ObjectMention(
            id=MentionId(f"m{len(self.mentions) + 1}"),
            phrase=span.of(self._prompt.text),
            head=name.lower(),
            span=span,
        )
        self.mentions.append(mention)
        return mention

    def _span_of_grammar(self, relation: Relation) -> TextSpan | None:
        """Find the words that claim a relation where the model has not told them."""
        same = (known.span for known in self._read.relations if _is_among(relation, [known]))
        return next(same, None)

    def _note(self, message: str, span: TextSpan | None) -> None:
        note = Note(message=message, span=span)
        if note not in self.notes:
            self.notes.append(note)


def _is_among(relation: Relation, others: Sequence[Relation]) -> bool:
    return any((each.type, each.ends) == (relation.type, relation.ends) for each in others)


def _best_match(name: str, mentions: Sequence[ObjectMention]) -> ObjectMention | None:
    """Find the mention that a name means: of equal heads, the one with most words in common."""
    words = set(_words(name))
    fitting = [
        mention
        for mention in mentions
        if set(_words(mention.head)) <= words and words <= _all_words(mention)
    ]
    fitting = fitting or [mention for mention in mentions if _words(mention.head) == _words(name)]
    fitting = fitting or [
        mention for mention in mentions if words <= set(_words(mention.head)) and words
    ]
    return max(fitting, key=lambda each: len(words & _all_words(each)), default=None)


def _all_words(mention: ObjectMention) -> set[str]:
    return {*_words(mention.phrase), *_words(mention.head)}


def _words(name: str) -> list[str]:
    """Return the words in lower case, plural or singular alike."""
    return [word.removesuffix("s") for word in re.findall(r"[\w'-]+", name.lower())]


def _find(words: str, text: str) -> TextSpan | None:
    """Find whole words, in any case, with an "s" more or not."""
    if not words:
        return None
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    found = re.search(rf"(?<!\w){pattern}(?:e?s)?(?!\w)", text, re.IGNORECASE)
    return TextSpan(start=found.start(), stop=found.end()) if found else None
