"""Judges a recorded run again, from what was seen in its pictures, without any model."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from spatialstudio.application.flow.change_settings import change_settings
from spatialstudio.domain.benchmark import (
    BenchmarkItem,
    JudgedSample,
    RecordedSample,
    RunReport,
)
from spatialstudio.domain.ports import RecordedRuns
from spatialstudio.domain.relation import relation_types
from spatialstudio.domain.safe_files import check_not_source
from spatialstudio.domain.verdict import CheckerSettings, Outcome
from spatialstudio.domain.write_gate import FILE_GATE
from spatialstudio.science.candidates import candidates_of
from spatialstudio.science.checker import decide_relation
from spatialstudio.science.pass_rates import all_of, best_of, outcome_counts, pair_counts


def judge_records(
    records: RecordedRuns,
    source: Path,
    target: Path,
    settings: CheckerSettings | None = None,
    changes: Sequence[str] = (),
    *,
    overwrite: bool = False,
) -> RunReport:
    """Read a run folder, judge it again and write what came of it in the same schema.

    Args:
        records: Reads and writes the files.
        source: The run folder.
        target: Where the results are written.
        settings: None for those that the run was judged with.
        changes: Single settings that shall differ, as "margin=0.05".
        overwrite: Whether earlier results are replaced; files of the run itself never are.

    Raises:
        ExportError: The target is the run's own folder, or results are there already.
        StoreError: The folder holds no such run, or the target cannot be written.
        SettingsError: The settings cannot be used.
    """
    run = records.read(source)
    if target.is_dir():
        check_not_source(target.iterdir(), records.files_of(source))
    settings = change_settings(settings or run.settings, changes)
    judged = tuple(judge_sample(sample, settings) for sample in run.samples)
    report = report_of(judged, settings)
    with FILE_GATE.passed():
        records.write(run, judged, report, target, overwrite=overwrite)
    return report


def judge_sample(sample: RecordedSample, settings: CheckerSettings) -> JudgedSample:
    """Judge one recorded picture."""
    if sample.perception is None:
        return JudgedSample(sample=sample, verdict=None, chosen=())
    ends = sample.relation.ends
    return JudgedSample(
        sample=sample,
        verdict=decide_relation(sample.relation, sample.perception, settings, sample.looks),
        chosen=tuple(candidates_of(end, sample.perception, settings).chosen for end in ends),
    )


def report_of(judged: Sequence[JudgedSample], settings: CheckerSettings) -> RunReport:
    """Add up the figures of a run, at least one picture."""
    types = dict.fromkeys(one.sample.item.relation_type for one in judged)
    by_item: dict[BenchmarkItem, dict[int, Outcome | None]] = defaultdict(dict)
    for one in judged:
        by_item[one.sample.item][one.sample.seed] = one.outcome
    pictures = max(len(outcomes) for outcomes in by_item.values())
    best = {item: best_of(list(outcomes.values())) for item, outcomes in by_item.items()}
    pairs = _pairs(by_item)
    return RunReport(
        settings=settings,
        all=outcome_counts(one.outcome for one in judged),
        by_relation={
            kind: outcome_counts(
                one.outcome for one in judged if one.sample.item.relation_type == kind
            )
            for kind in types
        },
        mean_confidence=sum(one.confidence for one in judged) / len(judged),
        best_of=outcome_counts(best.values()),
        all_of=outcome_counts(
            all_of(list(outcomes.values()), pictures) for outcomes in by_item.values()
        ),
        pairs=pair_counts((best[one], best[other]) for one, other in pairs),
        pairs_by_seed=pair_counts(
            (by_item[one][seed], by_item[other][seed])
            for one, other in pairs
            for seed in by_item[one].keys() & by_item[other].keys()
        ),
    )


def _pairs(
    items: Mapping[BenchmarkItem, object],
) -> list[tuple[BenchmarkItem, BenchmarkItem]]:
    """Pair each item with the one that swaps its objects and inverts its relation, once."""
    by_claim = {(item.relation_type, item.subject, item.object): item for item in items}
    pairs = []
    for item in items:
        inverse = relation_types.inverse(item.relation_type)
        counterpart = by_claim.get((inverse, item.object, item.subject))
        if counterpart is not None and item.id < counterpart.id:
            pairs.append((item, counterpart))
    return pairs
