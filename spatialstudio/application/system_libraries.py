"""Checks for the Linux libraries that Qt needs, and commands that install them.

Standard library only, as the bootstrap script imports it before anything is installed.
"""

import ctypes
import platform
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

PLATFORM_VARIABLE = "QT_QPA_PLATFORM"
NO_SUCH_LIBRARY = re.compile(r"(lib[\w.+-]+): cannot open|shared library (lib[\w.+-]+):")
"""Loader errors of glibc and musl that name a missing library or dependency."""


@dataclass(frozen=True)
class Packages:
    """Packages that provide a library, for distributions that cannot search by library name.

    Attributes:
        debian: Package on Debian, Ubuntu and derivatives.
        arch: Package on Arch Linux and derivatives.
    """

    debian: str
    arch: str


EVERY_PLATFORM = {
    "libEGL.so.1": Packages("libegl1", "libglvnd"),
    "libGL.so.1": Packages("libgl1", "libglvnd"),
    "libX11.so.6": Packages("libx11-6", "libx11"),
    "libdbus-1.so.3": Packages("libdbus-1-3", "dbus"),
    "libfontconfig.so.1": Packages("libfontconfig1", "fontconfig"),
    "libfreetype.so.6": Packages("libfreetype6", "freetype2"),
    "libglib-2.0.so.0": Packages("libglib2.0-0", "glib2"),
    "libgthread-2.0.so.0": Packages("libglib2.0-0", "glib2"),
    "libxkbcommon.so.0": Packages("libxkbcommon0", "libxkbcommon"),
    "libz.so.1": Packages("zlib1g", "zlib"),
    "libzstd.so.1": Packages("libzstd1", "zstd"),
}
XCB = {
    "libX11-xcb.so.1": Packages("libx11-xcb1", "libx11"),
    "libxcb.so.1": Packages("libxcb1", "libxcb"),
    "libxcb-cursor.so.0": Packages("libxcb-cursor0", "xcb-util-cursor"),
    "libxcb-icccm.so.4": Packages("libxcb-icccm4", "xcb-util-wm"),
    "libxcb-image.so.0": Packages("libxcb-image0", "xcb-util-image"),
    "libxcb-keysyms.so.1": Packages("libxcb-keysyms1", "xcb-util-keysyms"),
    "libxcb-randr.so.0": Packages("libxcb-randr0", "libxcb"),
    "libxcb-render-util.so.0": Packages("libxcb-render-util0", "xcb-util-renderutil"),
    "libxcb-render.so.0": Packages("libxcb-render0", "libxcb"),
    "libxcb-shape.so.0": Packages("libxcb-shape0", "libxcb"),
    "libxcb-shm.so.0": Packages("libxcb-shm0", "libxcb"),
    "libxcb-sync.so.1": Packages("libxcb-sync1", "libxcb"),
    "libxcb-util.so.1": Packages("libxcb-util1", "xcb-util"),
    "libxcb-xfixes.so.0": Packages("libxcb-xfixes0", "libxcb"),
    "libxcb-xkb.so.1": Packages("libxcb-xkb1", "libxcb"),
    "libxkbcommon-x11.so.0": Packages("libxkbcommon-x11-0", "libxkbcommon-x11"),
}
WAYLAND = {
    "libwayland-client.so.0": Packages("libwayland-client0", "wayland"),
    "libwayland-cursor.so.0": Packages("libwayland-cursor0", "wayland"),
}
PLATFORM_LIBRARIES = {"xcb": XCB, "wayland": WAYLAND}
PACKAGES = {**EVERY_PLATFORM, **XCB, **WAYLAND}

INSTALL = {
    "debian": ("Debian or Ubuntu", "sudo apt-get install"),
    "fedora": ("Fedora", "sudo dnf install"),
    "arch": ("Arch Linux", "sudo pacman -S"),
    "suse": ("openSUSE", "sudo zypper install"),
    "alpine": ("Alpine", "doas apk add"),
}
"""Name and install command of common distributions, by their id in /etc/os-release."""


