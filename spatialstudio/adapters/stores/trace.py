"""Takes the events of a finished run apart for its files, and puts them together again.

The numbers of a step stand in its summary, in the record, under the names that they have in the
event. Its maps stand apart under "step/what", its previews by step.
"""

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace

import numpy as np

from spatialstudio.adapters.stores.array_file import AnyArray
from spatialstudio.adapters.stores.json_text import COPY_HINT
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.attention import AttentionSnapshot
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.generation import (
    GenerationEvent,
    GenerationFinished,
    GenerationStarted,
    StepEvent,
)
from spatialstudio.domain.prompt import MentionId
from spatialstudio.domain.record import ArtifactRef, RunRecord, StepSummary

_MAP = "attention/"
_LAYERS = "layers"
_MAP_AXES = 2
_NUMBERS = tuple(f.name for f in fields(StepSummary) if f.name not in {"attention", "preview"})


def maps_of(steps: Iterable[StepEvent]) -> dict[str, AnyArray]:
    """Collect the attention maps of a run's steps, and the names of their layers."""
    arrays: dict[str, AnyArray] = {}
    for event in steps:
        if event.attention is not None:
            arrays[_layers(event.step)] = np.array(event.attention.layers, dtype=np.str_)
            for mention_id, weights in event.attention.maps.items():
                arrays[_attention(event.step) + mention_id] = weights
    return arrays


def previews_of(steps: Iterable[StepEvent]) -> dict[int, RgbImage]:
    """Collect the previews of a run's steps."""
    return {event.step: event.preview for event in steps if event.preview is not None}


def with_references(
    trace: Iterable[StepSummary],
    maps: Mapping[str, AnyArray],
    maps_file: ArtifactRef,
    preview_files: Mapping[int, ArtifactRef],
) -> tuple[StepSummary, ...]:
    """Tell every step which of its arrays are kept, and where.

    Args:
        trace: The steps' numbers.
        maps: What ``maps_of`` collected.
        maps_file: What holds them.
        preview_files: What holds the previews, by step.
    """
    return tuple(
        replace(
            summary,
            attention=maps_file if _layers(summary.step) in maps else None,
            preview=preview_files.get(summary.step),
        )
        for summary in trace
    )


def events_of(
    record: RunRecord,
    maps: Mapping[str, AnyArray],
    previews: Mapping[int, RgbImage],
    image: RgbImage,
) -> tuple[GenerationEvent, ...]:
    """Give the same events as while the run was drawn.

    Args:
        record: The run.
        maps: What ``maps_of`` collected.
        previews: (H, W, 3) by step.
        image: (H, W, 3) the finished picture.

    Raises:
        KeyError: A step names an array that is not there.
        StoreError: An array is not a map.
    """
    request_id = record.request.id
    started = GenerationStarted(
        request_id=request_id,
        total_steps=len(record.trace),
        token_spans=record.token_spans,
        device=record.environment.device,
        attention_files=record.attention_files,
        memory=record.memory,
        text_layers=record.text_layers,
    )
    finished = GenerationFinished(
        request_id=request_id,
        image=image,
        seconds=record.seconds,
        peak_memory_bytes=record.peak_memory_bytes,
        candidates=record.candidates,
        setup=record.environment.setup,
    )
    by_step = _grouped(maps)
    steps = (
        StepEvent(
            request_id=request_id,
            total_steps=len(record.trace),
            attention=_snapshot(by_step[summary.step]) if summary.attention else None,
            preview=previews[summary.step] if summary.preview else None,
            **{name: getattr(summary, name) for name in _NUMBERS},
        )
        for summary in record.trace
    )
    return (started, *steps, finished)


def _grouped(maps: Mapping[str, AnyArray]) -> dict[int, dict[str, AnyArray]]:
    """Sort the arrays by step, so that each step finds its own at once."""
    by_step: dict[int, dict[str, AnyArray]] = {}
    for name, array in maps.items():
        step, _, rest = name.partition("/")
        if step.isdecimal():
            by_step.setdefault(int(step), {})[rest] = array
    return by_step


def _snapshot(arrays: Mapping[str, AnyArray]) -> AttentionSnapshot:
    maps = {
        MentionId(name.removeprefix(_MAP)): weights
        for name, weights in arrays.items()
        if name.startswith(_MAP)
    }
    if any(weights.ndim != _MAP_AXES or weights.dtype.kind != "f" for weights in maps.values()):
        raise StoreError("A map in the trace is damaged.", hint=COPY_HINT)
    return AttentionSnapshot(maps=maps, layers=tuple(map(str, arrays[_LAYERS])))


def _layers(step: int) -> str:
    return f"{step}/{_LAYERS}"


def _attention(step: int) -> str:
    return f"{step}/{_MAP}"
