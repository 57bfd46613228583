"""Probabilities of yes and no, and of letters, from the most likely first tokens of an answer.

As in Singh and Zheng 2023, arXiv:2307.04749, equation 3, for any model with log-probabilities.
"""

from collections.abc import Iterable
from math import exp, log

from spatialstudio.domain.assertion import YesNoChances
from spatialstudio.domain.multiple_choice import LETTERS

MARKS = " \t\n\r▁Ġ.,!\"'*`:()"
"""Characters that tokenizers and models put around a word."""
YES, NO = "yes", "no"
LEAST_PROBABILITY = 1e-12


def yes_no_chances(listed: Iterable[tuple[str, float]]) -> YesNoChances | None:
    """Sum the probabilities of all spellings of yes and of no.

    Args:
        listed: Tokens and their natural log-probabilities, the most likely of a vocabulary.

    Returns:
        None if neither word is listed. If only one is, the other gets the probability of the least
        likely listed token, or the remaining probability, whichever is less.
    """
    tokens = [(token.strip(MARKS).lower(), chance) for token, chance in listed]
    if not {YES, NO} & {word for word, _ in tokens}:
        return None
    left = max(1 - sum(exp(chance) for _, chance in tokens), LEAST_PROBABILITY)
    unlisted = min(left, min(exp(chance) for _, chance in tokens))
    yes, no = (
        sum(exp(chance) for word, chance in tokens if word == wanted) or unlisted
        for wanted in (YES, NO)
    )
    return YesNoChances(
        log_yes=log(max(yes, LEAST_PROBABILITY)), log_no=log(max(no, LEAST_PROBABILITY))
    )


def letter_chances(listed: Iterable[tuple[str, float]]) -> dict[str, float]:
    """Return the probability, [0, 1], of every option letter that the tokens contain.

    Args:
        listed: Tokens and their natural log-probabilities, the most likely of a vocabulary.
    """
    letters = [(token.strip(MARKS).upper(), chance) for token, chance in listed]
    return {
        letter: min(sum(exp(chance) for each, chance in letters if each == letter), 1.0)
        for letter in LETTERS
        if any(each == letter for each, _ in letters)
    }
