"""Attention maps of mentions, recorded layers, and the layers they come from."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from math import prod
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from spatialstudio.domain.arrays import FloatMap, freeze
from spatialstudio.domain.devices import size_in_words
from spatialstudio.domain.frozen import SPARSE, frozen
from spatialstudio.domain.scene import MentionId

LayerValues: TypeAlias = npt.NDArray[np.floating[Any]]
"""A stored layer, (stored steps, heads, words, h, w), not negative; see ``AttentionFile``."""

LAYER_DTYPES: Mapping[str, int] = {"float16": 2, "float32": 4}
"""Number types of stored layers, by NumPy's name, and their bytes."""

ATTENTION_FOLDER = "attention"
"""Cache folder with one folder per request, for attention too large to send between processes."""

MOST_CACHE_BYTES = 8 * 1024**3
"""Size limit of that folder; the oldest runs are removed first."""

MOST_PLACES = 32 * 32
"""Largest number of positions of a layer whose self-attention is recorded."""


class AttentionDetail(Enum):
    """How much of the attention is stored."""

    RELATION_WORDS = "relation words"
    """Only the maps of the relations' mentions: about a kilobyte per word and step."""
    EVERY_WORD = "every word"
    """Also every layer's maps of all words of the prompt, mean over heads; on disk."""
    EVERYTHING = "everything"
    """Also every head of every layer, for the whole sequence with padding; on disk."""

    @property
    def title(self) -> str:
        """Display name."""
        return _TITLES[self]


_TITLES = {
    AttentionDetail.RELATION_WORDS: "Words in relations",
    AttentionDetail.EVERY_WORD: "All layers",
    AttentionDetail.EVERYTHING: "All layers and heads",
}


class Moment(Enum):
    """When attention was captured within a guided step; the value is its display name.

    A step without updates has a single capture, which serves for both.
    """

    BEFORE = "before the step's updates"
    AFTER = "after the step's updates"


class MapScale(Enum):
    """Normalisation of displayed maps: the value drawn in full colour."""

    PER_MAP = "Each map"
    """The peak of each map: shapes can be compared, magnitudes cannot."""
    SHARED = "Shared"
    """The peak of all words and steps of the visible runs."""
    ABSOLUTE = "0 to 1"
    """1: probabilities are not rescaled."""


@frozen
class TextLayer:
    """A cross-attention layer of a denoiser. Created by a backend; may cross threads.

    Attributes:
        name: Name of the layer in the denoiser.
        shape: (h, w) of its maps.
    """

    name: str
    shape: tuple[int, int]


@frozen
class ModelLayers:
    """The cross-attention layers of a model. Created by a backend; may cross threads.

    Attributes:
        layers: In execution order.
        guiding: Names of the layers used for guidance.
        heads: Maximum number of heads of a layer.
    """

    layers: tuple[TextLayer, ...]
    guiding: frozenset[str]
    heads: int


@frozen
class LayerChoice:
    """The layers and head over which displayed attention is averaged. May cross threads.

    Attributes:
        layers: Names of layers; empty for those used for guidance.
        head: Index of the head in each layer, from 0; None for the mean of all heads.
    """

    layers: frozenset[str] = frozenset()
    head: int | None = None


@frozen
class AttentionFile:
    """One layer's attention over a run, as an npy file. May cross threads.

    Attributes:
        layer: Name of the attention layer.
        name: Name of the file in the run's attention folder.
        words: Word of the prompt at each stored position of the sequence; empty for padding and
            for tokens of the model's template. Self-attention has none.
        shape: (stored steps, heads, words, h, w); a single head is the mean of all. Of
            self-attention, (stored steps, 1, h * w, h, w): the attending position, by rows, stands
            in the place of the word.
        dtype: One of ``LAYER_DTYPES``.
        steps_before: Steps of the rows of a file read before the updates of steps on which
            guidance is due; empty for a file of every stored step, read in the ordinary passes.
    """

    layer: str
    name: str
    words: tuple[str, ...]
    shape: tuple[int, int, int, int, int]
    dtype: str = field(default="float16", metadata=SPARSE)
    steps_before: tuple[int, ...] = field(default=(), metadata=SPARSE)

    @property
    def heads(self) -> int:
        """Number of stored heads; 1 where only their mean is stored."""
        return self.shape[1]

    @property
    def is_of_places(self) -> bool:
        """Whether the shape is that of self-attention."""
        _, heads, places, height, width = self.shape
        return heads == 1 and places == height * width and min(self.shape) > 0

    @property
    def size_bytes(self) -> int:
        """Size of the values in bytes; 0 for a number type that cannot be read."""
        return prod(self.shape) * LAYER_DTYPES[self.dtype] if self.dtype in LAYER_DTYPES else 0


@frozen
class AttentionCacheUse:
    """How full the cache of recorded layers is.

    Attributes:
        size_bytes: Size of all runs together.
        limit_bytes: The largest size; the oldest runs are removed first.
        runs: Number of runs with recorded layers.
    """

    size_bytes: int
    limit_bytes: int
    runs: int

    def __str__(self) -> str:
        used, limit = map(size_in_words, (self.size_bytes, self.limit_bytes))
        runs = "1 run" if self.runs == 1 else f"{self.runs} runs"
        return f"recorded layers of {runs}, {used} of at most {limit}"


def removed_in_words(runs: int) -> str:
    """Return a sentence on runs whose recorded layers were removed; empty if there are none."""
    if not runs:
        return ""
    limit = size_in_words(MOST_CACHE_BYTES)
    whose = "of the oldest run" if runs == 1 else f"of the {runs} oldest runs"
    return f"The recorded layers {whose} were removed: their cache is limited to {limit}."


@frozen(eq=False)
class AttentionSnapshot:
    """Attention of one denoising step: conditional half, mean over heads and layers.

    Created by a backend's attention tap; read-only, may cross threads.

    Attributes:
        maps: Mention id to (h, w) probabilities, not negative; not normalised over positions.
        layers: Names of the attention layers averaged.
    """

    maps: Mapping[MentionId, FloatMap]
    layers: tuple[str, ...]

    def __post_init__(self) -> None:
        for weights in self.maps.values():
            freeze(weights)
