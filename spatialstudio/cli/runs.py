"""Commands on the library: list, show, export, import, verify, reindex, repeat, re-evaluate."""

import argparse
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from statistics import mean
from typing import Any

from spatialstudio.application.error_reports import EXIT_FAILURE, report_on
from spatialstudio.application.evaluate.judging import DaModelChoice
from spatialstudio.application.evaluate.recorded_runs import (
    CorruptionRow,
    StudiedPicture,
    study_corruption,
)
from spatialstudio.application.gallery.exports import ExportOrder
from spatialstudio.application.gallery.library import Recheck, recheck_sentence
from spatialstudio.application.inspect.inspection import judged_again
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.session import OpenRun
from spatialstudio.application.storage.storage import Reproduced
from spatialstudio.application.studio import Studio
from spatialstudio.cli.answers import (
    asked_line,
    evaluation_answer,
    run_answer,
    run_lines,
)
from spatialstudio.cli.judging import OpenStudio, note_absent_models, verdict_table
from spatialstudio.cli.options import judge_choice
from spatialstudio.cli.printing import (
    complain,
    show_json,
    show_lines,
    show_progress,
    show_table,
)
from spatialstudio.cli.studies import runs_named
from spatialstudio.domain.errors import (
    SettingsError,
    StoreError,
    StudioError,
)
from spatialstudio.domain.generation import GenerationRequest
from spatialstudio.domain.judge_choice import DEFAULT_JUDGE_SET
from spatialstudio.domain.library import (
    MOST_STARS,
    ClaimSummary,
    LibraryEntry,
    Reproduction,
    Sameness,
)
from spatialstudio.domain.options import parse_options
from spatialstudio.domain.verdict import REPRODUCE, Evaluation
from spatialstudio.science.pos.pse import pse_of

SETTINGS = ("model", "seed", "steps", "method", "strength")
"""Settings of a run in a table of verdicts."""
IMPORT = "import"
UNJUDGED = "-"
NOT_JUDGED = 'Verdicts were not checked; use "--recheck".'
NO_REASON = "No recorded difference of software or machine."
NO_SETTINGS = "no generation settings recorded"
ALL_OF_THEM = 0
WIDTH = 11
INDENT = " " * (WIDTH + MOST_STARS + 4)


