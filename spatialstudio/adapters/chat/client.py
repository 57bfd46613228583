"""Client for chat-completions servers with limits on time and size.

``BoundedClient`` limits every response: bytes before and after decompression, redirects, and no
error bodies. ``InterruptibleCall`` enforces the deadline and the user's cancellation whatever the
server does: slow headers and bodies, endless streams, silence.

Answers are parsed in the variants of different servers.
"""

import json
import os
import re
import socket
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import contextmanager, suppress
from dataclasses import field, replace
from functools import partial
from threading import Event, Thread
from time import monotonic
from typing import Any, Generic, TypeVar

import httpx2
import openai

from spatialstudio.adapters.chat.server import PLAIN_HTTP_VARIABLE, ServerSettings, is_address
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import CancelToken

STREAM_MARK = b"data:"
STREAM_END = b"[DONE]"
THOUGHTS = re.compile(r"\A.*</(think|thinking|thought|reasoning)>", re.DOTALL)
ENDLESS_THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>.*\Z", re.DOTALL)
REASONINGS = ("reasoning_content", "reasoning")
MOST_TOKENS = 10**9
"""A larger number of charged tokens is not one."""
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
        tokens_in: Tokens of the question as charged; 0 if the server does not count them.
        tokens_out: Tokens of the answer as charged; 0 if the server does not count them.
    """

    text: str
    first_chances: tuple[tuple[str, float], ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0


class ServerFailure(Exception):  # noqa: N818 - becomes a note, never an error
    """A failed request to a server.

    Attributes:
        reason: What happened, to follow the server's name; contains no text from the server.
        is_passing: Whether a retry may help.
        wait_s: Delay that the server requests; None if it gives none.
        refuses_schema: Whether the server may not support structured output.
        is_refusal: Whether the model declines this question.
        charges: Tokens of question and answer that are charged nevertheless; 0 if unknown.
    """

    def __init__(
        self,
        reason: str,
        *,
        is_passing: bool = False,
        wait_s: float | None = None,
        refuses_schema: bool = False,
        is_refusal: bool = False,
        charges: tuple[int, int] = (0, 0),
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.is_passing = is_passing
        self.wait_s = wait_s
        self.refuses_schema = refuses_schema
        self.is_refusal = is_refusal
        self.charges = charges


def read_body(body: bytes) -> ChatAnswer:
    """Extract the model's text from a response, streamed or not, without its reasoning.

    Raises:
        ServerFailure: The server refuses, or the response violates the protocol.
    """
    texts = _texts(body)
    charges = tokens_in, tokens_out = _charges(texts)
    try:
        choices = [choice for text in texts for choice in json.loads(text)["choices"][:1]]
        if not choices and texts == [body]:
            raise LookupError("no choice")
        said = [choice.get("message") or choice.get("delta") or {} for choice in choices]
        if any(part.get("refusal") for part in said):
            raise ServerFailure("refused to answer", is_refusal=True, charges=charges)
        return ChatAnswer(
            text=_words_of(said),
            first_chances=next((chances for each in choices if (chances := _chances(each))), ()),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
        )
    except _UNREADABLE as error:
        raise ServerFailure(
            "does not speak the chat-completions protocol", charges=charges
        ) from error


def _texts(body: bytes) -> list[bytes]:
    """Return a response, or its chunks if it was streamed.

    A stream may begin with comments: ": keep-alive".
    """
    events = [line for line in body.splitlines() if line.startswith(STREAM_MARK)]
    chunks = [event.removeprefix(STREAM_MARK).strip() for event in events]
    return [chunk for chunk in chunks if chunk != STREAM_END] if events else [body]


def _charges(texts: Iterable[bytes]) -> tuple[int, int]:
    """Return the tokens of question and answer, which the last chunk of a stream states in total.

    They are charged whether or not the rest can be read.
    """
    usages = []
    for text in texts:
        with suppress(*_UNREADABLE):
            usages.append(dict(json.loads(text)["usage"]))
    return _charged(usages, "prompt_tokens"), _charged(usages, "completion_tokens")


def _charged(usages: Iterable[Mapping[str, Any]], name: str) -> int:
    counts = [usage.get(name) for usage in usages]
    numbers = [count for count in counts if type(count) is int and 0 <= count <= MOST_TOKENS]
    return numbers[-1] if numbers else 0


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


Answer = TypeVar("Answer")
Hooks = Mapping[str, list[Callable[..., Any]]]
"""Event hooks of an httpx client, by event."""

BEAT_S = 0.05
"""Interval of the cancellation check."""
CONNECTED = {"connection.connect_tcp.complete", "connection.start_tls.complete"}
ANSWERED = "receive_response_headers.complete"


class CallTimedOut(Exception):  # noqa: N818 - a result that the caller words
    """A call exceeded its timeout.

    Attributes:
        is_answering: Whether the server had started to respond.
    """

    def __init__(self, *, is_answering: bool) -> None:
        super().__init__("The call did not end in time.")
        self.is_answering = is_answering


class InterruptibleCall(Generic[Answer]):
    """Runs one call in a separate thread, and disconnects when its answer is no longer needed.

    Args:
        ask: Runs the call; its client must use the given hooks.
    """

    def __init__(self, ask: Callable[[Hooks], Answer]) -> None:
        self._ask = ask
        self._answer: Future[Answer] = Future()
        self._connection: socket.socket | None = None
        self._is_answering = False
        self._is_over = False

    def wait_for(self, token: CancelToken | None, timeout_s: float) -> Answer:
        """Return the answer.

        Args:
            token: Checked before the call and then every ``BEAT_S``, whatever the server sends;
                None if the call cannot be cancelled.
            timeout_s: For the whole call, including name resolution and connection.

        Raises:
            Cancelled: The token was cancelled.
            CallTimedOut: The call exceeds its timeout.
        """
        end = monotonic() + timeout_s
        if token is not None:
            token.raise_if_cancelled()
        Thread(target=self._run, name="server call", daemon=True).start()
        try:
            while not wait([self._answer], min(BEAT_S, max(end - monotonic(), 0.0))).done:
                if token is not None:
                    token.raise_if_cancelled()
                if monotonic() >= end:
                    raise CallTimedOut(is_answering=self._is_answering)
            return self._answer.result()
        finally:
            self._hang_up()

    def _run(self) -> None:
        try:
            self._answer.set_result(self._ask({"request": [self._follow]}))
        except BaseException as error:  # noqa: BLE001 - raised again in the thread that waits
            self._answer.set_exception(error)

    def _follow(self, request: httpx2.Request) -> None:
        request.extensions = {**request.extensions, "trace": self._note}

    def _note(self, event: str, info: Mapping[str, Any]) -> None:
        """Record the newest connection; a TLS stream replaces the plain one below it."""
        self._is_answering = self._is_answering or event.endswith(ANSWERED)
        if event in CONNECTED:
            self._connection = info["return_value"].get_extra_info("socket")
            if self._is_over:
                self._hang_up()

    def _hang_up(self) -> None:
        self._is_over = True
        if self._connection is not None:
            with suppress(OSError):  # already closed by the server
                self._connection.shutdown(socket.SHUT_RDWR)


NO_KEY = "none"
SEED = 0
CONNECT_S = 3.0
SERVER_FAULT = 500
REFUSED_SCHEMA = {400, 422}
BUSY = {408, 409, 429}
MAX_REDIRECTS = 3
OPENAI_URL = "https://api.openai.com/v1"
OPENAI_URL_VARIABLE = "OPENAI_BASE_URL"
"""Server of the library's own environment variables; ``OPENAI_URL`` if unset."""
NEUTRAL_HEADERS = frozenset({"accept", "content-type", "user-agent"})
"""Library headers that are sent to any server."""
TRANSFER_HEADERS = frozenset({"content-encoding", "content-length", "transfer-encoding"})


