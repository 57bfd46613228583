"""Visual question answering with a model on an OpenAI-compatible server.

The first token of an answer to a yes-no question is requested with its log-probabilities, as in
Singh and Zheng 2023, arXiv:2307.04749, equation 3. Failures become a note on the questions without
an answer. Multiple-choice questions are sent in one message, sampled, and answered in lines or in
JSON; the letters of a single question have log-probabilities too. Calls wait where there would be
too many in a minute.
"""

import os
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from time import monotonic

from PIL import Image

from spatialstudio.adapters.chat.call_rate import CallRate
from spatialstudio.adapters.chat.client import (
    AnswerForm,
    ChatAnswer,
    ChatClient,
    ChatQuestion,
    ServerFailure,
)
from spatialstudio.adapters.chat.server import (
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    ServerSettings,
    read_presets,
    settings_of_user,
)
from spatialstudio.domain.arrays import RgbImage
from spatialstudio.domain.assertion import QuestionAnswer
from spatialstudio.domain.errors import AnswererError, DetectorError
from spatialstudio.domain.multiple_choice import ChoiceQuestion, ChoiceReply, Sampling
from spatialstudio.domain.ports import CancelToken, Surroundings
from spatialstudio.science.questions.choice_message import (
    REPLY_TOKENS,
    SCHEMA,
    YES_NO_INSTRUCTION,
    instruction,
    message,
    reply_lines,
)
from spatialstudio.science.questions.token_chances import letter_chances, yes_no_chances

VISION_MODEL_VARIABLE = "SPATIAL_STUDIO_VISION_MODEL"
"""Name of the vision model on the server; the prompt-reading model is used if unset."""

CHOICES_FORM = AnswerForm(name="answers", schema=SCHEMA)
TIMEOUT_S, PATIENCE_S = 180.0, 600.0
"""Of one reply to many questions, and of all its attempts."""
TOP_TOKENS = 20
"""The protocol's maximum."""
ANSWER_TOKENS = 4


def build(surroundings: Surroundings) -> "VisionLanguageModel":
    """Create the answerer with the user's server."""
    presets = read_presets(surroundings.resources / "prompts" / "servers.toml")
    model = os.environ.get(VISION_MODEL_VARIABLE)
    return VisionLanguageModel(settings_of_user(presets, surroundings.settings, model))


class VisionLanguageModel:
    """Queries a server question by question.

    Args:
        settings: Server settings; None if no server is set up.
        rate: Limits the calls; None for the limit of the settings.
    """

    id = "vision-model"

    def __init__(self, settings: ServerSettings | None, rate: CallRate | None = None) -> None:
        self._settings = settings
        self._rate = rate or CallRate(settings.calls_a_minute if settings else 0)

    def answer(
        self, image: RgbImage, questions: Sequence[str], token: CancelToken
    ) -> tuple[QuestionAnswer, ...]:
        """Answer each question; after a server failure the rest are skipped.

        Args:
            image: (H, W, 3) uint8.
            questions: Yes-or-no questions.
            token: Checked before each question, and while waiting for the server.

        Raises:
            DetectorError: No server is set up.
            Cancelled: The token was cancelled.
        """
        settings = self._chosen()
        client, picture = ChatClient(settings), _png(image)
        answers: list[QuestionAnswer] = []
        for question in questions:
            token.raise_if_cancelled()
            try:
                answers.append(self._ask(client, picture, question, token))
            except ServerFailure as failure:
                note = f"The model at {settings.host} {failure.reason}."
                missing = 1 if failure.is_refusal else len(questions) - len(answers)
                answers += [QuestionAnswer(chances=None, note=note)] * missing
            if len(answers) == len(questions):
                break
        return tuple(answers)

    @property
    def model_key(self) -> str:
        """Host and name of the model; see ``ChoiceAnswerer``.

        Raises:
            DetectorError: No server is set up.
        """
        settings = self._chosen()
        return f"{settings.host} {settings.model}"

    def choose(
        self,
        image: RgbImage | None,
        questions: Sequence[ChoiceQuestion],
        sampling: Sampling,
        token: CancelToken,
    ) -> ChoiceReply:
        """Answer multiple-choice questions in one message; see ``ChoiceAnswerer``.

        A model that declines gives an empty reply.

        Raises:
            DetectorError: No server is set up.
            AnswererError: The server fails.
            Cancelled: The token was cancelled.
        """
        settings, count = self._chosen(), len(questions)
        is_blind, is_single = image is None, count == 1
        question = ChatQuestion(
            instruction=instruction(count, is_blind=is_blind, is_structured=sampling.is_structured),
            text=message(questions),
            form=CHOICES_FORM if sampling.is_structured else None,
            picture=b"" if image is None else _png(image),
            chances=TOP_TOKENS if is_single else 0,
            answer_tokens=REPLY_TOKENS * count,
            temperature=sampling.temperature,
            seed=sampling.seed,
            is_prose=True,
        )
        slow = replace(settings, timeout_s=TIMEOUT_S, patience_s=PATIENCE_S)
        started = monotonic()
        self._rate.wait(token)
        try:
            answer = ChatClient(slow).ask(question, token)
        except ServerFailure as failure:
            if not failure.is_refusal:
                raise AnswererError(
                    f"The model at {settings.host} {failure.reason}.",
                    hint="Check the server, then continue: the replies so far are stored.",
                    charges=failure.charges,
                ) from failure
            tokens_in, tokens_out = failure.charges
            answer = ChatAnswer(text="", tokens_in=tokens_in, tokens_out=tokens_out)
        return ChoiceReply(
            text=reply_lines(answer.text, count),
            tokens_in=answer.tokens_in,
            tokens_out=answer.tokens_out,
            seconds=monotonic() - started,
            chances=letter_chances(answer.first_chances) if is_single else {},
        )

    def _chosen(self) -> ServerSettings:
        if self._settings is None:
            raise DetectorError(
                "No vision language model is configured.",
                hint=f"Set {SERVER_VARIABLE} and {VISION_MODEL_VARIABLE} or {MODEL_VARIABLE}.",
            )
        return self._settings

    def _ask(
        self, client: ChatClient, picture: bytes, text: str, token: CancelToken
    ) -> QuestionAnswer:
        question = ChatQuestion(
            instruction=YES_NO_INSTRUCTION,
            text=text,
            picture=picture,
            chances=TOP_TOKENS,
            answer_tokens=ANSWER_TOKENS,
        )
        self._rate.wait(token)
        listed = client.ask(question, token).first_chances
        if not listed:
            raise ServerFailure("returns no log probabilities")
        chances = yes_no_chances(listed)
        if chances is None:
            return QuestionAnswer(chances=None, note="The model answers neither yes nor no.")
        return QuestionAnswer(chances=chances)


def _png(image: RgbImage) -> bytes:
    file = BytesIO()
    Image.fromarray(image).save(file, "PNG")
    return file.getvalue()
