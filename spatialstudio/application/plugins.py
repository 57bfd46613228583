"""Discovery and registration of plugins; an invalid plugin is disabled with a reason.

Plugins are loaded once per process, before any registry is read: in the window, in the terminal and
in the engine process.
"""

import logging
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Protocol

from spatialstudio.application.evaluate.metrics import METRICS
from spatialstudio.application.paths import StudioPaths
from spatialstudio.application.registry import (
    EXPORT_KINDS,
    Registry,
    built_in_entries,
)
from spatialstudio.domain.errors import PluginError, SettingsError, cause_of
from spatialstudio.domain.export import ExportKind
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.metric import PICTURE_VALUES, RESERVED_NAMES, Metric
from spatialstudio.domain.ports import AdapterEntry, Surroundings
from spatialstudio.domain.registrations import Registrations
from spatialstudio.domain.scene import RelationType, relation_types
from spatialstudio.plugin_api import ADAPTER_KINDS, API_VERSION, PanelEntry, Plugin
from spatialstudio.science.guidance.method import GuidanceMethod
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS

if TYPE_CHECKING:
    from importlib.metadata import Distribution

log = logging.getLogger(__name__)

GROUP = "spatialstudio.adapters"
PACKAGE_FOLDERS = ("site-packages", "dist-packages")
SWITCH, OFF = "SPATIALSTUDIO_PLUGINS", "off"
OFF_FILE = "plugins-off"
"""Environment variable, and file among the settings, that turn all plugins off."""
METRIC_NOUN = "metric"
METADATA_FOLDERS = (".dist-info", ".egg-info")
ID = re.compile(r"[a-z0-9][a-z0-9._-]*")
REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


@frozen(eq=False)
class Part:
    """One field of ``Plugin``.

    Attributes:
        field: Name of the field.
        kind: Class of its values.
        noun: Name of one value in messages; empty if the value's ``kind`` names it.
        registrations: Where its values are registered; None if they are read from ``Plugins``.
    """

    field: str
    kind: type
    noun: str = ""
    registrations: Registrations[Any] | None = None

    def values(self, plugin: Plugin) -> tuple[Any, ...]:
        """Return the plugin's values of this field."""
        values: tuple[Any, ...] = getattr(plugin, self.field)
        return values

    def ids(self, plugin: Plugin) -> Iterator[tuple[str, str]]:
        """Yield the noun and id of each value."""
        yield from ((self.noun or each.kind, each.id) for each in self.values(plugin))


PARTS = (
    Part(
        field="relation_types",
        kind=RelationType,
        noun="relation type",
        registrations=relation_types,
    ),
    Part(
        field="guidance_methods",
        kind=GuidanceMethod,
        noun="guidance method",
        registrations=GUIDANCE_METHODS,
    ),
    Part(field="metrics", kind=Metric, noun=METRIC_NOUN, registrations=METRICS),
    Part(field="export_kinds", kind=ExportKind, noun="export kind", registrations=EXPORT_KINDS),
    Part(field="adapters", kind=AdapterEntry),
    Part(field="panels", kind=PanelEntry, noun="panel"),
)


class EntryPoint(Protocol):
    """An entry point of an installed package; see ``importlib.metadata.EntryPoint``."""

    @property
    def name(self) -> str:
        """The name of the entry point."""

    @property
    def dist(self) -> "Distribution | None":
        """The distribution that declares it."""

    def load(self) -> object:
        """Import and return the object."""


@frozen(eq=False)
class LoadedPlugin:
    """A plugin in use.

    Attributes:
        plugin: The plugin's registrations.
        version: Version of its package.
    """

    plugin: Plugin
    version: str

    @property
    def name(self) -> str:
        """Display name."""
        return self.plugin.name

    @property
    def additions(self) -> tuple[str, ...]:
        """Descriptions of its registrations: 'relation type "directly_above"'."""
        return tuple(f'{kind} "{entry_id}"' for kind, entry_id in _ids_of(self.plugin))


