"""The user's language model: which server is asked, kept and tried out without waiting for it."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from threading import Thread

from spatialstudio.application.jobs.background_jobs import CancellableJob
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.domain.errors import Cancelled, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import CancellableExtractor
from spatialstudio.domain.prompt import Note, Prompt
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.servers import (
    ServerChoice,
    ServerChoices,
    ServerPreset,
)

log = logging.getLogger(__name__)


@frozen
class ServerTried:
    """A server was tried out. Made by ``LanguageModel``; may cross threads.

    Attributes:
        message: How it went, in a sentence or two.
        works: Whether it answers.
    """

    message: str
    works: bool


@frozen
class ServerKept:
    """A choice was kept. Made by ``LanguageModel``; may cross threads.

    Attributes:
        problem: Why it could not be kept, in a sentence or two; empty when it was.
    """

    problem: str = ""


@frozen
class KeyLookedUp:
    """The keyring was asked for a server's key. Made by ``LanguageModel``; may cross threads.

    Attributes:
        url: Of the server.
        is_known: Whether there is one.
    """

    url: str
    is_known: bool


class LanguageModel:
    """Keeps the choice of a server; what may take time is done in threads and told by events.

    Args:
        choices: Makes or returns who keeps the choice.
        publish: Takes the events, in any thread.
        reset: Called when another choice was kept, so that readers ask the new server.
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
        """Servers that are offered, by name."""
        return self._choices().presets

    @property
    def overriding(self) -> tuple[str, ...]:
        """Names of the environment variables that go before what is kept."""
        return self._choices().overriding

    @property
    def choice(self) -> ServerChoice:
        """Which server is asked now."""
        return self._choices().choice()

    def look_up_key(self, url: str) -> None:
        """Find out whether a key is known; publishes ``KeyLookedUp``."""
        self._start(
            lambda: self._publish(KeyLookedUp(url=url, is_known=self._choices().has_key(url)))
        )

    def keep(self, choice: ServerChoice, key: str | None) -> None:
        """Keep a choice, and its key unless that is None; publishes ``ServerKept``."""
        self._start(lambda: self._publish(self._kept(choice, key)))

    def try_out(self, choice: ServerChoice, key: str | None) -> None:
        """Ask a server for a word; publishes ``ServerTried``, unless another is tried before."""
        self.cancel()
        flag = self._flag = CancelFlag()

        def ask() -> None:
            if (tried := self._tried(choice, key, flag)) is not None:
                self._publish(tried)

        self._start(ask)

    def cancel(self) -> None:
        """Wait for no server any more."""
        self._flag.cancel()

    def wait(self) -> None:
        """Return when all that was begun has ended."""
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


class SecondReader(CancellableJob):
    """Reads one prompt at a time; a new one stops the reading before it.

    Args:
        extractor: Makes or returns the reader; called in the reading thread only.
        publish: Takes ``ReadAgain``, in the reading thread.
        pause_s: How long a prompt must stand before it is read.
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
        """Start to read; returns at once."""
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
