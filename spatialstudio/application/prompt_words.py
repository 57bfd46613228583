"""The words of a prompt, one by one: things by their mentions, all others by their place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from spatialstudio.domain.prompt import MentionId, ObjectMention
from spatialstudio.domain.relation import SceneGraph

SCENES_KEPT = 16
"""Each step of a run asks for the same words several times."""

_WORD = re.compile(r"[\w'\u2019-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptWord:
    """A word, or a thing of several words; the same word at two places is two of these.

    Attributes:
        key: Of its maps: the mention's id, or a name made of its place.
        text: As it stands in the prompt.
        start: Of its characters in the prompt.
        stop: Behind them.
        hue: The same everywhere; mentions have the first ones.
        is_mention: Whether it names a thing.
    """

    key: MentionId
    text: str
    start: int
    stop: int
    hue: int
    is_mention: bool


def words_of(scene: SceneGraph) -> tuple[PromptWord, ...]:
    """Return the words of a scene's prompt in the order of the text."""
    return _words_of(scene.prompt.text, scene.mentions)


@lru_cache(maxsize=SCENES_KEPT)
def _words_of(text: str, mentions: tuple[ObjectMention, ...]) -> tuple[PromptWord, ...]:
    return tuple(sorted(_found(text, mentions), key=lambda word: (word.start, word.stop)))


def _found(text: str, mentions: tuple[ObjectMention, ...]) -> Iterator[PromptWord]:
    for hue, mention in enumerate(mentions):
        span = mention.span
        yield PromptWord(
            key=mention.id,
            text=mention.phrase,
            start=span.start,
            stop=span.stop,
            hue=hue,
            is_mention=True,
        )
    hue = len(mentions)
    for match in _WORD.finditer(text):
        start, stop = match.span()
        if not any(m.span.start < stop and start < m.span.stop for m in mentions):
            yield PromptWord(
                key=MentionId(f"word-{start}"),
                text=match.group(),
                start=start,
                stop=stop,
                hue=hue,
                is_mention=False,
            )
            hue += 1
