"""Reads cross-attention probabilities out of a forward pass that stays untouched.

Every native attention processor ends in ``scaled_dot_product_attention``; a torch function mode
sees those calls, and hooks before the wanted modules tell which of them to read. The pass computes
what it would have computed anyway. Sliced, xformers, flash and sage attention are not seen.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from spatialstudio.adapters.backends.families import AttentionLayer
from spatialstudio.domain.errors import BackendError

CONDITIONAL_ROW = -1
"""The half of a doubled batch that runs with the prompt stands last."""


@contextmanager
def tapped(
    layers: Sequence[AttentionLayer], columns: Sequence[int], *, stops_early: bool = False
) -> Iterator[list[torch.Tensor]]:
    """Read the wanted layers of the one forward pass made inside the ``with`` block.

    Args:
        layers: In the order in which they run.
        columns: Positions in the text of which the attention is kept.
        stops_early: Leave the block as soon as the last layer was seen.

    Yields:
        A list that fills with (heads, positions, columns) float32 probabilities, a softmax over
        the whole text, of the conditional half; gradients flow.

    Raises:
        BackendError: A layer ran in a way that cannot be seen.
    """
    tap = _AttentionTap(columns, len(layers) if stops_early else None)
    with ExitStack() as hooks:
        for layer in layers:
            hooks.callback(layer.module.register_forward_pre_hook(tap.expect).remove)
            hooks.callback(layer.module.register_forward_hook(tap.forget).remove)
        with suppress(_AllSeen), tap:
            yield tap.probabilities
    if len(tap.probabilities) != len(layers):
        raise BackendError(
            "The attention of this model cannot be read.",
            hint="Switch attention slicing, xformers and flash attention off.",
        )


class _AllSeen(Exception):  # noqa: N818 - ends a pass, tells of no error
    pass


class _AttentionTap(TorchFunctionMode):
    """Sees every attention call; reads those that an expected module makes."""

    def __init__(self, columns: Sequence[int], enough: int | None) -> None:
        super().__init__()
        self.probabilities: list[torch.Tensor] = []
        self._columns = list(columns)
        self._enough = enough
        self._is_expected = False

    def expect(self, *_: object) -> None:
        self._is_expected = True

    def forget(self, *_: object) -> None:
        self._is_expected = False

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if self._is_expected and func is functional.scaled_dot_product_attention:
            self._is_expected = False
            self.probabilities.append(_AttentionCall(*args, **kwargs).probabilities(self._columns))
            if len(self.probabilities) == self._enough:
                raise _AllSeen
        return func(*args, **kwargs)


@dataclass(frozen=True, slots=True, eq=False)
class _AttentionCall:
    """The arguments of ``scaled_dot_product_attention``, in its order."""

    query: torch.Tensor
    key: torch.Tensor
    value: torch.Tensor
    attn_mask: torch.Tensor | None = None
    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False

    def probabilities(self, columns: list[int]) -> torch.Tensor:
        """Return (heads, positions, columns) float32 of the conditional half."""
        query, key = self.query[CONDITIONAL_ROW].float(), self.key[CONDITIONAL_ROW].float()
        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        scores = query @ key.transpose(-1, -2) * scale
        if self.attn_mask is not None:
            scores = scores + self._additive_mask()
        return scores.softmax(-1)[..., columns]

    def _additive_mask(self) -> torch.Tensor:
        assert self.attn_mask is not None
        mask = self.attn_mask.expand(*self.query.shape[:2], *self.attn_mask.shape[-2:])
        own = mask[CONDITIONAL_ROW]
        if own.dtype is torch.bool:
            return torch.zeros_like(own, dtype=torch.float32).masked_fill(~own, -torch.inf)
        return own.float()
