"""What can go wrong, in words for the user: one tree of errors, each with a hint."""

from collections.abc import Iterable, Sequence
from enum import Enum
from pathlib import Path

from spatialstudio.domain.devices import MemoryFix
from spatialstudio.domain.frozen import frozen


class StudioError(Exception):
    """Something the user can understand and act on.

    Attributes:
        message: One sentence in the present, ending with a full stop.
        hint: What to try, ending with a full stop.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Keep message and hint when the error crosses a process border."""
        return (_rebuild, (type(self), self.message, self.hint))


class PromptError(StudioError):
    """The prompt cannot be used as it stands."""


class RequestError(StudioError):
    """A setting of the request is outside what can be done."""


class BackendError(StudioError):
    """A generation backend cannot do its work."""


class ModelNotFound(BackendError):  # noqa: N818 - reads as a finding
    """A model is not where it was looked for, or is damaged."""


class OutOfMemory(BackendError):  # noqa: N818 - the name that libraries use
    """The device has too little memory for the request.

    Attributes:
        fixes: What would fit, mildest first.
    """

    def __init__(self, message: str, *, hint: str = "", fixes: tuple[MemoryFix, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.fixes = fixes


class DetectorError(StudioError):
    """A detector, segmenter or depth model cannot do its work."""


class ImageError(StudioError):
    """A picture cannot be read, or is not a picture."""


class EmptyMapError(StudioError):
    """A map or mask holds no mass where some is needed."""


class SettingsError(StudioError):
    """A setting has a value that cannot be used."""


class NoDetectorChosen(SettingsError):  # noqa: N818 - reads as a finding
    """Nobody chose a detector for a picture that no default fits."""


class StoreError(StudioError):
    """A run cannot be written or read."""


class LibraryNotWritable(StoreError):  # noqa: N818 - reads as a finding
    """Finished runs cannot be kept where the user wants them."""


class ExportError(StudioError):
    """An export cannot be made."""


class TargetExists(ExportError):  # noqa: N818 - reads as a finding
    """Something has the name under which a result would be written.

    Attributes:
        targets: What is there.
    """

    def __init__(self, targets: Sequence[Path]) -> None:
        first, *others = targets
        more = f", and {len(others)} more" if others else ""
        super().__init__(
            f'"{first}" is already there{more}.',
            hint="Choose another name, or allow replacing files (--overwrite).",
        )
        self.targets = tuple(targets)

    def __reduce__(self) -> tuple[object, ...]:
        """Cross processes with what was found."""
        return type(self), (self.targets,)


class PluginError(StudioError):
    """A plugin cannot be loaded or does not keep its contract."""


class Cancelled(Exception):  # noqa: N818 - the user's wish, not an error
    """The user asked to stop; raised at the next safe point."""


class Obstacle(Enum):
    """What stands in the way where the user can move it."""

    LIBRARY = "library"
    MODEL = "model"
    DETECTOR = "detector"


@frozen
class ErrorReport:
    """A failure, ready to show. Made by ``error_reports.report_on`` only; may cross threads.

    Attributes:
        title: What failed, a few words.
        message: One sentence for the user.
        hint: What to try; empty when nothing is known to help.
        details: The traceback, for a bug report; empty for a known failure.
        is_mistake: Whether the user asked for what cannot be done.
        fixes: What would fit, where the memory was too small.
        obstacle: What the user can move out of the way; None when nothing is known.
    """

    title: str
    message: str
    hint: str = ""
    details: str = ""
    is_mistake: bool = False
    fixes: tuple[MemoryFix, ...] = ()
    obstacle: Obstacle | None = None


def prompt_too_long(unread: Iterable[str]) -> PromptError:
    """Make the error of a prompt that a model reads in part.

    Args:
        unread: What it does not read; each is named once.
    """
    names = ", ".join(f'"{name}"' for name in dict.fromkeys(unread))
    return PromptError(
        f"The prompt is too long: {names} is beyond the limit of the text encoder.",
        hint="Shorten the prompt, or name these objects earlier.",
    )


def _rebuild(kind: type[StudioError], message: str, hint: str) -> StudioError:
    return kind(message, hint=hint)
