"""Lets something stand in for a method of one object for a while."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def wrapped(owner: Any, method: str, wrapper: Callable[..., Any]) -> Iterator[None]:
    """Let ``wrapper(original, ...)`` stand in for a method of one object; undone on errors too."""
    original = getattr(owner, method)
    was_wrapped = method in vars(owner)
    setattr(owner, method, functools.wraps(original)(functools.partial(wrapper, original)))
    try:
        yield
    finally:
        if was_wrapped:
            setattr(owner, method, original)
        else:
            delattr(owner, method)
