"""What layers attend to: their queries and keys, as probabilities of the columns that are wanted.

Of a text's columns few are wanted, but the softmax runs over all of them. Small layers of one size
wait for each other and go through it together.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from spatialstudio.adapters.backends.attention_layers import AttentionLayer

MOST_WAITING = 2_000_000
"""Values that may wait for others of their size; a large layer waits for none."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerAttention:
    """What one layer is about to attend to, in one row of the batch. Gradients flow.

    Attributes:
        layer: Where it was seen.
        query: (heads, positions, depth) of the picture.
        key: (heads, text, depth) of the text; the softmax runs over these.
        scale: Of their products.
        mask: (heads, positions, text) float32, added to the products; None for none.
    """

    layer: AttentionLayer
    query: torch.Tensor
    key: torch.Tensor
    scale: float
    mask: torch.Tensor | None = None

    @property
    def size(self) -> int:
        """Values that it takes to be computed."""
        heads, positions, _ = self.query.shape
        return self.query.numel() + self.key.numel() + heads * positions * self.key.shape[-2]

    def is_like(self, other: "LayerAttention") -> bool:
        """Tell whether both can be computed together."""
        return (
            self.query.shape[1:] == other.query.shape[1:]
            and self.key.shape[1:] == other.key.shape[1:]
            and self.scale == other.scale
            and (self.mask is None) == (other.mask is None)
        )

    def probabilities(self, columns: Sequence[int]) -> torch.Tensor:
        """Return (heads, positions, columns) float32.

        Args:
            columns: Positions in the text.
        """
        query = self.query.float() * self.scale
        scores = query @ self.key.float().transpose(-1, -2)
        if self.mask is not None:
            scores = scores + self.mask
        wanted = torch.tensor(columns, device=scores.device)
        return scores.softmax(-1).index_select(-1, wanted)


class MeanAttention:
    """Averages layers of one map size over all heads, as they come.

    Args:
        columns: Positions in the text of which the attention is kept.
    """

    def __init__(self, columns: Sequence[int]) -> None:
        self._columns = columns
        self._waiting: list[LayerAttention] = []
        self._sums: list[torch.Tensor] = []
        self._heads = 0

    def take(self, seen: LayerAttention) -> None:
        """Count another layer in."""
        waiting = self._waiting
        size = sum(one.size for one in waiting) + seen.size
        if waiting and (size > MOST_WAITING or not seen.is_like(waiting[0])):
            self._compute()
        waiting.append(seen)
        if torch.is_grad_enabled():  # where the pass itself may be computed a second time
            self._compute()

    def mean(self) -> torch.Tensor:
        """Return (positions, columns) float32, every head of every layer counted the same."""
        self._compute()
        return torch.stack(self._sums).sum(0) / self._heads

    def _compute(self) -> None:
        if self._waiting:
            together = _joined(self._waiting)
            self._heads += together.query.shape[0]
            self._sums.append(together.probabilities(self._columns).sum(0))
            self._waiting.clear()


class LevelMeans:
    """Averages the layers of one pass, level by level.

    Args:
        columns: Positions in the text of which the attention is kept.
        levels: The layers of each; one may stand in several.
    """

    def __init__(self, columns: Sequence[int], levels: Sequence[Sequence[AttentionLayer]]) -> None:
        self._means = [(layers, MeanAttention(columns)) for layers in levels]

    def take(self, seen: LayerAttention) -> None:
        """Count another layer in wherever it belongs."""
        for layers, mean in self._means:
            if seen.layer in layers:
                mean.take(seen)

    def means(self) -> list[torch.Tensor]:
        """Return (positions, columns) float32 of every level."""
        return [mean.mean() for _, mean in self._means]


def _joined(layers: Sequence[LayerAttention]) -> LayerAttention:
    """Make one of several that are alike, head after head."""
    first, *others = layers
    if not others:
        return first
    masks = [one.mask for one in layers if one.mask is not None]
    return LayerAttention(
        first.layer,
        torch.cat([one.query for one in layers]),
        torch.cat([one.key for one in layers]),
        first.scale,
        torch.cat(masks) if masks else None,
    )
