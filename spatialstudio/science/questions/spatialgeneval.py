"""SpatialGenEval: questions of its data, rollouts, votes, accuracies and biases.

Source: "Everything in Its Place: Benchmarking Spatial Intelligence of Text-to-Image Models",
arXiv:2601.20354, and its scripts; implemented from their description. As published, an answer is
the first character of one of exactly ten lines (spaces before it ignored here), a picture without
five valid rollouts is dropped, and options are never shuffled, although C is the key of 46 % of
the questions. Ours: such pictures stay in the denominator, answers are read with their numbering,
options are shuffled in each rollout with None last, and answerers that do not look are scored too.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from statistics import mean
from typing import Any

import numpy as np

from spatialstudio.domain.multiple_choice import (
    DOMAINS,
    NONE_LETTER,
    SUB_DOMAINS,
    ChoiceFigures,
    ChoiceQuestion,
    QuestionDefect,
    QuestionSet,
    VotedSet,
    VoteRules,
)

_OPTIONS = re.compile(r"Options:\s*(?=A: )")
_OPTION = re.compile(r"(?:^|,\s*)([A-E]): ")
_ANSWER = re.compile(r"\s*(?:Q?\d+\s*[.):]\s*)?[(\[*]*([A-Ea-e])(?![A-Za-z])")
_DIGITS = 3
MOST_QUESTIONS = 50
"""Most questions of one picture."""
MOST_QUESTION_LETTERS = 10_000
"""Longest question with its options."""
MOST_LETTERS = 60
"""Longest name of a sub-domain."""

Orders = Sequence[Mapping[str, str]]
"""For each question the original letter of each letter that was asked."""
Chooser = Callable[[ChoiceQuestion, np.random.Generator], str]
"""Answers a question without the picture: the letter of an option."""


def read_set(row: Mapping[str, Any]) -> QuestionSet:
    """Convert one line of the data.

    Args:
        row: The parsed JSON object.

    Raises:
        ValueError: A field is missing or has another form; the message says which.
    """
    texts = ("id", "scene", "prompt")
    if absent := [name for name in texts if not isinstance(row.get(name), str)]:
        raise ValueError(f'the field "{absent[0]}" is not a text')
    types = _types(row.get("question_type"))
    count = len(types)
    for name in ("questions", "answers"):
        listed = row.get(name)
        if not isinstance(listed, list) or [*map(type, listed)] != [str] * count:
            raise ValueError(f'the field "{name}" is not a list of {count} texts')
    questions = zip(row["questions"], row["answers"], strict=True)
    return QuestionSet(
        id=row["id"],
        scene=row["scene"],
        prompt=row["prompt"],
        questions=tuple(read_question(text, key.strip()) for text, key in questions),
        types=types,
    )


def _types(listed: object) -> tuple[str, ...]:
    """Return the sub-domains of the questions; those of the published data if none are listed.

    Raises:
        ValueError: They are no names, or too many.
    """
    if not listed:
        return SUB_DOMAINS
    if not isinstance(listed, list) or len(listed) > MOST_QUESTIONS:
        raise ValueError(f'the field "question_type" is not a list of at most {MOST_QUESTIONS}')
    if not all(isinstance(each, str) and 0 < len(each) <= MOST_LETTERS for each in listed):
        raise ValueError('the field "question_type" is not a list of names')
    return tuple(listed)


def set_row(questions: QuestionSet) -> Mapping[str, Any]:
    """Return the line of a question set, in the form of the data."""
    return {
        "id": questions.id,
        "scene": questions.scene,
        "prompt": questions.prompt,
        "question_type": list(questions.types),
        "questions": [each.text for each in questions.questions],
        "answers": [each.key for each in questions.questions],
    }


def read_question(text: str, key: str) -> ChoiceQuestion:
    """Split a question into stem and options, and list its defects.

    Raises:
        ValueError: It has no options, or is too long.
    """
    if len(text) > MOST_QUESTION_LETTERS:
        raise ValueError(f"a question has more than {MOST_QUESTION_LETTERS} characters")
    stem, *rest = _OPTIONS.split(text)
    parts = _OPTION.split(rest[0].strip())[1:] if len(rest) == 1 else []
    pairs = zip(parts[::2], parts[1::2], strict=True)
    options = tuple((letter, option.strip()) for letter, option in pairs)
    if not options:
        raise ValueError(f'the question "{text[:60]}" has no options')
    texts = [option.lower() for _, option in options]
    found = {
        QuestionDefect.KEY_WITHOUT_OPTION: key not in dict(options),
        QuestionDefect.OTHER_NONE: options[-1] != (NONE_LETTER, "None"),
        QuestionDefect.REPEATED_OPTION: len(set(texts)) < len(texts),
    }
    defects = tuple(defect for defect, is_there in found.items() if is_there)
    return ChoiceQuestion(stem=stem.rstrip(), options=options, key=key, defects=defects)


def read_rollout(
    text: str, rules: VoteRules, count: int = len(SUB_DOMAINS)
) -> tuple[str, ...] | None:
    """Return the answers of one rollout, a letter per line; None if it is not valid.

    Args:
        text: The answerer's message: a line per question, each a letter and a reason.
        rules: With ``reads_first_character`` a letter may be any character; else a line without
            a readable letter makes the rollout invalid.
        count: Number of questions.
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != count:
        return None
    if rules.reads_first_character:
        return tuple(line[0] for line in lines)
    found = [_ANSWER.match(line) for line in lines]
    return tuple(each[1].upper() for each in found if each) if all(found) else None


