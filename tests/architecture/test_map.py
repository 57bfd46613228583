"""The map of the package and its folders say the same."""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "spatialstudio"
FOLDER = re.compile(r"^#+ `([\w/]+)/`")
MODULE = re.compile(r"`(\w+\.py)`")


def modules_on_the_map(text):
    """Read headings that name a folder, and below them lines ``- `module.py`: subject``."""
    found, folder = set(), ""
    for line in text.splitlines():
        if heading := FOLDER.match(line):
            folder = heading[1].removeprefix("spatialstudio").lstrip("/")
        elif line.startswith("- `"):
            names, _, _ = line.partition(":")
            found |= {f"{folder}/{name}".lstrip("/") for name in MODULE.findall(names)}
    return found


@pytest.fixture
def on_the_map():
    return modules_on_the_map((PACKAGE / "ARCHITECTURE.md").read_text(encoding="utf-8"))


@pytest.fixture
def in_the_folders():
    modules = {path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py")}
    return {name for name in modules if not name.endswith("__init__.py")}


def test_every_module_is_on_the_map(on_the_map, in_the_folders):
    assert sorted(in_the_folders - on_the_map) == []


def test_the_map_shows_nothing_that_is_not_there(on_the_map, in_the_folders):
    assert sorted(on_the_map - in_the_folders) == []


def test_the_map_is_read_by_folder_and_module():
    text = "## `spatialstudio/`\n- `__main__.py`: start\n## `ui/theme/`\n- `a.py`, `b.py`: `c.py`\n"
    assert modules_on_the_map(text) == {"__main__.py", "ui/theme/a.py", "ui/theme/b.py"}
