r"""Removal of prompt syntax of other programs before reading: weights, tags, alternatives.

    (cat:1.3)  ((cat))  (cat)1.3  cat++  cat::1.3  [cat]  {cat}    weights
    <lora:name:0.8>  <lyco:...>  <hypernet:...>                     tags
    [cat:dog:0.5]  [cat|dog]  {cat|dog}                             alternatives; one is read
    BREAK  AND                                                      parts of a prompt
    \( \)                                                           literal parentheses

None of it affects the picture yet, and a note says so. Single parentheses are prose, "a cat (black)
on a mat", and stay. Spans refer to the text as typed.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import pairwise

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    Note,
    Prompt,
    SceneGraph,
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


class Syntax(Enum):
    """A kind of syntax; the value is the user's note about it, with an example."""

    WEIGHT = 'Weights such as "{example}" have no effect yet.'
    TAG = '"{example}" has no effect yet: only the chosen model draws.'
    ALTERNATIVES = 'Alternatives such as "{example}" have no effect yet; one of them is read.'
    PART = '"{example}" has no effect yet: the prompt is read as one text.'
    ESCAPE = 'The backslash in "{example}" has no effect yet: parentheses are read as they stand.'


@frozen
class PlainPrompt:
    """A prompt without foreign syntax.

    Attributes:
        text: The text to read.
        origins: For every character of ``text``, its position in the prompt as typed.
        notes: Notes on the removed syntax.
    """

    text: str
    origins: tuple[int, ...]
    notes: tuple[Note, ...]

    def restored(self, scene: SceneGraph, prompt: Prompt) -> SceneGraph:
        """Map a scene graph of ``text`` back to the prompt as typed, and add the notes."""
        if not self.notes:
            return replace(scene, prompt=prompt)
        return replace(
            scene,
            prompt=prompt,
            mentions=tuple(
                replace(
                    each,
                    span=self._typed(each.span),
                    named_again=tuple(map(self._typed, each.named_again)),
                )
                for each in scene.mentions
            ),
            relations=tuple(
                replace(each, span=self._typed(each.span)) if each.span else each
                for each in scene.relations
            ),
            notes=(
                *(
                    replace(each, span=self._typed(each.span)) if each.span else each
                    for each in scene.notes
                ),
                *self.notes,
            ),
        )

    def _typed(self, span: TextSpan) -> TextSpan:
        return TextSpan(start=self.origins[span.start], stop=self.origins[span.stop - 1] + 1)


def without_weights(text: str) -> PlainPrompt:
    """Remove foreign syntax from a prompt."""
    marked = _Marked(text)
    _mark_words(marked)
    _mark_escapes(marked)
    _mark_groups(marked)
    for match in SIGNS_BEHIND.finditer(text):
        marked.drop(match.start(), match.end(), Syntax.WEIGHT, _word_before(text, match.start()))
    plain, origins = marked.plain()
    return PlainPrompt(text=plain, origins=origins, notes=tuple(marked.notes()))


class _Marked:
    """A text with marks on the characters to remove."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.structure = [letter in "()[]{}:|" for letter in text]
        self._is_dropped = [False] * len(text)
        self._is_gap = [False] * len(text)
        self._found: dict[Syntax, TextSpan] = {}

    def drop(self, start: int, stop: int, syntax: Syntax, seen_from: int | None = None) -> None:
        """Mark characters for removal; the example in the note begins at ``seen_from``."""
        for place in range(start, stop):
            self._is_dropped[place] = True
            self.structure[place] = False
            self._is_gap[place] = syntax is not Syntax.ESCAPE
        self.note(seen_from if seen_from is not None else start, stop, syntax)

    def note(self, start: int, stop: int, syntax: Syntax) -> None:
        """Record the first, outermost example of a kind of syntax."""
        known = self._found.get(syntax)
        if known is None or start <= known.start:
            self._found[syntax] = TextSpan(start=start, stop=stop)

    def plain(self) -> tuple[str, tuple[int, ...]]:
        """Return the remaining text and its origins; removed separators become spaces."""
        letters: list[str] = []
        origins: list[int] = []
        gap: int | None = None
        for place, letter in enumerate(self.text):
            if self._is_dropped[place]:
                gap = place if self._is_gap[place] else gap
                continue
            if gap is not None and letters and letters[-1].isalnum() and letter.isalnum():
                letters.append(" ")
                origins.append(gap)
            gap = None
            letters.append(letter)
            origins.append(place)
        return "".join(letters), tuple(origins)

    def notes(self) -> Iterator[Note]:
        """Yield one note per kind of removed syntax."""
        for syntax, span in self._found.items():
            example = span.of(self.text)
            if len(example) > LONGEST_EXAMPLE:
                example = f"{example[: LONGEST_EXAMPLE - 1]}…"
            yield Note(message=syntax.value.format(example=example), span=span)


@dataclass(slots=True)
class _Group:
    """An open bracket and its direct contents so far."""

    start: int
    separators: list[int] = field(default_factory=list)
    inner: tuple[int, int] | None = None


def _mark_words(marked: _Marked) -> None:
    """Mark tags, and separators unless the whole prompt is in capitals."""
    text = marked.text
    for match in TAG.finditer(text):
        marked.drop(*match.span(), Syntax.TAG)
    for match in MIDJOURNEY.finditer(text):
        marked.drop(*match.span(), Syntax.WEIGHT, _word_before(text, match.start()))
    if text.isupper():
        return
    for match in BREAK.finditer(text):
        marked.drop(*match.span(), Syntax.PART)
    if parts := list(AND.finditer(text)):
        marked.note(*parts[0].span(), Syntax.PART)
        for match in WEIGHT_OF_PART.finditer(text):
            marked.drop(*match.span(), Syntax.WEIGHT, _word_before(text, match.start()))


def _mark_escapes(marked: _Marked) -> None:
    for match in re.finditer(r"\\([()\[\]{}])", marked.text):
        marked.drop(match.start(), match.start() + 1, Syntax.ESCAPE)
        marked.note(*match.span(), Syntax.ESCAPE)
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
        marked.note(start, stop + 1, Syntax.WEIGHT)
        return
    behind = WEIGHT_BEHIND.match(text, stop + 1)
    if behind is not None:
        marked.drop(stop, behind.end(), Syntax.WEIGHT, start)
        marked.drop(start, start + 1, Syntax.WEIGHT)
        marked.note(start, behind.end(), Syntax.WEIGHT)
    elif group.inner is not None and _is_all_of(text, group.inner, start, stop):
        for place in (group.inner[1], stop, group.inner[0], start):
            marked.drop(place, place + 1, Syntax.WEIGHT)
        marked.note(start, stop + 1, Syntax.WEIGHT)


def _mark_choice(marked: _Marked, group: _Group, stop: int) -> None:
    """Mark square or curly brackets; of several alternatives the last one drawn is read."""
    text, start = marked.text, group.start
    bounds = [start, *group.separators, stop]
    parts = [(first + 1, last) for first, last in pairwise(bounds)]
    is_choice = any(text[place] == "|" for place in group.separators)
    is_timed = len(parts) > 1 and NUMERIC.fullmatch(text, *parts[-1]) is not None
    syntax = Syntax.WEIGHT
    kept = (start + 1, stop)
    if is_choice or is_timed:
        choices = parts if is_choice else parts[:-1]
        named = [part for part in choices if text[slice(*part)].strip()]
        kept = (named[0] if is_choice else named[-1]) if named else kept
        syntax = Syntax.ALTERNATIVES if is_choice or len(parts) > 2 else syntax  # noqa: PLR2004
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
