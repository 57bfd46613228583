"""Figures of a method over the pictures of a benchmark, and of two methods compared.

Rates over all count abstentions and errors as not passed; rates over decided leave them out. A
share has its Wilson interval; the rate over all also has a bootstrap interval over prompts, as the
pictures of one prompt resemble each other. Source of the rates: Rostane 2026, arXiv:2601.13462.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from math import comb, inf, isnan
from statistics import fmean

from spatialstudio.domain.benchmark import OutcomeCounts, ScoredSample
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.interval import Interval
from spatialstudio.domain.scene import RelationType, relation_types
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.statistics.intervals import (
    cluster_bootstrap,
    mean_bootstrap,
    share_interval,
)
from spatialstudio.science.statistics.paired import (
    McNemar,
    holm,
    mcnemar,
    paired_difference,
    paired_values,
)
from spatialstudio.science.statistics.pass_rates import outcome_counts

Key = tuple[str, int]
"""Prompt id and seed."""


@frozen
class Rates:
    """The rates of a set of outcomes.

    Attributes:
        counts: The outcomes.
        coverage: Decided over all, with its Wilson interval.
        pass_all: PASS over all, with its Wilson interval.
        pass_decided: PASS over decided, with its Wilson interval; NaN when nothing was decided.
    """

    counts: OutcomeCounts
    coverage: Interval
    pass_all: Interval
    pass_decided: Interval


@frozen
class OrderBias:
    """Whether a method places the object that is named first to the left, or on top.

    The two prompts of a counterfactual pair ask for the same picture in both orders.

    Attributes:
        difference: Pass rate when the first named object belongs to the left or on top, minus the
            pass rate of the counterpart; bootstrap interval over pairs.
        test: McNemar's test of the same pairs, by seed.
    """

    difference: Interval
    test: McNemar


@frozen
class Comparison:
    """Two methods on the same prompts and seeds.

    Attributes:
        first: Name of the first method.
        second: Name of the second method.
        value: The compared value: "pass", or a metric.
        difference: Mean of second - first, with a bootstrap interval over prompts.
        test: McNemar's test; None for values that are not yes or no.
        adjusted_p: Its exact p-value after Holm's correction over all comparisons of this value;
            None without a test.
    """

    first: str
    second: str
    value: str
    difference: Interval
    test: McNemar | None = None
    adjusted_p: float | None = None


def rates_of(outcomes: Iterable[Outcome | None]) -> Rates:
    """Return the rates of outcomes; None is an error."""
    counts = outcome_counts(outcomes)
    decided = counts.passes + counts.fails
    return Rates(
        counts=counts,
        coverage=share_interval(decided, counts.total),
        pass_all=share_interval(counts.passes, counts.total),
        pass_decided=share_interval(counts.passes, decided),
    )


def pass_rate_by_prompt(samples: Sequence[ScoredSample]) -> Interval:
    """Return the pass rate over all with a bootstrap interval that resamples prompts."""
    passes = [(each.item.id, (float(each.outcome is Outcome.PASS),)) for each in samples]
    prompts, columns = _ordered(passes)
    return cluster_bootstrap(columns[0] if columns else (), prompts)


def _ordered(
    rows: Iterable[tuple[object, tuple[float, ...]]],
) -> tuple[list[object], tuple[tuple[float, ...], ...]]:
    """Return labels and columns of rows, ordered by the values of each label and not by its place.

    A bootstrap draws by place: in this order its bounds depend on no order of prompts.

    Args:
        rows: A label and its values; without any there are no columns.
    """
    by_label = defaultdict[object, list[tuple[float, ...]]](list)
    for label, values in rows:
        by_label[label].append(values)
    groups = [(sorted(own, key=_rank), label) for label, own in by_label.items()]
    groups.sort(key=lambda group: [_rank(values) for values in group[0]])
    labels = [label for own, label in groups for _ in own]
    return labels, tuple(zip(*(values for own, _ in groups for values in own), strict=True))


def _rank(values: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(inf if isnan(value) else value for value in values)


def rates_by(
    samples: Sequence[ScoredSample], groups_of: Callable[[ScoredSample], Iterable[str]]
) -> Mapping[str, Rates]:
    """Return the rates of groups by name, in order of appearance; a sample may be in several."""
    groups = defaultdict[str, list[Outcome | None]](list)
    for each in samples:
        for group in groups_of(each):
            groups[group].append(each.outcome)
    return {name: rates_of(outcomes) for name, outcomes in groups.items()}


def reasons_of(samples: Sequence[ScoredSample]) -> Mapping[str, int]:
    """Count abstention reasons, the most frequent first."""
    reasons = Counter(each.reason for each in samples if each.outcome is Outcome.UNDECIDABLE)
    return dict(reasons.most_common())


def order_bias(samples: Sequence[ScoredSample]) -> OrderBias | None:
    """Return the order bias over counterfactual pairs; None if there are none."""
    by_claim = {
        (each.item.relation_type, each.item.subject, each.item.object, each.seed): each
        for each in samples
    }
    pairs = [
        (each, other)
        for each in samples
        if (claims := each.item.relation_type.claims) and claims[0].subject_first
        if (other := by_claim.get(_counterpart(each))) is not None
    ]
    if not pairs:
        return None
    prompts, (first, second) = _ordered(
        (pair[0].item.id, tuple(float(each.outcome is Outcome.PASS) for each in pair))
        for pair in pairs
    )
    return OrderBias(
        difference=paired_difference(second, first, clusters=prompts),
        test=mcnemar(first, second),
    )


def _counterpart(sample: ScoredSample) -> tuple[RelationType, str, str, int]:
    item = sample.item
    return relation_types.inverse(item.relation_type), item.object, item.subject, sample.seed


def scaling_curve(values: Mapping[Key, float]) -> Mapping[int, Interval]:
    """Return the expected value of the best of N pictures of a prompt, for N = 1, 2, 4 and so on.

    Each prompt enters with the mean over all choices of N of its seeds, so that nothing depends on
    their order; intervals resample prompts. N ends at the smallest number of seeds of a prompt.
    Source: Rezaei et al. 2025, arXiv:2506.23418, table 16, which draws N pictures once.
    """
    by_prompt = defaultdict[str, list[float]](list)
    for (prompt, _), value in values.items():
        by_prompt[prompt].append(value)
    most = min(map(len, by_prompt.values()), default=0)
    counts = (2**power for power in range(most.bit_length()))
    return {
        n: mean_bootstrap(sorted(best_of(n, own) for own in by_prompt.values())) for n in counts
    }


def best_by_round(scores: Mapping[Key, Sequence[float]]) -> Mapping[int, Interval]:
    """Return the mean best score after each round of a refinement; a loop that ended keeps its own.

    Each prompt enters with the mean over its seeds; intervals resample prompts.

    Args:
        scores: Scores of the rounds by prompt and seed, in order, at least one each.
    """
    rounds = max(map(len, scores.values()), default=0)
    return {
        number: mean_by_prompt({key: max(own[:number]) for key, own in scores.items()})
        for number in range(1, rounds + 1)
    }


def mean_by_prompt(values: Mapping[Key, float]) -> Interval:
    """Return the mean over prompts of the mean over their seeds; the interval resamples prompts."""
    by_prompt = defaultdict[str, list[float]](list)
    for (prompt, _), value in values.items():
        by_prompt[prompt].append(value)
    return mean_bootstrap(sorted(fmean(own) for own in by_prompt.values()))


def best_of(n: int, values: Sequence[float]) -> float:
    """Return the mean of the largest of n values, over all choices of n of them.

    Of K sorted values, the i-th is the largest in C(i - 1, n - 1) of C(K, n) choices.
    """
    weights = (comb(place, n - 1) for place in range(len(values)))
    total = sum(weight * value for weight, value in zip(weights, sorted(values), strict=True))
    return total / comb(len(values), n)


def compare(
    methods: Mapping[str, Mapping[Key, float]], value: str, *, is_yes_no: bool
) -> tuple[Comparison, ...]:
    """Compare every two methods on the prompts and seeds that both have.

    Args:
        methods: For each method its values by prompt and seed.
        value: Name of the value.
        is_yes_no: Whether the values are 0 or 1, so that McNemar's test applies.
    """
    names = list(methods)
    pairs = [(one, other) for n, one in enumerate(names) for other in names[n + 1 :]]
    made = [_compared(methods, pair, value, is_yes_no=is_yes_no) for pair in pairs]
    if not is_yes_no:
        return tuple(made)
    adjusted = holm([each.test.exact_p for each in made if each.test])
    return tuple(replace(each, adjusted_p=float(p)) for each, p in zip(made, adjusted, strict=True))


def _compared(
    methods: Mapping[str, Mapping[Key, float]],
    pair: tuple[str, str],
    value: str,
    *,
    is_yes_no: bool,
) -> Comparison:
    one, other = (dict[Hashable, float](methods[name].items()) for name in pair)
    *values, keys = paired_values(one, other)
    pairs = zip(*(each.tolist() for each in values), strict=True)
    prompts, columns = _ordered(zip(map(_prompt_of, keys), pairs, strict=True))
    first, second = columns or ((), ())
    return Comparison(
        first=pair[0],
        second=pair[1],
        value=value,
        difference=paired_difference(first, second, clusters=prompts),
        test=mcnemar(first, second) if is_yes_no else None,
    )


def _prompt_of(key: object) -> object:
    return key[0] if isinstance(key, tuple) else key
