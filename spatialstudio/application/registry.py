"""Registry of adapters by kind and id, created lazily from manifests."""

import gc
import pkgutil
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from itertools import chain
from operator import attrgetter
from pathlib import Path
from typing import Any, cast

from spatialstudio.domain.audit import AuditFiles
from spatialstudio.domain.audit_figures import AuditFigures
from spatialstudio.domain.audit_session import VoteJournals
from spatialstudio.domain.benchmark_figures import BenchmarkFigures
from spatialstudio.domain.benchmark_ports import BenchmarkFiles
from spatialstudio.domain.cluster import Cluster
from spatialstudio.domain.errors import (
    DetectorError,
    PluginError,
    StudioError,
    cause_of,
    failures_named,
)
from spatialstudio.domain.export import Exporter, ExportKind
from spatialstudio.domain.hub import ModelHub
from spatialstudio.domain.ports import (
    AdapterEntry,
    AssertionReader,
    CancellableExtractor,
    DepthEstimator,
    Detector,
    GenerationBackend,
    ImageFiles,
    LoraCatalog,
    ModelCatalog,
    ObjectLister,
    PerceptionCatalog,
    PerceptionRole,
    PerceptionStore,
    Perturber,
    QuestionAnswerer,
    RecordedRuns,
    RelationExtractor,
    Segmenter,
    Surroundings,
    Trainer,
)
from spatialstudio.domain.question_ports import ChoiceAnswerer, QuestionWriter, SceneRenderer
from spatialstudio.domain.registrations import Registrations, constants_in
from spatialstudio.domain.run_ports import (
    AttentionFiles,
    MetadataFiles,
    RunLibraries,
    RunStore,
    StateFiles,
)
from spatialstudio.domain.servers import ServerChoices

BUILT_IN_MANIFEST = Path(__file__).parent.parent / "adapters" / "plugin.toml"
ANSWERERS = "spatialstudio.adapters.questions"
PERCEPTION_CATALOG = "perception_catalog"
PERCEPTION_KINDS = frozenset(role.value for role in PerceptionRole)
"""Kinds that the model catalog provides in addition to the manifests."""


EXPORT_KINDS: Registrations[ExportKind] = Registrations(
    "export kind",
    chain.from_iterable(constants_in("spatialstudio.adapters.exports.kinds", "KINDS", tuple)),
    attrgetter("order"),
)
"""Export kinds of the window and the terminal, including those of plugins."""


