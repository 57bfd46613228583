"""Registries hold each id once, in the order that the values state."""

from dataclasses import dataclass

import pytest

from spatialstudio.application.registry import EXPORT_KINDS
from spatialstudio.domain.errors import PluginError
from spatialstudio.domain.registrations import Registrations

OFFERED = (
    *(
        "annotated",
        "attention",
        "storyboard",
        "curves",
        "graph",
        "sweep",
        "study",
        "figure",
        "film",
        "picture",
    ),
    *("clean", "table", "masks", "arrays", "numbers", "settings", "data"),
    *("bundle", "bundle-layers", "report"),
)


@dataclass(frozen=True)
class Part:
    id: str
    order: int = 1


def registry(*found):
    return Registrations("part", found, lambda part: part.order)


def test_values_are_sorted_by_order_then_by_registration():
    parts = registry(Part("last", 2), Part("a"))
    parts.register(Part("b"))
    parts.register(Part("first", 0))
    assert [part.id for part in parts] == ["first", "a", "b", "last"]


def test_an_id_is_registered_once():
    parts = registry(Part("a"))
    with pytest.raises(PluginError, match='The part "a" is registered twice'):
        parts.register(Part("a"))


def test_an_unknown_id_lists_the_known_ones():
    with pytest.raises(PluginError, match='The part "c" is not known') as caught:
        registry(Part("a"), Part("b"))["c"]
    assert "a, b" in caught.value.hint


def test_a_removed_registration_is_gone():
    parts = registry(Part("a"))
    parts.unregister("a")
    assert "a" not in parts


def test_the_export_kinds_are_listed_from_the_folder_in_dialog_order():
    assert tuple(kind.id for kind in EXPORT_KINDS) == OFFERED
