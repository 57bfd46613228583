import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spatialstudio.application.paths import HOME_VARIABLE
from spatialstudio.ui.framework.window_settings import FILE_NAME, ThemeChoice
from spatialstudio.ui.theme.fonts import FAMILY
from spatialstudio.ui.window.app import open_window

PROJECT = Path(__file__).parents[3]
SHOW_WITHOUT_MODELS = """
import sys
from pathlib import Path
from spatialstudio.application.studio import Studio
from spatialstudio.ui.window.app import make_application, open_window
from spatialstudio.ui.framework.window_settings import WindowSettings
application = make_application()
window = open_window(application, Studio.open("inline"), WindowSettings(Path(sys.argv[1])))
window.show()
application.processEvents()
print(application.font().families()[0])
print(application.windowIcon().pixmap(64).toImage().pixelColor(32, 8).name())
print(sorted({"torch", "diffusers", "transformers"} & set(sys.modules)))
"""


INTERRUPTED_WINDOW = """
import os, sys
from PySide6.QtCore import QTimer
from spatialstudio.ui.window import app
exec_ = app.QApplication.exec
def exec_and_signal(application):
    QTimer.singleShot(int(sys.argv[2]), lambda: os.kill(os.getpid(), int(sys.argv[1])))
    return exec_()
app.QApplication.exec = exec_and_signal
if __name__ == "__main__":
    sys.exit(app.main())
"""


@pytest.fixture
def restored_look(qapp):
    before = qapp.palette()
    yield
    qapp.setPalette(before)


@pytest.mark.parametrize("choice", [ThemeChoice.DARK, ThemeChoice.LIGHT])
def test_the_window_opens_in_the_colours_asked_for(
    qtbot, qapp, restored_look, studio, settings, choice
):
    settings.theme = choice
    window = open_window(qapp, studio, settings)
    qtbot.addWidget(window)
    is_dark = qapp.palette().window().color().lightness() < 100
    assert is_dark is (choice is ThemeChoice.DARK)


def test_the_engine_starts_after_the_window_is_shown(
    qtbot, qapp, restored_look, studio, settings, engine
):
    window = open_window(qapp, studio, settings)
    qtbot.addWidget(window)
    assert not engine.is_started
    window.show()
    qtbot.waitUntil(lambda: engine.is_started)


@pytest.fixture
def no_garbage_collection():
    gc.disable()
    yield
    gc.enable()
    gc.unfreeze()


def test_garbage_is_looked_for_again_once_the_docks_are_made(
    qtbot, qapp, restored_look, studio, settings, no_garbage_collection
):
    window = open_window(qapp, studio, settings)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(gc.isenabled)
    assert gc.get_freeze_count() > 0


def test_showing_the_window_loads_no_model_library(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", SHOW_WITHOUT_MODELS, str(tmp_path / "window.ini")],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:3] == [FAMILY, "#16191f", "[]"]


def test_the_programs_own_sources_are_not_read_for_words_of_qt():
    program = "import linecache, spatialstudio.ui.window.app; print(*linecache.cache)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    assert "spatialstudio" not in done.stdout


@pytest.mark.parametrize(
    ("number", "delay_ms"),
    [(signal.SIGINT, 500), (signal.SIGTERM, 0)],
    ids=["while the engine starts", "at once"],
)
def test_a_signal_closes_the_window_as_the_user_does(tmp_path, number, delay_ms):
    program = tmp_path / "program.py"
    program.write_text(INTERRUPTED_WINDOW)
    home = tmp_path / "home"
    done = subprocess.run(
        [sys.executable, str(program), str(int(number)), str(delay_ms)],
        env={**os.environ, HOME_VARIABLE: str(home), "PYTHONPATH": str(PROJECT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 128 + number
    assert "Traceback" not in done.stderr
    assert list(home.rglob(FILE_NAME)), "the window did not remember how it stood"
