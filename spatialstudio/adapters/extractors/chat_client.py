"""Asks a server that speaks the chat-completions protocol, and never waits longer than allowed.

The body is read by hand, byte by byte as it comes: only so can a server that drips, rambles or
streams without being asked be held to a deadline, a size and the user's wish to stop.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event
from time import monotonic
from typing import Any

import httpx2
import openai

from spatialstudio.adapters.extractors.model_answers import ANSWER_SCHEMA
from spatialstudio.adapters.extractors.server import ServerSettings
from spatialstudio.domain.ports import CancelToken

NO_KEY = "none"
SEED = 0
CONNECT_S = 3.0
SLICE_S = 0.05
STREAM_MARK = b"data:"
SERVER_FAULT = 500
REFUSED_SCHEMA = {400, 422}
BUSY = {408, 409, 429}


class ServerFailure(Exception):  # noqa: N818 - told as a note, never to the user as an error
    """A server did not answer.

    Attributes:
        reason: Says what happened, to follow the server's name; holds no word of the server's own.
        is_passing: Whether another attempt may help.
        wait_s: How long the server asks to wait; None when it does not say.
        refuses_schema: Whether the server may not know structured output.
    """

    def __init__(
        self,
        reason: str,
        *,
        is_passing: bool = False,
        wait_s: float | None = None,
        refuses_schema: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_passing = is_passing
        self.wait_s = wait_s
        self.refuses_schema = refuses_schema


class ChatClient:
    """Asks one server; made anew for each question is fine, it keeps nothing."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings

    def ask(self, instruction: str, text: str, token: CancelToken | None = None) -> str:
        """Return the model's answer.

        Args:
            instruction: What to do, as the system's words.
            text: What to do it with, as the user's words.
            token: Asked between the pieces of the answer and while waiting.

        Raises:
            ServerFailure: No attempt has brought an answer.
            Cancelled: The token was cancelled.
        """
        deadline = monotonic() + self._settings.patience_s
        wait_s = self._settings.first_wait_s
        with_schema = True
        for attempt in range(1, self._settings.attempts + 1):
            try:
                return self._ask_once(_messages(instruction, text), with_schema, token)
            except ServerFailure as failure:
                is_last = attempt == self._settings.attempts
                if is_last or not (failure.is_passing or failure.refuses_schema):
                    raise
                pause = 0.0 if failure.refuses_schema else failure.wait_s or wait_s
                if monotonic() + pause > deadline:
                    raise
                with_schema = with_schema and not failure.refuses_schema
            _wait(pause, token)
            wait_s *= 2
        raise AssertionError("The last attempt returns or raises.")

    def _ask_once(
        self, messages: list[dict[str, str]], with_schema: bool, token: CancelToken | None
    ) -> str:
        settings = self._settings
        with _translated(with_schema), self._client() as client:
            asking = client.chat.completions.with_streaming_response.create(
                model=settings.model,
                messages=messages,  # type: ignore[arg-type]  # plain rows of the protocol
                temperature=0,
                seed=SEED,
                max_tokens=settings.answer_tokens,
                response_format=_response_format(with_schema),
            )
            with asking as response:
                return _content(self._body(response.iter_bytes(), token))

    def _client(self) -> openai.OpenAI:
        settings = self._settings
        transport = openai.DefaultHttpxClient(trust_env=not settings.is_local)
        return openai.OpenAI(
            base_url=settings.url,
            api_key=settings.key or NO_KEY,
            timeout=openai.Timeout(settings.timeout_s, connect=CONNECT_S),
            max_retries=0,
            http_client=transport,
        )

    def _body(self, pieces: Iterator[bytes], token: CancelToken | None) -> bytes:
        deadline = monotonic() + self._settings.timeout_s
        body = bytearray()
        for piece in pieces:
            body += piece
            if token is not None:
                token.raise_if_cancelled()
            if monotonic() > deadline:
                raise ServerFailure("takes too long")
            if len(body) > self._settings.answer_bytes:
                raise ServerFailure("answers at too great a length")
        return bytes(body)


def _messages(instruction: str, text: str) -> list[dict[str, str]]:
    asked = json.dumps({"text": text}, ensure_ascii=False)
    return [{"role": "system", "content": instruction}, {"role": "user", "content": asked}]


def _response_format(with_schema: bool) -> Any:
    if not with_schema:
        return openai.omit
    schema = {"name": "relations", "strict": True, "schema": ANSWER_SCHEMA}
    return {"type": "json_schema", "json_schema": schema}


def _content(body: bytes) -> str:
    """Take the model's words out of an answer, streamed or not."""
    try:
        if body.lstrip().startswith(STREAM_MARK):
            return "".join(_streamed(body))
        message = json.loads(body)["choices"][0]["message"]
        if message.get("refusal"):
            raise ServerFailure("refuses to answer")
        return str(message["content"] or "")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ServerFailure("does not speak the chat-completions protocol") from error


def _streamed(body: bytes) -> Iterator[str]:
    for line in body.splitlines():
        data = line.removeprefix(STREAM_MARK).strip()
        if line.startswith(STREAM_MARK) and data != b"[DONE]":
            choices = json.loads(data)["choices"]
            yield (choices[0]["delta"].get("content") or "") if choices else ""


@contextmanager
def _translated(with_schema: bool) -> Iterator[None]:
    """Tell what the library raises in words without the server's own, which may hold the key."""
    try:
        yield
    except (openai.APITimeoutError, httpx2.TimeoutException) as error:
        raise ServerFailure("does not answer in time") from error
    except openai.APIStatusError as error:
        raise _status_failure(error, with_schema) from error
    except openai.APIConnectionError as error:
        raise ServerFailure("cannot be reached") from error
    except httpx2.HTTPError as error:
        raise ServerFailure("breaks off", is_passing=True) from error
    except openai.OpenAIError as error:
        raise ServerFailure("does not speak the chat-completions protocol") from error


def _status_failure(error: openai.APIStatusError, with_schema: bool) -> ServerFailure:
    status = error.status_code
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return ServerFailure("refuses the key")
    if isinstance(error, openai.NotFoundError):
        return ServerFailure("does not know the model")
    if status in REFUSED_SCHEMA:
        return ServerFailure("does not accept the question", refuses_schema=with_schema)
    if status in BUSY:
        return ServerFailure("is busy", is_passing=True, wait_s=_asked_wait(error))
    if status >= SERVER_FAULT:
        return ServerFailure("fails", is_passing=True, wait_s=_asked_wait(error))
    return ServerFailure("does not accept the question")


def _asked_wait(error: openai.APIStatusError) -> float | None:
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def _wait(seconds: float, token: CancelToken | None) -> None:
    """Wait in slices, so that the user can stop it."""
    never = Event()
    end = monotonic() + seconds
    while (left := end - monotonic()) > 0:
        if token is not None:
            token.raise_if_cancelled()
        never.wait(min(left, SLICE_S))
