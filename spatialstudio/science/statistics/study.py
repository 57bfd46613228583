"""Studies: numbers of many runs by the settings that differ, with intervals and differences.

A run's number is its last reading, after the step's updates, as the mean over the words or
relations that have one. A run without a reading is missing: it is counted, and enters no figure.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from math import isnan, nan
from typing import TypeAlias, TypeVar

import numpy as np

from spatialstudio.domain.derived_requests import has_baseline
from spatialstudio.domain.errors import SettingsError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.generation import SAMPLING_OPTIONS, GenerationRequest
from spatialstudio.domain.interval import Interval, without_equal_bounds
from spatialstudio.domain.library import RunRecord
from spatialstudio.domain.metric_table import PictureScores
from spatialstudio.domain.run_data import AFTER, MEASURES, Number
from spatialstudio.domain.sweep import RUN_FIELDS
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.guidance.methods import is_left_unguided
from spatialstudio.science.statistics.intervals import (
    cluster_bootstrap,
    mean_t,
    share_interval,
)
from spatialstudio.science.statistics.paired import (
    holm,
    mcnemar,
    paired_difference,
    paired_values,
)

Setting: TypeAlias = str | float | None
"""Value of a setting; None where it has no effect, as for guidance of an unguided run."""

Key: TypeAlias = tuple[Setting, ...]
"""Values of the grouping settings."""

PASSES = "passes"
"""1 where the verdict of a run is PASS, 0 where it is FAIL; missing if undecidable."""
DECIDED: Mapping[Outcome | None, float] = {Outcome.PASS: 1.0, Outcome.FAIL: 0.0}
METRIC_SHARES = frozenset({"checker", "choices", "visor", "hrs", "geneval"})
"""Metrics that are shares."""
SHARES = METRIC_SHARES | {
    *("pos", "pse", PASSES, "overlap", "quality", "confidence", "peak", "centre_x", "centre_y"),
    *("da", "compbench", "scene_graph"),
}
"""Numbers in [0, 1]."""
USUAL = ("pos", "pse", PASSES, "mass", "overlap")
"""Numbers of a table where none are named."""
UNITS = {
    **dict.fromkeys(METRIC_SHARES, "share"),
    PASSES: "share of decided runs",
    **{name: unit for name, (unit, _) in MEASURES.items()},
}
LABELS = {
    PASSES: "PASS",
    "pos": "PoS",
    "pse": "PSE",
    "mass": "Attention mass",
    "overlap": "Overlap of the maps",
    "entropy": "Entropy of the map",
    "centre_x": "Horizontal centre",
    "centre_y": "Vertical centre",
    "step_size": "Applied step size",
}
"""Labels of the numbers whose names do not read as labels."""
SEED, PROMPT, METHOD, STRENGTH = "seed", "prompt", "method", "strength"
REPEATED = frozenset({SEED, PROMPT})
"""Settings that figures average over, unless they are named."""
SEVERAL = 2
FEW = 10
"""Number of pairs or prompts below which bootstrap intervals are too narrow."""
SETTING_LABELS = {
    **{field.id: field.title for field in RUN_FIELDS.values()},
    **{option.id: option.label for option in SAMPLING_OPTIONS},
    METHOD: "Guidance method",
    "last_step": "Last step (from 0)",
    "model.id": "Model",
    "savings": "Memory saving",
    "loras": "LoRAs",
    "search.candidates": "Noise search",
    "search.enough": "PSE that ends the noise search",
    "steering.particles": "Particles",
    "width": "Width (px)",
    "height": "Height (px)",
}
"""Labels of the settings whose names do not read as labels."""
INLINE = frozenset({"sampling", "guidance", "options"})
"""Parts of a request whose settings need no prefix."""
LEFT_OUT = frozenset(
    {"id", "scene", "capture", "sweep", "parent_run_id", "backend_id", "method_id"}
)


@frozen
class StudyRun:
    """One run of a study.

    Attributes:
        run: Name of the run.
        settings: All settings by name.
        values: Measured numbers by name.
        recipe: Equal for runs of the same prompt, seed and settings, such as a run and its
            reproduction, and for the same imported picture; None for a run that repeats no other.
        is_left_unguided: Whether its trial found that it needs no guidance.
    """

    run: str
    settings: Mapping[str, Setting]
    values: Mapping[str, float]
    recipe: Hashable = None
    is_left_unguided: bool = False

    def value(self, measure: str) -> float:
        """Return a number; NaN if missing."""
        return self.values.get(measure, nan)


RepeatedT = TypeVar("RepeatedT", StudyRun, PictureScores)


@frozen
class StudyGroup:
    """The runs with the same values of the grouping settings.

    Attributes:
        settings: Values of the grouping settings.
        runs: Number of runs.
        figures: Mean and interval of each number; of ``PASSES`` the share.
        differences: Paired difference of each number to the reference group, over the same other
            settings; empty for the reference group, and where there is none.
        exact_p: p-value of McNemar's exact test of ``PASSES`` against the reference group; None
            without this number, for the reference group, or where there is none.
        holm_p: The same with Holm's correction for all groups.
        has_reference: Whether it has a reference group, or is one.
    """

    settings: Mapping[str, Setting]
    runs: int
    figures: Mapping[str, Interval]
    differences: Mapping[str, Interval]
    exact_p: float | None = None
    holm_p: float | None = None
    has_reference: bool = True

    @property
    def name(self) -> str:
        """The values of the grouping settings in a line; of several, with their names."""
        texts = {name: setting_text(value) for name, value in self.settings.items()}
        if len(texts) < SEVERAL:
            return "".join(texts.values())
        return " ".join(f"{name}={text}" for name, text in texts.items())


@frozen
class Study:
    """The table of a study.

    Attributes:
        varied: Names of the settings that differ.
        by: Names of the grouping settings.
        measures: Names of the numbers.
        runs: The runs, in the order in which they were given, each recipe once.
        repeats: Number of runs that were left out, as they repeat the recipe of another.
        groups: The groups, sorted by their settings.
        reference: Settings of the group that differences refer to; of several such groups, those
            that they share.
    """

    varied: tuple[str, ...]
    by: tuple[str, ...]
    measures: tuple[str, ...]
    runs: tuple[StudyRun, ...]
    repeats: int
    groups: tuple[StudyGroup, ...]
    reference: Mapping[str, Setting]

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on the runs, on intervals that are too narrow, and on missing references."""
        differences = [each for group in self.groups for each in group.differences.values()]
        notes = [*self.run_notes, *prompt_notes([*self._figures, *differences])]
        if any(not isnan(each.low) and each.n < FEW for each in differences):
            notes.append(
                f"Some differences have fewer than {FEW} pairs: their intervals are too narrow."
            )
        if alone := sum(not group.has_reference for group in self.groups):
            words = "group has" if alone == 1 else "groups have"
            notes.append(f"{alone} {words} no reference group, and no differences.")
        return tuple(notes)

    @property
    def figure_notes(self) -> tuple[str, ...]:
        """The sentences of ``notes`` that are not on differences."""
        return (*self.run_notes, *prompt_notes(self._figures))

    def methods(self, labels: Mapping[str, str]) -> str:
        """Return how the intervals of some numbers are computed: "pos: Student's t".

        Args:
            labels: Label by name of a number.
        """
        words = [
            f"{label}: {methods_in_words((each.name, each.figures[name]) for each in self.groups)}"
            for name, label in labels.items()
        ]
        return (". " if any("; " in each for each in words) else ", ").join(words)

    @property
    def _figures(self) -> tuple[Interval, ...]:
        return tuple(each for group in self.groups for each in group.figures.values())

    @property
    def run_notes(self) -> tuple[str, ...]:
        """Sentences on runs that were left out, and on runs that needed no guidance."""
        repeats = (repeats_in_words(self.repeats),) if self.repeats else ()
        return (*repeats, *unguided_notes([run.is_left_unguided for run in self.runs]))


