"""The human study of a metric: how well its scores agree with the answers of people.

Rezaei et al. 2025, arXiv:2506.23418, compare PSE and three other metrics with three raters this
way (Tables 1 and 2). Any metric can be compared: one of the program over recorded runs, the scores
that stored runs have, or the columns of a table from elsewhere.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from spatialstudio.application.evaluate.metrics import (
    METRICS,
    choose_metrics,
    picture_values,
    relation_score,
)
from spatialstudio.application.evaluate.recorded_runs import evaluation_of
from spatialstudio.domain.audit import AuditItem
from spatialstudio.domain.audit_figures import BinaryFigures
from spatialstudio.domain.audit_session import Preference
from spatialstudio.domain.benchmark import RecordedRun
from spatialstudio.domain.errors import SettingsError, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.metric import Metric
from spatialstudio.domain.run_ports import RunStore
from spatialstudio.domain.scene import Relation, SceneGraph
from spatialstudio.domain.verdict import Evaluation, Outcome
from spatialstudio.science.metrics.choice_questions import CHOICES
from spatialstudio.science.metrics.scene_graph import SCENE_GRAPH
from spatialstudio.science.statistics.correlation import (
    Objective,
    PairCounts,
    Scores,
    area_under_roc,
    best_threshold,
    pearson,
    preference_accuracy,
    spearman,
)
from spatialstudio.science.statistics.intervals import figure_bootstrap, figures_bootstrap

RESAMPLES = 1000
"""Resamples of a bootstrap."""
HUMAN_SCORES = {Outcome.PASS: 1.0, Outcome.UNDECIDABLE: 0.5, Outcome.FAIL: 0.0}
"""Verdicts of people as ranks for the correlations."""
CHECKER = "checker"
"""The checker as a metric: its confidence, negative for FAIL, 0 for UNDECIDABLE."""
SIGNS = {Outcome.PASS: 1.0, Outcome.UNDECIDABLE: 0.0, Outcome.FAIL: -1.0}
NAMES = {CHECKER: "Checker", "pos": "Attention PoS"}
"""Names of stored scores in the window; "checker" here is its signed confidence."""
LEAST_SAMPLES = 2

MetricScores = Mapping[str, float]
"""Scores of a metric by sample id."""
Preferences = Sequence[tuple[str, str, Preference]]
"""First sample, second sample, and which one people prefer."""


@frozen
class HumanAnswers:
    """The answers of people on the same pictures.

    Attributes:
        scores: Ratings, or verdicts as ranks, by sample id; higher is better.
        passes: Whether people say that the picture satisfies the relation; without UNDECIDABLE.
        preferences: Compared pairs.
    """

    scores: Mapping[str, float]
    passes: Mapping[str, bool]
    preferences: Preferences = ()


@frozen
class MetricReport:
    """Agreement of one metric with people.

    Attributes:
        metric: Its name.
        n: Number of pictures with a score and an answer.
        kendall: Kendall's tau-b.
        spearman: Spearman's rho.
        pearson: Pearson's r.
        pairwise: Share of pairs of pictures ordered as people do, [0, 1].
        auc: Area under the ROC curve of PASS against FAIL, [0, 1].
        best: The threshold with the highest accuracy against PASS and FAIL; None without both.
        preference: Share of people's preferences that the metric predicts, [0, 1]; None without.
    """

    metric: str
    n: int
    kendall: Interval
    spearman: Interval
    pearson: Interval
    pairwise: Interval
    auc: Interval
    best: BinaryFigures | None
    preference: float | None

    @property
    def label(self) -> str:
        """The metric in words; a column of a table keeps its name."""
        name = self.metric
        return NAMES.get(name) or (METRICS[name].label if name in METRICS else name)


def answers_from(
    verdicts: Mapping[str, Outcome],
    ratings: Sequence[Mapping[str, float]] = (),
    preferences: Preferences = (),
) -> HumanAnswers:
    """Combine the answers of all raters; ratings of several raters are averaged.

    Args:
        verdicts: Consensus by sample id.
        ratings: Scores of each rater, by sample id.
        preferences: Compared pairs.
    """
    scores = {each: HUMAN_SCORES[verdict] for each, verdict in verdicts.items()}
    rated = {each for rater in ratings for each in rater}
    scores |= {
        each: float(np.mean([rater[each] for rater in ratings if each in rater])) for each in rated
    }
    decided = {each: v is Outcome.PASS for each, v in verdicts.items() if v in DECIDED}
    return HumanAnswers(scores=scores, passes=decided, preferences=tuple(preferences))


DECIDED = (Outcome.PASS, Outcome.FAIL)


def compare_metric(metric: str, scores: MetricScores, people: HumanAnswers) -> MetricReport:
    """Compare a metric with people; figures that are undefined have no value.

    Raises:
        SettingsError: Fewer than two pictures have a score and an answer.
    """
    pairs = [each for each in people.preferences if {each[0], each[1]} <= scores.keys()]
    common = sorted(scores.keys() & people.scores.keys())
    if len(common) < LEAST_SAMPLES and not pairs:
        raise SettingsError(
            f'"{metric}" has scores of fewer than two pictures with answers.',
            hint="Ids of scores and answers must be those of the sample.",
        )
    own = np.array([scores[each] for each in common])
    human = np.array([people.scores[each] for each in common])
    tested = sorted(scores.keys() & people.passes.keys())
    decided = np.array([scores[each] for each in tested])
    passes = np.array([people.passes[each] for each in tested], bool)
    has_both = bool(passes.any() and not passes.all())
    kendall, spearmans, pearsons, pairwise = figures_bootstrap(
        len(common), lambda drawn: _correlations(own[drawn], human[drawn]), resamples=RESAMPLES
    )
    return MetricReport(
        metric=metric,
        n=len(common),
        kendall=kendall,
        spearman=spearmans,
        pearson=pearsons,
        pairwise=pairwise,
        auc=figure_bootstrap(
            len(tested),
            lambda drawn: area_under_roc(decided[drawn], passes[drawn]),
            resamples=RESAMPLES,
        ),
        best=best_threshold(decided, passes, Objective.ACCURACY) if has_both else None,
        preference=_preference(scores, pairs),
    )


def _correlations(own: Scores, human: Scores) -> tuple[float | None, ...]:
    pairs = PairCounts(own, human)
    return pairs.tau_b, spearman(own, human), pearson(own, human), pairs.accuracy


def _preference(scores: MetricScores, pairs: Preferences) -> float | None:
    """Return the share of predicted preferences; pairs that people call equal are left out."""
    decided = [each for each in pairs if each[2] is not Preference.EQUAL]
    return preference_accuracy(
        np.array([scores[first] for first, _, _ in decided]),
        np.array([scores[second] for _, second, _ in decided]),
        np.array([preferred is Preference.FIRST for _, _, preferred in decided], bool),
    )


def scores_of_items(items: Sequence[AuditItem]) -> Mapping[str, MetricScores]:
    """Return scores by metric and sample id: the checker's, and those stored with the sample."""
    found: dict[str, dict[str, float]] = {CHECKER: {}}
    for item in items:
        one = item.candidate
        scores = {**item.scores, CHECKER: SIGNS[one.stratum.verdict] * one.confidence}
        for name, score in scores.items():
            found.setdefault(name, {})[one.id] = score
    return found


