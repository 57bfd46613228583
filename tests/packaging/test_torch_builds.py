"""Six kinds of machine get the right build of PyTorch, from fake programs and a fake wheel index.

The programs nvidia-smi and rocminfo are shell scripts; the index is a server on loopback with
empty wheels, and the real pip resolves the command that the bootstrap script runs.
"""

import functools
import http.server
import json
import os
import re
import shutil
import sys
import threading
import tomllib
import zipfile
from pathlib import Path

import pytest

from spatialstudio.application import torch_builds
from spatialstudio.application.torch_builds import (
    Machine,
    NvidiaCards,
    choose_build,
    cpu_build_warning,
    describe_machine,
    install_arguments,
    installed_torch,
)
from tests.packaging.test_bootstrap import POSIX_ONLY, bootstrap, make_executable, root

__all__ = ["bootstrap", "root"]

CHECKOUT = Path(__file__).parents[2]
LOCKS = CHECKOUT / "packaging" / "locks"
ADA = "580.95.05, 8.9"
AMD = "  Name:      gfx1100\n  Device Type:             GPU"
MACHINES = {
    "linux-cuda": ("linux", "x86_64", {"nvidia-smi": ADA}, "+cu130"),
    "linux-cpu": ("linux", "x86_64", {}, "+cpu"),
    "linux-rocm": ("linux", "x86_64", {"rocminfo": AMD}, "+rocm7.2"),
    "windows-cuda": ("win32", "amd64", {"nvidia-smi": ADA}, "+cu130"),
    "windows-cpu": ("win32", "amd64", {}, ""),
    "macos": ("darwin", "arm64", {}, ""),
}
"""System, processor, programs with their output, and the expected tag, by lock file."""
BARE_LINUX = Machine(system="linux", architecture="x86_64")
CARD = NvidiaCards(driver=(580, 95, 5), capabilities=((8, 9),))


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Pretend to be a machine with some programs on its search path."""

    def pretend(system, architecture, programs):
        monkeypatch.setattr(torch_builds, "SYSTEM", system)
        monkeypatch.setattr(torch_builds, "USUAL_FOLDERS", ())
        monkeypatch.setattr(torch_builds, "DRIVER_FILE", tmp_path / "version")
        monkeypatch.setattr(torch_builds.platform, "machine", lambda: architecture)
        folder = tmp_path / "programs"
        folder.mkdir()
        for name, output in programs.items():
            script = output if output.startswith("#!") else f"#!/bin/sh\necho '{output}'\n"
            make_executable(folder / (f"{name}.exe" if system == "win32" else name), script)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}/usr/bin{os.pathsep}/bin")
        return describe_machine(os.environ)

    return pretend


def make_wheel(folder, version):
    folder.mkdir(parents=True)
    name = f"torch-{version}"
    with zipfile.ZipFile(folder / f"{name}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{name}.dist-info/METADATA", f"Name: torch\nVersion: {version}\n")
        tags = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{name}.dist-info/WHEEL", tags)
        wheel.writestr(f"{name}.dist-info/RECORD", "")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A wheel index on loopback: PyTorch's folders, and PyPI's at ``simple``."""
    folder = tmp_path_factory.mktemp("index")
    for tag in ("cpu", "cu126", "cu130", "rocm7.2"):
        make_wheel(folder / tag / "torch", f"2.13.0+{tag}")
    make_wheel(folder / "simple" / "torch", "2.13.0")
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


REAL_PIP = """#!/bin/sh
here="{root}"
echo "$@" >> "$here/calls"
case "$*" in *--editable*) exit 0;; esac
test -e "$here/report" && exit 0
exec {python} "$@" --dry-run --ignore-installed --report "$here/report"
"""


