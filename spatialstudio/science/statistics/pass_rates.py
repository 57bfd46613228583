"""Counts of outcomes over images, prompts and counterfactual pairs.

Source: Rostane 2026, SpatialBench-UC, arXiv:2601.13462, and its code. There a pair is evaluated by
the best image of each prompt, which hides contradictions, as a prompt fails only when every image
fails; pairs can be counted seed by seed as well. None is an error and is included in the total.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from spatialstudio.domain.benchmark import OutcomeCounts, PairCounts
from spatialstudio.domain.verdict import Outcome


def outcome_counts(outcomes: Iterable[Outcome | None]) -> OutcomeCounts:
    """Count outcomes; None is an error."""
    counts = Counter(outcomes)
    return OutcomeCounts(
        passes=counts[Outcome.PASS],
        fails=counts[Outcome.FAIL],
        undecidable=counts[Outcome.UNDECIDABLE],
        errors=counts[None],
    )


def best_of(outcomes: Sequence[Outcome | None]) -> Outcome:
    """Return a prompt's outcome by its best image: PASS when any passes, FAIL when all fail."""
    if Outcome.PASS in outcomes:
        return Outcome.PASS
    return Outcome.FAIL if set(outcomes) == {Outcome.FAIL} else Outcome.UNDECIDABLE


def all_of(outcomes: Sequence[Outcome | None], wanted: int) -> Outcome:
    """Return a prompt's outcome by all its images: PASS when all pass, FAIL when any fails.

    Args:
        outcomes: One per image.
        wanted: Expected number of images; any other number is UNDECIDABLE.
    """
    if len(outcomes) != wanted:
        return Outcome.UNDECIDABLE
    if Outcome.FAIL in outcomes:
        return Outcome.FAIL
    return Outcome.PASS if set(outcomes) == {Outcome.PASS} else Outcome.UNDECIDABLE


def pair_counts(pairs: Iterable[tuple[Outcome | None, Outcome | None]]) -> PairCounts:
    """Count counterfactual pairs by joint outcome."""
    counts = Counter(_kind_of(set(pair)) for pair in pairs)
    return PairCounts(
        both_pass=counts["both_pass"],
        one_sided=counts["one_sided"],
        both_fail=counts["both_fail"],
        undecidable=counts["undecidable"],
    )


def _kind_of(outcomes: set[Outcome | None]) -> str:
    if outcomes == {Outcome.PASS}:
        return "both_pass"
    if outcomes == {Outcome.FAIL}:
        return "both_fail"
    return "one_sided" if outcomes == {Outcome.PASS, Outcome.FAIL} else "undecidable"
