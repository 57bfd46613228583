"""Missing libraries of Qt are named, with the command that installs them."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spatialstudio.application import system_libraries
from spatialstudio.application.system_libraries import (
    INSTALL,
    PACKAGES,
    distribution,
    install_advice,
    missing_libraries,
    window_obstacle,
)

LINUX_ONLY = pytest.mark.skipif(sys.platform != "linux", reason="Qt brings them along elsewhere")
X11 = {"DISPLAY": ":0"}
PART_OF_QT_OR_C = re.compile(
    r"libQt6|libicu|libstdc\+\+|libgcc_s|libm\.|libc\.|libdl|libpthread|ld-linux"
)


@pytest.fixture
def loader(monkeypatch):
    """Pretend that some libraries are missing: the name of each, and the one that is missed."""
    monkeypatch.setattr(system_libraries.sys, "platform", "linux")

    def without(*names, because_of=None):
        def load(name):
            if name in names:
                missed = because_of or name
                reason = f"{missed}: cannot open shared object file: No such file or directory"
                raise OSError(reason)

        return load

    return without


def test_the_libraries_that_cannot_be_loaded_are_named(loader):
    load = loader("libxcb-icccm.so.4", "libEGL.so.1")
    assert missing_libraries(X11, load) == ("libEGL.so.1", "libxcb-icccm.so.4")


def test_nothing_is_missing_where_all_can_be_loaded(loader):
    assert missing_libraries(X11, loader()) == ()


def test_only_the_missing_library_is_named(loader):
    load = loader("libxcb-image.so.0", "libxcb-util.so.1", because_of="libxcb-util.so.1")
    assert missing_libraries(X11, load) == ("libxcb-util.so.1",)


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({}, id="no display"),
        pytest.param({"WAYLAND_DISPLAY": "wayland-0"}, id="Wayland"),
        pytest.param({**X11, "WAYLAND_DISPLAY": "wayland-0"}, id="Wayland beside X11"),
        pytest.param({**X11, "QT_QPA_PLATFORM": "offscreen"}, id="asked for"),
    ],
)
def test_x11_libraries_are_checked_for_x11_only(loader, environment):
    assert missing_libraries(environment, loader("libxcb-cursor.so.0")) == ()


def test_a_requested_platform_counts(loader):
    asked = {"QT_QPA_PLATFORM": "xcb:arguments"}
    load = loader("libxcb-cursor.so.0")
    assert missing_libraries(asked, load) == ("libxcb-cursor.so.0",)


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_other_systems_need_no_packages(loader, monkeypatch, platform):
    load = loader("libEGL.so.1")
    monkeypatch.setattr(system_libraries.sys, "platform", platform)
    assert missing_libraries(X11, load) == ()


@pytest.mark.parametrize(
    ("system", "command"),
    [
        ("debian", "sudo apt-get install libxcb-icccm4 libglib2.0-0"),
        ("arch", "sudo pacman -S xcb-util-wm glib2"),
        ("alpine", "doas apk add so:libxcb-icccm.so.4 so:libglib-2.0.so.0 so:libgthread-2.0.so.0"),
        ("fedora", "sudo dnf install 'libxcb-icccm.so.4()(64bit)' 'libglib-2.0.so.0()(64bit)'"),
        ("suse", "sudo zypper install 'libxcb-icccm.so.4()(64bit)' 'libglib-2.0.so.0()(64bit)'"),
    ],
)
def test_each_distribution_has_its_command(system, command):
    libraries = ("libxcb-icccm.so.4", "libglib-2.0.so.0", "libgthread-2.0.so.0")
    assert f"Install them: {command}" in install_advice(libraries, system)


def test_an_unknown_distribution_gets_all_commands():
    advice = install_advice(("libxcb-icccm.so.4",), None)
    assert all(f"{name}: {command} " in advice for name, command in INSTALL.values())


@pytest.mark.parametrize(
    ("release", "expected"),
    [
        ({"ID": "debian"}, "debian"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "debian"),
        ({"ID": "rocky", "ID_LIKE": "rhel centos fedora"}, "fedora"),
        ({"ID": "manjaro", "ID_LIKE": "arch"}, "arch"),
        ({"ID": "opensuse-tumbleweed", "ID_LIKE": "opensuse suse"}, "suse"),
        ({"ID": "opensuse-leap"}, "suse"),
        ({"ID": "alpine"}, "alpine"),
        ({"ID": "nixos"}, None),
        ({}, None),
    ],
    ids=lambda value: value.get("ID", "none") if isinstance(value, dict) else "",
)
def test_the_distribution_is_recognised(monkeypatch, release, expected):
    monkeypatch.setattr(system_libraries.platform, "freedesktop_os_release", lambda: release)
    assert distribution() == expected


def test_missing_libraries_are_reported_with_the_install_command(loader, monkeypatch):
    load = loader("libxcb-icccm.so.4", "libxcb-keysyms.so.1")
    monkeypatch.setattr(system_libraries.missing_libraries, "__defaults__", (load,))
    monkeypatch.setattr(system_libraries, "distribution", lambda: "debian")
    assert window_obstacle(X11) == (
        "Qt needs system libraries that are missing: libxcb-icccm.so.4, libxcb-keysyms.so.1.",
        "Install them: sudo apt-get install libxcb-icccm4 libxcb-keysyms1",
    )


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({}, "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set."),
        ({"DISPLAY": ":987"}, 'The display ":987" cannot be reached.'),
    ],
    ids=["none", "out of reach"],
)
@LINUX_ONLY
def test_a_missing_display_is_reported(loader, monkeypatch, environment, message):
    monkeypatch.setattr(system_libraries.missing_libraries, "__defaults__", (loader(),))
    assert window_obstacle(environment)[0] == message


@LINUX_ONLY
@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
@pytest.mark.parametrize(
    ("plugin", "libraries"),
    [
        ("xcb", {**system_libraries.EVERY_PLATFORM, **system_libraries.XCB}),
        ("wayland", {**system_libraries.EVERY_PLATFORM, **system_libraries.WAYLAND}),
        ("offscreen", system_libraries.EVERY_PLATFORM),
    ],
)
def test_the_lists_equal_the_libraries_qt_is_linked_with(plugin, libraries):
    linked = linked_with(plugin)
    assert {name for name in linked if not PART_OF_QT_OR_C.match(name)} == set(libraries)


def linked_with(plugin):
    """List all libraries that Qt loads for a window on a platform, its own included."""
    package = Path(importlib.util.find_spec("PySide6").origin).parent / "Qt"
    waiting = [package / "plugins" / "platforms" / f"libq{plugin}.so"]
    waiting += [package / "lib" / f"libQt6{part}.so.6" for part in ("Widgets", "Svg")]
    seen = set()
    while waiting:
        found = set(needed_by(waiting.pop())) - seen
        seen |= found
        waiting += [file for name in found if (file := package / "lib" / name).exists()]
    return seen


def needed_by(file):
    """List the libraries that a library is linked with."""
    done = subprocess.run(["readelf", "-d", file], capture_output=True, text=True, check=True)
    return re.findall(r"NEEDED.*\[(.*)\]", done.stdout)


def test_every_library_has_packages():
    assert all(packages.debian and packages.arch for packages in PACKAGES.values())