def methods_in_words(figures: Iterable[tuple[str, Interval]]) -> str:
    """Return how intervals are computed; of several methods, each with the names of its groups.

    "Student's t", or "Student's t (100, 200); cluster bootstrap by prompt (0, 50)". Figures without
    an interval have no method; "none" if there is no interval.
    """
    names: dict[str, list[str]] = defaultdict(list)
    for name, figure in figures:
        if not (isnan(figure.value) or isnan(figure.low)):
            names[figure.method.value].append(name)
    if len(names) < SEVERAL:
        return next(iter(names), "none")
    return "; ".join(f"{method} ({', '.join(groups)})" for method, groups in names.items())


def unguided_notes(are_left_unguided: Sequence[bool]) -> tuple[str, ...]:
    """Return a sentence if the trials of some runs needed no guidance."""
    count = sum(are_left_unguided)
    if not count:
        return ()
    trial = "its trial" if count == 1 else "their trials"
    return (f"{count} of {len(are_left_unguided)} runs needed no guidance, by {trial}.",)


def prompt_notes(figures: Iterable[Interval]) -> tuple[str, ...]:
    """Return a sentence if some intervals resample too few prompts."""
    known = [each.prompts for each in figures if each.prompts is not None and not isnan(each.low)]
    if min(known, default=FEW) >= FEW:
        return ()
    return (f"Some intervals are over {min(known)} prompts: below {FEW} they are too narrow.",)


