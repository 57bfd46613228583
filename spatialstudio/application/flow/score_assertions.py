"""Stage 3, beside the checker: what the prompt asserts is asked of the picture, one by one."""

from dataclasses import replace

from spatialstudio.domain.answerers import AssertionReader, QuestionAnswerer
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import DA_RECOMMENDED, DaSettings
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.relation import SceneGraph
from spatialstudio.domain.verdict import Evaluation
from spatialstudio.science.da_score import assertions_of, score_answers
from spatialstudio.science.perception_answers import score_by_perception


@frozen
class Witnesses:
    """Who takes the prompt apart, and who answers.

    Attributes:
        reader: Takes the prompt apart; None for the scene alone.
        answerer: Answers questions about the picture; None for what was seen in it.
        settings: How answers become a score.
    """

    reader: AssertionReader | None = None
    answerer: QuestionAnswerer | None = None
    settings: DaSettings = DA_RECOMMENDED


def score_assertions(
    image: RgbImage,
    scene: SceneGraph,
    evaluation: Evaluation,
    witnesses: Witnesses,
    token: CancelToken,
) -> Evaluation:
    """Return an evaluation with its DA-score by these witnesses.

    Args:
        image: (H, W, 3) uint8.
        scene: What the picture shall show.
        evaluation: What was seen in it.
        witnesses: Who is asked.
        token: Asked before each call of a model.

    Raises:
        DetectorError: A model is damaged or missing.
        Cancelled: The token was cancelled.
    """
    reader, answerer, settings = witnesses.reader, witnesses.answerer, witnesses.settings
    asserted = reader.read(scene, token) if reader else assertions_of(scene)
    if answerer is None:
        score = score_by_perception(scene, evaluation.perception, image, asserted, settings)
    else:
        questions = [assertion.question for assertion in asserted.items]
        answers = answerer.answer(image, questions, token)
        score = score_answers(asserted, answers, answerer.id, settings)
    return replace(evaluation, da_score=score)
