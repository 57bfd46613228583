"""A hub in memory, and downloads that a test advances."""

from pathlib import Path

from spatialstudio.domain.hub import DownloadPlan, GatedRepository, RemoteFile


def plan_of(name):
    file = RemoteFile(name="model.safetensors", size_bytes=1000, digest="0" * 40)
    return DownloadPlan(
        repository=name,
        revision="main",
        commit="1" * 40,
        files=(file,),
        missing_bytes=1000,
        free_bytes=10**9,
        licence="mit",
        licence_url="https://example.org",
        is_gated=False,
        folder=Path("nowhere"),
    )


class FakeModelHub:
    """Plans everything but gated models, and knows what was discarded."""

    is_offline = False

    def __init__(self, catalogue=(), installed=()):
        self.catalogue = catalogue
        self.models = installed
        self.discarded = []
        self.removed = []
        self.token = ""

    def plan(self, name):
        if name == "gated":
            raise GatedRepository("It is gated.", hint="Store a token.")
        return plan_of(name)

    def discard(self, repository):
        self.discarded.append(repository)

    def installed(self):
        return self.models

    def unfinished(self):
        return ()

    def has_token(self):
        return bool(self.token)

    def store_token(self, token):
        self.token = token

    def remove(self, name):
        self.removed.append(name)
        return 2_000_000


class Transfers:
    """Downloads that the test moves on by hand."""

    def __init__(self):
        self.started = []
        self.stopped = []

    def start(self, plan, report):
        self.started.append(plan.repository)
        self.report = report
        return self

    def stop(self):
        self.stopped.append(self.started[-1])