def vote(
    questions: QuestionSet,
    attempts: Sequence[str],
    rules: VoteRules,
    orders: Sequence[Orders] | None = None,
) -> VotedSet:
    """Count the votes of a picture's rollouts.

    Args:
        questions: The questions of the picture.
        attempts: The answerer's messages in order, invalid ones included.
        rules: Numbers of rollouts, attempts and votes.
        orders: The orders in which the options were asked in each attempt; None if as listed.
    """
    valid: list[tuple[str, ...]] = []
    used = 0
    for number, text in enumerate(attempts[: rules.attempts]):
        if len(valid) == rules.rollouts:
            break
        used += 1
        if (answers := read_rollout(text, rules, len(questions.questions))) is not None:
            valid.append(listed_letters(answers, orders[number]) if orders else answers)
    return count_votes(questions, valid if len(valid) == rules.rollouts else [], rules, used)


def count_votes(
    questions: QuestionSet, rollouts: Sequence[Sequence[str]], rules: VoteRules, attempts: int
) -> VotedSet:
    """Count the votes of valid rollouts; none of them makes every question unanswered."""
    answers = tuple(tuple(column) for column in zip(*rollouts, strict=True))
    return VotedSet(
        id=questions.id,
        answers=answers,
        chosen=tuple(_chosen(column, rules.votes) for column in answers),
        is_right=tuple(
            None
            if rules.leaves_out_defects and question.defects
            else bool(answers) and answers[place].count(question.key) >= rules.votes
            for place, question in enumerate(questions.questions)
        ),
        attempts=attempts,
        types=questions.types,
    )


def _chosen(column: Sequence[str], votes: int) -> str:
    """Return the letters with enough votes, else the most frequent one."""
    counts = Counter(column)
    enough = [letter for letter, number in counts.items() if number >= votes]
    return "".join(enough) or counts.most_common(1)[0][0]


