r"""Syntax of prompts: weights, LoRAs, choices, and the syntax of other programs.

    (cat:1.3)                        weight 1.3
    ((cat))  [cat]                   weights 1.1 x 1.1 and 1 / 1.1; nested weights multiply
    <lora:name:0.8>                  a LoRA and its weight, 1 if left out
    \( \) \[ \] \{ \}                literal brackets
    {cat|dog}                        a choice, made before drawing (``wildcards.py``); else the
                                     first alternative is read

Single parentheses are prose, "a cat (black) on a mat", and unbalanced brackets are literal. Syntax
of other programs does not affect the picture, and a note says so; it is removed before reading:

    (cat)1.3  cat++  cat::1.3  [cat:0.5]          weights
    <lyco:...>  <hypernet:...>                     tags
    [cat:dog:0.5]  [cat|dog]                       alternatives; one is read
    BREAK  AND                                     parts of a prompt

Positions refer to the text as typed.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import groupby, pairwise

from spatialstudio.domain.errors import PromptError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    LoraUse,
    Note,
    Prompt,
    SceneGraph,
    SpanWeight,
    TextSpan,
)

TAG = re.compile(r"<[a-z][\w-]*:[^<>\n]{0,300}>", re.IGNORECASE)
BREAK = re.compile(r"\bBREAK\b")
AND = re.compile(r"\bAND\b")
NUMBER = r"[+-]?(?:\d+(?:[.,]\d*)?|[.,]\d+)"
WEIGHT_AT_END = re.compile(rf"(?P<before>\S?)(?P<weight>\s*:\s*(?P<number>{NUMBER})\s*)\Z")
WEIGHT_BEHIND = re.compile(r"\d+\.\d+(?![\w.])|\+{1,8}")
WEIGHT_OF_PART = re.compile(rf"\s{{0,8}}:\s{{0,8}}{NUMBER}(?=\s{{1,8}}AND\b|\s{{0,8}}\Z)")
SIGNS_BEHIND = re.compile(r"(?<=[^\W\d_])\+{1,8}(?=[\s,.;:)\]}]|\Z)")
MIDJOURNEY = re.compile(r"(?<=\w)::(?:[+-]?\d+(?:\.\d+)?(?![\w.])|(?=[\s,;)]|\Z))")
NUMERIC = re.compile(rf"\s*{NUMBER}\s*")
LETTER = re.compile(r"[^\W\d_]")
CLOSING = {"(": ")", "[": "]", "{": "}"}
LONGEST_WEIGHT = 24
"""In characters, colon included."""
LONGEST_EXAMPLE = 40

BRACKET_WEIGHT = 1.1
"""Factor of each pair of double parentheses; square brackets divide by it."""
MOST_WEIGHT = 10.0
"""Weights are limited to +- this."""
LORA = re.compile(rf"<lora:([^<>:\n]{{1,200}})(?::\s*({NUMBER})\s*)?>", re.IGNORECASE)


class Syntax(Enum):
    """A kind of syntax."""

    WEIGHT = "weight"
    LORA = "LoRA"
    ESCAPE = "escape"
    CHOICE = "choice"
    FOREIGN_WEIGHT = "weight of another program"
    TAG = "tag"
    ALTERNATIVES = "alternatives"
    PART = "part"


DRAWN = frozenset({Syntax.WEIGHT, Syntax.LORA, Syntax.ESCAPE})
"""Syntax that affects the picture, and is removed from the text of the image model."""

NOTES = {
    Syntax.CHOICE: 'The first alternative of "{example}" is read; the seed decides.',
    Syntax.FOREIGN_WEIGHT: 'Weights such as "{example}" have no effect; write "(cat:1.3)".',
    Syntax.TAG: '"{example}" has no effect: only the chosen model and LoRAs draw.',
    Syntax.ALTERNATIVES: 'Alternatives such as "{example}" have no effect; one of them is read.',
    Syntax.PART: '"{example}" has no effect: the prompt is read as one text.',
}
"""Notes to the user, with an example."""


@frozen
class PlainPrompt:
    """A prompt without its syntax.

    Attributes:
        text: The remaining text.
        origins: For every character of ``text``, its position in the prompt as typed.
        weights: Weights on spans of ``text``; spans of weight 1 are left out.
        loras: LoRAs named in the prompt, in order.
        notes: Notes on the removed syntax.
        size: Length of the prompt as typed, without space at its end.
    """

    text: str
    origins: tuple[int, ...]
    weights: tuple[SpanWeight, ...] = ()
    loras: tuple[LoraUse, ...] = ()
    notes: tuple[Note, ...] = ()
    size: int = 0

    def restored(self, scene: SceneGraph, prompt: Prompt) -> SceneGraph:
        """Map a scene graph of ``text`` back to the prompt as typed, and add the notes."""
        if self.text == prompt.text and not self.notes:
            return replace(scene, prompt=prompt)
        restored = with_spans(scene, self.typed_span)
        return replace(restored, prompt=prompt, notes=(*restored.notes, *self.notes))

    def applied(self, scene: SceneGraph) -> SceneGraph:
        """Return a scene of the typed prompt with ``text`` and its weights as the prompt.

        The spans are mapped to ``text``; the typed prompt is kept in ``Prompt.typed``.
        """
        typed = scene.prompt
        if self.text == typed.text:
            return scene
        prompt = replace(
            typed, text=self.text, weights=self.weights, typed=typed.typed or typed.text
        )
        return replace(with_spans(scene, self._plain), prompt=prompt, notes=())

    def typed_span(self, span: TextSpan) -> TextSpan:
        """Map a span of ``text`` to the prompt as typed."""
        return TextSpan(start=self.origins[span.start], stop=self.origins[span.stop - 1] + 1)

    def typed_spans(self, tokens: Sequence[TextSpan]) -> tuple[TextSpan, ...]:
        """Map the tokens of ``text`` to the prompt as typed; the last takes syntax at the end."""
        if not tokens:
            return ()
        *spans, last = map(self.typed_span, tokens)
        is_end = tokens[-1].stop >= len(self.text.rstrip())
        return (*spans, replace(last, stop=max(last.stop, self.size)) if is_end else last)

    def _plain(self, span: TextSpan) -> TextSpan:
        start = bisect_left(self.origins, span.start)
        return TextSpan(start=start, stop=max(bisect_left(self.origins, span.stop), start + 1))


def with_spans(scene: SceneGraph, place: Callable[[TextSpan], TextSpan]) -> SceneGraph:
    """Return a scene with every span mapped."""
    return replace(
        scene,
        mentions=tuple(
            replace(each, span=place(each.span), named_again=tuple(map(place, each.named_again)))
            for each in scene.mentions
        ),
        relations=tuple(
            replace(each, span=place(each.span)) if each.span else each for each in scene.relations
        ),
        notes=tuple(
            replace(each, span=place(each.span)) if each.span else each for each in scene.notes
        ),
        disputed=tuple(
            replace(each, span=place(each.span)) if each.span else each for each in scene.disputed
        ),
    )


def without_syntax(text: str) -> PlainPrompt:
    """Remove all syntax from a prompt, as an extractor of relations reads it."""
    marked = _mark(text)
    plain, origins = marked.plain(frozenset(Syntax))
    return PlainPrompt(text=plain, origins=origins, notes=tuple(marked.notes()))


def drawn_prompt(text: str) -> PlainPrompt:
    """Return the text of the image model, with weights and LoRAs.

    Syntax without effect stays in the text, as the image model was always given it.
    """
    marked = _mark(text)
    plain, origins = marked.plain(DRAWN)
    return PlainPrompt(
        text=plain,
        origins=origins,
        weights=marked.weights(plain, origins),
        loras=marked.loras,
        size=len(text.rstrip()),
    )


def syntax_spans(text: str) -> tuple[TextSpan, ...]:
    """Return the characters of a prompt that are syntax, alternatives not read included."""
    return tuple(_mark(text).dropped_spans())


def drawn_scene(scene: SceneGraph) -> tuple[SceneGraph, tuple[LoraUse, ...]]:
    """Return a scene as the image model draws it, with the LoRAs that its prompt names.

    A prompt whose syntax was applied before is final.

    Raises:
        PromptError: Nothing is left of the prompt.
    """
    prompt = scene.prompt
    if prompt.typed:
        return scene, ()
    plain = drawn_prompt(prompt.text)
    if prompt.text.strip() and not plain.text.strip():
        raise PromptError("The prompt contains only LoRAs.", hint="Describe the picture as well.")
    drawn = plain.applied(scene)
    if not prompt.typed_negative:
        drawn = replace(drawn, prompt=with_negative(drawn.prompt, prompt.negative))
    return drawn, plain.loras


def with_negative(prompt: Prompt, typed: str) -> Prompt:
    """Return a prompt with a negative prompt as typed; LoRAs named in it have no effect."""
    plain = drawn_prompt(typed)
    return replace(
        prompt,
        negative=plain.text,
        negative_weights=plain.weights,
        typed_negative="" if plain.text == typed else typed,
    )


def typed_scene(scene: SceneGraph) -> SceneGraph:
    """Return a scene with the prompt as typed, its choices made; reverses ``drawn_scene``."""
    prompt = scene.prompt
    typed = Prompt(text=prompt.as_typed, negative=prompt.negative_as_typed)
    plain = drawn_prompt(typed.text)
    if plain.text != prompt.text:
        return replace(scene, prompt=typed)
    return plain.restored(scene, typed)


def typed_with_weights(prompt: Prompt, weights: Sequence[SpanWeight]) -> str:
    """Return a prompt as one would type it with weights on its words; LoRAs it names stay.

    Weights on words without a letter, and brackets after a backslash, cannot be typed.

    Args:
        prompt: A prompt as the image model reads it.
        weights: Weights on disjoint spans of its text, in order.
    """
    pieces, end = list[str](), 0
    for each in weights:
        number = f"{each.weight:.4f}".rstrip("0")
        number += "0" * number.endswith(".")
        words = each.span.of(prompt.text)
        is_word = LETTER.search(words) is not None
        typed = f"({_escaped(words)}:{number})" if is_word else _escaped(words)
        pieces += [_escaped(prompt.text[end : each.span.start]), typed]
        end = each.span.stop
    loras = drawn_prompt(prompt.as_typed).loras
    tags = [f" <lora:{each.name}:{each.weight}>" for each in loras]
    return "".join([*pieces, _escaped(prompt.text[end:]), *tags])


def _escaped(text: str) -> str:
    return re.sub(r"([()\[\]{}])", r"\\\1", text)


def _mark(text: str) -> "_Marked":
    marked = _Marked(text)
    _mark_words(marked)
    _mark_escapes(marked)
    _mark_groups(marked)
    for match in SIGNS_BEHIND.finditer(text):
        start = _word_before(text, match.start())
        marked.drop(match.start(), match.end(), Syntax.FOREIGN_WEIGHT, start)
    return marked


class _Marked:
    """A text with marks on the characters to remove.

    Attributes:
        text: The prompt as typed.
        structure: Whether each character is a bracket or separator that is not removed.
        loras: LoRAs found.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.structure = [letter in "()[]{}:|" for letter in text]
        self.loras: tuple[LoraUse, ...] = ()
        self._dropped: list[Syntax | None] = [None] * len(text)
        self._factors: list[tuple[int, int, float]] = []
        self._found: dict[Syntax, TextSpan] = {}

    def drop(self, start: int, stop: int, syntax: Syntax, seen_from: int | None = None) -> None:
        """Mark characters for removal; the example in the note begins at ``seen_from``."""
        for place in range(start, stop):
            self._dropped[place] = syntax
            self.structure[place] = False
        self.note(seen_from if seen_from is not None else start, stop, syntax)

    def is_dropped(self, place: int) -> bool:
        """Return True if a character is marked for removal."""
        return self._dropped[place] is not None

    def dropped_spans(self) -> Iterator[TextSpan]:
        """Yield the runs of characters that are marked for removal, without space at their ends."""
        for is_dropped, run in groupby(range(len(self.text)), self.is_dropped):
            places = [*run]
            first, last = places[0], places[-1] + 1
            part = self.text[first:last]
            if is_dropped and part.strip():
                start = first + len(part) - len(part.lstrip())
                yield TextSpan(start=start, stop=last - len(part) + len(part.rstrip()))

    def weigh(self, start: int, stop: int, factor: float) -> None:
        """Multiply the weight of the characters between two positions; groups nest."""
        self._factors.append((start, stop, factor))

    def note(self, start: int, stop: int, syntax: Syntax) -> None:
        """Record the first, outermost example of a kind of syntax."""
        known = self._found.get(syntax)
        if known is None or start <= known.start:
            self._found[syntax] = TextSpan(start=start, stop=stop)

    def plain(self, removed: frozenset[Syntax]) -> tuple[str, tuple[int, ...]]:
        """Return the remaining text and its origins; removed separators become spaces."""
        letters: list[str] = []
        origins: list[int] = []
        gap: int | None = None
        for place, letter in enumerate(self.text):
            syntax = self._dropped[place]
            if syntax in removed:
                gap = gap if syntax is Syntax.ESCAPE else place
                continue
            if gap is not None and letters and letters[-1].isalnum() and letter.isalnum():
                letters.append(" ")
                origins.append(gap)
            gap = None
            letters.append(letter)
            origins.append(place)
        return "".join(letters), tuple(origins)

    def weights(self, plain: str, origins: tuple[int, ...]) -> tuple[SpanWeight, ...]:
        """Return the products of nested weights on the words of the remaining text."""
        changes = sorted(
            [(start, -stop, factor) for start, stop, factor in self._factors], reverse=True
        )
        open_groups: list[tuple[int, float]] = []
        runs: list[SpanWeight] = []
        for place, origin in enumerate(origins):
            while open_groups and open_groups[-1][0] <= origin:
                open_groups.pop()
            while changes and changes[-1][0] <= origin:
                _, stop, factor = changes.pop()
                product = factor * (open_groups[-1][1] if open_groups else 1.0)
                open_groups.append((-stop, product))
            weight = open_groups[-1][1] if open_groups else 1.0
            if weight != 1.0 and not plain[place].isspace():
                _extend(runs, place, max(-MOST_WEIGHT, min(weight, MOST_WEIGHT)), plain)
        return tuple(runs)

    def notes(self) -> Iterator[Note]:
        """Yield one note per kind of removed syntax that has no effect."""
        for syntax, span in self._found.items():
            if syntax in NOTES:
                example = span.of(self.text)
                if len(example) > LONGEST_EXAMPLE:
                    example = f"{example[: LONGEST_EXAMPLE - 1]}…"
                yield Note(message=NOTES[syntax].format(example=example), span=span)


