"""Protocols of adapters, implemented structurally."""

from collections.abc import Callable, Container, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeAlias

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import Assertions, QuestionAnswer
from spatialstudio.domain.attention import ModelLayers
from spatialstudio.domain.benchmark import JudgedSample, RecordedRun, RunReport
from spatialstudio.domain.devices import DeviceCard, MemoryEstimate
from spatialstudio.domain.errors import ModelNotFound
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    ModelRef,
    ReportEvent,
)
from spatialstudio.domain.scene import ObjectMention, Prompt, SceneGraph, TokenReading, TokenSpan
from spatialstudio.domain.steering import RatePicture
from spatialstudio.domain.verdict import (
    CheckerSettings,
    DepthMap,
    Detection,
    Mask,
    Perception,
    Perturbation,
)


@frozen
class Surroundings:
    """Paths passed to an adapter's ``build(surroundings)``.

    Attributes:
        resources: The folder of shipped data.
        model_folders: Folders that are searched for models, highest priority first.
        cache: The cache folder; None to disable caching.
        settings: The folder of the user's settings; None to store none.
    """

    resources: Path
    model_folders: tuple[Path, ...]
    cache: Path | None = None
    settings: Path | None = None


@frozen
class AdapterEntry:
    """A registered adapter, looked up by kind and id.

    Attributes:
        kind: "extractor", "detector", "segmenter", "depth", "answerer", "backend", ...
        id: Unique within its kind.
        make: "module:function", imported on first use; takes ``Surroundings``, returns the adapter.
        plugin: Name of its plugin, set when it is loaded; empty for the program's own adapters.
    """

    kind: str
    id: str
    make: str
    plugin: str = ""


class CancelToken(Protocol):
    """Cancellation of long-running work."""

    def raise_if_cancelled(self) -> None:
        """Raise if the work was cancelled.

        Raises:
            Cancelled: The user cancelled the work.
        """


class RelationExtractor(Protocol):
    """Extracts mentions and relations from a prompt."""

    id: str

    def extract(self, prompt: Prompt) -> SceneGraph:
        """Extract mentions and relations; text that is not understood becomes a note.

        Raises:
            PromptError: The prompt is empty.
        """


class ObjectLister(Protocol):
    """An extractor that can list its vocabulary of objects."""

    @property
    def object_names(self) -> tuple[str, ...]:
        """Names in lower case, the most likely first; slow on first access only."""


class CancellableExtractor(RelationExtractor, Protocol):
    """An extractor that may take seconds and can be cancelled."""

    def extract(self, prompt: Prompt, token: CancelToken | None = None) -> SceneGraph:
        """Extract mentions and relations.

        Args:
            prompt: The prompt.
            token: Polled while waiting; None for work that cannot be cancelled.

        Raises:
            PromptError: The prompt is empty.
            Cancelled: The token was cancelled.
        """


@frozen
class ModelCard:
    """Description of a generation model, read without loading weights.

    Attributes:
        id: Name in the request's ``ModelRef``.
        title: Display name.
        backend_id: The backend that runs it.
        folder: The model folder, or a single file with the weights.
        size_bytes: Size of the weights.
        licence: Name or URL.
        native_size: Native side of the image in pixels.
        steps: Recommended denoising steps.
        guidance_scale: Recommended classifier-free guidance.
        strength: Recommended PSG step size, variance-preserving units.
        known_objects: Names (and synonyms, plurals) to the head it can generate; empty for all.
        pipeline_class: diffusers class name of its pipeline; empty if unknown.
        base: Folder with the missing parts of a single file; None for a complete folder.
        dtype: torch name of the number format of the weights; empty for the device default.
        revision: Commit on the hub; empty for a local folder.
        samplers: diffusers class names of supported samplers, its default first; empty if unknown.
        family: Name of the model family of a single file: "Stable Diffusion XL"; empty if unknown.
        prediction_type: What the denoiser predicts, one of ``PREDICTION_TYPES``, if the user can
            choose it; else empty, and the model's configuration decides.
        is_prediction_known: Whether the file or the user states the prediction type; False for the
            default of the family.
        ends_in_noise: Whether its noise schedule is rescaled to end in pure noise.
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
    family: str = ""
    prediction_type: str = ""
    is_prediction_known: bool = False
    ends_in_noise: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        """Its id, then the other ids that a single file has, depending on other files' names."""
        return (self.id, *(file_ids(self.folder) if self.base is not None else ()))


