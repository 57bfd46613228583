"""Every import contract of pyproject.toml is broken once, on an empty copy of the package."""

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = [
    contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
]
BREACHES = {
    "1": ("cli/parser.py", "import spatialstudio.ui.window.app"),
    "2a": ("science/checker/measurement.py", "import PIL"),
    "2b": ("domain/scene.py", "import torch"),
    "3": ("application/session.py", "import PySide6.QtCore"),
    "4": ("ui/window/app.py", "import spatialstudio.science.checker.measurement"),
    "5": ("application/session.py", "import spatialstudio.adapters.images"),
    "6": (
        "adapters/storage/stores/run_files.py",
        "import spatialstudio.adapters.diffusion.preview",
    ),
    "6b": (
        "adapters/storage/metadata/reader.py",
        "import spatialstudio.adapters.storage.stores.trace",
    ),
    "7": ("ui/widgets/slider.py", "import spatialstudio.application.session"),
    "7b": ("ui/stage/stage_panel.py", "import spatialstudio.ui.window.app"),
    "8": ("domain/options.py", "import spatialstudio.domain.generation"),
}
"""The number of a contract, a module, and an import that it must not hold."""


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """The package with all its folders and modules, but without a line of code in them."""
    root = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "pyproject.toml", root)
    real = [path.relative_to(ROOT) for path in (ROOT / "spatialstudio").rglob("*.py")]
    broken = [Path("spatialstudio", module) for module, _ in BREACHES.values()]
    for path in [*real, *broken]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    (root / "spatialstudio/domain/generation.py").write_text(
        "import spatialstudio.domain.options\n"
    )
    return root


def lint(house):
    """Run the import contracts on a house."""
    code = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    return subprocess.run(
        [sys.executable, "-c", code, "--no-logo", "--no-cache"],
        cwd=house,
        env={**os.environ, "PYTHONPATH": str(house), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_contract_has_a_breach_that_is_found():
    assert {name.split()[0] for name in CONTRACTS} == set(BREACHES)


def test_an_empty_package_keeps_all_contracts(house):
    result = lint(house)
    assert result.returncode == 0, result.stdout


API_BREACHES = [
    ("1", "api.py", "import spatialstudio.ui.window.app"),
    ("1", "cli/parser.py", "import spatialstudio.api"),
    ("1", "application/session.py", "import spatialstudio.api"),
    ("3", "api.py", "import PySide6.QtCore"),
]
"""Imports of and by the API for notebooks, which stands beside window and terminal."""


@pytest.mark.parametrize(
    ("number", "module", "line"),
    [(number, *breach) for number, breach in BREACHES.items()] + API_BREACHES,
)
def test_a_breach_is_found(house, number, module, line):
    (name,) = (name for name in CONTRACTS if name.split()[0] == number)
    path = house / "spatialstudio" / module
    before = path.read_text()
    path.write_text(f"{line}\n")
    result = lint(house)
    path.write_text(before)
    assert f"{name} BROKEN" in result.stdout
