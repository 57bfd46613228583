"""The words of a prompt that state each assertion, and their weights.

Corrected: the text stays as it is, and weights lie on the words in their place. As in the code of
Singh and Zheng 2023 (arXiv:2307.04749): the prompt is rebuilt from its bracketed parts,

    a photo of [a cat] and [a dog] at night   ->   a photo of [a cat and [a dog

which loses the text after the last part, keeps the stray bracket between two parts, and puts
weights on whole parts, connectives included. Their presence coefficients follow the order of the
entities while the tokens are sorted by position, so that a coefficient may act on another object.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher

from spatialstudio.domain.assertion import Assertion, AssertionKind, Assertions
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt_syntax import typed_with_weights
from spatialstudio.domain.refinement import RefineRules
from spatialstudio.domain.scene import (
    MentionId,
    Prompt,
    SceneGraph,
    SpanWeight,
    TextSpan,
)
from spatialstudio.science.refine.update_loop import USUAL, attention_coefficient, text_factor

ARTICLE = re.compile(r"\b(?:an?|the)\s+\Z", re.IGNORECASE)
WORD = re.compile(r"\w+")
DIGITS = 4
"""Of a weight, as in the typed prompt."""
LEAST_LETTERS = 4
"""Length of a word that identifies the words of a statement without an object."""


def in_prompt_order(assertions: Assertions, scene: SceneGraph) -> Assertions:
    """Return assertions in the order of their words in the prompt; those without words last."""
    spans = [span_of(each, scene) for each in assertions.items]
    last = len(scene.prompt.text)
    places = [last if span is None else span.start for span in spans]
    order = sorted(range(len(places)), key=places.__getitem__)
    return replace(assertions, items=tuple(assertions.items[place] for place in order))


def span_of(assertion: Assertion, scene: SceneGraph) -> TextSpan | None:
    """Return the words of the prompt that state an assertion; None if there are none."""
    text = scene.prompt.text
    if assertion.relation_id is not None:
        own = (each for each in scene.relations if each.id == assertion.relation_id)
        return next((each.span for each in own), None)
    if assertion.mention_id is None:
        return _quoted(assertion.text, text)
    whole = scene.mention(assertion.mention_id).span
    wanted = assertion.attribute or assertion.count
    found = (
        re.search(rf"\b{re.escape(wanted)}\b", whole.of(text), re.IGNORECASE) if wanted else None
    )
    if found is None:
        return whole
    return TextSpan(start=whole.start + found.start(), stop=whole.start + found.end())


def _quoted(statement: str, text: str) -> TextSpan | None:
    """Return the longest run of a statement's words in the text; None without a long word."""
    words = list(WORD.finditer(text))
    said = [word.lower() for word in WORD.findall(statement)]
    matcher = SequenceMatcher(None, [word[0].lower() for word in words], said, autojunk=False)
    match = matcher.find_longest_match()
    run = words[match.a : match.a + match.size]
    if not any(len(word[0]) >= LEAST_LETTERS for word in run):
        return None
    return TextSpan(start=run[0].start(), stop=run[-1].end())


def object_places(assertions: Assertions, scene: SceneGraph) -> tuple[tuple[int, ...], ...]:
    """Return, of each assertion, the indices of the assertions that its objects exist."""
    things = {
        each.mention_id: place
        for place, each in enumerate(assertions.items)
        if each.kind is AssertionKind.THING
    }
    ends = {relation.id: relation.ends for relation in scene.relations}

    def objects_of(assertion: Assertion) -> tuple[MentionId | None, ...]:
        if assertion.relation_id is not None:
            return ends.get(assertion.relation_id, ())
        return () if assertion.kind is AssertionKind.THING else (assertion.mention_id,)

    return tuple(
        tuple(things[each] for each in objects_of(assertion) if each in things)
        for assertion in assertions.items
    )


def weighted_scene(
    scene: SceneGraph, assertions: Assertions, weights: Sequence[float], rules: RefineRules
) -> SceneGraph:
    """Return a scene whose prompt weights the words of each assertion.

    Where assertions share words, the largest weight counts. Weights of the prompt itself multiply.

    Args:
        scene: Scene of a prompt as the image model reads it.
        assertions: Assertions of the prompt.
        weights: Weight of each, >= 1.
        rules: Rules of the loop.
    """
    if not rules.weighs_prompt:
        return scene
    factors = [text_factor(weight, rules) for weight in weights]
    spans = [span_of(each, scene) for each in assertions.items]
    found = [(span, factor) for span, factor in zip(spans, factors, strict=True) if span]
    if rules.joins_parts:
        return _joined(scene, found)
    changes = [(span, factor) for span, factor in found if factor != 1]
    if not changes:
        return scene
    return replace(scene, prompt=_weighted(scene.prompt, changes))


def _weighted(prompt: Prompt, changes: Sequence[tuple[TextSpan, float]]) -> Prompt:
    by_letter = [1.0] * len(prompt.text)
    for span, factor in changes:
        for place in range(span.start, span.stop):
            by_letter[place] = max(by_letter[place], factor)
    for known in prompt.weights:
        for place in range(known.span.start, known.span.stop):
            by_letter[place] *= known.weight
    weights = tuple(_runs(prompt.text, by_letter))
    return replace(prompt, weights=weights, typed=typed_with_weights(prompt, weights))


