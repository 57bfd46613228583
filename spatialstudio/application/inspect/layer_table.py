"""PoS, entropy, mass and overlap of a run's recorded layers, by layer, head and step.

A layer is read in blocks of steps and only at the words of the scene, so that memory is bounded by
``MOST_BLOCK_BYTES`` and not by the size of the recorded layers.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from spatialstudio.application.compose.prompt_words import words_of
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.inspect.captured_layers import (
    LayerRows,
    captured_layers,
    layers_read,
)
from spatialstudio.application.inspect.layer_maps import LayersMissing, places_of
from spatialstudio.application.inspect.step_numbers import FLANKS, Column, Measure
from spatialstudio.application.jobs.background_jobs import CancellableJob
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.attention import AttentionFile, LayerValues, Moment
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.evidence import SURE_POS
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId
from spatialstudio.domain.run_ports import AttentionFiles
from spatialstudio.domain.scene import MentionId, Relation, SceneGraph
from spatialstudio.science.pos.map_numbers import entropies, overlaps
from spatialstudio.science.pos.superiority import can_guide, relation_pos

log = logging.getLogger(__name__)

MOST_BLOCK_BYTES = 16 * 1024**2
"""Size of the maps in memory at a time, as float32; at least one step is read."""
VALUE_BYTES = 4
MEAN = 0
"""Index of the mean over heads."""

Values = npt.NDArray[np.float64]
Read = Callable[[RequestId, AttentionFile], LayerValues]
"""Opens one layer's attention, as ``AttentionFiles.read`` does."""


@frozen(eq=False)
class LayerTable:
    """Measurements of a run's recorded layers. May cross threads.

    Attributes:
        request_id: Id of the run.
        columns: What is measured: entropy and mass of each word, PoS and overlap of each relation.
        layers: Names of the layers, in execution order.
        steps: The captured steps, from 0.
        values: (columns, layers, 1 + heads, steps) float64: first the mean over heads, then single
            heads where more than one is stored; NaN where a map is empty or a layer has no such
            head. Entropy is in bits; mass is the mean probability over a layer's positions, which
            compares layers of different resolutions; PoS and overlap are in [0, 1].
        moment: Moment of the readings within guided steps; None for one reading per step.
    """

    request_id: RequestId
    columns: tuple[Column, ...]
    layers: tuple[str, ...]
    steps: tuple[int, ...]
    values: Values
    moment: Moment | None = None

    @property
    def heads(self) -> int:
        """Number of single heads; 0 where only their mean is stored."""
        return int(self.values.shape[2]) - 1

    def at(self, column: Column, head: int | None = None) -> Values:
        """Return (layers, steps) of a column; of one head, counted from 0, or their mean.

        Raises:
            ValueError: There is no such column.
        """
        place = self.columns.index(column)
        if head is not None and head >= self.heads:
            return np.full(self.values.shape[1::2], np.nan)
        found: Values = self.values[place, :, MEAN if head is None else 1 + head]
        return found


@frozen
class LayersMeasured:
    """The recorded layers of a run are measured. Published by ``LayerTables``; crosses threads."""

    table: LayerTable


class LayerTables(CancellableJob):
    """Measures the recorded layers of runs in the background; a new request cancels the previous.

    Args:
        files: Creates or returns the reader of stored attention; called in the working thread.
        publish: Receives ``LayersMeasured`` and ``LayersMissing``, in the working thread.
    """

    def __init__(
        self, files: Callable[[], AttentionFiles], publish: Callable[[object], None]
    ) -> None:
        self._files = files
        self._publish = publish

    def measure(self, runs: Sequence[OpenRun], wanted: Moment = Moment.AFTER) -> None:
        """Start to measure runs at a moment, one after the other; returns at once."""
        chosen = tuple(runs)

        def measure_all(flag: CancelFlag) -> None:
            for run in chosen:
                self._publish(self._measured(run, wanted, flag))

        self._start(measure_all)

    def _measured(
        self, run: OpenRun, wanted: Moment, flag: CancelFlag
    ) -> LayersMeasured | LayersMissing:
        read, tick = self._files().read, flag.raise_if_cancelled
        try:
            return LayersMeasured(table=measure_layers(run, read, wanted, tick))
        except StoreError as error:
            log.info("Recorded layers of a run cannot be read.")
            report = report_on(error, "Reading the recorded layers")
            return LayersMissing(request_id=run.id, error=report)


