"""Servers that attack: every answer ends as one sentence, and secrets go where they belong."""

import gzip
import json
from collections.abc import Callable
from threading import Event

import pytest

from spatialstudio.adapters.chat.client import ChatClient, ChatQuestion, ServerFailure
from spatialstudio.adapters.chat.server import (
    KEY_VARIABLE,
    MODEL_VARIABLE,
    PLAIN_HTTP_VARIABLE,
    SERVER_VARIABLE,
    ServerSettings,
    settings_of_user,
)
from spatialstudio.domain.servers import is_this_machine
from tests.adapters.loopback import LoopbackServer, says, sends
from tests.patience import PATIENCE_S

KEY = "sk-secret-0123456789"
QUESTION = ChatQuestion(instruction="Answer.", text="Are you there?")
VISION_QUESTION = ChatQuestion(instruction="Answer.", text="Is it?", picture=b"PNG", chances=20)
GOOD = json.dumps({"choices": [{"message": {"content": "ready"}}]}).encode()
KILOBYTE = bytes(1024)
ENDLESS_BYTES = 64 * 1024**2
"""An endless answer ends after so many bytes, so that a client that reads all of it ends too."""
ENDLESS_PIECES = 200
"""Likewise for one that drips, 20 ms a piece."""
PROXY_VARIABLES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch):
    for name in (*PROXY_VARIABLES, "OPENAI_BASE_URL", PLAIN_HTTP_VARIABLE):
        monkeypatch.delenv(name, raising=False)


def settings_for(url, **changes):
    usual = {"model": "small", "key": KEY, "timeout_s": 5.0, "attempts": 1}
    return ServerSettings(url=url, **(usual | changes))


def ask(*replies, question=QUESTION, **changes):
    with LoopbackServer(*replies) as server:
        return ChatClient(settings_for(server.url, **changes)).ask(question)


def failure(*replies, question=QUESTION, **changes):
    with pytest.raises(ServerFailure) as caught:
        ask(*replies, question=question, **changes)
    assert KEY not in caught.value.reason
    return caught.value.reason


def pieces_of(handler, piece, limit, pause_s=0.0):
    """Write a piece again and again until the client hangs up; return how many bytes went out."""
    written = 0
    try:
        while written < limit and not handler.server.closing.is_set():
            handler.wfile.write(piece)
            handler.wfile.flush()
            written += len(piece)
            if pause_s:
                handler.server.closing.wait(pause_s)
    except OSError:
        pass
    return written


def endless_body(status, told: Callable[[int], None], **headers):
    def reply(handler):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        told(pieces_of(handler, KILOBYTE * 64, ENDLESS_BYTES))

    return reply


def drips_lines(start, line, end=b""):
    def reply(handler):
        handler.wfile.write(start)
        pieces_of(handler, line, ENDLESS_PIECES * len(line), pause_s=0.02)
        handler.wfile.write(end)

    return reply


OK_END = b"Content-Length: %d\r\n\r\n%b" % (len(GOOD), GOOD)


