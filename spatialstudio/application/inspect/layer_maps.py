"""Background averaging of a run's stored attention maps over selected layers."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from spatialstudio.application.compose.prompt_words import PromptWord, words_of
from spatialstudio.application.error_reports import report_on
from spatialstudio.application.inspect.captured_layers import (
    CapturedLayers,
    LayerRows,
    captured_layers,
    layers_read,
)
from spatialstudio.application.inspect.map_reading import Maps
from spatialstudio.application.jobs.background_jobs import CancellableJob
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.attention import (
    AttentionSnapshot,
    LayerChoice,
    Moment,
)
from spatialstudio.domain.errors import (
    ErrorReport,
    StoreError,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId, StepEvent
from spatialstudio.domain.run_ports import AttentionFiles
from spatialstudio.domain.scene import MentionId, RelationId, SceneGraph
from spatialstudio.science.pos.layer_means import mean_of_layers
from spatialstudio.science.pos.superiority import can_guide, relation_pos

log = logging.getLogger(__name__)

RUNS_KEPT = 2
"""Size of the cache of runs on selected layers: the open run and the second."""

StepMaps = npt.NDArray[np.float32]
"""(stored steps, h, w), not negative."""


@frozen(eq=False)
class LayersAveraged:
    """Averaged attention maps of a run. Published by ``LayerMaps``; may cross threads.

    Attributes:
        request_id: Id of the run.
        choice: The averaged layers.
        maps: Maps by word, one per stored step.
        every: Interval of the stored steps.
        moment: Moment of the readings within guided steps; None if no step was guided.
    """

    request_id: RequestId
    choice: LayerChoice
    maps: Mapping[MentionId, StepMaps]
    every: int
    moment: Moment | None = None

    def at(self, step: int) -> Maps:
        """Return the maps of a step; empty if the step is not stored."""
        row, rest = divmod(step, self.every)
        if rest:
            return {}
        return {word: maps[row] for word, maps in self.maps.items() if row < len(maps)}


@frozen
class LayersMissing:
    """A run's stored maps cannot be read. Published by ``LayerMaps``; may cross threads.

    Attributes:
        request_id: Id of the run.
        error: Why the maps cannot be read.
    """

    request_id: RequestId
    error: ErrorReport


@lru_cache(maxsize=RUNS_KEPT)
def run_on_layers(run: OpenRun, averaged: LayersAveraged) -> OpenRun:
    """Return a run whose steps hold the averaged maps of selected layers, and PoS on them.

    Only captured steps remain; guided ones have a reading at the moment of the maps only.
    """
    is_after = averaged.moment is Moment.AFTER
    layers = tuple(sorted(averaged.choice.layers))
    captured = [event for event in run.steps if averaged.at(event.step)]
    return replace(
        run, steps=tuple(_on_layers(run, e, averaged, layers, is_after) for e in captured)
    )


def _on_layers(
    run: OpenRun,
    event: StepEvent,
    averaged: LayersAveraged,
    layers: tuple[str, ...],
    is_after: bool,
) -> StepEvent:
    maps = averaged.at(event.step)
    pos = pos_on_maps(run.scene, maps)
    shot = AttentionSnapshot(maps=maps, layers=layers) if maps else None
    if event.is_guided and is_after:
        return replace(event, attention=None, pos={}, attention_after=shot, pos_after=pos)
    return replace(event, attention=shot, pos=pos, attention_after=None, pos_after={})


def pos_on_maps(scene: SceneGraph, maps: Maps) -> dict[RelationId, float]:
    """Return the PoS of the relations whose words all have a map that is not empty."""
    return {
        each.id: float(relation_pos(each.type, [maps[end] for end in each.ends]))
        for each in scene.relations
        if can_guide(each.type) and all(end in maps and maps[end].any() for end in each.ends)
    }


class LayerMaps(CancellableJob):
    """Averages one selection of layers at a time; a new selection cancels the previous work.

    Args:
        files: Creates or returns the reader of stored attention; called in the working thread.
        publish: Receives ``LayersAveraged`` and ``LayersMissing``, in the working thread.
    """

    def __init__(
        self, files: Callable[[], AttentionFiles], publish: Callable[[object], None]
    ) -> None:
        self._files = files
        self._publish = publish

    def average(
        self, runs: Sequence[OpenRun], choice: LayerChoice, wanted: Moment = Moment.AFTER
    ) -> None:
        """Start to average the selected layers of runs; returns at once.

        Args:
            runs: Finished runs with recorded layers.
            choice: The selected layers and head.
            wanted: The preferred moment within guided steps.
        """
        chosen = tuple(runs)

        def average_all(flag: CancelFlag) -> None:
            for run in chosen:
                self._publish(self._averaged(run, choice, wanted, flag))

        self._start(average_all)

    def _averaged(
        self, run: OpenRun, choice: LayerChoice, wanted: Moment, flag: CancelFlag
    ) -> LayersAveraged | LayersMissing:
        layers = captured_layers(run, self._files().read)
        moment = layers_read(run, wanted)
        try:
            maps = average_layers(
                layers, choice, words_of(run.scene), moment or wanted, flag.raise_if_cancelled
            )
        except StoreError as error:
            log.info("Attention of a run cannot be read.")
            report = report_on(error, "Reading the attention")
            return LayersMissing(request_id=run.id, error=report)
        return LayersAveraged(
            request_id=run.id, choice=choice, maps=maps, every=layers.every, moment=moment
        )


def average_layers(
    layers: CapturedLayers,
    choice: LayerChoice,
    words: Sequence[PromptWord],
    moment: Moment,
    tick: Callable[[], object] = lambda: None,
) -> dict[MentionId, StepMaps]:
    """Return each word's mean map over layers, tokens and heads.

    Args:
        layers: The recorded layers.
        choice: The averaged layers and head.
        words: Words of the prompt.
        moment: When guided steps were read.
        tick: Called before each step of a layer; may raise ``Cancelled``.

    Returns:
        (stored steps, h, w) by word, at the finest resolution of the layers.

    Raises:
        StoreError: There is no such layer with this head, or one cannot be read.
    """
    found = [
        _word_maps(layers.open(file, moment), places_of(words, file.words), choice.head, tick)
        for file in layers.having(choice)
    ]
    return {word: mean_of_layers([each[word] for each in found]) for word in found[0]}


def _word_maps(
    rows: LayerRows,
    places: Mapping[MentionId, Sequence[int]],
    head: int | None,
    tick: Callable[[], object],
) -> dict[MentionId, StepMaps]:
    heads = slice(None) if head is None else slice(head, head + 1)
    count, *_, height, width = rows.shape
    maps = {word: np.empty((count, height, width), np.float32) for word in places}
    for step in range(count):
        tick()
        (values,) = rows.between(step, step + 1)
        for word, own in places.items():
            maps[word][step] = np.asarray(values[heads][:, own], np.float32).mean((0, 1))
    return maps


def peak_of_averages(averages: Iterable[LayersAveraged]) -> float:
    """Return the maximum of all maps of all steps; 0 without maps."""
    maps = (maps for average in averages for maps in average.maps.values())
    return max((float(one.max(initial=0.0)) for one in maps), default=0.0)


def places_of(words: Sequence[PromptWord], pieces: Sequence[str]) -> dict[MentionId, list[int]]:
    """Return the token positions of each word.

    Args:
        words: Words in prompt order.
        pieces: Text of each token position: parts of words in prompt order, repeated for a second
            text encoder; empty for padding.
    """
    found: dict[MentionId, list[int]] = {}
    text_at = 0
    for position, piece in enumerate(pieces):
        place = _place_of(piece.strip(), words, text_at)
        if place is not None:
            word, text_at = place
            found.setdefault(word, []).append(position)
    return found


def _place_of(
    piece: str, words: Sequence[PromptWord], text_at: int
) -> tuple[MentionId, int] | None:
    """Return the word that a token belongs to, and the end of the token in the prompt.

    Searches forward from ``text_at``, then from the start, as models with two text encoders contain
    the prompt twice.
    """
    if not piece:
        return None
    for start in (text_at, 0):
        for word in words:
            offset = word.text.find(piece, max(start - word.start, 0))
            if word.stop > start and offset >= 0:
                return word.key, word.start + offset + len(piece)
    return None
