"""Diagnosis of the installation: versions, missing parts and compute devices.

Checks that may crash or are slow to import run in a separate process.
"""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib import metadata

from spatialstudio.application.studio import Studio
from spatialstudio.application.system_libraries import window_obstacle
from spatialstudio.application.torch_builds import (
    cpu_build_warning,
    describe_machine,
    installed_torch,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.search_paths import PACKAGE_PARENT, without_current_folder

LIBRARIES = (
    "torch",
    "diffusers",
    "transformers",
    "accelerate",
    "safetensors",
    "numpy",
    "pillow",
    "lark",
)
WINDOW_LIBRARIES = ("PySide6-Essentials", "pyqtgraph")

TRY_DEVICE = (
    "from spatialstudio.adapters.device import list_devices;"
    "print(*(card.id for card in list_devices()), sep=', ')"
)
FIND_PACKAGE = f"import sys; sys.path.append({PACKAGE_PARENT!r}); "
TRY_WINDOW = "from PySide6.QtWidgets import QApplication; QApplication([]); print('ready')"
WINDOW = "window"
PATIENCE_S = 120.0
MEGABYTE = 1_000_000


@frozen
class Finding:
    """Result of one check.

    Attributes:
        name: Name of the check.
        value: What was found.
        is_problem: Whether it prevents part of the studio from working.
    """

    name: str
    value: str
    is_problem: bool = False


def examine(studio: Studio) -> Iterator[Finding]:
    """Run the checks one by one."""
    yield Finding(name="Spatial Studio", value=app_version())
    yield Finding(name="Python", value=platform.python_version())
    yield Finding(name="system", value=platform.platform())
    for library in (*LIBRARIES, *WINDOW_LIBRARIES):
        yield _installed(library)
    yield _tried("device", TRY_DEVICE)
    yield from _graphics_card()
    yield _tried(WINDOW, TRY_WINDOW)
    for card in studio.models:
        size = f"{card.size_bytes / MEGABYTE:.0f} MB"
        yield Finding(name="model", value=f"{card.id}, {size}, in {card.folder}")
    for damage in studio.model_list.damaged.values():
        yield Finding(name="model", value=damage.message, is_problem=True)
    if not studio.models:
        yield Finding(name="model", value="none found", is_problem=True)
    for found in studio.perception_models:
        size = f"{found.size_bytes / MEGABYTE:.0f} MB"
        name = " ".join(part for part in (found.ref.id, found.ref.revision) if part)
        yield Finding(name=found.role.value, value=f"{name}, {size}, in {found.folder}")
    for damage in studio.damaged_perception_models.values():
        yield Finding(name="judge", value=damage.message, is_problem=True)
    if switch := studio.plugins.switched_off_by:
        yield Finding(name="plugins", value=f"turned off by {switch}")
    for plugin in studio.plugins.loaded:
        additions = ", ".join(plugin.additions) or "no extensions"
        yield Finding(name="plugin", value=f"{plugin.name} {plugin.version}: {additions}")
    for disabled in studio.plugins.disabled:
        value = f"{disabled.name} {disabled.version} is disabled. {disabled.reason}"
        yield Finding(name="plugin", value=value, is_problem=True)
    yield Finding(name="runs", value=str(studio.runs_folder))
    cached = f"{studio.storage.layer_cache()}, in {studio.paths.layers}"
    yield Finding(name="cache", value=cached)
    yield Finding(name="settings", value=str(studio.paths.settings))


def _graphics_card() -> Iterator[Finding]:
    machine = describe_machine(os.environ)
    if warning := cpu_build_warning(machine, installed_torch(), os.environ):
        yield Finding(name="graphics card", value=warning, is_problem=True)
    elif machine.problem:
        yield Finding(name="graphics card", value=machine.problem)


def _installed(library: str) -> Finding:
    version = _version(library)
    return Finding(name=library, value=version or "not installed", is_problem=version is None)


def app_version() -> str:
    """Return the version of Spatial Studio, or that it is not installed."""
    return _version("spatialstudio") or "running from source"


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _tried(name: str, code: str) -> Finding:
    environment = without_current_folder(os.environ)
    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & environment.keys():
        environment["QT_QPA_PLATFORM"] = "offscreen"
    if name == WINDOW and (obstacle := window_obstacle(environment)):
        return Finding(name=name, value=" ".join(obstacle), is_problem=True)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", FIND_PACKAGE + code],
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Finding(name=name, value="no response", is_problem=True)
    if done.returncode:
        return Finding(name=name, value=_cause(done.stderr.splitlines()), is_problem=True)
    return Finding(name=name, value=done.stdout.strip())


def _cause(lines: Sequence[str]) -> str:
    """Return the line that names the cause: the last exception, else the first line."""
    exceptions = [line for line in lines if "Error: " in line]
    return next(iter([*reversed(exceptions), *lines]), "crashed without a message").strip()
