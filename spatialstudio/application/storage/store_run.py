"""Stage 4: conversion of a finished run's events to a record and its files."""

import hashlib
import platform
import re
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelSetup,
    StepEvent,
    best_request,
)
from spatialstudio.domain.library import (
    Environment,
    RunId,
    RunRecord,
    StepSummary,
)
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.verdict import Evaluation

LIBRARIES = ("torch", "diffusers", "transformers", "numpy")
"""Packages whose versions may change an image."""

PACKAGE = Path(__file__).parents[2]
"""Folder of Spatial Studio's sources."""

_SLUG_LENGTH = 48
_NUMBERS = tuple(f.name for f in fields(StepSummary) if f.name not in {"attention", "preview"})


def store_run(
    request: GenerationRequest,
    events: Sequence[GenerationEvent],
    evaluation: Evaluation | None,
    store: RunStore,
    folder: Path,
    *,
    is_marked: bool = True,
) -> Path:
    """Store a finished run.

    Args:
        request: The generation request.
        events: From ``GenerationStarted`` to ``GenerationFinished``, in order.
        evaluation: None if the image was not evaluated.
        store: Run store.
        folder: Folder of the run's files.
        is_marked: Whether the image declares in XMP that a model generated it.

    Returns:
        The image file.

    Raises:
        StoreError: The folder is not writable, or the disk is full.
    """
    record = record_of(request, events, evaluation, is_marked=is_marked)
    return store.save(record, events, folder)


def record_of(
    request: GenerationRequest,
    events: Sequence[GenerationEvent],
    evaluation: Evaluation | None,
    *,
    is_marked: bool = True,
) -> RunRecord:
    """Return the record of a finished run; arguments as for ``store_run``.

    For a noise search, the record has the request that reproduces the best image, and the ranking.
    """
    (started,) = (event for event in events if isinstance(event, GenerationStarted))
    (finished,) = (event for event in events if isinstance(event, GenerationFinished))
    request = best_request(request, finished.candidates)
    created = datetime.now(UTC)
    return RunRecord(
        id=run_name(request, created),
        created=created,
        request=request,
        token_spans=started.token_spans,
        trace=tuple(_summary(event) for event in events if isinstance(event, StepEvent)),
        evaluation=evaluation,
        artifacts=(),
        environment=environment_on(started.device, finished.setup),
        seconds=finished.seconds,
        peak_memory_bytes=finished.peak_memory_bytes,
        candidates=finished.candidates,
        attention_files=started.attention_files,
        memory=started.memory,
        text_layers=started.text_layers,
        is_marked=is_marked,
    )


def run_name(request: GenerationRequest, created: datetime) -> RunId:
    """Return a run name from time, prompt and seed: "2026-11-20_103240_a-cat-above-a-dog_7"."""
    words = re.findall(r"\w+", request.scene.prompt.text.lower())
    slug = "-".join(words)[:_SLUG_LENGTH].strip("-_") or "picture"
    return RunId(f"{created:%Y-%m-%d_%H%M%S}_{slug}_{request.sampling.seed}")


def environment_on(device: str, setup: ModelSetup | None = None) -> Environment:
    """Return versions and machine, without importing a model library.

    Args:
        device: Device of the model: "cpu", "cuda:0", ...
        setup: Setup of the model; None if unknown.
    """
    versions = {name: _version(name) for name in LIBRARIES}
    return Environment(
        app=_version("spatialstudio"),
        python=platform.python_version(),
        libraries=versions,
        device=device,
        platform=f"{platform.system()} {platform.machine()}",
        setup=setup or ModelSetup(),
        code_sha256=_hash_of_sources(),
    )


def _summary(event: StepEvent) -> StepSummary:
    """Return the numbers of a step; the store adds references to its arrays."""
    return StepSummary(**{name: getattr(event, name) for name in _NUMBERS})


@cache
def _hash_of_sources() -> str:
    """Return a hash of the application's sources in order; empty if they are not installed."""
    digest = hashlib.sha256()
    files = sorted(PACKAGE.rglob("*.py"))
    for file in files:
        digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest() if files else ""


@cache
def _version(distribution: str) -> str:
    from importlib import metadata  # slow to import, and not needed before a run is stored

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"