def file_ids(file: Path) -> tuple[str, ...]:
    """Return the ids that a single file may have: "name", "name (folder)", "name (outer/folder)".

    The first one that no other file has is its id; all of them find it.
    """
    folders = file.parent.parts[1:]
    longer = ("/".join(folders[start:]) for start in reversed(range(len(folders))))
    return (file.stem, *(f"{file.stem} ({each})" for each in longer))


def free_id(file: Path, taken: Container[str]) -> str:
    """Return the first id of a single file that is not taken."""
    return next((each for each in file_ids(file) if each not in taken), str(file))


class ModelCatalog(Protocol):
    """Lists the generation models on disk."""

    def cards(self) -> tuple[ModelCard, ...]:
        """Return the available models, embedded ones first; damaged folders are left out."""

    def damaged(self) -> Mapping[str, ModelNotFound]:
        """Return the errors of the damaged folders by folder name."""

    def read_file(self, file: Path) -> ModelCard:
        """Return the card of a single file anywhere on this machine.

        Raises:
            ModelNotFound: It is damaged, of a kind that cannot draw, or cannot be completed.
        """

    def open_file(self, file: Path) -> ModelCard:
        """Return the card of a single file like ``read_file``, and list it from now on.

        Raises:
            ModelNotFound: See ``read_file``.
            StoreError: The choice cannot be written.
        """

    def choose_prediction(self, model_id: str, prediction_type: str) -> None:
        """Store the prediction type of a model, which its card has from now on.

        Raises:
            StoreError: The choice cannot be written.
        """


@frozen
class LoraCard:
    """Description of a LoRA, read without loading its weights.

    Attributes:
        name: Name in the prompt and in requests: the file's, without its ending.
        file: The safetensors file.
        family: Models that it was trained for, "Stable Diffusion XL"; empty if unknown.
        size_bytes: Size of the file.
        numbers: Number of its weights.
    """

    name: str
    file: Path
    family: str
    size_bytes: int
    numbers: int


class LoraCatalog(Protocol):
    """Lists the LoRAs on disk."""

    def cards(self) -> tuple[LoraCard, ...]:
        """Return the usable LoRAs by name."""

    def card(self, name: str) -> LoraCard:
        """Return the LoRA of a name.

        Raises:
            ModelNotFound: There is no such LoRA, or its file cannot be used.
        """

    def file_hash(self, name: str) -> str:
        """Return the sha256 of the file of a LoRA, with the errors of ``card``."""


class GenerationBackend(Protocol):
    """Generates images. Loads its model on first use, and reuses it for later requests."""

    id: str

    def devices(self) -> tuple[DeviceCard, ...]:
        """Return the usable devices, the fastest first."""

    def token_spans(self, scene: SceneGraph, model: ModelCard) -> tuple[TokenSpan, ...]:
        """Return the mentions' positions in the text encoders' sequences; no weights are loaded.

        Raises:
            BackendError: The model is damaged or missing.
            PromptError: A mention lies beyond the text encoder's limit.
        """

    def read_tokens(self, prompt: str, model: ModelCard) -> tuple[TokenReading, ...]:
        """Return how each of the model's text encoders tokenizes a prompt; no weights are loaded.

        Raises:
            BackendError: The model is damaged or missing.
        """

    def layers(self, model: ModelCard, height: int, width: int) -> ModelLayers:
        """Return a model's cross-attention layers at an image size; no weights are loaded.

        Raises:
            BackendError: The model is damaged or missing.
        """

    def denoiser_flops(self, model: ModelCard, height: int, width: int) -> int | None:
        """Return the operations of a denoiser pass over one picture; None if unknown."""

    def estimate(self, request: GenerationRequest, model: ModelCard) -> MemoryEstimate | None:
        """Estimate the memory of a request; may run during another generation.

        Returns:
            None if an estimate requires unloading a model or loading a large one.

        Raises:
            BackendError: The model is damaged or missing.
            RequestError: The model does not support the request.
        """

    def generate(
        self,
        request: GenerationRequest,
        model: ModelCard,
        token: CancelToken,
        report: ReportEvent,
        rate: RatePicture | None = None,
        start: RgbImage | None = None,
    ) -> GenerationFinished:
        """Generate an image on the calling thread.

        Args:
            request: The request.
            model: The card of its model.
            token: Polled before every model call.
            report: Receives ``GenerationStarted``, ``PromptEncoded`` and a ``StepEvent`` per step;
                a steered run that changes over to another particle reports that one's again.
            rate: Rates predicted pictures of particles; passed only if the request is steered.
            start: (H, W, 3), the picture that ``request.repair`` repairs; passed only with one.

        Raises:
            BackendError: The model is damaged, or the request does not fit it.
            PromptError: A mention lies beyond the text encoder's limit.
            Cancelled: The token was cancelled; no model call follows.
        """


