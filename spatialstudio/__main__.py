"""Entry point: opens the window, or runs a command if there are arguments."""

import os
import sys

from spatialstudio.domain.search_paths import leave_out_current_folder

EXIT_FAILURE = 1
NO_WINDOW = """The window needs PySide6, which is not installed.
Install "PySide6-Essentials", or type "spatialstudio --help" for the terminal.
"""
NO_START = """Spatial Studio cannot start: {reason}.
Run "python3 packaging/bootstrap.py run", which installs what is missing.
"""


def main() -> int:
    """Run the command line and return the exit code."""
    leave_out_current_folder()  # before imports that a module in the current folder could shadow
    if len(sys.argv) > 1:
        from spatialstudio.cli.interrupts import end_on_signals, ignore_signals

        end_on_signals()  # before the imports below, which take seconds
    import gc
    import multiprocessing
    from importlib.util import find_spec

    multiprocessing.freeze_support()  # a frozen build starts its engine through this file
    arguments = sys.argv[1:]
    try:
        if arguments:
            from spatialstudio.cli.commands import run

            code = run(arguments)
            ignore_signals()
            gc.freeze()  # a last collection of all modules would take a second after a picture
            return code
        if find_spec("PySide6") is None:
            sys.stderr.write(NO_WINDOW)
            return EXIT_FAILURE
        from spatialstudio.application.system_libraries import window_obstacle

        nowhere = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        sys.stdout = sys.stdout or nowhere  # spatialstudio-gui on Windows has no console
        sys.stderr = sys.stderr or nowhere
        if obstacle := window_obstacle(os.environ):
            sys.stderr.write("{}\n{}\n".format(*obstacle))
            return EXIT_FAILURE
        gc.disable()  # a start without garbage collection is faster; the window enables it again
        from spatialstudio.ui.window.app import main as open_window

        return open_window()
    except ImportError as error:
        sys.stderr.write(NO_START.format(reason=error))
        return EXIT_FAILURE


if __name__ == "__main__":
    sys.exit(main())
