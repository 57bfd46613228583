"""Audits of recorded runs: draw samples, merge labels, and compare the checker with people."""

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

from spatialstudio.application.audit.calibration import (
    FIT,
    FOLDS,
    CalibrationReport,
    RecordedSearch,
    calibrated_settings,
    calibration_report,
    judged_pictures,
    judged_records,
    margin_candidates,
)
from spatialstudio.application.audit.human_study import (
    HumanAnswers,
    answers_from,
    scores_of_items,
    scores_of_library,
    scores_of_runs,
    stored_pictures,
)
from spatialstudio.application.evaluate.checker_presets import CheckerPresets
from spatialstudio.application.registry import Registry
from spatialstudio.domain.audit import (
    AuditCandidate,
    AuditFiles,
    AuditItem,
    HumanLabel,
    LabelClash,
    StratifiedSample,
)
from spatialstudio.domain.audit_figures import (
    AuditedSample,
    AuditFigures,
    Confusion,
)
from spatialstudio.domain.audit_session import (
    LARGEST_SCORE,
    Answer,
    AuditTask,
    GoldItem,
    Preference,
    RaterQuality,
    VoteJournals,
    consistency_of,
)
from spatialstudio.domain.benchmark import RecordedRun
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.export import ExportLook
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.ports import RecordedRuns
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.verdict import CheckerSettings, Outcome
from spatialstudio.science.statistics.agreement import (
    MISSING,
    Codes,
    cohen_kappa,
    confusion,
    fleiss_kappa,
    krippendorff_alpha,
    label_codes,
    shared_units,
)
from spatialstudio.science.statistics.intervals import figure_bootstrap
from spatialstudio.science.statistics.sampling import (
    allocated_sample,
    equal,
    neyman,
    proportional,
    published_sample,
)
from spatialstudio.science.statistics.threshold_search import (
    Candidate,
    deployed_gap,
)

PUBLISHED_ALLOCATION = "published"
ALLOCATIONS = {"proportional": proportional, "neyman": neyman, "equal": equal}
FILES_ID, RECORDS_ID = "files", "spatialbench-uc"
SESSION_ENDING = ".votes"
SCORE_COLUMN = "score"
PREFERENCES = {each.value: each for each in Preference}
GOLD_HINTS = {
    AuditTask.VERDICT: "Choose labels (CSV or JSON), or votes on this question.",
    AuditTask.SCORE: "Choose a CSV file with the columns sample_id and score (0 to 100), or votes.",
    AuditTask.PREFERENCE: "Choose a CSV file with the columns first, second (ids of samples) and "
    "preferred (first, second or equal), or votes.",
}
"""What a file of correct answers must hold."""
LEAST_RATERS = 2
RESAMPLES = 1000
"""Resamples of a bootstrap of agreement."""


@frozen
class AgreementReport:
    """Agreement of the checker with people, and of people with each other.

    Attributes:
        confusion: The checker against the consensus.
        checker_kappa: Cohen's kappa of checker and consensus.
        pairs: Cohen's kappa of each pair of raters.
        fleiss: Fleiss' kappa of all raters; None with fewer than two.
        alpha: Krippendorff's alpha of all raters; None with fewer than two.
        disagreements: Ids of the samples on which raters differ and that no adjudication settled,
            in the order of the sample.
        unlabelled: Number of samples without a consensus.
    """

    confusion: Confusion
    checker_kappa: Interval
    pairs: Mapping[tuple[str, str], Interval]
    fleiss: Interval | None
    alpha: Interval | None
    disagreements: tuple[str, ...]
    unlabelled: int


@frozen(eq=False, kw_only=False)
class AuditExports:
    """What an audit writes with.

    Attributes:
        figures: Draws figures.
        look: Their colours.
        presets: Presets of the checker.
    """

    figures: AuditFigures
    look: ExportLook
    presets: CheckerPresets


