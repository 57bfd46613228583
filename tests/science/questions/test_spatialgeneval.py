import numpy as np
import pytest

from spatialstudio.domain.multiple_choice import PUBLISHED_RULES, QuestionDefect, VoteRules
from spatialstudio.science.questions.spatialgeneval import (
    BLIND,
    blind_scores,
    choice_figures,
    key_shares,
    read_question,
    read_rollout,
    read_set,
    shuffled,
    vote,
)
from tests.science.questions.choice_sets import KEYS, line, message, questions

OURS = VoteRules()
WRONG = message("E" * 10)


def test_a_question_is_split_into_stem_and_options():
    question = questions().questions[0]
    assert question.stem == "Where is thing 0?"
    assert question.options[0] == ("A", "left, far")
    assert [letter for letter, _ in question.options] == list("ABCDE")
    assert question.text == line()["questions"][0]
    assert question.defects == ()


def test_three_options_and_none_are_no_defect():
    question = read_question("What? Options: A: a, B: b, C: c, E: None", "C")
    assert [letter for letter, _ in question.options] == list("ABCE")
    assert question.defects == ()


@pytest.mark.parametrize(
    ("options", "key", "defect"),
    [
        ("A: a, B: b, C: c, E: None", "D", QuestionDefect.KEY_WITHOUT_OPTION),
        ("A: a, B: b, C: c, D: d, E: None of the above", "A", QuestionDefect.OTHER_NONE),
        ("A: a, B: b, C: A, D: d, E: None", "A", QuestionDefect.REPEATED_OPTION),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_each_defect_of_the_data_is_named(options, key, defect):
    assert read_question(f"What? Options: {options}", key).defects == (defect,)


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"id": 7}, "id"),
        ({"questions": ["What?"] * 10}, "no options"),
        ({"questions": []}, "questions"),
        ({"answers": ["A"] * 9}, "answers"),
    ],
    ids=["number as id", "no options", "no questions", "nine answers"],
)
def test_a_line_of_another_form_is_named(changed, reason):
    with pytest.raises(ValueError, match=reason):
        read_set(line(**changed))


@pytest.mark.parametrize(
    ("text", "published", "ours"),
    [
        (message(), tuple(KEYS), tuple(KEYS)),
        (message().replace("\n", "\n\n"), tuple(KEYS), tuple(KEYS)),
        (message(KEYS.lower()), tuple(KEYS.lower()), tuple(KEYS)),
        (message(form="1. {}) so"), ("1",) * 10, tuple(KEYS)),
        (message(KEYS[:9]), None, None),
        (f"Here they are:\n{message()}", None, None),
        (message(form="see {}"), ("s",) * 10, None),
        ("", None, None),
    ],
    ids=["plain", "empty lines", "small letters", "numbered", "nine", "eleven", "prose", "empty"],
)
def test_a_rollout_is_read_as_published_or_with_its_numbering(text, published, ours):
    assert read_rollout(text, PUBLISHED_RULES) == published
    assert read_rollout(text, OURS) == ours


@pytest.mark.parametrize(
    ("right", "is_right"), [(5, True), (4, True), (3, False), (0, False)], ids=str
)
def test_a_question_is_right_with_at_least_four_of_five_votes(right, is_right):
    voted = vote(questions(), [message()] * right + [WRONG] * (5 - right), PUBLISHED_RULES)
    assert set(voted.is_right) == {is_right}
    assert voted.attempts == 5


def test_the_letters_with_enough_votes_are_chosen_else_the_most_frequent():
    attempts = [message("A" * 10)] * 2 + [message("B" * 10)] * 3
    assert vote(questions(), attempts, OURS).chosen == ("B",) * 10
    assert vote(questions(), [message()] * 5, OURS).chosen == tuple(KEYS)


def test_invalid_rollouts_are_skipped_up_to_25_attempts():
    late = ["?"] * 20 + [message()] * 5
    assert vote(questions(), late, OURS).is_answered
    assert vote(questions(), late, OURS).attempts == 25
    too_late = vote(questions(), ["?"] * 21 + [message()] * 5, OURS)
    assert not too_late.is_answered
    assert too_late.attempts == 25


