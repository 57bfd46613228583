"""Reads a word of a few that an option takes; a slip is answered by naming them."""

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable
from enum import Enum
from typing import TypeVar

E = TypeVar("E", bound=Enum)


def one_of(kinds: type[E]) -> Callable[[str], E]:
    """Return what reads the value of an option, for argparse's ``type``.

    Args:
        kinds: Their values are the words that can be typed.
    """

    def read(text: str) -> E:
        try:
            return kinds(text)
        except ValueError as error:
            raise ArgumentTypeError(f'"{text}" is none of {words_of(kinds)}') from error

    return read


def words_of(kinds: Iterable[Enum]) -> str:
    """Name what can be typed; in quotes what the terminal would take for several words."""
    words = (str(kind.value) for kind in kinds)
    return ", ".join(f'"{word}"' if " " in word else word for word in words)
