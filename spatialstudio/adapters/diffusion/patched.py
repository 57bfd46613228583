"""Lets something stand in for a method of one object for a while."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any


@contextmanager
def patched_attribute(owner: Any, method: str, wrapper: Callable[..., Any]) -> Iterator[None]:
    """Let ``wrapper(original, ...)`` stand in for a method of one object; undone on errors too.

    Who asks for the signature is told the original's.
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
