"""What the model reads of a prompt: asked of the engine, which has the tokenizers."""

from collections.abc import Iterable

from spatialstudio.application.jobs.messages import EngineAnswer, ReadTokens, TokensRead
from spatialstudio.domain.errors import prompt_too_long
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import ModelCard
from spatialstudio.domain.prompt import (
    ObjectMention,
    TextSpan,
    TokenReading,
)
from spatialstudio.domain.relation import SceneGraph


@frozen
class TokenCount:
    """A prompt's tokens as the window shows them.

    Attributes:
        tokens: The characters of each, by the encoder that reads most.
        read: Characters that some encoder reads; what stands behind them is cut off.
        limit: Tokens that this encoder could read.
    """

    tokens: tuple[TextSpan, ...]
    read: int
    limit: int


class TokenCounter(EngineAnswer[ReadTokens, TokensRead]):
    """Has prompts tokenized by the engine, and keeps the newest answer."""

    answer_type = TokensRead

    def read(self, prompt: str, model: ModelCard) -> None:
        """Have a prompt taken apart; ``TokensRead`` is published when it is."""
        if prompt.strip():
            self._ask(ReadTokens(prompt=prompt, model=model))

    def whole(self, scene: SceneGraph) -> SceneGraph:
        """Return a scene whose relations the model reads whole, as far as is known.

        Raises:
            PromptError: A thing of a relation is cut off.
        """
        newest = self._newest
        if newest is None or newest.prompt != scene.prompt.text:
            return scene
        if cut := cut_off(scene, count_of(newest.readings).read):
            raise prompt_too_long(mention.phrase for mention in cut)
        return scene


def count_of(readings: Iterable[TokenReading]) -> TokenCount:
    """Sum up what several text encoders read: a word counts as read when one of them reads it."""
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
    """Return the end of a prompt that no text encoder reads; empty when all is read."""
    return answer.prompt[count_of(answer.readings).read :].strip()


def cut_off(scene: SceneGraph, read: int) -> tuple[ObjectMention, ...]:
    """Return the things of relations that lie beyond what is read, wholly or in part.

    Args:
        scene: What the prompt claims.
        read: Characters that are read.
    """
    related = {end for relation in scene.relations for end in relation.ends}
    return tuple(
        mention for mention in scene.mentions if mention.id in related and mention.span.stop > read
    )
