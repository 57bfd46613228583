"""The example of a guidance loss in CONTRIBUTING.md passes the linter and works."""

import ast
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from spatialstudio import plugin_api
from spatialstudio.domain.errors import EmptyMapError
from spatialstudio.domain.generation import GuidanceSettings
from spatialstudio.domain.scene import ABOVE, LEFT_OF, NEAR, RIGHT_OF, Relation
from spatialstudio.science.pos.attention_maps import WordAttention

ROOT = Path(__file__).parents[2]
METHODS = ROOT / "spatialstudio" / "science" / "guidance" / "methods"


@pytest.fixture(scope="module")
def source():
    """The Python block of the document."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    return block


@pytest.fixture(scope="module")
def method(source, tmp_path_factory):
    file = tmp_path_factory.mktemp("example") / "centroid_order.py"
    file.write_text(source, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("centroid_order", file)
    sys.modules["centroid_order"] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module.METHOD
    del sys.modules["centroid_order"]


def loss_of(method, kind, first, second):
    """Return the loss of two maps with all attention in one cell of 5 by 5, x and y each."""
    columns = torch.zeros(2, 5, 5)
    for weights, place in zip(columns, (first, second), strict=True):
        if place:
            weights[place[1], place[0]] = 1
    columns.requires_grad_()
    attention = WordAttention(columns=columns, places={"a": [0], "b": [1]})
    relation = Relation(id="r", type=kind, subject="a", object="b")
    loss = method.make_loss(GuidanceSettings())([relation], attention)
    loss.backward()
    return loss.item()


@pytest.mark.parametrize("command", [("check",), ("format", "--check")], ids=lambda each: each[0])
def test_the_linter_accepts_the_example(source, command):
    name = str(METHODS / "centroid_order.py")
    done = subprocess.run(
        [sys.executable, "-m", "ruff", *command, "--no-cache", "--stdin-filename", name, "-"],
        input=source,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("kind", "first", "second", "expected"),
    [
        (LEFT_OF, (1, 0), (2, 0), 0),
        (LEFT_OF, (2, 0), (2, 4), 0.25),
        (RIGHT_OF, (0, 0), (4, 0), 1.25),
        (ABOVE, (0, 3), (0, 2), 0.5),
        (NEAR, (0, 0), (4, 4), 0),
    ],
)
def test_the_example_lowers_the_claims_of_every_relation(method, kind, first, second, expected):
    assert loss_of(method, kind, first, second) == pytest.approx(expected)


def test_the_example_names_an_empty_map(method):
    with pytest.raises(EmptyMapError):
        loss_of(method, LEFT_OF, (0, 0), None)


def test_a_plugin_can_import_every_name_of_the_example(source):
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    names = {
        alias.name: getattr(importlib.import_module(node.module), alias.name)
        for node in imports
        if node.module.startswith("spatialstudio")
        for alias in node.names
    }
    assert "marginal" in names
    assert set(names) <= set(plugin_api.__all__)
    assert {name: getattr(plugin_api, name) for name in names} == names
