"""Starts the application: the window first, then the engine."""

import gc
import os
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSocketNotifier, QTimer
from PySide6.QtGui import QIcon, QPixmapCache
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
    """Calls a function once, after the first paint of a window.

    Args:
        window: The window; owner of this object.
        act: Called shortly after the first paint.
    """

    def __init__(self, window: QWidget, act: Callable[[], None]) -> None:
        super().__init__(window)
        self._window = window
        self._act = act
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Detect the first paint and schedule the call after it."""
        if event.type() is QEvent.Type.Paint:
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self._window, self._act)
            self.deleteLater()
        return False


NAME = "Spatial Studio"
ICON = "spatialstudio"
"""Name of the icon, and of the desktop entry by which Wayland finds it."""
SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")
ENDED_BY_SIGNAL = 128
"""Added to a signal's number, by shell convention."""
SWITCH_S = 0.0005
"""Thread switch interval: how long background threads may delay the GUI thread."""
PIXMAPS_KIB = 64 * 1024
"""Limit on cached pixmaps: icons, and the parts of plots that do not change at a step."""
PAINTS_ALONE = "QT_NO_GUI_THREADPOOL"
"""Qt environment variable; Qt's paint threads delay painting while the engine uses all cores."""


def main(arguments: Sequence[str] = ()) -> int:
    """Show the window and run until it is closed.

    Args:
        arguments: Command-line arguments without the program's name; Qt removes its options.

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
    """Close the windows on SIGINT, SIGTERM and SIGHUP; exit with 128 plus the signal's number.

    A second signal exits without waiting for the windows.
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
        close_windows()
        application.exit(ENDED_BY_SIGNAL + number)

    notifier = QSocketNotifier(qt.fileno(), QSocketNotifier.Type.Read, application)
    notifier.activated.connect(close)


def close_windows() -> None:
    """Close all windows: the main window first, as it stores which docks float."""
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, MainWindow):
            widget.close()
    QApplication.closeAllWindows()


def make_application(arguments: Sequence[str] = ()) -> QApplication:
    """Return the application with its name and typeface."""
    sys.setswitchinterval(SWITCH_S)
    os.environ.setdefault(PAINTS_ALONE, "1")
    application = QApplication([sys.argv[0], *arguments])
    application.setApplicationName(NAME)
    application.setDesktopFileName(ICON)
    application.setWindowIcon(QIcon(str(resources_folder() / "icons" / f"{ICON}.svg")))
    use_bundled_font(application, resources_folder() / "fonts")
    QPixmapCache.setCacheLimit(PIXMAPS_KIB)
    return application


def open_window(application: QApplication, studio: Studio, settings: WindowSettings) -> MainWindow:
    """Return the hidden main window; the engine starts after it is first shown.

    Args:
        application: The running application.
        studio: The application layer.
        settings: Persistent window settings.
    """
    appearance = Appearance(application, settings)
    window = MainWindow(WindowContext.of(studio, appearance.theme, settings, TABLE), appearance)
    FirstFrame(window, partial(_begin, window))
    window.settled.connect(collect_garbage_again)
    return window


def _begin(window: MainWindow) -> None:
    window.get_ready()
    window.make_docks_soon()


def collect_garbage_again() -> None:
    """Enable garbage collection again, excluding the objects of the window.

    Traversing all modules and widgets takes longer than a frame.
    """
    gc.freeze()
    gc.enable()
