"""The page of the dock Questions that writes, edits and checks the questions of a prompt."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from spatialstudio.application.questions.question_folder import AskedFolder
from spatialstudio.application.questions.questions import Questions
from spatialstudio.application.questions.scene_questions import (
    QuestionsWritten,
    SceneQuestionJob,
    SceneQuestions,
    edited_question,
)
from spatialstudio.application.session import RunChanged, SceneChanged
from spatialstudio.domain.errors import ErrorReport
from spatialstudio.domain.multiple_choice import SUB_DOMAINS, ChoiceQuestion
from spatialstudio.domain.scene import SceneGraph
from spatialstudio.ui.evaluate.widgets.question_editor import EditedFields, QuestionEditor
from spatialstudio.ui.framework.file_reading import Subject
from spatialstudio.ui.framework.panel_api import WindowContext
from spatialstudio.ui.widgets.builders import column, flow, grow, push_button
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

LANGUAGE_MODEL = "llm"
FILE_NAME = "questions.jsonl"


class QuestionWriting(QWidget):
    """Writes questions on the prompt, by rules or a language model, and lets the user edit them.

    Every edit is undoable. Emits ``asking_prepared`` with the ``AskedFolder`` of the questions and
    the open picture.

    Args:
        context: Services of the window.
        questions: Use cases of questions.
    """

    asking_prepared = Signal(object)

    def __init__(self, context: WindowContext, questions: Questions) -> None:
        super().__init__()
        self._context = context
        self._questions = questions
        studio = context.studio
        self._job = SceneQuestionJob(questions, studio.parse_prompt, studio.bus.publish)
        self._shown: SceneQuestions | None = None
        self._prompt = TextLabel(tone=Tone.MUTED)
        self._state = TextLabel(tone=Tone.WARNING, small=True)
        self._by_rules = push_button(
            tr("By rules"),
            lambda: self._write(None),
            name=tr("Write by rules"),
            tip=tr("Ask about the objects, numbers, colours and places that the prompt states"),
        )
        self._by_model = push_button(
            tr("By language model"),
            lambda: self._write(LANGUAGE_MODEL),
            name=tr("Write by language model"),
            tip=tr("The language model of the settings writes; the prompt checks its questions"),
        )
        self._open = push_button(tr("Open…"), self._open_file, tip=tr("Open stored questions"))
        self._save = push_button(tr("Save…"), self._save_file, tip=tr("Save as JSON lines"))
        self._ask = push_button(
            tr("Ask about the picture…"),
            self._prepare,
            tip=tr("Choose a folder; questions and picture are stored there, then asked"),
        )
        self._editor = QuestionEditor()
        self._editor.fields_edited.connect(self._edit)
        self._editor.add_asked.connect(self._add)
        self._editor.remove_asked.connect(self._remove)
        column(
            self._prompt,
            flow(self._by_rules, self._by_model, gap=0.4),
            self._state,
            grow(self._editor),
            flow(self._open, self._save, self._ask, gap=0.4),
            within=self,
            gap=0.4,
        )
        self._show(None)

    def handle(self, event: object) -> None:
        """Show written questions; follow the open run and the prompt."""
        match event:
            case QuestionsWritten():
                self._end(event)
            case RunChanged() | SceneChanged():
                self._offer()

    def close_job(self) -> None:
        """Cancel writing, and return when it has ended."""
        self._job.close()

    @property
    def _scene(self) -> SceneGraph | None:
        """The scene of the open run, or of the prompt without one."""
        session = self._context.studio.session
        return session.run.scene if session.run is not None else session.scene

    def _write(self, writer_id: str | None) -> None:
        if (scene := self._scene) is not None:
            self._state.show_text(tr("Writing questions…"))
            self._job.write(scene, writer_id)

    def _end(self, written: QuestionsWritten) -> None:
        if written.result is None:
            if written.error is not None:
                self._fail(written.error)
            return
        self._state.show_text("\n".join(written.result.notes))
        self._change(tr("write questions"), written.result, 0)
        if not written.result.questions.questions:
            self._state.show_text(tr("The prompt gives no question."))

    def _fail(self, error: ErrorReport) -> None:
        self._state.show_text(f"{error.message} {error.hint}".rstrip())

    def _change(
        self, name: str, after: SceneQuestions, picked: int, *, merge_key: str = ""
    ) -> None:
        """Show other questions as an undoable edit."""
        before = self._shown, max(picked, 0)
        self._context.edits.change(
            name, before, (after, picked), lambda value: self._show(*value), merge_key=merge_key
        )

    def _show(self, shown: SceneQuestions | None, picked: int = -1) -> None:
        self._shown = shown
        rows = []
        if shown is not None:
            listed = shown.questions
            rows = [*zip(listed.types, listed.questions, shown.checks(), strict=True)]
        self._editor.show_questions(rows, min(picked, len(rows) - 1))
        self._offer()

    def _offer(self) -> None:
        """Enable what is possible with the current prompt, picture and questions."""
        scene, run = self._scene, self._context.studio.session.run
        shown = self._shown
        prompt = scene.prompt.text if scene is not None else ""
        if shown is not None:
            prompt = shown.questions.prompt
        no_prompt = tr("Type a prompt, or open a picture.")
        self._prompt.setText(tr("Prompt: {prompt}").format(prompt=prompt) if prompt else no_prompt)
        for button in (self._by_rules, self._by_model):
            button.setEnabled(scene is not None)
        has_questions = shown is not None and bool(shown.questions.questions)
        self._save.setEnabled(has_questions)
        has_picture = run is not None and run.image is not None
        self._ask.setEnabled(has_questions and has_picture)
        self._editor.setEnabled(shown is not None)

    def _edit(self, place: int, fields: EditedFields) -> None:
        question = edited_question(fields.stem, fields.options, fields.right)
        self._replace(
            tr("edit question"), place, (fields.type, question), merge_key=f"question {place}"
        )

    def _add(self) -> None:
        if self._shown is None:
            return
        question = edited_question("", ("", ""), 0)
        count = len(self._shown.questions.questions)
        self._replace(tr("add question"), count, (SUB_DOMAINS[0], question))

    def _remove(self, place: int) -> None:
        self._replace(tr("remove question"), place, None)

    def _replace(
        self,
        name: str,
        place: int,
        new: tuple[str, ChoiceQuestion] | None,
        *,
        merge_key: str = "",
    ) -> None:
        """Replace a question, append one, or remove one (None)."""
        if self._shown is None:
            return
        listed = self._shown.questions
        pairs = [*zip(listed.types, listed.questions, strict=True)]
        pairs[place : place + 1] = [] if new is None else [new]
        after = replace(
            listed,
            types=tuple(kind for kind, _ in pairs),
            questions=tuple(question for _, question in pairs),
        )
        shown = replace(self._shown, questions=after)
        if after != listed:
            self._change(name, shown, min(place, len(pairs) - 1), merge_key=merge_key)

    def _open_file(self) -> None:
        kinds = f"{tr('Questions')} (*.jsonl *.json)"
        chosen, _ = QFileDialog.getOpenFileName(self, tr("Open questions"), "", kinds)
        if chosen:
            self._job.read(Path(chosen))

    def _save_file(self) -> None:
        kinds = f"{tr('Questions')} (*.jsonl)"
        chosen, _ = QFileDialog.getSaveFileName(self, tr("Save questions"), FILE_NAME, kinds)
        if chosen and self._shown is not None:
            store = self._questions.store
            work = partial(store, Path(chosen), [self._shown.questions], overwrite=True)
            saved = tr("Saved: {path}").format(path=chosen)
            self._in_background(work, lambda _: self._state.show_text(saved))

    def _prepare(self) -> None:
        """Store questions and picture where the user wants them, and hand them on."""
        run, shown = self._context.studio.session.run, self._shown
        chosen = QFileDialog.getExistingDirectory(self, tr("Choose a folder for the answers"))
        if not chosen or run is None or run.image is None or shown is None:
            return
        store = self._questions.store_for_asking
        work = partial(store, Path(chosen), shown.questions, run.image, run.model_id)
        self._in_background(work, self._hand_on)

    def _hand_on(self, made: object) -> None:
        assert isinstance(made, AskedFolder)
        self._state.show_text("")
        self.asking_prepared.emit(made)

    def _in_background(self, work: Callable[[], object], show: Callable[[object], None]) -> None:
        self._context.reading.read(
            Subject.QUESTIONS, tr("Storing questions"), work, show, self._fail
        )