class Audits:
    """Audits in the files of SpatialBench-UC.

    Args:
        files: Reads and writes samples, labels and settings.
        runs: Reads recorded runs.
        journals: Reads sessions.
        exports: Draws figures with the colours of a theme, and saves presets of the checker.
        store: Reads runs of the library.
    """

    def __init__(
        self,
        files: AuditFiles,
        runs: RecordedRuns,
        journals: VoteJournals,
        exports: "AuditExports",
        store: RunStore,
    ) -> None:
        self.files = files
        self.figures, self.look, self.presets = exports.figures, exports.look, exports.presets
        self._journals = journals
        self._runs = runs
        self._store = store

    def draw(
        self, runs: Sequence[Path], size: int, seed: int, allocation: str
    ) -> tuple[tuple[AuditItem, ...], StratifiedSample]:
        """Draw a stratified sample from run folders, read in the given order.

        Args:
            runs: Folders of runs or of their evaluations.
            size: Number of samples, at least 1.
            seed: Seed of Python's random number generator.
            allocation: ``PUBLISHED_ALLOCATION`` or a key of ``ALLOCATIONS``.

        Raises:
            StoreError: A folder holds no such run.
            SettingsError: The size is not positive, or two runs share an id.
        """
        return draw_items(self.population(runs), size, seed, allocation)

    def population(self, runs: Sequence[Path]) -> tuple[AuditItem, ...]:
        """Read the judged pictures of run folders, in the given order.

        Raises:
            StoreError: A folder holds no such run.
        """
        return tuple(item for folder in runs for item in self.files.read_population(folder))

    def merge(self, paths: Sequence[Path]) -> tuple[tuple[HumanLabel, ...], tuple[LabelClash, ...]]:
        """Read and merge label files; the result does not depend on their order.

        Raises:
            StoreError: A file is damaged.
        """
        return merge_labels([label for path in paths for label in self.labels_in(path)])

    def labels_in(self, path: Path) -> tuple[HumanLabel, ...]:
        """Read a label file, or the labels of a session.

        Raises:
            StoreError: The file is damaged.
        """
        if path.suffix == SESSION_ENDING:
            return self._journals.read(path).labels
        return self.files.read_labels(path)

    def gold_items(self, path: Path, task: AuditTask) -> tuple[GoldItem, ...]:
        """Read correct answers: from a table, a label file, or the session of another rater.

        Args:
            path: For verdicts a label file; for scores a table with the columns "sample_id" and
                "score"; for preferences one with "first", "second" and "preferred". Or a session.
            task: The question.

        Raises:
            StoreError: The file is damaged.
            SettingsError: It has no answers to the question, or an invalid one.
        """
        if path.suffix == SESSION_ENDING:
            items = self._journals.read(path).answers
        else:
            items = tuple(self._gold_in(path, task))
        if not items or items[0].correct.task is not task:
            raise SettingsError(
                f'"{path.name}" has no correct answers to this question.', hint=GOLD_HINTS[task]
            )
        return items

    def _gold_in(self, path: Path, task: AuditTask) -> Iterator[GoldItem]:
        if task is AuditTask.VERDICT:
            for name, verdict in consensus_of(self.merge([path])[0]).items():
                yield GoldItem(sample_ids=(name,), correct=Answer(verdict=verdict))
        elif task is AuditTask.SCORE:
            for name, score in self.files.read_scores(path).get(SCORE_COLUMN, {}).items():
                if not 0 <= score <= LARGEST_SCORE:
                    raise SettingsError(
                        f'"{path.name}" has the value {score:g}, which is not a score.',
                        hint=GOLD_HINTS[task],
                    )
                yield GoldItem(sample_ids=(name,), correct=Answer(score=score))
        else:
            for first, second, word in self.files.read_pairs(path):
                if first == second or word not in PREFERENCES:
                    raise SettingsError(
                        f'"{path.name}" has an invalid preference.', hint=GOLD_HINTS[task]
                    )
                answer = Answer(preferred=PREFERENCES[word])
                yield GoldItem(sample_ids=(first, second), correct=answer)

    def samples(
        self, sample: Path, labels: Sequence[HumanLabel], runs: Sequence[Path] = ()
    ) -> tuple[AuditedSample, ...]:
        """Join a sample with the consensus of its labels.

        Args:
            sample: The sample file; its weights count.
            labels: Merged labels; those of other samples are ignored.
            runs: Run folders whose verdicts replace the ones in the sample file.

        Raises:
            StoreError: A file is damaged.
            SettingsError: The runs lack a sample.
        """
        items = self.read_sample(sample)
        judged = {item.candidate.id: item.candidate for item in items}
        if runs:
            judged = {item.candidate.id: item.candidate for item in self.population(runs)}
        if missing := [item.candidate.id for item in items if item.candidate.id not in judged]:
            raise SettingsError(
                f'The runs do not contain the sample "{missing[0]}".',
                hint="Pass the run folders of all methods in the sample.",
            )
        current = [replace(item, candidate=judged[item.candidate.id]) for item in items]
        return samples_of(current, labels)

    def read_sample(self, path: Path) -> tuple[AuditItem, ...]:
        """Read a sample file, or the sample of a session.

        Raises:
            StoreError: The file is damaged.
        """
        if path.suffix == SESSION_ENDING:
            return self._journals.read(path).session.sample
        return self.files.read_sample(path)

    def margin_candidates(
        self, samples: Sequence[AuditedSample], runs: Sequence[Path], margins: Sequence[float]
    ) -> tuple[Candidate, ...]:
        """Evaluate the samples again from the recorded detections with each margin.

        The recorded stability is used for every margin, as the pictures are needed to measure it.

        Raises:
            StoreError: A folder holds no such run.
            SettingsError: The runs lack a sample, or a margin is invalid.
        """
        read = [self._runs.read(folder) for folder in runs] if margins else []
        return margin_candidates(samples, judged_records(read, margins), margins)

    def search_margins(
        self, items: Sequence[AuditItem], samples: Sequence[AuditedSample], margins: Sequence[float]
    ) -> CalibrationReport:
        """Search thresholds with the recorded margins and others, on the stored perceptions.

        Args:
            items: The pictures of the samples; recorded runs are found by their ``run_path``.
            samples: The audited samples.
            margins: Margins of the checker, shares of the image side, at least one.

        Raises:
            StoreError: A run folder holds no run.
            SettingsError: A sample is in no run, a margin is invalid, or there are too few labels.
        """
        judged = judged_pictures(stored_pictures(items, self._store), margins)
        records = judged_records(self._recorded_runs(items, judged), margins)
        recorded = Candidate(settings={}, samples=tuple(samples))
        searched = margin_candidates(samples, {**judged, **records}, margins)
        return calibration_report(samples, FIT, FOLDS, 0, (recorded, *searched))

    def checker_of(self, items: Sequence[AuditItem]) -> CheckerSettings:
        """Return the settings under which the pictures of a sample were judged.

        Raises:
            StoreError: A run folder holds no run.
            SettingsError: The settings differ.
        """
        judged = {name: each.checker for name, _, (_, each) in stored_pictures(items, self._store)}
        runs = self._recorded_runs(items, judged)
        found = [*judged.values(), *(run.settings for run in runs)]
        if any(each != found[0] for each in found):
            raise SettingsError(
                "The pictures were judged under different settings of the checker.",
                hint="Draw a sample of pictures judged under one, or judge them again.",
            )
        return found[0]

    def _recorded_runs(
        self, items: Sequence[AuditItem], stored: Container[str]
    ) -> list[RecordedRun]:
        """Read the recorded runs of a sample, each once; ``stored`` pictures are in the library."""
        missing = (item for item in items if item.candidate.id not in stored)
        folders = dict.fromkeys(Path(item.fields.get("run_path", "")) for item in missing)
        return [self._runs.read(folder) for folder in folders]

    def recorded_search(self, path: Path, samples: Sequence[AuditedSample]) -> RecordedSearch:
        """Compare the search that a release records with the verdicts at hand.

        Args:
            path: The ``audit_metrics.json`` of the search.
            samples: The audited samples, under the checker as deployed.

        Raises:
            StoreError: The file records no search.
        """
        chosen = self.files.read_search(path)
        deployed, gap = deployed_gap(chosen, Candidate(settings={}, samples=tuple(samples)))
        return RecordedSearch(chosen=chosen, deployed=deployed, gap=gap)

    def calibrated(
        self, run: Path, report: "CalibrationReport"
    ) -> tuple[CheckerSettings, Mapping[str, object]]:
        """Return the settings of a run with the chosen values, and the figures as evidence.

        Raises:
            StoreError: The folder holds no such run.
        """
        return calibrated_settings(self._runs.read(run).settings, report)

    def answers(self, paths: Sequence[Path], labels: Sequence[HumanLabel]) -> HumanAnswers:
        """Combine labels with the scores and preferences of sessions among the files.

        Raises:
            StoreError: A file is damaged.
        """
        states = [self._journals.read(path) for path in paths if path.suffix == SESSION_ENDING]
        ratings = [state.scores for state in states if state.scores]
        preferences = [each for state in states for each in state.preferences]
        return answers_from(consensus_of(labels), ratings, preferences)

    def consistency(self, paths: Sequence[Path]) -> tuple[tuple[str, RaterQuality], ...]:
        """Return rater and consistency of each session among the files; see ``consistency_of``.

        Raises:
            StoreError: A file is damaged.
        """
        states = [self._journals.read(path) for path in paths if path.suffix == SESSION_ENDING]
        return consistency_of(states)

    def metric_scores(
        self, sample: Path, tables: Sequence[Path], runs: Sequence[Path], names: Sequence[str]
    ) -> dict[str, Mapping[str, float]]:
        """Return the scores of metrics by sample id: of the sample, of tables, and of runs.

        Raises:
            StoreError: A file is damaged.
            SettingsError: There is no such metric.
        """
        found = dict(scores_of_items(self.read_sample(sample)))
        for path in tables:
            found |= self.files.read_scores(path)
        if names:
            found |= scores_of_runs([self._runs.read(folder) for folder in runs], names)
        return found

    def scores_of_library(self, items: Sequence[AuditItem]) -> Mapping[str, Mapping[str, float]]:
        """Compute every metric on the runs of the library in a sample; see ``human_study``."""
        return scores_of_library(items, self._store)