def study_run(record: RunRecord, numbers: Iterable[Number]) -> StudyRun:
    """Return the settings of a run with the last reading of each number and its verdict.

    Args:
        record: Its record.
        numbers: Rows of its long table; those of recorded layers are left out.
    """
    settings = settings_of(record.request)
    passes = [step.guiding_passes for step in record.trace]
    return StudyRun(
        run=record.id,
        settings=settings,
        values=_last_values(record, numbers),
        recipe=_recipe(record, settings),
        is_left_unguided=is_left_unguided(record.request, passes),
    )


def with_metrics(
    run: StudyRun, numbers: Iterable[str], scores: Callable[[Sequence[str]], Mapping[str, float]]
) -> StudyRun:
    """Return a run with the metrics among some numbers; NaN for each that it lacks.

    Args:
        run: The run.
        numbers: Names of numbers.
        scores: Computes metrics by name; called only if there is one among the numbers.
    """
    names = [name for name in numbers if name != PASSES and name not in MEASURES]
    found = scores(names) if names else {}
    return replace(run, values={**run.values, **{name: found.get(name, nan) for name in names}})


def _recipe(record: RunRecord, settings: Mapping[str, Setting]) -> Hashable:
    """Return the prompt, seed and settings of a run, of an import its picture as well.

    Relations count only where they act on the picture.
    """
    scene = record.request.scene
    prompt = (scene.prompt.negative, scene.prompt.weights, scene.prompt.negative_weights)
    relations = scene.relations if has_baseline(record.request) else ()
    picture = record.artifacts[0].sha256 if record.origin else ""
    return frozenset(settings.items()), prompt, relations, picture


def _last_values(record: RunRecord, numbers: Iterable[Number]) -> Mapping[str, float]:
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number in numbers:
        is_last = number.moment in {AFTER, None} and number.layer is None
        if is_last and not isnan(number.value):
            step = -1 if number.step is None else number.step
            found[number.measure][step].append(number.value)
    values = {measure: float(np.mean(rows[max(rows)])) for measure, rows in found.items()}
    outcome = record.evaluation.outcome if record.evaluation else None
    return {**values, PASSES: DECIDED[outcome]} if outcome in DECIDED else values


def settings_of(request: GenerationRequest) -> Mapping[str, Setting]:
    """Return the settings of a request by name; those of guidance are None if it is off."""
    guidance = request.sampling.guidance
    flat = dict(_flat(request))
    if not guidance.is_on:
        names = {name for name, _ in _flat(guidance)}
        flat |= dict.fromkeys(names)
    method = guidance.method_id if guidance.is_on else None
    strength = guidance.strength if guidance.is_on else 0.0
    prompt = request.scene.prompt.text
    return {**flat, PROMPT: prompt, METHOD: method, STRENGTH: strength}


def _flat(part: object, prefix: str = "") -> Iterator[tuple[str, Setting]]:
    pairs = (
        part.items()
        if isinstance(part, Mapping)
        else ((each.name, getattr(part, each.name)) for each in fields(part))  # type: ignore[arg-type]
    )
    for name, value in pairs:
        if name in LEFT_OUT and not (name == "id" and prefix):
            continue
        if isinstance(value, Mapping) or (is_dataclass(value) and not isinstance(value, type)):
            yield from _flat(value, prefix if name in INLINE else f"{prefix}{name}.")
        elif isinstance(value, Enum):
            yield prefix + name, str(value.value)
        elif value is None or isinstance(value, str | float | int):
            yield prefix + name, value
        else:
            yield prefix + name, str(value)


def varied_settings(runs: Sequence[StudyRun]) -> tuple[str, ...]:
    """Return the names of the settings with several values; None is not a value."""
    values: dict[str, set[Setting]] = defaultdict(set)
    for run in runs:
        for name, value in run.settings.items():
            values[name] |= set() if value is None else {value}
    return tuple(name for name, found in values.items() if len(found) > 1)