@frozen
class AnswerForm:
    """The requested format of an answer.

    Attributes:
        name: Schema name for the server.
        schema: JSON schema of the whole answer.
    """

    name: str
    schema: Mapping[str, Any]


@frozen
class ChatQuestion:
    """A self-contained question.

    Attributes:
        instruction: System message.
        text: User message.
        form: None for plain text; dropped if the server does not support it.
        picture: A PNG file sent with the text; empty for none.
        chances: Number of most likely first tokens to return with their log-probabilities;
            0 for none.
        answer_tokens: Maximum answer length; None for the server's default.
        temperature: Sampling temperature; 0 for the most likely answer.
        seed: Seed of the sampling.
        is_prose: Whether the text is sent as it is without a picture, else as data in JSON.
    """

    instruction: str
    text: str
    form: AnswerForm | None = None
    picture: bytes = field(default=b"", repr=False)
    chances: int = 0
    answer_tokens: int | None = None
    temperature: float = 0.0
    seed: int = SEED
    is_prose: bool = False


class BoundedClient(httpx2.Client):
    """HTTP client of the library that enforces the response limits of the settings.

    Only the body of a successful response is read. Redirects are followed only within the origin,
    because the request carries the prompt and the key.

    Args:
        settings: Server and maximum response size in bytes, compressed or not.
        hooks: Event hooks.

    Raises:
        ServerFailure: By ``send`` and while the body is read, if a limit is exceeded.
    """

    def __init__(self, settings: ServerSettings, hooks: Hooks) -> None:
        super().__init__(trust_env=not settings.is_local, event_hooks=dict(hooks))
        self._most_bytes = settings.answer_bytes

    def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        """Send a request; the caller reads the response body."""
        options |= {"stream": True, "follow_redirects": False}
        for _ in range(MAX_REDIRECTS + 1):
            response = super().send(request, **options)
            if not response.has_redirect_location:
                return self._bounded(request, response)
            response.close()
            request = _redirected(request, response)
        raise ServerFailure("redirected too many times")

    def _bounded(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Response:
        headers = [(n, v) for n, v in response.headers.items() if n not in TRANSFER_HEADERS]
        if not response.is_success:
            response.close()
            return httpx2.Response(response.status_code, headers=headers, request=request)
        if len(response.headers.get_list("content-encoding", split_commas=True)) > 1:
            response.close()
            raise ServerFailure("returned a response with several compression layers")
        if isinstance(raw := response.stream, httpx2.SyncByteStream):
            response.stream = _BoundedStream(raw, raw.close, self._most_bytes)
        body = _BoundedStream(response.iter_bytes(), response.close, self._most_bytes)
        return httpx2.Response(response.status_code, headers=headers, request=request, stream=body)


class _BoundedStream(httpx2.SyncByteStream):
    def __init__(self, pieces: Iterable[bytes], close: Callable[[], None], most_bytes: int) -> None:
        self._pieces, self._close, self._left = pieces, close, most_bytes

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self._left -= len(piece)
            if self._left < 0:
                raise ServerFailure("returned a response that is too long")
            yield piece

    def close(self) -> None:
        self._close()


class _ServerClient(openai.OpenAI):
    """The library's client; sends only neutral headers to servers other than OpenAI's."""

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        headers = super().default_headers
        if _is_origin_of_openai(str(self.base_url)):
            return headers
        return {name: value for name, value in headers.items() if name.lower() in NEUTRAL_HEADERS}


class ChatClient:
    """Queries one server; stateless, so cheap to create per question."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings

    def ask(self, question: ChatQuestion, token: CancelToken | None = None) -> ChatAnswer:
        """Return the model's answer.

        Args:
            question: The question.
            token: Checked throughout.

        Raises:
            ServerFailure: All attempts failed.
            Cancelled: The token was cancelled.
        """
        if not is_address(self._settings.url):
            names = ", ".join(self._settings.known_names)
            raise ServerFailure(f"has no valid address; the known server names are {names}")
        _check_key(self._settings)
        deadline = monotonic() + self._settings.patience_s
        wait_s = self._settings.first_wait_s
        for attempt in range(1, self._settings.attempts + 1):
            try:
                return self._attempt(question, token, deadline)
            except ServerFailure as failure:
                is_last = attempt == self._settings.attempts
                if is_last or not (failure.is_passing or failure.refuses_schema):
                    raise
                delay_s = 0.0 if failure.refuses_schema else failure.wait_s or wait_s
                if monotonic() + delay_s > deadline:
                    raise
                if failure.refuses_schema:
                    question = replace(question, form=None)
            pause(delay_s, token)
            wait_s *= 2
        raise AssertionError("The last attempt returns or raises.")

    def _attempt(
        self, question: ChatQuestion, token: CancelToken | None, deadline: float
    ) -> ChatAnswer:
        timeout_s = min(self._settings.timeout_s, deadline - monotonic())
        try:
            return InterruptibleCall(partial(self._ask_once, question)).wait_for(token, timeout_s)
        except CallTimedOut as error:
            reason = "took too long" if error.is_answering else "did not respond in time"
            raise ServerFailure(reason) from error

    def _ask_once(self, question: ChatQuestion, hooks: Hooks) -> ChatAnswer:
        settings = self._settings
        with _translated(question.form is not None), self._client(hooks) as client:
            asking = client.chat.completions.with_streaming_response.create(
                model=settings.model,
                messages=_messages(question),  # type: ignore[arg-type]  # rows of the protocol
                temperature=question.temperature,
                seed=question.seed,
                max_tokens=question.answer_tokens or settings.answer_tokens,
                response_format=_response_format(question.form),
                logprobs=True if question.chances else openai.omit,
                top_logprobs=question.chances or openai.omit,
            )
            with asking as response:
                return read_body(b"".join(response.iter_bytes()))

    def _client(self, hooks: Hooks) -> openai.OpenAI:
        settings = self._settings
        try:
            http_client = BoundedClient(settings, hooks)
        except (ImportError, ValueError, httpx2.InvalidURL) as error:
            raise ServerFailure("cannot be reached through the system proxy") from error
        return _ServerClient(
            base_url=settings.url,
            api_key=settings.key or NO_KEY,
            timeout=openai.Timeout(settings.timeout_s, connect=CONNECT_S),
            max_retries=0,
            http_client=http_client,
        )


def _check_key(settings: ServerSettings) -> None:
    """Reject a key that cannot or must not be sent.

    Raises:
        ServerFailure: The key would be sent unencrypted, or is not a valid header.
    """
    key = settings.key or ""
    if not (key.isascii() and key.isprintable()):
        raise ServerFailure("was not contacted: the API key contains invalid characters")
    if key and not settings.is_secret_safe:
        raise ServerFailure(
            "was not contacted: plain HTTP would send the API key unencrypted. Use an https "
            f"address, or allow plain HTTP in the settings or with {PLAIN_HTTP_VARIABLE}=1"
        )


def _is_origin_of_openai(url: str) -> bool:
    """Return True if the library's environment variables belong to a server."""
    own = os.environ.get(OPENAI_URL_VARIABLE) or OPENAI_URL
    try:
        return _origin(httpx2.URL(url)) == _origin(httpx2.URL(own))
    except httpx2.InvalidURL:
        return False


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def _redirected(request: httpx2.Request, response: httpx2.Response) -> httpx2.Request:
    """Return the request that follows a redirect.

    Raises:
        ServerFailure: The redirect leads to another origin or is invalid.
    """
    following = response.next_request
    if following is None or _origin(following.url) != _origin(request.url):
        raise ServerFailure("redirected to another server, which is not allowed")
    return following


def _messages(question: ChatQuestion) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": question.instruction},
        {"role": "user", "content": _user_words(question)},
    ]


