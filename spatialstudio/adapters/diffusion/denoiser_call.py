"""One denoiser call of a pipeline, split into its parts and reassembled.

Pipelines differ in how they batch the two predictions of classifier-free guidance: in one call with
the conditional half second or first, or in two calls with the conditional one first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, TypeAlias

import torch

from spatialstudio.domain.frozen import frozen

Arguments: TypeAlias = Mapping[str, Any]

SAMPLE = "hidden_states"
"""Keyword of the sample where it is not the first positional argument."""


class BatchOrder(Enum):
    """How a pipeline batches both predictions of classifier-free guidance.

    Attributes:
        PROMPT_LAST: One call; the conditional half comes second.
        PROMPT_FIRST: One call; the conditional half comes first.
        APART: Two calls; the conditional one comes first.
    """

    PROMPT_LAST = "prompt last"
    PROMPT_FIRST = "prompt first"
    APART = "apart"


def size_of_sample(sample: torch.Tensor, _arguments: Arguments) -> tuple[int, int]:
    """Return the (h, w) of latents in image layout, (..., h, w)."""
    return sample.shape[-2], sample.shape[-1]


@frozen
class CallLayout:
    """How a pipeline calls its denoiser.

    Attributes:
        order: How both predictions are batched.
        latent_size: Returns the (h, w) of the latents from the sample and the keyword arguments.
        pictures: Number of pictures per call.
    """

    order: BatchOrder = BatchOrder.PROMPT_LAST
    latent_size: Callable[[torch.Tensor, Arguments], tuple[int, int]] = size_of_sample
    pictures: int = 1


@frozen(eq=False, kw_only=False)
class DenoiserCall:
    """One denoiser call. Not thread-safe: use on the model's thread.

    Attributes:
        layout: How the pipeline calls the denoiser.
        args: Positional arguments; the first is the sample, unless passed as ``hidden_states``.
        kwargs: Keyword arguments.
    """

    layout: CallLayout
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    @property
    def sample(self) -> torch.Tensor:
        """The denoiser's input, (rows, ...)."""
        given = self.args[0] if self.args else self.kwargs[SAMPLE]
        return torch.stack(given) if isinstance(given, list) else given

    @property
    def latent_size(self) -> tuple[int, int]:
        """The (h, w) of the latents in any layout."""
        return self.layout.latent_size(self.sample, self.kwargs)

    @property
    def first_row(self) -> int:
        """The batch row of the first conditional picture."""
        rows = self.sample.shape[0]
        return rows - self.layout.pictures if self._prompt_is_last else 0

    def run(self, forward: Callable[..., Any]) -> Any:
        """Call ``forward`` with the arguments of this call."""
        return forward(*self.args, **self.kwargs)

    def of_picture(self, index: int) -> "DenoiserCall":
        """Return the conditional call for a single picture."""
        rows, row = self.sample.shape[0], self.first_row + index
        if rows == 1:
            return self
        only = slice(row, row + 1)
        layout = replace(self.layout, pictures=1)
        return DenoiserCall(layout, _rows(self.args, rows, only), _rows(self.kwargs, rows, only))

    def of_pictures(self, start: int, stop: int) -> "DenoiserCall":
        """Return the call for some of the pictures only, with both halves if it has both."""
        rows, pictures = self.sample.shape[0], self.layout.pictures
        wanted = [half + row for half in range(0, rows, pictures) for row in range(start, stop)]
        args, kwargs = (_rows(given, rows, wanted) for given in (self.args, self.kwargs))
        return DenoiserCall(replace(self.layout, pictures=stop - start), args, kwargs)

    def parts(self, most: int) -> "list[tuple[int, DenoiserCall]]":
        """Split the call into calls for few pictures, each with the number of its first one.

        Args:
            most: Maximum number of pictures of a part, >= 1.
        """
        count = self.layout.pictures
        if count <= most:
            return [(0, self)]
        starts = range(0, count, most)
        return [(start, self.of_pictures(start, min(start + most, count))) for start in starts]

    def merged(self, outputs: Sequence[Any]) -> Any:
        """Join the outputs of ``parts``, in order."""
        if len(outputs) == 1:
            return outputs[0]
        halves = self.sample.shape[0] // self.layout.pictures
        given = [output[0] for output in outputs]
        pieces = [
            part[half * (len(part) // halves) : (half + 1) * (len(part) // halves)]
            for half in range(halves)
            for part in given
        ]
        if isinstance(given[0], list):
            return ([one for piece in pieces for one in piece],)
        return (torch.cat(pieces),)

    def without_prompt(self) -> "DenoiserCall | None":
        """Return the call for the unconditional half; None if this call does not contain it."""
        rows, count = self.sample.shape[0], self.layout.pictures
        if rows == count:
            return None
        other = slice(0, -count) if self._prompt_is_last else slice(count, None)
        return DenoiserCall(
            self.layout, _rows(self.args, rows, other), _rows(self.kwargs, rows, other)
        )

    def joined(self, with_prompt: Sequence[Any], without: Any) -> Any:
        """Join the outputs of partial calls into the output of the whole call.

        Args:
            with_prompt: Outputs of ``of_picture``, in order.
            without: Output of ``without_prompt``; None if there is no such half.
        """
        halves = [*with_prompt] if without is None else [without, *with_prompt]
        if without is not None and not self._prompt_is_last:
            halves = [*with_prompt, without]
        parts = [half[0] for half in halves]
        if isinstance(parts[0], list):
            return ([one for part in parts for one in part],)
        return (torch.cat(parts),)

    def spread(self, output: Any, sources: Sequence[int]) -> Any:
        """Repeat the rows of this call's output for the pictures of a larger call.

        Args:
            output: Output of this call.
            sources: For each picture of the larger call, the picture of this one.
        """
        given, pictures = output[0], self.layout.pictures
        rows = [start + source for start in range(0, len(given), pictures) for source in sources]
        return ([given[row] for row in rows] if isinstance(given, list) else given[rows],)

    def with_sample(self, sample: torch.Tensor) -> "DenoiserCall":
        """Return the call with its input replaced, (rows, ...)."""
        given = self.args[0] if self.args else self.kwargs[SAMPLE]
        new = list(sample.unbind(0)) if isinstance(given, list) else sample
        if self.args:
            return DenoiserCall(self.layout, (new, *self.args[1:]), self.kwargs)
        return DenoiserCall(self.layout, (), self.kwargs | {SAMPLE: new})

    def moved(self, shift: torch.Tensor) -> "DenoiserCall":
        """Return the call with the input of every picture shifted.

        Args:
            shift: (pictures, ...) subtracted from the input, in both halves alike.
        """
        sample = self.sample
        halves = sample.shape[0] // shift.shape[0]
        return self.with_sample(sample - torch.cat([shift] * halves).to(sample.dtype))

    @property
    def _prompt_is_last(self) -> bool:
        return self.layout.order is BatchOrder.PROMPT_LAST


def _rows(value: Any, rows: int, wanted: slice | list[int]) -> Any:
    """Take rows of every tensor in a call's arguments that has ``rows`` rows."""
    match value:
        case torch.Tensor() if value.ndim > 0 and value.shape[0] == rows:
            return value[wanted]
        case list() if len(value) == rows:
            return value[wanted] if isinstance(wanted, slice) else [value[row] for row in wanted]
        case tuple():
            return tuple(_rows(part, rows, wanted) for part in value)
        case dict():
            return {name: _rows(part, rows, wanted) for name, part in value.items()}
        case _:
            return value
