"""Re-evaluation of recorded benchmark runs, and the study of PSE under mask corruption.

Both use stored perceptions, or perceive once; benchmark runs need no model.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import fsum
from pathlib import Path
from statistics import mean

import numpy as np

from spatialstudio.application.evaluate.metrics import change_settings
from spatialstudio.domain.arrays import BoolMask
from spatialstudio.domain.benchmark import (
    BenchmarkItem,
    JudgedSample,
    RecordedRun,
    RecordedSample,
    RunReport,
    ScoredSample,
)
from spatialstudio.domain.errors import EmptyMapError, StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import RecordedRuns
from spatialstudio.domain.safe_files import check_not_source
from spatialstudio.domain.scene import (
    MentionId,
    ObjectMention,
    Prompt,
    Relation,
    SceneGraph,
    TextSpan,
    relation_types,
)
from spatialstudio.domain.verdict import CheckerSettings, Evaluation, Outcome, Perception
from spatialstudio.domain.write_gate import FILE_GATE
from spatialstudio.science.checker.decide import decide_relation
from spatialstudio.science.checker.decide_many import (
    OUTCOMES,
    StoredRecord,
    decide_many,
    tabulate,
)
from spatialstudio.science.checker.measurement import candidates_of
from spatialstudio.science.pos.mask_corruption import Corruption, published_corruptions
from spatialstudio.science.pos.pse import masks_of_ends
from spatialstudio.science.pos.superiority import pse_from_pos, relation_pos_on_masks
from spatialstudio.science.statistics.pass_rates import (
    all_of,
    best_of,
    outcome_counts,
    pair_counts,
)


def judge_records(
    records: RecordedRuns,
    source: Path,
    target: Path,
    settings: CheckerSettings | None = None,
    changes: Sequence[str] = (),
    *,
    overwrite: bool = False,
) -> RunReport:
    """Read a run folder, re-evaluate it, and write the results in the same schema.

    Args:
        records: Reads and writes the files.
        source: Folder of the run.
        target: Output folder.
        settings: None for the settings of the recorded run.
        changes: Settings to override, as "margin=0.05".
        overwrite: Whether to replace earlier results; files of the run itself are never replaced.

    Raises:
        ExportError: The target is the run's own folder, or contains results.
        StoreError: The folder contains no such run, or the target is not writable.
        SettingsError: The settings are invalid.
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
    """Evaluate one recorded image."""
    if sample.perception is None:
        return JudgedSample(sample=sample, verdict=None, chosen=())
    ends = sample.relation.ends
    return JudgedSample(
        sample=sample,
        verdict=decide_relation(sample.relation, sample.perception, settings, sample.looks),
        chosen=tuple(candidates_of(end, sample.perception, settings).chosen for end in ends),
    )


def evaluation_of(
    sample: RecordedSample, settings: CheckerSettings
) -> tuple[SceneGraph, Evaluation] | None:
    """Return the scene of a recorded image and its evaluation; None without a usable record."""
    verdict = judge_sample(sample, settings).verdict
    if sample.perception is None or verdict is None:
        return None
    names = (sample.item.subject, sample.item.object)
    mentions = tuple(
        ObjectMention(
            id=MentionId(name), phrase=name, head=name, span=TextSpan(start=0, stop=len(name))
        )
        for name in names
    )
    scene = SceneGraph(
        prompt=Prompt(text=sample.item.prompt),
        mentions=mentions,
        relations=(sample.relation,),
        extractor_id="recorded",
    )
    return scene, Evaluation(perception=sample.perception, verdicts=(verdict,), checker=settings)


def report_of(judged: Sequence[JudgedSample], settings: CheckerSettings) -> RunReport:
    """Aggregate the results of a run with at least one image."""
    return report_on_samples([_scored(one) for one in judged], settings)


def _scored(one: JudgedSample) -> ScoredSample:
    reason = one.verdict.reason if one.verdict else None
    return ScoredSample(
        item=one.sample.item,
        seed=one.sample.seed,
        outcome=one.outcome,
        confidence=one.confidence,
        reason=reason.value if reason else "",
    )