def measure_layers(
    run: OpenRun,
    read: Read,
    wanted: Moment = Moment.AFTER,
    tick: Callable[[], object] = lambda: None,
) -> LayerTable:
    """Measure every recorded layer of a run.

    Args:
        run: A finished run.
        read: Opens one layer's attention.
        wanted: The preferred moment within guided steps.
        tick: Called before each block of steps; may raise ``Cancelled``.

    Raises:
        StoreError: No layer was captured, or one cannot be read.
    """
    captured, moment = captured_layers(run, read), layers_read(run, wanted)
    files = captured.layers
    if not files or not run.steps:
        raise StoreError(
            "No layers were recorded for this run.",
            hint="Record all layers, and generate the picture again.",
        )
    columns = layer_columns(run.scene)
    most_heads = max(file.heads for file in files)
    heads = most_heads if most_heads > 1 else 0
    count = max(file.shape[0] for file in files)
    values = np.full((len(columns), len(files), 1 + heads, count), np.nan)
    for number, file in enumerate(files):
        places = places_of(words_of(run.scene), file.words)
        own = {each.id: places[each.id] for each in run.scene.mentions if each.id in places}
        start = 0
        if not own:
            continue
        for block in _blocks(captured.open(file, moment or wanted), own, tick):
            steps = slice(start, start + block.shape[1])
            found = _measured_maps(run.scene, dict(zip(own, block, strict=True)))
            values[:, number, : found.shape[2], steps] = found.transpose(0, 2, 1)
            start = steps.stop
    stored = tuple(event.step for event in run.steps[:: captured.every])[:count]
    return LayerTable(
        request_id=run.id,
        columns=columns,
        layers=tuple(file.layer for file in files),
        steps=stored,
        values=values[..., : len(stored)],
        moment=moment,
    )


def layer_columns(scene: SceneGraph) -> tuple[Column, ...]:
    """Return what is measured: relations that attention shows, then words."""
    relations = tuple(
        Column(scene.sentence(each), measure)
        for each in _measurable(scene)
        for measure in (Measure.POS, Measure.OVERLAP)
    )
    words = tuple(
        Column(scene.name(each.id), measure)
        for each in scene.mentions
        for measure in (Measure.ENTROPY, Measure.MASS)
    )
    return tuple(dict.fromkeys(relations + words))


def course_of_maps(run: OpenRun, column: Column, moment: Moment) -> tuple[tuple[int, float], ...]:
    """Return a column measured on the maps of a run's step events: steps and values, in order.

    The maps are means over the guiding layers, or those of ``run_on_layers``.
    """
    points = []
    for event in run.steps:
        attention = event.attention_at(moment)
        maps = attention.maps if attention else {}
        own = {each.id: maps[each.id] for each in run.scene.mentions if each.id in maps}
        if own:
            found = _measured_maps(
                run.scene, {word: each[None, None] for word, each in own.items()}
            )
            value = float(found[layer_columns(run.scene).index(column), 0, 0])
            points.append((event.step, value))
    return tuple((step, value) for step, value in points if not np.isnan(value))


def settled_steps(pos: Values) -> tuple[int | None, ...]:
    """Return, per layer, the column from which PoS stays at ``SURE_POS`` or above to the end.

    Args:
        pos: (layers, steps) in [0, 1]; columns that are NaN in every layer are skipped.

    Returns:
        Index of the column; None for layers whose last PoS is below ``SURE_POS``.
    """
    known = ~np.isnan(pos).all(0)
    places = np.flatnonzero(known)
    found: list[int | None] = []
    for row in pos[:, known] >= SURE_POS:
        below = np.flatnonzero(~row)
        first = int(below[-1]) + 1 if len(below) else 0
        found.append(int(places[first]) if first < len(row) else None)
    return tuple(found)


