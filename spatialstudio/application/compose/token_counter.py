"""Token counts of a prompt, from the tokenizers in the engine."""

from collections.abc import Iterable

from spatialstudio.application.jobs.messages import EngineAnswer, ReadTokens, TokensRead
from spatialstudio.domain.errors import prompt_too_long
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.scene import (
    ObjectMention,
    SceneGraph,
    TextSpan,
    TokenReading,
)


@frozen
class TokenCount:
    """The tokens of a prompt as shown in the window.

    Attributes:
        tokens: Span of each token, by the text encoder with the highest limit.
        read: Number of characters that some text encoder reads; later text is truncated.
        limit: Token limit of this encoder.
    """

    tokens: tuple[TextSpan, ...]
    read: int
    limit: int


class TokenCounter(EngineAnswer[ReadTokens, TokensRead]):
    """Requests the tokens of prompts from the engine and keeps the newest answer."""

    answer_type = TokensRead

    def read(self, prompt: str, model: ModelCard) -> None:
        """Request the tokens of a prompt; the engine answers with ``TokensRead``."""
        if prompt.strip():
            self._ask(ReadTokens(prompt=prompt, model=model))

    def whole(self, scene: SceneGraph) -> SceneGraph:
        """Return the scene if the model reads all of its relations, as far as is known.

        Raises:
            PromptError: A mention of a relation is truncated.
        """
        newest = self._newest
        if newest is None or newest.prompt != scene.prompt.text:
            return scene
        if cut := cut_off(scene, count_of(newest.readings).read):
            raise prompt_too_long(mention.phrase for mention in cut)
        return scene


def count_of(readings: Iterable[TokenReading]) -> TokenCount:
    """Combine the readings of several text encoders: one that reads a word is sufficient."""
    reading = max(readings, key=lambda each: each.limit)
    read = reading.tokens[: reading.read]
    is_whole = reading.read >= len(reading.tokens)
    ends = reading.tokens if is_whole else read
    return TokenCount(
        tokens=reading.tokens,
        read=max((token.stop for token in ends), default=0),
        limit=reading.limit,
    )


def unread_text(answer: TokensRead) -> str:
    """Return the end of a prompt that no text encoder reads; empty if all is read."""
    return answer.prompt[count_of(answer.readings).read :].strip()


def cut_off(scene: SceneGraph, read: int) -> tuple[ObjectMention, ...]:
    """Return the mentions of relations that are truncated, wholly or in part.

    Args:
        scene: Scene of the prompt.
        read: Number of characters that are read.
    """
    related = {end for relation in scene.relations for end in relation.ends}
    return tuple(
        mention for mention in scene.mentions if mention.id in related and mention.span.stop > read
    )
