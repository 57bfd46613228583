"""A call that a pipeline makes of its denoiser, taken apart and put together again.

Pipelines differ in how they ask for the two predictions of classifier-free guidance: both in one
call, the prompt's half second or first, or in two calls, the prompt's first.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, TypeAlias

import torch

from spatialstudio.domain.frozen import frozen

Arguments: TypeAlias = Mapping[str, Any]

SAMPLE = "hidden_states"
"""What the sample is called where it is not the first positional argument."""


class BatchOrder(Enum):
    """How both predictions of classifier-free guidance are asked for.

    Attributes:
        PROMPT_LAST: One call; the prompt's half stands second.
        PROMPT_FIRST: One call; the prompt's half stands first.
        APART: Two calls, the prompt's first.
    """

    PROMPT_LAST = "prompt last"
    PROMPT_FIRST = "prompt first"
    APART = "apart"


def size_of_sample(sample: torch.Tensor, _arguments: Arguments) -> tuple[int, int]:
    """Return the (h, w) of latents that come as a picture, (..., h, w)."""
    return sample.shape[-2], sample.shape[-1]


@frozen
class CallLayout:
    """How a pipeline calls its denoiser.

    Attributes:
        order: How both predictions are asked for.
        latent_size: Gives the (h, w) of the latents from the sample and the named arguments.
        pictures: How many are drawn at once.
    """

    order: BatchOrder = BatchOrder.PROMPT_LAST
    latent_size: Callable[[torch.Tensor, Arguments], tuple[int, int]] = size_of_sample
    pictures: int = 1


@frozen(eq=False, kw_only=False)
class DenoiserCall:
    """One call. Stays on the thread of the model.

    Attributes:
        layout: How the pipeline calls.
        args: As given; the sample is the first of them, or ``hidden_states`` among the named.
        kwargs: As given.
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
        """The (h, w) of the latents, whatever their layout."""
        return self.layout.latent_size(self.sample, self.kwargs)

    @property
    def first_row(self) -> int:
        """The row of the first picture that runs with the prompt."""
        rows = self.sample.shape[0]
        return rows - self.layout.pictures if self._prompt_is_last else 0

    def run(self, forward: Callable[..., Any]) -> Any:
        """Make the call."""
        return forward(*self.args, **self.kwargs)

    def of_picture(self, index: int) -> "DenoiserCall":
        """Return the call for one picture alone, with the prompt."""
        rows, row = self.sample.shape[0], self.first_row + index
        if rows == 1:
            return self
        only = slice(row, row + 1)
        layout = replace(self.layout, pictures=1)
        return DenoiserCall(layout, _rows(self.args, rows, only), _rows(self.kwargs, rows, only))

    def without_prompt(self) -> "DenoiserCall | None":
        """Return the call for the half without the prompt; None when it is not in this call."""
        rows, count = self.sample.shape[0], self.layout.pictures
        if rows == count:
            return None
        other = slice(0, -count) if self._prompt_is_last else slice(count, None)
        return DenoiserCall(
            self.layout, _rows(self.args, rows, other), _rows(self.kwargs, rows, other)
        )

    def joined(self, with_prompt: Sequence[Any], without: Any) -> Any:
        """Put the outputs of parts together, as if the whole call had been made.

        Args:
            with_prompt: Outputs of ``of_picture``, in order.
            without: Output of ``without_prompt``; None when there is no such half.
        """
        halves = [*with_prompt] if without is None else [without, *with_prompt]
        if without is not None and not self._prompt_is_last:
            halves = [*with_prompt, without]
        parts = [half[0] for half in halves]
        if isinstance(parts[0], list):
            return ([one for part in parts for one in part],)
        return (torch.cat(parts),)

    def with_sample(self, sample: torch.Tensor) -> "DenoiserCall":
        """Return the call with another input, (rows, ...)."""
        given = self.args[0] if self.args else self.kwargs[SAMPLE]
        new = list(sample.unbind(0)) if isinstance(given, list) else sample
        if self.args:
            return DenoiserCall(self.layout, (new, *self.args[1:]), self.kwargs)
        return DenoiserCall(self.layout, (), self.kwargs | {SAMPLE: new})

    def moved(self, shift: torch.Tensor) -> "DenoiserCall":
        """Return the call with every picture's input moved.

        Args:
            shift: (pictures, ...) taken off the input, in both halves alike.
        """
        sample = self.sample
        halves = sample.shape[0] // shift.shape[0]
        return self.with_sample(sample - torch.cat([shift] * halves).to(sample.dtype))

    @property
    def _prompt_is_last(self) -> bool:
        return self.layout.order is BatchOrder.PROMPT_LAST


def _rows(value: Any, rows: int, wanted: slice) -> Any:
    """Take some rows of everything in a call's arguments that has ``rows`` of them."""
    match value:
        case torch.Tensor() if value.ndim > 0 and value.shape[0] == rows:
            return value[wanted]
        case list() if len(value) == rows:
            return value[wanted]
        case tuple():
            return tuple(_rows(part, rows, wanted) for part in value)
        case dict():
            return {name: _rows(part, rows, wanted) for name, part in value.items()}
        case _:
            return value
