"""The PyTorch build that suits a machine, and the command that installs it.

Standard library only, as the bootstrap script imports it before anything is installed. CUDA and
ROCm versions are those of the release notes of PyTorch 2.13; the lowest drivers are NVIDIA's for
the CUDA major version ("minor version compatibility").
"""

import os
import platform
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path

from spatialstudio.domain.frozen import frozen

SYSTEM = sys.platform
INDEX_VARIABLE = "SPATIALSTUDIO_TORCH_INDEX"
"""Environment variable with the base URL of a mirror of PyTorch's wheel index."""
TORCH_INDEX = "https://download.pytorch.org/whl"
PATIENCE_S = 15.0
"""Longest wait for nvidia-smi or rocminfo."""
USUAL_FOLDERS = ("/usr/lib/wsl/lib", "/opt/rocm/bin")
"""Folders of nvidia-smi under WSL and of rocminfo, which need not be on the search path."""
DRIVER_FILE = Path("/proc/driver/nvidia/version")
"""Written by the NVIDIA driver on Linux, also where nvidia-smi is not installed."""
NVIDIA_QUERIES = ("driver_version,compute_cap", "driver_version")
"""Drivers before 510 reject the first query."""
CUDA_ARCHITECTURES = ("x86_64", "amd64", "aarch64")
ROCM_TAG = "rocm7.2"
MEBIBYTE = 2**20
UPDATE_DRIVER = "Update the NVIDIA driver to version 580 or newer, then start again."


@frozen
class NvidiaCards:
    """What nvidia-smi reports, or the version of the driver's kernel module without it.

    Attributes:
        driver: Version of the driver, major first; (580, 95, 5) for 580.95.05.
        capabilities: Compute capability of each card, such as (8, 9); empty if unknown.
    """

    driver: tuple[int, ...]
    capabilities: tuple[tuple[int, ...], ...] = ()


@frozen
class Machine:
    """The properties of a machine that decide which PyTorch build it needs.

    Attributes:
        system: As in ``sys.platform``: "linux", "win32" or "darwin".
        architecture: Lower-case processor architecture, such as "x86_64", "amd64" or "arm64".
        nvidia: The NVIDIA driver and cards; None without them.
        has_rocm_card: Whether rocminfo lists an AMD GPU.
        problem: Why nvidia-smi, which is installed, reports no driver; empty if it does.
    """

    system: str
    architecture: str
    nvidia: NvidiaCards | None = None
    has_rocm_card: bool = False
    problem: str = ""


@frozen
class TorchBuild:
    """A build of PyTorch.

    Attributes:
        kind: Name of the lock file in ``packaging/locks``.
        label: What the user reads.
        tag: Local version and folder of the wheel index, such as "cu130"; empty for PyPI's build.
        advice: What prevents a faster build, with the remedy; empty if nothing does.
    """

    kind: str
    label: str
    tag: str = ""
    advice: str = ""


@frozen
class CudaBuild:
    """Requirements of a CUDA build of PyTorch.

    Attributes:
        tag: Local version and folder of the wheel index.
        lowest_driver: Lowest driver version, by system.
        capabilities: Lowest and highest supported compute capability, both inclusive.
    """

    tag: str
    lowest_driver: Mapping[str, tuple[int, ...]]
    capabilities: tuple[tuple[int, ...], tuple[int, ...]]


CUDA_BUILDS = (
    CudaBuild(
        tag="cu130",
        lowest_driver={"linux": (580,), "win32": (580,)},
        capabilities=((7, 5), (12, 99)),
    ),
    CudaBuild(
        tag="cu126",
        lowest_driver={"linux": (525, 60, 13), "win32": (528, 33)},
        capabilities=((5, 0), (9, 99)),
    ),
)
"""CUDA builds of PyTorch 2.13, newest first. CUDA 13 has dropped cards before Turing; the build
for CUDA 12.6 contains no code for Blackwell."""


