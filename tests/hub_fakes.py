"""A local server with the API of the Hugging Face hub, correct or faulty, and small models.

Small files come directly, large ones through a redirect to a storage address, as on the real hub.
"""

import hashlib
import json
import re
from collections import defaultdict
from dataclasses import field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from urllib.parse import unquote, urlsplit

from spatialstudio.adapters.hub.hub import HuggingFaceHub
from spatialstudio.adapters.hub.hub_client import Patience
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import Surroundings
from spatialstudio.domain.resources import resources_folder

LARGE_BYTES = 10_000
PIECE_BYTES = 64 * 1024
INFO = re.compile(r"/api/models/(?P<repo>[^?]+?)/revision/(?P<revision>[^/?]+)$")
RESOLVE = re.compile(r"/(?P<repo>.+?)/resolve/(?P<revision>[^/]+)/(?P<name>.+)$")
STORAGE = re.compile(r"/storage/(?P<digest>\w+)$")


@frozen(eq=False)
class Repository:
    """Commits of a repository.

    Attributes:
        commits: Files by commit and name.
        branches: Commits by branch.
        token: Asked for every file; None for public repositories.
        is_gated: Whether the licence has to be accepted.
        card: What the model card states, its licence above all.
    """

    commits: dict
    branches: dict
    token: str | None = None
    is_gated: bool = False
    card: dict = field(default_factory=lambda: {"license": "apache-2.0"})


class Handler(BaseHTTPRequestHandler):
    """Answers a request as the hub does, unless a fault is waiting for it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms for the client's delayed ACK

    def do_GET(self):
        hub, path = self.server, unquote(urlsplit(self.path).path)
        hub.requests.append((path, self.headers.get("Authorization"), self.headers.get("Range")))
        kind = "info" if INFO.match(path) else "storage" if STORAGE.match(path) else "file"
        if hub.faults[kind]:
            fault = hub.faults[kind][0]
            if fault.times is not None:
                fault.times -= 1
                if fault.times == 0:
                    hub.faults[kind].pop(0)
            if fault.answer(self) is not True:
                return
        self.answer(path)

    def answer(self, path):
        if found := STORAGE.match(path):
            self.send_content(self.server.blobs[found["digest"]])
        elif found := INFO.match(path):
            self.answer_info(found["repo"], found["revision"])
        elif found := RESOLVE.match(path):
            self.answer_file(found["repo"], found["revision"], found["name"])
        else:
            self.refuse(404, "EntryNotFound")

    def answer_info(self, repo, revision):
        repository, commit = self.server.find(repo, revision)
        if repository is None:
            self.refuse(401, None)
        elif commit is None:
            self.refuse(404, "RevisionNotFound")
        else:
            info = {
                "id": repo,
                "sha": commit,
                "private": False,
                "tags": [],
                "gated": "manual" if repository.is_gated else False,
                "cardData": repository.card,
                "siblings": [
                    described(name, content) for name, content in repository.commits[commit].items()
                ],
            }
            self.send(json.dumps(info).encode(), kind="application/json")

    def answer_file(self, repo, revision, name):
        repository, commit = self.server.find(repo, revision)
        files = repository.commits.get(commit, {}) if repository is not None else {}
        if name not in files:
            self.refuse(404, "EntryNotFound")
        elif repository.token and self.headers.get("Authorization") != f"Bearer {repository.token}":
            self.refuse(403 if self.headers.get("Authorization") else 401, "GatedRepo")
        elif len(files[name]) < LARGE_BYTES:
            self.send_content(files[name])
        else:
            storage = self.server.storage or self.server
            digest = hashlib.sha256(files[name]).hexdigest()
            storage.blobs[digest] = files[name]
            headers = {"Location": f"{storage.url}/storage/{digest}", "X-Repo-Commit": commit}
            self.send(b"", status=302, headers=headers)

    def send_content(self, content):
        """Send a file, or the range of it that was asked for."""
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        start = int(asked[1]) if asked else 0
        if start >= len(content) > 0:
            self.send(b"", status=416)
            return
        headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        self.send(content[start:], 206 if asked else 200, headers=headers if asked else {})

    def send(self, body, status=200, kind="application/octet-stream", headers=(), length=None):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.end_headers()
        for start in range(0, len(body), PIECE_BYTES):
            if self.server.closing.wait(self.server.pause_s):
                return
            self.wfile.write(body[start : start + PIECE_BYTES])

    def refuse(self, status, code):
        headers = {"X-Error-Code": code} if code else {}
        self.send(b'{"error": "refused"}', status, "application/json", headers)

    def log_message(self, *words):
        """Say nothing."""


class Fault:
    """An answer of a broken hub.

    Args:
        answer: Writes the answer; returns True to go on as usual.
        times: How often; None for ever.
    """

    def __init__(self, answer, times=None):
        self.answer = answer
        self.times = times


class FakeHub(ThreadingHTTPServer):
    """Runs in a thread while its ``with`` block does.

    Attributes:
        repositories: By name.
        faults: Waiting faults by kind of request: "info", "file", "storage".
        requests: Path, authorization and range of every request.
        storage: Another server that large files are fetched from; None for this one.
        pause_s: Delay before each piece of 64 KiB.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories = {}
        self.faults = defaultdict(list)
        self.requests = []
        self.blobs = {}
        self.storage = None
        self.pause_s = 0.0
        self.closing = Event()
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def add(self, name, files, **details):
        """Publish files as the branch "main" of a repository; return the commit."""
        commit = hashlib.sha1(name.encode() + repr(sorted(files)).encode()).hexdigest()
        old = self.repositories.get(name)
        commits = {**(old.commits if old else {}), commit: files}
        self.repositories[name] = Repository(commits=commits, branches={"main": commit}, **details)
        return commit

    def find(self, name, revision):
        """Return a repository, and the commit of a revision; None for what there is not."""
        repository = self.repositories.get(name)
        if repository is None:
            return None, None
        commit = repository.branches.get(revision, revision)
        return repository, commit if commit in repository.commits else None

    def breaks(self, kind, answer, times=None):
        """Answer the next requests of a kind with a fault."""
        self.faults[kind].append(Fault(answer, times))

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