def missing_libraries(
    environment: Mapping[str, str], load: Callable[[str], object] = ctypes.CDLL
) -> tuple[str, ...]:
    """List the libraries that Qt needs and cannot load; empty if a window can be shown.

    Args:
        environment: Environment variables, which select the Qt platforms: X11, Wayland or another.
        load: Loads a shared library by name, or raises OSError.
    """
    if sys.platform != "linux":
        return ()
    choices = [
        _missing(PLATFORM_LIBRARIES.get(name, {}), load) for name in qt_platforms(environment)
    ]
    return tuple(
        dict.fromkeys([*_missing(EVERY_PLATFORM, load), *min(choices, key=len, default=[])])
    )


def qt_platforms(environment: Mapping[str, str]) -> tuple[str, ...]:
    """List the platforms that Qt tries on Linux, in order; empty without a display."""
    if asked := environment.get(PLATFORM_VARIABLE):
        return tuple(part.partition(":")[0] for part in asked.split(";"))
    variables = {"xcb": "DISPLAY", "wayland": "WAYLAND_DISPLAY"}
    return tuple(name for name, variable in variables.items() if environment.get(variable))


def window_obstacle(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """Return why Qt cannot show a window, and the remedy; None if no reason is known.

    Qt itself reports libxcb-cursor0 for every missing library, and aborts the process.
    """
    if missing := missing_libraries(environment):
        return missing_sentence(missing), install_advice(missing, distribution())
    if sys.platform != "linux":
        return None
    advice = 'Type "spatialstudio --help" for the commands of the terminal.'
    platforms, display = qt_platforms(environment), environment.get("DISPLAY", "")
    if not platforms:
        return "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set.", advice
    if platforms == ("xcb",) and not _answers(display):
        return f'The display "{display}" cannot be reached.', f"Check DISPLAY. {advice}"
    return None


def missing_sentence(libraries: Sequence[str]) -> str:
    """Return a sentence that names the missing libraries."""
    return f"Qt needs system libraries that are missing: {', '.join(libraries)}."


def install_advice(libraries: Sequence[str], system: str | None) -> str:
    """Return the command that installs the packages of the libraries.

    Args:
        libraries: File names of the libraries, all in ``PACKAGES``.
        system: A distribution in ``INSTALL``; None for the commands of all of them.
    """
    commands = {name: f"{INSTALL[name][1]} {_packages(libraries, name)}" for name in INSTALL}
    if system is not None:
        return f"Install them: {commands[system]}"
    lines = [f"  {INSTALL[name][0]}: {command}" for name, command in commands.items()]
    return "\n".join(["Install them:", *lines])


def debian_packages(libraries: Iterable[str]) -> list[str]:
    """Return the Debian packages of the libraries, without duplicates."""
    return list(dict.fromkeys(PACKAGES[library].debian for library in libraries))


def distribution() -> str | None:
    """Return the distribution of ``INSTALL`` that this system is or derives from."""
    try:
        release = platform.freedesktop_os_release()
    except OSError:
        return None
    ids = f"{release.get('ID', '')} {release.get('ID_LIKE', '')}".replace("opensuse", "suse")
    return next((name for name in INSTALL if name in ids.replace("-", " ").split()), None)


def _packages(libraries: Sequence[str], system: str) -> str:
    """List the packages to install; dnf, zypper and apk accept library names."""
    match system:
        case "debian":
            names = debian_packages(libraries)
        case "arch":
            names = list(dict.fromkeys(PACKAGES[library].arch for library in libraries))
        case "alpine":
            names = [f"so:{library}" for library in libraries]
        case _:
            is_64_bit = sys.maxsize > 2**32
            names = [f"'{library}()(64bit)'" if is_64_bit else library for library in libraries]
    return " ".join(names)


def _missing(libraries: Iterable[str], load: Callable[[str], object]) -> list[str]:
    """Load each library and list the missing ones, including missing dependencies."""
    missing = []
    for library in libraries:
        try:
            load(library)
        except OSError as error:
            found = NO_SUCH_LIBRARY.search(str(error))
            wanted = (found[1] or found[2]) if found else library
            missing.append(wanted if wanted in PACKAGES else library)
    return missing


def _answers(display: str) -> bool:
    """Return True if an X server accepts a connection."""
    xcb = ctypes.CDLL("libxcb.so.1")
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode(), None))
    has_error = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not has_error
