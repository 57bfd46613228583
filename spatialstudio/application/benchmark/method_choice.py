"""A choice of the best of several methods from their scores (OPSE), and how it is made."""

import numpy as np

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
