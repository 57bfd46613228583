"""Set Spatial Studio up in its own environment, then start it or test it.

    python3 packaging/bootstrap.py run   [arguments of spatialstudio]
    python3 packaging/bootstrap.py test  [arguments of pytest]
    python3 packaging/bootstrap.py lock

``run`` opens the window; with arguments it runs that command of the terminal instead. ``lock``
writes the two lock files anew from pyproject.toml, and from them the lock file of each kind of
machine in packaging/locks. Standard library only, any current folder.
"""

from __future__ import annotations

import contextlib
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
"""Patterns in pip's output with message and hint; the first match is reported."""


class SetupError(Exception):
    """Setup failed for a reason that the user can resolve."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return the exit code."""
    commands = {"run": run_studio, "test": run_tests, "lock": write_locks}
    if not arguments or arguments[0] not in commands:
        print(__doc__)
        return EXIT_MISUSE
    try:
        check_python()
        sys.path.append(str(ROOT))  # some modules of the package import no installed library
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
    """Open the window, run a terminal command, or run the demo without a display."""
    if arguments:
        prepare([LOCK])
        return hand_over(python("-m", "spatialstudio", *arguments), os.environ)
    ensure_qt_libraries(os.environ)
    prepare([LOCK])
    if has_display(os.environ):
        exit_code = hand_over(python("-m", "spatialstudio"), os.environ)
        if exit_code < 0:
            print("The window broke off. If no screen can be reached, start without DISPLAY set.")
        return exit_code
    folder = DEMO_FOLDER.resolve()
    print(f"There is no display, so the main job runs without one, into {folder}", flush=True)
    demo = python("-m", "spatialstudio.ui.window.demo", "--out", str(folder))
    exit_code = hand_over(demo, {**os.environ, "QT_QPA_PLATFORM": "offscreen"})
    if exit_code == 0:
        print(f"Picture, trace, verdict and a screenshot of the window are in {folder}:")
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        print("\n".join(f"  {path.relative_to(folder)}" for path in files))
    return exit_code


