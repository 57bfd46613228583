"""Questions on one prompt: written or read in the background, checked, and edited."""

from collections.abc import Callable
from pathlib import Path

from spatialstudio.application.error_reports import report_on
from spatialstudio.application.jobs.background_jobs import CancellableJob
from spatialstudio.application.jobs.cancellation import CancelFlag
from spatialstudio.application.questions.question_files import read_question_file
from spatialstudio.application.questions.questions import Questions
from spatialstudio.domain.errors import ErrorReport, SettingsError, StudioError
from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.multiple_choice import (
    LETTERS,
    NONE_LETTER,
    ChoiceQuestion,
    QuestionCheck,
    QuestionSet,
)
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.science.questions.prompt_questions import check_question

WRITING = "Writing questions"


@frozen(eq=False)
class SceneQuestions:
    """Questions on a prompt with its scene graph.

    Attributes:
        scene: The scene graph, with which the questions are compared.
        questions: The questions.
        notes: Problems while they were written, one sentence each.
    """

    scene: SceneGraph
    questions: QuestionSet
    notes: tuple[str, ...] = ()

    def checks(self) -> tuple[QuestionCheck, ...]:
        """Compare each question with the scene."""
        return tuple(check_question(each, self.scene) for each in self.questions.questions)


@frozen(eq=False)
class QuestionsWritten:
    """Questions are written or read. Published once by ``SceneQuestionJob``; may cross threads.

    Attributes:
        result: The questions; None if it failed.
        error: Why it failed.
    """

    result: SceneQuestions | None
    error: ErrorReport | None = None


class SceneQuestionJob(CancellableJob):
    """Writes or reads the questions of one prompt; a new request cancels the previous one.

    Args:
        questions: Use cases of questions.
        read_scene: Reads a prompt.
        publish: Receives ``QuestionsWritten``, in the thread.
    """

    def __init__(
        self,
        questions: Questions,
        read_scene: Callable[[str], SceneGraph],
        publish: Callable[[object], None],
    ) -> None:
        self._questions = questions
        self._read_scene = read_scene
        self._publish = publish

    def write(self, scene: SceneGraph, writer_id: str | None) -> None:
        """Start to write questions on a scene; None for the rules."""
        self._start(lambda flag: self._end(flag, lambda: self._written(scene, writer_id, flag)))

    def read(self, path: Path) -> None:
        """Start to read the questions of a file."""
        self._start(lambda flag: self._end(flag, lambda: self._stored(path)))

    def _written(
        self, scene: SceneGraph, writer_id: str | None, flag: CancelFlag
    ) -> SceneQuestions:
        made = self._questions.write(scene, writer_id, flag)
        return SceneQuestions(scene=scene, questions=made.questions, notes=made.notes)

    def _stored(self, path: Path) -> SceneQuestions:
        first, *others = read_question_file(path)
        if others:
            raise SettingsError(
                f'"{path.name}" has questions on {1 + len(others)} prompts.',
                hint="Ask about its pictures under Ask, or open a file of one prompt.",
            )
        return SceneQuestions(scene=self._read_scene(first.prompt), questions=first)

    def _end(self, flag: CancelFlag, make: Callable[[], SceneQuestions]) -> None:
        try:
            ended = QuestionsWritten(result=make())
        except StudioError as error:
            ended = QuestionsWritten(result=None, error=report_on(error, WRITING))
        flag.raise_if_cancelled()
        self._publish(ended)


def edited_question(stem: str, options: tuple[str, ...], right: int) -> ChoiceQuestion:
    """Return a question with None as its last option; empty options are left out.

    Args:
        stem: The question.
        options: At most four.
        right: Place of the right option.
    """
    listed = zip(LETTERS, (" ".join(each.split()) for each in options), strict=False)
    return ChoiceQuestion(
        stem=" ".join(stem.split()),
        options=(*((letter, text) for letter, text in listed if text), (NONE_LETTER, "None")),
        key=LETTERS[right],
    )