@pytest.fixture
def index_only(index, monkeypatch):
    """Let pip know no other index."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("PIP_INDEX_URL", f"{index}/simple")
    monkeypatch.setenv(torch_builds.INDEX_VARIABLE, index)
    return index


@pytest.fixture
def resolving(bootstrap, root, monkeypatch):
    """The bootstrap script, whose pip resolves PyTorch and installs nothing."""
    interpreter = REAL_PIP.format(root=root, python=sys.executable)
    make_executable(root / ".venv" / "bin" / "python", interpreter)
    monkeypatch.setattr(bootstrap, "ensure_environment", lambda: None)
    bootstrap.LOCK.write_text("torch==2.13.0\n")
    return bootstrap


@POSIX_ONLY
@pytest.mark.parametrize("kind", MACHINES)
def test_each_kind_of_machine_installs_its_build(kind, machine, index_only, resolving, root, capfd):
    system, architecture, programs, tag = MACHINES[kind]
    build = choose_build(machine(system, architecture, programs))
    assert build.kind == kind
    resolving.prepare([resolving.LOCK])
    (found,) = json.loads((root / "report").read_text())["install"]
    assert found["metadata"]["version"] == f"2.13.0{tag}"
    assert found["download_info"]["url"].startswith(f"{index_only}/{tag[1:] or 'simple'}/torch/")
    printed = capfd.readouterr().out
    assert f"PyTorch build for this machine: {build.label}" in printed
    if tag:
        assert f"-m pip install --index-url {index_only}/{tag[1:]} torch==2.13.0{tag}" in printed
        assert calls_with(root, "torch==2.13.0" + tag)
    assert ("--no-deps" in printed) == (kind == "linux-cpu")
    assert f"-m pip install --requirement {resolving.LOCK}" in printed


def calls_with(root, text):
    return [line for line in (root / "calls").read_text().splitlines() if text in line]


@POSIX_ONLY
@pytest.mark.parametrize(
    ("script", "advice"),
    [
        pytest.param("#!/bin/sh\nexit 9\n", "nvidia-smi reports no card.", id="no driver"),
        pytest.param("#!/bin/sh\nkill -SEGV $$\n", "nvidia-smi reports no card.", id="crash"),
        pytest.param("#!/no/such/shell\n", "nvidia-smi reports no card.", id="not a program"),
        pytest.param("No devices were found", "nvidia-smi reports no card.", id="no card"),
        pytest.param("[N/A], [N/A]", "nvidia-smi reports no card.", id="no version"),
        pytest.param("#!/bin/sh\nexec sleep 60\n", "nvidia-smi reports no card.", id="hangs"),
        pytest.param("470.256.02, 7.5", "driver 470.256.02 is too old", id="old driver"),
        pytest.param("570.10, 12.0", "driver 570.10 is too old", id="Blackwell, old driver"),
        pytest.param("580.95.05, 3.5", "card is too old", id="old card"),
    ],
)
@pytest.mark.parametrize("system", ["linux", "win32"])
def test_a_card_that_cannot_be_used_gets_the_cpu_build_and_advice(
    machine, monkeypatch, system, script, advice
):
    monkeypatch.setattr(torch_builds, "PATIENCE_S", 0.3 if "sleep" in script else 10.0)
    build = choose_build(machine(system, "x86_64", {"nvidia-smi": script}))
    assert build.kind == f"{'windows' if system == 'win32' else 'linux'}-cpu"
    assert advice in build.advice


@POSIX_ONLY
def test_a_driver_that_does_not_know_the_compute_capability_is_asked_for_its_version(machine):
    script = '#!/bin/sh\ncase "$1" in *compute_cap*) exit 2;; esac\necho 531.14\n'
    found = machine("linux", "x86_64", {"nvidia-smi": script})
    assert found.nvidia == NvidiaCards(driver=(531, 14))
    assert choose_build(found).tag == "cu126"


DRIVER_FILES = {
    "proprietary": (
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue Sep 23 10:11:16 UTC 2025\n"
        "GCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n",
        (580, 95, 5),
        "cu130",
    ),
    "open": (
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  575.57.08  Release Build\n",
        (575, 57, 8),
        "cu126",
    ),
    "old": (
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 2024\n",
        (470, 256, 2),
        "cpu",
    ),
    "nothing": ("GCC version:  gcc version 12.2.0\n", None, "cpu"),
}


@POSIX_ONLY
@pytest.mark.parametrize("case", DRIVER_FILES.values(), ids=DRIVER_FILES)
def test_without_nvidia_smi_the_loaded_driver_decides(machine, tmp_path, case):
    content, driver, tag = case
    (tmp_path / "version").write_text(content)
    found = machine("linux", "x86_64", {})
    assert (found.nvidia.driver if found.nvidia else None) == driver
    assert choose_build(found).tag == tag


@POSIX_ONLY
def test_the_driver_file_of_linux_is_not_read_elsewhere(machine, tmp_path):
    (tmp_path / "version").write_text(DRIVER_FILES["open"][0])
    assert machine("win32", "amd64", {}).nvidia is None


@POSIX_ONLY
def test_an_amd_card_counts_despite_a_broken_nvidia_driver_if_it_has_a_gpu_agent(machine):
    broken = {"nvidia-smi": "#!/bin/sh\nexit 9\n", "rocminfo": AMD}
    assert choose_build(machine("linux", "x86_64", broken)).kind == "linux-rocm"
    make_executable(
        Path(os.environ["PATH"].split(os.pathsep)[0], "rocminfo"), "#!/bin/sh\necho CPU\n"
    )
    assert choose_build(describe_machine(os.environ)).kind == "linux-cpu"


def test_programs_of_the_current_folder_are_not_run(tmp_path, monkeypatch, machine):
    monkeypatch.chdir(tmp_path)
    machine("linux", "x86_64", {"nvidia-smi": ADA})
    assert describe_machine({"PATH": f"programs{os.pathsep}"}).nvidia is None


@pytest.mark.parametrize(
    ("driver", "capabilities", "linux", "windows"),
    [
        pytest.param((580,), ((8, 9),), "cu130", "cu130", id="Ada"),
        pytest.param((580, 65), ((12, 0),), "cu130", "cu130", id="Blackwell"),
        pytest.param((581,), ((6, 1),), "cu126", "cu126", id="Pascal"),
        pytest.param((581,), ((6, 1), (8, 6)), "cu126", "cu126", id="Pascal and Ampere"),
        pytest.param((581,), ((6, 1), (8, 6), (12, 0)), "cu130", "cu130", id="most cards"),
        pytest.param((579, 99), ((8, 9),), "cu126", "cu126", id="before CUDA 13"),
        pytest.param((525, 60, 13), ((8, 9),), "cu126", "cpu", id="lowest on Linux"),
        pytest.param((528, 33), ((8, 9),), "cu126", "cu126", id="lowest on Windows"),
        pytest.param((525, 60, 11), ((8, 9),), "cpu", "cpu", id="too old"),
    ],
)
def test_driver_and_card_decide_the_cuda_version(driver, capabilities, linux, windows):
    cards = NvidiaCards(driver=driver, capabilities=capabilities)
    for system, expected in (("linux", linux), ("win32", windows)):
        build = choose_build(Machine(system=system, architecture="x86_64", nvidia=cards))
        assert (build.tag or "cpu") == expected
        assert bool(build.advice) == (expected == "cpu")


@pytest.mark.parametrize(
    ("system", "architecture", "kind"),
    [("linux", "riscv64", "linux-cpu"), ("win32", "arm64", "windows-cpu")],
)
def test_a_processor_without_cuda_builds_gets_the_cpu_build(system, architecture, kind):
    found = Machine(system=system, architecture=architecture, nvidia=CARD)
    assert choose_build(found).kind == kind


def test_the_index_is_that_of_pytorch_unless_a_mirror_is_set():
    build = choose_build(Machine(system="win32", architecture="amd64", nvidia=CARD))
    wanted = ["install", "--index-url", "https://download.pytorch.org/whl/cu130"]
    assert install_arguments(build, "2.13.0") == [*wanted, "torch==2.13.0+cu130"]
    mirror = {torch_builds.INDEX_VARIABLE: "http://127.0.0.1:8/torch/"}
    assert "http://127.0.0.1:8/torch/cu130" in install_arguments(build, "2.13.0", mirror)


@pytest.mark.parametrize("system", ["linux", "win32"])
def test_the_doctor_says_what_to_run_for_an_nvidia_card_with_a_cpu_build(system):
    found = Machine(system=system, architecture="x86_64", nvidia=CARD)
    warning = cpu_build_warning(found, ("2.13.0+cpu", False), {})
    assert warning.startswith("NVIDIA card present, but torch is a CPU build. Run: ")
    assert warning.endswith(
        "-m pip install --index-url https://download.pytorch.org/whl/cu130 torch==2.13.0+cu130"
    )


def test_the_doctor_asks_for_a_driver_where_no_cuda_build_runs():
    old = Machine(
        system="linux",
        architecture="x86_64",
        nvidia=NvidiaCards(driver=(470, 82), capabilities=((8, 6),)),
    )
    warning = cpu_build_warning(old, ("2.13.0+cpu", False), {})
    assert "CPU build. The NVIDIA driver 470.82 is too old" in warning


def test_the_doctor_is_silent_without_card_without_torch_and_with_a_gpu_build():
    card = Machine(system="linux", architecture="x86_64", nvidia=CARD)
    without = Machine(system="linux", architecture="x86_64")
    assert cpu_build_warning(without, ("2.13.0+cpu", False), {}) == ""
    assert cpu_build_warning(card, None, {}) == ""
    assert cpu_build_warning(card, ("2.13.0", True), {}) == ""


@pytest.mark.parametrize(
    ("lines", "uses_gpu"),
    [
        ("cuda: Optional[str] = None\nhip: Optional[str] = None\n", False),
        ("cuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n", True),
        ("cuda = None\nhip = '7.2.1'\n", True),
    ],
    ids=["cpu", "cuda", "rocm"],
)
def test_the_build_is_read_without_importing_torch(tmp_path, monkeypatch, lines, uses_gpu):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "version.py").write_text(lines)
    (tmp_path / "torch-2.13.0.dist-info").mkdir()
    (tmp_path / "torch-2.13.0.dist-info" / "METADATA").write_text("Name: torch\nVersion: 2.13.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert installed_torch() == ("2.13.0", uses_gpu)


@pytest.fixture
def pins():
    text = (CHECKOUT / "packaging" / "requirements.lock").read_text()
    return dict(line.split("==") for line in text.splitlines() if "==" in line)


@pytest.mark.parametrize("kind", MACHINES)
def test_each_kind_has_a_lock_file_that_agrees_with_the_lock(kind, pins):
    text = (LOCKS / f"{kind}.txt").read_text()
    tag = MACHINES[kind][3]
    locked = dict(line.split("==") for line in text.splitlines() if re.match(r"[\w.-]+==", line))
    assert locked.pop("torch") == pins["torch"] + tag
    assert locked.items() <= pins.items()
    assert len(locked) > 60
    indexes = re.findall(r"^--extra-index-url (.*)$", text, re.MULTILINE)
    assert indexes == ([f"https://download.pytorch.org/whl/{tag[1:]}"] if tag else [])
    assert "was not tried" in text or kind == "linux-cpu"


def test_there_are_no_other_lock_files():
    assert {path.stem for path in LOCKS.iterdir()} == MACHINES.keys()


def test_torch_is_limited_to_the_tested_minor_version(pins):
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
    (allowed,) = (text for text in project["dependencies"] if text.startswith("torch"))
    major, minor, _ = pins["torch"].split(".")
    assert allowed == f"torch>={major}.{minor},<{major}.{int(minor) + 1}"


PIP_AND_PYTHON = """#!/bin/sh
case "$*" in
*--report*) exec {python} {root}/pip.py "$@";;
*platform_locks.py*) exec {python} "$@";;
esac
"""
PIP = """
import json, sys
from pathlib import Path

