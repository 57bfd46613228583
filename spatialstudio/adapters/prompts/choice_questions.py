"""Multiple-choice questions on a prompt by a language model, checked against its scene graph.

Questions that contradict the scene are left out, with a note; those that it cannot check are kept.
Letters are assigned at random, as models prefer some. On any failure the questions are those of the
rules, with a note.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from spatialstudio.adapters.chat.client import AnswerForm, ChatClient, ChatQuestion, ServerFailure
from spatialstudio.adapters.chat.server import (
    MODEL_VARIABLE,
    SERVER_VARIABLE,
    ServerSettings,
    read_presets,
    settings_of_user,
)
from spatialstudio.adapters.prompts.model_answers import UnreadableAnswer, json_objects
from spatialstudio.domain.multiple_choice import (
    NONE_LETTER,
    SUB_DOMAINS,
    ChoiceQuestion,
    QuestionSet,
    QuestionState,
    WrittenQuestions,
)
from spatialstudio.domain.ports import CancelToken, Surroundings
from spatialstudio.domain.scene import MentionId, SceneGraph
from spatialstudio.science.questions.prompt_questions import check_question, id_of, rng_of

ATTEMPTS = 2
MOST_QUESTIONS = 20
MOST_OPTIONS = 4
MOST_LETTERS = 300
QUESTIONS_FORM = AnswerForm(
    name="questions",
    schema={
        "type": "object",
        "properties": {
            "questions": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {
                        "sub_domain": {"type": "string", "enum": [*SUB_DOMAINS]},
                        "question": {"type": "string"},
                        "right": {"type": "string"},
                        "wrong": {"type": "array", "items": {"type": "string"}},
                    },
                    "required": ["sub_domain", "question", "right", "wrong"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["questions"],
        "additionalProperties": False,
    },
)


def build(surroundings: Surroundings) -> "LanguageModelQuestionWriter":
    """Create the writer with the user's server and the built-in instruction."""
    folder = surroundings.resources / "prompts"
    return LanguageModelQuestionWriter(
        settings_of_user(read_presets(folder / "servers.toml"), surroundings.settings),
        (folder / "choice_questions.md").read_text(encoding="utf-8"),
    )


class LanguageModelQuestionWriter:
    """Asks a language model once per prompt; implements ``QuestionWriter``.

    Args:
        settings: Server settings; None if no server is set up.
        instruction: System message for the model.
    """

    id = "llm"

    def __init__(self, settings: ServerSettings | None, instruction: str) -> None:
        self._settings = settings
        self._instruction = instruction

    def write(
        self, scene: SceneGraph, by_rules: WrittenQuestions, token: CancelToken
    ) -> WrittenQuestions:
        """Return questions on a prompt; see ``QuestionWriter``.

        Raises:
            Cancelled: The token was cancelled.
        """
        if self._settings is None:
            names = f"{SERVER_VARIABLE} and {MODEL_VARIABLE}"
            return _by_rules(by_rules, f"No language model is configured ({names}).")
        try:
            rows = self._ask(self._settings, scene, token)
        except ServerFailure as failure:
            reason = f"The language model at {self._settings.host} {failure.reason}."
            return _by_rules(by_rules, reason)
        except UnreadableAnswer:
            reason = f"The language model at {self._settings.host} returned no questions."
            return _by_rules(by_rules, reason)
        return _checked(rows, scene, self.id)

    def _ask(
        self, settings: ServerSettings, scene: SceneGraph, token: CancelToken
    ) -> Sequence[dict[str, Any]]:
        question = ChatQuestion(
            instruction=self._instruction, text=scene.prompt.text, form=QUESTIONS_FORM
        )
        client = ChatClient(settings)
        for _ in range(ATTEMPTS):
            if rows := _rows(client.ask(question, token).text):
                return rows
        raise UnreadableAnswer


def _rows(text: str) -> Sequence[dict[str, Any]]:
    listed = (found.get("questions") for found in json_objects(text))
    rows = next((rows for rows in listed if isinstance(rows, list)), [])
    return [row for row in rows[:MOST_QUESTIONS] if _is_row(row)]


def _is_row(row: object) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get("wrong"), list):
        return False
    texts = [row.get("question"), row.get("right"), *row["wrong"]]
    is_text = all(isinstance(each, str) and 0 < len(each.strip()) <= MOST_LETTERS for each in texts)
    return is_text and row.get("sub_domain") in SUB_DOMAINS and bool(row["wrong"])


def _checked(rows: Sequence[dict[str, Any]], scene: SceneGraph, source_id: str) -> WrittenQuestions:
    """Return the questions that do not contradict the scene, with notes on the others."""
    rng = rng_of(scene.prompt.text)
    kept: list[tuple[ChoiceQuestion, str]] = []
    notes = []
    for row in rows:
        wrong = row["wrong"][: MOST_OPTIONS - 1]
        texts = [_plain(each) for each in (row["right"], *wrong)]
        order = rng.permutation(len(texts)).tolist()
        options = tuple(
            (letter, texts[place]) for letter, place in zip("ABCD", order, strict=False)
        )
        question = ChoiceQuestion(
            stem=_plain(row["question"]),
            options=(*options, (NONE_LETTER, "None")),
            key="ABCD"[order.index(0)],
        )
        check = check_question(question, scene)
        if check.state is QuestionState.CONTRADICTS:
            notes.append(f'"{question.stem}" was left out: {check.reason}.')
        else:
            kept.append((question, row["sub_domain"]))
    return WrittenQuestions(
        questions=QuestionSet(
            id=id_of(scene.prompt.text),
            scene="prompt",
            prompt=scene.prompt.text,
            questions=tuple(question for question, _ in kept),
            types=tuple(name for _, name in kept),
        ),
        mentions=tuple(_about(question, scene) for question, _ in kept),
        source_id=source_id,
        notes=tuple(notes),
    )


def _about(question: ChoiceQuestion, scene: SceneGraph) -> tuple[MentionId, ...]:
    words = f" {question.text.lower()} "
    return tuple(each.id for each in scene.mentions if each.head.lower() in words)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _by_rules(written: WrittenQuestions, reason: str) -> WrittenQuestions:
    note = f"{reason} The questions follow from the parsed scene instead."
    return replace(written, notes=(*written.notes, note))