def _extend(runs: list[SpanWeight], place: int, weight: float, text: str) -> None:
    """Add a character to the last span of the same weight, or begin a span."""
    last = runs[-1] if runs else None
    start = place
    if last is not None and last.weight == weight and not text[last.span.stop : place].strip():
        start = last.span.start
        runs.pop()
    runs.append(SpanWeight(span=TextSpan(start=start, stop=place + 1), weight=weight))


@dataclass(slots=True)
class _Group:
    """An open bracket and its direct contents so far."""

    start: int
    separators: list[int] = field(default_factory=list)
    inner: tuple[int, int] | None = None


def _mark_words(marked: _Marked) -> None:
    """Mark tags, and separators unless the whole prompt is in capitals."""
    text = marked.text
    _mark_loras(marked)
    for match in TAG.finditer(text):
        if not marked.is_dropped(match.start()):
            marked.drop(*match.span(), Syntax.TAG)
    for match in MIDJOURNEY.finditer(text):
        start = _word_before(text, match.start())
        marked.drop(*match.span(), Syntax.FOREIGN_WEIGHT, start)
    if text.isupper():
        return
    for match in BREAK.finditer(text):
        marked.drop(*match.span(), Syntax.PART)
    if parts := list(AND.finditer(text)):
        marked.note(*parts[0].span(), Syntax.PART)
        for match in WEIGHT_OF_PART.finditer(text):
            start = _word_before(text, match.start())
            marked.drop(*match.span(), Syntax.FOREIGN_WEIGHT, start)