arguments = sys.argv[1:]
folder = Path({packaging!r})
files = ["requirements.lock"]
if any(text.startswith("pytest") for text in arguments):
    files.append("requirements-dev.lock")
lines = [line for name in files for line in (folder / name).read_text().splitlines()]
pins = [line.split("==") for line in lines if "==" in line]
found = [{{"metadata": {{"name": name, "version": version + "+cpu" * (name == "torch")}}}}
         for name, version in pins]
Path(arguments[arguments.index("--report") + 1]).write_text(json.dumps({{"install": found}}))
"""


@POSIX_ONLY
def test_the_command_lock_writes_every_lock_file(bootstrap, root, monkeypatch):
    """Pip is a fake that resolves to the locked versions, so every file must be the one in use."""
    shutil.copy(CHECKOUT / "pyproject.toml", root)
    shutil.copy(CHECKOUT / "packaging" / "platform_locks.py", root / "packaging")
    (root / "spatialstudio").symlink_to(CHECKOUT / "spatialstudio")
    interpreter = PIP_AND_PYTHON.format(root=root, python=sys.executable)
    make_executable(root / ".venv" / "bin" / "python", interpreter)
    (root / "pip.py").write_text(PIP.format(packaging=str(CHECKOUT / "packaging")))
    monkeypatch.setattr(torch_builds, "describe_machine", lambda environment: BARE_LINUX)
    assert bootstrap.main(["lock"]) == 0
    for kept in (CHECKOUT / "packaging").rglob("*"):
        if kept.suffix in {".txt", ".lock"}:
            written = root / kept.relative_to(CHECKOUT)
            assert written.read_text() == kept.read_text(), kept.name


@POSIX_ONLY
def test_the_command_lock_takes_no_arguments(bootstrap, capsys):
    assert bootstrap.main(["lock", "now"]) == 1
    assert "takes no arguments" in capsys.readouterr().err