def run_tests(arguments: Sequence[str]) -> int:
    """Run every check, also after a failure."""
    ensure_qt_libraries({})
    prepare([LOCK, DEV_LOCK])
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "QT_QPA_PLATFORM": "offscreen"}
    contracts = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    checks = (
        ("ruff check", python("-m", "ruff", "check", "--quiet")),
        ("ruff format", python("-m", "ruff", "format", "--check", "--quiet")),
        ("mypy", python("-m", "mypy")),
        ("import contracts", python("-c", contracts, "--no-logo")),
        ("dependencies", python("-m", "deptry", ".")),
        ("pytest", python("-m", "pytest", *TESTS_AT_ONCE, *arguments)),
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
    import tomllib  # here, so that an unsupported Python reaches the version error first

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
    prepare([LOCK, DEV_LOCK])
    return hand_over(python(str(ROOT / "packaging" / "platform_locks.py")), os.environ)


def resolve(requirements: Sequence[str]) -> list[str]:
    """Resolve requirements with pip and return the pinned versions."""
    report = LOG.with_name("resolved.json")
    pip("install", "--dry-run", "--ignore-installed", "--report", str(report), *requirements)
    found = json.loads(report.read_text(encoding="utf-8"))["install"]
    versions = {item["metadata"]["name"]: item["metadata"]["version"] for item in found}
    return [f"{name}=={versions[name].split('+')[0]}" for name in sorted(versions, key=str.lower)]


def prepare(locks: Sequence[Path]) -> None:
    """Install the locked environment; fast if it is up to date.

    Args:
        locks: Lock files to install, in order.
    """
    stamps = [VENV / f"{lock.stem}.installed" for lock in locks]
    needed = (venv_python(), VENV / "pyvenv.cfg", stamps[-1])
    if all(path.exists() for path in needed) and stamps[-1].read_text() == fingerprint(locks):
        return
    ensure_environment()
    print("Installing what is missing; the first time takes some minutes.", flush=True)
    forget_half_installed()
    install_torch(VENV)
    for lock in locks:
        pip("install", "--requirement", str(lock), shows_command=True)
    pip("install", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    for count, stamp in enumerate(stamps, start=1):
        stamp.write_text(fingerprint(locks[:count]))


def fingerprint(locks: Sequence[Path]) -> str:
    """Return a hash of the locks, project file, interpreter and location of an installation."""
    content = [path.read_bytes() for path in (*locks, ROOT / "pyproject.toml")]
    content += [(VENV / "pyvenv.cfg").read_bytes(), str(ROOT).encode()]
    return hashlib.sha256(b"\0".join(content)).hexdigest()


def ensure_environment() -> None:
    """Create the virtual environment, or recreate a broken or incomplete one."""
    check = "import sys, pip; sys.exit(sys.prefix == sys.base_prefix or sys.version_info < (3, 11))"
    with contextlib.suppress(OSError):
        if run_logged(python("-c", check))[0] == 0:
            return
    make_environment(VENV)


def make_environment(folder: Path) -> None:
    """Create an empty virtual environment in place of any existing one."""
    if importlib.util.find_spec("ensurepip") is None:
        ensure_packages([f"python{sys.version_info.major}.{sys.version_info.minor}-venv"])
    exit_code, output = run_logged([sys.executable, "-P", "-m", "venv", "--clear", str(folder)])
    if exit_code:
        raise explain_failure(output)


def forget_half_installed() -> None:
    """Delete the metadata of partly installed packages, so that pip reinstalls them."""
    for note in VENV.glob("**/site-packages/*.dist-info"):
        if not (note / "RECORD").exists():
            shutil.rmtree(note)


def install_torch(environment: Path) -> None:
    """Install the PyTorch build for this machine; the lock file installs the one of PyPI.

    Prints the command. A build that cannot be had is reported, and left to the lock file.
    """
    from spatialstudio.application import torch_builds as torch

    machine = torch.describe_machine(os.environ)
    build = torch.choose_build(machine)
    if build.advice:
        print(build.advice, flush=True)
    if has_torch(environment, build.tag):
        return
    print(f"PyTorch build for this machine: {build.label}", flush=True)
    if not build.tag:
        return
    arguments = torch.install_arguments(build, locked_torch(), os.environ)
    if build.tag == "cpu":  # small and replaceable: the lock has what it depends on
        arguments += ["--no-deps", "--timeout", "10", "--retries", "1"]
    try:
        pip(*arguments, environment=environment, shows_command=True)
    except SetupError as error:
        print(
            f"The {build.label} build of PyTorch cannot be installed: {error.message} "
            "Taking the one of the usual index.",
            flush=True,
        )


def locked_torch() -> str:
    """Return the version of PyTorch in the lock file."""
    pins = dict(line.split("==") for line in LOCK.read_text().splitlines() if "==" in line)
    return pins["torch"].strip()


def has_torch(environment: Path, tag: str) -> bool:
    """Return True if a build with this tag is installed; any build serves as the CPU build."""
    version = "*" if tag in {"", "cpu"} else f"{locked_torch()}+{tag}"
    pattern = f"torch-{version}.dist-info"
    return any(environment.glob(f"**/site-packages/{pattern}"))


def pip(*arguments: str, environment: Path = VENV, shows_command: bool = False) -> None:
    """Run pip in an environment, optionally after printing the command.

    Raises:
        SetupError: pip failed; the message gives the reason.
    """
    options = ("--disable-pip-version-check", "--no-input")
    command = python("-m", "pip", *options, *arguments, environment=environment)
    if shows_command:
        typed = python("-m", "pip", *arguments, environment=environment)
        print(f"  {subprocess.list2cmdline(typed)}", flush=True)
    exit_code, output = run_logged(command)
    if exit_code:
        raise explain_failure(output)


def explain_failure(output: str) -> SetupError:
    """Convert the output of pip or venv to an error with message and hint."""
    where = f"The whole output is in {LOG}."
    for traces, message, hint in PIP_FAILURES:
        if re.search(traces, output, re.IGNORECASE):
            return SetupError(message, f"{hint} {where}")
    return SetupError("The packages cannot be installed.", f"{where} {AGAIN}")


def explain_os_error(error: OSError) -> str:
    """Convert a failed file operation to a message with hint."""
    known = explain_failure(str(error))
    return f"{known.message} ({error})\n{known.hint}"


def run_logged(command: Sequence[str]) -> tuple[int, str]:
    """Run a command, write its output to the log, and print the lines that show progress."""
    from spatialstudio.domain.search_paths import without_current_folder

    LOG.parent.mkdir(exist_ok=True)
    environment = without_current_folder(os.environ)
    environment = {k: v for k, v in environment.items() if k not in {"PYTHONHOME", "PYTHONPATH"}}
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
    """Run a command in the foreground, which handles Ctrl+C itself."""
    from spatialstudio.domain.search_paths import without_current_folder

    safe = without_current_folder(environment)
    with subprocess.Popen(command, env=safe, cwd=folder) as process:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                continue


def ensure_qt_libraries(environment: Mapping[str, str]) -> None:
    """Install the system libraries that Qt needs for this display, or raise an error."""
    from spatialstudio.application import system_libraries as qt

    missing = qt.missing_libraries(environment)
    if missing and shutil.which("apt-get") is None:
        advice = qt.install_advice(missing, qt.distribution())
        raise SetupError(qt.missing_sentence(missing), advice)
    ensure_packages(qt.debian_packages(missing))


def ensure_packages(packages: Sequence[str]) -> None:
    """Install Debian packages as root, or raise an error with the command."""
    if not packages:
        return
    if shutil.which("apt-get") is None:
        raise SetupError(
            "System packages are missing.",
            f"Install what your system calls: {' '.join(packages)}",
        )
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    if os.geteuid() != 0:
        raise SetupError("System packages are missing. Type:", f"sudo {' '.join(install)}")
    print(f"Installing {' '.join(packages)}", flush=True)
    run_logged(["apt-get", "update"])
    exit_code, output = run_logged(install)
    if exit_code:
        raise explain_failure(output)


def has_display(environment: Mapping[str, str]) -> bool:
    """Return True if a window can be shown."""
    if sys.platform in {"win32", "darwin"}:
        return True
    return bool(environment.get("DISPLAY") or environment.get("WAYLAND_DISPLAY"))


def check_python() -> None:
    """Reject an unsupported Python version."""
    if sys.version_info < OLDEST_PYTHON:
        have = ".".join(map(str, sys.version_info[:2]))
        raise SetupError(
            f"Spatial Studio needs Python 3.11 or newer; this is {have}.",
            "Start this file with a newer one, for example python3.12.",
        )


def python(*arguments: str, environment: Path = VENV) -> list[str]:
    """Return a command for an environment's interpreter, with the current folder off its path."""
    return [str(venv_python(environment)), "-P", *arguments]


def venv_python(environment: Path = VENV) -> Path:
    """Return the path of an environment's interpreter, which need not exist."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
