"""A window and its parts, with an engine scripted by the test."""

import pytest

from spatialstudio.application.paths import StudioPaths, resources_folder
from spatialstudio.ui.framework.appearance import Appearance, palette_of
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.window_settings import (
    FILE_NAME,
    Density,
    ThemeChoice,
    WindowSettings,
)
from spatialstudio.ui.stage.widgets.picture_view import PictureView
from spatialstudio.ui.theme.fonts import use_bundled_font
from spatialstudio.ui.theme.theme import Theme
from spatialstudio.ui.window.command_table import TABLE
from spatialstudio.ui.window.main_window import MainWindow
from tests.ui.patience import PatientBot
from tests.ui.scripted_engine import PROMPT, ScriptedEngine, studio_around


@pytest.fixture
def qtbot(qapp, request):
    """Mouse and keyboard input with timeouts that suit a busy machine."""
    return PatientBot(request)


@pytest.fixture
def theme(qapp):
    """The light theme."""
    return Theme(palette_of(ThemeChoice.LIGHT), resources_folder() / "icons")


@pytest.fixture
def engine():
    return ScriptedEngine()


@pytest.fixture
def studio_paths(tmp_path):
    """Folders of an installation, not yet created."""
    return StudioPaths.within(tmp_path)


@pytest.fixture
def studio(engine, tmp_path):
    """A studio that reads prompts and generates nothing."""
    studio = studio_around(engine, tmp_path)
    yield studio
    studio.close()


@pytest.fixture
def settings(tmp_path):
    """Window settings with light colours and all controls."""
    settings = WindowSettings(tmp_path / FILE_NAME)
    settings.density = Density.FULL
    settings.theme = ThemeChoice.LIGHT
    return settings


@pytest.fixture
def context(studio, theme, settings):
    """The context of a panel, without a window."""
    return WindowContext.of(studio, theme, settings, TABLE)


@pytest.fixture
def bundled_font(qapp):
    """The studio's typeface, until the end of the test."""
    before = qapp.font()
    use_bundled_font(qapp, resources_folder() / "fonts")
    yield
    qapp.setFont(before)


@pytest.fixture
def appearance(qapp, settings):
    """Appearance of the application; its font and palette are restored after the test."""
    before = qapp.font(), qapp.palette()
    yield Appearance(qapp, settings)
    qapp.setFont(before[0])
    qapp.setPalette(before[1])


@pytest.fixture
def window_of(qtbot, settings, appearance):
    """Return a function that opens the window of a studio and starts its engine.

    The docks of other workspaces are created when one is opened or a panel is asked for.
    """

    def made(studio):
        window = MainWindow(WindowContext.of(studio, appearance.theme, settings, TABLE), appearance)
        qtbot.addWidget(window)
        window.resize(1280, 800)
        window.show()
        window.get_ready()
        for plan in window._workspace.docks:
            window._dock_layout.make(plan)
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        return window

    return made


@pytest.fixture
def window(window_of, studio):
    """The open window, with its engine started."""
    return window_of(studio)


@pytest.fixture
def drawn(qtbot, window, studio, engine):
    """The window after a guided run with its baseline."""
    window.prompt.use_prompt(PROMPT)
    window.generation.generate()
    for job in engine.jobs:
        engine.play(job)
    picture = window.stage.findChild(PictureView)  # the stage draws in the next frame
    qtbot.waitUntil(lambda: studio.session.baseline.is_over and picture.isVisible())
    return window
