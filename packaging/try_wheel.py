"""Build the wheel, install it into an empty environment, and run it like a new user.

    python3 packaging/try_wheel.py

The wheel installs its own dependencies, at the versions of the lock file. Each command then runs in
an empty folder with an empty home, away from the checkout. Standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import bootstrap

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PROMPT = "a dog to the left of a car"
RELATION = "dog to the left of car"
KEPT_VARIABLES = ("PATH", "LANG", "TMPDIR", "TEMP", "SYSTEMROOT", "OMP_NUM_THREADS")
"""Variables that every program needs; others may refer to the developer's environment."""
LONGEST_COMMAND_S = 600.0
OUTPUT_LINES = 30


class TrialError(Exception):
    """The installed program does not behave as expected."""


def main() -> int:
    """Run the trial and return the exit code."""
    try:
        bootstrap.check_python()
        sys.path.append(str(bootstrap.ROOT))
        bootstrap.ensure_qt_libraries({})
        bootstrap.prepare([bootstrap.LOCK])
        with tempfile.TemporaryDirectory(prefix="spatialstudio-wheel-") as folder:
            wheel = build_wheel(Path(folder))
            installed = Installed(Path(folder))
            installed.install(wheel)
            installed.use()
    except bootstrap.SetupError as error:
        print(f"{error.message}\n{error.hint}", file=sys.stderr)
        return bootstrap.EXIT_FAILURE
    except (TrialError, OSError, subprocess.TimeoutExpired) as error:
        print(error, file=sys.stderr)
        return bootstrap.EXIT_FAILURE
    print("The wheel works.")
    return 0


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout.

    Raises:
        SetupError: The build failed.
    """
    report("building the wheel")
    options = ("--no-deps", "--no-build-isolation", "--wheel-dir", str(folder))
    bootstrap.pip("wheel", *options, str(bootstrap.ROOT))
    (wheel,) = folder.glob("*.whl")
    return wheel


class Installed:
    """The program installed in a separate environment, with empty working folders.

    Args:
        folder: An empty folder for the environment and its working folders.
    """

    def __init__(self, folder: Path) -> None:
        self.environment = folder / "environment"
        self._home = folder / "home"
        self._elsewhere = folder / "elsewhere"

    def install(self, wheel: Path) -> None:
        """Install the wheel with its dependencies only.

        Raises:
            SetupError: A dependency cannot be installed.
        """
        report("installing it with its dependencies into an empty environment")
        bootstrap.make_environment(self.environment)
        bootstrap.install_torch(self.environment)
        pinned = ("--constraint", str(bootstrap.LOCK))
        bootstrap.pip("install", *pinned, str(wheel), environment=self.environment)

    def use(self) -> None:
        """Run commands of the terminal and the window, and check their output.

        Raises:
            TrialError: A command fails, or its output is not as expected.
        """
        import tomllib  # here, so that an unsupported Python reaches the version error first

        self._home.mkdir()
        self._elsewhere.mkdir()
        project = tomllib.loads((bootstrap.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
        version = self.studio("--version").strip()
        expect(version == f"spatialstudio {project['project']['version']}", f"it says {version!r}")
        findings = json.loads(self.studio("doctor", "--json"))["findings"]
        problems = [f"{row['name']}: {row['value']}" for row in findings if row["problem"]]
        expect(not problems, f"doctor finds {problems}")
        expect("dog to the left of car" in self.studio("parse", PROMPT), "parse finds no relation")
        options = ("--seed", "7", "--out", "runs", "--json")
        check_verdict(drawn := json.loads(self.studio("generate", PROMPT, *options)))
        picture = Path(drawn["picture"])
        for part in (picture, picture.with_suffix(".strace"), picture.with_suffix(".json")):
            expect((self._elsewhere / part).is_file(), f"{part.name} is missing")
        check_verdict(
            json.loads(self.studio("evaluate", str(picture), "--prompt", PROMPT, "--json"))
        )
        self.run("-P", "-m", "spatialstudio.ui.window.demo", "--out", "demo")
        expect((self._elsewhere / "demo" / "screenshot.png").is_file(), "there is no screenshot")

    def studio(self, *arguments: str) -> str:
        """Run the program as a command, and return its output."""
        name = "spatialstudio.exe" if os.name == "nt" else "spatialstudio"
        return self._run([str(self._programs / name), *arguments])

    def run(self, *arguments: str) -> str:
        """Run the interpreter, and return its output."""
        return self._run([str(bootstrap.venv_python(self.environment)), *arguments])

    @property
    def _programs(self) -> Path:
        return bootstrap.venv_python(self.environment).parent

    def _run(self, command: Sequence[str]) -> str:
        report(" ".join(["running", Path(command[0]).stem, *command[1:]]))
        done = subprocess.run(
            command,
            cwd=self._elsewhere,
            env=self._variables(),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=LONGEST_COMMAND_S,
            check=False,
        )
        if done.returncode:
            last = (done.stdout + done.stderr).splitlines()[-OUTPUT_LINES:]
            raise TrialError("\n".join([*last, f"The exit code is {done.returncode}."]))
        return done.stdout

    def _variables(self) -> Mapping[str, str]:
        home = str(self._home)
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        homes = dict.fromkeys(("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"), home)
        return {**kept, **homes, "QT_QPA_PLATFORM": "offscreen", "HF_HUB_OFFLINE": "1"}


def check_verdict(answer: Mapping[str, object]) -> None:
    """Check that an image was evaluated.

    Raises:
        TrialError: The relation has no verdict.
    """
    verdicts = answer.get("verdicts")
    judged = isinstance(verdicts, list) and [verdict.get("relation") for verdict in verdicts]
    expect(judged == [RELATION], f"the picture is not judged: {answer}")


def expect(is_so: bool, otherwise: str) -> None:
    """Check a condition.

    Raises:
        TrialError: The condition is false.
    """
    if not is_so:
        raise TrialError(f"The wheel does not work: {otherwise}.")


def report(step: str) -> None:
    """Print the current step with the time."""
    print(f"{time.strftime('%H:%M:%S')} wheel: {step}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
