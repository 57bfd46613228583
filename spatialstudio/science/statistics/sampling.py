"""Stratified samples of judged pictures for people to label.

Strata are (method, relation, verdict). Sources: Rostane 2026, SpatialBench-UC, arXiv:2601.13462,
and its code, whose ids are reproduced in order by ``published_sample``; it equalises the strata, so
that plain figures of its audit are not figures of the population. Neyman 1934, JRSS 97:558, for
allocation by size and deviation; a sample then counts as N_h / n_h pictures of its stratum.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from math import sqrt
from typing import TypeAlias, TypeVar

from spatialstudio.domain.audit import AuditCandidate, StratifiedSample, Stratum

Key = TypeVar("Key", bound=Hashable)

PUBLISHED_SEED = 42
PUBLISHED_SIZE = 200
CONFIDENCE_BINS = 5
"""Equal bins over [0, 1]; the last holds 1."""
LEAST_DEVIATION = 0.1
"""Deviation assumed at least, so that a stratum of sure verdicts is sampled at all."""

Strata: TypeAlias = Mapping[Stratum, Sequence[AuditCandidate]]
"""All pictures by stratum; no stratum is empty."""
Allocation: TypeAlias = Callable[[Strata, int], dict[Stratum, int]]
"""Divides a number of samples among strata."""


def published_sample(
    candidates: Sequence[AuditCandidate],
    size: int = PUBLISHED_SIZE,
    seed: int = PUBLISHED_SEED,
) -> StratifiedSample:
    """Sample as the release does: equal shares of methods and strata, spread over confidence.

    Args:
        candidates: All pictures, in the order of the release: run by run, as recorded.
        size: Number of samples; fewer if there are fewer pictures.
        seed: Seed of Python's random number generator.
    """
    chance = random.Random(seed)
    strata = strata_of(candidates)
    quotas = _published_quotas(strata, size, chance)
    drawn = [
        one
        for stratum, members in strata.items()
        for one in _spread_over_confidence(members, quotas[stratum], chance)
    ]
    return _with_weights(drawn, strata)


def allocated_sample(
    candidates: Sequence[AuditCandidate], size: int, seed: int, allocate: Allocation
) -> StratifiedSample:
    """Sample each stratum at random by an allocation; equal for any order of the candidates."""
    chance = random.Random(seed)
    strata = dict(sorted(strata_of(candidates).items(), key=lambda entry: entry[0].key))
    quotas = allocate(strata, size)
    drawn = [
        one
        for stratum, members in strata.items()
        for one in chance.sample(sorted(members, key=lambda each: each.id), quotas[stratum])
    ]
    return _with_weights(drawn, strata)


def strata_of(candidates: Iterable[AuditCandidate]) -> dict[Stratum, list[AuditCandidate]]:
    """Group pictures by stratum, strata and members in order of appearance."""
    groups: dict[Stratum, list[AuditCandidate]] = defaultdict(list)
    for one in candidates:
        groups[one.stratum].append(one)
    return dict(groups)


def proportional(strata: Strata, size: int) -> dict[Stratum, int]:
    """Allocate in proportion to the sizes of the strata."""
    return _allocate({key: float(len(members)) for key, members in strata.items()}, strata, size)


def neyman(strata: Strata, size: int) -> dict[Stratum, int]:
    """Allocate by size times deviation of "the verdict is right".

    The deviation is sqrt(p (1 - p)) with p the mean confidence, as no labels exist yet, and at
    least ``LEAST_DEVIATION``.
    """
    shares = {key: len(members) * _deviation(members) for key, members in strata.items()}
    return _allocate(shares, strata, size)


def equal(strata: Strata, size: int) -> dict[Stratum, int]:
    """Allocate the same number to each stratum, as far as it has pictures."""
    return _allocate(dict.fromkeys(strata, 1.0), strata, size)


def _deviation(members: Sequence[AuditCandidate]) -> float:
    mean = sum(one.confidence for one in members) / len(members)
    return max(sqrt(mean * (1 - mean)), LEAST_DEVIATION)


def _allocate(
    shares: Mapping[Stratum, float],
    strata: Strata,
    size: int,
) -> dict[Stratum, int]:
    """Divide a number in proportion to shares, at least 1 and at most all of each stratum.

    If there are more strata than samples, the largest shares have one each. Each further sample
    goes to the stratum that is furthest below its share (highest averages).
    """
    quotas = dict.fromkeys(strata, 0)
    by_share = sorted(strata, key=lambda key: (-shares[key], key.key))
    for key in by_share[:size]:
        quotas[key] = 1
    left = min(size, sum(map(len, strata.values()))) - sum(quotas.values())
    for _ in range(left):
        open_ = [key for key in by_share if quotas[key] < len(strata[key])]
        quotas[max(open_, key=lambda key: shares[key] / (quotas[key] + 0.5))] += 1
    return quotas


def _published_quotas(strata: Strata, size: int, chance: random.Random) -> dict[Stratum, int]:
    by_method: dict[str, list[Stratum]] = defaultdict(list)
    for stratum in strata:
        by_method[stratum.method].append(stratum)
    methods = sorted(by_method)
    room = {name: sum(len(strata[key]) for key in by_method[name]) for name in methods}
    budgets = _dealt(methods, room, size)
    quotas: dict[Stratum, int] = {}
    for name in methods:
        keys = by_method[name]
        chance.shuffle(keys)
        quotas |= _dealt(keys, {key: len(strata[key]) for key in keys}, budgets[name])
    return quotas


def _dealt(keys: Sequence[Key], room: Mapping[Key, int], size: int) -> dict[Key, int]:
    """Deal a number one each in turn, while a key has room."""
    dealt = dict.fromkeys(keys, 0)
    left = min(size, sum(room[key] for key in keys))
    while left:
        for key in keys:
            if left and dealt[key] < room[key]:
                dealt[key] += 1
                left -= 1
    return dealt


def _spread_over_confidence(
    members: Sequence[AuditCandidate], quota: int, chance: random.Random
) -> list[AuditCandidate]:
    bins: dict[int, list[AuditCandidate]] = defaultdict(list)
    for one in members:
        bins[min(int(one.confidence * CONFIDENCE_BINS), CONFIDENCE_BINS - 1)].append(one)
    for each in bins.values():
        chance.shuffle(each)
    drawn: list[AuditCandidate] = []
    while len(drawn) < quota:
        for number in sorted(bins):
            if bins[number] and len(drawn) < quota:
                drawn.append(bins[number].pop())
    return drawn


def _with_weights(drawn: Sequence[AuditCandidate], strata: Strata) -> StratifiedSample:
    counts = {key: sum(one.stratum == key for one in drawn) for key in strata}
    return StratifiedSample(
        drawn=tuple(drawn),
        weights=tuple(len(strata[one.stratum]) / counts[one.stratum] for one in drawn),
        sizes={key: (counts[key], len(members)) for key, members in strata.items()},
    )
