"""Each example of ``plugins/`` is installed as a separate package, and used as its readme says.

One environment serves all tests. It sees the checkout and the libraries of the tests, and holds the
seven examples and a package of broken plugins, each built by its backend and installed by pip. The
commands of the terminal share a process of this environment, as loading torch takes seconds.
"""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted(path.parent for path in (ROOT / "plugins").glob("*/pyproject.toml"))
MOST_LINES = 200
LONGEST_S = 600

BROKEN_PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "broken-plugins"
version = "3.1"

[project.entry-points."spatialstudio.adapters"]
absent = "absent_module:PLUGIN"
exits = "exits:PLUGIN"
future = "broken_plugins:FUTURE"
text = "broken_plugins:TEXT"
clash = "broken_plugins:CLASH"
panel = "broken_plugins:PANEL"

[tool.hatch.build.targets.wheel]
only-include = ["broken_plugins.py", "exits.py"]
"""
BROKEN_MODULE = """
from spatialstudio.plugin_api import ABOVE, API_VERSION, AdapterEntry, PanelEntry, Plugin

FUTURE = Plugin(name="Future", api_version=API_VERSION + 1)
TEXT = "a plugin"
CLASH = Plugin(
    name="Clash",
    api_version=API_VERSION,
    relation_types=(ABOVE,),
    adapters=(AdapterEntry(kind="extractor", id="never-there", make="broken_plugins:build"),),
)
PANEL = Plugin(
    name="Raising panel",
    api_version=API_VERSION,
    panels=(
        PanelEntry(
            id="raising", title="Raising", make="broken_plugins:RaisingPanel", workspace="inspect"
        ),
    ),
)


def RaisingPanel(context):
    raise RuntimeError("The panel is broken")
"""
REASONS = {
    "absent": "No module named 'absent_module'",
    "exits": "SystemExit: 7",
    "Future": "version 2 of the plugin API",
    "text": "a str, not a Plugin",
    "Clash": 'relation type "above" is registered twice',
}
ADDITIONS = {
    "Triples": 'extractor "triples"',
    "Above and behind": 'relation type "above_behind", relation type "below_in_front"',
    "Hinge loss": 'guidance method "hinge"',
    "Colour detector": 'detector "colour-areas"',
    "Centroid accuracy": 'metric "centroids"',
    "YOLO labels": 'export kind "yolo"',
    "PoS table": 'panel "pos-table"',
    "Raising panel": 'panel "raising"',
}


BUILD_WHEELS = """
import os, sys
from hatchling.build import build_wheel
for project in sys.argv[2:]:
    os.chdir(project)
    build_wheel(sys.argv[1])
"""
TERMINAL = """
import gc, io, json, sys
from contextlib import redirect_stdout
from spatialstudio.cli.commands import run
for line in sys.stdin:
    with redirect_stdout(io.StringIO()) as answer:
        code = run(json.loads(line))
    print(json.dumps([code, answer.getvalue()]), flush=True)
gc.freeze()  # as the program does when it ends
"""


class Environment:
    """A Python environment in which packages are installed and the program is run."""

    def __init__(self, folder):
        venv.create(folder / "env", symlinks=True, with_pip=False)
        self._folder = folder
        self._variables = os.environ | {"SPATIAL_STUDIO_HOME": str(folder / "home")}
        self._terminal = None
        programs = ("bin/python", "Scripts/python.exe")
        self._python = next(path for each in programs if (path := folder / "env" / each).exists())
        (packages,) = (folder / "env").rglob("site-packages")
        libraries = [path for path in sys.path if Path(path).name == packages.name]
        lines = [str(ROOT), f"import site; list(map(site.addsitedir, {libraries}))"]
        (packages / "base.pth").write_text("\n".join(lines))

    def install(self, *projects):
        """Build the packages and install them, without anything that they need."""
        wheels = self._folder / "wheels"
        wheels.mkdir()
        self._run([sys.executable, "-c", BUILD_WHEELS, str(wheels), *map(str, projects)])
        options = ("--no-deps", "--no-index", "--no-compile", "--quiet")
        command = ["-m", "pip", "--python", str(self._python), "install", *options]
        self._run([sys.executable, *command, *map(str, wheels.iterdir())])

    def python(self, *arguments):
        """Run Python and return what it prints."""
        return self._run([str(self._python), "-P", *arguments]).stdout

    def studio(self, *arguments):
        """Run a command of the terminal in a process for all commands; return its answer."""
        if self._terminal is None:
            self._terminal = subprocess.Popen(
                [str(self._python), "-P", "-c", TERMINAL],
                cwd=self._folder,
                env=self._variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        self._terminal.stdin.write(json.dumps([*arguments, "--json"]) + "\n")
        self._terminal.stdin.flush()
        code, answer = json.loads(self._terminal.stdout.readline())
        assert code == 0, answer
        return json.loads(answer)

    def close(self):
        """End the process of the terminal."""
        if self._terminal is not None:
            self._terminal.communicate(timeout=LONGEST_S)

    def _run(self, command):
        done = subprocess.run(
            command,
            cwd=self._folder,
            env=self._variables,
            capture_output=True,
            text=True,
            timeout=LONGEST_S,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
        return done


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugins")
    broken = folder / "broken"
    broken.mkdir()
    (broken / "pyproject.toml").write_text(BROKEN_PROJECT)
    (broken / "broken_plugins.py").write_text(BROKEN_MODULE)
    (broken / "exits.py").write_text("raise SystemExit(7)\n")
    environment = Environment(folder)
    environment.install(*EXAMPLES, broken)
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def run(environment, tmp_path_factory):
    """A picture whose prompt was triples, drawn with the hinge loss."""
    out = tmp_path_factory.mktemp("runs")
    prompt, options = "dog | left of | car", ("--extractor", "triples", "--guidance", "hinge")
    return environment.studio("generate", prompt, *options, "--steps", "4", "--out", str(out))


def test_there_is_an_example_of_each_kind():
    assert len(EXAMPLES) == 7


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_is_short_and_has_a_readme_and_a_test(example):
    files = [path for path in example.iterdir() if path.is_file()]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= MOST_LINES
    assert {"README.md", "pyproject.toml"} < {path.name for path in files}
    assert any(path.name.startswith("test_") for path in files)


IN_WINDOW = ROOT / "tests/plugins/in_window.py"


@pytest.fixture(scope="module")
def passed(environment):
    """The names of the files whose tests passed where the examples are installed."""
    options = ("-v", "-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider")
    files = map(str, (*EXAMPLES, IN_WINDOW))
    lines = environment.python("-m", "pytest", *options, f"--rootdir={ROOT}", *files).splitlines()
    return {Path(line.split("::")[0]).name for line in lines if " PASSED" in line}


def test_the_tests_of_the_examples_pass_where_they_are_installed(passed):
    assert {f"test_{path.name}.py" for path in EXAMPLES} <= passed


def test_the_window_uses_each_example(passed):
    assert IN_WINDOW.name in passed


def test_examples_are_listed_and_broken_plugins_are_disabled_with_the_reason(environment):
    lines = environment.python("-c", LIST_PLUGINS).splitlines()
    loaded, disabled = json.loads(lines[-1])
    assert loaded == ADDITIONS
    assert set(disabled) == set(REASONS)
    assert all(REASONS[name] in disabled[name] for name in REASONS)


FIGURE_PROMPT = "a red square to the left of a blue circle"
JUDGE_IN_A_PROCESS = """
import sys
from pathlib import Path
from queue import Queue
from spatialstudio.application.session import RunChanged
from spatialstudio.application.studio import Studio
from spatialstudio.domain.judge_choice import JudgeSetChoice

