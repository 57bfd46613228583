"""Multiple-choice questions of a benchmark, asked of a server or of a model on this machine.

The questions are those of the prompt's benchmark, else on its scene. Without an answerer in the
plan, they are answered from the perception. Replies are stored as they come, so that an interrupted
benchmark asks for the missing ones only, and shared with other runs by the cache of replies.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

from spatialstudio.application.benchmark.plan_file import asks_questions
from spatialstudio.application.benchmark.plan_items import key_of, questions_on
from spatialstudio.application.benchmark.runner import AskChoices, ItemFiles
from spatialstudio.application.questions.question_run import QuestionRun
from spatialstudio.application.questions.questions import Questions, questions_of
from spatialstudio.application.questions.reply_journal import ReplyJournal
from spatialstudio.application.studio import Studio
from spatialstudio.domain.benchmark_plan import PlannedItem
from spatialstudio.domain.errors import ImageError
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.multiple_choice import AskSettings
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.question_ports import ChoiceAnswerer
from spatialstudio.science.metrics.choice_questions import choice_values

REPLIES_FOLDER = "replies"
ASKING_LENGTH = 12
"""Digits that distinguish the replies of other answerers and protocols about a picture."""


class ChoiceAsking:
    """Asks about pictures.

    Args:
        questions: Use cases of questions.
        answerer: The answerer.
        folder: Folder of the benchmark.
        settings: How pictures are asked.
    """

    def __init__(
        self,
        questions: Questions,
        answerer: ChoiceAnswerer,
        folder: Path,
        settings: AskSettings,
    ) -> None:
        self._questions = questions
        self._answerer = answerer
        self._folder = folder
        self._settings = settings
        self._asking = key_of([answerer.id, answerer.model_key, settings])[:ASKING_LENGTH]
        self._locks: dict[str, Lock] = {}

    def values(self, item: PlannedItem, picture: str, token: CancelToken) -> Mapping[str, Any]:
        """Ask about the picture of an item, and return the values of the metric ``choices``.

        Args:
            item: An item with a request.
            picture: Its picture, relative to the folder of the benchmark.
            token: Polled while waiting.

        Raises:
            DetectorError: The answerer is missing or fails.
            ImageError: The picture cannot be read.
            StoreError: The replies cannot be stored.
            Cancelled: The token was cancelled.
        """
        made = questions_on(item)
        stated = {
            "choice_answerer": self._answerer.model_key,
            "choice_protocol": self._settings.text,
        }
        if not made.questions:
            return {"choice_score": None, "choice_questions": [], **stated}
        run = QuestionRun(
            ReplyJournal(self._folder / REPLIES_FOLDER / f"{item.key}.{self._asking}.jsonl"),
            [made],
            {made.id: self._folder / picture},
            self._settings,
            self._answerer.model_key,
        )
        # without the picture, the first item of a prompt asks, and the others use its replies
        shared = made.id if self._settings.is_blind else item.key
        with self._locks.setdefault(shared, Lock()):
            *_, last = self._questions.ask(run, self._answerer, token)
        if last.failed:
            raise ImageError(last.failed[made.id])
        voted = run.answered(made).voted
        cost = asdict(run.journal.full_cost)
        del cost["cached"]  # depends on the order of items
        return {**choice_values(made, voted, self._settings.rules), "choice_cost": cost, **stated}


def choice_asking(studio: Studio, items: ItemFiles) -> AskChoices | None:
    """Return what asks the answerer of a plan; None for the perception.

    Raises:
        DetectorError: The answerer answers yes-no questions only.
        ModelNotFound: The model is not installed.
    """
    plan = items.opened.plan
    answerer_id = plan.choice_answerer
    if not answerer_id or not asks_questions(items.metrics.names):
        return None
    questions, folder = questions_of(studio), items.store.folder
    answerer = questions.answerer(JudgeSetChoice(answerer_id=answerer_id), folder)
    return ChoiceAsking(questions, answerer, folder, plan.asking).values
