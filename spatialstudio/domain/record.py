"""A finished run as it is kept: the request, what happened, what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NewType

from spatialstudio.domain.generation import CandidateScore, GenerationRequest
from spatialstudio.domain.prompt import TokenSpan
from spatialstudio.domain.relation import RelationId
from spatialstudio.domain.verdict import Evaluation

RunId = NewType("RunId", str)

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRef:
    """A file that belongs to a run.

    Attributes:
        kind: "image", "attention", "preview", "evaluation", "perception".
        path: Relative to the run, forward slashes.
        sha256: Of the file.
        bytes: Its length.
    """

    kind: str
    path: str
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSummary:
    """One step of a stored trace; the numbers of a ``StepEvent``, its arrays by reference."""

    step: int
    timestep: float
    pos: Mapping[RelationId, float]
    guidance_loss: float | None = None
    step_size: float | None = None
    pos_after: Mapping[RelationId, float] = field(default_factory=dict)
    guiding_passes: int = 0
    attention: ArtifactRef | None = None
    preview: ArtifactRef | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What the run was made with.

    Attributes:
        app: Version of Spatial Studio.
        python: Version.
        libraries: Name to version of torch, diffusers, transformers.
        device: "cpu", "cuda:0", ...
        platform: Operating system and machine.
    """

    app: str
    python: str
    libraries: Mapping[str, str]
    device: str
    platform: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunRecord:
    """One generation with all that belongs to it. Made by ``store_run`` only.

    Attributes:
        schema_version: Of the files it was read from.
        id: Name of the run's folder.
        created: UTC.
        request: What was asked.
        token_spans: Where the text encoders hold the mentions.
        trace: One summary a step, in order.
        evaluation: None when the picture was not judged.
        artifacts: Files of the run that are not in the trace, the image first.
        environment: What it was made with.
        seconds: Time to draw, model loading included.
        peak_memory_bytes: Highest memory in use while drawing.
        candidates: Of a noise search, best first; empty without one.
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