@frozen
class DisabledPlugin:
    """A plugin that is not registered.

    Attributes:
        name: Name of the plugin, or of its entry point if loading failed.
        version: Version of its package.
        reason: Why it is disabled, as a sentence for the user.
    """

    name: str
    version: str
    reason: str


@frozen(eq=False)
class Plugins:
    """The plugins of this installation, in load order.

    Attributes:
        loaded: Plugins in use.
        disabled: Plugins not in use, with their reasons.
        switched_off_by: What turned all plugins off; empty if they are on.
    """

    loaded: tuple[LoadedPlugin, ...] = ()
    disabled: tuple[DisabledPlugin, ...] = ()
    switched_off_by: str = ""

    @property
    def adapters(self) -> tuple[AdapterEntry, ...]:
        """The adapters of all loaded plugins, with the plugin's name."""
        return tuple(
            replace(entry, plugin=each.name)
            for each in self.loaded
            for entry in each.plugin.adapters
        )

    def adapter_ids(self, kind: str) -> tuple[str, ...]:
        """Return the ids of the plugins' adapters of one kind."""
        return tuple(entry.id for entry in self.adapters if entry.kind == kind)

    @property
    def panels(self) -> tuple[PanelEntry, ...]:
        """The panels of all loaded plugins."""
        return tuple(entry for each in self.loaded for entry in each.plugin.panels)


def installed_plugins() -> Plugins:
    """Load the plugins of this installation on the first call and return them."""
    with _LOADING:
        return _installed_plugins()


_LOADING = RLock()


@cache
def _installed_plugins() -> Plugins:
    if switch := plugins_switched_off_by(StudioPaths.usual().settings):
        return Plugins(switched_off_by=switch)
    folders = search_folders(sys.path)
    return load_plugins(entry_points_in(folders)) if is_group_announced(folders) else Plugins()


def plugins_switched_off_by(settings: Path) -> str:
    """Return what turns plugins off, an environment variable or the settings; empty if nothing.

    Args:
        settings: The folder of the user's settings.
    """
    if are_plugins_off_in_environment():
        return f"{SWITCH}={OFF}"
    return "the settings" if (settings / OFF_FILE).exists() else ""


def are_plugins_off_in_environment() -> bool:
    """Return True if an environment variable turns plugins off."""
    return os.environ.get(SWITCH, "").strip().lower() == OFF


def switch_plugins(settings: Path, *, on: bool) -> None:
    """Turn all plugins on or off from the next start of the program.

    Raises:
        SettingsError: The settings folder is not writable.
    """
    try:
        if on:
            (settings / OFF_FILE).unlink(missing_ok=True)
        else:
            settings.mkdir(parents=True, exist_ok=True)
            (settings / OFF_FILE).touch()
    except OSError as error:
        raise SettingsError(
            "The setting cannot be written.", hint="Check the permissions of the settings folder."
        ) from error


def search_folders(entries: Iterable[str]) -> tuple[str, ...]:
    """Return the folders in which plugins are searched: without the current folder.

    A package that lies in a folder of downloaded files must not run code. A current folder in
    which Python installs packages is searched.

    Args:
        entries: Search path of modules.
    """
    current = os.path.realpath(os.curdir)
    return tuple(
        each
        for each in entries
        if Path(each).name in PACKAGE_FOLDERS or (each and os.path.realpath(each) != current)
    )


def entry_points_in(folders: Sequence[str]) -> Iterator[EntryPoint]:
    """Yield the plugins' entry points, of the first package of each name.

    A package without a name is not installed completely and is left out.
    """
    from importlib import metadata  # slower to import than the folder search

    seen = set[str]()
    for package in metadata.distributions(path=list(folders)):
        name = re.sub(r"[-_.]+", "-", _package_name(package)).lower()
        if name and name not in seen:
            seen.add(name)
            yield from package.entry_points.select(group=GROUP)


