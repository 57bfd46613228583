"""A report on multiple-choice questions: biases and defects of the data, recorded answers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spatialstudio.application.evaluate.question_files import (
    read_question_file,
    read_rollout_file,
)
from spatialstudio.domain.multiple_choice import QuestionSet, VotedSet, VoteRules
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
    report: dict[str, Any] = {
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
    if rollouts is not None:
        report["answered"] = _answered(sets, read_rollout_file(rollouts), rules)
    return report


def _defects(sets: Sequence[QuestionSet]) -> list[Mapping[str, Any]]:
    return [
        {"id": each.id, "question": number, "defect": defect.value}
        for each in sets
        for number, question in enumerate(each.questions, 1)
        for defect in question.defects
    ]


def _answered(
    sets: Sequence[QuestionSet], attempts: Mapping[str, Sequence[str]], rules: VoteRules
) -> Mapping[str, Any]:
    voted = [vote(each, attempts.get(each.id, ()), rules) for each in sets]
    figures = choice_figures(voted, rules)
    return {
        "sub_domains": figures.sub_domains,
        "domains": figures.domains,
        "basic": figures.basic,
        "spatial": figures.spatial,
        "overall": figures.overall,
        "pictures": figures.pictures,
        "unanswered": figures.unanswered,
        "unknown": len(attempts.keys() - {each.id for each in sets}),
        "items": [_item(each) for each in voted],
    }


def _item(voted: VotedSet) -> Mapping[str, Any]:
    return {
        "id": voted.id,
        "attempts": voted.attempts,
        "right": [RIGHT[each] for each in voted.is_right],
        "chosen": list(voted.chosen),
        "votes": ["".join(column) for column in voted.answers],
    }
