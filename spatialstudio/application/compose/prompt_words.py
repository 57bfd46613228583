"""The words of a prompt, one by one: things by their mentions, all others by their place."""

import re
from collections.abc import Iterator
from functools import lru_cache

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import (
    MentionId,
    ObjectMention,
    TextSpan,
    hues_of,
)
from spatialstudio.domain.relation import SceneGraph

SCENES_KEPT = 16
"""Each step of a run asks for the same words several times."""

_WORD = re.compile(r"[\w'\u2019-]+")


@frozen
class PromptWord:
    """A word, or a thing of several words; the same word at two places is two of these.

    Attributes:
        key: Of its maps: the mention's id, or a name made of its place.
        text: As it stands in the prompt.
        start: Of its characters in the prompt.
        stop: Behind them.
        hue: The same everywhere; that of a thing wherever it is named, others have later ones.
        is_mention: Whether it names a thing first, so that the thing's maps are its own.
        is_named_again: Whether it points back to a thing.
    """

    key: MentionId
    text: str
    start: int
    stop: int
    hue: int
    is_mention: bool = False
    is_named_again: bool = False


def words_of(scene: SceneGraph) -> tuple[PromptWord, ...]:
    """Return the words of a scene's prompt in the order of the text."""
    return _words_of(scene.prompt.text, scene.mentions)


@lru_cache(maxsize=SCENES_KEPT)
def _words_of(text: str, mentions: tuple[ObjectMention, ...]) -> tuple[PromptWord, ...]:
    return tuple(sorted(_found(text, mentions), key=lambda word: (word.start, word.stop)))


def _found(text: str, mentions: tuple[ObjectMention, ...]) -> Iterator[PromptWord]:
    """List the words, those of things first; all others have hues behind those of the things."""
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
