"""The map of the package names its folders."""

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "spatialstudio"
FOLDER = re.compile(r"^(?:- |\*\*)`([\w/]+)/`", re.MULTILINE)


def folders_on_the_map(text):
    """Read the lines that begin with a folder, relative to the package."""
    return {name.removeprefix("spatialstudio").lstrip("/") for name in FOLDER.findall(text)} - {""}


@pytest.fixture
def on_the_map():
    return folders_on_the_map((PACKAGE / "ARCHITECTURE.md").read_text(encoding="utf-8"))


@pytest.fixture
def in_the_package():
    folders = {path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")}
    return {folder.as_posix() for folder in folders} - {"."}


def test_every_folder_is_on_the_map(on_the_map, in_the_package):
    assert sorted(in_the_package - on_the_map) == []


def test_the_map_shows_no_folder_that_is_missing(on_the_map, in_the_package):
    assert sorted(on_the_map - in_the_package) == []


def test_the_map_is_read_by_folder():
    text = "**`ui/`**: the window\n- `ui/theme/`: colours\n- `__main__.py`: start\n"
    assert folders_on_the_map(text) == {"ui", "ui/theme"}
