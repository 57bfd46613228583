"""Has a patient extractor read a prompt in its own thread, while the grammar's scene is shown."""

import logging
from collections.abc import Callable
from dataclasses import replace
from threading import Thread

from spatialstudio.application.cancellation import CancelFlag
from spatialstudio.domain.errors import Cancelled, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import PatientExtractor
from spatialstudio.domain.prompt import Note, Prompt
from spatialstudio.domain.relation import SceneGraph

log = logging.getLogger(__name__)

PAUSE_S = 0.8
"""A prompt that stands for less is still being typed: nobody is asked about it."""


@frozen
class ReadAgain:
    """A prompt was read a second time. Made by ``SecondReader``; may cross threads.

    Attributes:
        scene: The later reading, or the grammar's where the model failed.
        failure: Why the model failed; None where it did not.
    """

    scene: SceneGraph
    failure: Note | None = None


class SecondReader:
    """Reads one prompt at a time; a new one stops the reading before it.

    Args:
        extractor: Makes or returns the reader; called in the reading thread only.
        publish: Takes ``ReadAgain``, in the reading thread.
        pause_s: How long a prompt must stand before it is read.
    """

    def __init__(
        self,
        extractor: Callable[[], PatientExtractor],
        publish: Callable[[object], None],
        pause_s: float = PAUSE_S,
    ) -> None:
        self._extractor = extractor
        self._publish = publish
        self._pause_s = pause_s
        self._flag = CancelFlag()
        self._thread: Thread | None = None

    def read(self, prompt: Prompt) -> None:
        """Start to read; returns at once."""
        self.cancel()
        self._flag = CancelFlag()
        self._thread = Thread(target=self._read, args=(prompt, self._flag), daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Stop reading; what still comes is not published."""
        self._flag.cancel()

    def wait(self) -> None:
        """Return when the reading has ended."""
        if self._thread is not None:
            self._thread.join()

    def _read(self, prompt: Prompt, flag: CancelFlag) -> None:
        if flag.wait(self._pause_s):
            return
        try:
            extractor = self._extractor()
            scene = extractor.extract(prompt, flag)
            flag.raise_if_cancelled()
        except Cancelled:
            return
        except StudioError:
            log.debug("A prompt could not be read a second time.")
            return
        if scene.extractor_id == extractor.id or not scene.notes:
            self._publish(ReadAgain(scene=scene))
            return
        failure, *others = scene.notes
        self._publish(ReadAgain(scene=replace(scene, notes=tuple(others)), failure=failure))
