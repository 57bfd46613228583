from dataclasses import dataclass, field

import numpy as np
import pytest

from spatialstudio.application.evaluate.metrics import DaModels, score_assertions
from spatialstudio.domain.assertion import (
    DA_REPRODUCE,
    Assertion,
    Assertions,
    QuestionAnswer,
    YesNoChances,
)
from spatialstudio.domain.errors import Cancelled
from spatialstudio.domain.verdict import Evaluation
from tests.fakes import CountingToken, scene_of
from tests.science.seen_things import perception, seen

PICTURE = np.zeros((100, 100, 3), np.uint8)
SEEN = Evaluation(perception=perception(seen("m1", 20, 50, 0.8)), verdicts=())


@dataclass
class FakeReader:
    """Asserts that it is night."""

    id: str = "fake-reader"

    def read(self, scene, token):
        token.raise_if_cancelled()
        night = Assertion(id="a1", text="it is night", question="is it night?")
        return Assertions(items=(night,), source_id=self.id, notes=("It was dark.",))


@dataclass
class FakeAnswerer:
    """Says yes with a probability of one half among all answers, and no with a quarter."""

    id: str = "fake-answerer"
    asked: list = field(default_factory=list)

    def answer(self, image, questions, token):
        self.asked += questions
        chances = YesNoChances(log_yes=np.log(0.5), log_no=np.log(0.25))
        return tuple(QuestionAnswer(chances=chances) for _ in questions)


def scored(token=None, **da_models):
    evaluation = score_assertions(
        PICTURE, scene_of(), SEEN, DaModels(**da_models), token or CountingToken()
    )
    return evaluation.da_score


def test_without_models_the_scene_and_the_perception_answer():
    score = scored()
    assert (score.asserted_by, score.source_id) == ("scene", "perception")
    assert [one.probability_yes for one in score.scores] == [0.8, 0, 0]


def test_every_question_is_asked_and_answered():
    answerer = FakeAnswerer()
    score = scored(answerer=answerer)
    assert answerer.asked == [one.assertion.question for one in score.scores]
    assert score.source_id == "fake-answerer"
    assert score.value == pytest.approx(2 / 3)


def test_the_published_rule_can_be_chosen():
    assert scored(answerer=FakeAnswerer(), settings=DA_REPRODUCE).value == pytest.approx(0.5)


def test_assertions_can_come_from_another_reader():
    score = scored(reader=FakeReader(), answerer=FakeAnswerer())
    assert (score.asserted_by, score.notes) == ("fake-reader", ("It was dark.",))
    assert [one.assertion.text for one in score.scores] == ["it is night"]


def test_scoring_can_be_cancelled():
    with pytest.raises(Cancelled):
        scored(reader=FakeReader(), token=CountingToken(stop_at=1))
