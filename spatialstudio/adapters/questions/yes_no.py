"""What the likeliest first words of an answer say of yes and no."""

from collections.abc import Iterable
from math import exp, log

from spatialstudio.domain.assertion import YesNoChances

MARKS = " \t\n\r▁Ġ.,!\"'*`"
"""What tokenizers and models put around a word."""
YES, NO = "yes", "no"
LEAST_PROBABILITY = 1e-12


def chances_of(listed: Iterable[tuple[str, float]]) -> YesNoChances | None:
    """Add up all spellings of yes and of no.

    Args:
        listed: Tokens and their natural log-probabilities, the likeliest of a vocabulary.

    Returns:
        None when neither word is listed. Where only one is, the other counts as likely as the
        unlikeliest token listed, or as what is left, whichever is less.
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
