"""Runs whose maps and PoS are the means of chosen captured layers, for figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from spatialstudio.domain.attention import AttentionSnapshot, Moment
from spatialstudio.domain.errors import EmptyMapError, ExportError
from spatialstudio.domain.export import ExportedRun
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.run_data import BEFORE, LAYER_PREFIX, MOMENT_NAMES, RunArray
from spatialstudio.domain.scene import MentionId, RelationId, SceneGraph
from spatialstudio.science.pos.layer_means import Maps, mean_of_layers
from spatialstudio.science.pos.superiority import can_guide, relation_pos

_HEADS_AND_TOKENS = (0, 1)


def runs_of_layers(
    runs: Sequence[ExportedRun], layers: Sequence[str]
) -> tuple[tuple[ExportedRun, ...], Moment]:
    """Return runs with the mean maps of captured layers and the PoS of these, and their moment.

    Args:
        runs: The runs, read with their arrays.
        layers: Names of captured layers.

    Raises:
        ExportError: A run lacks one of the layers, or the guided steps of two runs were captured
            at different moments.
        StoreError: A layer cannot be read.
    """
    found = [_arrays_of(run, layers) for run in runs]
    guided = [
        arrays[0].details["moment_on_guided_steps"]
        for run, arrays in zip(runs, found, strict=True)
        if any(event.is_guided for event in run.steps)
    ]
    if len(set(guided)) > 1:
        raise ExportError(
            "The layers of these runs were captured at different moments of guided steps.",
            hint="Choose runs of one guidance method, or the recorded maps.",
        )
    moment = next((each for each, name in MOMENT_NAMES.items() if name in guided), Moment.AFTER)
    pairs = zip(runs, found, strict=True)
    return tuple(_with_layers(run, arrays) for run, arrays in pairs), moment


def _arrays_of(run: ExportedRun, layers: Sequence[str]) -> list[RunArray]:
    by_name = {each.name: each for each in (run.data.arrays if run.data else ())}
    for layer in layers:
        if f"{LAYER_PREFIX}{layer}" not in by_name:
            raise ExportError(
                f'The run "{run.path.stem}" has no captured layer "{layer}".',
                hint="Choose a captured layer, or generate the run again with all layers.",
            )
    return [by_name[f"{LAYER_PREFIX}{layer}"] for layer in layers]


def _with_layers(run: ExportedRun, arrays: Sequence[RunArray]) -> ExportedRun:
    scene = run.record.request.scene
    means: dict[int, list[Mapping[MentionId, Maps]]] = {}
    for array in arrays:
        for step, maps in _maps_of(array):
            means.setdefault(step, []).append(maps)
    steps = []
    for event in run.steps:
        layers = means.get(event.step, [])
        words = layers[0] if layers else {}
        maps = {word: mean_of_layers([each[word] for each in layers]) for word in words}
        names = tuple(array.details["layer"] for array in arrays)
        is_before = arrays[0].details["moment_on_guided_steps"] == BEFORE
        steps.append(_read_once(event, maps, scene, tuple(map(str, names)), is_before=is_before))
    return replace(run, steps=tuple(steps))


def _maps_of(array: RunArray) -> list[tuple[int, Mapping[MentionId, Maps]]]:
    """Return the maps of each word by captured step, mean over heads and tokens."""
    positions, steps = array.details["token_positions"], array.details["steps"]
    if not (isinstance(positions, dict) and isinstance(steps, list)):
        return []
    found: list[tuple[int, Mapping[MentionId, Maps]]] = []
    for step, block in zip(steps, array.blocks(), strict=False):
        values = np.asarray(block[0], np.float32)
        maps = {
            MentionId(word): np.asarray(
                values[:, [int(str(each)) for each in own]].mean(_HEADS_AND_TOKENS), np.float32
            )
            for word, own in positions.items()
            if isinstance(own, list)
        }
        if isinstance(step, int):
            found.append((step, maps))
    return found


def _read_once(
    event: StepEvent,
    maps: Mapping[MentionId, Maps],
    scene: SceneGraph,
    layers: tuple[str, ...],
    *,
    is_before: bool,
) -> StepEvent:
    """Return a step whose only reading is that of the layers."""
    read = AttentionSnapshot(maps=maps, layers=layers) if maps else None
    pos = _pos(scene, maps)
    has_after = event.is_guided and not is_before
    return replace(
        event,
        attention=read,
        pos=pos,
        attention_after=read if has_after else None,
        pos_after=pos if has_after else {},
    )


def _pos(scene: SceneGraph, maps: Mapping[MentionId, Maps]) -> dict[RelationId, float]:
    found = {}
    for relation in scene.relations:
        if can_guide(relation.type) and all(end in maps for end in relation.ends):
            try:
                own = [np.asarray(maps[end], np.float64) for end in relation.ends]
                found[relation.id] = float(relation_pos(relation.type, own))
            except EmptyMapError:
                continue
    return found
