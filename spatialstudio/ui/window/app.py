"""Starts the window: shown first, then the engine."""

import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QSocketNotifier, QTimer
from PySide6.QtWidgets import QApplication, QWidget

from spatialstudio.application.studio import Studio
from spatialstudio.domain.resources import resources_folder
from spatialstudio.ui.framework.appearance import Appearance
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.framework.window_settings import FILE_NAME, WindowSettings
from spatialstudio.ui.theme.fonts import use_bundled_font
from spatialstudio.ui.window.command_table import TABLE
from spatialstudio.ui.window.main_window import MainWindow


class FirstFrame(QObject):
    """Calls once, when a window has been painted for the first time.

    Args:
        window: What is waited for; the waiting ends with it.
        act: Called soon after its first picture.
    """

    def __init__(self, window: QWidget, act: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._act = act
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See the first painting begin; act when it has ended."""
        if event.type() is QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._window, self._act)
            self.deleteLater()
        return False


NAME = "Spatial Studio"
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
ENDED_BY_SIGNAL = 128
"""Added to a signal's number, as shells do."""
SWITCH_S = 0.0005
"""How long a thread that stores or reads runs may keep the window waiting for the interpreter."""
PAINTS_ALONE = "QT_NO_GUI_THREADPOOL"
"""Read by Qt: its helping threads make every painting wait for a core while the engine has them."""


def main(arguments: Sequence[str] = ()) -> int:
    """Show the window and stay until it is closed.

    Args:
        arguments: Command-line arguments without the program's name; Qt takes its own.

    Returns:
        The exit code.
    """
    application = make_application(arguments)
    studio = Studio.open("process")
    window = open_window(application, studio, WindowSettings(studio.paths.settings / FILE_NAME))
    window.show()
    close_on_signals(application)
    return application.exec()


def close_on_signals(application: QApplication) -> None:
    """Close the windows at Ctrl+C and its kin, and end with 128 plus the signal's number.

    A second signal does not wait for the windows.
    """
    ours, qt = socket.socketpair()
    for end in (ours, qt):
        end.setblocking(False)
    signal.set_wakeup_fd(ours.detach(), warn_on_full_buffer=False)
    for name in SIGNALS:
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, lambda number, _frame: signal.signal(number, signal.SIG_DFL))

    def close() -> None:
        (number, *_) = qt.recv(len(SIGNALS))
        application.closeAllWindows()
        application.exit(ENDED_BY_SIGNAL + number)

    notifier = QSocketNotifier(qt.fileno(), QSocketNotifier.Type.Read, application)
    notifier.activated.connect(close)


def make_application(arguments: Sequence[str] = ()) -> QApplication:
    """Return the application with its name and typeface."""
    sys.setswitchinterval(SWITCH_S)
    os.environ.setdefault(PAINTS_ALONE, "1")
    application = QApplication([sys.argv[0], *arguments])
    application.setApplicationName(NAME)
    use_bundled_font(application, resources_folder() / "fonts")
    return application


def open_window(application: QApplication, studio: Studio, settings: WindowSettings) -> MainWindow:
    """Return the window, not shown yet; the engine starts once it has been seen.

    Args:
        application: The running application.
        studio: What the window is a face of.
        settings: What the window remembers.
    """
    appearance = Appearance(application, settings)
    window = MainWindow(WindowContext.of(studio, appearance.theme, settings, TABLE), appearance)
    FirstFrame(window, window.get_ready)
    window.settled.connect(collect_garbage_again)
    return window


def collect_garbage_again() -> None:
    """Let Python look for garbage, but no longer among what the window is made of.

    Looking through all modules and widgets takes longer than a frame may.
    """
    gc.freeze()
    gc.enable()
