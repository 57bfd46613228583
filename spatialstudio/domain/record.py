"""The stored record of a finished run: request, trace, evaluation and environment."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import Enum
from typing import NewType

from spatialstudio.domain.attention import AttentionFile, TextLayer
from spatialstudio.domain.devices import MemoryEstimate
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import (
    CandidateScore,
    GenerationRequest,
    ModelSetup,
)
from spatialstudio.domain.scene import RelationId, TokenSpan
from spatialstudio.domain.verdict import Evaluation

RunId = NewType("RunId", str)

SCHEMA_VERSION = 2


@frozen
class ArtifactRef:
    """A file that belongs to a run.

    Attributes:
        kind: "image", "attention", "preview", "evaluation", "perception".
        path: Name of the file, or of the member in the trace archive; forward slashes.
        sha256: Hash of the file; for an image, whose metadata may change, of its pixels.
        bytes: Size of the hashed content.
    """

    kind: str
    path: str
    sha256: str
    bytes: int


@frozen
class StepSummary:
    """One step of a stored trace: the numbers of a ``StepEvent`` and references to its arrays.

    ``attention`` refers to the file with the attention before and after the step's updates.
    """

    step: int
    timestep: float
    pos: Mapping[RelationId, float]
    guidance_loss: float | None = None
    step_size: float | None = None
    pos_after: Mapping[RelationId, float] = field(default_factory=dict)
    guiding_passes: int = 0
    attention: ArtifactRef | None = None
    preview: ArtifactRef | None = None


@frozen
class Environment:
    """Software and hardware environment of a run.

    Attributes:
        app: Version of Spatial Studio.
        python: Version of Python.
        libraries: Name to version of torch, diffusers, transformers.
        device: "cpu", "cuda:0", ...
        platform: Operating system and machine.
        setup: Numerical setup of the model.
        code_sha256: Hash of Spatial Studio's source files; empty where there are none.
    """

    app: str
    python: str
    libraries: Mapping[str, str]
    device: str
    platform: str
    setup: ModelSetup = field(default_factory=ModelSetup)
    code_sha256: str = ""


@frozen(eq=False)
class RunRecord:
    """The record of one generation. Created only by ``store_run``.

    Attributes:
        schema_version: Schema version of the files it was read from.
        id: Name of the run's files, without extension.
        created: UTC.
        request: The request; for a search, the request that reproduces its best image alone.
        token_spans: Positions of the mentions in the text encoders' sequences.
        trace: One summary per step, in order.
        evaluation: None when the image was not evaluated.
        artifacts: Files of the run outside the trace, the image first.
        environment: Software and hardware environment.
        seconds: Generation time, model loading included.
        peak_memory_bytes: Peak memory during generation.
        candidates: Candidates of a noise search, best first; empty without one.
        attention_files: Attention stored on disk separately from the artifacts.
        memory: Estimated memory of the run; None without an estimate.
        text_layers: Cross-attention layers of the model; empty if not recorded.
        is_marked: Whether the XMP of its image marks it as AI-generated.
    """

    schema_version: int = SCHEMA_VERSION
    id: RunId
    created: datetime
    request: GenerationRequest
    token_spans: tuple[TokenSpan, ...]
    trace: tuple[StepSummary, ...]
    evaluation: Evaluation | None
    artifacts: tuple[ArtifactRef, ...]
    environment: Environment
    seconds: float
    peak_memory_bytes: int
    candidates: tuple[CandidateScore, ...] = ()
    attention_files: tuple[AttentionFile, ...] = ()
    memory: MemoryEstimate | None = None
    text_layers: tuple[TextLayer, ...] = ()
    is_marked: bool = True


@frozen
class Fault:
    """A defect in one part of a run.

    Attributes:
        part: "picture", "trace", "evaluation", "metadata"; "verdict" after re-evaluation.
        message: One sentence for the user.
    """

    part: str
    message: str


class Sameness(Enum):
    """How closely a run reproduces an earlier one."""

    SAME = "same"
    """Every pixel is equal."""
    CLOSE = "close"
    """The difference is not visible."""
    DIFFERENT = "different"


@frozen
class Reproduction:
    """The result of reproducing a run exactly. Created only by ``flow.compare_runs``.

    Attributes:
        sameness: How closely the images match.
        mean_difference: Mean absolute difference over all channels, [0, 255].
        largest_difference: Largest absolute difference, 0 to 255; both None when the sizes differ.
        reasons: Differences between the environments: device, versions, weights.
    """

    sameness: Sameness
    mean_difference: float | None
    largest_difference: int | None
    reasons: tuple[str, ...]