def described(name, content):
    """Describe a file as the hub's API does."""
    sha1 = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
    entry = {"rfilename": name, "size": len(content), "blobId": sha1}
    if len(content) >= LARGE_BYTES:
        digest = hashlib.sha256(content).hexdigest()
        entry["lfs"] = {"size": len(content), "sha256": digest, "pointerSize": 134}
    return entry


def status(code, **headers):
    """Answer with a status and nothing else."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler: handler.send(b"", code, headers=named)


def html(handler):
    """Answer with a login page."""
    handler.send(b"<html>Please log in.</html>", kind="text/html")


def content_of(handler):
    """Return what the handler was asked for."""
    return handler.server.blobs[STORAGE.match(urlsplit(handler.path).path)["digest"]]


def cut(share):
    """Announce the whole file, send a share of what is asked for, and hang up."""

    def answer(handler):
        content = content_of(handler)
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers.get("Range") or "")
        rest = content[int(asked[1]) if asked else 0 :]
        start = len(content) - len(rest)
        headers = {"Content-Range": f"bytes {start}-{len(content) - 1}/{len(content)}"}
        part = rest[: max(int(len(rest) * share), 1)]
        handler.send(part, 206 if asked else 200, headers=headers, length=len(rest))
        handler.close_connection = True

    return answer


def altered(change):
    """Send another content than announced, whatever range is asked for."""
    return lambda handler: handler.send(change(content_of(handler)))


def drips(handler):
    """Send a byte now and then, always before the read timeout."""
    content = content_of(handler) if STORAGE.match(handler.path) else b" " * LARGE_BYTES
    handler.send(b"", length=len(content))
    for byte in content:
        if handler.server.closing.wait(0.02):
            return
        handler.wfile.write(bytes([byte]))


def stalls(handler):
    """Answer nothing until the hub closes."""
    handler.server.closing.wait(30)


QUICK = Patience(waits_s=(0.01,) * 3, short_waits_s=(0.01, 0.01))
IMPATIENT = Patience(answer_s=0.2, waits_s=(0.01,), short_waits_s=())
HASTY = Patience(slow_s=0.7, waits_s=(0.01,), short_waits_s=(0.01,))
WEIGHTS = bytes(range(256)) * 2000


def pickled(word):
    """Return weights that differ by a word; nothing reads them."""
    return word.encode() + WEIGHTS


DIFFUSERS = {
    "model_index.json": json.dumps(
        {
            "_class_name": "StableDiffusionPipeline",
            "unet": ["diffusers", "UNet2DConditionModel"],
            "vae": ["diffusers", "AutoencoderKL"],
            "scheduler": ["diffusers", "DDIMScheduler"],
            "tokenizer": ["transformers", "CLIPTokenizer"],
            "text_encoder": ["transformers", "CLIPTextModel"],
        }
    ).encode(),
    "unet/config.json": b'{"sample_size": 64, "in_channels": 4, "out_channels": 4}',
    "unet/diffusion_pytorch_model.safetensors": pickled("unet"),
    "vae/config.json": b'{"block_out_channels": [1, 2, 3, 4]}',
    "vae/diffusion_pytorch_model.safetensors": pickled("vae"),
    "scheduler/scheduler_config.json": b'{"_class_name": "DDIMScheduler"}',
    "tokenizer/merges.txt": b"#version: 0.2\n",
    "text_encoder/config.json": b"{}",
    "text_encoder/model.safetensors": pickled("text encoder"),
    "README.md": b"# A model\n",
    "unet/diffusion_pytorch_model.bin": b"a pickle",
}
DETECTOR = {
    "config.json": b'{"architectures": ["OwlViTForObjectDetection"]}',
    "model.safetensors": pickled("detector"),
    "pytorch_model.bin": b"a pickle",
}


def hub_in(folder, address, patience=QUICK):
    """Return a hub whose cache and models folder lie in a folder."""
    surroundings = Surroundings(
        resources=resources_folder(),
        model_folders=(resources_folder() / "models", folder / "models"),
        cache=folder / "cache",
        settings=folder / "settings",
    )
    return HuggingFaceHub(surroundings, folder / "hub", address, patience)


def without_token_of_the_user(monkeypatch, folder):
    """Keep the machine's own token and address out of a test, and let it reach the fake hub."""
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN_PATH", str(folder / "no token"))
