"""Asks a server that speaks the chat-completions protocol, and never waits longer than allowed.

The body is read by hand, byte by byte as it comes: only so can a server that drips, rambles or
streams without being asked be held to a deadline, a size and the user's wish to stop.
"""

import json
from base64 import b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from functools import partial
from threading import Event
from time import monotonic
from typing import Any

import httpx2
import openai

from spatialstudio.adapters.chat_answers import ChatAnswer, ServerFailure, read_body
from spatialstudio.adapters.interruptible_call import BEAT_S, Hooks, InterruptibleCall
from spatialstudio.adapters.server import ServerSettings, is_address
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import CancelToken

NO_KEY = "none"
SEED = 0
CONNECT_S = 3.0
SERVER_FAULT = 500
REFUSED_SCHEMA = {400, 422}
BUSY = {408, 409, 429}


@frozen
class AnswerForm:
    """What an answer shall look like.

    Attributes:
        name: For the server.
        schema: JSON schema of the whole answer.
    """

    name: str
    schema: Mapping[str, Any]


@frozen
class ChatQuestion:
    """One question, complete in itself.

    Attributes:
        instruction: What to do, as the system's words.
        text: What to do it with, as the user's words.
        form: None when plain words will do; a server that refuses it is asked without.
        picture: A PNG file to go with the text; empty for none.
        chances: How many of the likeliest words the first place of the answer shall tell of, with
            their log-probabilities; 0 for none.
        answer_tokens: The longest answer; None for the server's usual.
    """

    instruction: str
    text: str
    form: AnswerForm | None = None
    picture: bytes = field(default=b"", repr=False)
    chances: int = 0
    answer_tokens: int | None = None


class ChatClient:
    """Asks one server; made anew for each question is fine, it keeps nothing."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings

    def ask(self, question: ChatQuestion, token: CancelToken | None = None) -> ChatAnswer:
        """Return the model's answer.

        Args:
            question: What to ask.
            token: Asked all the while.

        Raises:
            ServerFailure: No attempt has brought an answer.
            Cancelled: The token was cancelled.
        """
        if not is_address(self._settings.url):
            names = ", ".join(self._settings.known_names)
            raise ServerFailure(f"has no usable address; known by name are {names}")
        deadline = monotonic() + self._settings.patience_s
        wait_s = self._settings.first_wait_s
        for attempt in range(1, self._settings.attempts + 1):
            try:
                return self._attempt(question, token)
            except ServerFailure as failure:
                is_last = attempt == self._settings.attempts
                if is_last or not (failure.is_passing or failure.refuses_schema):
                    raise
                pause = 0.0 if failure.refuses_schema else failure.wait_s or wait_s
                if monotonic() + pause > deadline:
                    raise
                if failure.refuses_schema:
                    question = replace(question, form=None)
            _wait(pause, token)
            wait_s *= 2
        raise AssertionError("The last attempt returns or raises.")

    def _attempt(self, question: ChatQuestion, token: CancelToken | None) -> ChatAnswer:
        ask = partial(self._ask_once, question)
        return ask({}) if token is None else InterruptibleCall(ask).wait_for(token)

    def _ask_once(self, question: ChatQuestion, hooks: Hooks) -> ChatAnswer:
        settings = self._settings
        with _translated(question.form is not None), self._client(hooks) as client:
            asking = client.chat.completions.with_streaming_response.create(
                model=settings.model,
                messages=_messages(question),  # type: ignore[arg-type]  # rows of the protocol
                temperature=0,
                seed=SEED,
                max_tokens=question.answer_tokens or settings.answer_tokens,
                response_format=_response_format(question.form),
                logprobs=True if question.chances else openai.omit,
                top_logprobs=question.chances or openai.omit,
            )
            with asking as response:
                return read_body(self._body(response.iter_bytes()))

    def _client(self, hooks: Hooks) -> openai.OpenAI:
        settings = self._settings
        transport = openai.DefaultHttpxClient(
            trust_env=not settings.is_local, event_hooks=dict(hooks)
        )
        return openai.OpenAI(
            base_url=settings.url,
            api_key=settings.key or NO_KEY,
            timeout=openai.Timeout(settings.timeout_s, connect=CONNECT_S),
            max_retries=0,
            http_client=transport,
        )

    def _body(self, pieces: Iterator[bytes]) -> bytes:
        deadline = monotonic() + self._settings.timeout_s
        body = bytearray()
        for piece in pieces:
            body += piece
            if monotonic() > deadline:
                raise ServerFailure("takes too long")
            if len(body) > self._settings.answer_bytes:
                raise ServerFailure("answers at too great a length")
        return bytes(body)


def _messages(question: ChatQuestion) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": question.instruction},
        {"role": "user", "content": _user_words(question)},
    ]


def _user_words(question: ChatQuestion) -> str | list[dict[str, Any]]:
    if not question.picture:
        return json.dumps({"text": question.text}, ensure_ascii=False)
    address = f"data:image/png;base64,{b64encode(question.picture).decode()}"
    return [
        {"type": "image_url", "image_url": {"url": address}},
        {"type": "text", "text": question.text},
    ]


def _response_format(form: AnswerForm | None) -> Any:
    if form is None:
        return openai.omit
    schema = {"name": form.name, "strict": True, "schema": form.schema}
    return {"type": "json_schema", "json_schema": schema}


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
        never.wait(min(left, BEAT_S))
