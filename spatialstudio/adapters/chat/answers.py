"""Parser for chat-completions answers in the variants of different servers."""

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
"""Tolerance above 0 for the rounding of some servers."""
_UNREADABLE = (
    *(ValueError, LookupError, TypeError, AttributeError),
    *(ArithmeticError, RecursionError),  # out-of-range numbers and excessive nesting
)


@frozen
class ChatAnswer:
    """A model's answer.

    Attributes:
        text: Text of the answer.
        first_chances: The most likely first tokens with their natural log-probabilities; empty
            if the server does not return them.
    """

    text: str
    first_chances: tuple[tuple[str, float], ...] = ()


class ServerFailure(Exception):  # noqa: N818 - told as a note, never to the user as an error
    """A failed request to a server.

    Attributes:
        reason: What happened, to follow the server's name; contains no text from the server.
        is_passing: Whether a retry may help.
        wait_s: Delay that the server requests; None if it gives none.
        refuses_schema: Whether the server may not support structured output.
        is_refusal: Whether the model declines this question.
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
    """Extract the model's text from a response, streamed or not, without its reasoning.

    Raises:
        ServerFailure: The server refuses, or the response violates the protocol.
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
    """Yield the choice of a response, or its chunks if it was streamed.

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
    """Join the text; some servers put all text of a reasoning model outside ``content``."""
    content = "".join(_text(part.get("content")) for part in said)
    content = ENDLESS_THOUGHT.sub("", THOUGHTS.sub("", content))
    if content.strip():
        return content
    return "".join(_text(part.get(name)) for part in said for name in REASONINGS)


def _text(content: object) -> str:
    """Return text given as a string or in parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content)
    return "" if content is None else str(content)


def _chances(piece: Mapping[str, Any]) -> tuple[tuple[str, float], ...]:
    """Return the most likely first tokens of a choice; empty if it has none."""
    places = (piece.get("logprobs") or {}).get("content") or []
    listed = (places[0].get("top_logprobs") or []) if places else []
    return tuple((str(each["token"]), _log_probability(each["logprob"])) for each in listed)


def _log_probability(value: float) -> float:
    if not float(value) <= MAX_LOG_PROBABILITY:  # also rejects NaN
        raise ValueError("No log-probability.")
    return min(float(value), 0.0)