def _package_name(package: "Distribution") -> str:
    """Return the name of a package, empty without one.

    The package importlib_metadata, which diffusers imports, also searches for packages once it is
    imported, and raises an error where the standard library returns no name.
    """
    try:
        return package.name or ""
    except FileNotFoundError:
        return ""


def is_group_announced(folders: Iterable[str]) -> bool:
    """Return True if a package installed in one of these folders may declare a plugin."""
    for folder in folders:
        try:
            with os.scandir(folder or ".") as entries:
                names = [each.path for each in entries if each.name.endswith(METADATA_FOLDERS)]
        except OSError:  # an archive, or deleted
            continue
        for name in names:
            with suppress(OSError):
                if GROUP.encode() in Path(name, "entry_points.txt").read_bytes():
                    return True
    return False


def open_registry(surroundings: Surroundings, in_use: Sequence[str] = ()) -> Registry:
    """Return the registry of built-in and plugin adapters, without importing any adapter.

    Args:
        surroundings: Paths and settings for the adapters.
        in_use: Names of the plugins that are in use in the studio.
    """
    entries = (*built_in_entries(), *installed_plugins().adapters)
    return Registry(entries, surroundings, missing_plugins(in_use))


def missing_plugins(in_use: Sequence[str]) -> str:
    """Return sentences on the plugins that cannot be used in this process; empty without any."""
    here = installed_plugins()
    loaded = {each.name for each in here.loaded}
    missing = [name for name in in_use if name not in loaded]
    if not missing:
        return ""
    names = ", ".join(f'"{name}"' for name in missing)
    # NOTE: a plugin that cannot be imported is listed by its entry point, not by its name
    reasons = [f"{each.name}: {each.reason}" for each in here.disabled]
    return " ".join([f"In the engine process, these plugins are disabled: {names}.", *reasons])


def adapter_ids(kind: str) -> tuple[str, ...]:
    """Return the ids of all adapters of one kind, built-in ones first."""
    built_in = (entry.id for entry in built_in_entries() if entry.kind == kind)
    return (*built_in, *installed_plugins().adapter_ids(kind))


def load_plugins(entry_points: Iterable[EntryPoint]) -> Plugins:
    """Import plugins and register their contents.

    A plugin that fails is disabled and fully unregistered; other plugins are not affected.
    """
    loaded: list[LoadedPlugin] = []
    disabled: list[DisabledPlugin] = []
    for entry_point in sorted(entry_points, key=lambda each: (_package(each), each.name)):
        version = (entry_point.dist.version or "") if entry_point.dist else ""
        name = entry_point.name
        try:
            plugin = _imported(entry_point)
            name = plugin.name
            _accept(plugin, [each.plugin for each in loaded])
        except PluginError as error:
            log.info("A plugin is disabled.")
            disabled.append(DisabledPlugin(name=name, version=version, reason=error.message))
        else:
            loaded.append(LoadedPlugin(plugin=plugin, version=version))
    return Plugins(loaded=tuple(loaded), disabled=tuple(disabled))


def unregister(plugin: Plugin) -> None:
    """Remove all registrations of a loaded plugin."""
    for registrations, value in _registered_by(plugin):
        registrations.unregister(value.id)


def _package(entry_point: EntryPoint) -> str:
    return (entry_point.dist.name or "") if entry_point.dist else ""


def _imported(entry_point: EntryPoint) -> Plugin:
    """Import the object of an entry point.

    Raises:
        PluginError: The import fails, or the object is not a ``Plugin``.
    """
    try:
        plugin = entry_point.load()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # plugin code may even call sys.exit()
        raise PluginError(f"It cannot be imported: {cause_of(error)}.") from error
    if not isinstance(plugin, Plugin):
        raise PluginError(f"Its entry point is a {type(plugin).__name__}, not a Plugin.")
    return plugin


