"""Set Spatial Studio up in its own environment, then start it or test it.

    python3 packaging/bootstrap.py run   [arguments of spatialstudio]
    python3 packaging/bootstrap.py test  [arguments of pytest]
    python3 packaging/bootstrap.py lock

``run`` opens the window; with arguments it runs that command of the terminal instead. ``lock``
writes the two lock files anew from pyproject.toml. Standard library only, any current folder.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
LOG = ROOT / "build" / "bootstrap.log"
LOCK = ROOT / "packaging" / "requirements.lock"
DEV_LOCK = ROOT / "packaging" / "requirements-dev.lock"
DEMO_FOLDER = Path("spatialstudio-demo")

OLDEST_PYTHON = (3, 11)
TESTS_AT_ONCE = ("--numprocesses", "auto", "--maxprocesses", "4", "--dist", "loadfile")
LINE_WIDTH = 90
EXIT_FAILURE, EXIT_MISUSE, EXIT_INTERRUPTED = 1, 2, 130

TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""Linux wheels of PyTorch without the gigabytes of CUDA that those of PyPI draw in."""

OFFSCREEN_LIBRARIES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libxkbcommon.so.0": "libxkbcommon0",
}
"""What Qt loads on every Linux: the library and its package on Debian and Ubuntu."""

X11_LIBRARIES = {
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libX11-xcb.so.1": "libx11-xcb1",
}
WAYLAND_LIBRARIES = {
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}

AGAIN = "Start again; what is already there is kept."
PIP_FAILURES = (
    (
        r"No space left|Errno 28|not enough space on the disk|WinError 112",
        "The disk is full.",
        f"Free about 3 GB. {AGAIN}",
    ),
    (
        r"new connection|NewConnectionError|name resolution|not known|getaddrinfo|timed out"
        r"|Connection (aborted|reset|broken|refused)|IncompleteRead|ProxyError|SSLError|HTTP error",
        "The packages cannot be downloaded.",
        f"Check the connection to the internet, or the proxy. {AGAIN}",
    ),
    (
        r"Permission denied|Errno 13|Access is denied|Read-only file system",
        "The environment cannot be written.",
        "Check the rights on the checkout, or clone it into a folder of your own.",
    ),
    (
        r"No matching distribution|is not a supported wheel|Requires-Python",
        "A package has no build for this Python or this machine.",
        "64-bit Linux, Windows and Apple silicon have all of them, for Python 3.11 to 3.13.",
    ),
)
"""Traces in pip's output, the sentence and the hint; the first that fits is told."""


