"""The guide names every panel, command and method, its links resolve, and notices are complete."""

import ast
import re
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

from spatialstudio.cli.parser import build_parser
from spatialstudio.science.guidance.methods import GUIDANCE_METHODS
from spatialstudio.ui.window.command_table import TABLE
from spatialstudio.ui.window.workspaces import WORKSPACES
from tests.fakes import scene_of
from tests.ui.scripted_engine import evaluation_of, picture_of

ROOT = Path(__file__).parents[2]
RESOURCES = ROOT / "resources"
GUIDE = RESOURCES / "guide"
LICENSES = RESOURCES / "licenses"
PAGES = [*sorted(GUIDE.glob("*.md")), LICENSES / "index.md"]
LINK = re.compile(r"\]\((?!https?://)([^)#]+)(?:#[^)]*)?\)")


def page(name):
    """Return the text of a page of the guide."""
    return (GUIDE / name).read_text(encoding="utf-8")


def panel_titles():
    """List the titles of all panels, by reading their classes."""
    for file in (ROOT / "spatialstudio" / "ui").rglob("*_panel.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and node.name.endswith("Panel"):
                yield from (
                    line.value.value
                    for line in node.body
                    if isinstance(line, ast.Assign | ast.AnnAssign)
                    and isinstance(line.value, ast.Constant)
                    and "title" in ast.unparse(line).split("=")[0]
                )


def test_every_panel_has_its_section():
    titles = set(panel_titles())
    assert len(titles) > 20
    assert titles - set(re.findall(r"^## (.+)$", page("panels.md"), re.MULTILINE)) == set()


def test_docks_that_the_simple_window_hides_are_marked():
    docks = [plan for workspace in WORKSPACES for plan in workspace.docks]
    simple = {plan.title for plan in docks if plan.in_simple}
    sections = page("panels.md").split("\n## ")
    marked = {each.split("\n")[0] for each in sections if "*Needs All controls.*" in each}
    assert marked == {plan.title for plan in docks} - simple


def test_every_command_has_its_row():
    listed = re.findall(r"^\| ([^|]+?) \|", page("commands.md"), re.MULTILINE)
    assert [command.text for command in TABLE if command.text not in listed] == []


def test_every_terminal_command_has_its_row():
    listed = re.findall(r"^\| `([\w-]+)", page("terminal.md"), re.MULTILINE)
    offered = re.findall(r"^    ([a-z][a-z-]+)\b", build_parser().format_help(), re.MULTILINE)
    assert sorted(listed) == sorted(offered)


def test_every_guidance_method_has_its_row():
    listed = re.findall(r"^\| ([^|]+?) \|", page("methods.md"), re.MULTILINE)
    names = [method.label for method in GUIDANCE_METHODS]
    assert [name for name in names if not any(name in row for row in listed)] == []


def test_the_metric_of_the_guide_scores_a_relation():
    (code,) = re.findall(
        r'```python\n("""The distance of the boxes.+?)```', page("plugins.md"), re.DOTALL
    )
    names = {}
    exec(compile(code, "plugins.md", "exec"), names)
    (metric,) = names["PLUGIN"].metrics
    scene = scene_of()
    (relation,) = scene.relations
    evaluation = evaluation_of(scene, picture_of(1))
    found = metric.of_relation(relation, scene, evaluation, metric.rules)
    assert 0 < found <= 1
    unseen = replace(evaluation, perception=replace(evaluation.perception, detections=()))
    assert metric.of_relation(relation, scene, unseen, metric.rules) is None


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_links_and_pictures_resolve(path):
    links = LINK.findall(path.read_text(encoding="utf-8"))
    assert [link for link in links if not (path.parent / link).is_file()] == []


def test_every_page_can_be_reached():
    start = page("index.md")
    assert [path.name for path in PAGES[:-1] if path.name not in start] == ["index.md"]


def test_each_notice_has_its_licence_text():
    notices = (LICENSES / "index.md").read_text(encoding="utf-8")
    linked = set(LINK.findall(notices))
    assert linked == {path.name for path in LICENSES.glob("*.txt")}
    starts = {
        "Apache-2.0.txt": "Apache License",
        "CC-BY-4.0.txt": "Creative Commons Attribution 4.0",
    }
    assert all(
        text in (LICENSES / name).read_text(encoding="utf-8") for name, text in starts.items()
    )
    inter = (RESOURCES / "fonts" / "LICENSE-Inter.txt").read_bytes()
    assert (LICENSES / "OFL-1.1-Inter.txt").read_bytes() == inter


@pytest.mark.parametrize("name", ["Noto Color Emoji", "Inter", "SpatialBench-UC"])
def test_shipped_third_party_files_have_a_notice(name):
    assert name in (LICENSES / "index.md").read_text(encoding="utf-8")


def test_the_wheel_holds_guide_and_notices():
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "resources" in build["tool"]["hatch"]["build"]["targets"]["wheel"]["only-include"]
    assert "resources/licenses/*" in build["project"]["license-files"]
