"""Which metrics judge, by name, and with which of their published faults.

    checker,pse,visor,compbench:mended,hrs:takes_last_instance

asks the checker, PSE, VISOR as published, T2I-CompBench without its faults, and HRS without this
one fault. The names stand in every result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from math import isfinite
from typing import Any, TypeVar

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import DA_RECOMMENDED, DaSettings
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.judge_ports import AssertionReader, QuestionAnswerer
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import CheckerSettings, Evaluation
from spatialstudio.science.metrics.center_metrics import (
    MENDED,
    PUBLISHED,
    CenterRules,
)
from spatialstudio.science.questions.da_score import assertions_of, score_answers
from spatialstudio.science.questions.perception_answers import score_by_perception

MENDED_NAME = "mended"


class MetricKind(Enum):
    """Who can be asked."""

    CHECKER = "checker"
    """SpatialBench-UC's, always asked: its verdicts carry the evidence."""
    PSE = "pse"
    DA_SCORE = "da"
    VISOR = "visor"
    COMPBENCH = "compbench"
    HRS = "hrs"
    GENEVAL = "geneval"


CENTER_METRICS = (MetricKind.VISOR, MetricKind.COMPBENCH, MetricKind.HRS, MetricKind.GENEVAL)


@frozen
class ChosenMetrics:
    """Who is asked.

    Attributes:
        names: As they were asked for, each once.
        kinds: The same without their faults.
        center_rules: What counts with the centre metrics.
    """

    names: tuple[str, ...]
    kinds: frozenset[MetricKind]
    center_rules: CenterRules


ALL_METRICS = ChosenMetrics(
    names=tuple(kind.value for kind in MetricKind),
    kinds=frozenset(MetricKind),
    center_rules=PUBLISHED,
)


def choose_metrics(names: Sequence[str]) -> ChosenMetrics:
    """Choose judges by name.

    Args:
        names: Each a judge, or "judge:mended", or "judge:fault" without this fault, or several
            faults joined by "+".

    Raises:
        SettingsError: A judge or a fault is not known.
    """
    plain = tuple(dict.fromkeys(name.strip() for name in names))
    rules = PUBLISHED
    kinds = {MetricKind.CHECKER}
    for name in plain:
        judge, _, faults = name.partition(":")
        kind = _kind(judge)
        kinds.add(kind)
        if faults:
            rules = _without(rules, kind, faults.split("+"))
    return ChosenMetrics(names=plain, kinds=frozenset(kinds), center_rules=rules)


def published_faults() -> Mapping[str, tuple[str, ...]]:
    """Return the faults that can be mended, by judge."""
    return {kind.value: _faults(kind) for kind in CENTER_METRICS}


def _kind(name: str) -> MetricKind:
    try:
        return MetricKind(name)
    except ValueError as error:
        known = ", ".join(kind.value for kind in MetricKind)
        raise SettingsError(f'There is no judge "{name}".', hint=f"Known are: {known}.") from error


def _without(rules: CenterRules, kind: MetricKind, faults: Sequence[str]) -> CenterRules:
    known = _faults(kind) if kind in CENTER_METRICS else ()
    unknown = set(faults) - {MENDED_NAME, *known}
    if unknown or not known:
        raise SettingsError(
            f'The judge "{kind.value}" has no fault "{"+".join(unknown or faults)}".',
            hint=f"Known are: {', '.join((MENDED_NAME, *known)) if known else 'none'}.",
        )
    wanted = known if MENDED_NAME in faults else faults
    own: Any = getattr(rules, kind.value)
    return replace(rules, **{kind.value: replace(own, **dict.fromkeys(wanted, False))})


def _faults(kind: MetricKind) -> tuple[str, ...]:
    """Return the names of what the mended rules switch off."""
    mended: Any = getattr(MENDED, kind.value)
    return tuple(field.name for field in fields(mended) if getattr(mended, field.name) is False)


SettingsT = TypeVar("SettingsT", CheckerSettings, DaSettings)

FIXED = {"preset", "perturbations", "weights"}
ABOVE_ZERO = {"temperature"}
MOST = {CheckerSettings: 1.0, DaSettings: 1000.0}
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def change_settings(settings: SettingsT, changes: Sequence[str]) -> SettingsT:
    """Return settings that differ in some values; their name tells which.

    Args:
        settings: To start from.
        changes: As "margin=0.05", "overlap_bars_vertical=yes" or "temperature=2".

    Raises:
        SettingsError: A setting is not known, or cannot have this value.
    """
    if not changes:
        return settings
    values = dict(_read(settings, change) for change in changes)
    told = ", ".join(f"{name}={_told(value)}" for name, value in values.items())
    return replace(settings, preset=f"{settings.preset}, {told}", **values)


def _read(settings: CheckerSettings | DaSettings, change: str) -> tuple[str, Any]:
    name, _, word = (part.strip() for part in change.partition("="))
    known = [field.name for field in fields(settings) if field.name not in FIXED]
    if name not in known:
        raise SettingsError(
            f'There is no setting "{name}" here.', hint=f"Known are: {', '.join(known)}."
        )
    present = getattr(settings, name)
    value = _value(present, word.lower(), MOST[type(settings)])
    if value is None or (name in ABOVE_ZERO and not value):
        raise SettingsError(
            f'The setting "{name}" cannot be "{word}".', hint=f"It is {_told(present)} now."
        )
    return name, value


def _value(present: object, word: str, most: float) -> object:
    """Read a value of the kind that the setting has now; None when it is none."""
    if isinstance(present, bool):
        return WORDS.get(word)
    if isinstance(present, Enum):
        return next((choice for choice in type(present) if choice.value == word), None)
    try:
        number = float(word)
    except ValueError:
        return None
    return number if isfinite(number) and 0 <= number <= most else None


def _told(value: object) -> str:
    return str(value.value if isinstance(value, Enum) else value)


@frozen
class DaModels:
    """Who takes the prompt apart, and who answers.

    Attributes:
        reader: Takes the prompt apart; None for the scene alone.
        answerer: Answers questions about the picture; None for what was seen in it.
        settings: How answers become a score.
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
) -> Evaluation:
    """Return an evaluation with its DA-score by these witnesses.

    Args:
        image: (H, W, 3) uint8.
        scene: What the picture shall show.
        evaluation: What was seen in it.
        da_models: Who is asked.
        token: Asked before each call of a model.

    Raises:
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    reader, answerer, settings = da_models.reader, da_models.answerer, da_models.settings
    asserted = reader.read(scene, token) if reader else assertions_of(scene)
    if answerer is None:
        score = score_by_perception(scene, evaluation.perception, image, asserted, settings)
    else:
        questions = [assertion.question for assertion in asserted.items]
        answers = answerer.answer(image, questions, token)
        score = score_answers(asserted, answers, answerer.id, settings)
    return replace(evaluation, da_score=score)