def _mark_loras(marked: _Marked) -> None:
    """Mark LoRA tags with the space before them; and the comma, if a tag is an item of a list."""
    text, end, is_first = marked.text, 0, True
    loras: list[LoraUse] = []
    for match in LORA.finditer(text):
        loras.append(LoraUse(name=match[1].strip(), weight=_number(match[2] or "1")))
        before = text[end : match.start()].rstrip()
        start, stop = end + len(before), match.end()
        behind = text[stop:].lstrip()
        is_first = is_first and not before
        if before.endswith(",") and (not behind or behind[0] in ",<"):
            start -= 1
        elif is_first:
            stop = len(text) - len(behind.removeprefix(",").lstrip())
        marked.drop(start, stop, Syntax.LORA)
        end = stop
    marked.loras = tuple(loras)


def _number(text: str) -> float:
    number = float(text.replace(",", "."))
    return max(-MOST_WEIGHT, min(number, MOST_WEIGHT))


def _mark_escapes(marked: _Marked) -> None:
    for match in re.finditer(r"\\([()\[\]{}])", marked.text):
        marked.drop(match.start(), match.start() + 1, Syntax.ESCAPE)
        marked.structure[match.start() + 1] = False


def _mark_groups(marked: _Marked) -> None:
    """Mark brackets and their weights, innermost first."""
    stack: list[_Group] = []
    for place, letter in enumerate(marked.text):
        if not marked.structure[place]:
            continue
        if letter in CLOSING:
            stack.append(_Group(place))
        elif letter in ":|":
            if stack:
                stack[-1].separators.append(place)
        elif stack and CLOSING[marked.text[stack[-1].start]] == letter:
            group = stack.pop()
            if LETTER.search(marked.text, group.start, place):
                _mark_group(marked, group, place)
            if stack:
                stack[-1].inner = (group.start, place)


