"""Reads cross-attention probabilities out of a forward pass that stays untouched.

Every native attention processor ends in ``scaled_dot_product_attention``; a torch function mode
sees those calls, and hooks around the wanted modules switch it on while one of them runs, so that
the rest of the pass goes at full speed. The pass computes what it would have computed anyway.
Sliced, xformers, flash and sage attention are not seen.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode

from spatialstudio.adapters.backends.attention_layers import AttentionLayer, TextPlace, map_size
from spatialstudio.domain.errors import BackendError

LAST_ROW = -1

Keep: TypeAlias = Callable[[torch.Tensor], torch.Tensor]


@contextmanager
def tapped(
    layers: Sequence[AttentionLayer],
    columns: Sequence[int],
    *,
    latent_size: tuple[int, int] | None = None,
    row: int = LAST_ROW,
    stops_early: bool = False,
    keep: Keep | None = None,
) -> Iterator[list[torch.Tensor]]:
    """Read the wanted layers of the one forward pass made inside the ``with`` block.

    Args:
        layers: In the order in which they run.
        columns: Positions in the text of which the attention is kept.
        latent_size: (h, w); needed where text and picture attend jointly.
        row: Of the batch, the one that is read.
        stops_early: Leave the block as soon as the last layer was seen.
        keep: Makes of each layer's reading what goes into the list; None for all of it.

    Yields:
        A list that fills with (heads, positions, columns) float32 probabilities, a softmax over
        the whole text; gradients flow.

    Raises:
        BackendError: A layer ran in a way that cannot be seen.
    """
    tap = AttentionTap(columns, latent_size, row, len(layers) if stops_early else None)
    tap.keep = keep or tap.keep
    with tap.waiting(layers):
        with suppress(_AllSeen):
            yield tap.probabilities
        tap.refuse_less_than(layers)


def _whole(probabilities: torch.Tensor) -> torch.Tensor:
    return probabilities


class _AllSeen(Exception):  # noqa: N818 - ends a pass, tells of no error
    pass


class AttentionTap(TorchFunctionMode):
    """Sees what the wanted modules call while they run, and reads their attention.

    Args:
        columns: Positions in the text of which the attention is kept.
        latent_size: (h, w); needed where text and picture attend jointly.
        row: Of the batch, the one that is read.
        enough: Readings after which the pass ends; None for never.
    """

    def __init__(
        self,
        columns: Sequence[int],
        latent_size: tuple[int, int] | None = None,
        row: int = LAST_ROW,
        enough: int | None = None,
    ) -> None:
        super().__init__()
        self.probabilities: list[torch.Tensor] = []
        self.keep: Keep = _whole
        self._columns = torch.tensor(list(columns))
        self._latent_size = latent_size
        self._row = row
        self._enough = enough
        self._expected: AttentionLayer | None = None
        self._is_repeating = False

    @contextmanager
    def waiting(self, layers: Sequence[AttentionLayer]) -> Iterator[None]:
        """Be on duty while one of the layers runs."""
        with ExitStack() as hooks:
            for layer in layers:
                begin, module = self._expecting(layer), layer.module
                hooks.callback(module.register_forward_pre_hook(begin).remove)
                hooks.callback(module.register_forward_hook(self._leave, always_call=True).remove)
            yield

    def see(self, run: Callable[[], Any]) -> Any:
        """Read one forward pass; return its output, or None when it ended early."""
        with suppress(_AllSeen):
            return run()

    @contextmanager
    def repeating(self) -> Iterator[None]:
        """Read to no end a part of the pass that is computed a second time."""
        self._is_repeating = True
        try:
            yield
        finally:
            self._is_repeating = False

    def refuse_less_than(self, layers: Sequence[AttentionLayer]) -> None:
        """Say so when not all layers were seen.

        Raises:
            BackendError: A layer ran in a way that cannot be seen.
        """
        if len(self.probabilities) != len(layers):
            raise BackendError(
                "The attention of this model cannot be read.",
                hint="Switch attention slicing, xformers and flash attention off.",
            )

    def _expecting(self, layer: AttentionLayer) -> Callable[..., None]:
        def expect(*_: object) -> None:
            self._expected = layer
            self.__enter__()  # type: ignore[no-untyped-call]

        return expect

    def _leave(self, *_: object) -> None:
        self._expected = None
        self.__exit__(None, None, None)  # type: ignore[no-untyped-call]

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if self._expected is not None and func is functional.scaled_dot_product_attention:
            layer, self._expected = self._expected, None
            call = _AttentionCall(*args, **kwargs)
            pictured, text = self._parts(layer)
            read = call.probabilities(self._row, pictured, text, self._columns)
            if self._is_repeating:
                return func(*args, **kwargs)
            self.probabilities.append(self.keep(read))
            if len(self.probabilities) == self._enough:
                raise _AllSeen
        return func(*args, **kwargs)

    def _parts(self, layer: AttentionLayer) -> tuple[slice, slice]:
        """Say which queries are the picture's and which keys the text's."""
        if layer.text is TextPlace.ALONE:
            return slice(None), slice(None)
        if self._latent_size is None:
            raise ValueError("Joint attention needs the size of the latents.")
        height, width = map_size(*self._latent_size, layer.level)
        positions = height * width
        if layer.text is TextPlace.FIRST:
            return slice(-positions, None), slice(None, -positions)
        filled = -(-positions // layer.picture_multiple) * layer.picture_multiple
        return slice(None, positions), slice(filled, None)


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

    def probabilities(
        self, row: int, pictured: slice, text: slice, columns: torch.Tensor
    ) -> torch.Tensor:
        """Return (heads, positions, columns) float32 of one row of the batch.

        Args:
            row: Of the batch.
            pictured: The queries that are the picture's.
            text: The keys that are the text's; the softmax runs over these.
            columns: Positions in the text.
        """
        query = self.query[row][:, pictured].float()
        key = self.key[row][:, text].float()
        if self.enable_gqa:
            key = key.repeat_interleave(query.shape[0] // key.shape[0], dim=0)
        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        scores = query @ key.transpose(-1, -2) * scale
        if self.attn_mask is not None:
            scores = scores + self._additive_mask(row)[:, pictured, text]
        return scores.softmax(-1).index_select(-1, columns.to(scores.device))

    def _additive_mask(self, row: int) -> torch.Tensor:
        assert self.attn_mask is not None
        sides = (self.query.shape[-2], self.key.shape[-2])
        own = self.attn_mask.expand(*self.query.shape[:-2], *self.attn_mask.shape[-2:])[row]
        if own.dtype is torch.bool:
            own = torch.zeros_like(own, dtype=torch.float32).masked_fill(~own, -torch.inf)
        return own.float().expand(-1, *sides)
