"""Choice of the best of several methods from their scores (OPSE), and how it is made."""

from collections.abc import Sequence

import numpy as np

from spatialstudio.application.benchmark.report import MethodResults, metric_means, pass_values
from spatialstudio.domain.errors import SettingsError, StoreError
from spatialstudio.domain.frozen import frozen
from spatialstudio.science.benchmark.opse import Choice, Floats, corrected, published


@frozen(eq=False)
class MethodChoice:
    """The choice of the best method, reading scores one after the other.

    Attributes:
        names: G methods, in the order of the choice's pulls.
        choice: The choice, with its history.
        scores: Number of prompts and seeds that all methods share.
        is_published: Whether the published procedure was replayed, whose pulls are of 5 scores.
    """

    names: tuple[str, ...]
    choice: Choice
    scores: int
    is_published: bool = False


def check_error(error: float) -> None:
    """Check a probability of error.

    Raises:
        SettingsError: It is not between 0 and 1.
    """
    if not 0 < error < 1:
        raise SettingsError("The error must be between 0 and 1.", hint="0.05 is usual.")


def choose_method(
    methods: Sequence[MethodResults],
    value: str,
    error: float,
    seed: int = 0,
    *,
    is_published: bool = False,
) -> MethodChoice:
    """Choose the method with the best mean score, reading as few scores as its certainty needs.

    Args:
        methods: At least two methods.
        value: "pass", or a value of the rows: "pse", "visor".
        error: Largest probability of dropping the best method, (0, 1).
        seed: Order in which prompts are read.
        is_published: Replays the published procedure, which has no stopping rule.

    Raises:
        StoreError: The methods share no scored prompt and seed.
        SettingsError: The error is not between 0 and 1.
    """
    check_error(error)
    columns = [
        pass_values(each) if value == "pass" else metric_means(each.rows, value) for each in methods
    ]
    shared = sorted(set.intersection(*(set(each) for each in columns)))
    if len(methods) < 2 or not shared:  # noqa: PLR2004 - a choice has two sides
        raise StoreError(
            f'There are no two methods with the score "{value}" on the same prompts and seeds.',
            hint="Pass a benchmark with two methods, or choose another --value.",
        )
    scores = np.array([[each[key] for key in shared] for each in columns])
    names = tuple(each.name for each in methods)
    return choose_among(names, scores, error, seed, is_published=is_published)


def choose_among(
    names: tuple[str, ...], scores: Floats, error: float, seed: int = 0, *, is_published: bool
) -> MethodChoice:
    """Choose the method with the best mean score, in a random order of prompts and seeds.

    Args:
        names: G methods, at least two.
        scores: (G, N) scores on the same prompts and seeds, without NaN; N > 0.
        error: Largest probability of dropping the best method, (0, 1).
        seed: Seed of the order.
        is_published: Replays the published procedure, which has no stopping rule.
    """
    rng = np.random.default_rng(seed)
    choice = published([*scores], rng) if is_published else corrected(scores, rng, error)
    return MethodChoice(
        names=names, choice=choice, scores=scores.shape[1], is_published=is_published
    )