def read_manifest(path: Path) -> tuple[AdapterEntry, ...]:
    """Read a plugin manifest.

    Raises:
        PluginError: The file is missing or not a valid manifest.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))["adapter"]
        return tuple(AdapterEntry(**table) for table in tables)
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise PluginError(
            f"The manifest {path.name} cannot be read.",
            hint="Each [[adapter]] needs kind, id and make; reinstall if you did not change it.",
        ) from error


def built_in_entries() -> tuple[AdapterEntry, ...]:
    """Return the built-in adapters: manifest entries, then question answerers.

    Each module of ``ANSWERERS`` is one adapter: its name is the id, its ``build`` the factory.
    """
    folder = import_module(ANSWERERS)
    names = [each.name for each in pkgutil.iter_modules(folder.__path__)]
    answerers = (
        AdapterEntry(kind="answerer", id=name.replace("_", "-"), make=f"{ANSWERERS}.{name}:build")
        for name in names
    )
    return (*read_manifest(BUILT_IN_MANIFEST), *answerers)


class Registry:
    """Adapters by kind and id, each created on first use.

    Attributes:
        missing_plugins: Sentences for hints of errors, on plugins that are in use in the studio but
            not in this process.
    """

    def __init__(
        self, entries: Iterable[AdapterEntry], surroundings: Surroundings, missing_plugins: str = ""
    ) -> None:
        self.missing_plugins = missing_plugins
        self._entries = {(entry.kind, entry.id): entry for entry in entries}
        self._surroundings = surroundings
        self._made: dict[tuple[str, str], object] = {}

    @property
    def cache(self) -> Path | None:
        """The cache folder; None to cache nothing."""
        return self._surroundings.cache

    def ids(self, kind: str) -> tuple[str, ...]:
        """Return the ids of all adapters of one kind, in manifest order."""
        return tuple(entry_id for entry_kind, entry_id in self._entries if entry_kind == kind)

    def extractor(self, adapter_id: str) -> RelationExtractor:
        """Return a relation extractor."""
        return cast("RelationExtractor", self._get("extractor", adapter_id))

    def object_names(self, adapter_id: str) -> tuple[str, ...]:
        """Return the object names of an extractor, most likely first."""
        return cast("ObjectLister", self._get("extractor", adapter_id)).object_names

    def cancellable_extractor(self, adapter_id: str) -> CancellableExtractor:
        """Return a relation extractor that supports cancellation."""
        return cast("CancellableExtractor", self._get("extractor", adapter_id))

    def server_choices(self, adapter_id: str) -> ServerChoices:
        """Return the stored server settings of a language model."""
        return cast("ServerChoices", self._get("server_choices", adapter_id))

    def model_catalog(self, adapter_id: str) -> ModelCatalog:
        """Return a catalog of models."""
        return cast("ModelCatalog", self._get("model_catalog", adapter_id))

    def lora_catalog(self, adapter_id: str) -> LoraCatalog:
        """Return a catalog of LoRAs."""
        return cast("LoraCatalog", self._get("lora_catalog", adapter_id))

    def backend(self, adapter_id: str) -> GenerationBackend:
        """Return a generation backend."""
        return cast("GenerationBackend", self._get("backend", adapter_id))

    def detector(self, adapter_id: str) -> Detector:
        """Return a registered or catalog detector."""
        return cast("Detector", self._get(PerceptionRole.DETECTOR.value, adapter_id))

    def segmenter(self, adapter_id: str) -> Segmenter:
        """Return a registered or catalog segmenter."""
        return cast("Segmenter", self._get(PerceptionRole.SEGMENTER.value, adapter_id))

    def depth(self, adapter_id: str) -> DepthEstimator:
        """Return a registered or catalog depth estimator."""
        return cast("DepthEstimator", self._get(PerceptionRole.DEPTH.value, adapter_id))

    def perception_catalog(self, adapter_id: str) -> PerceptionCatalog:
        """Return a catalog of perception models."""
        return cast("PerceptionCatalog", self._get(PERCEPTION_CATALOG, adapter_id))

    def perception_store(self, adapter_id: str) -> PerceptionStore:
        """Return a cache of perceptions."""
        return cast("PerceptionStore", self._get("perception_store", adapter_id))

    def assertion_reader(self, adapter_id: str) -> AssertionReader:
        """Return a reader that decomposes prompts into assertions."""
        return cast("AssertionReader", self._get("assertion_reader", adapter_id))

    def answerer(self, adapter_id: str) -> QuestionAnswerer:
        """Return a visual question answerer."""
        return cast("QuestionAnswerer", self._get(PerceptionRole.ANSWERER.value, adapter_id))

    def choice_answerer(self, adapter_id: str) -> ChoiceAnswerer:
        """Return an answerer of multiple-choice questions.

        Raises:
            DetectorError: The answerer answers yes-no questions only.
        """
        answerer = self._get(PerceptionRole.ANSWERER.value, adapter_id)
        if not hasattr(answerer, "choose"):
            raise DetectorError(
                f'The model "{adapter_id}" answers yes-no questions only.',
                hint="Choose a vision language model, on a server or on this machine.",
            )
        return cast("ChoiceAnswerer", answerer)

    def question_writer(self, adapter_id: str) -> QuestionWriter:
        """Return a writer of questions on prompts."""
        return cast("QuestionWriter", self._get("question_writer", adapter_id))

    def scene_renderer(self, adapter_id: str) -> SceneRenderer:
        """Return a renderer of scenes whose content is known."""
        return cast("SceneRenderer", self._get("scene_renderer", adapter_id))

    def perturber(self, adapter_id: str) -> Perturber:
        """Return an image perturber."""
        return cast("Perturber", self._get("perturber", adapter_id))

    def trainer(self, adapter_id: str) -> Trainer:
        """Return a trainer of the embedded models."""
        return cast("Trainer", self._get("trainer", adapter_id))

    def images(self, adapter_id: str) -> ImageFiles:
        """Return a reader and writer of image files."""
        return cast("ImageFiles", self._get("images", adapter_id))

    def records(self, adapter_id: str) -> RecordedRuns:
        """Return a reader and writer of recorded benchmark runs."""
        return cast("RecordedRuns", self._get("records", adapter_id))

    def benchmark_files(self, adapter_id: str) -> BenchmarkFiles:
        """Return a writer of a benchmark's files."""
        return cast("BenchmarkFiles", self._get("benchmark_files", adapter_id))

    def benchmark_figures(self, adapter_id: str) -> BenchmarkFigures:
        """Return the drawer of figures of benchmarks."""
        return cast("BenchmarkFigures", self._get("benchmark_figures", adapter_id))

    def cluster(self, adapter_id: str) -> Cluster:
        """Return a cluster that runs jobs."""
        return cast("Cluster", self._get("cluster", adapter_id))

    def audit_files(self, adapter_id: str) -> AuditFiles:
        """Return a reader and writer of audits."""
        return cast("AuditFiles", self._get("audit_files", adapter_id))

    def audit_figures(self, adapter_id: str) -> AuditFigures:
        """Return the drawer of figures of audits."""
        return cast("AuditFigures", self._get("audit_figures", adapter_id))

    def vote_journals(self, adapter_id: str) -> VoteJournals:
        """Return the reader and writer of journals of audit sessions."""
        return cast("VoteJournals", self._get("vote_journals", adapter_id))

    def library(self, adapter_id: str) -> RunLibraries:
        """Return an adapter that opens run libraries."""
        return cast("RunLibraries", self._get("library", adapter_id))

    def state(self, adapter_id: str) -> StateFiles:
        """Return a store of drafts and queue journals."""
        return cast("StateFiles", self._get("state", adapter_id))

    def exporter(self, adapter_id: str) -> Exporter:
        """Return a writer of export files."""
        return cast("Exporter", self._get("exporter", adapter_id))

    def attention_files(self, adapter_id: str) -> AttentionFiles:
        """Return a reader of stored attention maps."""
        return cast("AttentionFiles", self._get("attention_files", adapter_id))

    def metadata(self, adapter_id: str) -> MetadataFiles:
        """Return a reader and writer of image metadata."""
        return cast("MetadataFiles", self._get("metadata", adapter_id))

    def store(self, adapter_id: str) -> RunStore:
        """Return a store of run records."""
        return cast("RunStore", self._get("store", adapter_id))

    def model_hub(self, adapter_id: str) -> ModelHub:
        """Return the hub of downloadable models."""
        return cast("ModelHub", self._get("model_hub", adapter_id))

    def discard(self, kind: str) -> None:
        """Drop the created adapters of a kind, so that they are created again on next use."""
        self._made = {key: made for key, made in self._made.items() if key[0] != kind}

    def _get(self, kind: str, adapter_id: str) -> object:
        key = (kind, adapter_id)
        if key not in self._made:
            with _without_collection():
                self._made[key] = self._make(kind, adapter_id)
        return self._made[key]

    def _make(self, kind: str, adapter_id: str) -> object:
        is_registered = (kind, adapter_id) in self._entries
        if kind in PERCEPTION_KINDS and not is_registered and self.ids(PERCEPTION_CATALOG):
            (catalog_id,) = self.ids(PERCEPTION_CATALOG)
            return self.perception_catalog(catalog_id).make(adapter_id, PerceptionRole(kind))
        entry = self._entry(kind, adapter_id)
        if not entry.plugin:
            return _maker(entry)(self._surroundings)
        fault = DetectorError if kind in PERCEPTION_KINDS else PluginError
        name = f'The {kind} "{entry.id}" of the plugin "{entry.plugin}"'
        with failures_named(name, kind=fault):
            return _PluginAdapter(_maker(entry)(self._surroundings), name, fault)

    def _entry(self, kind: str, adapter_id: str) -> AdapterEntry:
        entry = self._entries.get((kind, adapter_id))
        if entry is None:
            raise PluginError(
                f'There is no {kind} "{adapter_id}".',
                hint=f"Available: {', '.join(self.ids(kind)) or 'none'}.",
            )
        return entry