class Perturber(Protocol):
    """Applies small image changes for the stability test."""

    id: str

    def perturb(self, image: RgbImage, perturbation: Perturbation) -> RgbImage:
        """Return a changed copy of an image, (H, W, 3) uint8, of the same size."""


class RecordedRuns(Protocol):
    """Reads and writes the run folders of a published benchmark."""

    id: str

    def read(self, folder: Path) -> RecordedRun:
        """Read a run and the perceptions of its images.

        Raises:
            StoreError: The folder contains no such run, or it is damaged.
            SettingsError: Its settings are invalid.
        """

    def read_settings(self, path: Path) -> CheckerSettings:
        """Read a settings file of the benchmark.

        Raises:
            SettingsError: The file cannot be read, or contains an invalid value.
        """

    def write(
        self,
        run: RecordedRun,
        judged: Sequence[JudgedSample],
        report: RunReport,
        folder: Path,
        *,
        overwrite: bool = False,
    ) -> None:
        """Write verdicts and figures in the benchmark's schema: either all files, or none.

        Raises:
            TargetExists: A file exists and ``overwrite`` is False.
            StoreError: The folder cannot be written or is full.
        """

    def files_of(self, folder: Path) -> tuple[Path, ...]:
        """Return the files of a run that ``read`` reads."""

    def write_prompts(self, path: Path, *, overwrite: bool = False) -> None:
        """Write the benchmark's prompt file, regenerated from its recipe.

        Raises:
            TargetExists: The file exists and ``overwrite`` is False.
            StoreError: The file cannot be written.
        """


class ImageFiles(Protocol):
    """Reads image files."""

    def read(self, path: Path) -> RgbImage:
        """Read an image as sRGB, with its EXIF orientation applied.

        Raises:
            ImageError: The file is not an image, truncated, or too large to open safely.
        """


class Trainer(Protocol):
    """Trains the embedded models."""

    def train(
        self, work_folder: Path, output_folder: Path, preset: str, report: Callable[[str], None]
    ) -> None:
        """Train every stage that is not finished in ``work_folder``, then export.

        Args:
            work_folder: Folder of checkpoints; training resumes from them.
            output_folder: Folder for the exported model folders.
            preset: "full", or "smoke" for a run of seconds.
            report: Receives progress messages, one line each.

        Raises:
            StoreError: A folder cannot be written.
            SettingsError: The preset is unknown.
        """


class PerceptionRole(Enum):
    """The task of a perception model; the values are adapter kinds."""

    DETECTOR = "detector"
    SEGMENTER = "segmenter"
    DEPTH = "depth"
    ANSWERER = "answerer"


@frozen
class PerceptionCard:
    """Description of a perception model folder, read without loading weights.

    Attributes:
        ref: Its name, hub commit, and hash of its weights where that is already known.
        role: Its task.
        architecture: Class name in its configuration.
        folder: The model folder.
        size_bytes: Size of the weights.
    """

    ref: ModelRef
    role: PerceptionRole
    architecture: str
    folder: Path
    size_bytes: int


