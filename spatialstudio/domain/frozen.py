"""A faster decorator for frozen dataclasses with slots.

``dataclass`` compiles up to six methods per class, and start-up defines hundreds of classes. Here
the methods common to all classes are shared, and ``__init__`` is compiled at its first use.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

Kind = TypeVar("Kind")
Method = Callable[..., Any]
INLINE: Mapping[str, bool] = {"inline": True}
"""Field metadata: the fields of the value are stored inline in files."""
SPARSE: Mapping[str, bool] = {"sparse": True}
"""Field metadata: a value that equals the field's default is left out of files."""


@overload
def frozen(kind: type[Kind], /) -> type[Kind]: ...
@overload
def frozen(*, kw_only: bool = True, eq: bool = True) -> Callable[[type[Kind]], type[Kind]]: ...
@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(Field, field))
def frozen(
    kind: type[Any] | None = None, /, *, kw_only: bool = True, eq: bool = True
) -> type[Any] | Callable[[type[Any]], type[Any]]:
    """Convert a class to a frozen dataclass: ``@frozen`` or ``@frozen(...)``.

    Methods defined by the class are preserved. The functions of ``dataclasses`` accept its
    instances; ``InitVar`` and fields with ``compare=False`` or ``init=False`` are not supported.

    Args:
        kind: The class, with annotated fields; it is replaced by a class with slots.
        kw_only: Whether fields are keyword-only.
        eq: Whether instances compare by their fields, else by identity.
    """

    def make(kind: type[Any]) -> type[Any]:
        made = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(kind)
        _give(made, {"__init__": _LazyInit(made), **SHARED, **(_comparison_of(made) if eq else {})})
        return made

    return make if kind is None else make(kind)


def is_inline(each: "Field[Any]") -> bool:
    """Return True if the fields of a field's value are stored inline in files."""
    return bool(each.metadata.get("inline"))


def is_left_out(each: "Field[Any]", value: object) -> bool:
    """Return True if a value is left out of files, as it is the default of a sparse field."""
    return bool(each.metadata.get("sparse")) and value == each.default


def _give(kind: type[Any], methods: Mapping[str, object]) -> None:
    """Add methods to a class that it does not define itself."""
    for name, method in methods.items():
        if vars(kind).get(name) is None:
            setattr(kind, name, method)


class _LazyInit:
    """``__init__`` of a class: the first lookup compiles it and puts it in place.

    Most classes are not used during start-up, and compiling takes as long as creating the class.
    """

    def __init__(self, kind: type[Any]) -> None:
        self._kind = kind

    def __get__(self, instance: object, owner: type[Any] | None = None) -> Method:
        init = _init_of(self._kind)
        type.__setattr__(self._kind, "__init__", init)
        method: Method = init.__get__(instance, owner)
        return method


def _init_of(kind: type[Any]) -> Method:
    """Compile ``__init__``, the only method that differs between classes."""
    names: dict[str, Any] = {
        "__name__": kind.__module__,
        "_MISSING": MISSING,
        "_put": object.__setattr__,
    }
    by_place, by_name, lines = ["self"], ["*"], []
    for each in fields(kind):
        parameter = given = each.name
        if each.default_factory is not MISSING:
            names[f"_make_{each.name}"] = each.default_factory
            parameter = f"{each.name}=_MISSING"
            given = f"_make_{each.name}() if {each.name} is _MISSING else {each.name}"
        elif each.default is not MISSING:
            names[f"_usual_{each.name}"] = each.default
            parameter = f"{each.name}=_usual_{each.name}"
        (by_name if each.kw_only else by_place).append(parameter)
        lines.append(f" _put(self, {each.name!r}, {given})")
    if hasattr(kind, "__post_init__"):
        lines.append(" self.__post_init__()")
    parameters = ", ".join(by_place + (by_name if len(by_name) > 1 else []))
    exec("\n".join([f"def __init__({parameters}):", *(lines or [" pass"])]), names)
    init: Method = names["__init__"]
    init.__qualname__ = f"{kind.__qualname__}.__init__"
    return init


def _comparison_of(kind: type[Any]) -> dict[str, Method]:
    """Return ``__eq__`` and ``__hash__`` over all fields."""
    values = _reader_of([each.name for each in fields(kind)])

    def is_equal(self: object, other: object) -> object:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    def hash_of(self: object) -> int:
        return hash(values(self))

    return {"__eq__": is_equal, "__hash__": hash_of}


def _reader_of(names: list[str]) -> Callable[[object], tuple[Any, ...]]:
    """Return a function that reads several attributes as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda instance: tuple(getattr(instance, name) for name in names)


def _show(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{self.__class__.__qualname__}({', '.join(shown)})"


def _refuse_to_set(_self: object, name: str, _value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in fields(self)]


def _take_state(self: Any, state: list[Any]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


SHARED: Mapping[str, Method] = {
    "__repr__": _show,
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,
    "__setstate__": _take_state,
}
"""Methods shared by all frozen classes; the last two support pickling."""
