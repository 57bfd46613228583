"""The protocols of those who take a prompt apart, and who answer questions about a picture."""

from collections.abc import Sequence
from typing import Protocol

from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import Assertions, QuestionAnswer
from spatialstudio.domain.ports import CancelToken
from spatialstudio.domain.relation import SceneGraph


class AssertionReader(Protocol):
    """Takes a prompt apart into atomic statements, each with a question."""

    id: str

    def read(self, scene: SceneGraph, token: CancelToken) -> Assertions:
        """Take a prompt apart; what goes wrong becomes a note on the scene's own statements.

        Args:
            scene: The prompt, and what is known of it.
            token: Asked while it waits.

        Raises:
            Cancelled: The token was cancelled.
        """
        ...


class QuestionAnswerer(Protocol):
    """Answers questions about a picture with yes or no, and says how surely."""

    id: str

    def answer(
        self, image: RgbImage, questions: Sequence[str], token: CancelToken
    ) -> tuple[QuestionAnswer, ...]:
        """Answer each question; one that gets no answer says why.

        Args:
            image: (H, W, 3) uint8.
            questions: To be answered by yes or no.
            token: Asked before each question.

        Raises:
            DetectorError: The model is damaged or missing.
            Cancelled: The token was cancelled.
        """
        ...
