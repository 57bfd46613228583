"""What a server has answered, in any of the ways in which servers write down the same thing."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from spatialstudio.domain.frozen import frozen

STREAM_MARK = b"data:"
STREAM_END = b"[DONE]"
THOUGHTS = re.compile(r"\A.*</(think|thinking|thought|reasoning)>", re.DOTALL)
ENDLESS_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*\Z", re.DOTALL)
REASONINGS = ("reasoning_content", "reasoning")
MAX_LOG_PROBABILITY = 1e-3
"""Above 0 by the rounding of some servers."""
_UNREADABLE = (
    *(ValueError, LookupError, TypeError, AttributeError),
    *(ArithmeticError, RecursionError),  # numbers and nesting beyond reason
)


@frozen
class ChatAnswer:
    """What the model said.

    Attributes:
        text: Its words.
        first_chances: The likeliest tokens at the first place with their natural
            log-probabilities; empty when the server does not tell.
    """

    text: str
    first_chances: tuple[tuple[str, float], ...] = ()


class ServerFailure(Exception):  # noqa: N818 - told as a note, never to the user as an error
    """A server did not answer.

    Attributes:
        reason: Says what happened, to follow the server's name; holds no word of the server's own.
        is_passing: Whether another attempt may help.
        wait_s: How long the server asks to wait; None when it does not say.
        refuses_schema: Whether the server may not know structured output.
        is_refusal: Whether the model declines this one question.
    """

    def __init__(
        self,
        reason: str,
        *,
        is_passing: bool = False,
        wait_s: float | None = None,
        refuses_schema: bool = False,
        is_refusal: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_passing = is_passing
        self.wait_s = wait_s
        self.refuses_schema = refuses_schema
        self.is_refusal = is_refusal


def read_body(body: bytes) -> ChatAnswer:
    """Take the model's words out of an answer, streamed or not; what it thought aloud is left out.

    Raises:
        ServerFailure: It refuses, or the answer is none of the chat-completions protocol.
    """
    try:
        choices = list(_choices(body))
        said = [choice.get("message") or choice.get("delta") or {} for choice in choices]
        if any(part.get("refusal") for part in said):
            raise ServerFailure("refused to answer", is_refusal=True)
        return ChatAnswer(
            text=_words_of(said),
            first_chances=next((chances for each in choices if (chances := _chances(each))), ()),
        )
    except _UNREADABLE as error:
        raise ServerFailure("does not speak the chat-completions protocol") from error


def _choices(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the answer's choice, or its parts when it was streamed.

    A stream may begin with comments: ": keep-alive".
    """
    events = [line for line in body.splitlines() if line.startswith(STREAM_MARK)]
    if not events:
        yield json.loads(body)["choices"][0]
    for event in events:
        data = event.removeprefix(STREAM_MARK).strip()
        if data != STREAM_END:
            yield from json.loads(data)["choices"][:1]


def _words_of(said: list[dict[str, Any]]) -> str:
    """Join what was said; some servers put all of a thinking model's words beside its content."""
    content = "".join(_text(part.get("content")) for part in said)
    content = ENDLESS_THOUGHT.sub("", THOUGHTS.sub("", content))
    if content.strip():
        return content
    return "".join(_text(part.get(name)) for part in said for name in REASONINGS)


def _text(content: object) -> str:
    """Return words that are given as they are or in parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content)
    return "" if content is None else str(content)


def _chances(piece: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Read the likeliest tokens at the first place of a choice; empty when it tells none."""
    places = (piece.get("logprobs") or {}).get("content") or []
    listed = (places[0].get("top_logprobs") or []) if places else []
    return tuple((str(each["token"]), _log_probability(each["logprob"])) for each in listed)


def _log_probability(value: float) -> float:
    if not float(value) <= MAX_LOG_PROBABILITY:  # NaN as well
        raise ValueError("No log-probability.")
    return min(float(value), 0.0)
