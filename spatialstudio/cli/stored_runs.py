"""The commands that work on stored runs without any model: judge again, spoil the masks."""

import argparse
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Any

from spatialstudio.application.error_reports import EXIT_FAILURE, report_on
from spatialstudio.application.flow.study_corruption import (
    CorruptionRow,
    StudiedPicture,
    study_corruption,
)
from spatialstudio.application.inspection import judged_again
from spatialstudio.application.judge_choice import no_detector_chosen
from spatialstudio.application.session import OpenRun
from spatialstudio.application.studio import Studio
from spatialstudio.cli.answers import run_answer, run_lines
from spatialstudio.cli.judging import OpenStudio
from spatialstudio.cli.printing import complain, show_json, show_lines
from spatialstudio.domain.errors import SettingsError, StoreError, StudioError
from spatialstudio.domain.verdict import REPRODUCE, Evaluation
from spatialstudio.science.pse import pse_of

PERCENT = 100


class RunBatch:
    """The judged runs that a command names, read one at a time; what cannot be read is complained.

    Args:
        studio: Reads them.
        paths: Of their files, or folders; all runs in a folder and below it count.
        with_details: Whether complaints carry a traceback.

    Attributes:
        read: How many were read and were judged.
        failures: Path and message of the others.
    """

    def __init__(self, studio: Studio, paths: Sequence[Path], *, with_details: bool) -> None:
        self.read = 0
        self.failures: list[tuple[Path, str]] = []
        self._studio = studio
        found = (studio.keeping.store.runs_in(path) or (path,) for path in paths)
        self._paths = tuple(chain.from_iterable(found))
        self._with_details = with_details

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[tuple[Path, OpenRun, Evaluation]]:
        for path in self._paths:
            try:
                run = self._studio.read_run(path)
                if run.evaluation is None and not self._is_of_stickers(run):
                    raise no_detector_chosen()
                evaluation = _evaluation_of(run)
            except StudioError as error:
                self.failures.append((path, error.message))
                complain(report_on(error, "Reading a run"), with_details=self._with_details)
                continue
            self.read += 1
            yield path, run, evaluation

    def _is_of_stickers(self, run: OpenRun) -> bool:
        return self._studio.judge_defaults.draws_stickers(run.model_id)

    @property
    def exit_code(self) -> int:
        """Say whether all were read."""
        return EXIT_FAILURE if self.failures else 0

    @property
    def errors(self) -> list[Mapping[str, str]]:
        """Tell programs what could not be read."""
        return [{"run": str(path), "error": message} for path, message in self.failures]


class Totals:
    """Adds up verdicts and PSE over all relations of all runs."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._pse: list[float] = []

    def add(self, run: OpenRun, evaluation: Evaluation) -> None:
        """Take in one judged run."""
        relations = {relation.id: relation for relation in run.scene.relations}
        for verdict in evaluation.verdicts:
            self._outcomes[verdict.outcome.value] += 1
            self._pse.append(pse_of(relations[verdict.relation_id], evaluation))

    @property
    def answer(self) -> Mapping[str, Any]:
        """Tell programs."""
        return {
            "relations": len(self._pse),
            **self._outcomes,
            "mean_pse": mean(self._pse) if self._pse else None,
        }

    def lines(self, batch: RunBatch) -> Iterator[str]:
        """Tell people."""
        counts = ", ".join(f"{count} {outcome}" for outcome, count in self._outcomes.items())
        yield f"{batch.read} of {len(batch)} runs judged again: {counts or 'no relations'}"
        if self._pse:
            yield f"Mean PSE {mean(self._pse):.2f} (n = {len(self._pse)} relations)"


def judge_again(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Judge stored runs by other settings, from what was seen in their pictures."""
    studio = open_studio(None)
    settings = studio.judging.checker(options.checker, options.set)
    da_settings = studio.judging.da_settings(options.da, options.da_set)
    batch, totals = RunBatch(studio, options.runs, with_details=options.debug), Totals()
    answers = []
    for path, run, _ in batch:
        judged = judged_again(run, settings, da_settings)
        totals.add(judged, _evaluation_of(judged))
        if options.json:
            answers.append(run_answer(judged))
        else:
            show_lines([*([str(path)] if len(batch) > 1 else []), *run_lines(judged)])
    if options.json:
        show_json({"runs": answers, "summary": totals.answer, "errors": batch.errors})
    else:
        show_lines(totals.lines(batch))
    return batch.exit_code


def corruption_study(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Spoil the masks of stored runs in the published ways, and measure PSE."""
    if options.seed < 0:
        raise SettingsError(
            f"The seed {options.seed} is out of range.", hint="Choose a whole number from 0."
        )
    batch = RunBatch(open_studio(None), options.runs, with_details=options.debug)
    pictures = [
        StudiedPicture(scene=run.scene, perception=evaluation.perception)
        for _, run, evaluation in batch
    ]
    if batch.failures and not pictures:
        return batch.exit_code
    rows = study_corruption(pictures, REPRODUCE.detection_score, options.seed)
    if options.json:
        answer = [{"name": r.name, "level": r.level, "mean_pse": r.mean_pse} for r in rows]
        show_json(
            {
                "pictures": len(pictures),
                "relations": rows[0].relations,
                "rows": answer,
                "errors": batch.errors,
            }
        )
    else:
        show_lines(_study_lines(rows))
    return batch.exit_code


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
    yield f"n = {rows[0].relations} relations; jitter and opening are for 1024 x 1024 pixels,"
    yield "other pictures are spoilt in proportion."
