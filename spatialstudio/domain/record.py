"""A finished run as it is kept: the request, what happened, what came of it."""

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
from spatialstudio.domain.prompt import TokenSpan
from spatialstudio.domain.relation import RelationId
from spatialstudio.domain.verdict import Evaluation

RunId = NewType("RunId", str)

SCHEMA_VERSION = 2


@frozen
class ArtifactRef:
    """A file that belongs to a run.

    Attributes:
        kind: "image", "attention", "preview", "evaluation", "perception".
        path: Name of the file, or of the member of the trace; forward slashes.
        sha256: Of the file; of a picture, whose metadata may change, of its pixels.
        bytes: Of what was hashed.
    """

    kind: str
    path: str
    sha256: str
    bytes: int


@frozen
class StepSummary:
    """One step of a stored trace; the numbers of a ``StepEvent``, its arrays by reference.

    ``attention`` refers to the file that holds both readings of the step.
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
    """What the run was made with.

    Attributes:
        app: Version of Spatial Studio.
        python: Version.
        libraries: Name to version of torch, diffusers, transformers.
        device: "cpu", "cuda:0", ...
        platform: Operating system and machine.
        setup: How the model computed.
        code_sha256: Of Spatial Studio's sources; empty where there are none.
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
    """One generation with all that belongs to it. Made by ``store_run`` only.

    Attributes:
        schema_version: Of the files it was read from.
        id: Name of the run's files, without ending.
        created: UTC.
        request: What was asked; of a search, what draws its best picture alone.
        token_spans: Where the text encoders hold the mentions.
        trace: One summary a step, in order.
        evaluation: None when the picture was not judged.
        artifacts: Files of the run that are not in the trace, the image first.
        environment: What it was made with.
        seconds: Time to draw, model loading included.
        peak_memory_bytes: Highest memory in use while drawing.
        candidates: Of a noise search, best first; empty without one.
        attention_files: Attention to every word that was kept on disk, apart from these files.
        memory: What the run was estimated to take; None where nobody did.
        text_layers: Where the model attends to the text; empty where nobody noted it.
        is_marked: Whether its picture says in its XMP that a model drew it.
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
    """What is wrong with a part of a run.

    Attributes:
        part: "picture", "trace", "evaluation", "metadata"; "verdict" when judged again.
        message: One sentence for the user.
    """

    part: str
    message: str


class Sameness(Enum):
    """How near a run comes to the one that it repeats."""

    SAME = "same"
    """Every pixel is equal."""
    CLOSE = "close"
    """Nobody would see the difference."""
    DIFFERENT = "different"


@frozen
class Reproduction:
    """What came of drawing a run again exactly. Made by ``flow.compare_runs`` only.

    Attributes:
        sameness: How near it comes.
        mean_difference: Mean of the absolute differences of all channels, of 255.
        largest_difference: The largest of them, of 255; both None when the sizes differ.
        reasons: What was not the same when it was drawn: device, versions, weights.
    """

    sameness: Sameness
    mean_difference: float | None
    largest_difference: int | None
    reasons: tuple[str, ...]
