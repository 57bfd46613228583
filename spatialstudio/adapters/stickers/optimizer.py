"""Updates weights from their gradients: Muon for those that multiply, AdamW for the rest.

Source: Muon after Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/, with the step
sizes of Liu et al. 2025, arXiv:2502.16982, so that both share one learning rate.
"""

from collections.abc import Iterator
from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn

SMALLEST_SIDE = 32
"""Matrices with fewer rows or columns have little to gain from an orthogonal update."""

ADAMW_BETAS = (0.9, 0.99)


class WeightUpdates:
    """The optimizer of a training.

    Args:
        model: Its weights that ask for gradients are updated in place.
        weight_decay: Of both methods, decoupled.
        orthogonal: Updates linear layers and convolutions by Muon; else AdamW does all.
    """

    def __init__(self, model: nn.Module, weight_decay: float, *, orthogonal: bool) -> None:
        matrices = list(_matrices(model)) if orthogonal else []
        by_muon = {id(weight) for weight in matrices}
        others = [
            weight
            for weight in model.parameters()
            if weight.requires_grad and id(weight) not in by_muon
        ]
        self._flat = [(weight, nn.Parameter(weight.detach().flatten(1))) for weight in matrices]
        self._methods: dict[str, torch.optim.Optimizer] = {
            "adamw": torch.optim.AdamW(
                others, betas=ADAMW_BETAS, weight_decay=weight_decay, fused=True
            )
        }
        if matrices:
            self._methods["muon"] = torch.optim.Muon(
                [flat for _, flat in self._flat],
                weight_decay=weight_decay,
                adjust_lr_fn="match_rms_adamw",
            )

    def step(self, learning_rate: float) -> None:
        """Update the weights from the gradients that they hold."""
        for weight, flat in self._flat:
            flat.grad = None if weight.grad is None else weight.grad.view_as(flat)
        for group in chain.from_iterable(each.param_groups for each in self._methods.values()):
            group["lr"] = learning_rate
        for method in self._methods.values():
            method.step()

    def state(self) -> dict[str, Any]:
        """What to keep in a checkpoint."""
        return {name: method.state_dict() for name, method in self._methods.items()}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what a checkpoint kept."""
        for name, method in self._methods.items():
            method.load_state_dict(state[name])


def _matrices(model: nn.Module) -> Iterator[Tensor]:
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Conv2d) and module.weight.requires_grad:
            rows, columns = module.weight.flatten(1).shape
            if min(rows, columns) >= SMALLEST_SIDE:
                yield module.weight
