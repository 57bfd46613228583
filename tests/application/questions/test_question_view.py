"""Runs of questions as they are shown, and asked in the background."""

import pytest

from spatialstudio.application.questions.question_asker import (
    AskEnded,
    AskProgressed,
    QuestionAsker,
)
from spatialstudio.application.questions.question_view import answered_questions, read_view
from spatialstudio.domain.errors import StoreError
from spatialstudio.domain.judge_choice import JudgeSetChoice
from spatialstudio.domain.multiple_choice import AskSettings, Price
from tests.application.questions.answerers import (
    FakeAnswerer,
    always_c,
    always_right,
    server_fault,
)
from tests.application.questions.folders import FakeQuestions, asked_folder, plan_in
from tests.science.questions.choice_sets import KEYS


def test_votes_and_reasons_are_in_the_letters_as_listed(tmp_path):
    view = read_view(asked_folder(tmp_path, FakeAnswerer(always_right)))
    first = answered_questions(view.items[0], view.plan.settings)
    assert [each.votes for each in first] == [((letter, 5),) for letter in KEYS]
    assert all(each.is_right for each in first)
    assert first[0].reasons == ("C: as seen",) * 5
    assert [each.type for each in first][:2] == ["Object", "Attribute"]


def test_an_answerer_that_always_says_c_is_mapped_back_after_shuffling(tmp_path):
    view = read_view(asked_folder(tmp_path, FakeAnswerer(always_c)))
    first = answered_questions(view.items[0], view.plan.settings)[0]
    assert len(first.votes) > 1  # C was another option in each rollout
    assert sum(count for _, count in first.votes) == 5
    assert [line[0] for line in first.reasons].count(first.votes[0][0]) == first.votes[0][1]


def test_a_picture_without_answers_has_questions_without_votes(tmp_path):
    faults = dict.fromkeys(range(5, 100), server_fault())
    with pytest.raises(Exception, match="busy"):
        asked_folder(tmp_path, FakeAnswerer(always_right, faults=faults), count=4)
    view = read_view(tmp_path / "run")
    assert [item.voted.is_answered for item in view.items] == [True, False, False, False]
    (unanswered, *_) = answered_questions(view.items[1], view.plan.settings)
    assert (unanswered.votes, unanswered.reasons) == ((), ())


def test_a_folder_without_a_run_is_an_error(tmp_path):
    with pytest.raises(StoreError, match="contains no answers"):
        read_view(tmp_path)


@pytest.fixture
def events():
    return []


def ask(tmp_path, answerer, events, **options):
    questions = FakeQuestions(answerer)
    asker = QuestionAsker(questions, JudgeSetChoice, events.append)
    asker.ask(tmp_path / "run", plan_in(tmp_path), **options)
    asker.wait()
    return questions


def test_asking_publishes_cost_before_while_and_after(tmp_path, events):
    questions = ask(tmp_path, FakeAnswerer(always_right), events)
    progress = [each.progress for each in events if isinstance(each, AskProgressed)]
    assert progress[0].cost.replies == 0
    assert progress[0].left.replies == 10
    assert (progress[-1].cost.replies, progress[-1].left.replies) == (10, 0)
    assert progress[-1].cost.money(Price(per_million_in=1, per_million_out=1)) > 0
    assert questions.finished == [tmp_path / "run"]
    ended = events[-1]
    assert isinstance(ended, AskEnded)
    assert ended.error is None


def test_an_estimate_asks_nothing(tmp_path, events):
    answerer = FakeAnswerer(always_right)
    questions = ask(tmp_path, answerer, events, only_estimates=True)
    assert answerer.requests == []
    assert questions.finished == []
    assert [type(each) for each in events] == [AskProgressed, AskEnded]


def test_a_failed_server_ends_the_run_with_a_report(tmp_path, events):
    faults = dict.fromkeys(range(100), server_fault())
    ask(tmp_path, FakeAnswerer(always_right, faults=faults), events)
    assert "busy" in events[-1].error.message


def test_a_missing_answerer_ends_the_run_with_a_report(tmp_path, events):
    class Missing(FakeQuestions):
        def answerer(self, _choice, _pictures):
            raise server_fault()

    asker = QuestionAsker(Missing(None), JudgeSetChoice, events.append)
    asker.ask(tmp_path / "run", plan_in(tmp_path))
    asker.wait()
    assert events[-1].error is not None


def test_a_folder_with_other_settings_is_refused_with_a_next_step(tmp_path, events):
    ask(tmp_path, FakeAnswerer(always_right), events)
    questions = FakeQuestions(FakeAnswerer(always_right))
    asker = QuestionAsker(questions, JudgeSetChoice, events.append)
    asker.ask(tmp_path / "run", plan_in(tmp_path, settings=AskSettings(is_blind=True)))
    asker.wait()
    assert "other questions, pictures or settings" in events[-1].error.message
