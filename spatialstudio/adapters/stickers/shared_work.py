"""Splits the work of one optimizer step among threads.

Each thread computes the gradients of its share of the batch on one core. That is faster on a few
cores than splitting every small operation, and suffers little when others use the cores too.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch
from torch import Tensor

ShareOfLoss = Callable[[], tuple[Tensor, tuple[float, ...]]]
"""Computes one share's loss, and figures to report."""


class SharedWork:
    """Threads that stay for a whole training."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        torch.set_num_threads(1)
        self._threads = ThreadPoolExecutor(max_workers=workers)

    def set_gradients(
        self, weights: Sequence[Tensor], shares: Sequence[ShareOfLoss]
    ) -> tuple[float, ...]:
        """Give each weight the mean gradient of all shares; return the mean of their figures."""

        def differentiate(share: ShareOfLoss) -> tuple[Sequence[Tensor], tuple[float, ...]]:
            loss, figures = share()
            return torch.autograd.grad(loss, weights), figures

        results = list(self._threads.map(differentiate, shares))
        for index, weight in enumerate(weights):
            weight.grad = torch.stack([gradients[index] for gradients, _ in results]).mean(0)
        rows = zip(*(figures for _, figures in results), strict=True)
        return tuple(sum(row) / len(results) for row in rows)
