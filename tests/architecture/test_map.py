"""The map of the package names its folders, and the functions from prompt to verdict."""

import ast
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


MOST_FUNCTIONS = 25


def definitions_in(tree):
    """Yield the names of functions and classes: "main", "Worker", "Worker.run"."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        if isinstance(node, ast.ClassDef):
            yield from (f"{node.name}.{name}" for name in definitions_in(node))


@pytest.fixture
def from_prompt_to_verdict():
    text = (PACKAGE / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text.split("| where | functions |")[1].split("\n\n")[0]
    return re.findall(r"`([\w.]+)`", table)


def test_a_prompt_reaches_its_verdict_through_few_functions(from_prompt_to_verdict):
    assert 10 < len(from_prompt_to_verdict) <= MOST_FUNCTIONS


def test_the_functions_from_prompt_to_verdict_exist(from_prompt_to_verdict):
    parts = ("application", "adapters/diffusion", "science/checker", "ui")
    files = (path for part in parts for path in (PACKAGE / part).rglob("*.py"))
    known = {name for path in files for name in definitions_in(ast.parse(path.read_bytes()))}
    assert [name for name in from_prompt_to_verdict if name not in known] == []
