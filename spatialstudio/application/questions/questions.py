"""Use cases of multiple-choice questions: answerers, runs, and the cache of replies."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from spatialstudio.application.questions.question_folder import (
    AskPlan,
    begin_run,
    open_run,
    write_answers,
)
from spatialstudio.application.questions.question_report import run_report
from spatialstudio.application.questions.question_run import QuestionRun, RunProgress
from spatialstudio.application.questions.reply_journal import ReplyJournal
from spatialstudio.application.registry import Registry
from spatialstudio.application.studio import IMAGES_ID, Studio
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.question_ports import ChoiceAnswerer

FILES_ID = "files"
CACHE_FOLDER = "answers"


class Questions:
    """Asks answerers about pictures; ``questions_of`` creates it.

    Args:
        registry: Registry of adapters.
        cache: The cache folder; None to cache nothing.
    """

    def __init__(self, registry: Registry, cache: Path | None) -> None:
        self._registry = registry
        self._cache = cache

    def answerer(self, answerer_id: str) -> ChoiceAnswerer:
        """Return an answerer of multiple-choice questions.

        Raises:
            DetectorError: It is missing, or answers yes-no questions only.
            ModelNotFound: The model is not installed.
        """
        return self._registry.choice_answerer(answerer_id)

    def begin(self, folder: Path, plan: AskPlan) -> QuestionRun:
        """Start a run of questions, or continue the one in the folder; see ``begin_run``."""
        return begin_run(folder, plan, self._write)

    def ask(
        self,
        run: QuestionRun,
        answerer: ChoiceAnswerer,
        token: CancelToken,
        *,
        is_cached: bool = True,
    ) -> Iterator[RunProgress]:
        """Ask for the missing replies of a run; see ``QuestionRun.ask``.

        Args:
            run: The run.
            answerer: The answerer.
            token: Checked before each reply, and while waiting.
            is_cached: Whether replies of other runs are used.
        """
        read_image = self._registry.images(IMAGES_ID).read
        cache = self._replies(answerer.model_key) if is_cached else None
        return run.ask(answerer, read_image, token, cache)

    def finish(self, folder: Path) -> None:
        """Write the answers and the report of a run.

        Raises:
            StoreError: The folder holds no run, or cannot be written.
        """
        plan, run = open_run(folder)
        write_answers(folder, run, run_report(plan, run), self._write)

    @property
    def _write(self) -> Callable[[Path, bytes], None]:
        return self._registry.benchmark_files(FILES_ID).write

    def _replies(self, model_key: str) -> ReplyJournal | None:
        """Return the cached replies of a model; None if there is no cache, or it is damaged."""
        if self._cache is None or not model_key:
            return None
        name = sha256(model_key.encode()).hexdigest()
        with suppress(StoreError):
            return ReplyJournal(self._cache / CACHE_FOLDER / f"{name}.jsonl")
        return None


def questions_of(studio: Studio) -> Questions:
    """Return the use cases of multiple-choice questions of a studio."""
    return Questions(studio.registry, studio.paths.surroundings.cache)
