"""Settings and background use of the user's language model server."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Thread

from spatialstudio.application.jobs.background_jobs import CancellableJob
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.errors import Cancelled, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import CancellableExtractor
from spatialstudio.domain.scene import Note, Prompt, SceneGraph
from spatialstudio.domain.servers import (
    ServerChoice,
    ServerChoices,
    ServerPreset,
)

log = logging.getLogger(__name__)


@frozen
class ServerTried:
    """Result of a server test. Published by ``LanguageModel``; may cross threads.

    Attributes:
        message: Description of the result, one or two sentences.
        works: Whether the server answers.
    """

    message: str
    works: bool


@frozen
class ServerKept:
    """Server settings were saved. Published by ``LanguageModel``; may cross threads.

    Attributes:
        problem: Why saving failed, one or two sentences; empty on success.
    """

    problem: str = ""


@frozen
class KeyLookedUp:
    """Result of a keyring lookup. Published by ``LanguageModel``; may cross threads.

    Attributes:
        url: URL of the server.
        is_known: Whether a key is stored.
    """

    url: str
    is_known: bool


class LanguageModel:
    """Stores the server settings; slow work runs in threads and ends with an event.

    Args:
        choices: Creates or returns the store of server settings.
        publish: Receives the events, in any thread.
        reset: Called after a change, so that readers use the new server.
    """

    def __init__(
        self,
        choices: Callable[[], ServerChoices],
        publish: Callable[[object], None],
        reset: Callable[[], None],
    ) -> None:
        self._choices = choices
        self._publish = publish
        self._reset = reset
        self._flag = CancelFlag()
        self._threads: list[Thread] = []

    @property
    def presets(self) -> Mapping[str, ServerPreset]:
        """Server presets by name."""
        return self._choices().presets

    @property
    def overriding(self) -> tuple[str, ...]:
        """Names of the environment variables that override the stored settings."""
        return self._choices().overriding

    @property
    def choice(self) -> ServerChoice:
        """The current server settings."""
        return self._choices().choice()

    def look_up_key(self, url: str) -> None:
        """Look up a stored key; publishes ``KeyLookedUp``."""
        self._start(
            lambda: self._publish(KeyLookedUp(url=url, is_known=self._choices().has_key(url)))
        )

    def keep(self, choice: ServerChoice, key: str | None) -> None:
        """Save server settings, and the key unless it is None; publishes ``ServerKept``."""
        self._start(lambda: self._publish(self._kept(choice, key)))

    def try_out(self, choice: ServerChoice, key: str | None) -> None:
        """Send a test request; publishes ``ServerTried`` unless a newer test starts first."""
        self.cancel()
        flag = self._flag = CancelFlag()

        def ask() -> None:
            if (tried := self._tried(choice, key, flag)) is not None:
                self._publish(tried)

        self._start(ask)

    def cancel(self) -> None:
        """Cancel the running server test."""
        self._flag.cancel()

    def wait(self) -> None:
        """Return when all started work has ended."""
        for thread in self._threads:
            thread.join()

    def _kept(self, choice: ServerChoice, key: str | None) -> ServerKept:
        try:
            self._choices().keep(choice, key)
        except StudioError as error:
            return ServerKept(problem=_in_words(error))
        self._reset()
        log.info("Another language model was chosen.")
        return ServerKept()

    def _tried(self, choice: ServerChoice, key: str | None, flag: CancelFlag) -> ServerTried | None:
        try:
            tried = ServerTried(message=self._choices().try_out(choice, key, flag), works=True)
        except Cancelled:
            return None
        except StudioError as error:
            tried = ServerTried(message=_in_words(error), works=False)
        return None if flag.is_cancelled else tried

    def _start(self, work: Callable[[], None]) -> None:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = Thread(target=work, name="language model", daemon=True)
        self._threads.append(thread)
        thread.start()


def _in_words(error: StudioError) -> str:
    return f"{error.message} {error.hint}".strip()


PAUSE_S = 0.8
"""Time without typing before a prompt is sent to the language model."""


@frozen
class ReadAgain:
    """A second reading of a prompt. Published by ``SecondReader``; may cross threads.

    Attributes:
        scene: The language model's reading, or the grammar's if the model failed.
        failure: Why the model failed; None on success.
    """

    scene: SceneGraph
    failure: Note | None = None


class SecondReader(CancellableJob):
    """Reads one prompt at a time; a new prompt cancels the previous reading.

    Args:
        extractor: Creates or returns the reader; called in the reading thread only.
        publish: Receives ``ReadAgain``, in the reading thread.
        pause_s: Time without typing before a prompt is read.
    """

    def __init__(
        self,
        extractor: Callable[[], CancellableExtractor],
        publish: Callable[[object], None],
        pause_s: float = PAUSE_S,
    ) -> None:
        self._extractor = extractor
        self._publish = publish
        self._pause_s = pause_s

    def read(self, prompt: Prompt) -> None:
        """Start to read a prompt; returns at once."""
        self._start(lambda flag: self._read(prompt, flag))

    def _read(self, prompt: Prompt, flag: CancelFlag) -> None:
        if flag.wait(self._pause_s):
            return
        try:
            extractor = self._extractor()
            scene = extractor.extract(prompt, flag)
            flag.raise_if_cancelled()
        except StudioError:
            log.debug("A prompt could not be read a second time.")
            return
        if scene.extractor_id == extractor.id or not scene.notes:
            self._publish(ReadAgain(scene=scene))
            return
        failure, *others = scene.notes
        self._publish(ReadAgain(scene=replace(scene, notes=tuple(others)), failure=failure))
