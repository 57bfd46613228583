"""A window and its surroundings, with an engine that does only what the test says."""

import pytest

from spatialstudio.application.paths import resources_folder
from spatialstudio.application.theme_file import load_theme
from spatialstudio.ui.main_window import MainWindow
from spatialstudio.ui.theme.qt_palette import dress
from spatialstudio.ui.theme.theme import Theme
from tests.ui.scripted_engine import PROMPT, ScriptedEngine, studio_around


def palette_of(name):
    return load_theme(resources_folder() / "themes" / f"{name}.toml")


@pytest.fixture
def theme(qapp):
    """The light theme."""
    return Theme(palette_of("light"), resources_folder() / "icons")


@pytest.fixture
def engine():
    return ScriptedEngine()


@pytest.fixture
def studio(engine, tmp_path):
    """A studio that reads prompts for real and draws nothing."""
    studio = studio_around(engine, tmp_path)
    yield studio
    studio.close()


@pytest.fixture
def window(qtbot, qapp, studio, theme):
    """The whole window, shown, its engine started."""
    dress(qapp, theme)
    window = MainWindow(studio, theme, lambda dark: theme.use(palette_of(["light", "dark"][dark])))
    qtbot.addWidget(window)
    window.resize(1280, 800)
    window.show()
    studio.start()
    return window


@pytest.fixture
def drawn(qtbot, window, studio, engine):
    """The window after a guided run with its baseline."""
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    for job in engine.jobs:
        engine.play(job)
    qtbot.waitUntil(lambda: studio.session.baseline.is_over)
    return window