class SetupError(Exception):
    """The studio cannot be set up; the user can do something about it."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def main(arguments: Sequence[str]) -> int:
    """Do what the command line asks for and return the exit code."""
    commands = {"run": run_studio, "test": run_tests, "lock": write_locks}
    if not arguments or arguments[0] not in commands:
        print(__doc__)
        return EXIT_MISUSE
    try:
        check_python()
        return commands[arguments[0]](arguments[1:])
    except SetupError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
    except OSError as error:
        print(explain_os_error(error), file=sys.stderr)
    except KeyboardInterrupt:
        print(f"\nStopped. {AGAIN}", file=sys.stderr)
        return EXIT_INTERRUPTED
    return EXIT_FAILURE


def run_studio(arguments: Sequence[str]) -> int:
    """Open the window, run a command of the terminal, or do the main job without a display."""
    if arguments:
        prepare([LOCK], libraries={})
        return hand_over([str(venv_python()), "-m", "spatialstudio", *arguments], os.environ)
    prepare([LOCK], libraries=qt_libraries(os.environ))
    if has_display(os.environ):
        exit_code = hand_over([str(venv_python()), "-m", "spatialstudio"], os.environ)
        if exit_code < 0:
            print("The window broke off. If no screen can be reached, start without DISPLAY set.")
        return exit_code
    folder = DEMO_FOLDER.resolve()
    print(f"There is no display, so the main job runs without one, into {folder}", flush=True)
    demo = [str(venv_python()), "-m", "spatialstudio.ui.demo", "--out", str(folder)]
    exit_code = hand_over(demo, {**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    if exit_code == 0:
        print(f"Picture, trace, verdict and a screenshot of the window are in {folder}:")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        print("\n".join(f"  {path.relative_to(folder)}" for path in files))
    return exit_code


def run_tests(arguments: Sequence[str]) -> int:
    """Run every check of the house, all of them even when one fails."""
    prepare([LOCK, DEV_LOCK], libraries=qt_libraries({}))
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "QT_QPA_PLATFORM": "offscreen"}
    python = str(venv_python())
    contracts = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    checks = (
        ("ruff check", [python, "-m", "ruff", "check", "--quiet"]),
        ("ruff format", [python, "-m", "ruff", "format", "--check", "--quiet"]),
        ("mypy", [python, "-m", "mypy"]),
        ("import contracts", [python, "-c", contracts, "--no-logo"]),
        ("pytest", [python, "-m", "pytest", *TESTS_AT_ONCE, *arguments]),
    )
    failed: dict[str, int] = {}
    for name, command in checks:
        print(f"== {name}", flush=True)
        exit_code = hand_over(command, environment, folder=ROOT)
        if exit_code:
            failed[name] = exit_code
    print(f"Failed: {', '.join(failed)}." if failed else "All checks passed.")
    return next(iter(failed.values()), 0)


def write_locks(arguments: Sequence[str]) -> int:
    """Resolve the newest allowed dependencies and pin them, without local build tags."""
    import tomllib  # here, so that a Python that is too old gets its sentence first

    if arguments:
        raise SetupError("The command lock takes no arguments.", "Leave them out.")
    ensure_environment()
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    project = settings["project"]
    runtime = [*project["dependencies"], *settings["build-system"]["requires"]]
    pinned = resolve(runtime)
    development = [*pinned, *project["optional-dependencies"]["dev"]]
    added = [pin for pin in resolve(development) if pin not in pinned]
    header = "# Written by packaging/bootstrap.py lock from pyproject.toml.\n"
    LOCK.write_text(header + "\n".join(pinned) + "\n", encoding="utf-8")
    DEV_LOCK.write_text(header + "\n".join(added) + "\n", encoding="utf-8")
    return 0


def resolve(requirements: Sequence[str]) -> list[str]:
    """Ask pip which versions meet the requirements together."""
    report = LOG.with_name("resolved.json")
    pip("install", "--dry-run", "--ignore-installed", "--report", str(report), *requirements)
    found = json.loads(report.read_text(encoding="utf-8"))["install"]
    versions = {item["metadata"]["name"]: item["metadata"]["version"] for item in found}
    return [f"{name}=={versions[name].split('+')[0]}" for name in sorted(versions, key=str.lower)]


def prepare(locks: Sequence[Path], libraries: Mapping[str, str]) -> None:
    """Have the system libraries and the locked environment in place; nothing to do costs nothing.

    Args:
        locks: The lock files to install, in order.
        libraries: Shared libraries to their Debian packages.
    """
    ensure_packages([package for name, package in libraries.items() if not can_load(name)])
    stamps = [VENV / f"{lock.stem}.installed" for lock in locks]
    needed = (venv_python(), VENV / "pyvenv.cfg", stamps[-1])
    if all(path.exists() for path in needed) and stamps[-1].read_text() == fingerprint(locks):
        return
    ensure_environment()
    print("Installing what is missing; the first time takes some minutes.", flush=True)
    forget_half_installed()
    if wants_cpu_torch():
        install_cpu_torch()
    for lock in locks:
        pip("install", "--requirement", str(lock))
    pip("install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    for count, stamp in enumerate(stamps, start=1):
        stamp.write_text(fingerprint(locks[:count]))


def fingerprint(locks: Sequence[Path]) -> str:
    """Name the state that an installation answers to: locks, project, interpreter and place."""
    content = [path.read_bytes() for path in (*locks, ROOT / "pyproject.toml")]
    content += [(VENV / "pyvenv.cfg").read_bytes(), str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(content)).hexdigest()


def ensure_environment() -> None:
    """Make the virtual environment, and make it anew when it is broken or half made."""
    check = "import sys, pip; sys.exit(sys.prefix == sys.base_prefix or sys.version_info < (3, 11))"
    with contextlib.suppress(OSError):
        if run_logged([str(venv_python()), "-c", check])[0] == 0:
            return
    if importlib.util.find_spec("ensurepip") is None:
        ensure_packages([f"python{sys.version_info.major}.{sys.version_info.minor}-venv"])
    exit_code, output = run_logged([sys.executable, "-m", "venv", "--clear", str(VENV)])
    if exit_code:
        raise explain_failure(output)


def forget_half_installed() -> None:
    """Drop the note of every package whose installation was interrupted, so that pip redoes it."""
    for note in VENV.glob("**/site-packages/*.dist-info"):
        if not (note / "RECORD").exists():
            shutil.rmtree(note)


def wants_cpu_torch() -> bool:
    """Say whether this is a Linux machine without an NVIDIA device, and without torch as yet."""
    devices = ("/dev/nvidiactl", "/dev/dxg", "/proc/driver/nvidia")
    has_device = any(Path(device).exists() for device in devices)
    has_torch = any(VENV.glob("**/site-packages/torch-*.dist-info"))
    return sys.platform == "linux" and not has_device and not has_torch


def install_cpu_torch() -> None:
    """Fetch the small build of PyTorch; where it cannot be had, the lock brings the large one."""
    version = next(
        line.strip() for line in LOCK.read_text().splitlines() if line.startswith("torch==")
    )
    source = ("--index-url", TORCH_CPU_INDEX, "--timeout", "10", "--retries", "1")
    try:
        pip("install", "--no-deps", *source, f"{version}+cpu")
    except SetupError as error:
        print(f"No CPU build of PyTorch: {error.message} Taking the one of the usual index.")


def pip(*arguments: str) -> None:
    """Run pip in the environment.

    Raises:
        SetupError: pip failed; the sentence says why.
    """
    options = ("--disable-pip-version-check", "--no-input")
    exit_code, output = run_logged([str(venv_python()), "-m", "pip", *options, *arguments])
    if exit_code:
        raise explain_failure(output)


def explain_failure(output: str) -> SetupError:
    """Turn what pip or venv printed into a sentence and a hint."""
    where = f"The whole output is in {LOG}."
    for traces, message, hint in PIP_FAILURES:
        if re.search(traces, output, re.IGNORECASE):
            return SetupError(message, f"{hint} {where}")
    return SetupError("The packages cannot be installed.", f"{where} {AGAIN}")


def explain_os_error(error: OSError) -> str:
    """Turn a failed file operation into a sentence and a hint."""
    known = explain_failure(str(error))
    return f"{known.message} ({error})\n{known.hint}"


def run_logged(command: Sequence[str]) -> tuple[int, str]:
    """Run a command, keep all it prints in the log, and show the lines that tell progress."""
    LOG.parent.mkdir(exist_ok=True)
    environment = {k: v for k, v in os.environ.items() if k not in {"PYTHONHOME", "PYTHONPATH"}}
    environment |= {"PIP_USER": "0", "PIP_PROGRESS_BAR": "off", "PYTHONUNBUFFERED": "1"}
    lines = []
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=environment,
        encoding="utf-8",
        errors="replace",
    )
    with process, LOG.open("a", encoding="utf-8") as log:
        for line in process.stdout or ():
            log.write(line)
            lines.append(line)
            if re.search(r"Downloading .* MB\)|Installing collected", line):
                print(f"  {line.strip()[:LINE_WIDTH]}", flush=True)
    return process.returncode, "".join(lines)


def hand_over(
    command: Sequence[str], environment: Mapping[str, str], folder: Path | None = None
) -> int:
    """Run a command in the foreground; Ctrl+C is its own affair."""
    with subprocess.Popen(command, env=dict(environment), cwd=folder) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def ensure_packages(packages: Sequence[str]) -> None:
    """Install Debian packages where that is allowed, else say the line to type."""
    if not packages:
        return
    if shutil.which("apt-get") is None:
        raise SetupError(
            "Some system libraries are missing.",
            f"Install what your system calls: {' '.join(packages)}",
        )
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    if os.geteuid() != 0:
        raise SetupError("Some system libraries are missing. Type:", f"sudo {' '.join(install)}")
    print(f"Installing {' '.join(packages)}", flush=True)
    run_logged(["apt-get", "update"])
    exit_code, output = run_logged(install)
    if exit_code:
        raise explain_failure(output)


def qt_libraries(environment: Mapping[str, str]) -> dict[str, str]:
    """List the system libraries that Qt needs with this display; none outside Linux."""
    if sys.platform != "linux":
        return {}
    return {
        **OFFSCREEN_LIBRARIES,
        **(X11_LIBRARIES if environment.get("DISPLAY") else {}),
        **(WAYLAND_LIBRARIES if environment.get("WAYLAND_DISPLAY") else {}),
    }


def can_load(library: str) -> bool:
    """Say whether the system has a shared library."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def has_display(environment: Mapping[str, str]) -> bool:
    """Say whether a window can be shown."""
    if sys.platform in {"win32", "darwin"}:
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def check_python() -> None:
    """Refuse a Python that the studio cannot run on."""
    if sys.version_info < OLDEST_PYTHON:
        have = ".".join(map(str, sys.version_info[:2]))
        raise SetupError(
            f"Spatial Studio needs Python 3.11 or newer; this is {have}.",
            "Start this file with a newer one, for example python3.12.",
        )


def venv_python() -> Path:
    """Return the interpreter of the environment, there or not."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
