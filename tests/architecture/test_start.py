"""Importing the window or terminal loads no model library, and importing the terminal no Qt."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import importlib, pkgutil, sys
for name in sys.argv[1].split():
    package = importlib.import_module(name)
    for module in pkgutil.walk_packages(package.__path__, name + "."):
        importlib.import_module(module.name)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


@pytest.fixture(scope="module")
def loaded_by():
    """Import whole packages in a process of its own and tell which libraries that loaded."""

    def load(packages):
        command = [sys.executable, "-c", PROGRAM, packages]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr
        return set(result.stdout.split())

    return load


@pytest.mark.parametrize(
    ("packages", "unwanted"),
    [
        pytest.param(
            "spatialstudio.ui spatialstudio.application",
            {"torch", "diffusers", "transformers"},
            id="window",
        ),
        pytest.param(
            "spatialstudio.cli spatialstudio.application",
            {"torch", "diffusers", "transformers", "PySide6", "pyqtgraph"},
            id="terminal",
        ),
        pytest.param(
            "spatialstudio.domain", {"torch", "PIL", "PySide6", "pyqtgraph"}, id="vocabulary"
        ),
    ],
)
def test_importing_loads_no(loaded_by, packages, unwanted):
    assert loaded_by(packages) & unwanted == set()


def test_a_loaded_library_is_found(loaded_by):
    assert {"numpy", "spatialstudio"} <= loaded_by("spatialstudio.domain")


FIRST_FRAME = """
import sys
from pathlib import Path
from spatialstudio.ui.framework.window_settings import FILE_NAME, WindowSettings
from spatialstudio.ui.window.app import FirstFrame, make_application, open_window
from tests.ui.scripted_engine import ScriptedEngine, studio_around

home = Path(sys.argv[1])
application = make_application()
studio = studio_around(ScriptedEngine(), home)
window = open_window(application, studio, WindowSettings(home / FILE_NAME))
FirstFrame(window, lambda: print("shown", "pyqtgraph" in sys.modules))
window.settled.connect(lambda: print("settled", "pyqtgraph" in sys.modules))
window.settled.connect(application.quit)
window.show()
application.exec()
window.close()
"""


def test_plots_are_loaded_after_the_first_frame(tmp_path):
    command = [sys.executable, "-c", FIRST_FRAME, str(tmp_path)]
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "PYTHONPATH": str(Path.cwd())}
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert result.stdout.splitlines() == ["shown False", "settled True"], result.stderr
