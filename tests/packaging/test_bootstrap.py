"""The two commands decide what to install, start and say; a fake interpreter stands for pip.

Every test works on a copy of the script in a checkout of its own. The interpreter of that
checkout's environment is a shell script that writes down its arguments, prints the file
``answer`` and exits with the number in ``exit_code``.
"""

import importlib.util
import os
import re
import shutil
import stat
import sys
from pathlib import Path

import pytest

from spatialstudio.application import system_libraries, torch_builds

SOURCE = Path(__file__).parents[2] / "packaging" / "bootstrap.py"
POSIX_ONLY = pytest.mark.skipif(sys.platform == "win32", reason="the fake is a shell script")

INTERPRETER = """#!/bin/sh
here="{root}"
echo "$@" >> "$here/calls"
echo "$PYTHONSAFEPATH $PATH $PYTHONPATH" >> "$here/variables"
cat "$here/answer" 2>/dev/null
exit "$(cat "$here/exit_code" 2>/dev/null || echo 0)"
"""


def make_executable(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


@pytest.fixture
def root(tmp_path):
    """A checkout with a project file, two lock files and an environment."""
    packaging = tmp_path / "packaging"
    packaging.mkdir()
    shutil.copy(SOURCE, packaging)
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (packaging / "requirements.lock").write_text("numpy==2.4.6\ntorch==2.13.0\n")
    (packaging / "requirements-dev.lock").write_text("pytest==9.2.0\n")
    make_executable(tmp_path / ".venv" / "bin" / "python", INTERPRETER.format(root=tmp_path))
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("version = 3.11.7\n")
    return tmp_path


@pytest.fixture
def bootstrap(root):
    """The script of that checkout, as a module."""
    spec = importlib.util.spec_from_file_location("bootstrap", root / "packaging" / "bootstrap.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def without_cpu_wheels(bootstrap, monkeypatch):
    """A machine that takes PyTorch from the usual index."""
    monkeypatch.setattr(torch_builds, "SYSTEM", "darwin")


@pytest.fixture
def bare_linux(monkeypatch):
    """A Linux machine without graphics card."""
    machine = torch_builds.Machine(system="linux", architecture="x86_64")
    monkeypatch.setattr(torch_builds, "describe_machine", lambda environment: machine)


@pytest.fixture
def pip_says(root):
    """Let pip fail with some words."""

    def fail(words):
        (root / "answer").write_text(f"Collecting numpy\n{words}\n")
        (root / "exit_code").write_text("1")

    return fail


def calls(root):
    path = root / "calls"
    return path.read_text().splitlines() if path.exists() else []


def prepare(bootstrap):
    bootstrap.prepare([bootstrap.LOCK])


@POSIX_ONLY
def test_the_first_start_installs_the_lock_and_then_the_project(
    bootstrap, root, without_cpu_wheels
):
    prepare(bootstrap)
    installs = [line for line in calls(root) if "install" in line]
    assert f"--requirement {bootstrap.LOCK}" in installs[0]
    assert f"--no-deps --no-build-isolation --editable {root}" in installs[1]


@POSIX_ONLY
def test_a_second_start_runs_nothing(bootstrap, root, without_cpu_wheels):
    prepare(bootstrap)
    before = calls(root)
    prepare(bootstrap)
    assert calls(root) == before


@POSIX_ONLY
def test_a_start_after_the_tests_runs_nothing(bootstrap, root, without_cpu_wheels):
    bootstrap.prepare([bootstrap.LOCK, bootstrap.DEV_LOCK])
    before = calls(root)
    prepare(bootstrap)
    assert calls(root) == before


@POSIX_ONLY
@pytest.mark.parametrize(
    "changed", ["packaging/requirements.lock", "pyproject.toml", ".venv/pyvenv.cfg"]
)
def test_a_changed_file_installs_again(bootstrap, root, without_cpu_wheels, changed):
    prepare(bootstrap)
    before = len(calls(root))
    with (root / changed).open("a") as file:
        file.write("# changed\n")
    prepare(bootstrap)
    assert len(calls(root)) > before


@POSIX_ONLY
def test_a_failed_installation_is_tried_again_at_the_next_start(
    bootstrap, root, pip_says, without_cpu_wheels
):
    bootstrap.ensure_environment = lambda: None
    pip_says("Read timed out.")
    with pytest.raises(bootstrap.SetupError):
        prepare(bootstrap)
    (root / "exit_code").write_text("0")
    prepare(bootstrap)
    assert any("--editable" in line for line in calls(root))


@POSIX_ONLY
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on"
            " device",
            "The disk is full.",
            id="disk full",
        ),
        pytest.param(
            "WARNING: Retrying: NewConnectionError: Temporary failure in name resolution\n"
            "ERROR: No matching distribution found for numpy==2.4.6",
            "The packages cannot be downloaded.",
            id="no network",
        ),
        pytest.param(
            "ERROR: No matching distribution found for torch==2.13.0",
            "A package has no build for this Python or this machine.",
            id="no build",
        ),
        pytest.param(
            "error: [Errno 13] Permission denied: 'site-packages'",
            "The environment cannot be written.",
            id="no permission",
        ),
        pytest.param("Segmentation fault", "The packages cannot be installed.", id="unknown"),
    ],
)
def test_a_failure_of_pip_becomes_one_sentence_with_a_hint(bootstrap, pip_says, words, sentence):
    pip_says(words)
    with pytest.raises(bootstrap.SetupError) as failure:
        bootstrap.pip("install", "numpy")
    assert failure.value.message == sentence
    assert str(bootstrap.LOG) in failure.value.hint


