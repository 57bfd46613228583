"""Selection of metrics by name, each with or without its published faults, or with settings.

    checker,pse,visor,compbench:mended,hrs:takes_last_instance,scene_graph:near_gap=0.2

selects the checker, PSE, VISOR as published, T2I-CompBench without its faults, HRS without one
fault, and the scene-graph score with another setting. The names are part of every result.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from math import isfinite
from operator import attrgetter
from typing import Any, TypeAlias, TypeVar

import numpy as np

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import DA_RECOMMENDED, Assertions, DaSettings
from spatialstudio.domain.errors import PluginError, SettingsError, failures_named
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.metric import RESERVED_NAMES, Figures, Metric, RelationAnswer, Row
from spatialstudio.domain.options import parse_options
from spatialstudio.domain.ports import AssertionReader, CancelToken, QuestionAnswerer
from spatialstudio.domain.registrations import Registrations, constants_in
from spatialstudio.domain.scene import Relation, RelationId, SceneGraph
from spatialstudio.domain.verdict import CheckerSettings, Evaluation
from spatialstudio.science.questions.da_score import assertions_of, score_answers
from spatialstudio.science.questions.perception_answers import score_by_perception

RelationScores: TypeAlias = Mapping[str, Mapping[RelationId, RelationAnswer]]
"""Scores of each relation by metric id."""

MetricFailed: TypeAlias = Callable[[str, PluginError], None]
"""Receives the id of a metric that failed, and the error."""
CORRECTED_NAME = "mended"
ALWAYS = "checker"
"""Id of the metric whose verdicts carry the evidence."""


METRICS: Registrations[Metric] = Registrations(
    "metric", constants_in("spatialstudio.science.metrics", "METRIC", Metric), attrgetter("order")
)
"""All metrics in listed order: built-in ones, then those of plugins."""


@frozen
class ChosenMetrics:
    """Metrics to compute.

    Attributes:
        names: Names as requested, without duplicates.
        rules: Rules of each metric by id; the checker is always included.
    """

    names: tuple[str, ...]
    rules: Mapping[str, Any]

    @property
    def chosen(self) -> tuple[Metric, ...]:
        """The metrics, in listed order."""
        return tuple(metric for metric in METRICS if metric.id in self.rules)


def all_metrics() -> ChosenMetrics:
    """Select every metric with its published rules."""
    return choose_metrics([metric.id for metric in METRICS])


def choose_metrics(names: Sequence[str]) -> ChosenMetrics:
    """Select metrics by name.

    Args:
        names: Each a metric, "metric:mended" for all faults corrected, "metric:fault" for one
            corrected fault, "metric:setting=value" for a setting, or several joined by "+".

    Raises:
        SettingsError: A metric, a fault or a setting is unknown.
        RequestError: The value of a setting is invalid.
    """
    plain = tuple(dict.fromkeys(name.strip() for name in names))
    rules = {ALWAYS: METRICS[ALWAYS].rules}
    for name in plain:
        metric_id, _, changes = name.partition(":")
        metric = _metric(metric_id)
        known = rules.get(metric.id, metric.rules)
        rules[metric.id] = _changed(metric, known, changes.split("+")) if changes else known
    return ChosenMetrics(names=plain, rules=rules)


def published_faults() -> Mapping[str, tuple[str, ...]]:
    """Return the faults that can be corrected, by metric."""
    return {metric.id: metric.faults for metric in METRICS if metric.faults}


def metric_figures(rows: Sequence[Row], metrics: ChosenMetrics) -> Mapping[str, Figures]:
    """Aggregate the results of each metric.

    Args:
        rows: One row per image.
        metrics: The computed metrics.

    Returns:
        Figures by metric, without metrics that had nothing to evaluate; variants of a metric last.
        Those of a metric that failed are the message, as "error".
    """
    own, further = dict[str, Figures](), dict[str, Figures]()
    for metric in metrics.chosen:
        for name, figures in _figures_of(metric, rows, metrics.rules[metric.id]).items():
            (own if name == metric.id else further)[name] = figures
    return {name: figures for name, figures in {**own, **further}.items() if figures}


def relation_score(
    metric: Metric, relation: Relation, scene: SceneGraph, evaluation: Evaluation, rules: object
) -> RelationAnswer:
    """Return a metric's score of one relation; None if it does not cover the relation.

    Raises:
        PluginError: The metric failed, or returned neither True, False, None nor a finite number.
    """
    if metric.of_relation is None:
        return None
    with failures_named(f"The {METRICS.label(metric.id)}"):
        given: object = metric.of_relation(relation, scene, evaluation, rules)
        answer = given.item() if isinstance(given, np.generic) else given
        if answer is not None and not (isinstance(answer, int | float) and isfinite(answer)):
            raise TypeError(f"of_relation returned {answer!r}")
    return answer


def metric_values(
    metrics: ChosenMetrics, scene: SceneGraph, evaluation: Evaluation
) -> tuple[RelationScores, Mapping[str, Any]]:
    """Return the scores of each relation by metric, and the metrics' items for the whole image.

    Raises:
        PluginError: A metric failed.
    """
    return _values_of(metrics.chosen, metrics.rules, scene, evaluation)


def _values_of(
    metrics: Sequence[Metric], rules: Mapping[str, Any], scene: SceneGraph, evaluation: Evaluation
) -> tuple[RelationScores, Mapping[str, Any]]:
    scores: dict[str, Mapping[RelationId, RelationAnswer]] = {}
    values: dict[str, Any] = {}
    for metric in metrics:
        own = rules[metric.id]
        values |= picture_values(metric, scene, evaluation, own)
        if metric.of_relation is not None:
            scores[metric.id] = {
                each.id: relation_score(metric, each, scene, evaluation, own)
                for each in scene.relations
            }
    return scores, values


def metric_row(
    scene: SceneGraph, evaluation: Evaluation, metrics: ChosenMetrics
) -> Mapping[str, Any]:
    """Return the row of an evaluated image.

    Raises:
        PluginError: A metric failed.
    """
    return _row(scene, evaluation, *metric_values(metrics, scene, evaluation))


def _row(
    scene: SceneGraph, evaluation: Evaluation, scores: RelationScores, values: Mapping[str, Any]
) -> Mapping[str, Any]:
    return {
        "prompt": scene.prompt.text,
        "error": None,
        "relations": len(scene.relations),
        "objects": len(scene.mentions),
        **values,
        "verdicts": [
            {
                "relation_id": verdict.relation_id,
                "outcome": verdict.outcome.value,
                "confidence": float(verdict.confidence),
                **{name: own[verdict.relation_id] for name, own in scores.items()},
            }
            for verdict in evaluation.verdicts
        ],
        "outcome": evaluation.outcome.value if evaluation.outcome else None,
    }


def picture_scores(
    scene: SceneGraph,
    evaluation: Evaluation,
    metrics: ChosenMetrics,
    failed: MetricFailed = lambda _metric_id, _error: None,
) -> Mapping[str, float]:
    """Return the scores of an evaluated image by metric id, higher is better.

    Metrics that fail or do not cover the image are left out.

    Args:
        scene: Scene of the prompt.
        evaluation: Evaluation of the image.
        metrics: The metrics.
        failed: Receives the id and the error of each metric that fails.
    """
    scores = {}
    for metric in metrics.chosen:
        try:
            values = _values_of([metric], metrics.rules, scene, evaluation)
            score = metric.score_of(_row(scene, evaluation, *values))
        except PluginError as error:
            failed(metric.id, error)
            continue
        if score is not None:
            scores[metric.id] = score
    return scores


def picture_values(
    metric: Metric, scene: SceneGraph, evaluation: Evaluation, rules: object
) -> Mapping[str, Any]:
    """Return a metric's items for the whole image, as JSON values.

    Raises:
        PluginError: The metric failed, or returned something else.
    """
    if metric.of_picture is None:
        return {}
    with failures_named(f"The {METRICS.label(metric.id)}"):
        values = _named_values(metric.of_picture(scene, evaluation, rules), "of_picture")
        if taken := sorted(RESERVED_NAMES & values.keys()):
            raise ValueError(f'"{taken[0]}" is the name of another value')
    return values


def _figures_of(metric: Metric, rows: Sequence[Row], rules: object) -> Mapping[str, Figures]:
    """Return a metric's figures by name; on failure, the message under its id as "error"."""
    try:
        with failures_named(f"The {METRICS.label(metric.id)}"):
            figures = _named_values(metric.figures(rows, rules), "add_up")
            for name, own in figures.items():
                _named_values(own, "add_up")
                if name != metric.id and name in METRICS:
                    raise ValueError(f"add_up returned figures of {name}")
            return figures
    except PluginError as error:
        return {metric.id: {"error": error.message}}


