"""Conversion of exceptions to error reports, shared by the window and the terminal."""

import errno
import re
import traceback
from pathlib import Path

from spatialstudio.domain.errors import (
    Cancelled,
    ErrorReport,
    ImageError,
    LibraryNotWritable,
    ModelNotFound,
    NoDetectorChosen,
    Obstacle,
    OutOfMemory,
    PromptError,
    RequestError,
    SettingsError,
    StudioError,
    TargetExists,
)

EXIT_FAILURE = 1
EXIT_USER_MISTAKE = 2
EXIT_CANCELLED = 130
"""Exit code of a program interrupted by SIGINT."""

LONGEST_PATH = 300
"""Longest path shown in a message, in characters."""
_LONG_NAME = re.compile(rf'(?<=")[^"]{{{LONGEST_PATH + 1},}}(?=")|\S{{{LONGEST_PATH + 1},}}')

_WRONG_NAMES = frozenset(
    {errno.ENAMETOOLONG, errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.ELOOP}
)
_OBSTACLES = {
    LibraryNotWritable: Obstacle.LIBRARY,
    ModelNotFound: Obstacle.MODEL,
    NoDetectorChosen: Obstacle.DETECTOR,
}
_USER_MISTAKES = (PromptError, RequestError, ImageError, SettingsError, ModelNotFound, TargetExists)


def report_on(exception: BaseException, title: str) -> ErrorReport:
    """Return the message, hint and details of an exception.

    Args:
        exception: Caught at a worker, event bus or plugin border.
        title: The operation that failed: "Drawing the picture".
    """
    if isinstance(exception, StudioError):
        return ErrorReport(
            title=title,
            message=_shorten_names(exception.message),
            hint=_shorten_names(exception.hint),
            is_mistake=isinstance(exception, _USER_MISTAKES),
            fixes=exception.fixes if isinstance(exception, OutOfMemory) else (),
            obstacle=_obstacle_of(exception),
        )
    message, hint = _words_on(exception, title)
    return ErrorReport(
        title=title,
        message=message,
        hint=hint,
        details="".join(traceback.format_exception(exception)),
        is_mistake=_is_wrong_name(exception),
    )


def _is_wrong_name(exception: BaseException) -> bool:
    if not isinstance(exception, OSError) or exception.filename is None:
        return False
    return exception.errno in _WRONG_NAMES


def _words_on(exception: BaseException, title: str) -> tuple[str, str]:
    """Return the message and hint for a Python or system error."""
    match exception:
        case MemoryError():
            return (
                "Out of memory.",
                "Close other programs, or choose a smaller picture or model.",
            )
        case RecursionError():
            return "The input is nested too deeply to be read.", "Choose another file."
        case OSError(errno=errno.ENOSPC):
            return "The disk is full.", "Free some space, then try again."
        case OSError(filename=str() | Path() as name, strerror=str() as reason):
            return (
                f'"{shorten_path(name)}" cannot be used: {reason.lower()}.',
                "Choose another file or folder.",
            )
    return (
        f"Unexpected error: {title[:1].lower()}{title[1:]} failed.",
        "Try again; if it happens again, report it with the details.",
    )


def shorten_path(path: str | Path) -> str:
    """Return a path for use in a message; a long path is cut to its end."""
    text = str(path)
    return text if len(text) <= LONGEST_PATH else f"…{text[-LONGEST_PATH:]}"


def _shorten_names(sentence: str) -> str:
    """Shorten quoted text and unreadably long words in a message."""
    return _LONG_NAME.sub(lambda found: shorten_path(found.group()), sentence)


def exit_code_of(problem: BaseException | ErrorReport) -> int:
    """Return the exit code of a command: user error, interruption or failure."""
    match problem:
        case Cancelled() | KeyboardInterrupt():
            return EXIT_CANCELLED
        case ErrorReport(is_mistake=True):
            return EXIT_USER_MISTAKE
        case _ if isinstance(problem, _USER_MISTAKES):
            return EXIT_USER_MISTAKE
    return EXIT_FAILURE


def _obstacle_of(error: StudioError) -> Obstacle | None:
    return next((found for kind, found in _OBSTACLES.items() if isinstance(error, kind)), None)
