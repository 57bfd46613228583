"""Models on the Hugging Face hub and on this machine: catalogue, download plan, progress, ports."""

import re
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Protocol, TypeAlias

from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import CancelToken

HUB_PAGES = "https://huggingface.co"
MAIN_REVISION = "main"
REPOSITORY = re.compile(
    r"(?!.*\.(safetensors|ckpt|gguf|pth?)$)[a-z0-9][\w.-]*/[a-z0-9][\w.-]*", re.IGNORECASE
)


def download_hint(name: str) -> str:
    """Return how to download a model; empty if the name cannot be that of a repository."""
    if not REPOSITORY.fullmatch(name):
        return ""
    return f'Download it with "spatialstudio models get {name}", or on the Models page.'


class HubError(StudioError):
    """A repository cannot be listed, downloaded, verified or removed."""


class GatedRepository(HubError):  # noqa: N818 - the name states the fault
    """The repository's licence must be accepted, and a token sent."""


class HubUnreachable(HubError):  # noqa: N818 - the name states the fault
    """The hub does not answer, or access to the network is disabled."""


class UnsuitableRepository(HubError):  # noqa: N818 - the name states the fault
    """The repository holds nothing that can be loaded safely."""


class ModelTask(Enum):
    """What a downloadable model does."""

    DIFFUSION = "diffusion"
    DETECTOR = "detector"
    SEGMENTER = "segmenter"
    DEPTH = "depth"
    ANSWERER = "answerer"
    UNKNOWN = "unknown"


TASK_ENDINGS = {
    "Pipeline": ModelTask.DIFFUSION,
    "ForObjectDetection": ModelTask.DETECTOR,
    "ForUniversalSegmentation": ModelTask.DETECTOR,
    "ForImageSegmentation": ModelTask.DETECTOR,
    "SamModel": ModelTask.SEGMENTER,
    "Sam2Model": ModelTask.SEGMENTER,
    "Sam2VideoModel": ModelTask.SEGMENTER,
    "ForDepthEstimation": ModelTask.DEPTH,
    "ForQuestionAnswering": ModelTask.ANSWERER,
    "Qwen2VLForConditionalGeneration": ModelTask.ANSWERER,
    "Qwen2_5_VLForConditionalGeneration": ModelTask.ANSWERER,
    "Qwen3VLForConditionalGeneration": ModelTask.ANSWERER,
    "Qwen3VLMoeForConditionalGeneration": ModelTask.ANSWERER,
    "Idefics3ForConditionalGeneration": ModelTask.ANSWERER,
    "SmolVLMForConditionalGeneration": ModelTask.ANSWERER,
}
"""Endings of the names of diffusers' and transformers' classes."""


def task_of(architecture: str) -> ModelTask:
    """Return the task of a model by its class; ``UNKNOWN`` for other classes."""
    found = (task for ending, task in TASK_ENDINGS.items() if architecture.endswith(ending))
    return next(found, ModelTask.UNKNOWN)


@frozen
class CatalogueEntry:
    """A recommended model. Its size is asked from the hub.

    Attributes:
        id: Short name in the terminal.
        title: Display name.
        task: What it does.
        repository: Id on the hub, as documented by its makers.
        files: Patterns of the files to download; ``*`` does not match "/".
        architecture: Class in ``model_index.json`` or ``config.json``.
        licence: Identifier on the model card.
        licence_url: Where the licence can be read.
        memory_gb: Minimum device memory without offloading: all weights in 16 bits and one picture
            at ``size``, from the makers' parameter counts, rounded up; gigabytes.
        is_gated: Whether the makers ask users to accept the licence; the hub's answer counts.
        steps: Recommended denoising steps; None for models that do not draw.
        size: Recommended side of the picture, pixels; None for models that do not draw.
        guidance_scale: Recommended classifier-free guidance scale, 1 is off; None for models that
            do not draw.
    """

    id: str
    title: str
    task: ModelTask
    repository: str
    files: tuple[str, ...]
    architecture: str
    licence: str
    licence_url: str
    memory_gb: int
    is_gated: bool = False
    steps: int | None = None
    size: int | None = None
    guidance_scale: float | None = None


@frozen
class RemoteFile:
    """A file of a repository at one commit.

    Attributes:
        name: Path in the repository, with "/".
        size_bytes: Its size.
        digest: Its sha256 (64 hexadecimal digits), or git's sha1 of the blob (40 digits).
    """

    name: str
    size_bytes: int
    digest: str


