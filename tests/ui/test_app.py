import subprocess
import sys
from pathlib import Path

import pytest

from spatialstudio.ui.app import open_window
from spatialstudio.ui.theme.fonts import FAMILY

PROJECT = Path(__file__).parents[2]
SHOW_WITHOUT_MODELS = """
import sys
from spatialstudio.application.studio import Studio
from spatialstudio.ui.app import make_application, open_window
application = make_application()
window = open_window(application, Studio.open("inline"))
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


@pytest.mark.parametrize("dark", [True, False], ids=["dark", "light"])
def test_the_window_opens_in_the_colours_asked_for(qtbot, qapp, restored_look, studio, dark):
    window = open_window(qapp, studio, dark=dark)
    qtbot.addWidget(window)
    assert (qapp.palette().window().color().lightness() < 100) is dark


def test_the_engine_starts_after_the_window_is_shown(qtbot, qapp, restored_look, studio, engine):
    window = open_window(qapp, studio, dark=False)
    qtbot.addWidget(window)
    assert not engine.is_started
    window.show()
    qtbot.waitUntil(lambda: engine.is_started)


def test_showing_the_window_loads_no_model_library():
    done = subprocess.run(
        [sys.executable, "-c", SHOW_WITHOUT_MODELS],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:2] == [FAMILY, "[]"]
