"""Play the five-minute tour on the real program and take a picture of the window at each station.

    .venv/bin/python packaging/play_tour.py              images of the README and the window
    .venv/bin/python packaging/play_tour.py --look DIR   all sizes and scales, for review

All input consists of real key presses; the embedded model runs in a child process, offscreen.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QBuffer, QIODevice, qInstallMessageHandler
from PySide6.QtGui import QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from spatialstudio.application.paths import HOME_VARIABLE
from spatialstudio.application.session import OpenRun
from spatialstudio.application.studio import Studio
from spatialstudio.ui.compose.widgets.prompt_editor import PromptEditor
from spatialstudio.ui.evaluate import commands as evaluate_commands
from spatialstudio.ui.framework import commands as framework_commands
from spatialstudio.ui.framework.command import Command
from spatialstudio.ui.framework.window_settings import (
    FILE_NAME,
    Density,
    ThemeChoice,
    WindowSettings,
)
from spatialstudio.ui.gallery.widgets.run_grid import RunGrid
from spatialstudio.ui.inspect import commands as inspect_commands
from spatialstudio.ui.run import commands as run_commands
from spatialstudio.ui.window.app import make_application, open_window
from spatialstudio.ui.window.command_palette import CommandPalette
from spatialstudio.ui.window.demo import pass_on
from spatialstudio.ui.window.main_window import MainWindow
from spatialstudio.ui.window.tour import (
    FOLDER,
    PROMPT,
    SEED,
    STATIONS,
)

RESOURCES = Path(__file__).resolve().parent.parent / "resources"
MORE_PROMPTS = ("a rocket above a castle", "a fish below a boat", "a star to the right of a moon")
WATCHED_SHARE = 0.6
INSPECTED_STEP = 6
PATIENCE_SECONDS = 600.0
SETTLE_SECONDS = 0.8
COLOURS = 255
SHIPPED_SIZE = (1280, 800)


@dataclass(frozen=True, slots=True)
class Look:
    """Theme, size and scale of the window."""

    theme: ThemeChoice
    size: tuple[int, int]
    scale: int

    @property
    def name(self) -> str:
        """Name of the folder of its images."""
        width, height = self.size
        return f"{self.theme.value}-{width}x{height}-{self.scale}x"


SHIPPED = tuple(Look(theme, SHIPPED_SIZE, 1) for theme in (ThemeChoice.LIGHT, ThemeChoice.DARK))
ALL = tuple(
    Look(theme, size, scale)
    for theme in (ThemeChoice.LIGHT, ThemeChoice.DARK)
    for size in (SHIPPED_SIZE, (2560, 1440))
    for scale in (1, 2)
)


class Tour:
    """Runs the stations of the tour in one window."""

    def __init__(self, window: MainWindow, studio: Studio, folder: Path) -> None:
        self._window = window
        self._studio = studio
        self._folder = folder
        self._playing = {
            "write": self._write,
            "watch": self._watch,
            "inspect": self._inspect,
            "judge": self._judge,
            "keep": self._keep,
            "find": self._find,
        }

    def play(self) -> None:
        """Run each station and save an image of the window."""
        for page in STATIONS:
            self._playing[page.id]()
            settle()
            save(self._window, self._folder / f"{page.id}.png")

    def _write(self) -> None:
        self._type(PROMPT)
        self._window.generation.use_seed(SEED)

    def _watch(self) -> None:
        self._press(framework_commands.ALL_CONTROLS)
        self._press(run_commands.GENERATE)
        wait(lambda: self._run is not None and self._share_drawn() >= WATCHED_SHARE)

    def _inspect(self) -> None:
        wait(self._is_all_stored)
        self._press(framework_commands.INSPECT_WORKSPACE)
        first, second = self._studio.session.run.request.scene.relations[0].ends
        self._window.context.maps.pin(first, second)
        self._studio.session.pick_step(INSPECTED_STEP)

    def _judge(self) -> None:
        self._window.context.actions[inspect_commands.LAST].trigger()
        self._press(framework_commands.EVALUATE_WORKSPACE)
        self._press(evaluate_commands.FIT)

    def _keep(self) -> None:
        self._press(framework_commands.GENERATE_WORKSPACE)
        for prompt in MORE_PROMPTS:
            self._type(prompt)
            self._press(run_commands.GENERATE)
            wait(self._is_all_stored)
        self._press(framework_commands.GALLERY_WORKSPACE)
        grid = wait(lambda: self._window.findChild(RunGrid))
        wait(lambda: grid.current is not None and grid.face(grid.current) is not None)
        settle()

    def _find(self) -> None:
        self._press(framework_commands.INSPECT_WORKSPACE)
        self._press(framework_commands.PALETTE)
        palette = wait(lambda: self._window.findChild(CommandPalette))
        settle()
        QTest.keyClicks(palette.focusWidget(), "base")

    @property
    def _run(self) -> OpenRun | None:
        return self._studio.session.run

    def _share_drawn(self) -> float:
        steps = self._run.steps if self._run else ()
        return len(steps) / steps[0].total_steps if steps else 0.0

    def _is_all_stored(self) -> bool:
        session = self._studio.session
        runs = [run for run in (session.run, session.baseline) if run is not None]
        failures = [run.failure for run in runs if run.failure is not None]
        if failures:
            sys.exit(failures[0].message)
        return bool(runs) and all(run.folder is not None for run in runs)

    def _type(self, text: str) -> None:
        editor = self._window.prompt.findChild(PromptEditor)
        editor.setFocus()
        editor.selectAll()
        QTest.keyClicks(editor, text)
        wait(lambda: self._reads(text))

    def _reads(self, text: str) -> bool:
        scene = self._studio.session.scene
        return scene is not None and scene.prompt.text == text

    def _press(self, command: Command) -> None:
        action = self._window.context.actions[command]
        combination = action.shortcut()[0]
        self._window.activateWindow()  # without a desktop the window may lose the keyboard focus
        wait(self._window.isActiveWindow)
        target = QApplication.focusWidget() or self._window
        QTest.keyClick(target, combination.key(), combination.keyboardModifiers())


def main() -> int:
    """Play the tour with one look, or start a process for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--look", type=Path, help="folder for all looks; nothing is shipped")
    parser.add_argument("--play", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.play:
        look = next(each for each in (*SHIPPED, *ALL) if each.name == options.play)
        play(look, options.look)
        return 0
    for look in ALL if options.look else SHIPPED:
        folder = options.look / look.name if options.look else RESOURCES / FOLDER / look.theme.value
        start(look, folder)
        sys.stdout.write(f"{look.name}: {folder}\n")
    return 0


def start(look: Look, folder: Path) -> None:
    """Play the tour in a separate process, as Qt's scale cannot change within one."""
    command = [sys.executable, __file__, "--play", look.name, "--look", str(folder)]
    scaled = {"QT_QPA_PLATFORM": "offscreen", "QT_SCALE_FACTOR": str(look.scale)}
    with tempfile.TemporaryDirectory() as home:  # user data must not appear in the images
        apart = {**os.environ, **scaled, HOME_VARIABLE: home}
        subprocess.run(command, env=apart, check=True)


def play(look: Look, folder: Path) -> None:
    """Play the tour in this process."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, opened(look, Path(home)) as (window, studio):
        Tour(window, studio, folder).play()


@contextmanager
def opened(look: Look, home: Path) -> Iterator[tuple[MainWindow, Studio]]:
    """Open the window with an empty library."""
    application = make_application()
    qInstallMessageHandler(pass_on)
    studio = Studio.open("process", runs_folder=home)
    settings = WindowSettings(home / FILE_NAME)
    settings.theme = look.theme
    settings.density = Density.SIMPLE
    window = open_window(application, studio, settings)
    window.resize(*look.size)
    window.show()
    window.activateWindow()
    wait(window.isActiveWindow)
    settle()
    try:
        yield window, studio
    finally:
        window.close()


def wait(until: Callable[[], object]) -> object:
    """Process events until a condition is true; return its value."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (answer := until()):
        if time.monotonic() > deadline:
            sys.exit("The tour waited in vain.")
        QTest.qWait(10)
    return answer


def settle() -> None:
    """Process events until layout and painting have settled."""
    QTest.qWait(round(SETTLE_SECONDS * 1000))


def save(window: QWidget, path: Path) -> None:
    """Write the visible window and its dialog as a small PNG."""
    picture = window.grab()
    dialog = QApplication.activeModalWidget()
    if dialog is not None:
        over = dialog.grab()
        corner = window.mapFromGlobal(dialog.mapToGlobal(dialog.rect().topLeft()))
        painter = QPainter(picture)
        painter.drawPixmap(corner, over)
        painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    picture.save(buffer, "PNG")
    image = Image.open(BytesIO(bytes(buffer.data()))).convert("RGB")
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())
