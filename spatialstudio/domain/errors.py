"""Error hierarchy with user-facing messages and hints."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path

from spatialstudio.domain.devices import MemoryFix
from spatialstudio.domain.frozen import frozen

UPDATE_IT = "Update the plugin, or turn plugins off (SPATIALSTUDIO_PLUGINS=off)."
LONGEST_CAUSE = 300
"""Longest excerpt of another package's error message, in characters."""


class StudioError(Exception):
    """Base class of errors that the user can understand and act on.

    Attributes:
        message: One sentence in the present, ending with a full stop.
        hint: What to try, ending with a full stop.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Preserve message and hint when the error is pickled."""
        return (_rebuild, (type(self), self.message, self.hint))


class PromptError(StudioError):
    """The prompt cannot be used as written."""


class RequestError(StudioError):
    """A setting of the request is out of range or unsupported."""


class BackendError(StudioError):
    """A generation backend failed."""


class ModelNotFound(BackendError):  # noqa: N818 - the name states the fault
    """A model is missing or damaged."""


class OutOfMemory(BackendError):  # noqa: N818 - the name that libraries use
    """The device has too little memory for the request.

    Attributes:
        fixes: Changes with which the request would fit, mildest first.
    """

    def __init__(self, message: str, *, hint: str = "", fixes: tuple[MemoryFix, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.fixes = fixes


class DetectorError(StudioError):
    """A detector, segmenter or depth model failed."""


class AnswererError(DetectorError):
    """A question answerer failed.

    Attributes:
        charges: Tokens of question and answer that are charged nevertheless; 0 if unknown.
    """

    def __init__(self, message: str, *, hint: str = "", charges: tuple[int, int] = (0, 0)) -> None:
        super().__init__(message, hint=hint)
        self.charges = charges


class ImageError(StudioError):
    """An image file cannot be read, or is not an image."""


class EmptyMapError(StudioError):
    """A map or mask has zero mass where its sum must be positive."""


class SettingsError(StudioError):
    """A setting has an invalid value."""


class NoDetectorChosen(SettingsError):  # noqa: N818 - the name states the fault
    """No detector is chosen for an image without a default detector."""


class StoreError(StudioError):
    """A run or another stored file cannot be written or read."""


class LibraryNotWritable(StoreError):  # noqa: N818 - the name states the fault
    """Finished runs cannot be written to the library folder."""


class ExportError(StudioError):
    """An export failed."""


class TargetExists(ExportError):  # noqa: N818 - the name states the fault
    """A result would replace an existing file or folder.

    Attributes:
        targets: The existing paths.
    """

    def __init__(self, targets: Sequence[Path]) -> None:
        first, *others = targets
        more = f", and {len(others)} more" if others else ""
        super().__init__(
            f'"{first}" already exists{more}.',
            hint="Choose another name, or allow replacing files (--overwrite).",
        )
        self.targets = tuple(targets)

    def __reduce__(self) -> tuple[object, ...]:
        """Preserve the targets when the error is pickled."""
        return type(self), (self.targets,)


class ClusterError(StudioError):
    """A cluster cannot be reached, or cannot run the processes asked for."""


class PluginError(StudioError):
    """A plugin cannot be loaded or violates the plugin interface."""


class Cancelled(Exception):  # noqa: N818 - a cancellation, not an error
    """The user cancelled the work; raised at the next safe point."""


@contextmanager
def failures_named(
    name: str, *, hint: str = UPDATE_IT, kind: type[StudioError] = PluginError
) -> Iterator[None]:
    """Translate exceptions of a plugin's code into an error that names the plugin's part.

    Errors of the program, cancellations and memory errors are not translated.

    Args:
        name: The part, as the start of a sentence: 'The metric "x" of the plugin "Y"'.
        hint: What to try.
        kind: Class of the error.

    Raises:
        StudioError: The code raised another exception.
    """
    try:
        yield
    except (StudioError, Cancelled, MemoryError):
        raise
    except (Exception, SystemExit) as error:
        if type(error).__name__ == "OutOfMemoryError":  # of torch, which is not imported here
            raise
        raise kind(f"{name} failed: {cause_of(error)}.", hint=hint) from error


def cause_of(error: BaseException) -> str:
    """Return the type and shortened message of another package's exception, on one line."""
    message = " ".join(str(error).split())[:LONGEST_CAUSE].rstrip(".")
    name = type(error).__name__
    return f"{name}: {message}" if message else name


class Obstacle(Enum):
    """The cause of an error that the user can resolve in the window."""

    LIBRARY = "library"
    MODEL = "model"
    DETECTOR = "detector"


@frozen
class ErrorReport:
    """A displayable failure. Created only by ``error_reports.report_on``; may cross threads.

    Attributes:
        title: What failed, in a few words.
        message: One sentence for the user.
        hint: What to try; empty when no remedy is known.
        details: The traceback, for a bug report; empty for a known failure.
        is_mistake: Whether the user's request cannot be fulfilled.
        fixes: Changes with which the request would fit, after running out of memory.
        obstacle: A cause that the user can resolve; None when there is none.
    """

    title: str
    message: str
    hint: str = ""
    details: str = ""
    is_mistake: bool = False
    fixes: tuple[MemoryFix, ...] = ()
    obstacle: Obstacle | None = None


def prompt_too_long(unread: Iterable[str]) -> PromptError:
    """Return the error for a prompt beyond the text encoder's limit.

    Args:
        unread: The phrases that are cut off; duplicates are listed once.
    """
    names = ", ".join(f'"{name}"' for name in dict.fromkeys(unread))
    return PromptError(
        f"The prompt is too long: {names} is beyond the limit of the text encoder.",
        hint="Shorten the prompt, or name these objects earlier.",
    )


def _rebuild(kind: type[StudioError], message: str, hint: str) -> StudioError:
    return kind(message, hint=hint)
