"""Limit on model size, so that a configuration cannot exceed its weight files.

Libraries allocate everything that a configuration describes before they compare it with the
weights. Here every parameter is counted when it is registered, which is before its memory is
touched, and loading stops at the first one beyond the size of the files, or at any tensor that is
larger than all of them.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.overrides import TorchFunctionMode

from spatialstudio.adapters.models.model_settings import header_totals

PARTS_OF_A_TENSOR = 4
"""Single files fuse tensors that diffusers splits, such as queries, keys and values."""

SPARE_TENSORS = 1000
SPARE_NUMBERS = 2**23
"""Allowance for parameters that no file holds, and computed tables."""

MAKERS = frozenset({torch.empty, torch.zeros, torch.ones, torch.rand, torch.randn, torch.full})
"""Functions that take a tensor's size as their first arguments."""


class BeyondItsWeights(ValueError):  # noqa: N818 - reads as a finding
    """A configuration describes more parameters than the weight files can hold."""


@contextmanager
def held_to_weights(files: Sequence[Path]) -> Iterator[None]:
    """Limit the models built in this thread to the size of their weight files.

    A stored number takes at least one byte, so files of n bytes hold at most n parameters.

    Args:
        files: Safetensors files; their headers are checked first.

    Raises:
        BeyondItsWeights: A configuration describes more.
        OSError: A file cannot be read, or is not a regular file.
        ValueError, LookupError, TypeError, RecursionError: A header is damaged.
    """
    tensors, size_bytes = header_totals(files)
    most = tensors * PARTS_OF_A_TENSOR + SPARE_TENSORS
    most_numbers = size_bytes + SPARE_NUMBERS
    thread, count, numbers = threading.get_ident(), 0, 0

    def check(module: nn.Module, name: str, parameter: nn.Parameter | None) -> None:
        nonlocal count, numbers
        is_new = getattr(module, name, None) is None
        if parameter is None or not is_new or threading.get_ident() != thread:
            return
        count += 1
        numbers += parameter.numel()
        if count > most or numbers > most_numbers:
            raise BeyondItsWeights(name)

    handle = register_module_parameter_registration_hook(check)
    try:
        with _LimitedSizes(most_numbers):
            yield
    finally:
        handle.remove()


class _LimitedSizes(TorchFunctionMode):
    """Rejects tensors above a number of elements before their allocation, in this thread."""

    def __init__(self, most_numbers: int) -> None:
        super().__init__()
        self._most_numbers = most_numbers

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """Check the size of a tensor before it is created."""
        if func in MAKERS and _numbers_in(args) > self._most_numbers:
            raise BeyondItsWeights(func.__name__)
        return func(*args, **(kwargs or {}))


def _numbers_in(sizes: Sequence[Any]) -> int:
    if sizes and isinstance(sizes[0], Sequence):
        sizes = sizes[0]
    return prod(size for size in sizes if isinstance(size, int))
