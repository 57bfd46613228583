"""Choice of the best method from stored scores (OPSE)."""

from collections.abc import Sequence

import numpy as np

from spatialstudio.application.benchmark.method_choice import MethodChoice, choose_among
from spatialstudio.application.benchmark.report import MethodResults, metric_means, pass_values
from spatialstudio.domain.errors import SettingsError, StoreError


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
