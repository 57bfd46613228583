"""Benchmarks with a fake model, whose verdicts depend on the picture."""

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from spatialstudio.adapters.storage.records.benchmark_files import DurableBenchmarkFiles
from spatialstudio.application.benchmark.benchmarks import benchmarks_of
from spatialstudio.application.benchmark.item_worker import ItemWorker
from spatialstudio.application.benchmark.result_store import ResultStore
from spatialstudio.application.benchmark.runner import BenchmarkRunner, ItemFiles
from spatialstudio.application.engine.worker import InlineEngine
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import BackendError
from spatialstudio.domain.ports import Seen
from tests.cli.conftest import FakeRegistry
from tests.fakes import FakeBackend, FakeDetector

GREYS = (60, 120, 200)
"""Far enough apart for the perturbations of the checker."""
PROMPTS = (
    "a dog to the left of a car",
    "a car to the right of a dog",
    "a cat above a dog",
    "a dog below a cat",
    "a car above a cat",
    "a cat and a dog",
)
PLAN = """\
name = "Fakes"
seeds = "{seeds}"
metrics = ["visor", "pse", "hrs"]

[[prompts]]
set = "list"
file = "prompts.txt"

[[methods]]
name = "plain"
guidance = "none"

[[methods]]
name = "psg"
guidance = "psg"
"""


@dataclass
class NotedBackend(FakeBackend):
    """Generates a picture of seed and prompt, and notes each request in a file.

    Attributes:
        notes: The file; None for none.
        broken_seeds: Seeds that fail.
    """

    notes: Path | None = None
    broken_seeds: tuple[int, ...] = ()

    def generate(self, request, model, token, report, rate=None):
        if self.notes is not None:
            descriptor = os.open(self.notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(descriptor, f"{request.id}\n".encode())
            os.close(descriptor)
        if request.sampling.seed in self.broken_seeds:
            raise BackendError(f"The seed {request.sampling.seed} broke.", hint="Take another.")
        finished = super().generate(request, model, token, report, rate)
        finished.image.flags.writeable = True
        finished.image[:] = GREYS[int(request.id[:2], 16) % len(GREYS)]
        finished.image.flags.writeable = False
        return finished


@dataclass
class FickleDetector(FakeDetector):
    """Finds, swaps or misses the objects, by the brightness."""

    def detect(self, image, mentions):
        kind = sum(image.mean() > limit for limit in (90, 160))
        seen = super().detect(image, mentions[::-1] if kind == 1 else mentions)
        return Seen(detections=seen.detections[:1], masks=seen.masks[:1]) if kind == 2 else seen


class Bench:
    """A benchmark in a folder.

    Attributes:
        folder: Its folder.
        notes: The keys drawn so far, one per line.
        broken_seeds: Seeds that fail.
    """

    def __init__(self, home):
        self.home = home
        self.notes = home / "drawn.txt"
        self.broken_seeds = ()
        self.reports = []

    def registry(self):
        backend = NotedBackend(notes=self.notes, broken_seeds=self.broken_seeds)
        return FakeRegistry(self.home, backend_made=backend, detector_made=FickleDetector())

    def write(self, seeds="0-2", prompts=PROMPTS, plan=PLAN):
        (self.home / "prompts.txt").write_text("\n".join(prompts))
        (self.home / "plan.toml").write_text(plan.format(seeds=seeds))

    def items(self, name="out", *, overwrite=False):
        registry = self.registry()
        engine = InlineEngine(lambda: registry)
        self.studio = Studio(registry, engine, StudioPaths.within(self.home))
        benchmarks = benchmarks_of(self.studio)
        opened = benchmarks.open_plan(self.home / "plan.toml")
        store = ResultStore(self.home / name, DurableBenchmarkFiles())
        store.begin(opened.plan.text, opened.prompts, overwrite=overwrite)
        return ItemFiles(opened, store, benchmarks.drawing)

    def runner(self, items, workers=1):
        registries = [self.registry() for _ in range(workers)]
        engines = [InlineEngine(lambda own=own: own) for own in registries]
        made = [ItemWorker(engine, name=f"w{n}") for n, engine in enumerate(engines)]
        return self.runner_of(items, made)

    def runner_of(self, items, workers):
        return BenchmarkRunner(items, self.studio.storage.store, workers, self.reports.append)

    def drawn(self):
        return self.notes.read_text().split() if self.notes.exists() else []


@pytest.fixture
def bench(tmp_path):
    made = Bench(tmp_path)
    made.write()
    return made