@POSIX_ONLY
def test_the_output_of_pip_is_written_to_the_log(bootstrap, pip_says):
    pip_says("Segmentation fault")
    with pytest.raises(bootstrap.SetupError):
        bootstrap.pip("install", "numpy")
    assert "Segmentation fault" in bootstrap.LOG.read_text()


@POSIX_ONLY
def test_the_user_reads_sentence_and_hint_but_no_traceback(bootstrap, root, pip_says, capsys):
    bootstrap.ensure_environment = lambda: None
    pip_says("No space left on device")
    assert bootstrap.main(["run", "doctor"]) == 1
    printed = capsys.readouterr().err
    assert printed.startswith("The disk is full.\nFree about 3 GB.")
    assert "Traceback" not in printed


def test_a_full_disk_in_the_script_itself_gives_the_same_message(bootstrap):
    error = OSError(28, "No space left on device", "bootstrap.log")
    assert bootstrap.explain_os_error(error).startswith("The disk is full. ([Errno 28]")


@POSIX_ONLY
def test_a_broken_environment_is_recreated(bootstrap, root, monkeypatch):
    maker = root / "python-of-the-system"
    make_executable(maker, INTERPRETER.format(root=root))
    monkeypatch.setattr(bootstrap.sys, "executable", str(maker))
    (root / ".venv" / "bin" / "python").unlink()
    bootstrap.ensure_environment()
    assert calls(root) == [f"-P -m venv --clear {root / '.venv'}"]


@POSIX_ONLY
def test_a_working_environment_is_kept(bootstrap, root):
    bootstrap.ensure_environment()
    assert not any("venv" in line for line in calls(root))


def test_a_partly_installed_package_is_removed(bootstrap, root):
    packages = root / ".venv" / "lib" / "python3.11" / "site-packages"
    whole, half = packages / "whole-1.dist-info", packages / "half-1.dist-info"
    whole.mkdir(parents=True)
    half.mkdir()
    (whole / "RECORD").write_text("")
    bootstrap.forget_half_installed()
    assert whole.exists()
    assert not half.exists()


