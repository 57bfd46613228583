"""Accuracies of pictures in runs of questions, for the comparison with metrics."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import mean

from spatialstudio.application.questions.question_folder import open_run
from spatialstudio.domain.metric_table import QUESTIONS, PictureScores


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
