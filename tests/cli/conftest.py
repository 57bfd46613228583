"""A studio with fakes, and a terminal that runs its commands."""

import signal
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from spatialstudio.adapters.exports.audit_plot import build as build_audit_figures
from spatialstudio.adapters.exports.benchmark_plot import build as build_benchmark_figures
from spatialstudio.adapters.exports.exporter import build as build_exporter
from spatialstudio.adapters.hub.hub import build as build_hub
from spatialstudio.adapters.images import build as build_images
from spatialstudio.adapters.perception.perception_cache import NullPerceptionStore
from spatialstudio.adapters.perturbations import build as build_perturber
from spatialstudio.adapters.prompts.choice_questions import build as build_writer
from spatialstudio.adapters.prompts.grammar import build as build_extractor
from spatialstudio.adapters.questions.vision_model import build as build_vision_model
from spatialstudio.adapters.stickers.rendered_scenes import build as build_scenes
from spatialstudio.adapters.storage.library.run_library import build as build_libraries
from spatialstudio.adapters.storage.metadata.reader import build as build_metadata
from spatialstudio.adapters.storage.records.audit_files import build as build_audit_files
from spatialstudio.adapters.storage.records.benchmark_files import (
    build as build_benchmark_files,
)
from spatialstudio.adapters.storage.records.spatialbench_uc import build as build_records
from spatialstudio.adapters.storage.stores.attention_files import build as build_attention_files
from spatialstudio.adapters.storage.stores.run_files import build as build_store
from spatialstudio.adapters.storage.stores.state_files import build as build_state
from spatialstudio.adapters.storage.stores.vote_journal import build as build_vote_journals
from spatialstudio.application.engine.worker import InlineEngine
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.registry import BUILT_IN_MANIFEST, Registry, read_manifest
from spatialstudio.application.studio import Studio
from spatialstudio.cli.commands import run
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.generation import ModelRef, StepEvent
from spatialstudio.domain.ports import ModelCard, PerceptionCard, PerceptionRole, Surroundings
from tests.fakes import FakeBackend, FakeDepth, FakeDetector

CARD = ModelCard(
    id="fake",
    title="Fake",
    backend_id="fake",
    folder=Path("models") / "fake",
    size_bytes=3_000_000,
    licence="MIT",
    native_size=16,
    steps=2,
    guidance_scale=4.0,
    strength=5.0,
    known_objects={"dog": "dog", "car": "car", "cat": "cat"},
)

OTHER_DETECTOR = PerceptionCard(
    ref=ModelRef(id="other/detector", revision="c0ffee", sha256="5ha"),
    role=PerceptionRole.DETECTOR,
    architecture="DetrForObjectDetection",
    folder=Path("models") / "other",
    size_bytes=7_000_000,
)


@dataclass
class FakeShelf:
    """Catalog with the fake model."""

    models: tuple[ModelCard, ...] = (CARD,)
    broken: dict[str, ModelNotFound] = field(default_factory=dict)

    def cards(self):
        return self.models

    def damaged(self):
        return self.broken


@dataclass
class FakePerceptionShelf:
    """Catalog with one detector, which knows no objects unless ``unknown`` is empty."""

    models: tuple[PerceptionCard, ...] = (OTHER_DETECTOR,)
    broken: dict[str, ModelNotFound] = field(default_factory=dict)
    unknown: tuple[str, ...] | None = None

    def cards(self):
        return self.models

    def damaged(self):
        return self.broken

    def unknown_heads(self, model_id, heads):
        return tuple(heads) if self.unknown is None else self.unknown

    def ref(self, model_id, role):
        return next(card.ref for card in self.models if card.ref.id == model_id)


@dataclass
class FakeTrainer:
    """Reports its arguments."""

    error: Exception | None = None

    def train(self, work_folder, output_folder, preset, report):
        if self.error is not None:
            raise self.error
        report(f"training {preset} in {work_folder}")


@dataclass
class InterruptedBackend(FakeBackend):
    """Generates, and raises SIGINT after the first step."""

    def generate(self, request, model, token, report, rate=None, start=None):
        def interrupt(event):
            report(event)
            if isinstance(event, StepEvent):
                signal.raise_signal(signal.SIGINT)

        return super().generate(request, model, token, interrupt, rate, start)


@dataclass
class FakeRegistry(Registry):
    """Returns fakes in place of models."""

    folder: Path
    backend_made: FakeBackend = field(default_factory=FakeBackend)
    detector_made: FakeDetector = field(default_factory=FakeDetector)
    shelf_made: FakeShelf = field(default_factory=FakeShelf)
    trainer_made: FakeTrainer = field(default_factory=FakeTrainer)
    perception_shelf_made: FakePerceptionShelf = field(default_factory=FakePerceptionShelf)

    def __post_init__(self):
        resources = StudioPaths.within(self.folder).resources
        surroundings = Surroundings(resources=resources, model_folders=())
        super().__init__(read_manifest(BUILT_IN_MANIFEST), surroundings)

    def _get(self, kind, adapter_id):
        made = {
            "extractor": build_extractor,
            "images": build_images,
            "store": build_store,
            "state": build_state,
            "library": build_libraries,
            "exporter": build_exporter,
            "metadata": build_metadata,
            "backend": lambda _: self.backend_made,
            "answerer": build_vision_model,
            "scene_renderer": build_scenes,
            "question_writer": build_writer,
            "detector": lambda _: self.detector_made,
            "depth": lambda _: FakeDepth(),
            "perturber": build_perturber,
            "perception_store": lambda _: NullPerceptionStore(),
            "perception_catalog": lambda _: self.perception_shelf_made,
            "records": build_records,
            "benchmark_files": build_benchmark_files,
            "benchmark_figures": build_benchmark_figures,
            "audit_files": build_audit_files,
            "audit_figures": build_audit_figures,
            "vote_journals": build_vote_journals,
            "attention_files": build_attention_files,
            "model_catalog": lambda _: self.shelf_made,
            "trainer": lambda _: self.trainer_made,
            "model_hub": build_hub,
        }
        return made[kind](self._surroundings)


@dataclass(frozen=True)
class Finished:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def registry(tmp_path):
    return FakeRegistry(tmp_path)


@pytest.fixture
def terminal(capsys, tmp_path, registry):
    """Run a command line in this process."""

    def open_studio(runs_folder):
        engine = InlineEngine(lambda: registry)
        return Studio(registry, engine, StudioPaths.within(tmp_path), runs_folder)

    def type_in(*words):
        capsys.readouterr()
        code = run([str(word) for word in words], open_studio)
        written = capsys.readouterr()
        return Finished(code, written.out, written.err)

    return type_in
