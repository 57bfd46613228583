"""What the denoiser attends to, one map per mention."""

from collections.abc import Mapping
from dataclasses import dataclass

from spatialstudio.domain.arrays import FloatMap, freeze
from spatialstudio.domain.prompt import MentionId


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
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
