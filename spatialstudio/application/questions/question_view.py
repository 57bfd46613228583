"""A run of questions as it is shown: pictures, votes and reasons, accuracies and cost."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spatialstudio.application.questions.question_folder import AskPlan, open_run
from spatialstudio.application.questions.question_report import data_report
from spatialstudio.application.questions.question_run import AnsweredSet
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import (
    AnswerBiases,
    AnswerCost,
    AskSettings,
    ChoiceFigures,
    ChoiceQuestion,
)
from spatialstudio.science.questions.spatialgeneval import (
    letter_orders,
    listed_lines,
    read_rollout,
)


@frozen(eq=False)
class QuestionView:
    """A run as read.

    Attributes:
        folder: Its folder.
        plan: What it asks.
        items: The answers about each picture.
        figures: Its accuracies so far.
        biases: Its biases so far.
        cost: Its cost so far.
        left: Estimated cost of the missing replies.
    """

    folder: Path
    plan: AskPlan
    items: tuple[AnsweredSet, ...]
    figures: ChoiceFigures
    biases: AnswerBiases
    cost: AnswerCost
    left: AnswerCost

    @property
    def method(self) -> str:
        """Name of the method that drew the pictures."""
        return self.plan.method or self.plan.pictures.name

    def data_report(self) -> Mapping[str, Any]:
        """Return the biases and defects of the questions; takes seconds for a thousand pictures."""
        return data_report([item.questions for item in self.items], self.plan.settings.rules)


@frozen
class AnsweredQuestion:
    """The answers to one question about a picture, in the letters as listed.

    Attributes:
        type: Its sub-domain.
        question: The question.
        votes: Number of rollouts by letter, most first.
        chosen: The letters with enough votes, else the most frequent one; empty without answers.
        is_right: Whether the key has enough votes; None if the question does not count.
        reasons: The line of each valid rollout: "C: the cup is left of the dog".
    """

    type: str
    question: ChoiceQuestion
    votes: tuple[tuple[str, int], ...]
    chosen: str
    is_right: bool | None
    reasons: tuple[str, ...]


def read_view(folder: Path) -> QuestionView:
    """Read a run; it may still be asked.

    Raises:
        StoreError: The folder holds no run, or its questions have changed.
    """
    plan, run = open_run(folder)
    return QuestionView(
        folder=folder,
        plan=plan,
        items=tuple(run.items()),
        figures=run.figures(),
        biases=run.biases(),
        cost=run.journal.cost,
        left=run.estimate(),
    )


def answered_questions(item: AnsweredSet, settings: AskSettings) -> tuple[AnsweredQuestion, ...]:
    """Return the questions about a picture with votes and reasons."""
    rollouts = _valid_lines(item, settings)
    voted = item.voted
    answers = voted.answers or ((),) * len(item.questions.questions)
    chosen = voted.chosen or ("",) * len(answers)
    return tuple(
        AnsweredQuestion(
            type=type_,
            question=question,
            votes=_counted(own),
            chosen=letters,
            is_right=is_right,
            reasons=tuple(lines[place] for lines in rollouts),
        )
        for place, (type_, question, own, letters, is_right) in enumerate(
            zip(
                item.questions.types,
                item.questions.questions,
                answers,
                chosen,
                voted.is_right,
                strict=True,
            )
        )
    )


def _valid_lines(item: AnsweredSet, settings: AskSettings) -> list[list[str]]:
    """Return the lines of each valid rollout, a line for each question."""
    count = len(item.questions.questions)
    found = []
    for number, text in enumerate(item.attempts):
        if read_rollout(text, settings.rules, count) is None:
            continue
        if settings.shuffles:
            text = listed_lines(text, letter_orders(item.questions, number, settings.seed))
        found.append([line.strip() for line in text.splitlines() if line.strip()])
    return found


def _counted(letters: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    counts = {letter: letters.count(letter) for letter in dict.fromkeys(letters)}
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))
