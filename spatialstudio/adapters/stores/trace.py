"""Takes the events of a finished run apart for its files, and puts them together again.

The numbers of a step stand in its summary, in the record. Its arrays stand in one array file,
bit by bit: attention as float32, previews as uint8.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from spatialstudio.adapters.stores.array_file import AnyArray
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationFinished,
    GenerationStarted,
    StepEvent,
)
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.record import ArtifactRef, RunRecord, StepSummary


def arrays_of(steps: Iterable[StepEvent]) -> dict[str, AnyArray]:
    """Collect the arrays of a run's steps under "step/what"."""
    arrays: dict[str, AnyArray] = {}
    for event in steps:
        if event.preview is not None:
            arrays[_preview(event.step)] = event.preview
        if event.attention is not None:
            arrays[_layers(event.step)] = np.array(event.attention.layers, dtype=np.str_)
            for mention_id, weights in event.attention.maps.items():
                arrays[_attention(event.step) + mention_id] = weights
    return arrays


def with_references(
    trace: Iterable[StepSummary], arrays: Mapping[str, AnyArray], file: ArtifactRef
) -> tuple[StepSummary, ...]:
    """Tell every step which of its arrays ``file`` holds.

    Args:
        trace: The steps' numbers.
        arrays: What ``arrays_of`` collected.
        file: Path, hash and size of the array file; its kind is set here.
    """
    attention, preview = replace(file, kind="attention"), replace(file, kind="preview")
    return tuple(
        replace(
            summary,
            attention=attention if _layers(summary.step) in arrays else None,
            preview=preview if _preview(summary.step) in arrays else None,
        )
        for summary in trace
    )


def events_of(
    record: RunRecord, arrays: Mapping[str, AnyArray], image: RgbImage
) -> tuple[GenerationEvent, ...]:
    """Give the same events as while the run was drawn.

    Args:
        record: The run.
        arrays: Its array file.
        image: (H, W, 3) the finished picture.

    Raises:
        KeyError: A step names an array that is not there.
    """
    request_id = record.request.id
    started = GenerationStarted(
        request_id=request_id,
        total_steps=len(record.trace),
        token_spans=record.token_spans,
        device=record.environment.device,
    )
    finished = GenerationFinished(
        request_id=request_id,
        image=image,
        seconds=record.seconds,
        peak_memory_bytes=record.peak_memory_bytes,
        candidates=record.candidates,
    )
    steps = (_step_event(record, summary, arrays) for summary in record.trace)
    return (started, *steps, finished)


def _step_event(
    record: RunRecord, summary: StepSummary, arrays: Mapping[str, AnyArray]
) -> StepEvent:
    return StepEvent(
        request_id=record.request.id,
        step=summary.step,
        total_steps=len(record.trace),
        timestep=summary.timestep,
        pos=summary.pos,
        guidance_loss=summary.guidance_loss,
        step_size=summary.step_size,
        pos_after=summary.pos_after,
        guiding_passes=summary.guiding_passes,
        attention=_snapshot(summary.step, arrays) if summary.attention else None,
        preview=arrays[_preview(summary.step)] if summary.preview else None,
    )


def _snapshot(step: int, arrays: Mapping[str, AnyArray]) -> AttentionSnapshot:
    prefix = _attention(step)
    maps = {
        MentionId(name.removeprefix(prefix)): weights
        for name, weights in arrays.items()
        if name.startswith(prefix)
    }
    return AttentionSnapshot(maps=maps, layers=tuple(map(str, arrays[_layers(step)])))


def _preview(step: int) -> str:
    return f"{step}/preview"


def _layers(step: int) -> str:
    return f"{step}/layers"


def _attention(step: int) -> str:
    return f"{step}/attention/"
