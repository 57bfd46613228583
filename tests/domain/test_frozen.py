"""Frozen classes behave as dataclasses that are frozen, have slots and take fields by name."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, fields, is_dataclass, replace
from inspect import isfunction, signature

import pytest

from spatialstudio.domain.frozen import frozen


@frozen
class Place:
    """Where something stands."""

    x: float
    y: float = 0.5
    notes: list[str] = field(default_factory=list)
    raw: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualPlace:
    """The same, as the standard library makes it."""

    x: float
    y: float = 0.5
    notes: list[str] = field(default_factory=list)
    raw: bytes = field(default=b"", repr=False)


@frozen
class NamedPlace(Place):
    """A place that is known by its name."""

    name: str = ""

    def __post_init__(self) -> None:
        """Refuse what cannot be read."""
        if self.name.isspace():
            raise ValueError("no name")


@frozen(kw_only=False)
class Pair:
    """Two numbers in a row."""

    left: int
    right: int


@frozen
class Share:
    """One field, which may be no number."""

    share: float


@frozen(eq=False)
class Handle:
    """Equal to itself alone."""

    number: int


@frozen
class Loud:
    """Says and compares by itself."""

    word: str

    def __repr__(self) -> str:
        return self.word.upper()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Loud) and other.word.lower() == self.word.lower()

    def __hash__(self) -> int:
        return hash(self.word.lower())


def test_fields_defaults_and_repr_equal_a_dataclass():
    ours, usual = Place(x=0.25), UsualPlace(x=0.25)
    assert repr(ours) == repr(usual).replace("UsualPlace", "Place")
    assert (ours.y, ours.notes, ours.raw) == (usual.y, usual.notes, usual.raw)
    assert is_dataclass(ours)
    assert [each.name for each in fields(ours)] == ["x", "y", "notes", "raw"]


def test_each_instance_calls_the_default_factory():
    assert Place(x=0.0).notes is not Place(x=0.0).notes


@pytest.mark.parametrize("given", [{}, {"x": 1.0, "z": 2.0}])
def test_unknown_fields_are_rejected_with_the_class_name(given):
    with pytest.raises(TypeError, match=r"Place\.__init__\(\)"):
        Place(**given)


def test_fields_are_keyword_only_by_default():
    with pytest.raises(TypeError):
        Place(0.25)
    assert Pair(1, right=2) == Pair(1, 2)
    match Pair(1, 2):
        case Pair(left, right):
            assert (left, right) == (1, 2)


def test_init_is_compiled_at_its_first_use_and_shows_its_parameters():
    @frozen
    class Unused:
        """One field."""

        number: int = 3

    assert not isfunction(vars(Unused)["__init__"])
    assert str(signature(Unused)) == "(*, number=3)"
    assert isfunction(vars(Unused)["__init__"])
    assert Unused(number=4).number == 4


def test_instances_are_immutable():
    place = Place(x=0.25)
    with pytest.raises(FrozenInstanceError, match="x"):
        place.x = 0.5
    with pytest.raises(FrozenInstanceError, match="x"):
        del place.x
    with pytest.raises(FrozenInstanceError):
        place.other = 0.5
    assert not hasattr(place, "__dict__")
    assert place.x == 0.25


def test_instances_are_equal_when_class_and_fields_are():
    assert Pair(1, 2) == Pair(1, 2)
    assert hash(Pair(1, 2)) == hash(Pair(1, 2))
    assert Pair(1, 2) != Pair(2, 1)
    assert Place(x=0.25) != UsualPlace(x=0.25)
    assert Place(x=0.25) != NamedPlace(x=0.25)


def test_a_single_field_is_compared_as_a_dataclass_compares_it():
    no_number = float("nan")
    assert Share(share=no_number) == Share(share=no_number)
    assert hash(Share(share=0.5)) == hash(Share(share=0.5))


def test_handles_are_equal_only_to_themselves():
    handle = Handle(number=1)
    assert handle == handle
    assert handle != Handle(number=1)


def test_methods_of_the_class_are_kept():
    assert repr(Loud(word="cat")) == "CAT"
    assert {Loud(word="cat"), Loud(word="Cat")} == {Loud(word="cat")}


def test_a_subclass_adds_its_fields_and_checks():
    named = NamedPlace(x=0.25, name="here")
    assert (named.x, named.name) == (0.25, "here")
    with pytest.raises(ValueError, match="no name"):
        replace(named, name=" ")


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda it: pickle.loads(pickle.dumps(it))]
)
def test_instances_can_be_copied_and_sent(again):
    place = NamedPlace(x=0.25, notes=["left"], name="here")
    assert again(place) == place
    assert type(again(place)) is NamedPlace