def describe_machine(environment: Mapping[str, str]) -> Machine:
    """Describe this machine; runs nvidia-smi and rocminfo if they are installed.

    Args:
        environment: Environment variables; PATH is searched for the two programs.
    """
    architecture = platform.machine().lower()
    nvidia, problem = None, ""
    if SYSTEM != "darwin":
        nvidia, problem = _ask_nvidia(environment)
    has_rocm_card = SYSTEM == "linux" and nvidia is None and _lists_amd_gpu(environment)
    return Machine(
        system=SYSTEM,
        architecture=architecture,
        nvidia=nvidia,
        has_rocm_card=has_rocm_card,
        problem=problem,
    )


def gpu_memory_bytes(environment: Mapping[str, str]) -> tuple[int, ...]:
    """Return the memory of each NVIDIA card; empty if nvidia-smi does not answer.

    Args:
        environment: Environment variables; PATH is searched for nvidia-smi.
    """
    program = _find("nvidia-smi", environment)
    query = "--query-gpu=memory.total"
    output = _output([program, query, "--format=csv,noheader,nounits"]) if program else None
    lines = (line.strip() for line in (output or "").splitlines())
    return tuple(int(line) * MEBIBYTE for line in lines if line.isdecimal())


def choose_build(machine: Machine) -> TorchBuild:
    """Return the fastest PyTorch build that runs on a machine."""
    if machine.system == "darwin":
        return TorchBuild(kind="macos", label="PyPI (Apple GPUs by MPS)")
    name = "windows" if machine.system == "win32" else "linux"
    advice = machine.problem
    if machine.nvidia is not None and machine.architecture in CUDA_ARCHITECTURES:
        if cuda := _cuda_build(machine.system, machine.nvidia):
            version = f"{cuda.tag[2:-1]}.{cuda.tag[-1]}"
            return TorchBuild(kind=f"{name}-cuda", label=f"CUDA {version}", tag=cuda.tag)
        advice = _why_no_cuda(machine.nvidia)
    if machine.has_rocm_card and machine.architecture == "x86_64":
        label = f"ROCm {ROCM_TAG.removeprefix('rocm')}"
        return TorchBuild(kind="linux-rocm", label=label, tag=ROCM_TAG, advice=advice)
    if machine.system == "linux":
        return TorchBuild(kind="linux-cpu", label="CPU", tag="cpu", advice=advice)
    return TorchBuild(kind=f"{name}-cpu", label="PyPI (CPU)", advice=advice)


def install_arguments(
    build: TorchBuild, version: str, environment: Mapping[str, str] | None = None
) -> list[str]:
    """Return the arguments of pip that install a build.

    Args:
        build: The build to install.
        version: Version of PyTorch without a local part, such as "2.13.0".
        environment: Environment variables, which may name a mirror of the wheel index.
    """
    if not build.tag:
        return ["install", f"torch=={version}"]
    base = (environment or {}).get(INDEX_VARIABLE, "").rstrip("/") or TORCH_INDEX
    return ["install", "--index-url", f"{base}/{build.tag}", f"torch=={version}+{build.tag}"]


def installed_torch() -> tuple[str, bool] | None:
    """Return the installed version of PyTorch and whether it computes on a GPU; None without it.

    Reads the version file, as importing PyTorch takes seconds.
    """
    try:
        torch = metadata.distribution("torch")
    except metadata.PackageNotFoundError:
        return None
    try:
        content = Path(str(torch.locate_file("torch/version.py"))).read_text(encoding="utf-8")
    except OSError:
        content = ""
    uses_gpu = re.search(r"^(cuda|hip)\b[^=\n]*=\s*['\"]", content, re.MULTILINE) is not None
    return torch.version, uses_gpu


def cpu_build_warning(
    machine: Machine, installed: tuple[str, bool] | None, environment: Mapping[str, str]
) -> str:
    """Return why an NVIDIA card stays unused and what to run; empty if there is no reason.

    Args:
        machine: This machine.
        installed: The answer of ``installed_torch``.
        environment: Environment variables, which may name a mirror of the wheel index.
    """
    if machine.nvidia is None or installed is None or installed[1]:
        return ""
    build = choose_build(machine)
    found = "NVIDIA card present, but torch is a CPU build."
    if not build.kind.endswith("-cuda"):
        return f"{found} {build.advice}".rstrip()
    version = installed[0].partition("+")[0]
    command = ["-m", "pip", *install_arguments(build, version, environment)]
    return f"{found} Run: {command_line([sys.executable, *command])}"


