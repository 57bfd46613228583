import random
from collections import defaultdict
from itertools import zip_longest

import pytest

from spatialstudio.domain.audit import AuditCandidate, Stratum
from spatialstudio.domain.verdict import Outcome
from spatialstudio.science.statistics.sampling import (
    allocated_sample,
    equal,
    neyman,
    proportional,
    published_sample,
    strata_of,
)
from tests.science.statistics.audit_data import published_candidates, rows_of

RELATIONS = ("r1", "r2", "r3", "r4")


def generated(method, count, seed):
    chance = random.Random(seed)
    return [
        AuditCandidate(
            id=f"{method} {number}",
            stratum=Stratum(
                method=method,
                relation=chance.choice(RELATIONS),
                verdict=chance.choice(list(Outcome)),
            ),
            confidence=chance.random(),
        )
        for number in range(count)
    ]


def strata(method, count):
    """Return pictures in a number of strata, ten in each."""
    kinds = [(relation, verdict) for relation in RELATIONS for verdict in Outcome][:count]
    return [
        AuditCandidate(
            id=f"{method} {relation} {verdict} {number}",
            stratum=Stratum(method=method, relation=relation, verdict=verdict),
            confidence=0.5,
        )
        for relation, verdict in kinds
        for number in range(10)
    ]


def test_the_prompt_only_ids_of_the_release_come_in_its_order():
    # The other two methods of the release have 22 of its 34 strata.
    pictures = [*published_candidates(), *strata("boxdiff", 11), *strata("gligen", 11)]
    drawn = published_sample(pictures).drawn
    expected = [row["sample_id"] for row in rows_of("sample.csv")]
    assert [one.id for one in drawn[:66]] == expected
    assert len(drawn) == 200


def released_script(pictures, n, seed):
    """Return the ids that the release's sampler draws, written from its description."""
    rng = random.Random(seed)
    groups = defaultdict(list)
    for one in pictures:
        groups[one.stratum.key].append(one)
    methods = sorted({method for method, _, _ in groups})
    room = {m: sum(len(each) for key, each in groups.items() if key[0] == m) for m in methods}
    budget = in_turns(methods, room, n)
    quota = {}
    for method in methods:
        keys = [key for key in groups if key[0] == method]
        rng.shuffle(keys)
        quota |= in_turns(keys, {key: len(groups[key]) for key in keys}, budget[method])
    return [
        one.id for key, members in groups.items() for one in from_bins(members, quota[key], rng)
    ]


def in_turns(keys, room, number):
    """Give each key one in turn: the first ``number`` of the turns that have room."""
    turns = [key for turn in range(max(room.values())) for key in keys if turn < room[key]]
    return {key: turns[:number].count(key) for key in keys}


def from_bins(members, number, rng):
    """Take from the bins of confidence in turn, each from its end."""
    bins = {}
    for one in members:
        above = sum(one.confidence >= edge for edge in (0.2, 0.4, 0.6, 0.8))
        bins.setdefault(above, []).append(one)
    for content in bins.values():
        rng.shuffle(content)
    rounds = zip_longest(*(reversed(bins[number]) for number in sorted(bins)))
    return [one for each in rounds for one in each if one is not None][:number]


@pytest.mark.parametrize("size", [1, 7, 200, 700, 5000])
def test_a_release_of_three_runs_is_sampled_as_by_its_script(size):
    pictures = [
        *generated("promptonly", 400, 1),
        *generated("boxdiff", 50, 2),
        *generated("gligen", 300, 3),
    ]
    drawn = published_sample(pictures, size, seed=size).drawn
    assert [one.id for one in drawn] == released_script(pictures, size, size)


@pytest.mark.parametrize("allocate", [proportional, neyman, equal])
@pytest.mark.parametrize("size", [1, 20, 100, 2000])
def test_the_weights_sum_to_the_pictures_of_the_sampled_strata(allocate, size):
    pictures = generated("one", 500, 5)
    sample = allocated_sample(pictures, size, seed=3, allocate=allocate)
    assert len(sample.drawn) == min(size, 500)
    assert len({one.id for one in sample.drawn}) == len(sample.drawn)
    sampled = sum(existing for drawn, existing in sample.sizes.values() if drawn)
    assert sum(sample.weights) == pytest.approx(sampled)


def test_proportional_shares_follow_the_sizes():
    pictures = [*strata("one", 1), *generated("two", 0, 1)]
    pictures += [
        AuditCandidate(
            id=f"large {number}",
            stratum=Stratum(method="two", relation="r1", verdict=Outcome.FAIL),
            confidence=0.9,
        )
        for number in range(90)
    ]
    quotas = proportional(strata_of(pictures), 20)
    assert sorted(quotas.values()) == [2, 18]


def test_neyman_shares_favour_strata_of_unsure_verdicts():
    def stratum(name, confidence):
        return [
            AuditCandidate(
                id=f"{name} {number}",
                stratum=Stratum(method=name, relation="r1", verdict=Outcome.PASS),
                confidence=confidence,
            )
            for number in range(100)
        ]

    quotas = neyman(strata_of([*stratum("sure", 0.98), *stratum("unsure", 0.5)]), 64)
    by_name = {key.method: count for key, count in quotas.items()}
    # deviations 0.14 and 0.5
    assert by_name == {"sure": 14, "unsure": 50}


@pytest.mark.parametrize("allocate", [proportional, neyman, equal])
def test_a_corrected_sample_does_not_depend_on_the_order_of_the_pictures(allocate):
    pictures = generated("one", 300, 5)
    expected = allocated_sample(pictures, 40, seed=1, allocate=allocate).drawn
    assert allocated_sample(pictures[::-1], 40, seed=1, allocate=allocate).drawn == expected
    assert allocated_sample(pictures, 40, seed=2, allocate=allocate).drawn != expected


def test_no_pictures_give_an_empty_sample():
    assert published_sample((), 10).drawn == ()
    assert allocated_sample((), 10, seed=1, allocate=neyman).drawn == ()
