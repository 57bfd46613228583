"""Reports on multiple-choice questions: data, recorded answers, runs, and methods compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import mean
from typing import Any

from spatialstudio.application.questions.question_files import (
    read_question_file,
    read_rollout_file,
)
from spatialstudio.application.questions.question_folder import AskPlan, open_run
from spatialstudio.application.questions.question_run import QuestionRun
from spatialstudio.domain.metric_table import QUESTIONS, PictureScores
from spatialstudio.domain.multiple_choice import (
    AnswerCost,
    ChoiceFigures,
    Price,
    QuestionSet,
    VotedSet,
    VoteRules,
)
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.science.questions.prompt_questions import check_question
from spatialstudio.science.questions.spatialgeneval import (
    BLIND,
    blind_scores,
    choice_figures,
    key_shares,
    vote,
)

RIGHT = {True: "True", False: "False", None: "left out"}


def question_report(data: Path, rollouts: Path | None, rules: VoteRules) -> Mapping[str, Any]:
    """Return the report as JSON values.

    Args:
        data: The user's copy of the questions.
        rollouts: Recorded answers; None to report on the questions alone.
        rules: How answers are read and counted.

    Raises:
        StoreError: A file cannot be read.
    """
    sets = read_question_file(data)
    report = data_report(sets, rules)
    if rollouts is None:
        return report
    attempts = read_rollout_file(rollouts)
    voted = [vote(each, attempts.get(each.id, ()), rules) for each in sets]
    unknown = len(attempts.keys() - {each.id for each in sets})
    return {**report, "answered": {**_answered(voted, rules), "unknown": unknown}}


def data_report(sets: Sequence[QuestionSet], rules: VoteRules) -> Mapping[str, Any]:
    """Return the biases and defects of questions as JSON values."""
    return {
        "pictures": len(sets),
        "questions": sum(len(each.questions) for each in sets),
        "keys": key_shares(sets),
        "blind": {
            name: {
                "as listed": blind_scores(sets, choose, rules, shuffles=False),
                "shuffled": blind_scores(sets, choose, rules, shuffles=True),
            }
            for name, choose in BLIND.items()
        },
        "defects": _defects(sets),
    }


def run_report(plan: AskPlan, run: QuestionRun) -> Mapping[str, Any]:
    """Return the report on a run as JSON values: accuracies, biases and cost."""
    voted = [item.voted for item in run.items()]
    return {
        "method": plan.method or plan.pictures.name,
        "answerer": plan.answerer_id,
        "model": plan.model_key,
        "settings": asdict(plan.settings),
        "missing": list(run.missing),
        "damaged_lines": run.journal.damaged,
        "answered": {**_answered(voted, plan.settings.rules), "unknown": 0},
        "biases": asdict(run.biases()),
        "cost": cost_row(run.journal.cost, plan.price),
    }


def leaderboard(folders: Iterable[Path]) -> Sequence[Mapping[str, Any]]:
    """Return the accuracies of several runs, best first, as JSON values.

    Raises:
        StoreError: A folder holds no run, or its questions have changed.
    """
    rows = []
    for folder in folders:
        plan, run = open_run(folder)
        figures = run.figures()
        rows.append(
            {
                "folder": str(folder),
                "method": plan.method or plan.pictures.name,
                "answerer": plan.answerer_id,
                "is_blind": plan.settings.is_blind,
                **_figures(figures),
            }
        )
    return sorted(rows, key=lambda row: -(row["overall"] or 0))


def question_scores(folders: Iterable[Path]) -> Iterator[PictureScores]:
    """Yield the share of right answers about each answered picture.

    Args:
        folders: Folders of runs of questions.

    Raises:
        StoreError: A folder holds no run, or its questions have changed.
    """
    for folder in folders:
        _, run = open_run(folder)
        for item in run.items():
            counted = [each for each in item.voted.is_right if each is not None]
            if item.picture is not None and item.voted.is_answered and counted:
                yield PictureScores(
                    name=item.picture.stem,
                    prompt=item.questions.prompt,
                    scores={QUESTIONS: mean(map(float, counted))},
                    path=item.picture,
                )


def checked_questions(
    sets: Sequence[QuestionSet], read_scene: Callable[[str], SceneGraph]
) -> Sequence[Mapping[str, Any]]:
    """Compare all questions with the scenes of their prompts, as JSON values.

    Args:
        sets: The questions.
        read_scene: Reads a prompt.

    Raises:
        PromptError: A prompt cannot be read.
    """
    rows = []
    for each in sets:
        scene = read_scene(each.prompt)
        for number, question in enumerate(each.questions, 1):
            check = check_question(question, scene)
            rows.append(
                {
                    "id": each.id,
                    "question": number,
                    "state": check.state.value,
                    "reason": check.reason,
                }
            )
    return rows


def cost_row(cost: AnswerCost, price: Price | None) -> Mapping[str, Any]:
    """Return a cost as JSON values, with its money if a price is set."""
    money = None if price is None else {"amount": cost.money(price), "currency": price.currency}
    return {**asdict(cost), "money": money}


def _defects(sets: Sequence[QuestionSet]) -> list[Mapping[str, Any]]:
    return [
        {"id": each.id, "question": number, "defect": defect.value}
        for each in sets
        for number, question in enumerate(each.questions, 1)
        for defect in question.defects
    ]


def _answered(voted: Sequence[VotedSet], rules: VoteRules) -> Mapping[str, Any]:
    return {
        **_figures(choice_figures(voted, rules)),
        "items": [_item(each) for each in voted],
    }


def _figures(figures: ChoiceFigures) -> dict[str, Any]:
    return {
        "sub_domains": figures.sub_domains,
        "domains": figures.domains,
        "basic": figures.basic,
        "spatial": figures.spatial,
        "overall": figures.overall,
        "pictures": figures.pictures,
        "unanswered": figures.unanswered,
    }


def _item(voted: VotedSet) -> Mapping[str, Any]:
    return {
        "id": voted.id,
        "attempts": voted.attempts,
        "right": [RIGHT[each] for each in voted.is_right],
        "chosen": list(voted.chosen),
        "votes": ["".join(column) for column in voted.answers],
    }
