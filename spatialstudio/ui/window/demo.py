"""Does the main job in the real window and leaves its runs and a screenshot in a folder.

Works without a display: ``python -m spatialstudio.ui.window.demo --out spatialstudio-demo``.
"""

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import (
    QMessageLogContext,
    QTimer,
    QtMsgType,
    Signal,
    qInstallMessageHandler,
)

from spatialstudio.application.session import (
    BaselineChanged,
    OpenRun,
    RunChanged,
    Session,
    StoreFailed,
)
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.ui.framework.panel_api import Panel
from spatialstudio.ui.framework.window_settings import (
    FILE_NAME,
    Density,
    ThemeChoice,
    WindowSettings,
)
from spatialstudio.ui.window.app import make_application, open_window
from spatialstudio.ui.window.main_window import MainWindow

log = logging.getLogger(__name__)

PROMPT = "a photo of a dog to the left of a car"
SEED = 15
"""A seed with which the embedded model fails the prompt unguided."""
SIZE = "1440x900"
PATIENCE_MS = 300_000
SETTLE_MS = 600
"""Enough for the last layout and frame, even on a busy machine."""
TOO_SLOW = ErrorReport(
    title="Demo",
    message="The demo did not finish within five minutes.",
    hint="Close other programs and try again.",
)
DISPLAYS = ("DISPLAY", "WAYLAND_DISPLAY")
OF_THE_PLATFORM = "This plugin does not support"
LEVELS = {QtMsgType.QtDebugMsg: logging.DEBUG, QtMsgType.QtInfoMsg: logging.INFO}


class Demo(Panel):
    """Runs the main workflow through the window's controls, then takes a screenshot.

    Emits ``ended`` with the exit code.
    """

    title = "Demo"
    ended = Signal(int)

    def __init__(self, window: MainWindow, session: Session, folder: Path) -> None:
        super().__init__()
        self._window = window
        self._session = session
        self._folder = folder
        self._is_over = False
        window.serve(self)
        window.generation.problem_met.connect(self._fail)

    def begin(self, prompt: str, seed: int) -> None:
        """Write the prompt and press Generate, with guidance and baseline."""
        QTimer.singleShot(PATIENCE_MS, self, lambda: self._fail(TOO_SLOW))
        self._window.prompt.use_prompt(prompt)
        self._window.generation.use_seed(seed)
        QTimer.singleShot(0, self, self._window.generation.generate)

    def handle(self, event: object) -> None:
        """Follow both runs until they are stored."""
        match event:
            case StoreFailed(error=error):
                self._fail(error)
            case RunChanged() | BaselineChanged():
                self._look()

    def _look(self) -> None:
        runs = _runs(self._session)
        for run in runs:
            if run.failure is not None:
                self._fail(run.failure)
        if not self._is_over and all(run.folder is not None for run in runs):
            self._is_over = True
            QTimer.singleShot(SETTLE_MS, self, self._leave)

    def _fail(self, report: ErrorReport) -> None:
        if not self._is_over:
            self._is_over = True
            sys.stderr.write(f"{report.message} {report.hint}\n")
            self.ended.emit(1)

    def _leave(self) -> None:
        screenshot = self._folder / "screenshot.png"
        if not self._window.grab().save(str(screenshot)):
            sys.stderr.write(f"The screenshot cannot be written to {self._folder}.\n")
            self.ended.emit(1)
            return
        for run in _runs(self._session):
            sys.stdout.write(f"run         {run.folder}\n")
        sys.stdout.write(f"screenshot  {screenshot}\n")
        self.ended.emit(0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the demo.

    Args:
        arguments: Command-line arguments without the program's name; None for those of the process.

    Returns:
        0 if the runs and the screenshot were written, 1 on failure.
    """
    options = _parse(sys.argv[1:] if arguments is None else arguments)
    if sys.platform == "linux" and not any(os.environ.get(name) for name in DISPLAYS):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    folder = Path(options.out).resolve()
    application = make_application()
    qInstallMessageHandler(pass_on)
    studio = Studio.open("process", runs_folder=folder)
    settings = WindowSettings(folder / FILE_NAME)
    settings.theme = ThemeChoice.DARK if options.dark else ThemeChoice.LIGHT
    settings.density = Density.FULL
    window = open_window(application, studio, settings)
    window.resize(*options.size)
    window.show()
    demo = Demo(window, studio.session, folder)
    demo.ended.connect(window.close)
    demo.ended.connect(application.exit)
    window.settled.connect(partial(demo.begin, options.prompt, options.seed))
    return application.exec()


def pass_on(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Log Qt's messages, except those of the offscreen platform about itself."""
    if not message.startswith(OF_THE_PLATFORM):
        log.log(LEVELS.get(kind, logging.WARNING), "%s (%s)", message, context.category)


def _runs(session: Session) -> tuple[OpenRun, ...]:
    return tuple(run for run in (session.run, session.baseline) if run is not None)


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    return int(width), int(height)


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="spatialstudio.ui.window.demo", description=__doc__)
    parser.add_argument(
        "--out", default="spatialstudio-demo", help=("folder for the run and the screenshot")
    )
    parser.add_argument("--prompt", default=PROMPT)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--dark", action="store_true", help="dark colours")
    parser.add_argument("--size", type=_size, default=SIZE, help="window size, WIDTHxHEIGHT")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