@frozen
class DownloadPlan:
    """What a download would fetch; nothing is fetched before the user has seen it.

    Attributes:
        repository: Id on the hub.
        revision: Branch, tag or commit that was asked for.
        commit: The commit that it resolves to.
        files: All files of the model, present ones included.
        missing_bytes: Bytes still to fetch.
        free_bytes: Free space on the disk of the cache.
        licence: Stated by the repository, else by the catalogue; empty if neither names one.
        licence_url: Where the licence can be read.
        is_gated: Whether the hub asks for an accepted licence and a token.
        folder: Where the finished model will lie.
    """

    repository: str
    revision: str
    commit: str
    files: tuple[RemoteFile, ...]
    missing_bytes: int
    free_bytes: int
    licence: str
    licence_url: str
    is_gated: bool
    folder: Path

    @property
    def total_bytes(self) -> int:
        """Size of all files."""
        return sum(each.size_bytes for each in self.files)

    @property
    def is_complete(self) -> bool:
        """Whether every file is present."""
        return self.missing_bytes == 0 and self.folder.is_dir()


@frozen
class DownloadProgress:
    """State of a running download. Created by ``ModelHub.download``; may cross threads.

    Attributes:
        repository: Id on the hub.
        file: The file being fetched; empty at the end.
        done_bytes: Bytes on disk, those of earlier attempts included.
        total_bytes: Bytes of all files.
    """

    repository: str
    file: str
    done_bytes: int
    total_bytes: int


@frozen
class UnfinishedDownload:
    """A download that was paused, interrupted or has failed.

    Attributes:
        repository: Id on the hub.
        revision: Branch, tag or commit that was asked for.
        done_bytes: Bytes on disk.
        total_bytes: Bytes of all files.
    """

    repository: str
    revision: str
    done_bytes: int
    total_bytes: int


class ModelOrigin(Enum):
    """Where an installed model lies."""

    HUB_CACHE = "hub cache"
    MODELS_FOLDER = "models folder"
    OTHER_PROGRAM = "folder of another program"


@frozen
class InstalledModel:
    """A model on this machine.

    Attributes:
        id: Repository or name.
        folder: Its folder, or its single file.
        size_bytes: Bytes on disk.
        origin: Where it lies.
        revision: Commit on the hub; empty for other folders.
        architecture: Class in its configuration, or the content of a single file in words; empty if
            unknown.
        is_removable: Whether the studio may delete it.
        memory_bytes: Size of its weights in 16 bits; 0 if unknown.
        is_complete: Whether no file is missing.
    """

    id: str
    folder: Path
    size_bytes: int
    origin: ModelOrigin
    revision: str = ""
    architecture: str = ""
    is_removable: bool = False
    memory_bytes: int = 0
    is_complete: bool = True


@frozen
class CheckedFile:
    """Result of verifying one file.

    Attributes:
        name: Path in the model.
        problem: "missing", "wrong size" or "wrong hash"; empty if it is intact.
    """

    name: str
    problem: str = ""


ReportProgress: TypeAlias = Callable[[DownloadProgress], None]


class ModelHub(Protocol):
    """Downloads models, and lists, verifies and removes installed models."""

    @property
    def catalogue(self) -> tuple[CatalogueEntry, ...]:
        """The recommended models."""

    @property
    def is_offline(self) -> bool:
        """Whether the environment disables access to the hub."""

    def plan(self, name: str, revision: str = MAIN_REVISION) -> DownloadPlan:
        """Ask the hub what a download would fetch.

        Args:
            name: Id in the catalogue, or of a repository.
            revision: Branch, tag or commit.

        Raises:
            HubError: The repository is unknown, gated, unsuitable or not reachable.
        """

    def download(self, plan: DownloadPlan, report: ReportProgress, token: CancelToken) -> Path:
        """Fetch and verify the missing files, and make the model complete in one step.

        Bytes on disk are used again after any interruption.

        Args:
            plan: What to fetch.
            report: Receives the progress, in the calling thread.
            token: Checked before each piece.

        Returns:
            The folder of the model.

        Raises:
            HubError: The download failed; it can be resumed.
            Cancelled: The token was cancelled.
        """

    def unfinished(self) -> tuple[UnfinishedDownload, ...]:
        """List the downloads that can be resumed."""

    def discard(self, repository: str) -> None:
        """Delete the fetched parts of an unfinished download."""

    def installed(self) -> tuple[InstalledModel, ...]:
        """List the models on this machine with their sizes."""

    def check(self, name: str) -> tuple[CheckedFile, ...]:
        """Verify sizes and hashes of an installed model.

        Raises:
            HubError: It is not installed, or its hashes are unknown.
        """

    def remove(self, name: str) -> int:
        """Delete an installed model from the hub cache or the models folder.

        Returns:
            The number of freed bytes.

        Raises:
            HubError: It is not installed, or belongs to another program.
        """

    def has_token(self) -> bool:
        """Return True if a token is stored; may wait for the keyring."""

    def store_token(self, token: str) -> None:
        """Store a token in the system keyring; an empty one deletes it.

        Raises:
            HubError: There is no keyring.
        """

    def use_folder(self, folder: Path) -> tuple[Path, ...]:
        """Add a folder of another program, such as ComfyUI, to the searched ones.

        Args:
            folder: Its models folder, its main folder, or an ``extra_model_paths.yaml``.

        Returns:
            The folders that hold models.

        Raises:
            HubError: There are no model folders in it.
        """