def _named_values(values: object, source: str) -> Mapping[str, Any]:
    plain = _plain(values)
    if not isinstance(plain, dict):
        raise TypeError(f"{source} returned a {type(values).__name__}, not a mapping")
    return plain


def _plain(value: object) -> Any:
    """Return a value in the types of JSON.

    Numpy scalars and arrays become numbers and lists, NaN and infinite numbers None.

    Raises:
        TypeError: The value has another type.
    """
    match value:
        case np.generic():
            return _plain(value.item())
        case np.ndarray():
            return _plain(value.tolist())
        case float() if not isfinite(value):
            return None
        case None | bool() | int() | float() | str():
            return value
        case Mapping():
            return {
                name if isinstance(name, int) else str(name): _plain(each)
                for name, each in value.items()
            }
        case list() | tuple():
            return [_plain(each) for each in value]
    raise TypeError(f"a {type(value).__name__} cannot be stored in results")


def _metric(name: str) -> Metric:
    if name not in METRICS:
        known = ", ".join(metric.id for metric in METRICS)
        raise SettingsError(f'There is no metric "{name}".', hint=f"Available: {known}.")
    return METRICS[name]


def _changed(metric: Metric, rules: Any, changes: Sequence[str]) -> Any:
    """Return rules with other settings and without some of their faults."""
    settings = [each for each in changes if "=" in each]
    faults = [each for each in changes if "=" not in each]
    rules = parse_options(rules, settings)
    return _without(metric, rules, faults) if faults else rules


