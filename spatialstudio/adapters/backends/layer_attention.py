"""What layers attend to: their queries and keys, as probabilities, and the mean of these.

Few of a text's columns are wanted, but the softmax runs over all of them. Where the model's own
attention told what the softmax divides by, the wanted ones are computed alone.
"""

from collections.abc import Sequence

import torch

from spatialstudio.adapters.backends.attention_layers import AttentionLayer
from spatialstudio.domain.frozen import frozen

MOST_WAITING_BYTES = 16 * 1024**2
"""Of logarithms: layers of small models are counted together, which spares calls."""


@frozen(eq=False, kw_only=False)
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

    def head_sum(self, columns: torch.Tensor) -> torch.Tensor:
        """Return (columns, positions) float32, the heads' probabilities of columns, summed.

        Args:
            columns: Positions in the text.
        """
        return self.probabilities().sum(0)[:, columns].T

    def logarithms(self, columns: torch.Tensor) -> torch.Tensor:
        """Return (heads, columns, positions) float32, of the probabilities of columns.

        Args:
            columns: Positions in the text.

        Raises:
            ValueError: Nobody told what the softmax divides by.
        """
        if self.log_sums is None:
            raise ValueError("Logarithms of single columns need the sums of all.")
        key, query = self.key.index_select(1, columns).float(), self.query.float()
        return torch.baddbmm(self.log_sums[:, None], key, query.mT, beta=-1, alpha=self.scale)


class MeanAttention:
    """Averages layers of one map size over all heads, as they come.

    Args:
        columns: Positions in the text of which the attention is kept.
    """

    def __init__(self, columns: Sequence[int] | torch.Tensor) -> None:
        self._columns = torch.as_tensor(columns, dtype=torch.long)
        self._sum: torch.Tensor | None = None
        self._heads = 0
        self._waiting: list[torch.Tensor] = []
        self._waiting_bytes = 0

    def take(self, seen: LayerAttention) -> None:
        """Count another layer in, sooner or later."""
        self._heads += seen.query.shape[0]
        if seen.log_sums is None:
            self._add(seen.head_sum(self._columns))
            return
        logarithms = seen.logarithms(self._columns)
        self._waiting.append(logarithms)
        self._waiting_bytes += logarithms.nbytes
        if self._waiting_bytes > MOST_WAITING_BYTES:
            self._add_waiting()

    def mean(self) -> torch.Tensor:
        """Return (columns, positions) float32, every head of every layer counted the same.

        At least one layer must have been taken.
        """
        self._add_waiting()
        assert self._sum is not None
        return self._sum / self._heads

    def _add_waiting(self) -> None:
        if self._waiting:
            self._add(torch.cat(self._waiting).exp_().sum(0))
            self._waiting.clear()
            self._waiting_bytes = 0

    def _add(self, head_sum: torch.Tensor) -> None:
        self._sum = head_sum if self._sum is None else self._sum + head_sum


class LevelMeans:
    """Averages the layers of one pass, level by level.

    Args:
        columns: Positions in the text of which the attention is kept.
        levels: The layers of each; one may stand in several.
    """

    def __init__(
        self, columns: Sequence[int] | torch.Tensor, levels: Sequence[Sequence[AttentionLayer]]
    ) -> None:
        self._means = [(layers, MeanAttention(columns)) for layers in levels]

    def take(self, seen: LayerAttention) -> None:
        """Count another layer in wherever it belongs."""
        for layers, mean in self._means:
            if seen.layer in layers:
                mean.take(seen)

    def first(self) -> torch.Tensor:
        """Return (columns, positions) float32 of the first level alone."""
        return self._means[0][1].mean()

    def means(self) -> list[torch.Tensor]:
        """Return (columns, positions) float32 of every level."""
        return [mean.mean() for _, mean in self._means]
