"""Registries of built-in and plugin values by unique id."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pkgutil import iter_modules
from typing import Generic, Protocol, TypeVar

from spatialstudio.domain.errors import PluginError, StudioError, failures_named


class Registration(Protocol):
    """A value that can be registered."""

    @property
    def id(self) -> str:
        """Stable name in files and in the terminal."""


T = TypeVar("T", bound=Registration)
Constant = TypeVar("Constant")


class Registrations(Generic[T]):
    """The registered values of one kind, in display order.

    Args:
        kind: Singular noun for messages: "metric".
        values: The built-in values; an iterator is consumed on first use.
        order: Sort key; values with equal keys stay in the order of registration.

    Attributes:
        version: Incremented when a value is added or removed; a cache key for derived data.
    """

    def __init__(
        self, kind: str, values: Iterable[T] = (), order: Callable[[T], int] | None = None
    ) -> None:
        self._kind = kind
        self._order = order
        self._unread: Iterable[T] = values
        self._registered: dict[str, T] = {}
        self._plugins: dict[str, str] = {}
        self.version = 0
        if not isinstance(values, Iterator):
            self._read()

    def register(self, value: T, plugin: str = "") -> None:
        """Add a value.

        Args:
            value: The value.
            plugin: Name of the plugin that it comes from; empty for a built-in value.

        Raises:
            PluginError: The id is taken.
        """
        if value.id in self._by_id:
            raise PluginError(
                f'The {self._kind} "{value.id}" is registered twice.',
                hint=f"Give the plugin's {self._kind} another id.",
            )
        self._by_id[value.id] = value
        if plugin:
            self._plugins[value.id] = plugin
        self.version += 1

    def plugin_of(self, value_id: str) -> str:
        """Return the name of the plugin that registered a value; empty for built-in values."""
        return self._plugins.get(value_id, "")

    def label(self, value_id: str) -> str:
        """Return a value's name for messages: 'metric "x" of the plugin "Y"'."""
        plugin = self.plugin_of(value_id)
        return f'{self._kind} "{value_id}"' + (f' of the plugin "{plugin}"' if plugin else "")

    def failures_named(
        self, value_id: str, kind: type[StudioError] = PluginError
    ) -> AbstractContextManager[None]:
        """Return a context that names a plugin's value in errors; see ``errors.failures_named``."""
        if not self.plugin_of(value_id):
            return nullcontext()
        return failures_named(f"The {self.label(value_id)}", kind=kind)

    def unregister(self, value_id: str) -> None:
        """Remove a value, for example when its plugin is disabled."""
        del self._by_id[value_id]
        self._plugins.pop(value_id, None)
        self.version += 1

    def __getitem__(self, value_id: str) -> T:
        try:
            return self._by_id[value_id]
        except KeyError:
            raise PluginError(
                f'The {self._kind} "{value_id}" is not known.',
                hint=f"Available: {', '.join(each.id for each in self)}.",
            ) from None

    def __contains__(self, value_id: object) -> bool:
        return value_id in self._by_id

    def __iter__(self) -> Iterator[T]:
        values = self._by_id.values()
        return iter(values if self._order is None else sorted(values, key=self._order))

    def __len__(self) -> int:
        return len(self._by_id)

    @property
    def _by_id(self) -> dict[str, T]:
        if self._unread:
            self._read()
        return self._registered

    def _read(self) -> None:
        values, self._unread = self._unread, ()
        for value in values:
            self.register(value)


def constants_in(package: str, name: str, of: type[Constant]) -> Iterator[Constant]:
    """Import the modules of a package, and yield the constant of the given name from each.

    Raises:
        TypeError: A module's constant has another type.
    """
    folder = import_module(package)
    for module in iter_modules(folder.__path__, f"{package}."):
        value = getattr(import_module(module.name), name)
        if not isinstance(value, of):
            raise TypeError(f"{module.name}.{name} is not a {of.__name__}.")
        yield value