def make_audits(registry: Registry, look: ExportLook, presets: CheckerPresets) -> Audits:
    """Return the use cases of audits; figures have the colours of a look."""
    exports = AuditExports(registry.audit_figures(FILES_ID), look, presets)
    return Audits(
        registry.audit_files(RECORDS_ID),
        registry.records(RECORDS_ID),
        registry.vote_journals(FILES_ID),
        exports,
        registry.store(FILES_ID),
    )


def draw_items(
    items: Sequence[AuditItem], size: int, seed: int, allocation: str
) -> tuple[tuple[AuditItem, ...], StratifiedSample]:
    """Draw a stratified sample of pictures; each drawn item has its weight.

    Args:
        items: All pictures, in the order of their records.
        size: Number of samples, at least 1.
        seed: Seed of Python's random number generator.
        allocation: ``PUBLISHED_ALLOCATION`` or a key of ``ALLOCATIONS``.

    Raises:
        SettingsError: The size is not positive, or two pictures share an id.
    """
    by_id = {item.candidate.id: item for item in items}
    if size < 1 or len(by_id) < len(items):
        raise SettingsError(
            "The runs cannot be sampled.",
            hint="Choose a positive size, and runs whose pictures have different ids.",
        )
    sample = _drawn([item.candidate for item in items], size, seed, allocation)
    drawn = tuple(
        replace(by_id[one.id], weight=weight)
        for one, weight in zip(sample.drawn, sample.weights, strict=True)
    )
    return drawn, sample