def runs(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Run an action of the command ``runs``."""
    _check_library(options)
    studio = open_studio(options.library)
    try:
        return ACTIONS[options.action](options, studio)
    finally:
        studio.close()


def list_runs(options: argparse.Namespace, studio: Studio) -> int:
    """List the runs that match a filter line."""
    library = studio.library
    library.refresh()
    ids = library.list(" ".join([*options.words, *options.filter]))
    shown = library.entries(ids if options.most == ALL_OF_THEM else ids[: options.most])
    if options.json:
        show_json({"found": len(ids), "runs": [_entry_answer(entry) for entry in shown]})
    else:
        show_lines(line for entry in shown for line in _entry_lines(entry))
        show_lines([f"{len(ids)} found" + (f", {len(shown)} shown" * (len(shown) < len(ids)))])
    return 0


def show_runs(options: argparse.Namespace, studio: Studio) -> int:
    """Print the details of runs."""
    opened = [studio.open_run(path) for path in _chosen(options, studio)]
    if options.json:
        show_json({"runs": [run_answer(run) for run in opened]})
    else:
        show_lines(line for run in opened for line in (run.scene.prompt.text, *run_lines(run)))
    return 0


def export_runs(options: argparse.Namespace, studio: Studio) -> int:
    """Export runs to files."""
    look = studio.exports.look(options.theme)
    graph = parse_options(look.graph, options.graph_set)
    look = replace(look, is_marked=not options.unmarked, graph=graph)
    if options.layers is not None:
        look = replace(look, layers=frozenset(options.layers))
    paths = _chosen(options, studio)
    order = ExportOrder(
        into_folder=options.out.is_folder, overwrite=options.overwrite, note=show_progress
    )
    files = studio.exports.export(paths, options.kind, options.out.path, look, order)
    return _tell_files(options, files)


def import_bundle(options: argparse.Namespace, studio: Studio) -> int:
    """Import a bundle of runs."""
    pictures = studio.exports.open_bundle(options.bundle, studio.library.root, show_progress)
    studio.library.refresh()
    return _tell_files(options, pictures)


def verify_runs(options: argparse.Namespace, studio: Studio) -> int:
    """Verify that the files of the given runs, or of all, match their hashes."""
    paths = _chosen(options, studio, is_all_by_default=True)
    checks = {path: _checked(path, options, studio) for path in paths}
    bad = {path: check.faults for path, check in checks.items() if check.faults}
    if options.json:
        rows = [
            {"run": str(path), "part": fault.part, "message": fault.message}
            for path, found in bad.items()
            for fault in found
        ]
        again = _again_answer(checks.values()) if options.recheck else {}
        show_json({"checked": len(paths), **again, "faults": rows})
    else:
        show_lines(f"{p}: {fault.message}" for p, found in bad.items() for fault in found)
        show_lines([f"{_count(len(paths))} checked, {len(bad) or 'none'} with errors"])
        show_lines(_proof_lines(len(paths), len(bad)))
        show_lines([recheck_sentence(checks.values()) if options.recheck else NOT_JUDGED])
    return EXIT_FAILURE if bad else 0


def _checked(path: Path, options: argparse.Namespace, studio: Studio) -> Recheck:
    if options.recheck:
        return studio.library.recheck(path)
    return Recheck(faults=studio.library.verify(path))


def _again_answer(checks: Collection[Recheck]) -> Mapping[str, int]:
    return {
        "judged_again": sum(check.is_judged for check in checks),
        "with_differences": sum(check.has_differences for check in checks),
    }


def _proof_lines(checked: int, bad: int) -> Iterator[str]:
    """Yield which files are unchanged."""
    if checked > bad:
        others = "The other files" if bad else "The files"
        yield f"{others} are unchanged."


def reindex(options: argparse.Namespace, studio: Studio) -> int:
    """Rebuild the index from the files."""
    count = studio.library.reindex()
    if options.json:
        show_json({"runs": count})
    else:
        show_lines([f"{_count(count)} in the index"])
    return 0


def draw_again(options: argparse.Namespace, studio: Studio) -> int:
    """Repeat a run exactly, and compare the images."""
    summary: list[Reproduced] = []
    studio.bus.subscribe(lambda event: summary.extend(_comparison(event)))
    studio.bus.subscribe(studio.session.apply_event)
    (named,) = runs_named(studio, [options.run])
    studio.start()
    studio.run_again(named)
    if not summary:
        raise StoreError("The run could not be reproduced.", hint="See the message above.")
    comparison, run = summary[0].comparison, studio.session.run
    if options.json:
        picture = str(run.path) if run is not None else None
        show_json({"picture": picture, **_comparison_answer(comparison)})
    else:
        show_lines(_written_lines(run))
        show_lines(_comparison_lines(comparison))
    return 0


ACTIONS: Mapping[str, Callable[[argparse.Namespace, Studio], int]] = {
    "list": list_runs,
    "show": show_runs,
    "export": export_runs,
    IMPORT: import_bundle,
    "verify": verify_runs,
    "reindex": reindex,
    "again": draw_again,
}


def _chosen(
    options: argparse.Namespace, studio: Studio, *, is_all_by_default: bool = False
) -> Sequence[Path]:
    if options.filter is None and (options.runs or not is_all_by_default):
        if not options.runs:
            raise StoreError(
                "No run was given.", hint=("Pass picture files or ids of runs, or use --filter.")
            )
        return _each_once(runs_named(studio, options.runs))
    studio.library.refresh()
    entries = studio.library.entries(studio.library.list(options.filter or ""))
    chosen = _each_once([*runs_named(studio, options.runs), *(entry.path for entry in entries)])
    if options.filter is not None and not chosen:
        raise StoreError("No run matches the filter.", hint='List the runs with "runs list".')
    return chosen


def _each_once(paths: Iterable[Path]) -> Sequence[Path]:
    return list({os.path.realpath(path): path for path in paths}.values())


def _check_library(options: argparse.Namespace) -> None:
    """Reject a given library that does not exist; an import creates it.

    Raises:
        SettingsError: The path is not a folder.
    """
    folder: Path | None = options.library
    if folder is None or folder.is_dir():
        return
    if folder.exists():
        raise SettingsError(f'"{folder}" is not a folder.', hint="Pass a folder of runs.")
    if options.action != IMPORT:
        raise SettingsError(f'There is no folder "{folder}".', hint="Pass a folder of runs.")


def _count(number: int) -> str:
    return f"{number} run" if number == 1 else f"{number} runs"


def _tell_files(options: argparse.Namespace, files: Sequence[Path]) -> int:
    if options.json:
        show_json({"files": [str(path) for path in files]})
    else:
        show_lines(str(path) for path in files)
    return 0


def _entry_answer(entry: LibraryEntry) -> Mapping[str, Any]:
    summary, marks = entry.summary, entry.marks
    return {
        "picture": str(entry.path),
        "is_missing": entry.is_missing,
        "is_damaged": entry.is_damaged,
        "created": summary.created.isoformat(),
        "prompt": summary.prompt,
        "source": summary.source,
        "model": summary.model_id,
        "seed": summary.seed,
        "method": summary.method_id,
        "strength": summary.strength,
        "is_left_unguided": summary.is_left_unguided,
        "outcome": summary.outcome.value if summary.outcome else None,
        "relations": [_claim_answer(claim) for claim in summary.claims],
        "stars": marks.stars,
        "is_rejected": marks.is_rejected,
        "tags": marks.tags,
        "note": marks.note,
    }


def _claim_answer(claim: ClaimSummary) -> Mapping[str, Any]:
    return {
        "relation": claim.type_id,
        "subject": claim.subject,
        "object": claim.object,
        "outcome": claim.outcome.value if claim.outcome else None,
        "pos": claim.pos,
        "pse": claim.pse,
        "confidence": claim.confidence,
    }


def _entry_lines(entry: LibraryEntry) -> Iterator[str]:
    summary = entry.summary
    outcome = summary.outcome.value if summary.outcome else UNJUDGED
    stars = "*" * entry.marks.stars
    states = (("missing", entry.is_missing), ("damaged", entry.is_damaged))
    state = "".join(f"  ({name})" for name, holds in states if holds)
    yield f"{outcome:{WIDTH}}  {stars:{MOST_STARS}}  {summary.prompt}"
    asked = asked_line(
        summary.model_id,
        summary.seed,
        summary.steps,
        summary.method_id,
        summary.strength,
        is_left_unguided=summary.is_left_unguided,
    )
    other = f"picture {summary.source}" if summary.source else NO_SETTINGS
    settings = asked if summary.has_settings else other
    yield f"{INDENT}{summary.created:%Y-%m-%d %H:%M} UTC: {settings}"
    yield f"{INDENT}{entry.path}{state}"


def _comparison(event: object) -> tuple[Reproduced, ...]:
    return (event,) if isinstance(event, Reproduced) else ()


def _comparison_answer(comparison: Reproduction) -> Mapping[str, Any]:
    return {
        "sameness": comparison.sameness.value,
        "mean_difference": comparison.mean_difference,
        "largest_difference": comparison.largest_difference,
        "reasons": comparison.reasons,
    }


def _written_lines(run: OpenRun | None) -> Iterator[str]:
    if run is not None and run.path is not None:
        yield f"Wrote {run.path}"


SAMENESS_IN_WORDS = {
    Sameness.SAME: "The picture is the same: every pixel is equal.",
    Sameness.CLOSE: "The pictures differ, but not visibly.",
    Sameness.DIFFERENT: "The pictures differ.",
}


def _comparison_lines(comparison: Reproduction) -> Iterator[str]:
    yield SAMENESS_IN_WORDS[comparison.sameness]
    if comparison.largest_difference:
        mean, largest = comparison.mean_difference, comparison.largest_difference
        yield f"Pixel differences (0 to 255): mean {mean:.3f}, maximum {largest}."
    yield from comparison.reasons
    if comparison.sameness is not Sameness.SAME and not comparison.reasons:
        yield NO_REASON


PERCENT = 100


class RunBatch:
    """The evaluated runs of a command, read one at a time; unreadable runs are reported.

    Args:
        studio: Reads the runs.
        paths: Files or ids of runs, or folders with all runs in and below them.
        judge: Returns a run with the evaluation to use; by default the stored one.
        with_details: Whether errors include a traceback.

    Attributes:
        read: Number of evaluated runs read.
        failures: Path and error of each other run.
    """

    def __init__(
        self,
        studio: Studio,
        paths: Sequence[Path],
        judge: Callable[[OpenRun], OpenRun] = lambda run: run,
        *,
        with_details: bool,
    ) -> None:
        self.read = 0
        self.failures: list[tuple[Path, StudioError]] = []
        self._studio = studio
        self._judge = judge
        named = runs_named(studio, paths)
        found = (studio.storage.store.runs_in(path) or (path,) for path in named)
        self._paths = tuple(chain.from_iterable(found))
        self._with_details = with_details

    def __len__(self) -> int:
        return len(self._paths)

    def __iter__(self) -> Iterator[tuple[Path, OpenRun, Evaluation]]:
        for path in self._paths:
            try:
                run = self._judge(self._studio.read_run(path))
                evaluation = _evaluation_of(run)
            except StudioError as error:
                self.failures.append((path, error))
                complain(report_on(error, "Reading a run"), with_details=self._with_details)
                continue
            self.read += 1
            yield path, run, evaluation

    @property
    def exit_code(self) -> int:
        """Exit code: failure if a run could not be read."""
        return EXIT_FAILURE if self.failures else 0

    @property
    def errors(self) -> list[Mapping[str, str]]:
        """Errors as plain data."""
        return [
            {"run": str(path), "error": error.message, "hint": error.hint}
            for path, error in self.failures
        ]


class Totals:
    """Totals of verdicts and PSE over all relations of all runs."""

    def __init__(self) -> None:
        self._outcomes: Counter[str] = Counter()
        self._pse: list[float] = []
        self._compared = self._changed = 0

    def add(self, run: OpenRun, evaluation: Evaluation) -> None:
        """Add an evaluated run."""
        relations = {relation.id: relation for relation in run.scene.relations}
        for verdict in evaluation.verdicts:
            self._outcomes[verdict.outcome.value] += 1
            self._pse.append(pse_of(relations[verdict.relation_id], evaluation))
        self._outcomes.update(each.outcome.value for each in evaluation.mention_verdicts)

    def compare(self, before: Evaluation | None, after: Evaluation | None) -> None:
        """Count the verdicts on relations that differ from the stored ones."""
        if before is not None and after is not None:
            stored = {each.relation_id: each.outcome for each in before.verdicts}
            judged = {each.relation_id: each.outcome for each in after.verdicts}
            both = stored.keys() & judged.keys()
            self._compared += len(both)
            self._changed += sum(judged[each] is not stored[each] for each in both)

    @property
    def answer(self) -> Mapping[str, Any]:
        """Totals as plain data."""
        return {
            "relations": len(self._pse),
            "changed": self._changed,
            **self._outcomes,
            "mean_pse": mean(self._pse) if self._pse else None,
        }

    def lines(self, batch: RunBatch) -> Iterator[str]:
        """Yield the totals as lines of text."""
        counts = ", ".join(f"{count} {outcome}" for outcome, count in self._outcomes.items())
        judged = f"{batch.read} of {len(batch)} runs judged again"
        yield f"{judged}: {counts or 'no relations'}" if batch.read else f"{judged}."
        if self._compared:
            yield f"{self._changed} of {self._compared} verdicts on relations changed"
        if self._pse:
            n = f"n = {len(self._pse)} relations of all runs; missing objects count 0"
            yield f"Mean PSE {mean(self._pse):.2f} ({n})"


def _settings_row(request: GenerationRequest | None) -> Mapping[str, Any]:
    """Return the settings of a table of verdicts; none of an imported picture."""
    if request is None:
        return {}
    sampling = request.sampling
    return {
        "model": request.model.id,
        "seed": sampling.seed,
        "steps": sampling.steps,
        "method": sampling.guidance.method_id,
        "strength": sampling.guidance.strength,
    }


def judge_again(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Re-evaluate stored runs: from their perceptions, or by another judge set.

    Without a choice, a run that was never judged is evaluated by the default judge set.
    """
    studio = open_studio(None)
    settings = studio.judging.checker(options.checker, options.set)
    da_settings = studio.judging.da_settings(options.da, options.da_set)
    choice = judge_choice(options)
    note_absent_models(studio, choice)
    totals = Totals()

    def judge(run: OpenRun) -> OpenRun:
        if choice == DEFAULT_JUDGE_SET and run.evaluation is not None:
            judged = judged_again(run, settings, da_settings)
        else:
            da_models, token = DaModelChoice(settings=da_settings), CancelFlag()
            judged = studio.judging.run(run, settings, token, da_models, choice)
        if options.store and judged.path and judged.evaluation:
            studio.storage.store.judge(judged.path, judged.evaluation)
        totals.compare(run.evaluation, judged.evaluation)
        return judged

    batch = RunBatch(studio, options.runs, judge, with_details=options.debug)
    answers = []
    for path, judged, evaluation in batch:
        totals.add(judged, evaluation)
        if options.json:
            answers.append(run_answer(judged))
        elif options.csv:
            row = {"picture": str(path), "prompt": judged.scene.prompt.text, "error": None}
            row |= _settings_row(judged.request)
            answers.append({**row, **evaluation_answer(evaluation, judged.scene)})
        else:
            lines = run_lines(replace(judged, seconds=None))
            show_lines([str(path), *lines, ""] if len(batch) > 1 else lines)
    if options.csv:
        failed = [{"picture": each["run"], **each} for each in batch.errors]
        show_table(verdict_table([*answers, *failed], SETTINGS))
        for line in totals.lines(batch):
            show_progress(line)
    elif options.json:
        show_json({"runs": answers, "summary": totals.answer, "errors": batch.errors})
    else:
        show_lines(totals.lines(batch))
    return batch.exit_code


def corruption_study(options: argparse.Namespace, open_studio: OpenStudio) -> int:
    """Apply the published mask corruptions to stored runs, and measure PSE."""
    if options.seed < 0:
        raise SettingsError(
            f"The seed {options.seed} is out of range.", hint="Choose a whole number, 0 or more."
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
            f'The picture "{run.path}" has no verdict.',
            hint='Judge it with "spatialstudio judge-again --store".',
        )
    return run.evaluation


def _study_lines(rows: Sequence[CorruptionRow]) -> Iterator[str]:
    yield f"{'masks':10}{'level':>8}{'mean PSE x 100':>18}"
    for row in rows:
        yield f"{row.name:10}{row.level:8g}{row.mean_pse * PERCENT:18.2f}"
    yield f"n = {rows[0].relations} relations; jitter and opening are for 1024 x 1024 pixels,"
    yield "other sizes are scaled in proportion."