def scores_of_runs(runs: Sequence[RecordedRun], names: Sequence[str]) -> Mapping[str, MetricScores]:
    """Compute metrics over recorded detections; relations that a metric omits have no score.

    Args:
        runs: The runs.
        names: Names of metrics that score relations, or whole pictures by their boxes.

    Raises:
        SettingsError: There is no such metric.
        PluginError: A metric failed.
    """
    metrics, ids = choose_metrics(names), {name.partition(":")[0].strip() for name in names}
    chosen = [metric for metric in metrics.chosen if metric.id in ids]
    if silent := [metric.id for metric in chosen if not _reads_boxes(metric)]:
        known = ", ".join(each.id for each in METRICS if _reads_boxes(each))
        raise SettingsError(
            f'The metric "{silent[0]}" does not score relations.', hint=f"Available: {known}."
        )
    pictures = (
        (sample.id, sample.relation, evaluated)
        for run in runs
        for sample in run.samples
        if (evaluated := evaluation_of(sample, run.settings)) is not None
    )
    return _scored(pictures, chosen, metrics.rules)


def scores_of_library(items: Sequence[AuditItem], store: RunStore) -> Mapping[str, MetricScores]:
    """Compute every metric of relations from the stored perception of runs of the library.

    Pictures of other sources, and runs that cannot be read, have no score.

    Raises:
        PluginError: A metric failed.
    """
    metrics = choose_metrics([metric.id for metric in METRICS if _reads_boxes(metric)])
    chosen = [metric for metric in metrics.chosen if _reads_boxes(metric)]
    return _scored(stored_pictures(items, store), chosen, metrics.rules)


Picture = tuple[str, Relation, tuple[SceneGraph, Evaluation]]
"""Id of the sample, its relation, and the scene with its evaluation."""


def stored_pictures(items: Sequence[AuditItem], store: RunStore) -> Iterator[Picture]:
    """Yield the judged pictures among stored runs; others are left out."""
    for item in items:
        try:
            record, _ = store.load(item.picture)
        except StudioError:
            continue
        scene, evaluation = record.request.scene, record.evaluation
        for relation in scene.relations:
            if evaluation and item.candidate.id == sample_id(record.id, relation.id):
                yield item.candidate.id, relation, (scene, evaluation)


def sample_id(run_id: str, relation_id: str) -> str:
    """Return the id of a relation of a stored run in an audit."""
    return f"{run_id} {relation_id}"


def _scored(
    pictures: Iterable[Picture], chosen: Sequence[Metric], rules: Mapping[str, object]
) -> Mapping[str, MetricScores]:
    found: dict[str, dict[str, float]] = {metric.id: {} for metric in chosen}
    for name, relation, evaluated in pictures:
        for metric in chosen:
            score = _score(metric, relation, evaluated, rules[metric.id])
            if score is not None:
                found[metric.id][name] = float(score)
    return found


def _reads_boxes(metric: Metric) -> bool:
    return metric.of_relation is not None or metric.id in {SCENE_GRAPH, CHOICES}


def _score(
    metric: Metric,
    relation: Relation,
    evaluated: tuple[SceneGraph, Evaluation],
    rules: object,
) -> float | bool | None:
    if metric.of_relation is not None:
        return relation_score(metric, relation, *evaluated, rules)
    return metric.score_of(picture_values(metric, *evaluated, rules))