def command_line(command: Sequence[str]) -> str:
    """Return a command as typed in the shell of this system."""
    return subprocess.list2cmdline(command)


def _cuda_build(system: str, cards: NvidiaCards) -> CudaBuild | None:
    """Return the build that supports most cards, the newest among equals."""
    runnable = [
        build
        for build in CUDA_BUILDS
        if system in build.lowest_driver and cards.driver >= build.lowest_driver[system]
    ]
    best = max(runnable, key=lambda build: _supported(build, cards), default=None)
    return best if best and (_supported(best, cards) or not cards.capabilities) else None


def _supported(build: CudaBuild, cards: NvidiaCards) -> int:
    lowest, highest = build.capabilities
    return sum(lowest <= capability <= highest for capability in cards.capabilities)


def _why_no_cuda(cards: NvidiaCards) -> str:
    oldest = min(build.capabilities[0] for build in CUDA_BUILDS)
    if cards.capabilities and max(cards.capabilities) < oldest:
        return "The NVIDIA card is too old for the CUDA builds of PyTorch."
    major, *minor = cards.driver
    driver = ".".join([str(major), *(f"{number:02}" for number in minor)])
    return f"The NVIDIA driver {driver} is too old for this card's CUDA builds. {UPDATE_DRIVER}"


def _ask_nvidia(environment: Mapping[str, str]) -> tuple[NvidiaCards | None, str]:
    """Return the driver and cards that nvidia-smi reports, and why it reports none."""
    program = _find("nvidia-smi", environment)
    if program is None:
        return _loaded_driver(), ""
    for query in NVIDIA_QUERIES:
        output = _output([program, f"--query-gpu={query}", "--format=csv,noheader"])
        if output is None:
            break
        rows = [line.split(",") for line in output.splitlines()]
        drivers = [_numbers(row[0]) for row in rows if re.fullmatch(r"\d+(\.\d+)+", row[0].strip())]
        if drivers:
            capabilities = tuple(_numbers(row[1]) for row in rows if len(row) > 1)
            return NvidiaCards(
                driver=drivers[0], capabilities=tuple(filter(None, capabilities))
            ), ""
    return None, "nvidia-smi reports no card. Repair or update the NVIDIA driver, then start again."


def _loaded_driver() -> NvidiaCards | None:
    """Return the version of the loaded kernel module, for systems without nvidia-smi."""
    try:
        content = DRIVER_FILE.read_text(encoding="utf-8") if SYSTEM == "linux" else ""
    except (OSError, ValueError):
        return None
    found = re.search(r"Kernel Module\b[^\n]*?\s(\d+(?:\.\d+)+)\s", content)
    return NvidiaCards(driver=_numbers(found[1])) if found else None


def _lists_amd_gpu(environment: Mapping[str, str]) -> bool:
    program = _find("rocminfo", environment)
    output = _output([program]) if program else None
    return re.search(r"^\s*Device Type:\s*GPU\b", output or "", re.MULTILINE) is not None


def _find(program: str, environment: Mapping[str, str]) -> str | None:
    """Search the absolute entries of PATH, never the current folder."""
    name = f"{program}.exe" if SYSTEM == "win32" else program
    entries = [*environment.get("PATH", "").split(os.pathsep), *USUAL_FOLDERS]
    paths = [Path(entry, name) for entry in entries if Path(entry).is_absolute()]
    return next((str(path) for path in paths if path.is_file() and os.access(path, os.X_OK)), None)


def _output(command: Sequence[str]) -> str | None:
    """Return the output of a program, empty after an error; None if it does not answer."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    except OSError:
        return ""
    return "" if done.returncode else done.stdout


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))
