import gc
import subprocess
import sys
from pathlib import Path

import pytest

from spatialstudio.ui.app import open_window
from spatialstudio.ui.theme.fonts import FAMILY
from spatialstudio.ui.window_settings import ThemeChoice

PROJECT = Path(__file__).parents[2]
SHOW_WITHOUT_MODELS = """
import sys
from pathlib import Path
from spatialstudio.application.studio import Studio
from spatialstudio.ui.app import make_application, open_window
from spatialstudio.ui.window_settings import WindowSettings
application = make_application()
window = open_window(application, Studio.open("inline"), WindowSettings(Path(sys.argv[1])))
window.show()
application.processEvents()
print(application.font().families()[0])
print(sorted({"torch", "diffusers", "transformers"} & set(sys.modules)))
"""


@pytest.fixture
def restored_look(qapp):
    before = qapp.styleSheet(), qapp.palette()
    yield
    qapp.setStyleSheet(before[0])
    qapp.setPalette(before[1])


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
    assert done.stdout.split("\n")[:2] == [FAMILY, "[]"]


def test_the_programs_own_sources_are_not_read_for_words_of_qt():
    program = "import linecache, spatialstudio.ui.app; print(*linecache.cache)"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=True)
    assert "spatialstudio" not in done.stdout
