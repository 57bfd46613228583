"""The rules of Evaluate-and-Refine: weights, order of updates, end of the loop, choice.

Source: Singh and Zheng 2023, arXiv:2307.04749, section 3.3 and equation 6, and the authors' code.
In round k the picture of the weights w is scored with u_i for each assertion. The loop ends after
five rounds, or when mean(u) > 0.85, or when every u_i >= 0.75. Otherwise one weight rises by 1:

    paper   i = argmin u_i                      weight of the text  1.1^(w - 1)
    code    i = first in the prompt's order     weight of the text  1.1^w for w > 1, that is 1.21,
            with u_i < 0.75                                         1.331, ...

The result is the round with the highest mean; of equal ones the first. Ours: assertions without an
answer neither stop the loop nor rise, and a relation waits for its objects.
"""

from collections.abc import Iterator, Sequence

from spatialstudio.domain.assertion import DaScore
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.refinement import RefineRules, UpdateOrder

USUAL = 1.0
"""Weight of an assertion in the first round."""

Objects = Sequence[tuple[int, ...]]
"""Of each assertion, the indices of the assertions that its objects exist."""

Chances = Sequence[float | None]
"""Score of each assertion, [0, 1], in the order of the prompt; None without an answer."""


@frozen(kw_only=False)
class RoundScore:
    """The scores of one picture.

    Attributes:
        mean: DA-score, [0, 1]; None if no assertion was answered.
        each: Score of each assertion; None without an answer.
    """

    mean: float | None
    each: tuple[float | None, ...]


@frozen
class Replay:
    """The decisions of a loop over recorded scores.

    Attributes:
        weights: Weights of each round, in order.
        is_ended: Whether the loop ends after the recorded rounds.
        best: Index of the chosen round, from 0; None without a score.
    """

    weights: tuple[tuple[float, ...], ...]
    is_ended: bool
    best: int | None


def round_score(score: DaScore) -> RoundScore:
    """Return the scores of a picture from its DA-score."""
    return RoundScore(score.value, tuple(each.probability_yes for each in score.scores))


def mean_score(each: Chances) -> RoundScore:
    """Return scores with their plain mean over the answered assertions, as published."""
    answered = [chance for chance in each if chance is not None]
    return RoundScore(sum(answered) / len(answered) if answered else None, tuple(each))


def first_weights(count: int) -> tuple[float, ...]:
    """Return the weights of the first round."""
    return (USUAL,) * count


def is_enough(score: RoundScore, rules: RefineRules) -> bool:
    """Return True if a picture ends the loop; one without any answer does as well."""
    answered = [chance for chance in score.each if chance is not None]
    if score.mean is None or not answered:
        return True
    return score.mean > rules.enough_mean or min(answered) >= rules.enough_each


def updated_place(each: Chances, rules: RefineRules, objects: Objects = ()) -> int | None:
    """Return the index of the assertion whose weight rises; None if there is none.

    Args:
        each: Scores of this round.
        rules: Rules of the loop.
        objects: Of each assertion, those on its objects; empty if unknown.
    """
    low = {n for n, chance in enumerate(each) if chance is not None and chance < rules.enough_each}
    waiting = {n for n, own in enumerate(objects) if rules.objects_first and low & {*own}}
    answered = [
        (place, chance)
        for place, chance in enumerate(each)
        if chance is not None and place not in waiting
    ]
    if rules.order is UpdateOrder.FIRST:
        return next((place for place, chance in answered if chance < rules.enough_each), None)
    return min(answered, key=lambda item: item[1])[0] if answered else None


def updated_weights(
    weights: Sequence[float], each: Chances, rules: RefineRules, objects: Objects = ()
) -> tuple[float, ...]:
    """Return the weights of the next round.

    Args:
        weights: Weights of this round.
        each: Scores of this round, as many.
        rules: Rules of the loop.
        objects: As for ``updated_place``.
    """
    chosen = updated_place(each, rules, objects)
    return tuple(
        weight + rules.step if place == chosen else weight
        for place, (weight, _) in enumerate(zip(weights, each, strict=True))
    )


def text_factor(weight: float, rules: RefineRules) -> float:
    """Return the weight of the words of an assertion, > 0; 1 is normal."""
    if weight == USUAL:
        return 1.0
    steps = weight if rules.jumps_first else weight - USUAL
    return float(rules.base**steps)


def attention_coefficient(weight: float) -> float:
    """Return the coefficient c = w - 1 of the presence of an assertion's objects, >= 0."""
    return max(weight - USUAL, 0.0)


def best_round(means: Sequence[float | None]) -> int | None:
    """Return the index of the highest mean, of equal ones the first; None without a mean."""
    scored = [(mean, -place) for place, mean in enumerate(means) if mean is not None]
    return -max(scored)[1] if scored else None


def replay(rounds: Sequence[RoundScore], rules: RefineRules, objects: Objects = ()) -> Replay:
    """Return what the loop decides on recorded scores.

    Args:
        rounds: Scores of each round, in order; those after the end of the loop are ignored.
        rules: Rules of the loop.
        objects: As for ``updated_place``.
    """
    used = list(_rounds_used(rounds, rules))
    weights = [first_weights(len(used[0].each))] if used else []
    for score in used[:-1]:
        weights.append(updated_weights(weights[-1], score.each, rules, objects))
    is_ended = bool(used) and (len(used) >= rules.rounds or is_enough(used[-1], rules))
    return Replay(
        weights=tuple(weights),
        is_ended=is_ended,
        best=best_round([score.mean for score in used]),
    )


def _rounds_used(rounds: Sequence[RoundScore], rules: RefineRules) -> Iterator[RoundScore]:
    for score in rounds[: rules.rounds]:
        yield score
        if is_enough(score, rules):
            return
