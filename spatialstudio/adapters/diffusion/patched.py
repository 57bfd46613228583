"""Temporary replacement of a method on a single object."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any


@contextmanager
def patched_attribute(owner: Any, method: str, wrapper: Callable[..., Any]) -> Iterator[None]:
    """Replace a method of one object by ``wrapper(original, ...)``; restored even on errors.

    The replacement reports the signature of the original.
    """
    original = getattr(owner, method)
    was_overridden = method in vars(owner)
    stand_in = partial(wrapper, original)
    stand_in.__wrapped__ = original  # type: ignore[attr-defined]
    setattr(owner, method, stand_in)
    try:
        yield
    finally:
        if was_overridden:
            setattr(owner, method, original)
        else:
            delattr(owner, method)