def report_on_samples(judged: Sequence[ScoredSample], settings: CheckerSettings) -> RunReport:
    """Aggregate at least one outcome."""
    types = dict.fromkeys(one.item.relation_type for one in judged)
    by_item: dict[BenchmarkItem, dict[int, Outcome | None]] = defaultdict(dict)
    for one in judged:
        by_item[one.item][one.seed] = one.outcome
    pictures = max(len(outcomes) for outcomes in by_item.values())
    best = {item: best_of(list(outcomes.values())) for item, outcomes in by_item.items()}
    pairs = counterfactual_pairs(by_item)
    return RunReport(
        settings=settings,
        all=outcome_counts(one.outcome for one in judged),
        by_relation={
            kind: outcome_counts(one.outcome for one in judged if one.item.relation_type == kind)
            for kind in types
        },
        mean_confidence=fsum(one.confidence for one in judged) / len(judged),
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


def counterfactual_pairs(
    items: Mapping[BenchmarkItem, object],
) -> list[tuple[BenchmarkItem, BenchmarkItem]]:
    """Return each pair of items with swapped objects and inverse relation, once."""
    by_claim = {(item.relation_type, item.subject, item.object): item for item in items}
    pairs = []
    for item in items:
        inverse = relation_types.inverse(item.relation_type)
        counterpart = by_claim.get((inverse, item.object, item.subject))
        if counterpart is not None and item.id < counterpart.id:
            pairs.append((item, counterpart))
    return pairs


MARGINS = (0.03, 0.05, 0.07, 0.10)
LEAST_CONFIDENCES = (0.0, 0.3, 0.5, 0.7)
"""The published grid; its detector thresholds cannot be tested on records cut at 0.5."""


@frozen
class SweepRow:
    """Results for one pair of thresholds.

    Attributes:
        margin: Half width of the undecidable band, share of the image side.
        least_confidence: Confidence below which a verdict counts as an abstention, [0, 1].
        passes: Number of PASS.
        fails: Number of FAIL.
        total: Number of images, including errors.
        errors: Images without a usable record.
    """

    margin: float
    least_confidence: float
    passes: int
    fails: int
    total: int
    errors: int = 0

    @property
    def coverage(self) -> float:
        """Share of decided images, [0, 1]."""
        return (self.passes + self.fails) / self.total


def sweep_thresholds(
    run: RecordedRun,
    settings: CheckerSettings,
    margins: Sequence[float] = MARGINS,
    least_confidences: Sequence[float] = LEAST_CONFIDENCES,
) -> tuple[SweepRow, ...]:
    """Evaluate a run with every pair of thresholds.

    Args:
        run: A run with the relations left, right, above and below.
        settings: All other thresholds.
        margins: Margins to test.
        least_confidences: Confidence thresholds to test with each margin.

    Raises:
        StoreError: No image of the run has a perception.
    """
    table = tabulate(_records(run))
    rows = []
    for margin, least in product(margins, least_confidences):
        decisions = decide_many(table, replace(settings, margin=margin))
        is_sure = decisions.confidence >= least
        passes, fails = (
            int(np.count_nonzero(is_sure & (decisions.outcome == OUTCOMES.index(outcome))))
            for outcome in (Outcome.PASS, Outcome.FAIL)
        )
        rows.append(
            SweepRow(
                margin=margin,
                least_confidence=least,
                passes=passes,
                fails=fails,
                total=len(run.samples),
                errors=sum(sample.perception is None for sample in run.samples),
            )
        )
    return tuple(rows)


def _records(run: RecordedRun) -> list[StoredRecord]:
    records = [
        StoredRecord(relation=sample.relation, perception=sample.perception, looks=sample.looks)
        for sample in run.samples
        if sample.perception is not None
    ]
    if not records:
        raise StoreError("This run has no perception records.", hint="Restore its records file.")
    return records


UNSPOILT = Corruption(name="none", level=0.0, spoil=lambda mask, _: mask)


@frozen
class StudiedPicture:
    """An image of the study.

    Attributes:
        scene: Scene of its prompt.
        perception: Its perception, with masks.
    """

    scene: SceneGraph
    perception: Perception


@frozen
class CorruptionRow:
    """One row of the study.

    Attributes:
        name: Name of the corruption; "none" for the original masks.
        level: Strength as published: share of pixels, or pixels of distance or iterations at
            1024 x 1024; scaled in proportion for other sizes.
        relations: Number of relations in the mean, the n of all images.
        mean_pse: Mean over all relations, [0, 1]; a relation that cannot be measured counts 0.
    """

    name: str
    level: float
    relations: int
    mean_pse: float


def study_corruption(
    pictures: Sequence[StudiedPicture], least_score: float, seed: int = 0
) -> tuple[CorruptionRow, ...]:
    """Apply every published corruption to the masks, and measure PSE after each.

    Args:
        pictures: Evaluated images.
        least_score: Minimum score of a mask, [0, 1].
        seed: Random seed of the corruptions.

    Returns:
        A row for the original masks, then one row per corruption.

    Raises:
        EmptyMapError: No image has a relation.
    """
    cases = [
        (relation, picture.perception, masks_of_ends(relation, picture.perception, least_score))
        for picture in pictures
        for relation in picture.scene.relations
    ]
    if not cases:
        raise EmptyMapError(
            "There is no relation to study.", hint="Choose runs whose prompts state relations."
        )
    return tuple(
        CorruptionRow(
            name=corruption.name,
            level=corruption.level,
            relations=len(cases),
            mean_pse=_mean_pse(cases, corruption, np.random.default_rng(seed)),
        )
        for corruption in (UNSPOILT, *published_corruptions())
    )


def _mean_pse(
    cases: Sequence[tuple[Relation, Perception, Sequence[BoolMask]]],
    corruption: Corruption,
    chance: np.random.Generator,
) -> float:
    scores = []
    for relation, perception, masks in cases:
        spoilt = [corruption.spoil(mask, chance) for mask in masks]
        pos = relation_pos_on_masks(relation.type, spoilt, perception.depth)
        scores.append(0.0 if pos is None else pse_from_pos(pos))
    return mean(scores)
