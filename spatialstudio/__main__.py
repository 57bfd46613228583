"""Start the window, or a command when arguments are given."""

import sys
from importlib.util import find_spec

from spatialstudio.application.error_reports import EXIT_FAILURE
from spatialstudio.cli.commands import run
from spatialstudio.cli.printing import complain
from spatialstudio.domain.errors import ErrorReport

NO_WINDOW = ErrorReport(
    title="Opening the window",
    message="The window needs PySide6, which is not installed.",
    hint='Install "PySide6-Essentials", or type "spatialstudio --help" for the terminal.',
)


def main() -> int:
    """Do what the command line asks for and return the exit code."""
    arguments = sys.argv[1:]
    if arguments:
        return run(arguments)
    if find_spec("PySide6") is None:
        complain(NO_WINDOW)
        return EXIT_FAILURE
    from spatialstudio.ui.app import main as open_window  # the terminal works without Qt

    return open_window()


if __name__ == "__main__":
    sys.exit(main())
