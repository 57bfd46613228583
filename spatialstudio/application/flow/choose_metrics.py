"""Which metrics judge, by name, and with which of their published faults.

    checker,pse,visor,compbench:mended,hrs:takes_last_instance

asks the checker, PSE, VISOR as published, T2I-CompBench without its faults, and HRS without this
one fault. The names stand in every result.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from enum import Enum
from typing import Any

from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen
from spatialstudio.science.center_scores import MENDED, PUBLISHED, CenterRules

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
