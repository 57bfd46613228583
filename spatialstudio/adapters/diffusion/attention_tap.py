"""Capture of attention during an unmodified forward pass.

Every native attention processor ends in ``scaled_dot_product_attention``. For one pass a wrapper
replaces that function, records the inputs of the selected modules, and calls the original. The
output and the speed of the pass are unchanged. Sliced, xformers, flash and sage attention are not
captured.

Leaving the model's code evicts the processor's caches, so the records are processed after the pass
where possible.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from threading import RLock, get_ident
from typing import Any, TypeAlias

import torch
from torch.nn import functional
from torch.nn.attention import SDPBackend

from spatialstudio.adapters.diffusion.attention_layers import (
    AttentionLayer,
    TextPlace,
    map_size,
)
from spatialstudio.adapters.diffusion.patched import patched_attribute
from spatialstudio.domain.errors import BackendError
from spatialstudio.domain.frozen import frozen

MOST_WAITING_LAYER_BYTES = 16 * 1024**2
"""Buffer size for log probabilities; batching the layers of small models saves calls."""


@frozen(eq=False, kw_only=False)
class LayerAttention:
    """The attention inputs of one layer, for one row of the batch. Differentiable.

    Attributes:
        layer: The captured layer.
        query: (heads, positions, depth) of the picture.
        key: (heads, text, depth) of the text; the softmax runs over the text. In self-attention,
            the picture takes the place of the text.
        scale: Factor of the query-key products.
        mask: (heads, positions, text) float32, added to the products; None for no mask.
        log_sums: (heads, positions) float32, logarithms of the softmax denominators; None if the
            kernel did not return them. If set, there is no mask and no gradient.
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
        """Return (columns, positions) float32, the probabilities of columns summed over heads.

        Args:
            columns: Positions in the text.
        """
        return self.probabilities().sum(0)[:, columns].T

    def logarithms(self, columns: torch.Tensor) -> torch.Tensor:
        """Return (heads, columns, positions) float32, the log probabilities of columns.

        Args:
            columns: Positions in the text.

        Raises:
            ValueError: The softmax denominators are not known.
        """
        if self.log_sums is None:
            raise ValueError("Logarithms of single columns need the sums of all.")
        key, query = self.key.index_select(1, columns).float(), self.query.float()
        return torch.baddbmm(self.log_sums[:, None], key, query.mT, beta=-1, alpha=self.scale)


