"""Self-attention of one place of a run's picture, from its recorded layers."""

from collections.abc import Callable
from functools import partial

import numpy as np

from spatialstudio.application.inspect.captured_layers import (
    CapturedLayers,
    moment_of_layers,
    ordinary,
)
from spatialstudio.application.session import OpenRun
from spatialstudio.domain.arrays import FloatMap
from spatialstudio.domain.attention import AttentionFile, LayerValues, Moment
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import RequestId
from spatialstudio.science.pos.isolines import mass_level

HALF = 0.5
JOINT_LAYERS = (".attn", ".attention")
"""Endings of their names in diffusers; layers of self- and cross-attention end in a number."""

Place = tuple[float, float]
"""x and y as fractions of the picture's sides, [0, 1]."""


@frozen(eq=False)
class PlaceAttention:
    """Where one place of the picture attends in one layer at one step.

    Attributes:
        cell: (row, column) of the place in the layer's map.
        weights: (h, w) probabilities, mean over heads; they sum to 1.
        moment: When the guided step was read; None for a step with one reading.
    """

    cell: tuple[int, int]
    weights: FloatMap
    moment: Moment | None = None

    @property
    def peak(self) -> tuple[int, int]:
        """(row, column) of the largest weight."""
        row, column = np.unravel_index(int(self.weights.argmax()), self.weights.shape)
        return int(row), int(column)

    @property
    def half_area(self) -> float:
        """Fraction of the picture that holds the largest half of the attention, (0, 1]."""
        return float((self.weights >= mass_level(self.weights, HALF)).mean())


def self_layers(run: OpenRun) -> tuple[AttentionFile, ...]:
    """Return the file of each layer with captured self-attention, in execution order."""
    return ordinary(run.self_attention_files)


def has_joint_attention(run: OpenRun) -> bool:
    """Whether text and picture attend in the same layers, as in SD3 and FLUX."""
    return any(layer.name.endswith(JOINT_LAYERS) for layer in run.text_layers)


def place_attention(
    run: OpenRun,
    read: Callable[[RequestId, AttentionFile], LayerValues],
    file: AttentionFile,
    step: int,
    place: Place,
    wanted: Moment = Moment.AFTER,
) -> PlaceAttention | None:
    """Return where a place attends.

    Args:
        run: A finished run.
        read: Opens a file of a request, as ``AttentionFiles.read`` does.
        file: One of ``self_layers``.
        step: The step, from 0.
        place: The attending place.
        wanted: The preferred moment within a guided step.

    Returns:
        None if the step was not captured.

    Raises:
        StoreError: The layer cannot be read.
    """
    every = (run.request.capture.attention_every if run.request else 1) or 1
    event = next((each for each in run.steps if each.step == step), None)
    row, rest = divmod(step, every)
    if event is None or rest or row >= file.shape[0] or run.request is None:
        return None
    files, guidance = run.self_attention_files, run.request.sampling.guidance
    moment = moment_of_layers(files, guidance, run.steps, wanted)
    captured = CapturedLayers(files=files, read=partial(read, run.id), every=every)
    rows = captured.open(file, moment or wanted).between(row, row + 1)
    *_, height, width = file.shape
    cell = cell_at(place, height, width)
    weights = rows[0, 0, cell[0] * width + cell[1]].astype(np.float32)
    return PlaceAttention(cell=cell, weights=weights, moment=moment if event.is_guided else None)


def cell_at(place: Place, height: int, width: int) -> tuple[int, int]:
    """Return the (row, column) of the cell that contains a place."""
    x, y = place
    return min(int(y * height), height - 1), min(int(x * width), width - 1)
