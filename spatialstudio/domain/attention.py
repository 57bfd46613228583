"""What the denoiser attends to, one map per mention."""

from collections.abc import Mapping
from enum import Enum
from math import prod

from spatialstudio.domain.arrays import FloatMap, freeze
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.prompt import MentionId

HALF_PRECISION_BYTES = 2

ATTENTION_FOLDER = "attention"
"""In the cache: a folder a run, named by its request, for attention that is too large to travel."""


class AttentionDetail(Enum):
    """How much of the attention is kept beside the maps of what relations name."""

    RELATION_WORDS = "relation words"
    """No more than those: about a kilobyte a word and step."""
    EVERY_WORD = "every word"
    """Every layer's maps of all words of the prompt, mean over its heads; on disk."""
    EVERYTHING = "everything"
    """Every head of every layer, for the whole text with its filling; on disk."""


class Moment(Enum):
    """When attention was read within a guided step; the value says it to people.

    A step without updates is read once, which is both.
    """

    BEFORE = "before the step's updates"
    AFTER = "after the step's updates"


class MapScale(Enum):
    """Which value of a map is drawn in full colour; the value is its name for people."""

    PER_MAP = "Each map"
    """The map's own peak: shapes can be compared, strengths cannot."""
    SHARED = "Shared"
    """The peak of all words and steps of the runs in sight."""
    ABSOLUTE = "0 to 1"
    """1: a probability is drawn as it is."""


@frozen
class TextLayer:
    """A place where a denoiser attends to the text. Made by a backend; may cross threads.

    Attributes:
        name: Of the layer in the denoiser.
        shape: (h, w) of its maps.
    """

    name: str
    shape: tuple[int, int]


@frozen
class ModelLayers:
    """Where a model attends to the text, before it draws. Made by a backend; may cross threads.

    Attributes:
        layers: In the order in which they run.
        guiding: Names of those whose maps guide.
        heads: The most that one of them has.
    """

    layers: tuple[TextLayer, ...]
    guiding: frozenset[str]
    heads: int


@frozen
class LayerChoice:
    """Over which parts of a model attention is averaged. May cross threads.

    Attributes:
        layers: Names of layers; empty for those that guide.
        head: The one that is looked at in each of them, from 0; None for the mean of all.
    """

    layers: frozenset[str] = frozenset()
    head: int | None = None


@frozen
class AttentionFile:
    """One layer's attention over a run, float16, as numpy stores it. May cross threads.

    Attributes:
        layer: Name of the attention layer.
        name: Of the file in the run's folder of attention.
        words: What stands at each of the text's positions that are kept; empty for filling.
        shape: (steps kept, heads, words, h, w); one head stands for the mean of all.
    """

    layer: str
    name: str
    words: tuple[str, ...]
    shape: tuple[int, int, int, int, int]

    @property
    def heads(self) -> int:
        """How many can be looked at one by one; 1 where only their mean was kept."""
        return self.shape[1]

    @property
    def size_bytes(self) -> int:
        """Of the values."""
        return prod(self.shape) * HALF_PRECISION_BYTES


@frozen(eq=False)
class AttentionSnapshot:
    """Attention of one denoising step: conditional half, mean over heads and layers.

    Made by a backend's attention tap; read-only, may cross threads.

    Attributes:
        maps: Mention id to (h, w) probabilities, not negative; not normalised over positions.
        layers: Names of the attention layers averaged.
    """

    maps: Mapping[MentionId, FloatMap]
    layers: tuple[str, ...]

    def __post_init__(self) -> None:
        for weights in self.maps.values():
            freeze(weights)