@frozen(eq=False)
class Seen:
    """The output of a detector.

    Attributes:
        detections: Instances, candidates below the thresholds included.
        masks: Masks of the instances, in the same order; empty if it predicts no masks.
        unknown_heads: Heads that match none of its classes.
        cut: Score threshold recommended by its authors, [0, 1].
    """

    detections: tuple[Detection, ...]
    masks: tuple[Mask, ...] = ()
    unknown_heads: tuple[str, ...] = ()
    cut: float = 0.0


class Detector(Protocol):
    """Finds named objects in an image."""

    id: str

    @property
    def signature(self) -> str:
        """Key of everything that the output depends on but image and mentions; empty if unknown."""

    def detect(self, image: RgbImage, mentions: Sequence[ObjectMention]) -> Seen:
        """Detect the head of every mention.

        Args:
            image: (H, W, 3) uint8.
            mentions: Mentions to search for, by their heads; a detector may use their attributes.

        Raises:
            DetectorError: The model is damaged or missing.
        """


class DepthEstimator(Protocol):
    """Estimates the depth of each pixel."""

    id: str

    @property
    def signature(self) -> str:
        """Key of everything but the image that the output depends on; empty if unknown."""

    def estimate(self, image: RgbImage) -> DepthMap:
        """Estimate relative depth, larger is farther.

        Raises:
            DetectorError: The model is damaged or missing.
        """


class Segmenter(Protocol):
    """Segments the instances found by a detector."""

    id: str

    @property
    def signature(self) -> str:
        """Key of everything but the image that the output depends on; empty if unknown."""

    def segment(self, image: RgbImage, detections: Sequence[Detection]) -> tuple[Mask, ...]:
        """Return the mask of every detection that has one, with the detection's score.

        Args:
            image: (H, W, 3) uint8; encoded once for all detections.
            detections: Detections whose boxes are segmented.

        Raises:
            DetectorError: The model is damaged or missing.
        """


class QuestionAnswerer(Protocol):
    """Answers yes-no questions about an image with probabilities."""

    id: str

    def answer(
        self, image: RgbImage, questions: Sequence[str], token: CancelToken
    ) -> tuple[QuestionAnswer, ...]:
        """Answer each question; an answer that fails carries a note instead.

        Args:
            image: (H, W, 3) uint8.
            questions: Yes-no questions.
            token: Polled before each question.

        Raises:
            DetectorError: The model is damaged or missing.
            Cancelled: The token was cancelled.
        """


Perceiver: TypeAlias = Detector | Segmenter | DepthEstimator | QuestionAnswerer


class PerceptionCatalog(Protocol):
    """Lists and loads perception models."""

    def cards(self) -> tuple[PerceptionCard, ...]:
        """Return the available models; damaged folders are left out."""

    def damaged(self) -> Mapping[str, ModelNotFound]:
        """Return the errors of the damaged models by name."""

    def unknown_heads(self, model_id: str, heads: Sequence[str]) -> tuple[str, ...]:
        """Return the heads that a detector cannot recognise; none for an open vocabulary.

        Raises:
            ModelNotFound: There is no such detector, or it is damaged.
        """

    def ref(self, model_id: str, role: PerceptionRole) -> ModelRef:
        """Return a model's revision and the hash of its weights; arguments as for ``make``.

        Raises:
            ModelNotFound: There is no such model of this role, or it is damaged.
        """

    def make(self, model_id: str, role: PerceptionRole) -> Perceiver:
        """Create a model's adapter; the weights are loaded on first use.

        Args:
            model_id: A name in the catalog, or the path of a model folder.
            role: The task it is used for.

        Raises:
            ModelNotFound: There is no such model of this role, or it is damaged.
        """


class PerceptionStore(Protocol):
    """A cache of perceptions; any entry may be evicted at any time."""

    def find(self, key: str) -> Perception | None:
        """Return the entry of a key; None when there is none, or it is damaged."""

    def keep(self, key: str, perception: Perception) -> None:
        """Store a perception; write errors are ignored."""


class AssertionReader(Protocol):
    """Decomposes a prompt into atomic assertions, each with a question."""

    id: str

    def read(self, scene: SceneGraph, token: CancelToken) -> Assertions:
        """Decompose a prompt; on failure return the assertions of the scene with a note.

        Args:
            scene: The prompt and its scene graph.
            token: Polled while waiting.

        Raises:
            Cancelled: The token was cancelled.
        """
