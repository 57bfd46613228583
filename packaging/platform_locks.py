"""Write the lock file of each kind of machine from requirements.lock.

    .venv/bin/python packaging/platform_locks.py

``bootstrap.py lock`` calls it. It follows the dependencies of the installed packages with the
markers of each kind, so the environment must contain the locked versions.
"""

from __future__ import annotations

import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ROOT / "packaging" / "locks"
LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
WINDOWS = {"sys_platform": "win32", "platform_system": "Windows", "os_name": "nt"}
MACOS = {"sys_platform": "darwin", "platform_system": "Darwin", "os_name": "posix"}
PYTHON = {
    "python_version": "3.11",
    "python_full_version": "3.11.9",
    "implementation_name": "cpython",
    "platform_python_implementation": "CPython",
}
KINDS = {
    "linux-cpu": (LINUX, "x86_64", "cpu"),
    "linux-cuda": (LINUX, "x86_64", "cu130"),
    "linux-rocm": (LINUX, "x86_64", "rocm7.2"),
    "windows-cpu": (WINDOWS, "AMD64", ""),
    "windows-cuda": (WINDOWS, "AMD64", "cu130"),
    "macos": (MACOS, "arm64", ""),
}
"""Marker values, processor and tag of the PyTorch build, by name of the lock file."""
HEADER = """\
# Spatial Studio on {kind}: pip install --requirement packaging/locks/{kind}.txt
# Written by packaging/platform_locks.py; do not edit. Python 3.11, {architecture}.
# Versions are those resolved and tested on Linux x86_64 with PyTorch's CPU build; the markers of
# this kind select among them. {verified}
# There are no hashes: the wheels of this kind were not downloaded.
"""
VERIFIED = "This is the kind that the tests run on."
UNVERIFIED = "An installation on this kind of machine was not tried."


def main() -> int:
    """Write all lock files and return the exit code."""
    for name, version in locked_versions().values():
        if metadata.version(name).partition("+")[0] != version:
            print(f"{name} {version} is locked but not installed. Run bootstrap.py lock.")
            return 1
    LOCKS.mkdir(exist_ok=True)
    for kind in KINDS:
        (LOCKS / f"{kind}.txt").write_text(lock_of(kind), encoding="utf-8")
    return 0


def lock_of(kind: str) -> str:
    """Return the content of a lock file."""
    sys.path.append(str(ROOT))  # after the libraries, as ROOT contains a folder "packaging"
    from spatialstudio.application.torch_builds import TORCH_INDEX

    system, architecture, tag = KINDS[kind]
    needed = packages_on({**PYTHON, **system, "platform_machine": architecture})
    pins = locked_versions()
    lines = [f"{name}=={version}" for key, (name, version) in pins.items() if key in needed]
    if tag:
        torch = pins["torch"][1]
        lines = [line + f"+{tag}" if line == f"torch=={torch}" else line for line in lines]
        lines.insert(0, f"--extra-index-url {TORCH_INDEX}/{tag}")
    header = HEADER.format(
        kind=kind,
        architecture=architecture,
        verified=VERIFIED if kind == "linux-cpu" else UNVERIFIED,
    )
    if tag not in {"", "cpu"}:
        header += "# The CUDA or ROCm libraries that torch requires are not pinned.\n"
    if absent := sorted(needed - pins.keys()):
        header += f"# Not pinned, as Linux does not need them: {', '.join(absent)}.\n"
    return header + "\n".join(lines) + "\n"


def locked_versions() -> dict[str, tuple[str, str]]:
    """Return name and version of each pin in requirements.lock, by normalized name."""
    text = (ROOT / "packaging" / "requirements.lock").read_text(encoding="utf-8")
    pins = [line.split("==") for line in text.splitlines() if "==" in line]
    return {canonicalize_name(name): (name, version) for name, version in pins}


def packages_on(environment: dict[str, str]) -> set[str]:
    """Return the normalized names of all packages that the project needs.

    Args:
        environment: Values of the environment markers.
    """
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*settings["project"]["dependencies"], *settings["build-system"]["requires"]]
    waiting = [Requirement(text) for text in wanted]
    seen: set[tuple[str, str]] = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        for extra in ("", *requirement.extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            waiting += dependencies(name, {**environment, "extra": extra})
    return {name for name, _ in seen}


def dependencies(name: str, environment: dict[str, str]) -> list[Requirement]:
    """Return what an installed package requires; nothing for a package that is not installed."""
    try:
        texts = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return []
    found = [Requirement(text) for text in texts]
    return [each for each in found if each.marker is None or each.marker.evaluate(environment)]


if __name__ == "__main__":
    sys.exit(main())
