"""Multiple-choice questions of a benchmark, asked of a server or of a model on this machine.

Without an answerer in the plan, the metric ``choices`` answers them from the perception. Replies
are stored as they come, so that an interrupted benchmark asks for the missing ones only.
"""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from spatialstudio.application.benchmark.plan_file import asks_questions
from spatialstudio.application.benchmark.runner import AskChoices, ItemFiles
from spatialstudio.application.questions.question_run import QuestionRun
from spatialstudio.application.questions.questions import Questions, questions_of
from spatialstudio.application.questions.reply_journal import ReplyJournal
from spatialstudio.application.studio import Studio
from spatialstudio.domain.benchmark_plan import PlannedItem
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.multiple_choice import NONE_LETTER, AskSettings
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.question_ports import ChoiceAnswerer
from spatialstudio.science.questions.prompt_questions import questions_of_prompt

REPLIES_FOLDER = "replies"


class ChoiceAsking:
    """Asks about pictures with the settings of ``questions ask``.

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
        settings: AskSettings | None = None,
    ) -> None:
        self._questions = questions
        self._answerer = answerer
        self._folder = folder
        self._settings = settings or AskSettings()

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
        assert item.request is not None
        made = questions_of_prompt(item.request.scene, ()).questions
        key = self._answerer.model_key
        if not made.questions:
            return {"choice_score": None, "choice_questions": [], "choice_answerer": key}
        run = QuestionRun(
            ReplyJournal(self._folder / REPLIES_FOLDER / f"{item.key}.jsonl"),
            [made],
            {made.id: self._folder / picture},
            self._settings,
            key,
        )
        for _ in self._questions.ask(run, self._answerer, token, is_cached=False):
            pass
        voted = run.answered(made).voted
        rows = [
            {
                "sub_domain": name,
                "question": question.text,
                "key": question.key,
                "letter": letter if len(letter) == 1 else NONE_LETTER,
                "reason": "",
            }
            for question, name, letter in zip(
                made.questions,
                made.types,
                voted.chosen or (NONE_LETTER,) * len(made.questions),
                strict=True,
            )
        ]
        score = fmean(float(right is True) for right in voted.is_right)
        return {"choice_score": score, "choice_questions": rows, "choice_answerer": key}


def choice_asking(studio: Studio, items: ItemFiles) -> AskChoices | None:
    """Return what asks the answerer of a plan; None for the perception.

    Raises:
        DetectorError: The answerer answers yes-no questions only.
        ModelNotFound: The model is not installed.
    """
    answerer_id = items.opened.plan.choice_answerer
    if not answerer_id or not asks_questions(items.metrics.names):
        return None
    questions, folder = questions_of(studio), items.store.folder
    answerer = questions.answerer(JudgeSetChoice(answerer_id=answerer_id), folder)
    return ChoiceAsking(questions, answerer, folder).values
