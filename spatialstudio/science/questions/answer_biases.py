"""Biases of an answerer: preferred letters, preferred lengths, agreement between rollouts. Ours.

An answerer that looks at the picture chooses each letter about as often as it is the key, and is
right wherever the key is; one that always says C is right only where the key is C. Both are
counted in the letters as asked, so that shuffling does not hide them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import mean

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import LETTERS, NONE_LETTER, AnswerBiases, ChoiceQuestion


@frozen
class AskedQuestion:
    """A question as it was asked in one rollout, and its answer.

    Attributes:
        question: The question, with its options in the order asked.
        letter: The answer.
        listed: The answer in the original order.
        place: Identifies the question over all rollouts.
    """

    question: ChoiceQuestion
    letter: str
    listed: str
    place: tuple[str, int]


def answer_biases(asked: Sequence[AskedQuestion]) -> AnswerBiases:
    """Compute the biases of the answers of all valid rollouts."""
    letters = Counter(each.letter for each in asked)
    keys = Counter(each.question.key for each in asked)
    total = max(len(asked), 1)
    right: dict[str, list[bool]] = {}
    for each in asked:
        right.setdefault(each.question.key, []).append(each.letter == each.question.key)
    decided = [each for each in asked if each.letter != NONE_LETTER]
    return AnswerBiases(
        answers=len(asked),
        chosen={letter: letters[letter] / total for letter in LETTERS},
        keys={letter: keys[letter] / total for letter in LETTERS},
        right_by_key={key: mean(map(float, values)) for key, values in sorted(right.items())},
        excess=_excess(letters, keys, total),
        longest=_share([_is_longest(each.question, each.letter) for each in decided]),
        longest_keys=_share([_is_longest(each.question, each.question.key) for each in decided]),
        abstained=letters[NONE_LETTER] / total,
        right_chosen=_share([each.letter == each.question.key for each in decided]),
        agreement=_agreement(asked),
    )


def _excess(letters: Mapping[str, int], keys: Mapping[str, int], total: int) -> float:
    """Return the total variation distance between the shares of answers and of keys."""
    decided = sum(number for letter, number in letters.items() if letter in LETTERS[:-1])
    known = sum(number for letter, number in keys.items() if letter in LETTERS[:-1])
    if not (decided and known and total):
        return 0.0
    return sum(abs(letters[each] / decided - keys[each] / known) for each in LETTERS[:-1]) / 2


def _is_longest(question: ChoiceQuestion, letter: str) -> bool:
    lengths = {name: len(text) for name, text in question.options if name != NONE_LETTER}
    return bool(lengths) and lengths.get(letter) == max(lengths.values())


def _share(values: Sequence[bool]) -> float | None:
    return mean(map(float, values)) if values else None


def _agreement(asked: Sequence[AskedQuestion]) -> float | None:
    """Return the mean share of pairs of rollouts with the same answer."""
    answers: dict[tuple[str, int], list[str]] = {}
    for each in asked:
        answers.setdefault(each.place, []).append(each.listed)
    shares = [
        mean(float(first == second) for first, second in combinations(own, 2))
        for own in answers.values()
        if len(own) > 1
    ]
    return mean(shares) if shares else None