def difference(first: LayerTable, second: LayerTable) -> LayerTable | None:
    """Return the first run's measurements minus the second's, where both have values.

    Layers and columns are matched by name, steps by number.

    Returns:
        None if guided steps were read before the updates in one run and after them in the other, or
        the runs share no layer, step or column.
    """
    moments = {each.moment for each in (first, second)} - {None}
    columns = [each for each in first.columns if each in second.columns]
    layers = [each for each in first.layers if each in second.layers]
    steps = [each for each in first.steps if each in second.steps]
    if len(moments) > 1 or not (columns and layers and steps):
        return None
    heads = range(1 + min(first.heads, second.heads))

    def shared(table: LayerTable) -> Values:
        return table.values[
            np.ix_(
                [table.columns.index(each) for each in columns],
                [table.layers.index(each) for each in layers],
                heads,
                [table.steps.index(each) for each in steps],
            )
        ]

    return LayerTable(
        request_id=first.request_id,
        columns=tuple(columns),
        layers=tuple(layers),
        steps=tuple(steps),
        values=shared(first) - shared(second),
        moment=next(iter(moments), None),
    )


def _blocks(
    rows: LayerRows,
    places: Mapping[MentionId, Sequence[int]],
    tick: Callable[[], object],
) -> Iterator[FloatMap]:
    """Yield (words, steps, 1 + heads or 1, h, w) of some steps at a time, mean over tokens."""
    stored, heads, _, height, width = rows.shape
    tokens = max((len(each) for each in places.values()), default=1)
    room = (len(places) + tokens + 1) * (1 + heads) * height * width * VALUE_BYTES
    steps = max(MOST_BLOCK_BYTES // room, 1)
    for start in range(0, stored, steps):
        tick()
        part = rows.between(start, start + steps)
        single = heads if heads > 1 else 0
        block = np.empty((len(places), len(part), 1 + single, height, width), np.float32)
        for number, own in enumerate(places.values()):
            maps = part[:, :, list(own)].astype(np.float32).mean(2)
            block[number, :, MEAN] = maps.mean(1)
            block[number, :, 1:] = maps[:, :single]
        yield block


def _measured_maps(scene: SceneGraph, maps: Mapping[MentionId, FloatMap]) -> Values:
    """Return (columns, steps, 1 + heads) of maps, (steps, 1 + heads, h, w) each."""
    nothing = np.full(next(iter(maps.values())).shape[:2], np.nan)
    found = dict.fromkeys(layer_columns(scene), nothing)
    for relation in _measurable(scene):
        of, ends = scene.sentence(relation), [maps.get(end) for end in relation.ends]
        known = [each for each in ends if each is not None]
        if len(known) == len(ends):
            found[Column(of, Measure.POS)] = _pos(relation, known)
            found[Column(of, Measure.OVERLAP)] = overlaps(*known[:FLANKS])
    for mention in scene.mentions:
        if (own := maps.get(mention.id)) is not None:
            of = scene.name(mention.id)
            found[Column(of, Measure.ENTROPY)] = entropies(own)
            found[Column(of, Measure.MASS)] = own.mean((-2, -1), dtype=np.float64)
    return np.stack(list(found.values()))


def _pos(relation: Relation, maps: Sequence[FloatMap]) -> Values:
    """Return PoS of maps, (..., h, w) each; NaN where one is empty."""
    is_empty = ~np.logical_and.reduce([each.sum((-2, -1)) > 0 for each in maps])
    filled = [np.where(is_empty[..., None, None], 1, each).astype(np.float64) for each in maps]
    return np.where(is_empty, np.nan, relation_pos(relation.type, filled))


def _measurable(scene: SceneGraph) -> tuple[Relation, ...]:
    return tuple(each for each in scene.relations if can_guide(each.type))
