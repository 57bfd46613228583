"""The dialog that defines a judge set."""

from collections.abc import Callable

from PySide6.QtWidgets import QDialogButtonBox, QFormLayout, QWidget

from spatialstudio.application.evaluate.judge_choice import JudgeSets
from spatialstudio.domain.errors import StudioError
from spatialstudio.domain.judge_choice import (
    MAX_NAME,
    Candidates,
    JudgeSetCard,
    JudgeTask,
)
from spatialstudio.ui.framework.dialog_size import TitledDialog
from spatialstudio.ui.run.presenters import NOBODY
from spatialstudio.ui.run.widgets.fields import Choice, ChoiceField, share_field
from spatialstudio.ui.widgets.builders import column
from spatialstudio.ui.widgets.fields import EditLine
from spatialstudio.ui.widgets.texts import TextLabel, Tone, tr

TASK_NAMES = {
    JudgeTask.DETECTOR: "Detector",
    JudgeTask.SECOND_DETECTOR: "Second detector",
    JudgeTask.SEGMENTER: "Segmenter",
    JudgeTask.DEPTH: "Depth model",
    JudgeTask.ANSWERER: "Question answerer",
}


class JudgeSetDialog(TitledDialog):
    """Lets the user name a judge set and choose a model for each task.

    Args:
        sets: The judge sets and the models that can be chosen.
        save: Saves a judge set; an error is shown, and the dialog stays open.
        parent: The window.
    """

    def __init__(
        self, sets: JudgeSets, save: Callable[[JudgeSetCard], None], parent: QWidget | None
    ) -> None:
        super().__init__(tr("New judge set"), parent)
        self._save = save
        self._name = EditLine()
        self._name.setAccessibleName(tr("Name of the judge set"))
        self._name.setMaxLength(MAX_NAME)
        self._fields = {task: _field(task, sets.usable(task)) for task in JudgeTask}
        self._cut = share_field(tr("Score threshold"), 1.0, specialValueText=tr("detector default"))
        self._cut.setToolTip(tr("Detections with a lower score are ignored"))
        self._problem = TextLabel(tone=Tone.WARNING)
        form = QFormLayout()
        form.addRow(tr("Name"), self._name)
        for task, field in self._fields.items():
            form.addRow(tr(TASK_NAMES[task]), field)
        form.addRow(tr("Score threshold"), self._cut)
        buttons = self.buttons(QDialogButtonBox.StandardButton.Cancel)
        button = buttons.addButton(tr("Save"), QDialogButtonBox.ButtonRole.AcceptRole)
        button.setDefault(True)
        buttons.accepted.connect(self._finish)
        column(form, self._problem, buttons, within=self, gap=0.8, edges=(1.2, 1, 1.2, 1))

    def _finish(self) -> None:
        chosen = {task: field.currentData() for task, field in self._fields.items()}
        tasks = {task: Candidates(models=(name,)) for task, name in chosen.items() if name}
        name = self._name.text().strip()
        try:
            self._save(
                JudgeSetCard(id=name, label=name, tasks=tasks, cut=self._cut.value() or None)
            )
        except StudioError as error:
            self._problem.setText(f"{tr(error.message)} {tr(error.hint)}")
        else:
            self.accept()


def _field(task: JudgeTask, models: tuple[str, ...]) -> ChoiceField:
    field = ChoiceField(tr(TASK_NAMES[task]))
    choices = (Choice(id=name, title=name) for name in models)
    field.show_choices((Choice(id=NOBODY, title=tr("None")), *choices), NOBODY)
    return field