def _without(metric: Metric, rules: Any, faults: Sequence[str]) -> Any:
    known = metric.faults
    unknown = set(faults) - {CORRECTED_NAME, *known}
    if unknown or not known:
        raise SettingsError(
            f'The metric "{metric.id}" has no correction "{"+".join(unknown or faults)}".',
            hint=f"Available: {', '.join((CORRECTED_NAME, *known)) if known else 'none'}.",
        )
    wanted = known if CORRECTED_NAME in faults else faults
    return replace(rules, **dict.fromkeys(wanted, False))


SettingsT = TypeVar("SettingsT", CheckerSettings, DaSettings)

FIXED = {"preset", "perturbations", "weights"}
ABOVE_ZERO = {"temperature"}
MOST = {CheckerSettings: 1.0, DaSettings: 1000.0}
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def change_settings(settings: SettingsT, changes: Sequence[str]) -> SettingsT:
    """Return settings with some values changed, and a name that lists the changes.

    Args:
        settings: The base settings.
        changes: Changes such as "margin=0.05", "overlap_bars_vertical=yes" or "temperature=2".

    Raises:
        SettingsError: A setting is unknown, or the value is invalid.
    """
    if not changes:
        return settings
    values = dict(_read(settings, change) for change in changes)
    listed = ", ".join(f"{name}={_in_words(value)}" for name, value in values.items())
    return replace(settings, preset=f"{settings.preset}, {listed}", **values)


def _read(settings: CheckerSettings | DaSettings, change: str) -> tuple[str, Any]:
    name, _, word = (part.strip() for part in change.partition("="))
    known = [field.name for field in fields(settings) if field.name not in FIXED]
    if name not in known:
        raise SettingsError(
            f'There is no setting "{name}".', hint=f"Available: {', '.join(known)}."
        )
    present = getattr(settings, name)
    most = MOST[type(settings)]
    value = _value(present, word.lower(), most)
    if value is None or (name in ABOVE_ZERO and not value):
        raise SettingsError(
            f'The value "{word}" is invalid for the setting "{name}".',
            hint=f"Choose {_choices(present, most)}; the current value is {_in_words(present)}.",
        )
    return name, value


def _choices(present: object, most: float) -> str:
    if isinstance(present, bool):
        return "yes or no"
    if isinstance(present, Enum):
        return " or ".join(choice.value for choice in type(present))
    return f"a number from 0 to {most:g}"


def _value(present: object, word: str, most: float) -> object:
    """Parse a value of the same type as the present one; None if it is invalid."""
    if isinstance(present, bool):
        return WORDS.get(word)
    if isinstance(present, Enum):
        return next((choice for choice in type(present) if choice.value == word), None)
    try:
        number = float(word)
    except ValueError:
        return None
    return number if isfinite(number) and 0 <= number <= most else None


def _in_words(value: object) -> str:
    return str(value.value if isinstance(value, Enum) else value)


@frozen
class DaModels:
    """Models of the DA-score.

    Attributes:
        reader: Decomposes the prompt; None for the scene's assertions alone.
        answerer: Answers questions about the image; None for answers from the perception.
        settings: Settings of the DA-score.
    """

    reader: AssertionReader | None = None
    answerer: QuestionAnswerer | None = None
    settings: DaSettings = DA_RECOMMENDED


def score_assertions(
    image: RgbImage,
    scene: SceneGraph,
    evaluation: Evaluation,
    da_models: DaModels,
    token: CancelToken,
    assertions: Assertions | None = None,
) -> Evaluation:
    """Return an evaluation with its DA-score.

    Args:
        image: (H, W, 3) uint8.
        scene: Scene of the prompt.
        evaluation: Evaluation with the perception of the image.
        da_models: Models of the DA-score.
        token: Checked before each model call.
        assertions: Assertions of the prompt; None to derive them, as with those of another prompt.

    Raises:
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    reader, answerer, settings = da_models.reader, da_models.answerer, da_models.settings
    asserted = assertions
    if asserted is None or asserted.prompt not in {"", scene.prompt.text}:
        asserted = reader.read(scene, token) if reader else assertions_of(scene)
    if answerer is None:
        seen, instances = evaluation.perception, evaluation.instances
        score = score_by_perception(scene, seen, image, asserted, settings, instances)
    else:
        questions = [assertion.question for assertion in asserted.items]
        answers = answerer.answer(image, questions, token)
        score = score_answers(asserted, answers, answerer.id, settings)
    return replace(evaluation, da_score=score)