@POSIX_ONLY
def test_linux_without_nvidia_tries_the_cpu_build_of_torch_first(bootstrap, root, bare_linux):
    prepare(bootstrap)
    assert "torch==2.13.0+cpu" in calls(root)[1]
    assert "--requirement" in calls(root)[2]


@POSIX_ONLY
def test_the_cpu_build_of_torch_may_be_unavailable(bootstrap, pip_says, capsys, bare_linux):
    pip_says("ERROR: No matching distribution found for torch==2.13.0+cpu")
    bootstrap.install_torch(bootstrap.VENV)
    assert "Taking the one of the usual index." in capsys.readouterr().out


@POSIX_ONLY
@pytest.mark.parametrize(
    ("tag", "installed", "count"),
    [("cpu", "", 0), ("cu130", "+cu130", 0), ("cu130", "+cpu", 1)],
)
def test_an_installed_build_is_replaced_only_for_a_graphics_card(
    bootstrap, root, monkeypatch, tag, installed, count
):
    packages = root / ".venv" / "lib" / "python3.11" / "site-packages"
    (packages / f"torch-2.13.0{installed}.dist-info").mkdir(parents=True)
    build = torch_builds.TorchBuild(kind="", label="", tag=tag)
    monkeypatch.setattr(torch_builds, "choose_build", lambda machine: build)
    bootstrap.install_torch(bootstrap.VENV)
    assert len(calls(root)) == count


@pytest.mark.parametrize(
    ("platform", "environment", "expected"),
    [
        pytest.param("linux", {}, False, id="bare Linux"),
        pytest.param("linux", {"DISPLAY": ""}, False, id="empty variable"),
        pytest.param("linux", {"DISPLAY": ":0"}, True, id="X11"),
        pytest.param("linux", {"WAYLAND_DISPLAY": "wayland-0"}, True, id="Wayland"),
        pytest.param("darwin", {}, True, id="macOS"),
        pytest.param("win32", {}, True, id="Windows"),
    ],
)
def test_a_display_is_detected(bootstrap, monkeypatch, platform, environment, expected):
    monkeypatch.setattr(bootstrap.sys, "platform", platform)
    assert bootstrap.has_display(environment) is expected


@pytest.fixture
def apt(root, monkeypatch):
    """A system with apt-get, which writes down how it was called."""
    make_executable(root / "system" / "apt-get", INTERPRETER.format(root=root))
    monkeypatch.setenv("PATH", f"{root / 'system'}:/usr/bin:/bin")


@POSIX_ONLY
def test_an_unprivileged_user_gets_the_command_to_run(bootstrap, root, apt, monkeypatch):
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 1000)
    with pytest.raises(bootstrap.SetupError) as failure:
        bootstrap.ensure_packages(["libegl1", "libgl1"])
    assert failure.value.hint == (
        "sudo apt-get install --yes --no-install-recommends libegl1 libgl1"
    )
    assert calls(root) == []


@POSIX_ONLY
def test_the_administrator_gets_missing_packages_installed(bootstrap, root, apt, monkeypatch):
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)
    bootstrap.ensure_packages(["libegl1"])
    assert calls(root) == ["update", "install --yes --no-install-recommends libegl1"]


