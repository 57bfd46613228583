"""The commands that work on stored runs without any model: judge again, spoil the masks."""

import argparse
from collections.abc import Iterator, Sequence

from spatialstudio.application.flow.study_corruption import (
    CorruptionRow,
    StudiedPicture,
    study_corruption,
)
from spatialstudio.application.inspection import judged_again
from spatialstudio.application.session import OpenRun
from spatialstudio.application.studio import Studio
from spatialstudio.cli.answers import run_answer, run_lines
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.printing import show_json, show_lines
from spatialstudio.domain.errors import SettingsError, StoreError
from spatialstudio.domain.verdict import REPRODUCE, Evaluation

PERCENT = 100


def judge_again(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Judge stored runs by other settings, from what was seen in their pictures."""
    studio = open_studio(None)
    settings = studio.judging.checker(options.checker, options.set)
    da_settings = studio.judging.da_settings(options.da, options.da_set)
    runs = [judged_again(run, settings, da_settings) for run in _judged_runs(studio, options)]
    if options.json:
        show_json({"runs": [run_answer(run) for run in runs]})
    else:
        show_lines(line for run in runs for line in run_lines(run))
    return 0


def corruption_study(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Spoil the masks of stored runs in the published ways, and measure PSE."""
    if options.seed < 0:
        raise SettingsError(
            f"The seed {options.seed} is out of range.", hint="Choose a whole number from 0."
        )
    pictures = [
        StudiedPicture(scene=run.scene, perception=_evaluation_of(run).perception)
        for run in _judged_runs(open_studio(None), options)
    ]
    rows = study_corruption(pictures, REPRODUCE.detection_score, options.seed)
    if options.json:
        answer = [{"name": r.name, "level": r.level, "mean_pse": r.mean_pse} for r in rows]
        show_json({"pictures": len(pictures), "rows": answer})
    else:
        show_lines(_study_lines(rows))
    return 0


def _judged_runs(studio: Studio, options: argparse.Namespace) -> Iterator[OpenRun]:
    for folder in options.runs:
        run = studio.open_run(folder)
        _evaluation_of(run)
        yield run


def _evaluation_of(run: OpenRun) -> Evaluation:
    if run.evaluation is None:
        raise StoreError(
            f'The picture "{run.path}" was never judged.',
            hint='Judge it with "spatialstudio evaluate".',
        )
    return run.evaluation


def _study_lines(rows: Sequence[CorruptionRow]) -> Iterator[str]:
    yield f"{'masks':10}{'level':>8}{'mean PSE x 100':>18}"
    for row in rows:
        yield f"{row.name:10}{row.level:8g}{row.mean_pse * PERCENT:18.2f}"
