"""Singulars of plurals whose ending leaves a doubt, by inflect."""

from functools import cache, lru_cache
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import inflect

REMEMBERED = 4096

_asking = Lock()
"""Two threads that import at once would each put back the other's stand-in for the checks."""


@lru_cache(REMEMBERED)
def singular_of(plural: str) -> str:
    """Return the singular of an English plural; a word that is none comes back as it is.

    May be called from any thread.
    """
    with _asking:
        singular = _inflection().singular_noun(plural)
    return str(singular) if singular else plural


@cache
def _inflection() -> "inflect.engine":
    """Import inflect without its checks of types at run time: they take it two seconds to weave."""
    import typeguard

    checked = typeguard.typechecked
    typeguard.typechecked = lambda function: function  # type: ignore[assignment]
    try:
        import inflect
    finally:
        typeguard.typechecked = checked
    return inflect.engine()