def _mark_group(marked: _Marked, group: _Group, stop: int) -> None:
    text, start = marked.text, group.start
    if text[start] != "(":
        _mark_choice(marked, group, stop)
        return
    weight = WEIGHT_AT_END.search(text[max(start + 1, stop - LONGEST_WEIGHT) : stop])
    if weight is not None and _is_weight(weight):
        marked.drop(stop - len(weight["weight"]), stop + 1, Syntax.WEIGHT, start)
        marked.drop(start, start + 1, Syntax.WEIGHT)
        marked.weigh(start, stop, _number(weight["number"]))
        return
    behind = WEIGHT_BEHIND.match(text, stop + 1)
    if behind is not None:
        marked.drop(stop, behind.end(), Syntax.FOREIGN_WEIGHT, start)
        marked.drop(start, start + 1, Syntax.FOREIGN_WEIGHT)
        marked.note(start, behind.end(), Syntax.FOREIGN_WEIGHT)
    elif group.inner is not None and _is_all_of(text, group.inner, start, stop):
        for first, last in (group.inner, (start, stop)):
            if not marked.is_dropped(first):
                marked.drop(first, first + 1, Syntax.WEIGHT)
                marked.drop(last, last + 1, Syntax.WEIGHT)
                marked.weigh(first, last, BRACKET_WEIGHT)