def _accept(plugin: Plugin, others: Sequence[Plugin]) -> None:
    """Validate and register a plugin.

    Raises:
        PluginError: It is invalid, an id is in use, or a value has an unexpected type.
    """
    try:
        _check(plugin, others)
        _register(plugin)
    except PluginError:
        raise
    except Exception as error:  # such as an id that is a number
        raise PluginError(f"It is invalid: {cause_of(error)}.") from error


def _check(plugin: Plugin, others: Sequence[Plugin]) -> None:
    """Validate API version, types, names, ids and references.

    Raises:
        PluginError: A value is invalid, or an id is already in use.
    """
    if plugin.api_version != API_VERSION:
        raise PluginError(
            f"It is written for version {plugin.api_version} of the plugin API; "
            f"this program has version {API_VERSION}."
        )
    for part in PARTS:
        values: object = getattr(plugin, part.field)
        if not isinstance(values, tuple) or not all(isinstance(v, part.kind) for v in values):
            raise PluginError(f"Its {part.field} are not a tuple of {part.kind.__name__} values.")
    if not isinstance(plugin.name, str) or not plugin.name.strip():
        raise PluginError("It has no name.")
    if any(other.name == plugin.name for other in others):
        raise PluginError("Another plugin has the same name.")
    for kind in {entry.kind for entry in plugin.adapters} - set(ADAPTER_KINDS):
        raise PluginError(f'A plugin cannot add adapters of the kind "{kind}".')
    _check_ids(plugin, others)


def _check_ids(plugin: Plugin, others: Sequence[Plugin]) -> None:
    for make in [*(each.make for each in plugin.adapters), *(each.make for each in plugin.panels)]:
        if not REFERENCE.fullmatch(make):
            raise PluginError(f'"{make}" does not name a module and a function or class.')
    taken = {(entry.kind, entry.id) for entry in built_in_entries()}
    taken.update(each for other in others for each in _ids_of(other))
    for kind, entry_id in _ids_of(plugin):
        if not ID.fullmatch(entry_id):
            raise PluginError(f'The {kind} cannot have the id "{entry_id}".')
        if kind == METRIC_NOUN and entry_id in RESERVED_NAMES | PICTURE_VALUES:
            raise PluginError(f'The metric "{entry_id}" has the name of another value in results.')
        if (kind, entry_id) in taken:
            raise PluginError(f'The {kind} "{entry_id}" is registered twice.')
        taken.add((kind, entry_id))


def _register(plugin: Plugin) -> None:
    """Register all values of a plugin, or none.

    Raises:
        PluginError: An id or phrase is in use, or the inverse of a relation type is not registered.
    """
    done: list[tuple[Registrations[Any], str]] = []
    try:
        for registrations, value in _registered_by(plugin):
            registrations.register(value, plugin.name)
            done.append((registrations, value.id))
        for relation_type in plugin.relation_types:
            relation_types.inverse(relation_type)
            _check_phrases(relation_type)
    except BaseException:
        for registrations, value_id in done:
            registrations.unregister(value_id)
        raise


def _check_phrases(relation_type: RelationType) -> None:
    own = {_plain_phrase(each) for each in relation_type.phrases}
    for other in relation_types:
        shared = own & {_plain_phrase(each) for each in other.phrases}
        if shared and other.id != relation_type.id:
            raise PluginError(
                f'The phrase "{min(shared)}" of the relation type "{relation_type.id}" is '
                f'registered for "{other.id}".'
            )


def _plain_phrase(phrase: str) -> str:
    return " ".join(phrase.lower().replace("-", " ").split())


def _registered_by(plugin: Plugin) -> Iterator[tuple[Registrations[Any], Any]]:
    for part in PARTS:
        if part.registrations is not None:
            yield from ((part.registrations, value) for value in part.values(plugin))


def _ids_of(plugin: Plugin) -> Iterator[tuple[str, str]]:
    for part in PARTS:
        yield from part.ids(plugin)