def _runs(text: str, by_letter: Sequence[float]) -> Iterator[SpanWeight]:
    """Yield the spans of equal weight other than 1, without space at their ends."""
    start = 0
    for stop in range(1, len(text) + 1):
        if stop < len(text) and by_letter[stop] == by_letter[start]:
            continue
        part = text[start:stop]
        if by_letter[start] != 1 and part.strip():
            first = start + len(part) - len(part.lstrip())
            span = TextSpan(start=first, stop=start + len(part.rstrip()))
            yield SpanWeight(span=span, weight=round(by_letter[start], DIGITS))
        start = stop


@frozen
class _Part:
    """A bracketed part: its span in the prompt, article included, and its factor."""

    start: int
    stop: int
    factor: float


def bracketed(text: str, spans: Sequence[TextSpan]) -> str:
    """Return a prompt with each assertion's words in brackets, articles included."""
    pieces, end = list[str](), 0
    for part in _parts(text, [(span, 1.0) for span in spans]):
        pieces += [text[end : part.start], "[", text[part.start : part.stop], "]"]
        end = part.stop
    return "".join([*pieces, text[end:]])


def _parts(text: str, found: Sequence[tuple[TextSpan, float]]) -> Sequence[_Part]:
    """Return the parts in order; spans that overlap are one part with the largest factor."""
    parts: list[_Part] = []
    for span, factor in sorted(found, key=lambda item: (item[0].start, -item[0].stop)):
        article = ARTICLE.search(text[: span.start])
        start = article.start() if article else span.start
        if parts and start < parts[-1].stop:
            last = parts.pop()
            start, factor = last.start, max(factor, last.factor)
            span = replace(span, stop=max(span.stop, last.stop))
        parts.append(_Part(start=start, stop=span.stop, factor=factor))
    return parts


def _joined(scene: SceneGraph, found: Sequence[tuple[TextSpan, float]]) -> SceneGraph:
    """Rebuild the prompt from its parts as the authors' code does, and map the spans."""
    text = scene.prompt.text
    letters, origins, weights, end = list[str](), list[int](), list[SpanWeight](), 0
    for part in _parts(text, found):
        if letters:
            letters.append(" ")
            origins.append(end)
        start = len(letters)
        gap = text[end : part.start]
        words = gap.lstrip("[] ")
        if words:
            letters += [*words, "["]
            origins += [*range(part.start - len(words), part.start), part.start]
        letters += text[part.start : part.stop]
        origins += range(part.start, part.stop)
        if part.factor != 1:
            span = TextSpan(start=start, stop=len(letters))
            weights.append(SpanWeight(span=span, weight=round(part.factor, DIGITS)))
        end = part.stop
    if not letters:
        return scene
    return _remapped(scene, "".join(letters), origins, tuple(weights))


def _remapped(
    scene: SceneGraph, text: str, origins: Sequence[int], weights: tuple[SpanWeight, ...]
) -> SceneGraph:
    """Return the scene on a rebuilt text; spans whose words are lost are left out."""

    def place(span: TextSpan) -> TextSpan | None:
        start = bisect_left(origins, span.start)
        is_bracket = origins[start : start + 2] == [span.start, span.start]
        start, stop = start + is_bracket, bisect_left(origins, span.stop)
        return TextSpan(start=start, stop=stop) if start < stop else None

    mentions = tuple(
        replace(
            each,
            span=place(each.span) or each.span,
            named_again=tuple(kept for kept in map(place, each.named_again) if kept),
        )
        for each in scene.mentions
    )
    relations = tuple(
        replace(each, span=place(each.span)) if each.span else each for each in scene.relations
    )
    prompt = replace(scene.prompt, text=text, weights=weights, typed="")
    prompt = replace(prompt, typed=typed_with_weights(prompt, weights))
    return replace(
        scene, prompt=prompt, mentions=mentions, relations=relations, notes=(), disputed=()
    )


def presence_weights(
    scene: SceneGraph, assertions: Assertions, weights: Sequence[float], rules: RefineRules
) -> Mapping[MentionId, float]:
    """Return the coefficient c = w - 1 of each mention's presence, >= 0.

    The weight of an object is the largest of its assertions; relations have none of their own. With
    ``sorts_tokens``, the coefficients in the order of the entities, that is of the first assertion
    of each object, go to the objects sorted by their position in the text.
    """
    largest = {mention.id: USUAL for mention in scene.mentions}
    entities: dict[MentionId, None] = {}
    for assertion, weight in zip(assertions.items, weights, strict=True):
        mention_id = assertion.mention_id
        if mention_id is None or assertion.kind is AssertionKind.RELATION:
            continue
        entities[mention_id] = None
        largest[mention_id] = max(largest[mention_id], weight)
    coefficients = {each: attention_coefficient(weight) for each, weight in largest.items()}
    if not rules.sorts_tokens:
        return coefficients
    by_position = sorted(entities, key=lambda each: scene.mention(each).span.start)
    swapped = {at: coefficients[entity] for at, entity in zip(by_position, entities, strict=True)}
    return coefficients | swapped