def _mark_choice(marked: _Marked, group: _Group, stop: int) -> None:
    """Mark square or curly brackets; of several alternatives the last one drawn is read."""
    text, start = marked.text, group.start
    bounds = [start, *group.separators, stop]
    parts = [(first + 1, last) for first, last in pairwise(bounds)]
    is_choice = any(text[place] == "|" for place in group.separators)
    is_timed = len(parts) > 1 and NUMERIC.fullmatch(text, *parts[-1]) is not None
    syntax = Syntax.CHOICE if text[start] == "{" else Syntax.WEIGHT
    kept = (start + 1, stop)
    if is_choice or is_timed:
        choices = parts if is_choice else parts[:-1]
        named = [part for part in choices if text[slice(*part)].strip()]
        kept = (named[0] if is_choice else named[-1]) if named else kept
        is_several = is_choice or len(parts) > 2  # noqa: PLR2004
        foreign = Syntax.ALTERNATIVES if is_several else Syntax.FOREIGN_WEIGHT
        syntax = Syntax.CHOICE if is_choice and text[start] == "{" else foreign
    if syntax is Syntax.WEIGHT:
        marked.weigh(start, stop, 1 / BRACKET_WEIGHT)
    marked.drop(start, kept[0], syntax)
    marked.drop(kept[1], stop + 1, syntax, start)
    marked.note(start, stop + 1, syntax)


def _is_weight(found: re.Match[str]) -> bool:
    """Return True for a weight such as "cat:1.3", but not for a time or a ratio, "10:30"."""
    return not found["before"].isdigit() or bool({".", ","} & set(found["number"]))


def _is_all_of(text: str, inner: tuple[int, int], start: int, stop: int) -> bool:
    first, last = inner
    is_round = text[first] == "("
    return is_round and not text[start + 1 : first].strip() and not text[last + 1 : stop].strip()


def _word_before(text: str, stop: int) -> int:
    """Return the start of the word that ends at a position."""
    start = stop
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    return start