def make_study(
    runs: Sequence[StudyRun],
    *,
    by: Sequence[str] = (),
    measures: Sequence[str] = USUAL,
    reference: Mapping[str, str] | None = None,
) -> Study:
    """Group runs by settings, with an interval of each number.

    Intervals of means are Student's t, cut to [0, 1] for ``SHARES`` and metrics within it, or a
    bootstrap of whole prompts where a group has several; the interval of ``PASSES`` is Wilson's.
    Means of equal values have no interval.

    Args:
        runs: The runs; of those with the same recipe, the one with the most numbers counts.
        by: Names of the grouping settings; by default all that differ, except seed and prompt.
        measures: Names of the numbers: ``PASSES``, ``MEASURES`` and the metrics of the runs.
        reference: Settings and values, as text, of the groups that differences refer to; None for
            the first group. Of several such groups, each group has that with otherwise its own
            settings, where a setting without effect is equal to all.

    Raises:
        SettingsError: A setting or number is unknown, or there are no runs or no such group.
    """
    _check(runs, by, measures)
    counted = each_recipe_once(runs, _number_count)
    varied = varied_settings(counted)
    chosen = tuple(by) or tuple(name for name in varied if name not in REPEATED)
    members = _grouped(counted, varied, chosen)
    keys = sorted(members, key=lambda key: [_order(value) for value in key])
    bases = _matching(keys, chosen, reference or {})
    shared = [place for place, name in enumerate(chosen) if name not in (reference or chosen)]
    others = tuple(name for name in varied if name not in chosen)
    groups = []
    for key in keys:
        base = _closest(key, bases, shared)
        compared = None if base is None else members[base]
        settings = dict(zip(chosen, key, strict=True))
        groups.append(_group(settings, members[key], compared, others, measures))
    return Study(
        varied=varied,
        by=chosen,
        measures=tuple(measures),
        runs=counted,
        repeats=len(runs) - len(counted),
        groups=_corrected(groups),
        reference=_common(chosen, bases),
    )


def _grouped(
    runs: Sequence[StudyRun], varied: Sequence[str], by: Sequence[str]
) -> Mapping[Key, list[StudyRun]]:
    """Return the runs of each group, ordered by settings: bootstraps depend on the order."""
    members: dict[Key, list[StudyRun]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: [_order(run.settings.get(name)) for name in varied]):
        members[tuple(run.settings.get(name) for name in by)].append(run)
    return members


def each_recipe_once(
    runs: Sequence[RepeatedT], number_count: Callable[[RepeatedT], int]
) -> tuple[RepeatedT, ...]:
    """Return, of runs with the same prompt, seed and settings, the first with the most numbers.

    Args:
        runs: The runs.
        number_count: Returns the number of known numbers of a run.
    """
    repeated: dict[Hashable, list[RepeatedT]] = defaultdict(list)
    for place, run in enumerate(runs):
        repeated[place if run.recipe is None else run.recipe].append(run)
    return tuple(max(same, key=number_count) for same in repeated.values())


def repeats_in_words(count: int) -> str:
    """Return the sentence on runs that do not count."""
    runs = "run repeats" if count == 1 else "runs repeat"
    return f"Not counted: {count} {runs} the prompt, seed and settings of another."


def _number_count(run: StudyRun) -> int:
    return sum(not isnan(value) for value in run.values.values())


def _check(runs: Sequence[StudyRun], by: Sequence[str], measures: Sequence[str]) -> None:
    if not runs:
        raise SettingsError("The study has no runs.", hint="Pass folders or pictures of runs.")
    known = {name for run in runs for name in run.settings}
    numbers = dict.fromkeys((PASSES, *MEASURES, *(name for run in runs for name in run.values)))
    for names, allowed, kind in (
        (by, sorted(known), "setting"),
        (measures, tuple(numbers), "number"),
    ):
        if unknown := [name for name in names if name not in allowed]:
            raise SettingsError(
                f'There is no {kind} "{unknown[0]}".', hint=f"Available: {', '.join(allowed)}."
            )


def _order(value: Setting) -> tuple[bool, float, str]:
    is_number = isinstance(value, int | float)
    return (not is_number, float(value) if is_number else 0.0, str(value))  # type: ignore[arg-type]


def setting_text(value: Setting) -> str:
    """Return a setting as text: "5", "psg", "-" where it has no effect."""
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)


def setting_label(name: str) -> str:
    """Return the label of a setting on an axis: "Step size"."""
    return SETTING_LABELS.get(name) or _as_label(name)


def number_label(name: str) -> str:
    """Return the label of a number that is no metric: "PoS"."""
    return LABELS.get(name) or _as_label(name)


def number_title(name: str, label: str = "") -> str:
    """Return the title of an axis, with the unit: "PoS (probability)".

    Args:
        name: Name of the number.
        label: Label of a metric; empty for ``number_label``.
    """
    unit, label = UNITS.get(name), label or number_label(name)
    return f"{label} ({unit})" if unit else label