@contextmanager
def _without_collection() -> Iterator[None]:
    """Disable garbage collection, which takes a sixth of the time that importing a model takes."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class _PluginAdapter:
    """An adapter of a plugin; its exceptions become errors that name the plugin.

    Args:
        adapter: The adapter.
        name: The adapter and its plugin, as the start of a sentence.
        fault: Class of the errors.
    """

    def __init__(self, adapter: object, name: str, fault: type[StudioError]) -> None:
        self._adapter = adapter
        self._name = name
        self._fault = fault

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._adapter, name)
        if not callable(value):
            return value

        @wraps(value)
        def call(*arguments: Any, **options: Any) -> Any:
            with failures_named(self._name, kind=self._fault):
                return value(*arguments, **options)

        return call


def _maker(entry: AdapterEntry) -> Callable[[Surroundings], Any]:
    """Import the factory of an adapter.

    Raises:
        PluginError: It cannot be imported.
    """
    module_name, _, function_name = entry.make.partition(":")
    try:
        maker = getattr(import_module(module_name), function_name)
    except (ImportError, AttributeError) as error:
        plugin = f' of the plugin "{entry.plugin}"' if entry.plugin else ""
        raise PluginError(
            f'The {entry.kind} "{entry.id}"{plugin} cannot be loaded: {cause_of(error)}.',
            hint='Run "spatialstudio doctor" to see which library is missing.',
        ) from error
    return cast("Callable[[Surroundings], Any]", maker)