if __name__ == "__main__":
    studio, events = Studio.open("process"), Queue()
    studio.judges = JudgeSetChoice(detector_id="colour-areas")
    studio.bus.subscribe(events.put)
    studio.start()
    path, prompt = sys.argv[1:]
    studio.pictures.judge(Path(path), studio.pictures.scene_shown(Path(path), prompt))
    run = None
    while run is None or not run.is_over:
        for change in studio.apply_event(events.get(timeout=300)):
            run = change.run if isinstance(change, RunChanged) else run
    studio.close()
    print(*{each.detector_id for each in run.evaluation.perception.detections})
"""
LIST_PLUGINS = """
import json
from spatialstudio.application.plugins import adapter_ids, installed_plugins
plugins = installed_plugins()
assert "never-there" not in adapter_ids("extractor")
loaded = {each.name: ", ".join(each.additions) for each in plugins.loaded}
print(json.dumps([loaded, {each.name: each.reason for each in plugins.disabled}]))
"""


def test_the_extractor_reads_a_prompt(environment):
    words = ("parse", "red cup | above | dog", "--extractor", "triples", "--json")
    answer = json.loads(environment.python("-m", "spatialstudio", *words))
    (relation,) = answer["relations"]
    assert (relation["relation"], relation["subject"], relation["object"]) == (
        "above",
        "cup",
        "dog",
    )
    assert relation["source"] == "triples"


def test_the_grammar_reads_the_phrase_of_the_relation_type(environment):
    (relation,) = environment.studio("parse", "a tower above and behind a house")["relations"]
    assert (relation["relation"], relation["subject"]) == ("above_behind", "tower")


def test_the_extractor_and_the_loss_draw_a_picture(run):
    assert run["guidance"] == "hinge"
    assert [verdict["relation"] for verdict in run["verdicts"]] == ["dog to the left of car"]
    assert run["verdicts"][0]["centroids"] in {True, False}


def test_the_exporter_writes_labels_of_the_run(environment, run, tmp_path):
    environment.studio("runs", "export", run["picture"], "--as", "yolo", "--out", f"{tmp_path}/")
    (labels,) = tmp_path.glob("*.txt")
    boxes = [line.split() for line in labels.read_text().splitlines()]
    assert {box[0] for box in boxes} <= {"0", "1"}
    assert all(0 <= float(share) <= 1 for box in boxes for share in box[1:])
    found = sum(each["found"] for each in run["verdicts"])
    assert len(boxes) >= 2 * found


@pytest.fixture(scope="module")
def figure(tmp_path_factory):
    """A red square to the left of a blue one."""
    from PIL import Image

    pixels = np.full((100, 100, 3), 255, np.uint8)
    pixels[40:60, 10:30] = (220, 30, 30)
    pixels[40:60, 70:90] = (20, 40, 230)
    path = tmp_path_factory.mktemp("figure") / "figure.png"
    Image.fromarray(pixels).save(path)
    return str(path)


def test_the_detector_and_the_metric_judge_a_drawn_figure(environment, figure):
    judges = ("--detector", "colour-areas", "--metrics", "centroids,visor")
    answer = environment.studio("evaluate", figure, "--prompt", FIGURE_PROMPT, *judges)
    (row,) = answer["pictures"]
    assert row["models"]["detector"] == "colour-areas"
    (verdict,) = row["verdicts"]
    assert (verdict["outcome"], verdict["centroids"], verdict["visor"]) == ("PASS", True, True)
    assert answer["figures"]["centroids"] == {"share": 1.0}


def test_the_process_that_runs_the_models_knows_the_plugins(environment, figure):
    assert environment.python("-c", JUDGE_IN_A_PROCESS, figure, FIGURE_PROMPT) == "colour-areas\n"
