from math import exp, log

import pytest

from spatialstudio.science.questions.token_chances import yes_no_chances


def told(**chances):
    return [(token.replace("_", " "), log(chance)) for token, chance in chances.items()]


def test_all_spellings_count():
    chances = yes_no_chances(told(Yes=0.4, _yes=0.2, No=0.1, _NO=0.05, maybe=0.1))
    assert exp(chances.log_yes) == pytest.approx(0.6)
    assert exp(chances.log_no) == pytest.approx(0.15)


def test_an_unlisted_word_is_at_most_as_likely_as_the_last_listed():
    chances = yes_no_chances(told(yes=0.7, maybe=0.1, perhaps=0.02))
    assert exp(chances.log_no) == pytest.approx(0.02)


def test_an_unlisted_word_has_at_most_the_remaining_probability():
    chances = yes_no_chances(told(no=0.999))
    assert exp(chances.log_yes) == pytest.approx(0.001)


@pytest.mark.parametrize("listed", [[("yes", 0.0)], [("yes", 0.0), ("no", -9999.0)]])
def test_certainty_stays_finite(listed):
    chances = yes_no_chances(listed)
    assert chances.log_yes == 0
    assert -30 < chances.log_no < -20


@pytest.mark.parametrize("listed", [[], told(maybe=0.5, yesterday=0.2, nothing=0.1)])
def test_without_yes_and_no_there_is_no_answer(listed):
    assert yes_no_chances(listed) is None