def test_rollouts_after_the_fifth_valid_one_are_not_counted():
    voted = vote(questions(), [message()] * 5 + [WRONG] * 9, OURS)
    assert (voted.attempts, set(voted.is_right)) == (5, {True})


def all_figures(rules):
    """Two pictures right but for the first question of one, one picture without answers."""
    sets = [questions(1), questions(2), questions(3)]
    one_wrong = message("A" + KEYS[1:])
    attempts = ([message()] * 5, [one_wrong] * 5, [message()] * 4)
    voted = [vote(each, texts, rules) for each, texts in zip(sets, attempts, strict=True)]
    return choice_figures(voted, rules)


def test_the_published_figures_drop_a_picture_without_five_valid_rollouts():
    figures = all_figures(PUBLISHED_RULES)
    assert (figures.pictures, figures.unanswered) == (2, 1)
    assert figures.sub_domains["Object"] == 0.5
    assert figures.sub_domains["Causal"] == 1
    assert figures.domains == {
        "Foundations": 0.75,
        "Perception": 1,
        "Reasoning": 1,
        "Interaction": 1,
    }
    assert (figures.overall, figures.basic, figures.spatial) == (0.95, 0.75, 1)


def test_our_figures_count_it_as_wrong():
    figures = all_figures(OURS)
    assert (figures.pictures, figures.unanswered) == (3, 1)
    assert figures.sub_domains["Object"] == 0.333
    assert figures.sub_domains["Causal"] == 0.667
    assert (figures.overall, figures.basic, figures.spatial) == (0.634, 0.5, 0.667)


def test_questions_with_a_defect_are_left_out_by_choice():
    bad = line()["questions"]
    bad[0] = "What? Options: A: a, B: b, C: c, E: None"
    faulty = questions(questions=bad, answers=["D", *KEYS[1:]])
    rules = VoteRules(leaves_out_defects=True)
    voted = vote(faulty, [message()] * 5, rules)
    assert voted.is_right[0] is None
    assert choice_figures([voted], rules).sub_domains["Object"] is None
    assert choice_figures([voted], rules).basic == 1
    assert vote(faulty, [message()] * 5, OURS).is_right[0] is False


def test_the_share_of_each_key():
    assert key_shares([questions()]) == {"A": 0.2, "B": 0.3, "C": 0.4, "D": 0.1, "E": 0}


def test_shuffling_moves_the_key_with_its_text_and_leaves_none_last():
    original = questions()
    mixed = [shuffled(original, rollout) for rollout in range(20)]
    for each in mixed:
        for old, new in zip(original.questions, each.questions, strict=True):
            assert dict(new.options)[new.key] == dict(old.options)[old.key]
            assert new.options[-1] == ("E", "None")
            assert sorted(text for _, text in new.options) == sorted(t for _, t in old.options)
    assert mixed[0] == shuffled(original, 0)
    assert len({each.questions[0].key for each in mixed}) == 4


def test_the_report_shows_a_biased_key_and_shuffling_takes_always_c_to_chance():
    sets = [questions(number) for number in range(400)]
    plain = blind_scores(sets, BLIND["always C"], OURS, shuffles=False)
    assert plain == (0.4, 0.4)
    single, voted = blind_scores(sets, BLIND["always C"], OURS, shuffles=True)
    assert single == pytest.approx(0.25, abs=0.01)
    assert voted == pytest.approx(5 * 0.25**4 * 0.75 + 0.25**5, abs=0.006)


def test_a_preference_for_long_options_survives_shuffling_as_it_follows_the_text():
    sets = [questions(number, keys="C" * 10) for number in range(20)]
    assert blind_scores(sets, BLIND["longest option"], OURS, shuffles=False) == (1, 1)
    assert blind_scores(sets, BLIND["longest option"], OURS, shuffles=True) == (1, 1)


def test_blind_answerers_have_no_score_where_no_question_counts():
    sets = [questions(keys="F" * 10)]
    rules = VoteRules(leaves_out_defects=True)
    assert blind_scores(sets, BLIND["always C"], rules, shuffles=False) == (None, None)


def test_a_random_answerer_is_at_chance_either_way():
    sets = [questions(number) for number in range(200)]
    scores = [blind_scores(sets, BLIND["random"], OURS, shuffles=s)[0] for s in (False, True)]
    assert np.allclose(scores, 0.25, atol=0.015)