class MeanAttention:
    """Running average over all heads of layers with one map size.

    Args:
        columns: Positions in the text whose attention is averaged.
    """

    def __init__(self, columns: Sequence[int] | torch.Tensor) -> None:
        self._columns = torch.as_tensor(columns, dtype=torch.long)
        self._sum: torch.Tensor | None = None
        self._heads = 0
        self._waiting: list[torch.Tensor] = []
        self._waiting_bytes = 0

    def take(self, seen: LayerAttention) -> None:
        """Add a layer to the average; evaluation may be deferred."""
        self._heads += seen.query.shape[0]
        if seen.log_sums is None:
            self._add(seen.head_sum(self._columns))
            return
        logarithms = seen.logarithms(self._columns)
        self._waiting.append(logarithms)
        self._waiting_bytes += logarithms.nbytes
        if self._waiting_bytes > MOST_WAITING_LAYER_BYTES:
            self._add_waiting()

    def mean(self) -> torch.Tensor:
        """Return (columns, positions) float32, with equal weight for every head of every layer.

        At least one layer must have been added.
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
    """Running averages of the layers of one pass, per level.

    Args:
        columns: Positions in the text whose attention is averaged.
        levels: The layers of each level; a layer may belong to several.
    """

    def __init__(
        self, columns: Sequence[int] | torch.Tensor, levels: Sequence[Sequence[AttentionLayer]]
    ) -> None:
        self._means = [(layers, MeanAttention(columns)) for layers in levels]

    def take(self, seen: LayerAttention) -> None:
        """Add a layer to the average of each level it belongs to."""
        for layers, mean in self._means:
            if seen.layer in layers:
                mean.take(seen)

    def first(self) -> torch.Tensor:
        """Return (columns, positions) float32 of the first level only."""
        return self._means[0][1].mean()

    def means(self) -> list[torch.Tensor]:
        """Return (columns, positions) float32 for each level."""
        return [mean.mean() for _, mean in self._means]


LAST_ROW = -1
ONE_PASS_AT_A_TIME = RLock()
"""Serialises passes, since the patched function is global to the process."""

usual_attention = functional.scaled_dot_product_attention
choose_kernel = getattr(torch, "_fused_sdp_choice", None)
flash_attention = getattr(torch, "_scaled_dot_product_flash_attention_for_cpu", None)
"""Private functions of torch without a public name; without them no log-sum-exp is reused."""

MOST_WAITING_BYTES = 8 * 1024**2
"""Buffer size for queries processed after the pass; other arguments of a call are not counted."""

Take: TypeAlias = Callable[[LayerAttention], object]


@contextmanager
def tapped(
    layers: Sequence[AttentionLayer],
    take: Take,
    *,
    latent_size: tuple[int, int] | None = None,
    row: int = LAST_ROW,
    stops_early: bool = False,
) -> Iterator[None]:
    """Capture the selected layers in the one forward pass made inside the ``with`` block.

    Args:
        layers: In execution order.
        take: Called with the attention inputs of each layer, in that order.
        latent_size: (h, w); required for joint attention of text and picture.
        row: Batch row to read.
        stops_early: Leave the block after the last selected layer.

    Raises:
        BackendError: A layer ran in a way that cannot be captured.
    """
    tap = AttentionTap(LayerWatch(layers), [take], latent_size, row, stops_early=stops_early)
    with tap.on_duty():
        with suppress(_AllSeen):
            yield
        tap.end_pass()


class _AllSeen(Exception):  # noqa: N818 - ends a pass, tells of no error
    pass


class LayerWatch:
    """Tracks which of the given layers is running.

    Args:
        layers: In execution order.
    """

    def __init__(self, layers: Iterable[AttentionLayer]) -> None:
        self.layers = tuple(layers)
        self._running: AttentionLayer | None = None
        self._thread = get_ident()
        self._is_on_duty = False

    @contextmanager
    def on_duty(self) -> Iterator[None]:
        """Install the layer hooks; nested use costs nothing."""
        if self._is_on_duty:
            yield
            return
        with ExitStack() as wrappers:
            for layer in self.layers:
                wrappers.enter_context(
                    patched_attribute(layer.module, "forward", partial(self._run, layer))
                )
            wrappers.callback(setattr, self, "_is_on_duty", False)
            self._is_on_duty = True
            yield

    def claim(self) -> AttentionLayer | None:
        """Return the layer that is running on this thread, once per execution; else None."""
        if self._running is None or get_ident() != self._thread:
            return None
        layer, self._running = self._running, None
        return layer

    def _run(
        self, layer: AttentionLayer, forward: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> Any:
        self._running, self._thread = layer, get_ident()
        try:
            return forward(*args, **kwargs)
        finally:
            self._running = None


class AttentionTap:
    """Captures the attention inputs of the selected layers while they run.

    Args:
        watch: Tracks the selected layers.
        takes: One callback per picture, called with each layer's attention inputs in order.
        latent_size: (h, w); required for joint attention of text and picture.
        row: Batch row of the first picture; the other pictures follow it.
        stops_early: Whether the pass ends after the last selected layer.
    """

    def __init__(
        self,
        watch: LayerWatch,
        takes: Sequence[Take],
        latent_size: tuple[int, int] | None = None,
        row: int = LAST_ROW,
        *,
        stops_early: bool = False,
    ) -> None:
        self._watch = watch
        self._takes = takes
        self._latent_size = latent_size
        self._row = row
        self._stops_early = stops_early
        self._count = 0
        self._is_repeating = False
        self._waiting: list[tuple[AttentionLayer, _AttentionCall, torch.Tensor]] = []
        self._waiting_bytes = 0
        self._sums_by_size: dict[tuple[torch.Size, ...], bool] = {}

    @contextmanager
    def on_duty(self) -> Iterator[None]:
        """Capture attention calls inside the block."""
        with (
            ONE_PASS_AT_A_TIME,
            self._watch.on_duty(),
            patched_attribute(functional, "scaled_dot_product_attention", self._attend),
        ):
            yield

    def see(self, run: Callable[[], Any]) -> Any:
        """Run one forward pass; return its output, or None if it stopped early.

        Raises:
            BackendError: A layer ran in a way that cannot be captured.
        """
        output = None
        with suppress(_AllSeen):
            output = run()
        self.end_pass()
        return output

    @contextmanager
    def repeating(self, take: Take) -> Iterator[None]:
        """Redirect captures to ``take`` while part of the pass is recomputed."""
        usual, self._takes, self._is_repeating = self._takes, [take], True
        try:
            yield
        finally:
            self._takes, self._is_repeating = usual, False

    def end_pass(self) -> None:
        """Process deferred records and check that every layer was captured.

        Raises:
            BackendError: A layer ran in a way that cannot be captured.
        """
        self._take_waiting()
        if self._count != len(self._watch.layers):
            raise BackendError(
                "The attention of this model cannot be captured.",
                hint="Disable attention slicing, xFormers and FlashAttention.",
            )

    def _attend(self, attend: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Replace ``scaled_dot_product_attention``; calls from other threads pass through."""
        layer = self._watch.claim()
        if layer is None:
            return attend(*args, **kwargs)
        call = _AttentionCall(*args, **kwargs)
        is_alone = layer.text is TextPlace.ALONE and attend is usual_attention  # no other tap
        if is_alone and not self._stops_early and self._returns_sums(call):
            output, sums = call.run_with_sums()
            self._let_wait(layer, call, sums)
            self._count_in()
            return output
        self._take_waiting()
        self._look_at(layer, call)
        self._count_in()
        return attend(*args, **kwargs)

    def _returns_sums(self, call: "_AttentionCall") -> bool:
        """Return whether calls of this size return the sums; cached for the pass."""
        sizes = call.query.shape, call.key.shape
        if sizes not in self._sums_by_size:
            self._sums_by_size[sizes] = call.returns_sums
        return self._sums_by_size[sizes]

    def _let_wait(self, layer: AttentionLayer, call: "_AttentionCall", sums: torch.Tensor) -> None:
        self._waiting.append((layer, call, sums))
        self._waiting_bytes += call.query.nbytes
        if self._waiting_bytes > MOST_WAITING_BYTES:
            self._take_waiting()

    def _take_waiting(self) -> None:
        for layer, call, sums in self._waiting:
            self._look_at(layer, call, sums)
        self._waiting.clear()
        self._waiting_bytes = 0

    def _look_at(
        self, layer: AttentionLayer, call: "_AttentionCall", sums: torch.Tensor | None = None
    ) -> None:
        parts = self._parts(layer)
        for row, take in enumerate(self._takes, start=self._row):
            take(call.seen(layer, row, parts, None if sums is None else sums[row]))

    def _count_in(self) -> None:
        if not self._is_repeating:
            self._count += 1
            if self._stops_early and self._count == len(self._watch.layers):
                raise _AllSeen

    def _parts(self, layer: AttentionLayer) -> tuple[slice, slice] | None:
        """Return the query slice of the picture and the key slice of the text; None for all."""
        if layer.text in (TextPlace.ALONE, TextPlace.NONE):
            return None
        if self._latent_size is None:
            raise ValueError("Joint attention needs the size of the latents.")
        height, width = map_size(*self._latent_size, layer.level)
        positions = height * width
        if layer.text is TextPlace.FIRST:
            return slice(-positions, None), slice(None, -positions)
        filled = -(-positions // layer.picture_multiple) * layer.picture_multiple
        return slice(None, positions), slice(filled, None)


@frozen(eq=False, kw_only=False)
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

    @property
    def returns_sums(self) -> bool:
        """Whether torch would select the fused CPU kernel, which also returns the log-sum-exp."""
        if choose_kernel is None or flash_attention is None:
            return False
        if torch.is_grad_enabled() or self.query.device.type != "cpu":
            return False
        if self.attn_mask is not None or self.dropout_p or self.is_causal or self.enable_gqa:
            return False
        chosen = choose_kernel(self.query, self.key, self.value, scale=self.scale)
        return bool(chosen == SDPBackend.FLASH_ATTENTION.value)

    def run_with_sums(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Run the kernel that torch would select.

        Returns:
            The usual output of torch, and (batch, heads, positions) float32, the logarithms of the
            softmax denominators.
        """
        assert flash_attention is not None
        output, sums = flash_attention(self.query, self.key, self.value, scale=self.scale)
        return output, sums

    def seen(
        self,
        layer: AttentionLayer,
        row: int,
        parts: tuple[slice, slice] | None = None,
        log_sums: torch.Tensor | None = None,
    ) -> LayerAttention:
        """Return the attention inputs of one batch row, from picture to text.

        Args:
            layer: The layer that makes the call.
            row: Batch row.
            parts: Slices of the picture's queries and the text's keys; None for all.
            log_sums: Log denominators of this row, if known.
        """
        query, key = self.query[row], self.key[row]
        mask = None if self.attn_mask is None else self._additive_mask(row)
        if parts is not None:
            pictured, text = parts
            query, key = query[:, pictured], key[:, text]
            mask = None if mask is None else mask[:, pictured, text]
        if self.enable_gqa:
            key = key.repeat_interleave(query.shape[0] // key.shape[0], dim=0)
        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        return LayerAttention(layer, query, key, scale, mask, log_sums)

    def _additive_mask(self, row: int) -> torch.Tensor:
        assert self.attn_mask is not None
        sides = (self.query.shape[-2], self.key.shape[-2])
        own = self.attn_mask.expand(*self.query.shape[:-2], *self.attn_mask.shape[-2:])[row]
        if own.dtype is torch.bool:
            own = torch.zeros_like(own, dtype=torch.float32).masked_fill(~own, -torch.inf)
        return own.float().expand(-1, *sides)
