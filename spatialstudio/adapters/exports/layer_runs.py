"""Runs whose maps and PoS are the means of chosen recorded layers, for figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from spatialstudio.domain.attention import AttentionSnapshot, Moment
from spatialstudio.domain.errors import EmptyMapError, ExportError
from spatialstudio.domain.export import ExportedRun
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import StepEvent
from spatialstudio.domain.run_data import (
    LAYER_BEFORE_PREFIX,
    LAYER_PREFIX,
    MOMENT_NAMES,
    RunArray,
)
from spatialstudio.domain.scene import MentionId, RelationId, SceneGraph
from spatialstudio.science.pos.layer_means import Maps, mean_of_layers
from spatialstudio.science.pos.superiority import can_guide, relation_pos

_HEADS_AND_TOKENS = (0, 1)


def runs_of_layers(
    runs: Sequence[ExportedRun], layers: Sequence[str], wanted: Moment
) -> tuple[tuple[ExportedRun, ...], Moment]:
    """Return runs with the mean maps of recorded layers and the PoS of these, and their moment.

    Args:
        runs: The runs, read with their arrays.
        layers: Names of recorded layers.
        wanted: Preferred moment of guided steps.

    Raises:
        ExportError: A run lacks one of the layers, or the guided steps of two runs were recorded
            at different moments.
        StoreError: A layer cannot be read.
    """
    found = [_layers_of(run, layers) for run in runs]
    pairs = tuple(zip(runs, found, strict=True))
    known = set(Moment)
    for run, own in pairs:
        if any(event.is_guided for event in run.steps):
            known &= own.moments
    if not known:
        raise ExportError(
            "The layers of these runs were recorded at different moments of guided steps.",
            hint="Choose runs of one guidance method, or the recorded maps.",
        )
    moment = wanted if wanted in known else next(iter(known))
    return tuple(_with_layers(run, own, moment) for run, own in pairs), moment


@frozen(eq=False, kw_only=False)
class _Layers:
    """Arrays of the chosen layers of a run.

    Attributes:
        ordinary: Of every captured step, one per layer.
        before: Of guided steps before their updates, one per layer; empty if not captured.
    """

    ordinary: tuple[RunArray, ...]
    before: tuple[RunArray, ...]

    @property
    def moments(self) -> set[Moment]:
        """The moments at which guided steps can be shown."""
        name = self.ordinary[0].details["moment_on_guided_steps"]
        own = {moment for moment, known in MOMENT_NAMES.items() if known == name}
        return own | ({Moment.BEFORE} if self.before else set())


def _layers_of(run: ExportedRun, layers: Sequence[str]) -> _Layers:
    by_name = {each.name: each for each in (run.data.arrays if run.data else ())}
    for layer in layers:
        if f"{LAYER_PREFIX}{layer}" not in by_name:
            raise ExportError(
                f'The run "{run.path.stem}" has no recorded layer "{layer}".',
                hint=_hint(by_name),
            )
    before = (by_name.get(f"{LAYER_BEFORE_PREFIX}{layer}") for layer in layers)
    return _Layers(
        tuple(by_name[f"{LAYER_PREFIX}{layer}"] for layer in layers),
        tuple(each for each in before if each is not None),
    )


def _hint(by_name: Mapping[str, RunArray]) -> str:
    """List the recorded layers of a run, or say how to record them."""
    recorded = [name for name in by_name if name.startswith(LAYER_PREFIX)]
    if recorded:
        names = ", ".join(name.removeprefix(LAYER_PREFIX) for name in recorded)
        return f"Recorded layers: {names}."
    return 'Generate the run again with all layers: --keep-attention "all layers".'


def _with_layers(run: ExportedRun, layers: _Layers, moment: Moment) -> ExportedRun:
    scene = run.record.request.scene
    means = _means_of(layers.ordinary)
    if moment is Moment.BEFORE:
        means |= _means_of(layers.before)
    names = tuple(str(array.details["layer"]) for array in layers.ordinary)
    is_before = moment is Moment.BEFORE
    steps = [
        _read_once(event, means.get(event.step, {}), scene, names, is_before=is_before)
        for event in run.steps
    ]
    return replace(run, steps=tuple(steps))


def _means_of(arrays: Sequence[RunArray]) -> dict[int, Mapping[MentionId, Maps]]:
    """Return each word's mean map over layers, by step."""
    found: dict[int, list[Mapping[MentionId, Maps]]] = {}
    for array in arrays:
        for step, maps in _maps_of(array):
            found.setdefault(step, []).append(maps)
    return {
        step: {word: mean_of_layers([each[word] for each in layers]) for word in layers[0]}
        for step, layers in found.items()
    }


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
