"""The words of a prompt, one by one: things by their mentions, all others by their place."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.relation import SceneGraph

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
    return tuple(sorted(_found(scene), key=lambda word: (word.start, word.stop)))


def _found(scene: SceneGraph) -> Iterator[PromptWord]:
    for hue, mention in enumerate(scene.mentions):
        span = mention.span
        yield PromptWord(
            key=mention.id,
            text=mention.phrase,
            start=span.start,
            stop=span.stop,
            hue=hue,
            is_mention=True,
        )
    hue = len(scene.mentions)
    for match in _WORD.finditer(scene.prompt.text):
        start, stop = match.span()
        if not any(m.span.start < stop and start < m.span.stop for m in scene.mentions):
            yield PromptWord(
                key=MentionId(f"word-{start}"),
                text=match.group(),
                start=start,
                stop=stop,
                hue=hue,
                is_mention=False,
            )
            hue += 1
