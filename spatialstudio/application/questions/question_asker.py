"""Asks an answerer about pictures in a background thread, with the cost on the way."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.background_jobs import CancellableJob
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.questions.question_folder import AskPlan
from spatialstudio.application.questions.question_run import RunProgress
from spatialstudio.application.questions.questions import Questions
from spatialstudio.application.studio import Studio
from spatialstudio.domain.errors import (
    Cancelled,
    ErrorReport,
    StoreError,
    StudioError,
    TargetExists,
)
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.ports import PerceptionRole
from spatialstudio.science.questions.perception_answers import PERCEPTION_ID

ASKING = "Asking about pictures"
SERVER = "vision-model"
"""The answerer on a server."""


@frozen(eq=False)
class AskProgressed:
    """Pictures done and cost. Published by ``QuestionAsker``; may cross threads.

    Attributes:
        folder: Folder of the run.
        progress: The progress; before the first picture, ``left`` is the estimate of the run.
    """

    folder: Path
    progress: RunProgress


@frozen(eq=False)
class AskEnded:
    """A run was estimated, has ended, or was cancelled. Published once by ``QuestionAsker``.

    Attributes:
        folder: Folder of the run.
        error: Why it failed; None if it did not.
        is_cancelled: Whether it was cancelled; asking again continues it.
    """

    folder: Path
    error: ErrorReport | None = None
    is_cancelled: bool = False


def answerers_of(studio: Studio) -> tuple[tuple[str, str], ...]:
    """Return ids and names of answerers: the judge set, a server, models on this machine."""
    cards = studio.perception_models
    own = [card.ref.id for card in cards if card.role is PerceptionRole.ANSWERER]
    offered = ((PERCEPTION_ID, "judge set, without a language model"), (SERVER, "server"))
    return (*offered, *((name, name) for name in own))


class QuestionAsker(CancellableJob):
    """Estimates and asks one run at a time; a new request cancels the previous one.

    Args:
        questions: Use cases of questions.
        judges: Returns the chosen judge set.
        publish: Receives ``AskProgressed`` and ``AskEnded``, in the thread.
    """

    def __init__(
        self,
        questions: Questions,
        judges: Callable[[], JudgeSetChoice],
        publish: Callable[[object], None],
    ) -> None:
        self._questions = questions
        self._judges = judges
        self._publish = publish

    def ask(self, folder: Path, plan: AskPlan, *, only_estimates: bool = False) -> None:
        """Start a run, or continue the one in the folder; returns at once.

        Args:
            folder: Folder of the run.
            plan: What it asks; its model key is set from the answerer.
            only_estimates: Whether to publish the estimated cost, and ask nothing.
        """
        choice = replace(self._judges(), answerer_id=plan.answerer_id)
        self._start(
            lambda flag: self._ask(folder, plan, choice, flag, only_estimates=only_estimates)
        )

    def _ask(
        self,
        folder: Path,
        plan: AskPlan,
        choice: JudgeSetChoice,
        flag: CancelFlag,
        *,
        only_estimates: bool,
    ) -> None:
        try:
            answerer = self._questions.answerer(choice, plan.pictures)
            run = self._questions.begin(folder, replace(plan, model_key=answerer.model_key))
            for progress in self._questions.ask(run, answerer, flag):
                self._publish(AskProgressed(folder=folder, progress=progress))
                if only_estimates:
                    break
            if not only_estimates:
                self._questions.finish(folder)
        except Cancelled:
            self._publish(AskEnded(folder=folder, is_cancelled=True))
        except TargetExists:
            error = StoreError(
                f'"{folder.name}" holds a run with other questions, pictures or settings.',
                hint="Choose another folder for the answers.",
            )
            self._publish(AskEnded(folder=folder, error=report_on(error, ASKING)))
        except StudioError as error:
            self._publish(AskEnded(folder=folder, error=report_on(error, ASKING)))
        else:
            self._publish(AskEnded(folder=folder))