def merge_labels(
    labels: Sequence[HumanLabel],
) -> tuple[tuple[HumanLabel, ...], tuple[LabelClash, ...]]:
    """Merge labels by sample and rater, and list the clashes; any order gives the same result."""
    groups: dict[tuple[str, str, bool], set[HumanLabel]] = defaultdict(set)
    for label in labels:
        groups[label.sample_id, label.rater, label.is_final].add(label)
    merged, clashes = [], []
    for key in sorted(groups):
        *others, last = sorted(groups[key], key=_age_of)
        merged.append(last)
        dropped = tuple(one for one in others if one.verdict is not last.verdict)
        if dropped:
            clashes.append(LabelClash(kept=last, dropped=dropped))
    return tuple(merged), tuple(clashes)


def consensus_of(labels: Sequence[HumanLabel]) -> dict[str, Outcome]:
    """Return the label of most raters by sample id; samples with a tie are left out.

    Labels of an adjudication replace those of the raters.
    """
    settled = {label.sample_id for label in labels if label.is_final}
    votes: dict[str, Counter[Outcome]] = defaultdict(Counter)
    for label in labels:
        if label.is_final or label.sample_id not in settled:
            votes[label.sample_id][label.verdict] += 1
    consensus = {}
    for sample_id, counts in votes.items():
        most = max(counts.values())
        winners = [outcome for outcome, count in counts.items() if count == most]
        if len(winners) == 1:
            consensus[sample_id] = winners[0]
    return consensus


