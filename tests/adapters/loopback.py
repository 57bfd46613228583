"""A server on this machine that speaks the chat-completions protocol, well or badly."""

import json
from collections import deque
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

from tests.patience import PATIENCE_S

Reply = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers each question with the next reply of its server."""

    def do_POST(self):
        length = int(self.headers["Content-Length"])
        self.server.questions.append(json.loads(self.rfile.read(length)))
        self.server.keys.append(self.headers.get("Authorization"))
        replies = self.server.replies
        reply = replies.popleft() if len(replies) > 1 else replies[0]
        reply(self)

    def log_message(self, *words):
        """Say nothing."""

    def send(self, body, status=200, kind="application/json", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


class LoopbackServer(ThreadingHTTPServer):
    """Runs in a thread while its ``with`` block does.

    Attributes:
        questions: What was asked, in order.
        keys: The authorization of each question.
        replies: What is answered; the last one again and again.
        closing: Set when the server shall end, so that a stalling reply can stop.
    """

    daemon_threads = True

    def __init__(self, *replies: Reply):
        super().__init__(("127.0.0.1", 0), Handler)
        self.questions = []
        self.keys = []
        self.replies = deque(replies)
        self.closing = Event()
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/v1"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *details):
        self.closing.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request, client_address):
        """Stay silent when a client has hung up."""


def says(content, **message):
    """Answer well-formed, with these words of the model."""
    body = {"choices": [{"message": {"role": "assistant", "content": content, **message}}]}
    return lambda handler: handler.send(json.dumps(body).encode())


def sends(body, status=200, **headers):
    """Answer with this body."""
    pairs = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return lambda handler: handler.send(body, status, headers=pairs)


def streams(*pieces):
    """Answer in events, as servers do that stream unasked."""
    events = [json.dumps({"choices": [{"delta": {"content": piece}}]}) for piece in pieces]
    body = "".join(f"data: {event}\n\n" for event in [*events, "[DONE]"])
    return lambda handler: handler.send(body.encode(), kind="text/event-stream")


def streams_lines(*lines):
    """Answer in events, with these lines as they are."""
    body = "".join(f"{line}\r\n" for line in lines)
    return lambda handler: handler.send(body.encode(), kind="text/event-stream")


def stalls(handler):
    """Answer nothing until the server ends."""
    handler.server.closing.wait(PATIENCE_S)


def drips(handler):
    """Answer one letter now and then."""
    handler.send_response(200)
    handler.end_headers()
    while not handler.server.closing.wait(0.02):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def hangs_up(handler):
    """Promise an answer and drop the connection."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices"')