def test_a_system_without_apt_gets_the_package_names(bootstrap, monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(bootstrap.SetupError, match="packages are missing") as failure:
        bootstrap.ensure_packages(["libegl1"])
    assert "libegl1" in failure.value.hint


@POSIX_ONLY
def test_without_a_display_the_main_job_runs_offscreen(
    bootstrap, root, without_cpu_wheels, monkeypatch, capfd
):
    monkeypatch.setattr(bootstrap, "has_display", lambda environment: False)
    monkeypatch.chdir(root)
    assert bootstrap.main(["run"]) == 0
    folder = root / "spatialstudio-demo"
    assert calls(root)[-1] == f"-P -m spatialstudio.ui.window.demo --out {folder}"
    assert f"into {folder}" in capfd.readouterr().out


@POSIX_ONLY
def test_arguments_run_a_command_of_the_terminal(bootstrap, root, without_cpu_wheels):
    assert bootstrap.main(["run", "parse", "a cat above a dog"]) == 0
    assert calls(root)[-1] == "-P -m spatialstudio parse a cat above a dog"


@POSIX_ONLY
def test_the_suite_runs_every_check_and_passes_the_exit_code_on(
    bootstrap, root, without_cpu_wheels, capfd
):
    bootstrap.prepare([bootstrap.LOCK, bootstrap.DEV_LOCK])
    (root / "exit_code").write_text("3")
    assert bootstrap.main(["test", "-k", "checker"]) == 3
    assert calls(root)[-1].startswith("-P -m pytest --numprocesses auto ")
    assert calls(root)[-1].endswith(" -k checker")
    failed = "ruff check, ruff format, mypy, import contracts, dependencies, pytest"
    assert f"Failed: {failed}." in capfd.readouterr().out


@POSIX_ONLY
@pytest.mark.parametrize("command", [["run", "doctor"], ["test"]], ids=lambda c: c[0])
def test_no_child_python_imports_from_the_current_folder(
    bootstrap, root, without_cpu_wheels, monkeypatch, command
):
    monkeypatch.setenv("PYTHONPATH", f":{root}")
    monkeypatch.setenv("PATH", f":{os.environ['PATH']}")
    monkeypatch.chdir(root)
    bootstrap.main(command)
    assert calls(root)
    assert all(line.startswith("-P ") for line in calls(root))
    variables = (root / "variables").read_text().splitlines()
    assert set(variables) == {f"1 {os.environ['PATH'].lstrip(':')} "}


@pytest.fixture
def without_libraries(monkeypatch):
    """A system without the libraries of X11 that Qt needs."""
    missing = ("libxcb-icccm.so.4", "libxcb-keysyms.so.1")
    monkeypatch.setattr(system_libraries, "missing_libraries", lambda environment: missing)


@POSIX_ONLY
def test_the_administrator_gets_missing_libraries_installed(
    bootstrap, root, apt, without_libraries, monkeypatch
):
    monkeypatch.setattr(bootstrap.os, "geteuid", lambda: 0)
    bootstrap.ensure_qt_libraries({})
    packages = "libxcb-icccm4 libxcb-keysyms1"
    assert calls(root) == ["update", f"install --yes --no-install-recommends {packages}"]


def test_missing_libraries_are_named_with_the_command_of_the_distribution(
    bootstrap, without_libraries, monkeypatch
):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(system_libraries, "distribution", lambda: "arch")
    with pytest.raises(bootstrap.SetupError, match="libxcb-icccm") as failure:
        bootstrap.ensure_qt_libraries({})
    assert failure.value.hint == "Install them: sudo pacman -S xcb-util-wm xcb-util-keysyms"


def test_an_old_python_is_reported(bootstrap, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 9, 1))
    assert bootstrap.main(["run"]) == 1
    assert "needs Python 3.11 or newer; this is 3.9." in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["fly"]], ids=["none", "unknown"])
def test_an_unknown_command_gets_the_usage(bootstrap, capsys, arguments):
    assert bootstrap.main(arguments) == 2
    assert "packaging/bootstrap.py run" in capsys.readouterr().out


@pytest.fixture
def pins():
    """The lines of both lock files, without the comments."""
    locks = [SOURCE.with_name(name) for name in ("requirements.lock", "requirements-dev.lock")]
    text = "".join(lock.read_text() for lock in locks)
    return [line for line in text.splitlines() if not line.startswith("#")]


def test_the_locks_pin_every_package_and_name_no_source(pins):
    assert [pin for pin in pins if not re.fullmatch(r"[\w.-]+==[\w.]+", pin)] == []


def test_the_lock_names_no_special_build_of_torch(pins):
    assert "torch==2.13.0" in pins