def samples_of(
    items: Sequence[AuditItem], labels: Sequence[HumanLabel]
) -> tuple[AuditedSample, ...]:
    """Join pictures, with the verdicts that they carry, and the consensus of labels."""
    humans = consensus_of(labels)
    return tuple(
        AuditedSample(
            id=item.candidate.id,
            checker=item.candidate.stratum.verdict,
            confidence=item.candidate.confidence,
            human=humans.get(item.candidate.id),
            weight=item.weight,
        )
        for item in items
    )


def agreement_report(
    samples: Sequence[AuditedSample], labels: Sequence[HumanLabel]
) -> AgreementReport:
    """Compare the checker with the consensus, and the raters with each other."""
    settled = {label.sample_id for label in labels if label.is_final}
    labels = [label for label in labels if not label.is_final]
    names = sorted({label.rater for label in labels})
    given: dict[str, dict[str, Outcome]] = {name: {} for name in names}
    for label in labels:
        given[label.rater][label.sample_id] = label.verdict
    raters = [[given[name].get(one.id) for one in samples] for name in names]
    codes = label_codes([[one.checker for one in samples], [one.human for one in samples], *raters])
    people = codes[2:]
    is_shared = len(people) >= LEAST_RATERS
    differ = [len(set(unit[unit != MISSING].tolist())) > 1 for unit in people.T]
    return AgreementReport(
        confusion=confusion(samples),
        checker_kappa=_with_interval(cohen_kappa, codes[:2]),
        pairs={
            (names[one], names[other]): _with_interval(cohen_kappa, people[[one, other]])
            for one, other in combinations(range(len(names)), 2)
        },
        fleiss=_with_interval(fleiss_kappa, people) if is_shared else None,
        alpha=_with_interval(krippendorff_alpha, people) if is_shared else None,
        disagreements=tuple(
            sample.id
            for sample, is_disputed in zip(samples, differ, strict=True)
            if is_disputed and sample.id not in settled
        ),
        unlabelled=sum(one.human is None for one in samples),
    )


def _with_interval(coefficient: Callable[[Codes], float | None], codes: Codes) -> Interval:
    """Return a coefficient with its bootstrap interval over samples that have two labels."""
    shared = shared_units(codes)
    return figure_bootstrap(
        shared.shape[1], lambda drawn: coefficient(shared[:, drawn]), resamples=RESAMPLES
    )


def _drawn(
    candidates: Sequence[AuditCandidate], size: int, seed: int, allocation: str
) -> StratifiedSample:
    if allocation == PUBLISHED_ALLOCATION:
        return published_sample(candidates, size, seed)
    return allocated_sample(candidates, size, seed, ALLOCATIONS[allocation])


def _age_of(label: HumanLabel) -> tuple[str, str, str]:
    return label.timestamp, label.verdict.value, label.notes
