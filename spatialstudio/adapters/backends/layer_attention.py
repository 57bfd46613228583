"""What layers attend to: their queries and keys, as probabilities, and the mean of these.

Few of a text's columns are wanted, but the softmax runs over all of them. Where the model's own
attention told what the softmax divides by, the wanted ones are computed alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import torch

from spatialstudio.adapters.backends.attention_layers import AttentionLayer

MOST_WAITING_BYTES = 16 * 1024**2
"""Of queries: layers of small models are counted together, which spares the caches."""


@dataclass(frozen=True, slots=True, eq=False)
class LayerAttention:
    """What one layer is about to attend to, in one row of the batch. Gradients flow.

    Attributes:
        layer: Where it was seen.
        query: (heads, positions, depth) of the picture.
        key: (heads, text, depth) of the text; the softmax runs over these.
        scale: Of their products.
        mask: (heads, positions, text) float32, added to the products; None for none.
        log_sums: (heads, positions) float32, logarithms of what the softmax divides by; None where
            nobody told. No gradient flows and no mask is there where it is told.
    """

    layer: AttentionLayer
    query: torch.Tensor
    key: torch.Tensor
    scale: float
    mask: torch.Tensor | None = None
    log_sums: torch.Tensor | None = None

    def probabilities(self) -> torch.Tensor:
        """Return (heads, positions, text) float32; sums to 1 over the text."""
        key = self.key.float() * self.scale
        scores = self.query.float() @ key.mT
        if self.mask is not None:
            scores = scores + self.mask
        return scores.softmax(-1)

    def form(self) -> tuple[object, ...]:
        """Return what layers have in common whose heads can be computed together."""
        return self.query.shape, self.key.shape, self.scale, self.log_sums is None

    def head_sum(self, columns: torch.Tensor) -> torch.Tensor:
        """Return (positions, columns) float32, the heads' probabilities of columns, summed.

        Args:
            columns: Positions in the text.
        """
        if self.log_sums is None:
            return self.probabilities().sum(0)[:, columns]
        key, query = self.key[:, columns].float(), self.query.float()
        logarithms = torch.baddbmm(self.log_sums[:, None], key, query.mT, beta=-1, alpha=self.scale)
        return logarithms.exp_().sum(0).T


class MeanAttention:
    """Averages layers of one map size over all heads, as they come.

    Args:
        columns: Positions in the text of which the attention is kept.
    """

    def __init__(self, columns: Sequence[int]) -> None:
        self._columns = torch.tensor(columns, dtype=torch.long)
        self._sum: torch.Tensor | None = None
        self._heads = 0
        self._waiting: list[LayerAttention] = []

    def take(self, seen: LayerAttention) -> None:
        """Count another layer in, sooner or later."""
        self._waiting.append(seen)
        held = sum(each.query.nbytes for each in self._waiting)
        if seen.log_sums is None or held > MOST_WAITING_BYTES:
            self._count_in()

    def mean(self) -> torch.Tensor:
        """Return (positions, columns) float32, every head of every layer counted the same.

        At least one layer must have been taken.
        """
        self._count_in()
        assert self._sum is not None
        return self._sum / self._heads

    def _count_in(self) -> None:
        for _, alike in groupby(self._waiting, LayerAttention.form):
            seen = _joined(tuple(alike))
            self._heads += seen.query.shape[0]
            own = seen.head_sum(self._columns)
            self._sum = own if self._sum is None else self._sum + own
        self._waiting.clear()


def _joined(alike: Sequence[LayerAttention]) -> LayerAttention:
    """Return layers of one form as a single one, with the heads of all."""
    first, *others = alike
    if not others:
        return first
    return replace(
        first,
        query=torch.cat([each.query for each in alike]),
        key=torch.cat([each.key for each in alike]),
        log_sums=torch.cat([each.log_sums for each in alike if each.log_sums is not None]),
    )


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
