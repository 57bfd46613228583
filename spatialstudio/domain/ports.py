"""The protocols behind which the world outside stands. Adapters implement them structurally."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import ModelLayers
from spatialstudio.domain.devices import DeviceCard, MemoryEstimate
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    ReportEvent,
)
from spatialstudio.domain.perception import Perturbation
from spatialstudio.domain.prompt import (
    Prompt,
    TokenReading,
    TokenSpan,
)
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import CheckerSettings

if TYPE_CHECKING:
    from spatialstudio.domain.benchmark import (
        JudgedSample,
        RecordedRun,
        RunReport,
    )


@frozen
class Surroundings:
    """What an adapter's ``build(surroundings)`` may use to make itself.

    Attributes:
        resources: The folder of shipped data.
        model_folders: Folders in which models are looked for, best first.
        cache: Where what can be made again is kept; None to keep nothing.
        settings: Where the user's settings are kept; None to keep none.
    """

    resources: Path
    model_folders: tuple[Path, ...]
    cache: Path | None = None
    settings: Path | None = None


@frozen
class AdapterEntry:
    """An adapter that can be asked for by kind and id.

    Attributes:
        kind: "extractor", "detector", "segmenter", "depth", "answerer", "backend", ...
        id: Unique within its kind.
        make: "module:function", imported on first use; the function takes ``Surroundings`` and
            returns the adapter.
    """

    kind: str
    id: str
    make: str


class CancelToken(Protocol):
    """Tells long work that the user wants it to stop."""

    def raise_if_cancelled(self) -> None:
        """Return at once while the work is wanted.

        Raises:
            Cancelled: The user asked to stop.
        """


class RelationExtractor(Protocol):
    """Reads what a prompt claims."""

    id: str

    def extract(self, prompt: Prompt) -> SceneGraph:
        """Read mentions and relations; what is not understood becomes a note.

        Raises:
            PromptError: The prompt is empty.
        """


class ObjectLister(Protocol):
    """A reader that can list what it knows as objects."""

    @property
    def object_names(self) -> tuple[str, ...]:
        """Names in lower case, the likelier ones first; takes long only the first time."""


class CancellableExtractor(RelationExtractor, Protocol):
    """A reader that may take seconds, and can be stopped."""

    def extract(self, prompt: Prompt, token: CancelToken | None = None) -> SceneGraph:
        """Read mentions and relations, as any extractor.

        Args:
            prompt: What to read.
            token: Asked while it waits; None when nobody can stop it.

        Raises:
            PromptError: The prompt is empty.
            Cancelled: The token was cancelled.
        """


@frozen
class ModelCard:
    """What a model folder offers, read without loading weights.

    Attributes:
        id: Name in the request's ``ModelRef``.
        title: For people.
        backend_id: The backend that runs it.
        folder: Where its files are, or the one file that holds the weights.
        size_bytes: Of the weights.
        licence: Name or address.
        native_size: Side of the picture in pixels.
        steps: Recommended denoising steps.
        guidance_scale: Recommended classifier-free guidance.
        strength: Recommended PSG step size, variance-preserving units.
        known_objects: Names (with synonyms and plurals) to the head it draws; empty when open.
        pipeline_class: Its kind, a diffusers class name; empty when it is not known.
        base: Folder that completes a single file; None where the folder holds all.
        dtype: Number format of the weights, as torch names it; empty for what suits the device.
        revision: The hub's commit; empty for a folder of the user's.
        samplers: Names in diffusers of those that it can be drawn with, its own first; empty when
            they are not known.
    """

    id: str
    title: str
    backend_id: str
    folder: Path
    size_bytes: int
    licence: str
    native_size: int
    steps: int
    guidance_scale: float
    strength: float
    known_objects: Mapping[str, str]
    pipeline_class: str = ""
    base: Path | None = None
    dtype: str = ""
    revision: str = ""
    samplers: tuple[str, ...] = ()


class ModelCatalog(Protocol):
    """Finds models on disk."""

    def cards(self) -> tuple[ModelCard, ...]:
        """List what is there, the embedded models first; damaged folders are left out."""

    def damaged(self) -> Mapping[str, ModelNotFound]:
        """Say by folder name what is wrong with the folders that are left out."""


class GenerationBackend(Protocol):
    """Draws pictures. Loads its model on first use and keeps it for the next request."""

    id: str

    def devices(self) -> tuple[DeviceCard, ...]:
        """List what it can run on, the fastest first."""

    def token_spans(self, scene: SceneGraph, model: ModelCard) -> tuple[TokenSpan, ...]:
        """Say where the model's text encoders hold every mention; no weights are loaded.

        Raises:
            BackendError: The model is damaged or missing.
            PromptError: A mention lies beyond the text encoder's limit.
        """

    def read_tokens(self, prompt: str, model: ModelCard) -> tuple[TokenReading, ...]:
        """Say how each of the model's text encoders takes a prompt apart; no weights are loaded.

        Raises:
            BackendError: The model is damaged or missing.
        """

    def layers(self, model: ModelCard, height: int, width: int) -> ModelLayers:
        """Say where a model attends to the text in pictures of a size; no weights are loaded.

        Raises:
            BackendError: The model is damaged or missing.
        """

    def estimate(self, request: GenerationRequest, model: ModelCard) -> MemoryEstimate | None:
        """Say what a request would take, beside a drawing that goes on.

        Returns:
            None when that cannot be known without pushing a model out, or loading a large one.

        Raises:
            BackendError: The model is damaged or missing.
            RequestError: The model cannot do what the request asks for.
        """

    def generate(
        self,
        request: GenerationRequest,
        model: ModelCard,
        token: CancelToken,
        report: ReportEvent,
    ) -> GenerationFinished:
        """Draw on the calling thread.

        Args:
            request: What to draw.
            model: The card of its model.
            token: Asked before every model call.
            report: Takes ``GenerationStarted``, ``PromptEncoded`` and a ``StepEvent`` a step.

        Raises:
            BackendError: The model is damaged, or the request does not fit it.
            PromptError: A mention lies beyond the text encoder's limit.
            Cancelled: The token was cancelled; no model call follows.
        """


class Perturber(Protocol):
    """Changes pictures a little, to see whether answers survive."""

    id: str

    def perturb(self, image: RgbImage, perturbation: Perturbation) -> RgbImage:
        """Return a changed copy of a picture, (H, W, 3) uint8, of the same size."""


class RecordedRuns(Protocol):
    """Reads and writes the run folders of a published benchmark."""

    id: str

    def read(self, folder: Path) -> "RecordedRun":
        """Read a run and what was seen in its pictures.

        Raises:
            StoreError: The folder holds no such run, or it is damaged.
            SettingsError: Its settings cannot be used.
        """

    def read_settings(self, path: Path) -> CheckerSettings:
        """Read a settings file of the benchmark.

        Raises:
            SettingsError: It cannot be read, or holds a value that cannot be used.
        """

    def write(
        self,
        run: "RecordedRun",
        judged: "Sequence[JudgedSample]",
        report: "RunReport",
        folder: Path,
        *,
        overwrite: bool = False,
    ) -> None:
        """Write verdicts and figures in the benchmark's own schema: all files, or none.

        Raises:
            TargetExists: A file is already there, and it is not to be replaced.
            StoreError: The folder cannot be written or is full.
        """

    def files_of(self, folder: Path) -> tuple[Path, ...]:
        """List the files that ``read`` reads of a run."""

    def write_prompts(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the benchmark's file of prompts, drawn again from its recipe.

        Raises:
            TargetExists: The file is already there, and it is not to be replaced.
            StoreError: The file cannot be written.
        """


class ImageFiles(Protocol):
    """Reads pictures."""

    def read(self, path: Path) -> RgbImage:
        """Read a picture upright, as sRGB.

        Raises:
            ImageError: Not a picture, truncated, or too large to open safely.
        """


class Trainer(Protocol):
    """Makes the embedded models anew."""

    def train(
        self, work_folder: Path, output_folder: Path, preset: str, report: Callable[[str], None]
    ) -> None:
        """Train every stage that is not finished in ``work_folder``, then export.

        Args:
            work_folder: Checkpoints; training goes on from them.
            output_folder: Where the model folders are written.
            preset: "full", or "smoke" for a run of seconds.
            report: Takes one line of progress for people.

        Raises:
            StoreError: A folder cannot be written.
            SettingsError: The preset is not known.
        """