def _as_label(name: str) -> str:
    return name.removesuffix("_id").replace("_", " ").replace(".", ": ").capitalize()


def _matching(keys: Sequence[Key], by: Sequence[str], wanted: Mapping[str, str]) -> tuple[Key, ...]:
    """Return the keys with some settings; the first key if none or all settings are named."""
    found = []
    for key in keys:
        texts = {name: setting_text(value) for name, value in zip(by, key, strict=True)}
        if all(texts.get(name) == value for name, value in wanted.items()):
            found.append(key)
    if found:
        return tuple(found) if 0 < len(wanted) < len(by) else (found[0],)
    words = ", ".join(f"{name}={value}" for name, value in wanted.items())
    raise SettingsError(
        f"There is no group with {words}.", hint=f"Groups are formed by {', '.join(by)}."
    )


def _common(by: Sequence[str], keys: Sequence[Key]) -> Mapping[str, Setting]:
    """Return the settings that are equal in all of some keys."""
    columns = zip(by, zip(*keys, strict=True), strict=True)
    return {name: values[0] for name, values in columns if len(set(values)) == 1}


def _closest(own: Key, bases: Sequence[Key], shared: Sequence[int]) -> Key | None:
    """Return the reference of a key; None if there is none, or several that are equally close.

    Args:
        own: The key.
        bases: Keys of reference groups; the key itself is its own reference.
        shared: Places of the settings that are to be those of its reference. A setting without
            effect, None, is equal to all, but less close.
    """
    unlike: dict[int, list[Key]] = defaultdict(list)
    for base in bases:
        pairs = [(own[place], base[place]) for place in shared if own[place] != base[place]]
        if all(None in pair for pair in pairs):
            unlike[len(pairs)].append(base)
    closest = unlike[min(unlike)] if unlike else []
    return closest[0] if len(closest) == 1 else None


def _group(
    settings: Mapping[str, Setting],
    own: Sequence[StudyRun],
    base: Sequence[StudyRun] | None,
    others: Sequence[str],
    measures: Sequence[str],
) -> StudyGroup:
    compared = None if own is base else base
    return StudyGroup(
        settings=settings,
        runs=len(own),
        figures={measure: _figure(own, measure) for measure in measures},
        differences={}
        if compared is None
        else {measure: _difference(compared, own, others, measure) for measure in measures},
        exact_p=None
        if compared is None or PASSES not in measures
        else _exact_p(compared, own, others),
        has_reference=base is not None,
    )


def _figure(runs: Sequence[StudyRun], measure: str) -> Interval:
    values = [run.value(measure) for run in runs]
    if measure == PASSES:
        known = [value for value in values if not isnan(value)]
        return share_interval(int(sum(known)), len(known), missing=len(values) - len(known))
    prompts = [run.settings.get(PROMPT) for run in runs]
    if len(set(prompts)) > 1:
        return without_equal_bounds(cluster_bootstrap(values, prompts))
    is_metric = measure not in MEASURES and all(isnan(value) or 0 <= value <= 1 for value in values)
    within = (0.0, 1.0) if measure in SHARES or is_metric else None
    return without_equal_bounds(mean_t(values, within=within))


def _difference(
    base: Sequence[StudyRun], own: Sequence[StudyRun], others: Sequence[str], measure: str
) -> Interval:
    first, second, keys = paired_values(
        _by_key(base, others, measure), _by_key(own, others, measure)
    )
    place = others.index(PROMPT) if PROMPT in others else None
    prompts = None if place is None else [key[place] for key in keys]  # type: ignore[index]
    is_clustered = prompts is not None and len(set(prompts)) > 1
    found = paired_difference(first, second, clusters=prompts if is_clustered else None)
    return without_equal_bounds(found)


def _exact_p(base: Sequence[StudyRun], own: Sequence[StudyRun], others: Sequence[str]) -> float:
    first, second, _ = paired_values(_by_key(base, others, PASSES), _by_key(own, others, PASSES))
    return mcnemar(first, second).exact_p


def _by_key(
    runs: Iterable[StudyRun], others: Sequence[str], measure: str
) -> Mapping[object, float]:
    """Return the numbers by the settings that make a pair; the last of repeated runs counts."""
    return {tuple(run.settings.get(name) for name in others): run.value(measure) for run in runs}


def _corrected(groups: Sequence[StudyGroup]) -> tuple[StudyGroup, ...]:
    p_values = [nan if group.exact_p is None else group.exact_p for group in groups]
    adjusted = (None if isnan(p) else float(p) for p in holm(p_values))
    return tuple(replace(group, holm_p=p) for group, p in zip(groups, adjusted, strict=True))
