"""The words of a prompt in order, with mentions as single units."""

import re
from collections.abc import Iterator
from functools import lru_cache

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.scene import (
    MentionId,
    ObjectMention,
    SceneGraph,
    TextSpan,
    hues_of,
)

SCENES_KEPT = 16
"""Size of the cache; each step of a run requests the same words several times."""

_WORD = re.compile(r"[\w'\u2019-]+")


@frozen
class PromptWord:
    """A word or a multi-word mention; a repeated word yields one instance per position.

    Attributes:
        key: Key of its attention maps: the mention's id, or a name derived from its position.
        text: Text as in the prompt.
        start: Index of its first character in the prompt.
        stop: Index after its last character.
        hue: Stable colour index, shared by all occurrences of a mention; other words come after.
        is_mention: Whether it is the first occurrence of a mention, which owns the mention's maps.
        is_named_again: Whether it refers to an earlier mention.
    """

    key: MentionId
    text: str
    start: int
    stop: int
    hue: int
    is_mention: bool = False
    is_named_again: bool = False


def words_of(scene: SceneGraph) -> tuple[PromptWord, ...]:
    """Return the words of a scene's prompt in text order."""
    return _words_of(scene.prompt.text, scene.mentions)


@lru_cache(maxsize=SCENES_KEPT)
def _words_of(text: str, mentions: tuple[ObjectMention, ...]) -> tuple[PromptWord, ...]:
    return tuple(sorted(_found(text, mentions), key=lambda word: (word.start, word.stop)))


def _found(text: str, mentions: tuple[ObjectMention, ...]) -> Iterator[PromptWord]:
    """Yield the words, mentions first; the hues of other words follow those of the mentions."""
    hues, taken = hues_of(mentions), set[int]()
    for mention in mentions:
        hue = hues[mention.id]
        yield _word(mention.phrase, mention.span, hue, key=mention.id, is_mention=True)
        for span in mention.named_again:
            yield _word(span.of(text), span, hue, is_named_again=True)
        for span in (mention.span, *mention.named_again):
            taken.update(range(span.start, span.stop))
    hue = max(hues.values(), default=-1)
    for match in _WORD.finditer(text):
        if taken.isdisjoint(range(*match.span())):
            hue += 1
            yield _word(match.group(), TextSpan(start=match.start(), stop=match.end()), hue)


def _word(
    text: str,
    span: TextSpan,
    hue: int,
    *,
    key: MentionId | None = None,
    is_mention: bool = False,
    is_named_again: bool = False,
) -> PromptWord:
    return PromptWord(
        key=key or MentionId(f"word-{span.start}"),
        text=text,
        start=span.start,
        stop=span.stop,
        hue=hue,
        is_mention=is_mention,
        is_named_again=is_named_again,
    )