def _user_words(question: ChatQuestion) -> str | list[dict[str, Any]]:
    if not question.picture:
        if question.is_prose:
            return question.text
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
    """Translate library errors without the server's text, which may contain the key."""
    try:
        yield
    except httpx2.InvalidURL as error:
        raise ServerFailure("has an invalid address") from error
    except UnicodeError as error:
        raise ServerFailure("was not contacted: a request header is invalid") from error
    except (openai.APITimeoutError, httpx2.TimeoutException) as error:
        raise ServerFailure("did not respond in time") from error
    except openai.APIStatusError as error:
        raise _status_failure(error, with_schema) from error
    except openai.APIConnectionError as error:
        raise ServerFailure("cannot be reached") from error
    except httpx2.HTTPError as error:
        raise ServerFailure("closed the connection", is_passing=True) from error
    except openai.OpenAIError as error:
        raise ServerFailure("does not speak the chat-completions protocol") from error


def _status_failure(error: openai.APIStatusError, with_schema: bool) -> ServerFailure:
    status = error.status_code
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return ServerFailure("rejected the API key")
    if isinstance(error, openai.NotFoundError):
        return ServerFailure("does not have this model")
    if status in REFUSED_SCHEMA:
        return ServerFailure("rejected the request", refuses_schema=with_schema)
    if status in BUSY:
        return ServerFailure("is busy", is_passing=True, wait_s=_asked_wait(error))
    if status >= SERVER_FAULT:
        return ServerFailure("fails", is_passing=True, wait_s=_asked_wait(error))
    return ServerFailure("rejected the request")


def _asked_wait(error: openai.APIStatusError) -> float | None:
    try:
        return max(0.0, float(error.response.headers["retry-after"]))
    except (KeyError, ValueError):
        return None


def pause(seconds: float, token: CancelToken | None) -> None:
    """Wait in slices, so that the user can cancel.

    Raises:
        Cancelled: The token was cancelled.
    """
    never = Event()
    end = monotonic() + seconds
    while (left := end - monotonic()) > 0:
        if token is not None:
            token.raise_if_cancelled()
        never.wait(min(left, BEAT_S))
