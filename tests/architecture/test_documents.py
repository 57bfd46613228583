"""Links and paths in the documents resolve."""

import re
from pathlib import Path

import pytest

from spatialstudio.cli.parser import build_parser

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "README.md",
    "CONTRIBUTING.md",
    "plugins/README.md",
    "spatialstudio/ARCHITECTURE.md",
)
LINK = re.compile(r"\]\((?!https?://)([^)#]+)\)")
FILE_IN_CODE = re.compile(
    r"`((?:packaging|resources|spatialstudio|plugins|tests)/[\w./-]*|[A-Z]+\.md)`"
)


def dead_ends(text, folder):
    """List the links that lead nowhere from a folder, and the paths that the checkout lacks."""
    links = [link for link in LINK.findall(text) if not (folder / link).exists()]
    return links + [path for path in FILE_IN_CODE.findall(text) if not (ROOT / path).exists()]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_in_documents_resolve(document):
    path = ROOT / document
    assert dead_ends(path.read_text(encoding="utf-8"), path.parent) == []


def test_dead_links_are_found():
    text = "![x](a/b.png) [web](https://x.org) [map](README.md) `tests/nowhere/` `ui/` `NEWS.md`"
    assert dead_ends(text, ROOT) == ["a/b.png", "tests/nowhere/", "NEWS.md"]


def test_the_readme_names_both_commands():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "python3 packaging/bootstrap.py run" in text
    assert "python3 packaging/bootstrap.py test" in text


def test_the_readme_names_every_terminal_command():
    told = re.findall(r"^\| `([\w-]+)[ `]", (ROOT / "README.md").read_text(encoding="utf-8"), re.M)
    offered = re.findall(r"^    ([a-z][a-z-]+)\b", build_parser().format_help(), re.M)
    assert sorted(set(told)) == sorted(offered)