def choice_figures(voted: Sequence[VotedSet], rules: VoteRules) -> ChoiceFigures:
    """Compute the accuracies of many pictures."""
    counted = [each for each in voted if each.is_answered or not rules.drops_incomplete]
    named = dict.fromkeys(name for each in voted for name in each.types)
    answers: dict[str, list[float]] = {name: [] for name in named or SUB_DOMAINS}
    for each in counted:
        for name, right in zip(each.types, each.is_right, strict=True):
            if right is not None:
                answers[name].append(float(right))
    by_name = {name: _mean(values) for name, values in answers.items()}

    def of(names: Iterable[str]) -> float | None:
        return _mean([by_name.get(name) for name in names])

    basic = DOMAINS["Foundations"]
    return ChoiceFigures(
        sub_domains=by_name,
        domains={domain: of(names) for domain, names in DOMAINS.items()},
        overall=of(by_name),
        basic=of(basic),
        spatial=of(name for name in by_name if name not in basic),
        pictures=len(counted),
        unanswered=sum(not each.is_answered for each in voted),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(mean(known), _DIGITS) if known else None


def key_shares(sets: Sequence[QuestionSet]) -> Mapping[str, float]:
    """Return the share of questions whose key is each letter; the score of always that letter."""
    keys = Counter(question.key for each in sets for question in each.questions)
    return {letter: keys[letter] / max(keys.total(), 1) for letter in "ABCDE"}


def letter_orders(questions: QuestionSet, rollout: int, seed: int = 0) -> Orders:
    """Return the random order of each question's options: the original letter by the new one.

    Args:
        questions: The questions; None stays last.
        rollout: Number of the rollout; each has another order, equal in every run.
        seed: Seed of the orders.
    """
    digest = sha256(f"{seed} {questions.id} {rollout}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(digest[:8]))
    return tuple(_order(question, rng) for question in questions.questions)


def _order(question: ChoiceQuestion, rng: np.random.Generator) -> Mapping[str, str]:
    letters = [letter for letter, _ in question.options if letter != NONE_LETTER]
    return {
        new: letters[place]
        for new, place in zip(letters, rng.permutation(len(letters)), strict=True)
    }


def shuffled(questions: QuestionSet, rollout: int, seed: int = 0) -> QuestionSet:
    """Return the questions with their options in random order, None last, and the keys moved.

    Arguments are those of ``letter_orders``.
    """
    orders = letter_orders(questions, rollout, seed)
    mixed = zip(questions.questions, orders, strict=True)
    return replace(questions, questions=tuple(_shuffled(*each) for each in mixed))


def _shuffled(question: ChoiceQuestion, order: Mapping[str, str]) -> ChoiceQuestion:
    texts = dict(question.options)
    options = tuple(
        (letter, texts[order.get(letter, letter)])
        for letter, _ in sorted(question.options, key=lambda option: option[0] == NONE_LETTER)
    )
    new_letters = {old: new for new, old in order.items()}
    return replace(question, options=options, key=new_letters.get(question.key, question.key))


def listed_letters(answers: Sequence[str], orders: Orders) -> tuple[str, ...]:
    """Return the original letters of answers to shuffled questions.

    Args:
        answers: A letter per question, as asked.
        orders: The orders in which the options were asked.
    """
    return tuple(order.get(letter, letter) for letter, order in zip(answers, orders, strict=True))


def listed_lines(text: str, orders: Orders) -> str:
    """Return an answerer's message with the original letters; lines without one are unchanged."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != len(orders):
        return text
    return "\n".join(_listed_line(*each) for each in zip(lines, orders, strict=True))


def _listed_line(line: str, order: Mapping[str, str]) -> str:
    found = _ANSWER.match(line)
    if found is None:
        return line
    letter = found[1].upper()
    return f"{order.get(letter, letter)}{line[found.end(1) :]}"


def always(letter: str) -> Chooser:
    """Return an answerer that gives one letter to every question."""
    return lambda _question, _rng: letter


def at_random(question: ChoiceQuestion, rng: np.random.Generator) -> str:
    """Answer with a random option other than None."""
    letters = [letter for letter, _ in question.options if letter != NONE_LETTER]
    return str(rng.choice(letters))


def longest(question: ChoiceQuestion, _: np.random.Generator) -> str:
    """Answer with the longest option, the first of equal ones."""
    return max(question.options, key=lambda option: len(option[1]))[0]


BLIND: Mapping[str, Chooser] = {
    **{f"always {letter}": always(letter) for letter in "ABCDE"},
    "random": at_random,
    "longest option": longest,
}
"""Answerers that do not look at the picture."""


def blind_scores(
    sets: Sequence[QuestionSet], choose: Chooser, rules: VoteRules, *, shuffles: bool, seed: int = 0
) -> tuple[float | None, float | None]:
    """Score an answerer that does not look at the pictures.

    Args:
        sets: The questions of at least one picture.
        choose: The answerer.
        rules: Numbers of rollouts and votes.
        shuffles: Whether options are shuffled in each rollout.
        seed: Seed of orders and random answers.

    Returns:
        Share of right single answers, and share of questions that are right by the votes; None
        if no question counts.
    """
    rng, single, voted = np.random.default_rng(seed), [], []
    for each in sets:
        right = np.zeros((rules.rollouts, len(each.questions)), np.bool_)
        for rollout in range(rules.rollouts):
            asked = shuffled(each, rollout, seed) if shuffles else each
            right[rollout] = [choose(q, rng) == q.key for q in asked.questions]
        keep = [not (rules.leaves_out_defects and q.defects) for q in each.questions]
        single += right[:, keep].ravel().tolist()
        voted += (right[:, keep].sum(0) >= rules.votes).tolist()
    if not single:
        return None, None
    return float(np.mean(single)), float(np.mean(voted))