@pytest.mark.parametrize(
    ("start", "line", "end"),
    [
        (b"HTTP/1.1 200 OK\r\n", b"X-More: 1\r\n", OK_END),
        (b"HTTP/1.1 200 ", b"O", b"\r\n" + OK_END),
        (b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", b"HTTP/1.1 200 OK\r\n" + OK_END),
    ],
    ids=["headers", "status line", "early hints"],
)
def test_dripping_headers_end_at_the_deadline(start, line, end):
    assert failure(drips_lines(start, line, end), timeout_s=0.3) == "did not respond in time"


@pytest.mark.parametrize("status", [200, 500], ids=["answer", "error"])
def test_a_dripping_body_ends_at_the_deadline(status):
    start = b"HTTP/1.1 %d Some\r\nContent-Type: application/json\r\n\r\n" % status
    said = failure(drips_lines(start, b" ", GOOD), timeout_s=0.3)
    assert said == ("took too long" if status == 200 else "fails")


@pytest.mark.parametrize(
    ("status", "headers", "telling"),
    [
        (200, {}, "returned a response that is too long"),
        (500, {}, "fails"),
        (401, {"Content_Encoding": "gzip"}, "rejected the API key"),
        (404, {"Content_Encoding": "gzip, gzip"}, "does not have this model"),
        (307, {"Location": "http://127.0.0.1:1/v1"}, "redirected to another server"),
        (307, {"Location": "/v1/chat/completions"}, "redirected too many times"),
        (302, {}, "rejected the request"),
    ],
    ids=["answer", "error", "gzip error", "double gzip error", "away", "in a circle", "nowhere"],
)
def test_endless_bodies_are_not_read(status, headers, telling):
    written, ended = [], Event()

    def told(count):
        written.append(count)
        ended.set()

    assert telling in failure(endless_body(status, told, **headers))
    assert ended.wait(PATIENCE_S)
    assert max(written) < ENDLESS_BYTES


def test_a_response_compressed_once_is_read():
    assert ask(sends(gzip.compress(GOOD), Content_Encoding="gzip")).text == "ready"


EMPTY_BLOCKS = gzip.compress(b"")[:10] + b"\x00\x00\x00\xff\xff" * 100_000


@pytest.mark.parametrize(
    ("body", "encoding", "telling"),
    [
        (gzip.compress(bytes(100_000_000)), "gzip", "response that is too long"),
        (EMPTY_BLOCKS, "gzip", "response that is too long"),
        (
            gzip.compress(gzip.compress(bytes(10_000_000))),
            "gzip, gzip",
            "several compression layers",
        ),
        (gzip.compress(gzip.compress(GOOD)), "gzip, deflate, gzip", "several compression layers"),
        (b"no gzip", "gzip", "closed the connection"),
    ],
    ids=["bomb", "empty blocks", "double", "triple", "damaged"],
)
def test_compression_bombs_are_rejected(body, encoding, telling):
    assert telling in failure(sends(body, Content_Encoding=encoding))


@pytest.mark.parametrize(
    ("body", "telling"),
    [
        (b'{"choices":' + b"[" * 150_000, "does not speak"),
        (b"data: " + b'{"choices":' * 15_000, "does not speak"),
        (b'{"choices":[%b]}' % b",".join([b"{}"] * 1_000_000), "response that is too long"),
        (b'data: {"choices":[{}]}\n' * 1_000_000, "response that is too long"),
        (b'{"choices":[{"message":{"content":"a"}, "n": ' + b"9" * 90_000 + b"}]}", "not speak"),
    ],
    ids=["nested", "nested stream", "choices", "streamed choices", "number"],
)
def test_responses_of_any_size_and_depth_are_reported_in_one_sentence(body, telling):
    assert telling in failure(sends(body))


@pytest.mark.parametrize("value", ["1" + "0" * 400, "1e999", "NaN", "800", '"a"', "[]", "null"])
def test_implausible_log_probabilities_are_rejected(value):
    listed = f'[{{"token": "yes", "logprob": {value}}}]'
    choice = f'{{"message": {{}}, "logprobs": {{"content": [{{"top_logprobs": {listed}}}]}}}}'
    body = f'{{"choices": [{choice}]}}'.encode()
    assert "does not speak" in failure(sends(body), question=VISION_QUESTION)


def test_retries_end_at_the_deadline():
    busy = sends(b"{}", 429, Retry_After="0")
    said = failure(busy, attempts=10_000_000, patience_s=0.3)
    assert said in {"is busy", "did not respond in time"}  # the last request may meet the deadline


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_neither_key_nor_prompt_follows_a_redirect_to_another_origin(status):
    with LoopbackServer(says("stolen")) as thief:
        said = failure(sends(b"", status, Location=f"{thief.url}/chat/completions"))
    assert "redirected to another server" in said
    assert (thief.questions, thief.keys) == ([], [])


@pytest.mark.parametrize(
    "location", ["//[", "http://", "file:///etc/passwd", "http://a b/", "\x00"]
)
def test_a_broken_redirect_is_reported(location):
    assert failure(sends(b"", 307, Location=location))


def test_a_redirect_within_the_server_is_followed():
    with LoopbackServer(sends(b"", 307, Location="/v2/chat"), says("ready")) as server:
        answer = ChatClient(settings_for(server.url)).ask(QUESTION)
    assert answer.text == "ready"
    assert server.keys == [f"Bearer {KEY}"] * 2


# What belongs to OpenAI.

OPENAI_VALUES = {
    "OPENAI_ORG_ID": "org-secret",
    "OPENAI_PROJECT_ID": "proj-secret",
    "OPENAI_CUSTOM_HEADERS": "X-Corporate: corp-secret\nAuthorization: Bearer other-secret",
    "OPENAI_API_KEY": "sk-openai-secret",
    "OPENAI_ADMIN_KEY": "sk-admin-secret",
    "OPENAI_WEBHOOK_SECRET": "hook-secret",
}


@pytest.fixture
def openai_values(monkeypatch):
    for name, value in OPENAI_VALUES.items():
        monkeypatch.setenv(name, value)


def headers_sent(key, base_url_of=lambda _url: None, monkeypatch=None):
    """Return all headers that a server gets, as one text."""
    got = []

    def reply(handler):
        got.append(handler.headers.as_string())
        says("ready")(handler)

    with LoopbackServer(reply) as server:
        if monkeypatch is not None:
            monkeypatch.setenv("OPENAI_BASE_URL", base_url_of(server.url))
        ChatClient(settings_for(server.url, key=key)).ask(QUESTION)
    (sent,) = got
    return sent


@pytest.mark.parametrize("key", [KEY, None], ids=["key", "no key"])
def test_openai_credentials_are_not_sent_to_another_server(openai_values, key):
    sent = headers_sent(key)
    assert "secret" not in sent.replace(KEY, "")
    assert f"authorization: Bearer {key or 'none'}" in sent


@pytest.mark.parametrize("other", ["https://127.0.0.1/v1", "http://127.0.0.1:1/v1", "nowhere", ":"])
def test_the_origin_must_be_the_same_to_the_port(openai_values, monkeypatch, other):
    assert "corp-secret" not in headers_sent(KEY, lambda _url: other, monkeypatch)


def test_the_server_of_the_openai_environment_gets_its_credentials(openai_values, monkeypatch):
    sent = headers_sent(KEY, lambda url: f"{url}/other/path", monkeypatch)
    assert "org-secret" in sent
    assert "proj-secret" in sent
    assert "corp-secret" in sent
    assert "admin" not in sent


@pytest.mark.parametrize("headers", ["X: \u00e9", "a b: c", "X: a\x01b"])
def test_invalid_headers_of_the_environment_do_not_affect_other_servers(monkeypatch, headers):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", headers)
    assert ask(says("ready")).text == "ready"


@pytest.mark.parametrize("key", ["schl\u00fcssel", "a\nX-Other: b", "a\x00b"])
def test_a_key_that_is_no_header_is_not_sent(key):
    with LoopbackServer(says("ready")) as server, pytest.raises(ServerFailure) as caught:
        ChatClient(settings_for(server.url, key=key)).ask(QUESTION)
    assert "invalid characters" in caught.value.reason
    assert server.questions == []


# Plain http and proxies.

REMOTE = "http://models.example.org/v1"


@pytest.fixture
def proxy(monkeypatch):
    """A proxy for everything, which answers by itself."""
    with LoopbackServer(says("ready")) as server:
        for name in ("HTTP_PROXY", "http_proxy"):
            monkeypatch.setenv(name, server.url.removesuffix("/v1"))
        yield server


def test_a_key_is_not_sent_over_plain_http(proxy):
    with pytest.raises(ServerFailure, match=f"unencrypted.*{PLAIN_HTTP_VARIABLE}=1"):
        ChatClient(settings_for(REMOTE)).ask(QUESTION)
    assert proxy.questions == []


@pytest.mark.parametrize("changes", [{"key": None}, {"allows_plain_http": True}])
def test_plain_http_is_used_without_a_key_or_when_it_is_allowed(proxy, changes):
    assert ChatClient(settings_for(REMOTE, **changes)).ask(QUESTION).text == "ready"
    assert len(proxy.questions) == 1


def test_the_environment_allows_plain_http(monkeypatch):
    monkeypatch.setenv(SERVER_VARIABLE, REMOTE)
    monkeypatch.setenv(MODEL_VARIABLE, "small")
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    assert not settings_of_user({}).is_secret_safe
    monkeypatch.setenv(PLAIN_HTTP_VARIABLE, "1")
    assert settings_of_user({}).is_secret_safe


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "127.1", "0.0.0.0"])
def test_local_servers_bypass_the_proxy(proxy, host):
    with LoopbackServer(says("here")) as server:
        url = f"http://{host}:{server.server_port}/v1"
        assert ChatClient(settings_for(url)).ask(QUESTION).text == "here"
    assert proxy.questions == []


@pytest.mark.parametrize("address", ["nonsense://127.0.0.1", "socks5://127.0.0.1:1", "http://[::1"])
def test_an_unusable_proxy_is_reported(monkeypatch, address):
    monkeypatch.setenv("HTTP_PROXY", address)
    monkeypatch.setenv("http_proxy", address)
    with pytest.raises(ServerFailure, match=r"proxy|cannot be reached"):
        ChatClient(settings_for(REMOTE, key=None)).ask(QUESTION)


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("localhost.", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("0.0.0.0", True),
        ("2130706433", True),
        ("127.0.0.1.example.org", False),
        ("localhost.example.org", False),
        ("192.168.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("", False),
    ],
)
def test_this_machine_has_many_names(host, is_local):
    assert is_this_machine(host) is is_local
